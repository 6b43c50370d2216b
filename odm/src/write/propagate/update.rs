//! Updates and replacements that write what follows from them.

use std::fmt;

use bson::{Bson, Document as BsonDocument, RawDocumentBuf};

use super::super::Atomic;
use super::derived::Propagated;
use super::modify::{Modified, Modify, PropagatedWrite, Ready, checked, propagated};
use crate::collection::{Repeated, ReplaceOne, UpdateDocuments, UpdateResult};
use crate::error::Result;
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::Document;
use crate::query::encode::encode_field;
use crate::store::Session;
use crate::store::options::Options;

/// An update and what follows from it, about to be sent: [`UpdateDocuments::propagate`], [`UpdateDocuments::in_background`].
///
/// [Without a transaction](Atomic::non_atomic), a record of the change is stored first, and removed after the copies are written:
/// if the update stops, [`resume_propagation`](crate::Collection::resume_propagation) completes it.
pub type UpdatePropagated<'s, M> = Atomic<'s, PropagatedWrite<UpdateMatching<M>>>;

/// The update or replacement of an [`UpdatePropagated`].
pub struct UpdateMatching<M: Document>(Repeated<M>);

/// The result of an update that [propagates](UpdateDocuments::propagate).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PropagateResult<I> {
    /// The result of the update itself.
    pub update: UpdateResult<I>,
    /// The other documents that were written, and copies in the updated ones: once for each reference beside copies or that
    /// refers back.
    pub propagated: Vec<Propagated>,
}

impl<'s, M: Document> UpdateDocuments<'s, M> {
    /// Also writes what follows from what the update changes:
    ///
    /// - the copies that other documents hold of changed fields, and those of the updated documents themselves, where the update
    ///   changes the reference beside them;
    /// - the other side of changed `two_way` references. A document that can have one partner is taken from the former one;
    /// - the summaries to which the documents count or have counted, and those in the documents that the update sets;
    /// - the lists of the newest (`recent`) that the documents belong to or have belonged to.
    ///
    /// The [guarantee](crate::model::Guarantee) of the relation says when. *Strict*: in the same transaction, with
    /// which an insert or another update that depends on the field conflicts. *Settled*: after the transaction, with one update
    /// for each distinct value, until no copy differs; if the call stops before, a record stays for
    /// [`resume_propagation`](crate::Collection::resume_propagation). In a transaction of yours, both are written in it, and the
    /// second look of settled copies belongs to its commit.
    ///
    /// Documents whose copies have the values already are not written. The version and the time of change of the others change
    /// as by any typed update.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// let change = || hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9"));
    /// assert!(change().await.is_err(), "the call has to say what becomes of the copies");
    ///
    /// let result = change().propagate().await?;
    /// assert_eq!((result.update.modified, result.propagated[0].documents), (1, 3));
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.9");
    ///
    /// // Another reference, another copy.
    /// messages.update_by_id(&1, |m| m.host.set(Ref::from(2))).propagate().await?;
    /// assert_eq!(messages.get(&1).await?.ok_or("no message")?.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A document that an [upsert](Self::upsert) inserts gets its copies, summaries and lists by a second write in the same
    /// transaction, so it has to pass the validator without them. Copies that are made `once` have the values of the update.
    ///
    /// # Errors
    ///
    /// The model has nothing to propagate; or an upsert is to run [without a transaction](Atomic::non_atomic).
    pub fn propagate(self) -> UpdatePropagated<'s, M> {
        propagated(ready(self.repeated()), false)
    }

    /// Leaves copies and summaries in other documents to [`resume_propagation`](crate::Collection::resume_propagation), by a record in
    /// the transaction of the update. Copies in the updated documents, and the other side of `two_way` references, are written
    /// at once, as by [`propagate`](Self::propagate).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// for n in 3..6 {
    ///     hosts.update_by_id(&1, |h| h.ipaddr.set(format!("127.0.0.{n}"))).in_background().await?;
    /// }
    /// // A worker, later:
    /// assert_eq!(hosts.resume_propagation().await?.changes, 3);
    /// let messages = db.collection::<LogMessage>();
    /// assert_eq!(messages.count_documents(|m| m.ipaddr.eq("127.0.0.5")).await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_background(self) -> UpdatePropagated<'s, M> {
        propagated(ready(self.repeated()), true)
    }

    /// Also checks that each reference that is new in an updated document leads to a document; see
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
    /// books.update_by_id(&1, |b| b.author.set(Ref::from(2))).check_references().await?;
    ///
    /// let nobody = books.update_by_id(&1, |b| b.author.set(Ref::from(8))).check_references();
    /// assert!(nobody.await.unwrap_err().is_dangling());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(self) -> UpdatePropagated<'s, M> {
        checked(ready(self.repeated()))
    }
}

