//! The values of copied fields, and the documents in which they are written.

use std::collections::BTreeMap;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, DateTime, Document, RawBson, doc};

use super::super::fences::Fences;
use super::super::reference_place::{Outdated, ReferencePlace, exact_read, exactly};
use crate::error::{Error, ReferenceError, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::copies::{CopiedField, Copies, RefreshAge};
use crate::model::{name, projection};
use crate::query::operators::any_of;
use crate::store::Operation;
use crate::store::limits::LIST_BYTES;

/// The copies beside one reference, and where they are stored.
#[derive(Debug)]
pub(in crate::write) struct Kept {
    pub(in crate::write) copies: &'static Copies,
    pub(in crate::write) place: ReferencePlace,
    /// The stored path of the reference.
    pub(in crate::write) reference: StoredPath,
    /// The stored path of the field of the source to which the reference leads.
    pub(in crate::write) key: StoredPath,
}

/// The values of copied fields of the documents with these keys, as they were read at one time.
#[derive(Debug)]
pub(in crate::write) struct Facts {
    keys: Keys,
    found: Vec<Option<Found>>,
    /// A time before they were read.
    at: DateTime,
}

/// The values of one document.
#[derive(Debug)]
struct Found {
    values: Vec<Value>,
    /// The values that the copies follow, as they are stored.
    bytes: Vec<u8>,
}

/// The value that a copy has to have.
#[derive(Debug)]
enum Value {
    Stored(Bson),
    /// The copy is left out.
    None,
    /// The document lacks the field, and the copy can't be none.
    Unknown,
}

/// Documents that hold copies, by what they refer to.
#[derive(Debug, Default)]
pub(in crate::write) struct Holders {
    pub(in crate::write) keys: Keys,
    /// The `_id`s of the documents, for each key.
    ids: Vec<Vec<Bson>>,
    /// The `_id`s of all documents.
    all: Keys,
}

impl Kept {
    pub(in crate::write) fn new(copies: &'static Copies) -> Result<Self> {
        let by: Vec<&str> = copies.by.iter().map(String::as_str).collect();
        let place = ReferencePlace::at(copies.model, &by)?;
        let key = name::resolve((copies.source.embedded)(), &[copies.key])?;
        Ok(Self {
            copies,
            reference: StoredPath::at(&place.path()),
            place,
            key: StoredPath::through_arrays(&key.path),
        })
    }

    pub(in crate::write) fn all(
        copies: impl IntoIterator<Item = &'static Copies>,
    ) -> Result<Vec<Self>> {
        copies.into_iter().map(Self::new).collect()
    }

    /// The fields of a document that holds the copies: the reference, and the copies.
    pub(in crate::write) fn projection(&self) -> Document {
        let mut projection = doc! {"_id": 1, self.reference.as_str(): 1};
        for field in self.copies.following() {
            projection.insert(self.path_of(field), 1);
        }
        projection
    }

    /// The values that make copies differ: all but their time.
    fn compared<'v>(
        &self,
        values: &'v [(&'v str, Option<&'v Bson>)],
    ) -> &'v [(&'v str, Option<&'v Bson>)] {
        let at = self.copies.refresh.as_ref().map(|refresh| refresh.at);
        match values.split_first() {
            Some(((name, _), rest)) if Some(*name) == at => rest,
            _ => values,
        }
    }

    /// Whether the copies in this subdocument were read before this time, or nothing says when.
    fn is_older(&self, parent: &Document, time: DateTime) -> bool {
        self.copies.refresh.as_ref().is_some_and(
            |refresh| !matches!(parent.get(refresh.at), Some(Bson::DateTime(at)) if *at >= time),
        )
    }

    /// The time of the oldest copies that are left alone at this time; none of copies that follow changes.
    pub(super) fn before(&self, now: DateTime) -> Option<DateTime> {
        let refresh = self.copies.refresh.as_ref();
        refresh.map(|refresh| refresh.before(now))
    }

    /// Whether a refresh has to write the document: copies beside a reference are older than this time, or copies have a value
    /// beside a null reference.
    pub(super) fn has_older(&self, document: &RawDocument, time: DateTime) -> Result<bool> {
        let Some((reference, parents)) = self.place.names().split_last() else {
            return Ok(false);
        };
        let mut document = Document::try_from(document).map_err(Error::encode)?;
        let mut has = false;
        each_parent(&mut document, parents, &mut |parent| {
            let is_null = matches!(parent.get(reference), None | Some(Bson::Null));
            has |= if is_null {
                self.differs_from_none(parent)?
            } else {
                self.is_older(parent, time)
            };
            Ok(())
        })?;
        Ok(has)
    }

    /// Whether a copy in this subdocument, which refers to nothing, has a value.
    fn differs_from_none(&self, parent: &Document) -> Result<bool> {
        let mut differs = false;
        for field in self.copies.following().filter(|field| !field.is_time()) {
            if let Some((_, expected)) = field.none() {
                differs |= !is_equal(parent.get(field.name), expected.as_ref())?;
            }
        }
        Ok(differs)
    }

    /// The stored path of a copy.
    pub(in crate::write) fn path_of(&self, field: &CopiedField) -> String {
        match self.reference.as_str().rsplit_once('.') {
            Some((parent, _)) => format!("{parent}.{}", field.name),
            None => field.name.to_owned(),
        }
    }
}

