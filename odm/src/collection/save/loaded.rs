//! A loaded document, and what `save` compares it with.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document as BsonDocument, doc};

use super::diff::{Changes, unstored};
use crate::collection::call::{encode, equality};
use crate::collection::decode::decode;
use crate::collection::nodes::check_saved;
use crate::collection::versions::upgrade::{next, unchanged};
use crate::collection::versions::{ReadAs, writable};
use crate::error::{Error, Result, StaleError};
use crate::exec::StoredPath;
use crate::model::{Document, ModelMeta, Version, storable};
use crate::schema::shard_key;
use crate::store::{Attempt, Modification, Outcome, Update as Operands};
use crate::update::maintain::{self, Maintained, Maintenance};

/// A loaded document that can be changed and saved: [`Collection::load`].
///
/// It derefs to the document. [`Collection::save`] sends the changes.
///
/// A save in a transaction takes effect when the transaction commits. After an abort, the next save
/// sends the same changes again, and a `version` field has its earlier value. A document that was
/// loaded in a transaction can be saved after a commit, but not after an abort, because the
/// transaction may have read data that was never committed.
///
/// [`Collection::load`]: crate::Collection::load
/// [`Collection::save`]: crate::Collection::save
#[derive(Clone)]
pub struct Loaded<M> {
    document: M,
    /// The last baseline known to be committed; `None` if an uncommitted transaction loaded the document.
    committed: Option<Baseline>,
    pending: Option<Box<Pending<M>>>,
}

/// The stored state that a save compares the document with.
#[derive(Clone)]
struct Baseline {
    /// The document as its serializer writes it. A comparison with the stored bytes would unset
    /// fields that the model does not declare.
    document: RawDocumentBuf,
    /// The stored version, if the model declares one and the document has one.
    version: Option<Bson>,
    /// The document as it is stored, if it is of an older version of the schema.
    outdated: Option<RawDocumentBuf>,
    /// The paths of subdocuments that the serializer writes but that are not stored.
    unstored: Vec<String>,
    /// The stored values of the shard key, by path, so that a cluster finds the shard of the document. A field that is not stored is
    /// missing.
    shard_key: BsonDocument,
}

/// The state that a transaction loaded or saved, until its outcome is known.
#[derive(Clone)]
struct Pending<M> {
    attempt: Attempt,
    seen: Baseline,
    /// The document with its committed version and times, if it was read after an abort.
    reverted: OnceLock<Option<M>>,
}

/// The document's state after a save.
pub(super) struct Change<M> {
    saved: Baseline,
    /// Whether the save rewrites a document of an older version of the schema.
    pub(super) upgrades: bool,
    /// The document with its new version and times, if the model has such fields.
    maintained: Option<M>,
}

impl<M: Document> Loaded<M> {
    /// Takes a document that is stored as it is, such as one that was just inserted or found, to be changed and saved.
    ///
    /// It is compared with its state now, so changes before are not saved, and fields that are stored but that the model does
    /// not declare are kept.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::collection::Loaded;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, copies: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let books = Db::memory().collection::<Book>();
    /// let book = Book { id: 1, copies: 3 };
    /// books.insert_one(&book).await?;
    /// let mut book = Loaded::new(book)?;
    /// book.copies -= 1;
    /// assert!(books.save(&mut book).await?); // {$set: {copies: 2}}
    /// # assert_eq!(books.get(&1).await?.map(|book| book.copies), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The document can't be encoded.
    pub fn new(document: M) -> Result<Self> {
        let encoded = encode(&document)?;
        let seen = Baseline {
            version: match M::model().version {
                Some(name) => field(&encoded, name)?,
                None => None,
            },
            shard_key: values_at(&shard_key_paths(M::model())?, &encoded)?,
            document: encoded,
            outdated: None,
            unstored: Vec::new(),
        };
        Ok(Self {
            document,
            committed: Some(seen),
            pending: None,
        })
    }

