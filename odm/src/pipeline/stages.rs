//! The builder of pipelines.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document, doc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::facet::Branch;
use super::group::{self, Group, Grouped};
use super::input::{Input, With};
use super::output::{Output, project};
use super::stage::{Results, Stage, Stages};
use super::window::{self, Partition, Partitions};
use crate::error::Result;
use crate::expr::IntoExpr;
use crate::expr::node::Node;
use crate::model::{Embedded, FieldType, Path, Segment};
use crate::query::deferred::Deferred;
use crate::query::{Filter, Sort};
use crate::store::CollectionNames;

/// Stages over the documents of the model `M`, whose results have the shape `S`. The [module](super) has an introduction.
#[must_use = "a pipeline does nothing until it is given to `aggregate`"]
pub struct Pipeline<M, S: Input = M> {
    stages: Result<Vec<Stage>, Deferred>,
    places: S::Places,
    /// The names of the fields that stages added.
    added: Vec<String>,
    /// Whether the documents are those that are stored, as a whole.
    is_stored: bool,
    of: PhantomData<fn() -> (M, S)>,
}

/// A pipeline without stages over the documents of `M`.
///
/// ```
/// # use odm::pipeline::pipeline;
/// # use odm::prelude::*;
/// # #[derive(Serialize, Deserialize, Document)]
/// # #[odm(collection = "books")]
/// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
/// let newest = pipeline::<Book>().sort(|b| b.year.desc()).limit(3);
/// assert_eq!(newest.to_stages()?, [doc! {"$sort": {"year": -1}}, doc! {"$limit": 3_i64}]);
/// # Ok::<(), odm::Error>(())
/// ```
pub fn pipeline<M: Embedded>() -> Pipeline<M> {
    Pipeline {
        stages: Ok(Vec::new()),
        places: (),
        added: Vec::new(),
        is_stored: true,
        of: PhantomData,
    }
}

/// The result of [`Pipeline::count`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, odm_derive::Embedded)]
pub struct DocumentCount {
    /// The number of documents.
    pub count: i64,
}

impl<M, S: Input> Pipeline<M, S> {
    pub(super) fn then(mut self, stage: Result<Document, Deferred>) -> Self {
        self.add(stage.map(|stage| vec![stage]));
        self
    }

    pub(super) fn add(&mut self, stages: Result<Vec<Document>, Deferred>) {
        self.add_stages(stages.map(|stages| stages.into_iter().map(Stage::Plain).collect()));
    }

    pub(crate) fn add_stages(&mut self, stages: Result<Vec<Stage>, Deferred>) {
        if let Ok(all) = &mut self.stages {
            match stages {
                Ok(stages) => all.extend(stages),
                Err(error) => self.stages = Err(error),
            }
        }
    }

    /// The typed fields of the documents.
    pub(crate) fn handles(&self) -> S::Handles<S> {
        S::handles(&self.places)
    }

    /// The path of another field beside those of the documents.
    pub(crate) fn new_field(&mut self, name: &str) -> Path {
        let mut field = format!("__{name}");
        let mut number = 1;
        while self.added.contains(&field) {
            number += 1;
            field = format!("__{name}_{number}");
        }
        self.added.push(field.clone());
        Path::root().then(Segment::Name(field.into()))
    }

    /// The same stages, whose documents have a value at `path`.
    pub(crate) fn with_value<T: FieldType>(self, path: Path) -> Pipeline<M, With<S, T>> {
        let places = (self.places.clone(), path);
        self.shaped(places)
    }

    /// The same stages with results of another shape.
    pub(super) fn shaped<R: Input>(self, places: R::Places) -> Pipeline<M, R> {
        Pipeline {
            stages: self.stages,
            places,
            added: self.added,
            is_stored: false,
            of: PhantomData,
        }
    }

    /// Whether the documents are those that are stored, as a whole.
    pub(super) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// The same stages, whose results other stages may have made.
    pub(super) fn mixed(self, is_stored: bool) -> Self {
        Self {
            is_stored: self.is_stored && is_stored,
            ..self
        }
    }