impl Facts {
    /// Reads the fields that the copies follow; of a new document, also those that are copied once.
    pub(in crate::write) async fn read(
        channel: &mut Channel<'_>,
        kept: &Kept,
        keys: &Keys,
        is_new: bool,
    ) -> Result<Self> {
        let source = kept.copies.source;
        let mut facts = Self {
            keys: Keys::default(),
            found: Vec::new(),
            at: channel.time_of_reads(),
        };
        let mut projection = doc! {kept.key.as_str(): 1};
        for path in fields(kept.copies, is_new).flat_map(|field| &field.sources) {
            // A path inside of another one would be a second projection of it.
            let is_inside = |other: &String| {
                path.strip_prefix(other.as_str())
                    .is_some_and(|rest| rest.starts_with('.'))
            };
            let mut others = fields(kept.copies, is_new).flat_map(|field| &field.sources);
            if !others.any(is_inside) {
                projection.insert(path, 1);
            }
        }
        if kept.key.as_str() != "_id" && !projection.contains_key("_id") {
            projection.insert("_id", 0);
        }
        for position in 0..keys.len() {
            if let Some(key) = keys.get(position) {
                facts.keys.add(raw(key)?.as_raw_bson_ref())?;
                facts.found.push(None);
            }
        }
        let path = kept.key.as_str();
        for part in keys.parts() {
            // The key is unique, and one document is read without a cursor.
            let one = part.len() == 1;
            let filter = any_of(path, part).into();
            let find = Operation::Find { filter, one };
            let options = exact_read(channel, source, Some(projection.clone()));
            let read = channel.of(source).read(find, options, |document| {
                let key = kept.key.value(document);
                let position = key.and_then(|key| facts.keys.position(key));
                if let Some(found) = position.and_then(|it| facts.found.get_mut(it)) {
                    *found = Some(Found::new(kept.copies, document, is_new, facts.at)?);
                }
                Ok(())
            });
            read.await?;
        }
        Ok(facts)
    }

    /// Whether both were read with the same result.
    pub(in crate::write) fn are(&self, others: &Self) -> bool {
        let own = self.found.iter().map(Option::as_ref);
        let other = others.found.iter().map(Option::as_ref);
        own.map(|one| one.map(|one| &one.bytes))
            .eq(other.map(|one| one.map(|one| &one.bytes)))
    }

    /// Puts the values into a new document.
    ///
    /// # Errors
    ///
    /// The document refers to nothing, or to a document without the field.
    pub(in crate::write) fn fill(&self, kept: &Kept, document: &mut Document) -> Result<()> {
        let Some((reference, parents)) = kept.place.names().split_last() else {
            return Ok(());
        };
        each_parent(document, parents, &mut |parent| {
            self.fill_beside(kept, reference, parent)
        })
    }

    fn fill_beside(&self, kept: &Kept, reference: &str, parent: &mut Document) -> Result<()> {
        let copies = kept.copies;
        let key = match parent.get(reference) {
            None | Some(Bson::Null) => {
                for (name, value) in copies.fields.iter().filter_map(CopiedField::none) {
                    match value {
                        Some(value) => parent.insert(name, value),
                        None => parent.remove(name),
                    };
                }
                return Ok(());
            }
            Some(key) => key.clone(),
        };
        let position = self.keys.position(raw(&key)?.as_raw_bson_ref());
        let found = position.and_then(|position| self.found.get(position)?.as_ref());
        let failed =
            |error: ReferenceError| Error::new(error).with_path(kept.reference.as_str().to_owned());
        let Some(found) = found else {
            return Err(failed(ReferenceError::Dangling {
                target: copies.source.name,
                key: kept.key.as_str().to_owned(),
                value: key,
            }));
        };
        for (field, value) in copies.fields.iter().zip(&found.values) {
            match value {
                Value::Stored(value) => {
                    parent.insert(field.name, value.clone());
                }
                Value::None => {
                    parent.remove(field.name);
                }
                Value::Unknown => {
                    return Err(failed(ReferenceError::NothingToCopy {
                        target: copies.source.name,
                        key: kept.key.as_str().to_owned(),
                        value: key,
                        field: field.sources.join(", "),
                        copy: kept.path_of(field),
                    }));
                }
            }
        }
        Ok(())
    }