    /// Wraps a document that was read in `attempt`, or outside of transactions.
    pub(in crate::collection) fn from_raw(
        raw: &RawDocument,
        attempt: Option<Attempt>,
    ) -> Result<Self> {
        let (document, found) = Self::read(raw)?;
        let mut loaded = Self {
            document,
            committed: None,
            pending: None,
        };
        loaded.know(found, attempt);
        Ok(loaded)
    }

    /// Takes over the stored document after a save in `attempt`, or outside of transactions.
    pub(in crate::collection) fn load_again(
        &mut self,
        raw: &RawDocument,
        attempt: Option<Attempt>,
    ) -> Result<()> {
        let (document, found) = Self::read(raw)?;
        self.document = document;
        self.know(found, attempt);
        Ok(())
    }

    fn read(raw: &RawDocument) -> Result<(M, Baseline)> {
        let current = ReadAs::of_model(M::model(), None).current(raw)?;
        let document: M = current.decode(M::model().name)?;
        let encoded = encode(&document)?;
        let found = Baseline {
            unstored: unstored(&current.raw, &encoded),
            shard_key: values_at(&shard_key_paths(M::model())?, raw)?,
            document: encoded,
            version: match M::model().version {
                Some(name) => field(&current.raw, name)?,
                None => None,
            },
            outdated: current.is_upgraded().then(|| raw.to_owned()),
        };
        Ok((document, found))
    }

    /// Makes `seen` the baseline for the next save.
    fn know(&mut self, seen: Baseline, attempt: Option<Attempt>) {
        match attempt {
            None => {
                self.committed = Some(seen);
                self.pending = None;
            }
            Some(attempt) => {
                self.pending = Some(Box::new(Pending {
                    attempt,
                    seen,
                    reverted: OnceLock::new(),
                }));
            }
        }
    }

