//! References that are checked: of documents that are written, and of those that are stored.

mod check;
mod written;

use std::fmt;

use bson::{Bson, RawDocumentBuf, doc};

pub(crate) use self::check::ReferenceChecker;
pub use self::check::{CheckReferences, ReferenceDamage, ReferenceReport};
pub(super) use self::written::CheckedReferences;
pub(crate) use self::written::ChecksReferences;
use super::fences::Fences;
use super::{Atomic, WriteSeveral};
use crate::collection::{Encoded, InsertMany, InsertManyResult, InsertOne, InsertOneResult};
use crate::error::{Error, ReferenceError, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::{Document, ModelMeta, ReferenceMeta, RelationMeta, Segment, name};
use crate::query::operators::any_of;
use crate::store::options::{Collation, Options};
use crate::store::{Operation, Session};

/// The insert of a document whose references are checked, about to be sent: [`InsertOne::check_references`].
///
/// [Without a transaction](Atomic::non_atomic), the references are read before the insert and once more after it; if a
/// document is gone then, the new one is deleted again.
pub type InsertOneChecked<'s, M> =
    Atomic<'s, CheckedInsert<M, InsertOneResult<<M as Document>::Id>>>;

/// The insert of documents whose references are checked, about to be sent: [`InsertMany::check_references`].
///
/// [Without a transaction](Atomic::non_atomic), the references are read before the insert and once more after it; if a
/// document is gone then, the new ones are deleted again.
pub type InsertManyChecked<'s, M> =
    Atomic<'s, CheckedInsert<M, InsertManyResult<<M as Document>::Id>>>;

/// The writes of an [`InsertOneChecked`] or [`InsertManyChecked`].
pub struct CheckedInsert<M: Document, R> {
    documents: Encoded<M>,
    references: Vec<Reference>,
    /// Makes the result.
    done: fn(InsertManyResult<M::Id>) -> Result<R>,
}

impl<'s, M: Document> InsertOne<'s, M> {
    /// Also checks that each reference leads to a document.
    ///
    /// Both are one transaction, which writes to a fence of each document to which a relation with `on_delete` leads: a
    /// [delete](crate::collection::Delete::with_dependents) of that document at the same time is either seen by the insert,
    /// or sees it. Without such a check, MongoDB lets both commit, and the reference dangles.
    ///
    /// References in DBRefs, in the values of maps and in tuples are not checked.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// books.insert_one(&Book { id: 7, author: Ref::from(1) }).check_references().await?;
    ///
    /// let nobody = Book { id: 8, author: Ref::from(8) };
    /// assert!(books.insert_one(&nobody).check_references().await.unwrap_err().is_dangling());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_dangling`](Error::is_dangling): a reference leads to no document.
    pub fn check_references(self) -> InsertOneChecked<'s, M> {
        let first = |result: InsertManyResult<M::Id>| {
            let id = result.inserted_ids.into_iter().next();
            let inserted_id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
            Ok(InsertOneResult { inserted_id })
        };
        checked(self.encoded(false), first)
    }
}

impl<'s, M: Document> InsertMany<'s, M> {
    /// Also checks that each reference leads to a document, with one query for each reference of the model; see
    /// [`InsertOne::check_references`]. A document may refer to another one of the same call. If one can't be inserted, none
    /// is, except without a transaction, where the error says which were.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let books = db.collection::<Book>();
    /// let book = |id, author| Book { id, author: Ref::from(author) };
    /// let insert = books.insert_many([book(7, 1), book(8, 9)]).check_references();
    /// assert!(insert.await.unwrap_err().is_dangling());
    /// assert!(books.get(&7).await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_dangling`](Error::is_dangling): a reference leads to no document.
    pub fn check_references(self) -> InsertManyChecked<'s, M> {
        checked(self.encoded(false), Ok)
    }
}

fn checked<M: Document, R>(
    encoded: Result<(Encoded<M>, Option<&mut Session>)>,
    done: fn(InsertManyResult<M::Id>) -> Result<R>,
) -> Atomic<'_, CheckedInsert<M, R>> {
    let ready = encoded.and_then(|(documents, session)| {
        let references = Reference::all(M::model())?;
        let insert = CheckedInsert {
            documents,
            references,
            done,
        };
        Ok((insert, session))
    });
    Atomic::of_call(ready, M::model())
}

/// A reference of a model that can be checked.
#[derive(Debug)]
struct Reference {
    target: &'static ModelMeta,
    /// The stored path of the field to which it refers.
    key_path: StoredPath,
    path: StoredPath,
    /// Whether a relation of the target declares `on_delete` for it.
    is_fenced: bool,
}

impl Reference {
    /// The references whose paths lead to nothing but them: not those in maps and tuples.
    fn all(model: &'static ModelMeta) -> Result<Vec<Self>> {
        let references = model.relations().iter();
        let references = references.filter_map(RelationMeta::as_reference);
        let is_name = |segment: Segment| matches!(segment, Segment::Name(_));
        let can_be_read = |one: &&ReferenceMeta| {
            let mut segments = one.path.segments();
            !one.is_in_map && segments.all(is_name)
        };
        let references = references.filter(can_be_read);
        references.map(|one| Self::new(model, one)).collect()
    }