    /// The statements that write the values into documents that differ: into these, or into all. Copies without a known
    /// value stay as they are. With a time, the documents are those whose copies are older.
    pub(super) fn statements(
        &self,
        kept: &Kept,
        holders: Option<&Holders>,
        older_than: Option<DateTime>,
    ) -> Result<Vec<Document>> {
        // Documents with equal values share a statement.
        let mut groups: BTreeMap<&[u8], (&Found, Vec<usize>)> = BTreeMap::new();
        for (position, found) in self.found.iter().enumerate() {
            if let Some(found) = found {
                let group = groups.entry(&found.bytes).or_insert((found, Vec::new()));
                group.1.push(position);
            }
        }
        let mut statements = Vec::new();
        for (found, positions) in groups.into_values() {
            let fields = fields(kept.copies, false).zip(&found.values);
            let values: Vec<(&str, Option<&Bson>)> = fields
                .filter_map(|(field, value)| match value {
                    Value::Stored(value) => Some((field.name, Some(value))),
                    Value::None => Some((field.name, None)),
                    Value::Unknown => None,
                })
                .collect();
            let known = kept.compared(&values);
            if known.is_empty() {
                continue;
            }
            // The write that these documents follow may have brought its own time.
            let compared = match holders {
                Some(_) => values.as_slice(),
                None => known,
            };
            let outdated = match (older_than, &kept.copies.refresh) {
                (Some(time), Some(RefreshAge { at, .. })) => Outdated::Before { at, time },
                _ => Outdated::Differing(compared),
            };
            let mut keys = Keys::default();
            for position in positions {
                if let Some(key) = self.keys.get(position) {
                    keys.add(raw(key)?.as_raw_bson_ref())?;
                }
            }
            match holders {
                None => {
                    let parts = keys.parts_for(kept.place.repeats());
                    statements.extend(
                        parts
                            .iter()
                            .map(|keys| kept.place.assign(keys, &values, outdated, None)),
                    );
                }
                Some(holders) => {
                    for (keys, ids) in holders.parts(&keys, kept.place.repeats())? {
                        let condition = doc! {"_id": {"$in": ids}};
                        let statement =
                            kept.place.assign(&keys, &values, outdated, Some(condition));
                        statements.push(statement);
                    }
                }
            }
        }
        // Where a document refers to nothing, there is nothing to copy.
        let none: Vec<_> = fields(kept.copies, false)
            .filter_map(CopiedField::none)
            .collect();
        let none: Vec<_> = none
            .iter()
            .map(|(name, value)| (*name, value.as_ref()))
            .collect();
        let compared = kept.compared(&none);
        if let Some(holders) = holders.filter(|_| !compared.is_empty()) {
            let outdated = Outdated::Differing(compared);
            for ids in holders.all.parts() {
                let condition = doc! {"_id": {"$in": ids}};
                let nothing = [Bson::Null];
                let statement = kept
                    .place
                    .assign(&nothing, &none, outdated, Some(condition));
                statements.push(statement);
            }
        }
        let model = kept.copies.model;
        Ok(statements
            .into_iter()
            .map(|statement| exactly(model, statement))
            .collect())
    }

    /// Writes the values into documents that differ: into these, or into all; returns how many were written.
    pub(in crate::write) async fn write(
        &self,
        channel: &mut Channel<'_>,
        kept: &Kept,
        holders: Option<&Holders>,
    ) -> Result<u64> {
        self.send(channel, kept, self.statements(kept, holders, None)?)
            .await
    }

    /// Writes the values and their time into those of these documents whose copies are older than this; returns how many were
    /// written.
    pub(super) async fn write_older(
        &self,
        channel: &mut Channel<'_>,
        kept: &Kept,
        holders: &Holders,
        time: DateTime,
    ) -> Result<u64> {
        let statements = self.statements(kept, Some(holders), Some(time))?;
        self.send(channel, kept, statements).await
    }

