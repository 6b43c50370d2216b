//! The insert of a document with the next number of a counter, without gaps.

use std::fmt;
use std::sync::Arc;

use super::Counter;
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::{Document, ModelMeta, Writable};
use crate::store::Turn;
use crate::write::{Atomic, WriteSeveral};

/// The insert of a document with the next number of a counter, about to be sent: [`Counter::insert`].
///
/// It runs in a transaction: [`non_atomic`](Atomic::non_atomic) is an error.
pub type InsertNumbered<'s, M> = Atomic<'s, Numbered<M>>;

/// The writes of an [`InsertNumbered`].
pub struct Numbered<M> {
    counter: Counter,
    collection: Collection<M>,
    make: Arc<dyn Fn(i64) -> M + Send + Sync>,
}

/// The result of [`Counter::insert`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumberedResult<I> {
    /// The number that the counter gave.
    pub number: i64,
    /// The `_id` of the document.
    pub inserted_id: I,
}

impl Counter {
    /// Takes the next number and inserts the document that `make` makes with it, in one transaction: if the insert fails, the number
    /// is given out again, so that the numbers have no gaps.
    ///
    /// Such inserts happen one after the other, because each has to know whether the one before it was committed. Where gaps do no
    /// harm, [`next`](Self::next) is faster. `make` runs again if the transaction is tried again.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "invoices", unique(number))]
    /// struct Invoice {
    ///     #[serde(rename = "_id")]
    ///     id: Id<Invoice>,
    ///     number: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let (counter, invoices) = (db.counter("invoices"), db.collection::<Invoice>());
    /// let id = Id::new();
    /// counter.insert(&invoices, move |number| Invoice { id, number }).await?;
    /// // The `_id` is there already.
    /// assert!(counter.insert(&invoices, move |number| Invoice { id, number }).await.is_err());
    /// let next = counter.insert(&invoices, |number| Invoice { id: Id::new(), number }).await?;
    /// assert_eq!(next.number, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert<'s, M: Document + Writable>(
        &self,
        into: &Collection<M>,
        make: impl Fn(i64) -> M + Send + Sync + 'static,
    ) -> InsertNumbered<'s, M> {
        let writes = Numbered {
            counter: self.clone(),
            collection: into.clone(),
            make: Arc::new(make),
        };
        Atomic::new(Ok(writes), M::model())
    }
}

impl<M: Document + Writable> WriteSeveral for Numbered<M> {
    type Done = NumberedResult<M::Id>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.collection.channel()
    }

    async fn turn(&self) -> Result<Turn> {
        let store = &self.counter.store;
        let key = format!("counter {} {}", store.database(), self.counter.name);
        Ok(store.turns().wait(key.into_bytes()).await)
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<Self::Done> {
        if !channel.is_in_transaction() {
            return Err(Error::usage(
                "numbers without gaps are taken in a transaction: leave `non_atomic()` out, or take the number by `next()`, which may \
                 leave a gap",
            ));
        }
        let number = self.counter.take(channel, 1).await?;
        let document = (self.make)(number);
        let mut insert = self.collection.insert_one(&document);
        if let Some(session) = channel.session() {
            insert = insert.session(session);
        }
        let inserted_id = insert.await?.inserted_id;
        Ok(NumberedResult {
            number,
            inserted_id,
        })
    }
}

impl<M: Document> fmt::Debug for Numbered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Numbered({:?}, {:?})", self.counter, self.collection)
    }
}
