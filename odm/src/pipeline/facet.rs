//! Several pipelines over the same documents: `$facet`.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, doc};
use serde::{Deserialize, Serialize};

use super::input::Input;
use super::stage::{Results, Stage, Stages};
use super::stages::Pipeline;
use crate::expr::kind::Fits;
use crate::expr::names_only;
use crate::model::{Embedded, FieldType};
use crate::query::deferred::Deferred;
use crate::query::{Encode, Field};
use crate::store::CollectionNames;

/// The start of a pipeline within a [`facet`](Pipeline::facet): the documents before it, of the shape `S`.
#[derive(Debug)]
pub struct Branch<S>(PhantomData<fn() -> S>);

/// A document of the struct `R`, each field the results of a pipeline: [`facets!`](crate::facets) makes it.
#[must_use = "facets do nothing until they are given to `facet`"]
pub struct Facets<S, R> {
    fields: Result<Vec<(String, Vec<Stage>)>, Deferred>,
    of: PhantomData<fn() -> (S, R)>,
}

impl<S, R> Facets<S, R> {
    /// Facets without fields; [`facets!`](crate::facets) calls it.
    #[doc(hidden)]
    pub fn new() -> Self {
        Self {
            fields: Ok(Vec::new()),
            of: PhantomData,
        }
    }

    /// Fills one field; [`facets!`](crate::facets) calls it.
    #[doc(hidden)]
    pub fn with<T, E, X: Embedded>(
        self,
        field: &Field<R, T, E>,
        pipeline: Pipeline<Branch<S>, X>,
    ) -> Self
    where
        E: Encode<T, Stored: Sized>,
        Vec<X>: Fits<E::Stored>,
    {
        let name = names_only(field.path());
        Self {
            fields: with(self.fields, name, pipeline.into_stages()),
            of: PhantomData,
        }
    }
}

fn with(
    fields: Result<Vec<(String, Vec<Stage>)>, Deferred>,
    name: Result<String, Deferred>,
    stages: Result<Vec<Stage>, Deferred>,
) -> Result<Vec<(String, Vec<Stage>)>, Deferred> {
    let (mut fields, name) = (fields?, name?);
    let stages = stages.map_err(|error| error.under(&name))?;
    fields.push((name, stages));
    Ok(fields)
}

impl<S, R> Default for Facets<S, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S, R> fmt::Debug for Facets<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fields {
            Ok(fields) => {
                let stages = Stages::new(vec![Stage::Facet(fields.clone())], Results::Documents);
                let stages = stages.named(&CollectionNames::default());
                write!(f, "Facets({})", Bson::from(stages))
            }
            Err(error) => write!(f, "Facets({})", error.to_error()),
        }
    }
}

impl<M, S: Input> Pipeline<M, S> {
    /// Runs several pipelines over the documents, and makes one document of their results, [`facets!`](crate::facets):
    /// `$facet`.
    ///
    /// The closure receives the start of a pipeline, which each field continues. MongoDB puts all results into one document of
    /// at most 16 MB.
    ///
    /// ```
    /// use odm::facets;
    /// use odm::pipeline::{DocumentCount, ValueCount, pipeline};
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "books")]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     year: i32,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// #[odm(result)]
    /// struct Found {
    ///     page: Vec<Book>,
    ///     years: Vec<ValueCount<i32>>,
    ///     total: Vec<DocumentCount>,
    /// }
    ///
    /// let found = pipeline::<Book>().match_(|b| b.year.gte(1900)).facet(|books| facets!(Found {
    ///     page: books.clone().sort(|b| b.id.asc()).limit(20),
    ///     years: books.clone().count_by(|b| b.year),
    ///     total: books.count(),
    /// }));
    /// assert_eq!(
    ///     found.to_stages()?[1],
    ///     doc! {"$facet": {
    ///         "page": [{"$sort": {"_id": 1}}, {"$limit": 20_i64}],
    ///         "years": [{"$sortByCount": "$year"}],
    ///         "total": [{"$count": "count"}],
    ///     }},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn facet<R: Embedded>(
        mut self,
        facets: impl FnOnce(Pipeline<Branch<S>, S>) -> Facets<S, R>,
    ) -> Pipeline<M, R> {
        let facets = facets(self.branch()).fields;
        self.add_stages(facets.map(|facets| vec![Stage::Facet(facets)]));
        self.shaped(())
    }
}

/// Some documents of many, and how many there are: the result of [`page`](Pipeline::page).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, odm_derive::Embedded)]
#[odm(result)]
pub struct PageWithTotal<T> {
    /// The documents of the page.
    pub items: Vec<T>,
    /// The number of documents on all pages.
    pub total: i64,
}

impl<M, S: Embedded + FieldType> Pipeline<M, S> {
    /// Reads one page of the documents and counts them all, in one command: `$facet`. Sort them before, by a key that is
    /// unique. There is always one result.
    ///
    /// MongoDB reads all documents for the count. Where a total is not needed, [pages](crate::Collection::find) by keys read
    /// those of the page only.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let books = db.collection::<Book>();
    /// books.insert_many((1..=25).map(|id| Book { id, year: 1900 + id })).await?;
    ///
    /// let page = pipeline::<Book>().match_(|b| b.year.gt(1902)).sort(|b| b.id.asc()).page(20, 10);
    /// let page = books.aggregate(page).first().await?.expect("there is always one result");
    /// assert_eq!((page.total, page.items.len()), (23, 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn page(mut self, skip: u32, limit: u32) -> Pipeline<M, PageWithTotal<S>> {
        let items = [
            doc! {"$skip": i64::from(skip)},
            doc! {"$limit": i64::from(limit)},
        ];
        let total = doc! {"$ifNull": [{"$first": "$total.count"}, 0]};
        self.add(Ok(vec![
            doc! {"$facet": {"items": items.to_vec(), "total": [{"$count": "count"}]}},
            doc! {"$project": {"items": 1, "total": total}},
        ]));
        self.shaped(())
    }
}

/// A document of a derived struct, each field the results of a pipeline: [`Pipeline::facet`](crate::pipeline::Pipeline::facet)
/// takes it.
///
/// It is written as the struct itself. Each field must be there: a `Vec` of the struct that its pipeline makes.
#[macro_export]
macro_rules! facets {
    ($shape:ident { $($field:ident: $pipeline:expr),* $(,)? }) => {{
        // A field that is left out is an error of this literal.
        let _ = || $shape { $($field: $crate::pipeline::unwritten()),* };
        let __odm_to = $crate::query::fields::<$shape>();
        $crate::pipeline::Facets::<_, $shape>::new()$(.with(&__odm_to.$field, $pipeline))*
    }};
}
