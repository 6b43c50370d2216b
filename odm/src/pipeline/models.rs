//! Stages over the collections of other models: `$unionWith`, `$merge`, `$out`.

use std::fmt;
use std::marker::PhantomData;

use bson::{Document, doc};

use super::input::Input;
use super::stage::{Results, Stage, Stages};
use super::stages::{IntoStages, Pipeline};
use crate::error::Result;
use crate::expr::names_only;
use crate::model::{BsonType, Document as Model, Embedded, ModelMeta, Shape, Writable};
use crate::query::Field;
use crate::query::deferred::Deferred;

impl<M, S: Embedded> Pipeline<M, S> {
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
        let is_stored = other.is_stored();
        let union = other
            .into_stages()
            .map(|stages| vec![Stage::Union { model, stages }]);
        self.add_stages(union);
        self.mixed(is_stored)
    }
}

/// What `$merge` does with a result where the collection has a document with the same key, in the combinations that MongoDB
/// has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenMatched {
    /// Sets the fields of the result in the document, and leaves its other fields: `merge`.
    Merge(WhenNotMatched),
    /// Replaces the document: `replace`.
    Replace(WhenNotMatched),
    /// Leaves the document as it is, and inserts the other results: `keepExisting`.
    KeepExisting,
    /// Ends with a duplicate key error: `fail`. The results before stay inserted.
    Fail,
}

impl WhenMatched {
    /// The two options as they are sent.
    fn names(self) -> (&'static str, &'static str) {
        let (matched, not_matched) = match self {
            Self::Merge(not_matched) => ("merge", not_matched),
            Self::Replace(not_matched) => ("replace", not_matched),
            Self::KeepExisting => ("keepExisting", WhenNotMatched::Insert),
            Self::Fail => ("fail", WhenNotMatched::Insert),
        };
        let not_matched = match not_matched {
            WhenNotMatched::Insert => "insert",
            WhenNotMatched::Discard => "discard",
            WhenNotMatched::Fail => "fail",
        };
        (matched, not_matched)
    }
}

/// What `$merge` does with a result where the collection has no document with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenNotMatched {
    /// Inserts the result: `insert`.
    Insert,
    /// Drops the result: `discard`.
    Discard,
    /// Ends with an error: `fail`. The results before stay written.
    Fail,
}

/// A pipeline that writes its results into the collection of a model, and returns none: [`Pipeline::merge`], [`Pipeline::out`].
#[must_use = "a pipeline does nothing until it is given to `aggregate`"]
pub struct Written<M> {
    stages: Result<Vec<Stage>, Deferred>,
    of: PhantomData<fn() -> M>,
}

/// A model into whose collection a pipeline writes: one of a collection, not of a view.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no collection that a pipeline can write",
    label = "the results have no collection",
    note = "make documents of a model before: `.project(|b| output!(Total {{ … }}))` with `#[derive(Document)]` on `Total`"
)]
pub trait MergeTarget: Model + Writable {}

#[diagnostic::do_not_recommend]
impl<N: Model + Writable> MergeTarget for N {}