    /// Keeps the documents that match: `$match`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// let old = pipeline::<Book>().match_(|b| b.year.lt(1900));
    /// assert_eq!(old.to_stages()?, [doc! {"$match": {"year": {"$lt": 1900}}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn match_(self, condition: impl FnOnce(S::Handles<S>) -> Filter<S>) -> Self {
        let filter = condition(self.handles());
        let filter = filter
            .into_node()
            .and_then(crate::query::node::Node::into_document);
        self.then(filter.map(|filter| doc! {"$match": filter}))
    }

    /// Sorts the documents: `$sort`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32, title: String }
    /// let by_year = pipeline::<Book>().sort(|b| b.year.desc().then(b.title.asc()));
    /// assert_eq!(by_year.to_stages()?, [doc! {"$sort": {"year": -1, "title": 1}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn sort(self, order: impl FnOnce(S::Handles<S>) -> Sort<S>) -> Self {
        let sort = order(self.handles()).into_document();
        self.then(sort.map(|sort| doc! {"$sort": sort}))
    }

    /// Skips documents: `$skip`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32 }
    /// let rest = pipeline::<Book>().sort(|b| b.id.asc()).skip(20);
    /// assert_eq!(rest.to_stages()?[1], doc! {"$skip": 20_i64});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn skip(self, count: u32) -> Self {
        self.then(Ok(doc! {"$skip": i64::from(count)}))
    }

    /// Keeps the first documents: `$limit`. MongoDB refuses a limit of 0.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32 }
    /// let first = pipeline::<Book>().sort(|b| b.id.asc()).limit(10);
    /// assert_eq!(first.to_stages()?[1], doc! {"$limit": 10_i64});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn limit(self, count: u32) -> Self {
        self.then(Ok(doc! {"$limit": i64::from(count)}))
    }

    /// Keeps documents chosen at random: `$sample`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32 }
    /// let some = pipeline::<Book>().sample(5);
    /// assert_eq!(some.to_stages()?, [doc! {"$sample": {"size": 5_i64}}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn sample(self, count: u32) -> Self {
        self.then(Ok(doc! {"$sample": {"size": i64::from(count)}}))
    }

    /// Makes a [`output!`](crate::output) of each document: `$project`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, title: String, year: i32 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Card {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     name: String,
    ///     is_old: bool,
    /// }
    ///
    /// let cards = pipeline::<Book>().project(|b| output!(Card {
    ///     id: b.id,
    ///     name: b.title,
    ///     is_old: b.year.expr().lt(1900),
    /// }));
    /// assert_eq!(
    ///     cards.to_stages()?,
    ///     [doc! {"$project": {"_id": 1, "name": "$title", "is_old": {"$lt": ["$year", 1900]}}}],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn project<R: Embedded>(
        mut self,
        output: impl FnOnce(S::Handles<S>) -> Output<S, R>,
    ) -> Pipeline<M, R> {
        let output = output(self.handles()).into_fields();
        self.add(output.map(|fields| vec![project(fields)]));
        self.shaped(())
    }

    /// Groups the documents by a key, and makes a [`output!`](crate::output) of each [`Group`]: `$group`.
    ///
    /// A field of the output that is renamed to `_id` can hold the key, as in MongoDB. Where it is in another field, or fields are computed
    /// from several accumulators, a `$project` follows.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "sales")]
    /// # struct Sale { #[serde(rename = "_id")] id: i32, at: DateTime, price: f64, quantity: i32 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Month {
    ///     #[serde(rename = "_id")]
    ///     month: String,
    ///     total: f64,
    ///     sales: i64,
    /// }
    ///
    /// let months = pipeline::<Sale>().group_by(
    ///     |s| s.at.expr().in_zone("Europe/Berlin").format("%Y-%m"),
    ///     |s, group| output!(Month {
    ///         month: group.key(),
    ///         total: group.sum(s.price * s.quantity),
    ///         sales: group.count(),
    ///     }),
    /// );
    /// assert_eq!(
    ///     months.to_stages()?,
    ///     [doc! {"$group": {
    ///         "_id": {"$dateToString": {"date": "$at", "format": "%Y-%m", "timezone": "Europe/Berlin"}},
    ///         "total": {"$sum": {"$multiply": ["$price", "$quantity"]}},
    ///         "sales": {"$sum": 1},
    ///     }}],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn group_by<K, R: Embedded>(
        mut self,
        key: impl FnOnce(S::Handles<S>) -> K,
        output: impl FnOnce(S::Handles<S>, Group<S, K::Value>) -> Output<Grouped<S>, R>,
    ) -> Pipeline<M, R>
    where
        K: IntoExpr<S>,
        K::Value: FieldType,
    {
        let key = key(self.handles()).into_expr().into_node();
        let output = output(self.handles(), Group::of_key(&key));
        self.add(group::stages(key, output));
        self.shaped(())
    }

    /// Makes one [`output!`](crate::output) of all documents: `$group` with the key null. Without documents there is no output.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Years {
    ///     first: i32,
    ///     span: i32,
    /// }
    ///
    /// let years = pipeline::<Book>().group_all(|b, all| output!(Years {
    ///     first: all.min(&b.year),
    ///     span: all.max(&b.year) - all.min(&b.year),
    /// }));
    /// assert_eq!(
    ///     years.to_stages()?,
    ///     [
    ///         doc! {"$group": {
    ///             "_id": null,
    ///             "first": {"$min": "$year"},
    ///             "__span_1": {"$max": "$year"},
    ///             "__span_2": {"$min": "$year"},
    ///         }},
    ///         doc! {"$project": {
    ///             "first": 1, "span": {"$subtract": ["$__span_1", "$__span_2"]}, "_id": 0,
    ///         }},
    ///     ],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn group_all<R: Embedded>(
        mut self,
        output: impl FnOnce(S::Handles<S>, Group<S, Bson>) -> Output<Grouped<S>, R>,
    ) -> Pipeline<M, R> {
        let key = Ok(Node::Literal(Bson::Null));
        let output = output(self.handles(), Group::of_key(&key));
        self.add(group::stages(key, output));
        self.shaped(())
    }

    /// Makes an [`output!`](crate::output) of each document and its neighbours in a [`Partition`]: `$setWindowFields`, since
    /// MongoDB 5.0, and a `$project`.
    ///
    /// The first closure says which documents are neighbours: a sort, or [`partition_by`](super::partition_by). The output has
    /// fields of the document, and what the functions of the partition and of its windows compute.
    ///
    /// ```
    /// # use odm::pipeline::{partition_by, pipeline};
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "sales")]
    /// # struct Sale { #[serde(rename = "_id")] id: i32, state: String, at: DateTime, amount: i32 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Share {
    ///     state: String,
    ///     at: DateTime,
    ///     running_total: i64,
    ///     share: f64,
    /// }
    ///
    /// let shares = pipeline::<Sale>().set_window_fields(
    ///     |s| partition_by(s.state).sort(s.at.asc()),
    ///     |s, w| output!(Share {
    ///         state: s.state,
    ///         at: s.at,
    ///         running_total: w.documents(..=0).sum(&s.amount),
    ///         share: s.amount.expr() / w.documents(..).sum(&s.amount),
    ///     }),
    /// );
    /// assert_eq!(
    ///     shares.to_stages()?[1],
    ///     doc! {"$project": {
    ///         "_id": 0,
    ///         "state": 1,
    ///         "at": 1,
    ///         "running_total": "$__running_total_1",
    ///         "share": {"$divide": ["$amount", "$__share_1"]},
    ///     }},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn set_window_fields<P: Into<Partitions<S>>, R: Embedded>(
        mut self,
        partitions: impl FnOnce(S::Handles<S>) -> P,
        output: impl FnOnce(S::Handles<S>, Partition<S>) -> Output<S, R>,
    ) -> Pipeline<M, R> {
        let partitions = partitions(self.handles()).into();
        let output = output(self.handles(), Partition::new());
        self.add(window::stages(partitions, output));
        self.shaped(())
    }

    /// Counts the documents: `$count`. Without documents there is no result.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32 }
    /// assert_eq!(pipeline::<Book>().count().to_stages()?, [doc! {"$count": "count"}]);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn count(self) -> Pipeline<M, DocumentCount> {
        self.then(Ok(doc! {"$count": "count"})).shaped(())
    }

    /// Adds a stage written by hand that leaves the shape as it is.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// let some = pipeline::<Book>().raw(doc! {"$match": {"$sampleRate": 0.1}}).sort(|b| b.year.asc());
    /// assert_eq!(some.to_stages()?.len(), 2);
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn raw(self, stage: Document) -> Self {
        self.then(Ok(stage))
    }

    /// Adds stages written by hand, whose results are documents of `R`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Year {
    ///     #[serde(rename = "_id")]
    ///     year: i32,
    ///     count: i32,
    /// }
    ///
    /// let years = pipeline::<Book>()
    ///     .raw_as::<Year>([doc! {"$sortByCount": "$year"}])
    ///     .match_(|y| y.count.gt(1));
    /// assert_eq!(years.to_stages()?[1], doc! {"$match": {"count": {"$gt": 1}}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn raw_as<R: Embedded>(
        mut self,
        stages: impl IntoIterator<Item = Document>,
    ) -> Pipeline<M, R> {
        self.add(Ok(stages.into_iter().collect()));
        self.shaped(())
    }

    /// The stages that are sent, with the declared names of collections.
    ///
    /// # Errors
    ///
    /// The first error of a stage: a value can't be encoded, or a path can't stand in a pipeline.
    pub fn to_stages(&self) -> Result<Vec<Document>> {
        to_stages(&self.stages)
    }

    pub(crate) fn into_stages(self) -> Result<Vec<Stage>, Deferred> {
        self.stages
    }

    /// A pipeline over the documents that this one has so far.
    pub(super) fn branch(&self) -> Pipeline<Branch<S>, S> {
        Pipeline {
            stages: Ok(Vec::new()),
            places: self.places.clone(),
            added: self.added.clone(),
            is_stored: false,
            of: PhantomData,
        }
    }
}

