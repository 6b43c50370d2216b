//! Get or create, with what follows from a document that is inserted.

use std::fmt;

use super::super::reference_place::read_by_id;
use super::super::references::ChecksReferences;
use super::super::{Atomic, WriteSeveral};
use super::insert::{PropagatedInsert, expect_work, first};
use crate::collection::{
    FindOneOrInsert, FoundOrInserted, InsertOneResult, Looked, decode_document,
};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::{Document, ModelMeta};
use crate::store::Afterwards;
use crate::store::options::Options;

/// Get or create, and what follows from a document that is inserted, about to be sent: [`FindOneOrInsert::propagate`].
pub type FindOneOrInsertPropagated<'s, M> = Atomic<'s, PropagatedFindOrInsert<M>>;

/// The read and the writes of a [`FindOneOrInsertPropagated`].
pub struct PropagatedFindOrInsert<M: Document> {
    looked: Looked<M>,
    insert: PropagatedInsert<M, InsertOneResult<M::Id>>,
}

impl<'s, M: Document> FindOneOrInsert<'s, M> {
    /// Also fills the document that it inserts, and writes what follows from it, as
    /// [`InsertOne::propagate`](crate::collection::InsertOne::propagate) does. A document that is found stays as it is.
    ///
    /// The read and the insert are commands of one transaction. As without `propagate`, two callers at once insert one document
    /// only if a unique index has the fields that the condition compares.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// let found = messages.find_one_or_insert(|m| m.id.eq(9), message(9, 2)).propagate().await?;
    /// assert!(found.inserted);
    /// assert_eq!(found.document.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`InsertOne::propagate`](crate::collection::InsertOne::propagate) and of
    /// [`find_one_or_insert`](crate::Collection::find_one_or_insert).
    pub fn propagate(self) -> FindOneOrInsertPropagated<'s, M> {
        let ready = self.parts().and_then(|(looked, encoded, session)| {
            expect_work(M::model())?;
            let insert = PropagatedInsert::new(encoded, first, false)?;
            Ok((PropagatedFindOrInsert { looked, insert }, session))
        });
        Atomic::of_call(ready, M::model())
    }

    /// Also checks that each reference of a document that is inserted leads to a document; see
    /// [`Atomic::check_references`].
    ///
    /// A write from which other data follows takes `propagate` first: `.propagate().check_references()`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// let book = Book { id: 9, author: Ref::from(8) };
    /// let nobody = books.find_one_or_insert(|b| b.id.eq(9), &book).check_references();
    /// assert!(nobody.await.unwrap_err().is_dangling());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(self) -> FindOneOrInsertPropagated<'s, M> {
        let ready = self.stale().and_then(|stale| {
            stale.expect_empty()?;
            let (looked, encoded, session) = self.parts()?;
            let insert = PropagatedInsert::checked(encoded, first)?;
            Ok((PropagatedFindOrInsert { looked, insert }, session))
        });
        Atomic::of_call(ready, M::model())
    }
}

impl<M: Document> ChecksReferences for PropagatedFindOrInsert<M> {
    fn check_references(&mut self) -> Result<()> {
        self.insert.check_references()
    }
}

impl<M: Document> WriteSeveral for PropagatedFindOrInsert<M> {
    type Done = FoundOrInserted<M>;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.insert.channel()
    }

    fn enter(&mut self, is_callers: bool) {
        self.insert.enter(is_callers);
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<FoundOrInserted<M>> {
        let model = M::model();
        self.insert.forget();
        let (find, options) = self.looked.find();
        let options = Options {
            read_preference: channel.current().read_preference,
            ..options
        };
        let found = channel.of(model).documents(find, options.into()).await?;
        if let Some(found) = found.first() {
            return Ok(FoundOrInserted {
                document: decode_document(found)?,
                inserted: false,
            });
        }
        self.insert.write(channel).await?;
        let ids = std::slice::from_ref(&self.looked.id);
        let inserted = read_by_id(channel, model, ids, None).await?;
        let inserted = inserted.ok_or_else(|| Error::malformed_reply("the inserted document"))?;
        Ok(FoundOrInserted {
            document: decode_document(&inserted)?,
            inserted: true,
        })
    }

    async fn settle(&self, done: FoundOrInserted<M>) -> Result<FoundOrInserted<M>> {
        self.insert.look_again().await?;
        Ok(done)
    }

    fn after_commit(&self) -> Option<Afterwards> {
        self.insert.after_commit()
    }
}

impl<M: Document> fmt::Debug for PropagatedFindOrInsert<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropagatedFindOrInsert({:?})", self.insert)
    }
}
