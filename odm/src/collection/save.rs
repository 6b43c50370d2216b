//! `load` and `save`: sends only the fields that changed since the load.

mod diff;
mod loaded;
mod saving;

use std::fmt;
use std::marker::PhantomData;

use bson::{Document as BsonDocument, doc};

use self::loaded::Change;
pub use self::loaded::Loaded;
pub(crate) use self::saving::Saving;
use super::Collection;
use super::call::{Call, by_id, equality};
use super::options::{action, options};
use crate::error::Result;
use crate::model::{Document, Writable};
use crate::store::options::Collation;
use crate::store::{Attempt, Operation, Session, Update as Operands};
use crate::types::IntoId;

/// How often a save is sent again because other writers make the document one of another version of the schema.
const TRIES: usize = 20;

/// Loads one document: [`Collection::load`].
#[must_use = "nothing is read until it is awaited"]
pub struct Load<'s, M: Document> {
    call: Call<'s>,
    of: PhantomData<fn() -> M>,
}

/// Saves the changes to a loaded document: [`Collection::save`].
#[must_use = "nothing is saved until it is awaited"]
pub struct Save<'s, M: Document> {
    call: Call<'s>,
    loaded: &'s mut Loaded<M>,
}

impl<M: Document> Collection<M> {
    /// Loads the document with this `_id`, to be changed and [saved](Self::save). [`FindOne::load`](super::FindOne::load) loads one
    /// by a filter, and [`Find::load`](super::Find::load) all that match.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut book = books.load(&1).await?.ok_or("no book")?;
    /// book.year = 1816;
    /// books.save(&mut book).await?;
    /// assert_eq!(books.get(&1).await?.map(|book| book.year), Some(1816));
    /// # Ok(())
    /// # }
    /// ```
    pub fn load<'s, By>(&self, id: impl IntoId<M, By>) -> Load<'s, M>
    where
        M: Writable,
    {
        let filter = by_id::<M, By>(id);
        let call = self.try_call(filter.map(|filter| Operation::Find { filter, one: true }));
        Load::of(call)
    }