    fn new(model: &'static ModelMeta, meta: &ReferenceMeta) -> Result<Self> {
        let target = meta.target;
        let key = name::resolve((target.embedded)(), &[meta.key])?;
        let mut is_fenced = false;
        for relation in target.dependents() {
            let referring = (relation.target)();
            // The metadata of one model may have several addresses.
            if referring.collection == model.collection {
                let by = name::resolve((referring.embedded)(), relation.by)?;
                is_fenced |= by.path.to_string() == meta.path.to_string();
            }
        }
        Ok(Self {
            target,
            key_path: StoredPath::through_arrays(&key.path),
            path: StoredPath::through_arrays(&meta.path),
            is_fenced,
        })
    }

    /// Adds the fences of the documents with these keys, if a delete of theirs acts on the reference.
    fn fence(&self, channel: &Channel<'_>, keys: &Keys, fences: &mut Fences) -> Result<()> {
        if self.is_fenced {
            let collection = channel.collection(self.target);
            fences.add(&collection, self.key_path.as_str(), keys)?;
        }
        Ok(())
    }

    /// Returns an error if a key leads to no document, stored or among those that are `known`.
    async fn check(
        &self,
        channel: &mut Channel<'_>,
        keys: &Keys,
        known: &[RawDocumentBuf],
    ) -> Result<()> {
        let is_found = found(channel, self.target, &self.key_path, keys, known).await?;
        match is_found.iter().position(|found| !found) {
            None => Ok(()),
            Some(position) => {
                let value = keys.get(position).cloned().unwrap_or(Bson::Null);
                let error = ReferenceError::Dangling {
                    target: self.target.name,
                    key: self.key_path.as_str().to_owned(),
                    value,
                };
                Err(Error::new(error).with_path(self.path.as_str()))
            }
        }
    }
}

/// Finds out for each key whether it leads to a document of the target, stored or among those that are `known`.
async fn found(
    channel: &mut Channel<'_>,
    target: &'static ModelMeta,
    key_path: &StoredPath,
    keys: &Keys,
    known: &[RawDocumentBuf],
) -> Result<Vec<bool>> {
    let mut is_found = vec![false; keys.len()];
    let mut find = |document: &bson::RawDocument| {
        key_path.each_value(document, &mut |value| {
            let position = keys.position(value);
            if let Some(found) = position.and_then(|position| is_found.get_mut(position)) {
                *found = true;
            }
        });
    };
    for document in known {
        find(document);
    }
    let path = key_path.as_str();
    for part in keys.parts() {
        let operation = Operation::Find {
            one: part.len() == 1,
            filter: any_of(path, part).into(),
        };
        let mut projection = doc! {path: 1};
        if path != "_id" {
            projection.insert("_id", 0);
        }
        let options = Options {
            projection: Some(projection),
            collation: target.collation.map(|_| Collation::new("simple")),
            ..channel.current()
        };
        let read = channel
            .of(target)
            .read(operation, options.into(), |document| {
                find(document);
                Ok(())
            });
        read.await?;
    }
    Ok(is_found)
}

impl<M: Document, R> CheckedInsert<M, R> {
    /// Checks all references; those that lead to a document of this insert may be `known`.
    async fn check(&self, channel: &mut Channel<'_>, all: &[Keys], is_known: bool) -> Result<()> {
        for (reference, keys) in self.references.iter().zip(all) {
            let is_own = reference.target.collection == M::model().collection;
            let known: &[RawDocumentBuf] = if is_known && is_own {
                &self.documents.documents
            } else {
                &[]
            };
            reference.check(channel, keys, known).await?;
        }
        Ok(())
    }
}

impl<M: Document, R: Send> WriteSeveral for CheckedInsert<M, R> {
    type Done = R;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.documents.channel()
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<R> {
        let documents = &self.documents.documents;
        let mut all = Vec::new();
        let mut fences = Fences::default();
        for reference in &self.references {
            let keys = Keys::at(&reference.path, documents)?;
            reference.fence(channel, &keys, &mut fences)?;
            all.push(keys);
        }
        fences.write(channel, M::model()).await?;
        if channel.is_in_transaction() {
            let result = self.documents.insert(channel.session()).await?;
            self.check(channel, &all, false).await?;
            return (self.done)(result);
        }
        self.check(channel, &all, true).await?;
        let result = self.documents.insert(channel.session()).await?;
        // A delete that has not seen the new documents has committed before this write, or fails by it.
        fences.write(channel, M::model()).await?;
        if let Err(error) = self.check(channel, &all, false).await {
            let ids = documents
                .iter()
                .filter_map(|it| it.get("_id").ok().flatten());
            let mut inserted = Keys::default();
            for id in ids {
                inserted.add(id)?;
            }
            let filters = inserted.parts().into_iter();
            let filters = filters.map(|part| any_of("_id", part)).collect();
            channel.of(M::model()).delete(filters).await?;
            return Err(error);
        }
        (self.done)(result)
    }
}

impl<M: Document, R> fmt::Debug for CheckedInsert<M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = M::model().collection;
        write!(f, "CheckedInsert({name}, {:?})", self.documents.documents)
    }
}
