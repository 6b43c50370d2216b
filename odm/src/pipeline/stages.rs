//! The builder of pipelines.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document, doc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::group::{self, Group, Grouped};
use super::input::{Input, Unwound};
use super::output::Output;
use super::stage::{Stage, Stages};
use crate::error::Result;
use crate::expr::node::Node;
use crate::expr::{IntoExpr, names_only};
use crate::model::{Document as Model, Embedded, FieldType};
use crate::query::deferred::Deferred;
use crate::query::kind::Sequence;
use crate::query::{Encode, Field, Filter, Sort};
use crate::store::CollectionNames;

/// Stages over the documents of the model `M`, whose results have the shape `S`. The [module](super) has an introduction.
#[must_use = "a pipeline does nothing until it is given to `aggregate`"]
pub struct Pipeline<M, S: Input = M> {
    stages: Result<Vec<Stage>, Deferred>,
    places: S::Places,
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
    fn then(mut self, stage: Result<Document, Deferred>) -> Self {
        self.add(stage.map(|stage| vec![stage]));
        self
    }

    fn add(&mut self, stages: Result<Vec<Document>, Deferred>) {
        self.add_stages(stages.map(|stages| stages.into_iter().map(Stage::Plain).collect()));
    }

    fn add_stages(&mut self, stages: Result<Vec<Stage>, Deferred>) {
        if let Ok(all) = &mut self.stages {
            match stages {
                Ok(stages) => all.extend(stages),
                Err(error) => self.stages = Err(error),
            }
        }
    }

    /// The same stages with results of another shape.
    fn shaped<R: Input>(self, places: R::Places) -> Pipeline<M, R> {
        Pipeline {
            stages: self.stages,
            places,
            of: PhantomData,
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
        let filter = condition(S::handles(&self.places));
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
        let sort = order(S::handles(&self.places)).into_document();
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
        let output = output(S::handles(&self.places)).into_fields();
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
        let key = key(S::handles(&self.places)).into_expr().into_node();
        let output = output(S::handles(&self.places), Group::new());
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
        let output = output(S::handles(&self.places), Group::new());
        self.add(group::stages(Ok(Node::Literal(Bson::Null)), output));
        self.shaped(())
    }

    /// Makes a document of each element of a list, which closures then receive beside the document: `$unwind`. Documents with
    /// an empty list are left out, and so are those without one.
    ///
    /// The field itself holds the element then: use the element instead.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { sku: String, quantity: i32 }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32, #[odm(embed(few, max = 100))] lines: Vec<Line> }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Sold {
    ///     #[serde(rename = "_id")]
    ///     sku: String,
    ///     quantity: i64,
    /// }
    ///
    /// let sold = pipeline::<Order>().unwind(|o| o.lines).group_by(
    ///     |(_, line)| line.sku,
    ///     |(_, line), group| output!(Sold { sku: group.key(), quantity: group.sum(line.quantity) }),
    /// );
    /// assert_eq!(
    ///     sold.to_stages()?,
    ///     [
    ///         doc! {"$unwind": "$lines"},
    ///         doc! {"$group": {"_id": "$lines.sku", "quantity": {"$sum": "$lines.quantity"}}},
    ///     ],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn unwind<T, E>(
        mut self,
        list: impl FnOnce(S::Handles<S>) -> Field<S, T, E>,
    ) -> Pipeline<M, Unwound<S, <E::Stored as Sequence>::Element>>
    where
        E: Encode<T, Stored: Sequence<Element: FieldType>>,
    {
        let path = list(S::handles(&self.places)).path().clone();
        let stage = names_only(&path).map(|path| vec![doc! {"$unwind": format!("${path}")}]);
        self.add(stage);
        let places = (self.places.clone(), path);
        self.shaped(places)
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

    /// Adds the results of another pipeline, over any model: `$unionWith`.
    ///
    /// Of a model that shares its collection with others, only its own documents are read; and a handle with
    /// [other names of collections](crate::Db::with_collection_names) reads from those.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, title: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "films")]
    /// # struct Film { #[serde(rename = "_id")] id: i32, name: String }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Work {
    ///     title: String,
    /// }
    ///
    /// let films = pipeline::<Film>().project(|f| output!(Work { title: f.name }));
    /// let works = pipeline::<Book>().project(|b| output!(Work { title: b.title })).union_with(films);
    /// assert_eq!(
    ///     works.to_stages()?[1],
    ///     doc! {"$unionWith": {
    ///         "coll": "films", "pipeline": [{"$project": {"_id": 0, "title": "$name"}}],
    ///     }},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn union_with<N: Model>(mut self, other: Pipeline<N, S>) -> Self {
        let model = N::model();
        let union = other
            .stages
            .map(|stages| vec![Stage::Union { model, stages }]);
        self.add_stages(union);
        self
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
        let stages = self.stages.clone().map_err(|error| error.to_error())?;
        Ok(Stages::new(stages).named(&CollectionNames::default()))
    }
}

fn project(fields: Vec<(String, Node)>) -> Document {
    let mut project = Document::new();
    if fields.iter().all(|(name, _)| name != "_id") {
        project.insert("_id", 0);
    }
    for (name, field) in fields {
        let field = match field {
            // An inclusion can be answered from an index.
            Node::Path(path) if path.strip_prefix('$') == Some(name.as_str()) => Bson::Int32(1),
            field => field.into_field(),
        };
        project.insert(name, field);
    }
    doc! {"$project": project}
}

impl<M, S: Input> Clone for Pipeline<M, S> {
    fn clone(&self) -> Self {
        Self {
            stages: self.stages.clone(),
            places: self.places.clone(),
            of: PhantomData,
        }
    }
}

impl<M, S: Input> fmt::Debug for Pipeline<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_stages() {
            Ok(stages) => write!(f, "Pipeline({})", Bson::from(stages)),
            Err(error) => write!(f, "Pipeline({error})"),
        }
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
        let stages = self.stages.map_err(|error| error.to_error())?;
        Ok(Stages::new(stages))
    }
}

#[diagnostic::do_not_recommend]
impl<M, I: IntoIterator<Item = Document>> IntoStages<M> for I {
    type Result = Document;

    fn into_stages(self) -> Result<Stages> {
        Ok(Stages::plain(self))
    }
}