/// The stages with the declared names of collections.
pub(super) fn to_stages(stages: &Result<Vec<Stage>, Deferred>) -> Result<Vec<Document>> {
    let stages = stages.clone().map_err(|error| error.to_error())?;
    let stages = Stages::new(stages, Results::Documents);
    Ok(stages.named(&CollectionNames::default()))
}

/// Shows the stages, or the error of one.
pub(super) fn debug(
    stages: &Result<Vec<Stage>, Deferred>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match to_stages(stages) {
        Ok(stages) => write!(f, "Pipeline({})", Bson::from(stages)),
        Err(error) => write!(f, "Pipeline({error})"),
    }
}

impl<M, S: Input> Clone for Pipeline<M, S> {
    fn clone(&self) -> Self {
        Self {
            stages: self.stages.clone(),
            places: self.places.clone(),
            added: self.added.clone(),
            is_stored: self.is_stored,
            of: PhantomData,
        }
    }
}

impl<M, S: Input> fmt::Debug for Pipeline<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(&self.stages, f)
    }
}

/// What [`Collection::aggregate`](crate::Collection::aggregate) runs over the documents of `M`: a [`Pipeline`], or stages
/// written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pipeline over `{M}`",
    label = "expected a `Pipeline` that starts from `{M}`, or a list of documents",
    note = "documents that were unwound have no struct to be read into: `project` or `group_by` makes structs of them"
)]
pub trait IntoStages<M> {
    /// The struct into which the results are read.
    type Result: DeserializeOwned + 'static;

    /// Makes the stages.
    #[doc(hidden)]
    fn into_stages(self) -> Result<Stages>;
}

impl<M, S: Embedded + DeserializeOwned + 'static> IntoStages<M> for Pipeline<M, S> {
    type Result = S;

    fn into_stages(self) -> Result<Stages> {
        let results = if self.is_stored {
            Results::Stored
        } else {
            Results::Made(S::META.name)
        };
        let stages = self.stages.map_err(|error| error.to_error())?;
        Ok(Stages::new(stages, results))
    }
}

#[diagnostic::do_not_recommend]
impl<M, I: IntoIterator<Item = Document>> IntoStages<M> for I {
    type Result = Document;

    fn into_stages(self) -> Result<Stages> {
        Ok(Stages::plain(self))
    }
}
