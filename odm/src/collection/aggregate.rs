//! `aggregate`: runs a pipeline and returns typed results.

use std::fmt;
use std::marker::PhantomData;

use bson::Document as BsonDocument;
use serde::de::DeserializeOwned;

use super::ReadAs;
use super::call::Call;
use super::options::options;
use super::{Collection, Cursor};
use crate::error::Result;
use crate::model::Document;
use crate::pipeline::{IntoStages, Results, Stages};
use crate::store::Operation;

/// Runs a pipeline: [`Collection::aggregate`].
#[must_use = "nothing runs until it is awaited"]
pub struct Aggregate<'s, M: Document, T = BsonDocument> {
    call: Call<'s>,
    results: Results,
    of: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Collection<M> {
    /// Runs a typed [pipeline](crate::pipeline) over the collection, and reads its results into the struct that it makes.
    ///
    /// It runs stages written by hand, too. Their results are documents, unless [`with_type`](Aggregate::with_type) names
    /// a struct.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let pipeline = [
    ///     doc! {"$group": {"_id": {"$gte": ["$year", 1900]}, "count": {"$sum": 1}}},
    ///     doc! {"$sort": {"_id": 1}},
    /// ];
    /// let groups = books.aggregate(pipeline).all().await?;
    /// assert_eq!(groups, [doc! {"_id": false, "count": 2}, doc! {"_id": true, "count": 1}]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn aggregate<'s, P: IntoStages<M>>(&self, pipeline: P) -> Aggregate<'s, M, P::Result> {
        let stages = pipeline.into_stages();
        let results = stages.as_ref().map_or(Results::Documents, Stages::results);
        let stages = stages.map(|stages| stages.named(self.store.names()));
        Aggregate {
            call: self.try_call(stages.map(|pipeline| Operation::Aggregate { pipeline })),
            results,
            of: PhantomData,
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> Aggregate<'s, M, T> {
    options!(
        session command explain batch_size hint comment collation let_vars max_time allow_disk_use
        bypass_document_validation read_concern read_preference write_concern
    );

    /// Reads the results as `U`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// #[derive(Debug, PartialEq, Deserialize)]
    /// struct Decade {
    ///     #[serde(rename = "_id")]
    ///     decade: i32,
    /// }
    ///
    /// let pipeline = [
    ///     doc! {"$match": {"_id": 1}},
    ///     doc! {"$project": {"_id": {"$subtract": ["$year", {"$mod": ["$year", 10]}]}}},
    /// ];
    /// let decades = books.aggregate(pipeline).with_type::<Decade>().all().await?;
    /// assert_eq!(decades, [Decade { decade: 1810 }]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_type<U: DeserializeOwned + 'static>(self) -> Aggregate<'s, M, U> {
        Aggregate {
            call: self.call,
            results: Results::Documents,
            of: PhantomData,
        }
    }

    /// Collects all results, or returns the first error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let counted = books.aggregate([doc! {"$count": "books"}]).all().await?;
    /// assert_eq!(counted, [doc! {"books": 3}]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(self) -> Result<Vec<T>> {
        self.run().await?.all().await
    }

    /// Returns the first result, if there is one: of a `$count`, for example, which has no result for no document. The
    /// pipeline stays as it is; where more results are likely, end it with `{$limit: 1}`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// #[derive(Debug, PartialEq, Deserialize)]
    /// struct Years {
    ///     first: i32,
    ///     last: i32,
    /// }
    ///
    /// let group = doc! {"_id": null, "first": {"$min": "$year"}, "last": {"$max": "$year"}};
    /// let years = books.aggregate([doc! {"$group": group}]).with_type::<Years>().first().await?;
    /// assert_eq!(years, Some(Years { first: 1815, last: 1922 }));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn first(self) -> Result<Option<T>> {
        self.run().await?.next().await.transpose()
    }

    async fn run(self) -> Result<Cursor<'s, T>> {
        let model = self.call.model;
        let read_as = match self.results {
            Results::Documents => ReadAs::Stored(model.name),
            Results::Stored => ReadAs::of_model(model, None),
            Results::Made(shape) => ReadAs::Made {
                model: model.name,
                shape,
            },
        };
        let cursor = self.call.send().await?.cursor()?;
        Ok(Cursor::new(cursor, read_as))
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> IntoFuture for Aggregate<'s, M, T> {
    type Output = Result<Cursor<'s, T>>;
    type IntoFuture = futures_core::future::BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T> fmt::Debug for Aggregate<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