impl<'s, M: Document> ReplaceOne<'s, M> {
    /// Also writes what follows from the replacement, as [`UpdateDocuments::propagate`] does. A replacement changes every field,
    /// so all copies of the document's fields are compared; those that have the values already are not written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let host = Host { id: 1, name: "mickey".into(), ipaddr: "127.0.0.9".into() };
    /// let result = db.collection::<Host>().replace_by_id(&1, &host).propagate().await?;
    /// assert_eq!((result.update.modified, result.propagated[0].documents), (1, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`UpdateDocuments::propagate`].
    pub fn propagate(self) -> UpdatePropagated<'s, M> {
        propagated(ready(self.repeated()), false)
    }

    /// Like [`propagate`](Self::propagate), and leaves copies and summaries in other documents to
    /// [`resume_propagation`](crate::Collection::resume_propagation); see [`UpdateDocuments::in_background`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// let host = Host { id: 1, name: "mickey".into(), ipaddr: "127.0.0.9".into() };
    /// hosts.replace_by_id(&1, &host).in_background().await?;
    /// // A worker, later:
    /// assert_eq!(hosts.resume_propagation().await?.documents, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_background(self) -> UpdatePropagated<'s, M> {
        propagated(ready(self.repeated()), true)
    }

    /// Also checks that each reference that is new in the replacement leads to a document; see
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
    /// let book = Book { id: 1, author: Ref::from(2) };
    /// books.replace_by_id(&1, &book).check_references().await?;
    ///
    /// let nobody = Book { id: 1, author: Ref::from(8) };
    /// assert!(books.replace_by_id(&1, &nobody).check_references().await.unwrap_err().is_dangling());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Atomic::check_references`].
    pub fn check_references(self) -> UpdatePropagated<'s, M> {
        checked(ready(self.repeated()))
    }
}

type Call<'s, M> = Result<(Repeated<M>, Option<&'s mut Session>)>;

fn ready<M: Document>(call: Call<'_, M>) -> Result<Ready<'_, UpdateMatching<M>>> {
    let (mut update, session) = call?;
    Ok(Ready {
        stale: std::mem::take(&mut update.stale),
        is_upsert: update.is_upsert(),
        leaves_stale: update.leaves_stale,
        change: UpdateMatching(update),
        session,
    })
}

/// Reads what the change matches.
pub(super) async fn matching<M: Document>(
    change: &Repeated<M>,
    channel: &mut Channel<'_>,
    projection: BsonDocument,
) -> Result<Vec<RawDocumentBuf>> {
    let (find, options) = change.find(projection);
    let options = Options {
        read_preference: channel.current().read_preference,
        ..options
    };
    channel.of(M::model()).documents(find, options.into()).await
}

impl<M: Document> Modify for UpdateMatching<M> {
    type Model = M;
    type Done = PropagateResult<M::Id>;

    fn channel(&self) -> Channel<'static> {
        self.0.channel()
    }

    async fn matching(
        &self,
        channel: &mut Channel<'_>,
        projection: BsonDocument,
    ) -> Result<Vec<RawDocumentBuf>> {
        matching(&self.0, channel, projection).await
    }

    async fn modify(
        &self,
        channel: &mut Channel<'_>,
        matched: &[RawDocumentBuf],
    ) -> Result<Modified<Self::Done>> {
        let update = self.update(channel, matched).await?;
        let inserted = update.upserted_id.iter().map(encode_field);
        let inserted = inserted.collect::<Result<_>>()?;
        let is_applied = update.matched == matched.len() as u64 && update.withheld.is_empty();
        let operators = if is_applied {
            self.0.operators()?
        } else {
            None
        };
        let done = PropagateResult {
            update,
            propagated: Vec::new(),
        };
        Ok(Modified {
            done,
            inserted,
            operators,
        })
    }

    fn commands(&self) -> Result<Vec<BsonDocument>> {
        Ok(vec![self.0.command()?])
    }

    fn propagated(done: &mut Self::Done) -> Option<&mut Vec<Propagated>> {
        Some(&mut done.propagated)
    }
}

impl<M: Document> UpdateMatching<M> {
    /// Updates the documents that were matched, if they still match.
    async fn update(
        &self,
        channel: &mut Channel<'_>,
        matched: &[RawDocumentBuf],
    ) -> Result<UpdateResult<M::Id>> {
        let inserts = matched.is_empty() && self.0.is_upsert();
        // In a transaction, the filter matches what it has matched.
        if inserts || (self.0.is_multi() && channel.is_in_transaction()) {
            return self.0.update(channel.session(), None).await;
        }
        let ids = Keys::at(&StoredPath::at("_id"), matched)?;
        let mut all: Option<UpdateResult<M::Id>> = None;
        for part in ids.parts() {
            let result = self.update_some(channel, part).await?;
            match &mut all {
                None => all = Some(result),
                Some(all) => {
                    all.matched += result.matched;
                    all.modified += result.modified;
                    all.withheld.extend(result.withheld);
                }
            }
        }
        match all {
            Some(all) => Ok(all),
            // Nothing matched; a guard may be the reason.
            None => self.update_some(channel, Vec::new()).await,
        }
    }

    async fn update_some(
        &self,
        channel: &mut Channel<'_>,
        ids: Vec<Bson>,
    ) -> Result<UpdateResult<M::Id>> {
        self.0.update(channel.session(), Some(ids)).await
    }
}

impl<M: Document> fmt::Debug for UpdateMatching<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UpdateMatching({})", M::model().collection)
    }
}