impl<M, S: Input> Pipeline<M, S> {
    /// Writes the results into the collection of the model that they have the shape of, by `_id`: `$merge`.
    ///
    /// The documents are stored as the pipeline makes them: the validator checks them, and nothing else that odm does on an insert
    /// follows. A field that is declared as `i64` gets a `long`, also where MongoDB computes an `int`. The model can't be one whose documents have more than its struct says: a variant in a shared collection, one
    /// with a schema version or a tree, buckets, overflow or GridFS.
    ///
    /// ```
    /// use odm::output;
    /// use odm::pipeline::{WhenMatched, WhenNotMatched, pipeline};
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "sales")]
    /// struct Sale {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     item: String,
    ///     amount: i64,
    /// }
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
    /// #[odm(collection = "totals")]
    /// struct Total {
    ///     #[serde(rename = "_id")]
    ///     item: String,
    ///     amount: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let sales = db.collection::<Sale>();
    /// sales.insert_one(Sale { id: 1, item: "pen".into(), amount: 3 }).await?;
    /// sales.insert_one(Sale { id: 2, item: "pen".into(), amount: 4 }).await?;
    ///
    /// let totals = pipeline::<Sale>().group_by(|s| s.item, |s, group| output!(Total {
    ///     item: group.key(),
    ///     amount: group.sum(s.amount),
    /// }));
    /// let merged = totals.merge(WhenMatched::Replace(WhenNotMatched::Insert));
    /// sales.aggregate(merged).all().await?;
    ///
    /// let total = db.collection::<Total>().get("pen").await?;
    /// assert_eq!(total, Some(Total { item: "pen".into(), amount: 7 }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Documents of the model have more than its struct says.
    pub fn merge(self, matched: WhenMatched) -> Written<M>
    where
        S: MergeTarget,
    {
        self.merged(None, matched)
    }

    /// Writes the results as [`merge`](Self::merge) does, by another field than `_id`, which needs a unique index.
    ///
    /// ```
    /// # use odm::pipeline::{WhenMatched, WhenNotMatched, pipeline};
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(unique)] isbn: String }
    /// let books = pipeline::<Book>().raw(doc! {"$unset": "_id"});
    /// let merged = books.merge_on(|b| b.isbn, WhenMatched::Merge(WhenNotMatched::Discard));
    /// assert_eq!(
    ///     merged.to_stages()?[1],
    ///     doc! {"$merge": {
    ///         "into": "books",
    ///         "on": "isbn",
    ///         "whenMatched": "merge",
    ///         "whenNotMatched": "discard",
    ///     }},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As of [`merge`](Self::merge).
    pub fn merge_on<T, E>(
        self,
        on: impl FnOnce(S::Handles<S>) -> Field<S, T, E>,
        matched: WhenMatched,
    ) -> Written<M>
    where
        S: MergeTarget,
    {
        let on = names_only(on(self.handles()).path());
        self.merged(Some(on), matched)
    }

    fn merged(self, on: Option<Result<String, Deferred>>, matched: WhenMatched) -> Written<M>
    where
        S: MergeTarget,
    {
        self.written(S::model(), merge(S::model(), on, matched))
    }

    /// Replaces the collection of the model that the results have the shape of by the results: `$out`. Its indexes and its
    /// validator stay.
    ///
    /// As with [`merge`](Self::merge), the documents are stored as the pipeline makes them.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// let cut = pipeline::<Book>().match_(|b| b.year.gte(1900)).out();
    /// assert_eq!(cut.to_stages()?[1], doc! {"$out": "books"});
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As of [`merge`](Self::merge).
    pub fn out(self) -> Written<M>
    where
        S: MergeTarget,
    {
        let model = S::model();
        let stage = check(model).map(|()| Stage::Out(model));
        self.written(model, stage)
    }

    fn written(mut self, model: &ModelMeta, stage: Result<Stage, Deferred>) -> Written<M> {
        let longs = longs(model).map(Stage::Plain);
        self.add_stages(stage.map(|stage| longs.into_iter().chain([stage]).collect()));
        Written {
            stages: self.into_stages(),
            of: PhantomData,
        }
    }
}

fn merge(
    model: &'static ModelMeta,
    on: Option<Result<String, Deferred>>,
    matched: WhenMatched,
) -> Result<Stage, Deferred> {
    check(model)?;
    let mut options = Document::new();
    if let Some(on) = on.transpose()? {
        options.insert("on", on);
    }
    let (matched, not_matched) = matched.names();
    options.extend(doc! {"whenMatched": matched, "whenNotMatched": not_matched});
    Ok(Stage::Merge { model, options })
}

/// The stage that makes a `long` of each field that is declared as one. MongoDB computes an `int` where the value fits, which the
/// validator of the model refuses.
fn longs(model: &ModelMeta) -> Option<Document> {
    let fields = (model.embedded)().fields.iter();
    let longs = fields.filter(|field| {
        !field.flatten && matches!(field.ty.shape, Shape::Scalar([BsonType::Long]))
    });
    let set: Document = longs
        .map(|field| {
            let path = format!("${}", field.name);
            let is_int = doc! {"$eq": [{"$type": &path}, "int"]};
            let long = doc! {"$cond": [is_int, {"$toLong": &path}, &path]};
            (field.name.to_owned(), long.into())
        })
        .collect();
    (!set.is_empty()).then(|| doc! {"$set": set})
}

/// Refuses a model whose stored documents have more than its struct says.
fn check(model: &ModelMeta) -> Result<(), Deferred> {
    let more = [
        (
            "a tag, because its collection has several models",
            model.variant_of.is_some(),
        ),
        ("a schema version", model.schema.is_some()),
        ("fields of a tree", !model.trees.is_empty()),
        ("buckets", model.bucket.is_some()),
        ("documents that overflow", model.overflow.is_some()),
        ("files of GridFS", model.gridfs.is_some()),
    ];
    match more.into_iter().find(|(_, has)| *has) {
        None => Ok(()),
        Some((what, _)) => {
            let message = format!(
                "a pipeline can't write documents of `{}`: the collection has {what}, which only its own methods write",
                model.name
            );
            Err(Deferred::usage("", message))
        }
    }
}

impl<M> Written<M> {
    /// The stages that are sent, with the declared names of collections.
    ///
    /// # Errors
    ///
    /// The first error of a stage.
    pub fn to_stages(&self) -> Result<Vec<Document>> {
        super::stages::to_stages(&self.stages)
    }
}

impl<M> IntoStages<M> for Written<M> {
    type Result = Document;

    fn into_stages(self) -> Result<Stages> {
        let stages = self.stages.map_err(|error| error.to_error())?;
        Ok(Stages::new(stages, Results::Documents))
    }
}

impl<M> fmt::Debug for Written<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::stages::debug(&self.stages, f)
    }
}