    /// Returns the document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut loaded = books.load(&1).await?.ok_or("no book")?;
    /// loaded.year = 1816;
    /// books.save(&mut loaded).await?;
    /// assert_eq!(loaded.into_inner(), book(1, "Emma", 1816));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_inner(mut self) -> M {
        self.settle();
        self.document
    }

    /// What a save in `attempt`, or outside of transactions, changes, and the update that it sends; `None` if nothing changed.
    pub(super) fn change(
        &mut self,
        attempt: Option<&Attempt>,
    ) -> Result<Option<(Change<M>, Box<Operands>)>> {
        self.settle();
        let baseline = self.baseline(attempt)?;
        let model = M::model();
        maintain::expect_plain_variants(model)?;
        let document = maintain::saved(model, encode(&self.document)?)?;
        storable::check_saved(model, &document, &baseline.document)?;
        let maintained = maintain::fields(model);
        let names = maintained.iter().map(|field| field.name);
        let names: Vec<_> = names.chain(model.schema_field()).collect();
        let mut changes = Changes::of_unstored(baseline.unstored.clone());
        changes.compare(&baseline.document, &document, &names)?;
        let unstored = changes.still_unstored();
        let update = match (changes.into_update(), &baseline.outdated) {
            (Some(update), _) => update,
            (None, Some(_)) => BsonDocument::new(),
            (None, None) => return Ok(None),
        };
        check_saved(&update, model)?;
        let mut filter = doc! { "_id": equality(baseline.id()?) };
        for (path, value) in &baseline.shard_key {
            filter.insert(path, equality(value.clone()));
        }
        let mut fields = baseline.timestamps(model)?;
        let upgrades = baseline.outdated.is_some();
        let modification = baseline.modification(model, update, &maintained)?;
        if let Some(condition) = baseline.of_version(model, attempt)? {
            filter.extend(condition);
        }
        for field in maintained {
            if let Some(Maintenance {
                operand: now @ Bson::DateTime(_),
                ..
            }) = field.change
            {
                fields.push((field.name, Some(now)));
            }
        }
        let mut next = None;
        if let Some(Version { name, one }) = model.version() {
            let loaded = match &baseline.version {
                Some(version) => equality(version.clone()),
                None => Bson::Document(doc! { "$exists": false }),
            };
            if !upgrades {
                filter.insert(name, loaded);
            }
            let version = baseline.next_version(&one);
            let version = version.map_err(|error| error.with_path(name))?;
            fields.push((name, Some(version.clone())));
            next = Some(version);
        }
        let (document, maintained) = if fields.is_empty() {
            (document, None)
        } else {
            let (document, maintained) = with_fields(&document, fields)
                // Fails before sending if the model can't decode the new version.
                .map_err(|error| match &next {
                    Some(version) => {
                        error.context(format!("the version after this save is {version}"))
                    }
                    None => error,
                })?;
            (document, Some(maintained))
        };
        let saved = Baseline {
            shard_key: baseline.shard_key_after(model, &document, &unstored)?,
            document,
            version: next,
            outdated: None,
            unstored,
        };
        let mut operands = Operands::new(filter.into());
        operands.modification = modification;
        let change = Change {
            saved,
            upgrades,
            maintained,
        };
        Ok(Some((change, Box::new(operands))))
    }

    /// Takes note of the stored document after a save in `attempt`, or outside of transactions, that matched nothing. Returns
    /// whether the save can be made again: the document is of another version of the schema than before, and nobody has
    /// counted its version up.
    pub(super) fn renew(
        &mut self,
        stored: &RawDocument,
        attempt: Option<&Attempt>,
    ) -> Result<bool> {
        let model = M::model();
        let Some(schema) = model.schema else {
            return Ok(false);
        };
        let current = writable(stored, model, schema)?;
        let counted = match model.version {
            Some(name) => Some(field(&current.raw, name)?),
            None => None,
        };
        let is_upgraded = current.is_upgraded();
        let baseline = self.baseline_mut(attempt);
        let Some(baseline) = baseline else {
            return Ok(false);
        };
        let is_other = is_upgraded || baseline.outdated.is_some();
        if !is_other || counted.is_some_and(|counted| counted != baseline.version) {
            return Ok(false);
        }
        baseline.outdated = is_upgraded.then(|| stored.to_owned());
        Ok(true)
    }

    /// The `_id` of the document.
    pub(super) fn id(&self, attempt: Option<&Attempt>) -> Result<Bson> {
        self.baseline(attempt)?.id()
    }

    /// The baseline for a save in `attempt`, or outside of transactions, to be changed.
    fn baseline_mut(&mut self, attempt: Option<&Attempt>) -> Option<&mut Baseline> {
        let is_pending = match &self.pending {
            None => false,
            Some(pending) => match pending.attempt.outcome() {
                Outcome::Committed => true,
                Outcome::Open => attempt.is_some_and(|it| it.is(&pending.attempt)),
                Outcome::Aborted | Outcome::Unknown => false,
            },
        };
        if is_pending {
            return self.pending.as_mut().map(|pending| &mut pending.seen);
        }
        self.committed.as_mut()
    }

    /// Records that the change was sent in `attempt`, or outside of transactions.
    pub(super) fn saved(&mut self, change: Change<M>, attempt: Option<Attempt>) {
        if let Some(document) = change.maintained {
            self.document = document;
        }
        self.know(change.saved, attempt);
    }

    /// The error for a save in `attempt` that matched no document.
    pub(super) fn stale(&self, attempt: Option<&Attempt>) -> Error {
        let stale = self.baseline(attempt).and_then(|baseline| {
            let versioned = M::model().version.is_some();
            Ok(StaleError::new(
                baseline.id()?,
                baseline.version.clone(),
                versioned,
            ))
        });
        stale.map_or_else(|error| error, Error::new)
    }

    /// The baseline for a save in `attempt`, or outside of transactions.
    fn baseline(&self, attempt: Option<&Attempt>) -> Result<&Baseline> {
        let committed = self.committed.as_ref();
        let Some(pending) = &self.pending else {
            return committed.ok_or_else(|| Error::malformed_reply("a loaded document"));
        };
        let unknown = |cause| {
            let id = pending.seen.id()?;
            Err(Error::new(StaleError::of_transaction(id, cause)))
        };
        match (pending.attempt.outcome(), committed) {
            (Outcome::Committed, _) => Ok(&pending.seen),
            (Outcome::Aborted, Some(committed)) => Ok(committed),
            (Outcome::Aborted, None) => unknown("was aborted"),
            (Outcome::Unknown, _) => unknown("has an unknown result"),
            (Outcome::Open, _) if attempt.is_some_and(|it| it.is(&pending.attempt)) => {
                Ok(&pending.seen)
            }
            (Outcome::Open, _) => Err(Error::usage(
                "a transaction that is still open has loaded or saved this document: save it in \
                 that transaction, or end the transaction first",
            )),
        }
    }

    /// Applies the outcome of the transaction that loaded or saved the document, once it is known.
    fn settle(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        match pending.attempt.outcome() {
            Outcome::Committed => self.committed = Some(pending.seen),
            Outcome::Aborted if self.committed.is_some() => {
                if let Some(document) = self.reverted() {
                    self.document = document;
                }
            }
            Outcome::Open | Outcome::Unknown | Outcome::Aborted => self.pending = Some(pending),
        }
    }

    /// The current document with the committed version and times, if the model has such fields.
    fn reverted(&self) -> Option<M> {
        let model = M::model();
        let committed = self.committed.as_ref()?;
        let mut fields = committed.timestamps(model).ok()?;
        if let Some(name) = model.version {
            fields.push((name, committed.version.clone()));
        }
        if fields.is_empty() {
            return None;
        }
        let document = encode(&self.document).ok()?;
        let (_, document) = with_fields(&document, fields).ok()?;
        Some(document)
    }
}

