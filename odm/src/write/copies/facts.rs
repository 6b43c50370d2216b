//! The values of copied fields, and the documents in which they are written.

use std::collections::BTreeMap;

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, DateTime, Document, RawBson, doc};
use odm_language::value::raw::{append, elements, get, values};

use super::super::fences::Fences;
use super::super::reference_place::{Outdated, exact_read, exactly};
use super::kept::{Kept, each_parent, fields, is_equal, raw};
use crate::error::{Error, ReferenceError, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::copies::{CopiedField, Copies, RefreshAge};
use crate::model::projection;
use crate::query::operators::any_of;
use crate::store::Operation;
use crate::store::limits::LIST_BYTES;

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
    Stored(RawBson),
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
            keys: keys.clone(),
            found: Vec::new(),
            at: channel.time_of_reads(),
        };
        let projection = if is_new { &kept.copied } else { &kept.followed };
        facts.found.resize_with(keys.len(), || None);
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
                    *found = Some(Found::new(kept, document, is_new, facts.at)?);
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

    /// The new document with the values.
    ///
    /// # Errors
    ///
    /// The document refers to nothing, or to a document without the field.
    pub(in crate::write) fn fill(
        &self,
        kept: &Kept,
        document: &RawDocument,
    ) -> Result<RawDocumentBuf> {
        let Some((reference, parents)) = kept.place.names().split_last() else {
            return Ok(document.to_owned());
        };
        rebuild(document, parents, &mut |parent| {
            self.fill_beside(kept, reference, parent)
        })
    }

    fn fill_beside(
        &self,
        kept: &Kept,
        reference: &str,
        parent: &RawDocument,
    ) -> Result<RawDocumentBuf> {
        let fields = &kept.copies.fields;
        let values = match parent.get(reference).map_err(Error::encode)? {
            None | Some(RawBsonRef::Null) => {
                let none = |field: &CopiedField| {
                    let null = (!field.is_skipped).then_some(RawBsonRef::Null);
                    field.is_nullable.then_some((field.name, null))
                };
                fields.iter().filter_map(none).collect()
            }
            Some(key) => self.values_at(kept, key)?,
        };
        let mut filled = RawDocumentBuf::new();
        for (name, value) in elements(parent) {
            match values.iter().find(|(copy, _)| *copy == name) {
                None => append(&mut filled, name, value),
                Some((_, Some(value))) => append(&mut filled, name, *value),
                Some((_, None)) => {}
            }
        }
        for (name, value) in values {
            if let Some(value) = value
                && get(parent, name).is_none()
            {
                append(&mut filled, name, value);
            }
        }
        Ok(filled)
    }

    /// The copies beside a reference with this value: their stored names and values.
    fn values_at<'f>(
        &'f self,
        kept: &'f Kept,
        key: RawBsonRef<'_>,
    ) -> Result<Vec<(&'f str, Option<RawBsonRef<'f>>)>> {
        let copies = kept.copies;
        let failed =
            |error: ReferenceError| Error::new(error).with_path(kept.reference.as_str().to_owned());
        let value = || Bson::try_from(key).map_err(Error::encode);
        let position = self.keys.position(key);
        let Some(found) = position.and_then(|position| self.found.get(position)?.as_ref()) else {
            return Err(failed(ReferenceError::Dangling {
                target: copies.source.name,
                key: kept.key.as_str().to_owned(),
                value: value()?,
            }));
        };
        let mut values = Vec::with_capacity(copies.fields.len());
        for (field, found) in copies.fields.iter().zip(&found.values) {
            values.push(match found {
                Value::Stored(value) => (field.name, Some(value.as_raw_bson_ref())),
                Value::None => (field.name, None),
                Value::Unknown => {
                    return Err(failed(ReferenceError::NothingToCopy {
                        target: copies.source.name,
                        key: kept.key.as_str().to_owned(),
                        value: value()?,
                        field: field.sources.join(", "),
                        copy: kept.path_of(field),
                    }));
                }
            });
        }
        Ok(values)
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
            let values = found.known(kept.copies)?;
            let values: Vec<(&str, Option<&Bson>)> = values
                .iter()
                .map(|(field, value)| (field.name, value.as_ref()))
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

    /// Whether the copies of a document have the very bytes of the fields: what most documents have is found without decoding.
    fn is_identical(&self, kept: &Kept, reference: &str, document: &RawDocument) -> bool {
        let key = get(document, reference).filter(|key| *key != RawBsonRef::Null);
        let position = key.and_then(|key| self.keys.position(key));
        let Some(Some(found)) = position.and_then(|position| self.found.get(position)) else {
            return false;
        };
        let mut values = fields(kept.copies, false).zip(&found.values);
        values.all(|(field, value)| match value {
            Value::Stored(value) => get(document, field.name) == Some(value.as_raw_bson_ref()),
            Value::None | Value::Unknown => false,
        })
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
        if parents.is_empty() && self.is_identical(kept, reference, document) {
            return Ok(Vec::new());
        }
        let mut document = compared(kept, document)?;
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
            let values = found.known(kept.copies)?;
            for (field, value) in values.iter().filter(|(field, _)| !field.is_time()) {
                let (copy, expected) = (parent.get(field.name), value.as_ref());
                if !is_equal(copy, expected)? {
                    add(field, copy, expected);
                }
            }
            Ok(())
        })?;
        Ok(differences)
    }
}