    /// Sends the changes since the load, as `$set` and `$unset` of single fields, and returns whether
    /// there were any. Arrays are sent whole.
    ///
    /// If the model has a `version` field, the save succeeds only if the stored version equals the
    /// loaded one, and increments it. Otherwise the save keeps concurrent changes to other fields, and
    /// the last writer of a field wins.
    ///
    /// A document of an older version of its [schema](crate::migrate) is rewritten as a whole, also if nothing else changed, under the
    /// condition that it is as it was loaded; if it is not, the save reads it again.
    ///
    /// A save in a transaction takes effect when the transaction commits: see [`Loaded`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut book = books.load(&1).await?.ok_or("no book")?;
    /// book.tags.push("novel".to_owned());
    /// let save = books.save(&mut book).command()?.ok_or("nothing changed")?;
    /// let set = &save.get_array("updates")?[0].as_document().ok_or("no update")?.get_document("u")?;
    /// assert_eq!(set.get_document("$set")?, &doc! {"tags": ["novel"]});
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_stale`](crate::Error::is_stale): the stored version differs, the document was deleted, or
    /// the stored state is unknown because of how a transaction ended.
    pub fn save<'s>(&self, loaded: &'s mut Loaded<M>) -> Save<'s, M>
    where
        M: Writable,
    {
        // The update depends on the session, which is set later; this operation is a placeholder.
        let mut call = self.call(Operation::EstimatedCount);
        // The filter says of which version the document is.
        call.any_version = true;
        Save { call, loaded }
    }
}

impl<'s, M: Document> Load<'s, M> {
    pub(super) fn of(call: Call<'s>) -> Self {
        Self {
            call,
            of: PhantomData,
        }
    }

    options!(session command comment max_time read_concern read_preference);

    async fn run(self) -> Result<Option<Loaded<M>>> {
        let session = self.call.session.as_ref();
        let attempt = session.and_then(|session| session.attempt());
        let mut cursor = self.call.send().await?.cursor()?;
        match cursor.next().await {
            None => Ok(None),
            Some(raw) => {
                let loaded = raw.and_then(|raw| Loaded::from_raw(raw, attempt));
                loaded
                    .map(Some)
                    .map_err(|error| error.with_model(M::model().name))
            }
        }
    }
}

impl<'s, M: Document> Save<'s, M> {
    options!(session comment bypass_document_validation write_concern leave_stale);

    /// Returns the command document without sending it; `None` if nothing changed.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut book = books.load(&1).await?.ok_or("no book")?;
    /// assert!(books.save(&mut book).command()?.is_none());
    /// book.year = 1816;
    /// assert!(books.save(&mut book).command()?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn command(mut self) -> Result<Option<BsonDocument>> {
        match self.prepare()? {
            Some(_) => self.call.command().map(Some),
            None => Ok(None),
        }
    }

    /// Fills in the update; returns `None` if nothing changed.
    fn prepare(&mut self) -> Result<Option<(Change<M>, Option<Attempt>)>> {
        let session = self.call.session.as_ref();
        let attempt = session.and_then(|session| session.attempt());
        let Some((change, update)) = changed(self.loaded, attempt.as_ref())? else {
            return Ok(None);
        };
        self.call.request.operation = Operation::Update(update);
        if let (Some(_), Some(_)) = (M::model().schema, M::model().collation) {
            self.call.options().collation = exactly(&change);
        }
        Ok(Some((change, attempt)))
    }

    /// The save, to be made as part of several writes, and the session.
    pub(crate) fn saving(self) -> Result<(Saving<'s, M>, Option<&'s mut Session>)> {
        Saving::of(self.call, self.loaded)
    }

    async fn run(mut self) -> Result<bool> {
        if M::model().schema.is_some() {
            return self.run_versioned().await;
        }
        let Some((change, attempt)) = self.prepare()? else {
            return Ok(false);
        };
        let name = self.call.model.name;
        let written = self.call.send().await?.written()?;
        if written.matched() == 0 {
            return Err(self.loaded.stale(attempt.as_ref()).with_model(name));
        }
        self.loaded.saved(change, attempt);
        Ok(true)
    }

    /// The save of a document whose schema has versions: other writers may make it one of another version meanwhile.
    async fn run_versioned(mut self) -> Result<bool> {
        let name = M::model().name;
        let mut attempt = None;
        for _ in 0..TRIES {
            let Some((change, made_in)) = self.prepare()? else {
                return Ok(false);
            };
            let written = self.call.again().send().await?.written()?;
            if written.matched() > 0 {
                self.loaded.saved(change, made_in);
                return Ok(true);
            }
            let id = self.loaded.id(made_in.as_ref())?;
            let find = Operation::Find {
                filter: doc! {"_id": equality(id)}.into(),
                one: true,
            };
            let collection = self.call.request.collection.clone();
            let mut channel = self.call.channel();
            let options = channel.current().into();
            let raw = channel.named(collection, M::model());
            let found = raw.documents(find, options).await?;
            let is_renewed = match found.first() {
                Some(found) => self.loaded.renew(found, made_in.as_ref())?,
                None => false,
            };
            attempt = made_in;
            if !is_renewed {
                break;
            }
        }
        Err(self.loaded.stale(attempt.as_ref()).with_model(name))
    }
}

/// The collation by which a document is compared with what was read.
fn exactly<M: Document>(change: &Change<M>) -> Option<Collation> {
    let is_collated = M::model().collation.is_some();
    (is_collated && change.upgrades).then(|| Collation::new("simple"))
}

/// What a save in this attempt changes, and the update; `None` if nothing changed.
fn changed<M: Document>(
    loaded: &mut Loaded<M>,
    attempt: Option<&Attempt>,
) -> Result<Option<(Change<M>, Box<Operands>)>> {
    let model = M::model();
    let change = loaded.change(attempt);
    change.map_err(|error| error.with_model(model.name))
}

action!(Load => Option<Loaded<M>>);
action!(Save => bool);

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
