//! Groups by ranges of a value: `$bucket`, `$bucketAuto`, `$sortByCount`.

use bson::{Bson, Document, doc};
use serde::{Deserialize, Serialize};

use super::group::{Group, Grouped, accumulated};
use super::input::Input;
use super::output::Output;
use super::stages::Pipeline;
use crate::expr::IntoExpr;
use crate::expr::kind::Comparable;
use crate::expr::node::Node;
use crate::model::{Embedded, FieldType};
use crate::query::deferred::Deferred;

/// The key of a group of [`bucket_auto`](Pipeline::bucket_auto).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, odm_derive::Embedded)]
pub struct Bounds<T> {
    /// The least value of the group.
    pub min: T,
    /// The least value of the next group, or the greatest value of the last group.
    pub max: T,
}

/// A value and the number of documents that have it: the result of [`count_by`](Pipeline::count_by).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, odm_derive::Embedded)]
pub struct ValueCount<T> {
    /// The value.
    #[serde(rename = "_id")]
    pub value: T,
    /// The number of documents.
    pub count: i64,
}

impl<M, S: Input> Pipeline<M, S> {
    /// Groups the documents by ranges of a value, and makes a [`output!`](crate::output) of each range that has documents:
    /// `$bucket`.
    ///
    /// A range reaches from a boundary, included, to the next one, excluded. Its key is the lower boundary. The documents outside
    /// all ranges, and those without a value, are one more group, whose key is `None`.
    ///
    /// The boundaries ascend, and there are at least two; MongoDB reports others.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, price: f64 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Range {
    ///     #[serde(rename = "_id")]
    ///     from: Option<f64>,
    ///     books: i64,
    /// }
    ///
    /// let ranges = pipeline::<Book>().bucket(
    ///     |b| b.price,
    ///     [0.0, 10.0, 50.0],
    ///     |_, range| output!(Range { from: range.key(), books: range.count() }),
    /// );
    /// assert_eq!(
    ///     ranges.to_stages()?,
    ///     [doc! {"$bucket": {
    ///         "groupBy": "$price",
    ///         "boundaries": [0.0, 10.0, 50.0],
    ///         "default": null,
    ///         "output": {"books": {"$sum": 1}},
    ///     }}],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bucket<K, B, R: Embedded>(
        mut self,
        by: impl FnOnce(S::Handles<S>) -> K,
        boundaries: impl IntoIterator<Item = B>,
        output: impl FnOnce(S::Handles<S>, Group<S, Option<B::Value>>) -> Output<Grouped<S>, R>,
    ) -> Pipeline<M, R>
    where
        K: IntoExpr<S>,
        B: IntoExpr<(), Value: FieldType + Comparable<K::Value>>,
    {
        let by = by(self.handles()).into_expr().into_node();
        let boundaries = boundaries.into_iter();
        let boundaries = boundaries.map(|boundary| boundary.into_expr().into_bson());
        let boundaries: Result<Vec<Bson>, Deferred> = boundaries.collect();
        let output = output(
            self.handles(),
            Group::of_key(&Ok(Node::Literal(Bson::Null))),
        );
        let output = output.into_fields();
        self.add(ranges(by, boundaries, output));
        self.shaped(())
    }

    /// Groups the documents by ranges of a value, which MongoDB chooses so that each has about the same number of documents:
    /// `$bucketAuto`. There are at most `count` ranges.
    ///
    /// ```
    /// # use odm::pipeline::{Bounds, pipeline};
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, price: f64 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Range {
    ///     #[serde(rename = "_id")]
    ///     prices: Bounds<f64>,
    ///     books: i64,
    /// }
    ///
    /// let ranges = pipeline::<Book>().bucket_auto(
    ///     |b| b.price,
    ///     4,
    ///     |_, range| output!(Range { prices: range.key().expr(), books: range.count() }),
    /// );
    /// assert_eq!(
    ///     ranges.to_stages()?,
    ///     [doc! {"$bucketAuto": {
    ///         "groupBy": "$price", "buckets": 4_i64, "output": {"books": {"$sum": 1}},
    ///     }}],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bucket_auto<K, R: Embedded>(
        mut self,
        by: impl FnOnce(S::Handles<S>) -> K,
        count: u32,
        output: impl FnOnce(S::Handles<S>, Group<S, Bounds<K::Value>>) -> Output<Grouped<S>, R>,
    ) -> Pipeline<M, R>
    where
        K: IntoExpr<S, Value: FieldType>,
    {
        let by = by(self.handles()).into_expr().into_node();
        let output = output(self.handles(), Group::of_key(&by)).into_fields();
        self.add(automatic_ranges(by, count, output));
        self.shaped(())
    }

    /// Counts the documents of each value, the most frequent one first: `$sortByCount`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// let years = pipeline::<Book>().count_by(|b| b.year).match_(|year| year.count.gt(1));
    /// assert_eq!(years.to_stages()?[0], doc! {"$sortByCount": "$year"});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn count_by<K>(
        mut self,
        value: impl FnOnce(S::Handles<S>) -> K,
    ) -> Pipeline<M, ValueCount<K::Value>>
    where
        K: IntoExpr<S, Value: FieldType>,
    {
        let value = value(self.handles()).into_expr().into_node();
        self.add(value.and_then(sorted_by_count));
        self.shaped(())
    }
}

fn sorted_by_count(value: Node) -> Result<Vec<Document>, Deferred> {
    if let Some(path) = value.missing() {
        return Err(Deferred::usage(
            path.trim_start_matches('$'),
            "can be missing, because it is in an `Option`, a map or one of several variants: count by `.expr().optional()`, or by \
             `.expr().required()` where stages before have left out the documents without it",
        ));
    }
    Ok(vec![doc! {"$sortByCount": value.into_bson()}])
}

fn ranges(
    by: Result<Node, Deferred>,
    boundaries: Result<Vec<Bson>, Deferred>,
    output: Result<Vec<(String, Node)>, Deferred>,
) -> Result<Vec<Document>, Deferred> {
    let (by, boundaries) = (by?.into_bson(), boundaries?);
    let (accumulators, project) = accumulated(output?);
    let bucket = doc! {"$bucket": {
        "groupBy": by,
        "boundaries": boundaries,
        "default": null,
        "output": accumulators,
    }};
    Ok(std::iter::once(bucket).chain(project).collect())
}

fn automatic_ranges(
    by: Result<Node, Deferred>,
    count: u32,
    output: Result<Vec<(String, Node)>, Deferred>,
) -> Result<Vec<Document>, Deferred> {
    let by = by?.into_bson();
    let (accumulators, project) = accumulated(output?);
    let bucket = doc! {"$bucketAuto": {
        "groupBy": by,
        "buckets": i64::from(count),
        "output": accumulators,
    }};
    Ok(std::iter::once(bucket).chain(project).collect())
}
