//! The references of documents that several writes have written.

use bson::{Document as BsonDocument, RawDocumentBuf};

use super::super::Atomic;
use super::super::fences::Fences;
use super::Reference;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::ModelMeta;

/// The references that a write checks; none, unless its caller asked for it.
#[derive(Debug, Default)]
pub(in crate::write) struct CheckedReferences(Vec<Reference>);

/// Several writes that can check references; see [`Atomic::check_references`].
pub trait ChecksReferences {
    /// Has the references of written documents checked.
    fn check_references(&mut self) -> Result<()>;
}

impl<W: ChecksReferences> Atomic<'_, W> {
    /// Also checks that each reference that is new in a written document leads to a document.
    ///
    /// The writes then need a transaction, which also writes to a fence of each document to which a relation with `on_delete`
    /// leads: a [delete](crate::collection::Delete::with_dependents) of that document at the same time is either seen by the
    /// write, or sees it. References that a document already had are not checked: an update does not fail because of what another
    /// program has written. References in DBRefs, in the values of maps and in tuples are not checked.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// messages.insert_one(&message(9, 2)).propagate().check_references().await?;
    /// let moved = messages.update_by_id(&9, |m| m.host.set(Ref::from(1))).propagate().check_references();
    /// assert_eq!(moved.await?.update.modified, 1);
    ///
    /// let nowhere = messages.update_by_id(&9, |m| m.host.set(Ref::from(7))).propagate().check_references();
    /// assert!(nowhere.await.unwrap_err().is_dangling());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_dangling`](Error::is_dangling): a reference leads to no document, and nothing is written. With
    /// [`non_atomic`](Atomic::non_atomic), an error before anything is sent.
    pub fn check_references(mut self) -> Self {
        self.writes = self.writes.and_then(|mut writes| {
            writes.check_references()?;
            Ok(writes)
        });
        self
    }
}

impl CheckedReferences {
    pub(in crate::write) fn all(model: &'static ModelMeta) -> Result<Self> {
        Reference::all(model).map(Self)
    }

    pub(in crate::write) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the references to a projection.
    pub(in crate::write) fn project(&self, projection: &mut BsonDocument) {
        for reference in &self.0 {
            let path = reference.path.as_str();
            let is_inside = |path: &str, of: &str| {
                let rest = path.strip_prefix(of);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            // MongoDB refuses a projection of a path and of another one inside of it.
            if projection.keys().any(|other| is_inside(path, other)) {
                continue;
            }
            let inside = projection.keys().filter(|other| is_inside(other, path));
            for other in inside.cloned().collect::<Vec<_>>() {
                projection.remove(other);
            }
            projection.insert(path, 1);
        }
    }

    /// The keys of the references that written documents have, and did not have before.
    pub(in crate::write) fn new_keys(
        &self,
        before: &[RawDocumentBuf],
        after: &[RawDocumentBuf],
    ) -> Result<Vec<Keys>> {
        let mut ids = Keys::default();
        let mut earlier = Vec::new();
        for document in before {
            let known = ids.len();
            if let Some(id) = document.get("_id").map_err(Error::encode)? {
                ids.add(id)?;
            }
            if ids.len() > known {
                earlier.push(document);
            }
        }
        let of_one = |reference: &Reference| -> Result<Keys> {
            let mut keys = Keys::default();
            for document in after {
                let id = document.get("_id").map_err(Error::encode)?;
                let known = id.and_then(|id| ids.position(id));
                let known = known.and_then(|position| earlier.get(position).copied());
                let known = known.map_or(&[][..], std::slice::from_ref);
                let known = Keys::at(&reference.path, known)?;
                let now = Keys::at(&reference.path, std::slice::from_ref(document))?;
                for value in now.values() {
                    if !known.contains(value)? {
                        keys.add_value(Some(value))?;
                    }
                }
            }
            Ok(keys)
        };
        self.0.iter().map(of_one).collect()
    }

    /// Adds the fences of the documents to which the references lead.
    pub(in crate::write) fn fence(
        &self,
        channel: &Channel<'_>,
        all: &[Keys],
        fences: &mut Fences,
    ) -> Result<()> {
        for (reference, keys) in self.0.iter().zip(all) {
            reference.fence(channel, keys, fences)?;
        }
        Ok(())
    }

    /// Returns an error if one of the references leads to no document.
    pub(in crate::write) async fn check(
        &self,
        channel: &mut Channel<'_>,
        all: &[Keys],
    ) -> Result<()> {
        for (reference, keys) in self.0.iter().zip(all) {
            reference.check(channel, keys, &[]).await?;
        }
        Ok(())
    }

    /// Refuses a write without a transaction, which could not take back what it has written.
    pub(in crate::write) fn need_transaction(&self, channel: &Channel<'_>) -> Result<()> {
        if self.is_empty() || channel.is_in_transaction() {
            return Ok(());
        }
        Err(Error::usage(
            "a write that checks references runs in a transaction, which takes it back if one dangles: leave `non_atomic()` out",
        ))
    }
}