/// The fields of a document that hold the reference and the copies, decoded: decoding all of it would take most of a check's time.
fn compared(kept: &Kept, document: &RawDocument) -> Result<Document> {
    let top = kept.place.names().first();
    let is_inside = kept.place.names().len() > 1;
    let mut part = Document::new();
    for element in document {
        let (name, value) = element.map_err(Error::encode)?;
        let name = name.as_str();
        let is_top = top.is_some_and(|top| *top == name);
        let is_beside = || kept.copies.fields.iter().any(|field| field.name == name);
        if is_top || (!is_inside && is_beside()) {
            part.insert(name, Bson::try_from(value).map_err(Error::encode)?);
        }
    }
    Ok(part)
}

/// A copy that does not have the value of the field that it follows.
#[derive(Debug)]
pub(in crate::write) struct Difference {
    pub(in crate::write) path: String,
    pub(in crate::write) copy: Option<Bson>,
    pub(in crate::write) value: Option<Bson>,
}

impl Found {
    fn new(kept: &Kept, document: &RawDocument, is_new: bool, at: DateTime) -> Result<Self> {
        let mut values = Vec::new();
        let mut all = RawDocumentBuf::new();
        for (field, path) in kept.copies.fields.iter().zip(&kept.values) {
            if field.is_once() && !is_new {
                continue;
            }
            let value = Value::of(field, path.as_ref(), document, at)?;
            if !field.is_once() && !field.is_time() {
                match &value {
                    Value::Stored(value) => append(&mut all, field.name, value.as_raw_bson_ref()),
                    Value::None => append(&mut all, field.name, RawBsonRef::Undefined),
                    Value::Unknown => {}
                }
            }
            values.push(value);
        }
        Ok(Self {
            values,
            bytes: all.into_bytes(),
        })
    }
}

impl Found {
    /// The copies whose value is known; none of one that is left out.
    fn known<'c>(&self, copies: &'c Copies) -> Result<Vec<(&'c CopiedField, Option<Bson>)>> {
        let mut known = Vec::with_capacity(self.values.len());
        for (field, value) in fields(copies, false).zip(&self.values) {
            let value = match value {
                Value::Stored(value) => {
                    Some(Bson::try_from(value.as_raw_bson_ref()).map_err(Error::encode)?)
                }
                Value::None => None,
                Value::Unknown => continue,
            };
            known.push((field, value));
        }
        Ok(known)
    }
}

impl Value {
    /// The value of a field that copies one field of the source, by its path, or several.
    fn of(
        field: &CopiedField,
        path: Option<&StoredPath>,
        source: &RawDocument,
        at: DateTime,
    ) -> Result<Self> {
        if field.is_time() {
            return Ok(Self::Stored(RawBson::DateTime(at)));
        }
        let value = match path {
            Some(path) => path.value(source).map_or(RawBson::Null, RawBson::from),
            None => raw(&projection::part(source, field.projected)?.into())?,
        };
        Ok(match value {
            RawBson::Null if !field.is_nullable => Self::Unknown,
            RawBson::Null if field.is_skipped => Self::None,
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

/// Rebuilds each subdocument that these names lead to, in lists too.
fn rebuild(
    document: &RawDocument,
    names: &[String],
    change: &mut dyn FnMut(&RawDocument) -> Result<RawDocumentBuf>,
) -> Result<RawDocumentBuf> {
    let Some((first, rest)) = names.split_first() else {
        return change(document);
    };
    let mut rebuilt = RawDocumentBuf::new();
    for (name, value) in elements(document) {
        match value {
            RawBsonRef::Document(inside) if name == first => {
                let inside = rebuild(inside, rest, change)?;
                append(&mut rebuilt, name, RawBsonRef::Document(&inside));
            }
            RawBsonRef::Array(list) if name == first => {
                let mut changed = RawArrayBuf::new();
                for element in values(list) {
                    match element {
                        RawBsonRef::Document(inside) => {
                            changed.push(rebuild(inside, rest, change)?);
                        }
                        element => changed.push(element),
                    }
                }
                append(&mut rebuilt, name, RawBsonRef::Array(&changed));
            }
            value => append(&mut rebuilt, name, value),
        }
    }
    Ok(rebuilt)
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
        if !fences.is_empty() {
            fences.write(channel, kept.copies.source).await?;
        }
        let facts = Facts::read(channel, kept, keys, false).await?;
        if last.as_ref().is_some_and(|last| last.are(&facts)) {
            return Ok(written);
        }
        written += facts.write(channel, kept, holders).await?;
        last = Some(facts);
    }
}