impl Baseline {
    /// The change by operators; of a document of an older version, a pipeline that rewrites it.
    fn modification(
        &self,
        model: &'static ModelMeta,
        mut update: BsonDocument,
        maintained: &[Maintained],
    ) -> Result<Modification> {
        let (Some(raw), Some(schema)) = (&self.outdated, model.schema) else {
            maintain::change(maintained, &mut update);
            return Ok(Modification::Operators(update));
        };
        let next = BsonDocument::try_from(next(model, schema, raw)?).map_err(Error::encode)?;
        let mut stages = vec![doc! {"$replaceWith": {"$literal": next}}];
        if let Ok(set) = update.get_document("$set") {
            let set = set.iter();
            let set: BsonDocument = set
                .map(|(path, value)| (path.clone(), doc! {"$literal": value.clone()}.into()))
                .collect();
            stages.push(doc! {"$set": set});
        }
        if let Ok(unset) = update.get_document("$unset") {
            let paths: Vec<&String> = unset.keys().collect();
            stages.push(doc! {"$unset": paths});
        }
        stages.extend(maintain::stage(maintained));
        Ok(Modification::Pipeline(stages))
    }

    /// The condition that the document is of the version of the schema that the program knows, or is as it was read.
    fn of_version(
        &self,
        model: &'static ModelMeta,
        attempt: Option<&Attempt>,
    ) -> Result<Option<BsonDocument>> {
        match (model.schema, &self.outdated) {
            (None, _) => Ok(None),
            (Some(schema), None) => Ok(Some(schema.current())),
            // A transaction fails if another writer changes what it has read.
            (Some(schema), Some(_)) if attempt.is_some() => Ok(Some(schema.other())),
            (Some(_), Some(raw)) => Ok(Some(doc! {"$expr": unchanged(raw)?})),
        }
    }

    /// The version after mongod's `$inc` by `one`.
    fn next_version(&self, one: &Bson) -> Result<Bson> {
        match &self.version {
            None => Ok(one.clone()),
            Some(Bson::Int32(version)) => Ok(match (version.checked_add(1), one) {
                (Some(version), Bson::Int32(_)) => Bson::Int32(version),
                _ => Bson::Int64(i64::from(*version) + 1),
            }),
            Some(Bson::Double(version)) => Ok(Bson::Double(version + 1.0)),
            Some(Bson::Int64(version)) if *version < i64::MAX => Ok(Bson::Int64(version + 1)),
            Some(version) => Err(Error::usage(format!(
                "the version {version} can't be incremented: it must be a whole number below 2^63"
            ))),
        }
    }