    async fn send(
        &self,
        channel: &mut Channel<'_>,
        kept: &Kept,
        statements: Vec<Document>,
    ) -> Result<u64> {
        let statements = statements.into_iter();
        let statements: Result<Vec<RawDocumentBuf>> = statements
            .map(|one| RawDocumentBuf::try_from(one).map_err(Error::encode))
            .collect();
        let mut documents = channel.of(kept.copies.model);
        documents.update_in_batches(&statements?).await
    }

    /// How the copies in a document differ from the values: the stored path, the copy and the value for each. Copies that follow
    /// by their age count when they are too old.
    pub(in crate::write) fn differences(
        &self,
        kept: &Kept,
        document: &RawDocument,
    ) -> Result<Vec<Difference>> {
        let Some((reference, parents)) = kept.place.names().split_last() else {
            return Ok(Vec::new());
        };
        let mut document = Document::try_from(document).map_err(Error::encode)?;
        let mut differences = Vec::new();
        let mut add = |field: &CopiedField, copy: Option<&Bson>, value: Option<&Bson>| {
            differences.push(Difference {
                path: kept.path_of(field),
                copy: copy.cloned(),
                value: value.cloned(),
            });
        };
        each_parent(&mut document, parents, &mut |parent| {
            let Some(key) = parent.get(reference).filter(|key| **key != Bson::Null) else {
                for field in fields(kept.copies, false).filter(|field| !field.is_time()) {
                    let copy = parent.get(field.name);
                    if let Some((_, expected)) = field.none()
                        && !is_equal(copy, expected.as_ref())?
                    {
                        add(field, copy, expected.as_ref());
                    }
                }
                return Ok(());
            };
            if let Some(before) = kept.before(self.at)
                && !kept.is_older(parent, before)
            {
                return Ok(());
            }
            let position = self.keys.position(raw(key)?.as_raw_bson_ref());
            let Some(Some(found)) = position.and_then(|position| self.found.get(position)) else {
                return Ok(());
            };
            let fields = fields(kept.copies, false).zip(&found.values);
            for (field, value) in fields.filter(|(field, _)| !field.is_time()) {
                let copy = parent.get(field.name);
                let expected = match value {
                    Value::Stored(value) => Some(value),
                    Value::None => None,
                    Value::Unknown => continue,
                };
                if !is_equal(copy, expected)? {
                    add(field, copy, expected);
                }
            }
            Ok(())
        })?;
        Ok(differences)
    }
}

/// A copy that does not have the value of the field that it follows.
#[derive(Debug)]
pub(in crate::write) struct Difference {
    pub(in crate::write) path: String,
    pub(in crate::write) copy: Option<Bson>,
    pub(in crate::write) value: Option<Bson>,
}

/// Whether the filter of [`Outdated::Differing`] takes the copy for equal.
fn is_equal(copy: Option<&Bson>, expected: Option<&Bson>) -> Result<bool> {
    Ok(match (copy, expected) {
        (None | Some(Bson::Null), Some(Bson::Null)) | (None, None) => true,
        (Some(copy), Some(expected)) => {
            let key = |value: &Bson| -> Result<Vec<u8>> {
                let raw = raw(value)?;
                Ok(odm_language::value::key::of(raw.as_raw_bson_ref(), None))
            };
            key(copy)? == key(expected)?
        }
        _ => false,
    })
}

impl Found {
    fn new(copies: &Copies, document: &RawDocument, is_new: bool, at: DateTime) -> Result<Self> {
        let values: Result<Vec<Value>> = fields(copies, is_new)
            .map(|field| Value::of(field, document, at))
            .collect();
        let values = values?;
        let mut all = Document::new();
        let following = fields(copies, is_new).zip(&values);
        for (field, value) in following.filter(|(field, _)| !field.is_once() && !field.is_time()) {
            match value {
                Value::Stored(value) => {
                    all.insert(field.name, value.clone());
                }
                Value::None => {
                    all.insert(field.name, Bson::Undefined);
                }
                Value::Unknown => {}
            }
        }
        let bytes = RawDocumentBuf::try_from(all).map_err(Error::encode)?;
        Ok(Self {
            values,
            bytes: bytes.into_bytes(),
        })
    }
}

