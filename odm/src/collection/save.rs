//! `load` and `save`: what changed since the load is sent, and nothing else.

mod diff;

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, doc};

use self::diff::Changes;
use super::Collection;
use super::call::{Call, by_id, encode, equality};
use super::decode::decode;
use super::options::{action, options};
use crate::error::{Error, Result, StaleError};
use crate::model::Document;
use crate::store::{Modification, Operation, Update as Operands};

/// A document as it was loaded, to be changed and saved: [`Collection::load`].
///
/// It derefs to the document. [`Collection::save`] sends the difference.
#[derive(Clone)]
pub struct Loaded<M> {
    document: M,
    /// The document as its serializer wrote it when it was loaded: what `save` compares with, so
    /// that stored fields that the model does not know stay as they are.
    saved: RawDocumentBuf,
    /// The stored version, where the model has one and the document too.
    version: Option<Bson>,
}

/// Loads one document: [`Collection::load`].
#[must_use = "nothing is read until it is awaited"]
pub struct Load<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

/// Saves what changed: [`Collection::save`].
#[must_use = "nothing is saved until it is awaited"]
pub struct Save<'s, M: Document> {
    call: Call<'s>,
    loaded: &'s mut Loaded<M>,
    /// What there is to save; `None` if nothing changed.
    next: Option<Next<M>>,
}

/// What a loaded document is once it is saved.
struct Next<M> {
    saved: RawDocumentBuf,
    /// The document with its new version and that version, where the model has one.
    versioned: Option<(M, Bson)>,
}

impl<M: Document> Collection<M> {
    /// Reads the document with this `_id` to change and [`save`](Self::save) it.
    pub fn load<'s>(&self, id: &M::Id) -> Load<'s, M> {
        let filter = by_id::<M>(id);
        let call = self.try_call(filter.map(|filter| Operation::Find { filter, one: true }));
        Load {
            call,
            of: PhantomData,
        }
    }

    /// Sends what changed since the load, as `$set` and `$unset` of single fields; answers whether
    /// anything had to be sent. Arrays are sent whole.
    ///
    /// Where the model has a `version` field, the save succeeds only if the stored version is the
    /// loaded one, and counts it up. Otherwise concurrent changes of other fields are kept, and of
    /// the same fields the last one wins.
    ///
    /// In a transaction, load the document in its body too: one that was saved in a transaction
    /// which is then aborted, or runs again, is not what is stored.
    ///
    /// # Errors
    ///
    /// [`is_stale`](Error::is_stale): the version was another, or the document is gone.
    pub fn save<'s>(&self, loaded: &'s mut Loaded<M>) -> Save<'s, M> {
        let (call, next) = match loaded.changes() {
            Ok(Some((next, filter, update))) => {
                let call = self.call(Operation::Update(Box::new(Operands {
                    filter: filter.into(),
                    modification: Modification::Operators(update),
                    array_filters: Vec::new(),
                    multi: false,
                })));
                (call, Some(next))
            }
            // Nothing is sent; the call only takes the options.
            Ok(None) => (self.call(Operation::EstimatedCount), None),
            Err(error) => (self.refused(error), None),
        };
        Save { call, loaded, next }
    }
}

impl<M: Document> Loaded<M> {
    /// Takes a document as it is stored.
    fn from_raw(raw: &RawDocument) -> Result<Self> {
        let document: M = decode(raw, M::model().name)?;
        let saved = encode(&document)?;
        let version = match M::model().version {
            Some(name) => stored(raw, name)?,
            None => None,
        };
        Ok(Self {
            document,
            saved,
            version,
        })
    }

    /// The document alone.
    pub fn into_inner(self) -> M {
        self.document
    }

