//! Counts of the documents that refer to a row.

use std::fmt;
use std::marker::PhantomData;

use bson::doc;
use bson::raw::RawDocument;
use futures_core::future::BoxFuture;

use super::branch::sealed::Sealed;
use super::branch::{Branch, IntoBranch};
use super::inverse::{Of, Search};
use super::inverse_join::Referred;
use super::scope::check_projection;
use crate::error::Result;
use crate::exec::{Channel, counted};
use crate::model::Document;
use crate::query::FilterFn;
use crate::store::operation::Operation;

/// An inverse relation of which the documents are only counted.
#[must_use = "nothing is loaded until the find that joins it is awaited"]
pub struct Counted<M, N, T> {
    search: Search,
    of: PhantomData<Of<M, N, T, (), ()>>,
}

impl<M: Document, N, T: Document> Counted<M, N, T> {
    pub(super) fn new(search: Search) -> Self {
        Self {
            search,
            of: PhantomData,
        }
    }

    /// Counts the documents that match this, too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.count().filter(|b| b.year.lt(1900))).all().await?;
    /// assert_eq!((*rows[0].books(), *rows[1].books()), (2, 0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<T>) -> Self {
        self.search.scope.filter::<T>(condition);
        self
    }
}

impl<M, N, T> Sealed for Counted<M, N, T> {}

impl<M: Document, N: 'static, T: Document> Branch for Counted<M, N, T> {
    type Name = N;
    type Value = u64;
    type Gathered = Referred;

    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()> {
        self.search.scope.check_with(&mut ())?;
        check_projection(projection, self.search.ends.key.as_str())
    }

    fn gather(&self, gathered: &mut Referred, row: &RawDocument) -> Result<()> {
        gathered.add(&self.search.ends.key, row)
    }

    fn load<'a>(
        &'a self,
        gathered: Referred,
        mut channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<u64>>> {
        Box::pin(async move {
            let Referred { keys, rows } = gathered;
            let by = self.search.ends.by.as_str();
            let mut counts = vec![0_u64; keys.len()];
            for part in keys.parts() {
                let field = format!("${by}");
                let mut pipeline = vec![doc! {"$match": self.search.scope.condition(by, part)}];
                if self.search.ends.through_array {
                    // A document whose list names a row twice counts once.
                    pipeline.extend(self.search.ends.by.unwound("by"));
                    pipeline.push(doc! {"$group": {"_id": {"by": "$by", "id": "$_id"}}});
                    pipeline.push(doc! {"$group": {"_id": "$_id.by", "n": {"$sum": 1}}});
                } else {
                    pipeline.push(doc! {"$group": {"_id": &field, "n": {"$sum": 1}}});
                }
                let options = channel.options();
                let operation = Operation::Aggregate { pipeline };
                let visit = |raw: &RawDocument| {
                    let id = raw.get("_id").ok().flatten();
                    let position = id.and_then(|id| keys.position(id));
                    if let Some(count) = position.and_then(|position| counts.get_mut(position)) {
                        *count = counted(raw)?;
                    }
                    Ok(())
                };
                channel
                    .of(T::model())
                    .read(operation, options, visit)
                    .await?;
            }
            let most = self.search.scope.limit.map_or(u64::MAX, u64::from);
            Ok(rows
                .into_iter()
                .map(|position| position.and_then(|position| counts.get(position)))
                .map(|count| count.map_or(0, |count| most.min(*count)))
                .collect())
        })
    }
}

impl<M: Document, N: 'static, T: Document> IntoBranch<M> for Counted<M, N, T> {
    type Branch = Self;

    fn into_branch(self) -> Self {
        self
    }
}

impl<M, N, T> fmt::Debug for Counted<M, N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Counted").field(&self.search).finish()
    }
}