impl Value {
    fn of(field: &CopiedField, source: &RawDocument, at: DateTime) -> Result<Self> {
        if field.is_time() {
            return Ok(Self::Stored(at.into()));
        }
        let value = match (field.projected, field.sources.as_slice()) {
            ([], [path]) => match StoredPath::at(path).value(source) {
                Some(value) => Bson::try_from(value).map_err(Error::encode)?,
                None => Bson::Null,
            },
            (projected, _) => projection::part(source, projected)?.into(),
        };
        Ok(match value {
            Bson::Null if !field.is_nullable => Self::Unknown,
            Bson::Null if field.is_skipped => Self::None,
            value => Self::Stored(value),
        })
    }
}

impl Holders {
    /// Adds a document for each reference that it has.
    pub(in crate::write) fn add(&mut self, kept: &Kept, document: &RawDocument) -> Result<()> {
        let Some(id) = document.get("_id").map_err(Error::encode)? else {
            return Ok(());
        };
        self.all.add(id)?;
        let id = Bson::try_from(id).map_err(Error::encode)?;
        let mut added = Ok(());
        kept.reference.each_value(document, &mut |value| {
            if value == RawBsonRef::Null || added.is_err() {
                return;
            }
            added = self.keys.add(value).map(|position| {
                if self.ids.len() <= position {
                    self.ids.resize(position + 1, Vec::new());
                }
                if let Some(ids) = self.ids.get_mut(position)
                    && ids.last() != Some(&id)
                {
                    ids.push(id.clone());
                }
            });
        });
        added
    }

    pub(in crate::write) fn is_empty(&self) -> bool {
        self.all.len() == 0
    }

    /// The documents that refer to one of these keys, in parts that fit one command each: keys, and `_id`s.
    fn parts(&self, keys: &Keys, repeats: usize) -> Result<Vec<(Vec<Bson>, Vec<Bson>)>> {
        /// About how many bytes an `_id` or a key takes.
        const VALUE: usize = 64;
        let most = LIST_BYTES / VALUE / (repeats + 1);
        let mut parts: Vec<(Vec<Bson>, Vec<Bson>)> = Vec::new();
        for position in 0..keys.len() {
            let Some(key) = keys.get(position) else { break };
            let own = self.keys.position(raw(key)?.as_raw_bson_ref());
            let Some(ids) = own.and_then(|own| self.ids.get(own)) else {
                continue;
            };
            for ids in ids.chunks(most) {
                match parts.last_mut() {
                    Some((keys, all)) if all.len() + ids.len() <= most => {
                        keys.push(key.clone());
                        all.extend_from_slice(ids);
                    }
                    _ => parts.push((vec![key.clone()], ids.to_vec())),
                }
            }
        }
        Ok(parts)
    }
}

/// The copies that are read: those that follow the source, or all that a new document has.
fn fields(copies: &Copies, is_new: bool) -> impl Iterator<Item = &CopiedField> {
    let all = copies.fields.iter();
    all.filter(move |field| is_new || !field.is_once())
}

/// Calls `visit` with each subdocument that these names lead to, in lists too.
fn each_parent(
    document: &mut Document,
    names: &[String],
    visit: &mut dyn FnMut(&mut Document) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = names.split_first() else {
        return visit(document);
    };
    match document.get_mut(first) {
        Some(Bson::Document(inside)) => each_parent(inside, rest, visit),
        Some(Bson::Array(elements)) => elements.iter_mut().try_for_each(|element| match element {
            Bson::Document(inside) => each_parent(inside, rest, visit),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

fn raw(value: &Bson) -> Result<RawBson> {
    RawBson::try_from(value.clone()).map_err(Error::encode)
}

/// Looks again after a write: writes the values that the source has now, until it has not changed since they were read.
///
/// The last look is right. Whoever writes a document afterwards looks after that, too: a change of the source sweeps over
/// all its copies, and an insert reads the source once more. A strict transaction does not look again, so each look writes its
/// fence: then the look sees what the transaction has changed, or the transaction sees what was written before the look.
pub(in crate::write) async fn settle(
    channel: &mut Channel<'_>,
    kept: &Kept,
    holders: Option<&Holders>,
    keys: &Keys,
    mut last: Option<Facts>,
) -> Result<u64> {
    let mut written = 0;
    let mut fences = Fences::default();
    if kept.is_strict() {
        kept.fence(channel, keys, &mut fences)?;
    }
    loop {
        fences.write(channel, kept.copies.source).await?;
        let facts = Facts::read(channel, kept, keys, false).await?;
        if last.as_ref().is_some_and(|last| last.are(&facts)) {
            return Ok(written);
        }
        written += facts.write(channel, kept, holders).await?;
        last = Some(facts);
    }
}