    /// The times that the model declares, as they were written last.
    fn timestamps(&self, model: &ModelMeta) -> Result<Vec<(&'static str, Option<Bson>)>> {
        let Some(declared) = model.timestamps else {
            return Ok(Vec::new());
        };
        let names = [declared.created_at, declared.updated_at]
            .into_iter()
            .flatten();
        names
            .map(|name| Ok((name, field(&self.document, name)?)))
            .collect()
    }

    /// The stored values of the shard key after a save of `document`, which leaves `unstored` subdocuments out.
    fn shard_key_after(
        &self,
        model: &ModelMeta,
        document: &RawDocument,
        unstored: &[String],
    ) -> Result<BsonDocument> {
        let paths = shard_key_paths(model)?;
        let (before, after) = (
            values_at(&paths, &self.document)?,
            values_at(&paths, document)?,
        );
        let mut stored = BsonDocument::new();
        for path in &paths {
            let is_written = before.get(path) != after.get(path)
                || is_within(path, &self.unstored) && !is_within(path, unstored);
            let value = if is_written { &after } else { &self.shard_key }.get(path);
            if let Some(value) = value {
                stored.insert(path, value.clone());
            }
        }
        Ok(stored)
    }

    fn id(&self) -> Result<Bson> {
        field(&self.document, "_id")?.ok_or_else(|| {
            Error::usage("the document has no `_id`: its serializer leaves it out").with_path("_id")
        })
    }
}

/// The document with other values of some fields, as bytes and as the decoded model; `None` removes a field.
fn with_fields<M: Document>(
    document: &RawDocument,
    fields: Vec<(&'static str, Option<Bson>)>,
) -> Result<(RawDocumentBuf, M)> {
    let mut document = BsonDocument::try_from(document).map_err(Error::encode)?;
    for (name, value) in fields {
        match value {
            Some(value) => document.insert(name, value),
            None => document.remove(name),
        };
    }
    let raw = RawDocumentBuf::try_from(&document).map_err(Error::encode)?;
    let document = decode(&raw, M::model().name)?;
    Ok((raw, document))
}

/// The value of a stored field, or `None` if it is missing.
fn field(raw: &RawDocument, name: &str) -> Result<Option<Bson>> {
    let malformed = |_| Error::malformed_reply("well-formed BSON").with_path(name);
    let value = raw.get(name).map_err(malformed)?;
    value.map(Bson::try_from).transpose().map_err(malformed)
}

/// The paths of the shard key, but for the `_id`, which is in every filter.
fn shard_key_paths(model: &ModelMeta) -> Result<Vec<String>> {
    let declared = shard_key(model)?.unwrap_or_default();
    let paths = declared.into_iter().map(|(path, _)| path);
    Ok(paths.filter(|path| path != "_id").collect())
}

/// The values at dotted paths of subdocuments, by path; a missing one is left out.
fn values_at(paths: &[String], document: &RawDocument) -> Result<BsonDocument> {
    let mut values = BsonDocument::new();
    for path in paths {
        if let Some(value) = StoredPath::at(path).value(document) {
            values.insert(path, Bson::try_from(value).map_err(Error::encode)?);
        }
    }
    Ok(values)
}

/// Whether one of these subdocuments is at the path or around it.
fn is_within(path: &str, subdocuments: &[String]) -> bool {
    subdocuments.iter().any(|around| {
        let rest = path.strip_prefix(around.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

impl<M: Document> Deref for Loaded<M> {
    type Target = M;

    fn deref(&self) -> &M {
        let pending = self.pending.as_ref();
        pending
            .filter(|pending| pending.attempt.outcome() == Outcome::Aborted)
            .and_then(|pending| pending.reverted.get_or_init(|| self.reverted()).as_ref())
            .unwrap_or(&self.document)
    }
}

impl<M: Document> DerefMut for Loaded<M> {
    fn deref_mut(&mut self) -> &mut M {
        self.settle();
        &mut self.document
    }
}

impl<M: Document + fmt::Debug> fmt::Debug for Loaded<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loaded").field(&**self).finish()
    }
}