    /// What the document looks like now, and the filter and the update that make the stored one look
    /// so; `None` if nothing changed.
    fn changes(&self) -> Result<Option<(Next<M>, BsonDocument, BsonDocument)>> {
        let next = encode(&self.document)?;
        let version = M::model().version;
        let mut changes = Changes::default();
        changes.compare(&self.saved, &next, version)?;
        let Some(mut update) = changes.into_update() else {
            return Ok(None);
        };
        let mut filter = doc! { "_id": equality(self.id()?) };
        let Some(name) = version else {
            let next = Next {
                saved: next,
                versioned: None,
            };
            return Ok(Some((next, filter, update)));
        };
        let loaded = match &self.version {
            Some(version) => equality(version.clone()),
            None => Bson::Document(doc! { "$exists": false }),
        };
        filter.insert(name, loaded);
        update.insert("$inc", doc! { name: 1 });
        // What can't be read again is not written.
        let version = self.next_version().map_err(|error| error.with_path(name))?;
        let mut document = BsonDocument::try_from(&*next).map_err(Error::encode)?;
        document.insert(name, version.clone());
        let saved = RawDocumentBuf::try_from(&document).map_err(Error::encode)?;
        let document = decode(&saved, M::model().name)
            .map_err(|error| error.context(format!("the version after this save is {version}")))?;
        let versioned = Some((document, version));
        Ok(Some((Next { saved, versioned }, filter, update)))
    }

    /// What the server's `$inc` makes of the version.
    fn next_version(&self) -> Result<Bson> {
        match &self.version {
            None => Ok(Bson::Int32(1)),
            Some(Bson::Int32(version)) => Ok(match version.checked_add(1) {
                Some(version) => Bson::Int32(version),
                None => Bson::Int64(i64::from(*version) + 1),
            }),
            Some(Bson::Double(version)) => Ok(Bson::Double(version + 1.0)),
            Some(Bson::Int64(version)) if *version < i64::MAX => Ok(Bson::Int64(version + 1)),
            Some(version) => Err(Error::usage(format!(
                "{version} can't be counted up: a version is a whole number below 2^63"
            ))),
        }
    }

    fn id(&self) -> Result<Bson> {
        stored(&self.saved, "_id")?.ok_or_else(|| {
            Error::usage("the document has no `_id`: its serializer leaves it out").with_path("_id")
        })
    }

    /// Takes over what was sent.
    fn saved(&mut self, next: Next<M>) {
        if let Some((document, version)) = next.versioned {
            self.document = document;
            self.version = Some(version);
        }
        self.saved = next.saved;
    }
}

/// A stored field, unless it is not there.
fn stored(raw: &RawDocument, name: &str) -> Result<Option<Bson>> {
    let malformed = |_| Error::malformed_reply("well-formed BSON").with_path(name);
    let value = raw.get(name).map_err(malformed)?;
    value.map(Bson::try_from).transpose().map_err(malformed)
}

impl<'s, M: Document> Load<'s, M> {
    options!(session command comment max_time read_concern read_preference);

    async fn run(self) -> Result<Option<Loaded<M>>> {
        let mut cursor = self.call.send().await?.cursor()?;
        match cursor.next().await {
            None => Ok(None),
            Some(raw) => {
                let loaded = raw.and_then(Loaded::from_raw);
                loaded
                    .map(Some)
                    .map_err(|error| error.with_model(M::model().name))
            }
        }
    }
}

impl<'s, M: Document> Save<'s, M> {
    options!(session comment bypass_document_validation write_concern);

    /// The command document that would be sent; `None` if nothing changed.
    pub fn command(self) -> Result<Option<BsonDocument>> {
        if self.next.is_none() && self.call.error.is_none() {
            return Ok(None);
        }
        self.call.command().map(Some)
    }

    async fn run(self) -> Result<bool> {
        if self.next.is_none() && self.call.error.is_none() {
            return Ok(false);
        }
        let name = self.call.model.name;
        let written = self.call.send().await?.written()?;
        if written.matched() == 0 {
            let (id, version) = (self.loaded.id()?, self.loaded.version.clone());
            return Err(Error::new(StaleError::new(id, version)).with_model(name));
        }
        if let Some(next) = self.next {
            self.loaded.saved(next);
        }
        Ok(true)
    }
}

action!(Load => Option<Loaded<M>>);
action!(Save => bool);

impl<M> Deref for Loaded<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.document
    }
}

impl<M> DerefMut for Loaded<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.document
    }
}

impl<M: fmt::Debug> fmt::Debug for Loaded<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loaded").field(&self.document).finish()
    }
}

impl<M: Document> fmt::Debug for Load<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}

impl<M: Document> fmt::Debug for Save<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.call, f)
    }
}
