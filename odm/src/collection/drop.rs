//! `drop`: drops a collection.

use std::fmt;
use std::marker::PhantomData;

use super::Collection;
use super::call::Call;
use super::options::{action, options};
use crate::error::Result;
use crate::model::Document;
use crate::store::Operation;

/// Drops a collection: [`Collection::drop`].
#[must_use = "nothing is dropped until it is awaited"]
pub struct DropCollection<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

impl<M: Document> Collection<M> {
    /// Drops the collection with its documents, indexes and validator. It is not an error if the
    /// collection does not exist.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// books.drop().await?;
    /// assert_eq!(books.count_documents(|_| Filter::all()).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop<'s>(&self) -> DropCollection<'s, M> {
        DropCollection {
            call: self.call(Operation::Drop),
            of: PhantomData,
        }
    }
}

impl<'s, M: Document> DropCollection<'s, M> {
    options!(session command write_concern);

    async fn run(self) -> Result<()> {
        self.call.send().await.map(drop)
    }
}

action!(DropCollection => ());

impl<M: Document> fmt::Debug for DropCollection<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
