//! Saves of loaded documents that write what follows from the changed fields.

use std::fmt;

use bson::{Bson, Document as BsonDocument, RawDocumentBuf};

use super::super::Atomic;
use super::super::reference_place::{exact_read, read_by_id};
use super::modify::{Modified, Modify, PropagatedWrite, Ready, checked, propagated};
use crate::collection::{Save, Saving};
use crate::error::Result;
use crate::exec::Channel;
use crate::model::Document;
use crate::store::Operation;

/// A save and what follows from it, about to be sent: [`Save::propagate`].
///
/// The result says whether anything was changed, as that of the save without `propagate`.
pub type SavePropagated<'s, M> = Atomic<'s, PropagatedWrite<SaveLoaded<'s, M>>>;

/// The save of a [`SavePropagated`].
pub struct SaveLoaded<'s, M: Document>(Saving<'s, M>);

impl<'s, M: Document> Save<'s, M> {
    /// Also writes what follows from the changed fields, as
    /// [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate) does.
    ///
    /// If the save changes copies, summaries or lists in the saved document itself, the document is loaded again, so that it
    /// has their values and the next save is not stale.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// let mut host = hosts.load(&1).await?.ok_or("no host")?;
    /// host.ipaddr = "127.0.0.9".into();
    /// assert!(hosts.save(&mut host).propagate().await?);
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.9");
    ///
    /// // The name has no copies, so this is the save alone.
    /// host.name = "Mickey".into();
    /// hosts.save(&mut host).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`save`](crate::Collection::save), and those of
    /// [`UpdateDocuments::propagate`](crate::collection::UpdateDocuments::propagate).
    pub fn propagate(self) -> SavePropagated<'s, M> {
        propagated(ready(self), false)
    }

    /// Like [`propagate`](Self::propagate), and leaves copies and summaries in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation); see
    /// [`UpdateDocuments::in_background`](crate::collection::UpdateDocuments::in_background).
    pub fn in_background(self) -> SavePropagated<'s, M> {
        propagated(ready(self), true)
    }

    /// Also checks that each reference that is new in the document leads to a document; see
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
    /// let mut book = books.load(&1).await?.ok_or("no book")?;
    /// book.author = Ref::from(8);
    /// assert!(books.save(&mut book).check_references().await.unwrap_err().is_dangling());
    /// book.author = Ref::from(2);
    /// assert!(books.save(&mut book).check_references().await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(self) -> SavePropagated<'s, M> {
        checked(ready(self))
    }
}

fn ready<M: Document>(save: Save<'_, M>) -> Result<Ready<'_, SaveLoaded<'_, M>>> {
    let (mut saving, session) = save.saving()?;
    Ok(Ready {
        stale: std::mem::take(&mut saving.stale),
        is_upsert: false,
        leaves_stale: saving.leaves_stale,
        change: SaveLoaded(saving),
        session,
    })
}

impl<M: Document> Modify for SaveLoaded<'_, M> {
    type Model = M;
    type Done = bool;

    fn channel(&self) -> Channel<'static> {
        self.0.channel()
    }

    async fn matching(
        &self,
        channel: &mut Channel<'_>,
        projection: BsonDocument,
    ) -> Result<Vec<RawDocumentBuf>> {
        let model = M::model();
        let Some(filter) = self.0.prepare(channel.session().as_deref())? else {
            return Ok(Vec::new());
        };
        let find = Operation::Find { filter, one: true };
        let options = exact_read(channel, model, Some(projection));
        channel.of(model).documents(find, options).await
    }

    async fn modify(
        &self,
        channel: &mut Channel<'_>,
        _matched: &[RawDocumentBuf],
    ) -> Result<Modified<bool>> {
        Ok(Modified {
            done: self.0.send(channel.session()).await?,
            inserted: Vec::new(),
            operators: None,
        })
    }

    async fn read_again(
        &self,
        channel: &mut Channel<'_>,
        done: bool,
        ids: &[Bson],
    ) -> Result<bool> {
        if done && !ids.is_empty() {
            let found = read_by_id(channel, M::model(), ids, None).await?;
            if let Some(found) = found {
                self.0.load(&found, channel.session().as_deref())?;
            }
        }
        Ok(done)
    }

    fn commands(&self) -> Result<Vec<BsonDocument>> {
        Ok(self.0.command()?.into_iter().collect())
    }
}

impl<M: Document> fmt::Debug for SaveLoaded<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SaveLoaded({})", M::model().collection)
    }
}
