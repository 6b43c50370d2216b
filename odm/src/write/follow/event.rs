//! Change events, and the work that follows from them.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, RawBson};
use odm_language::value::raw;

use super::super::collected::Collected;
use super::super::copies::kept::Kept;
use super::links::Touched;
use super::relations::{Kind, Pair, Relation};
use crate::collection::overlaps;
use crate::error::{Error, Result};
use crate::exec::{Keys, StoredPath};

/// The documents of one relation that some events concern.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Whether all documents have to be read.
    pub(super) is_scan: bool,
    /// The keys by which documents with values are found: those to which references lead.
    pub(super) keys: Keys,
    /// The `_id`s of documents of which the key or the reference has to be read.
    pub(super) sources: Keys,
    /// The `_id`s of documents that hold values.
    pub(super) holders: Keys,
    /// The `_id`s of documents that may have left the lists of others.
    pub(super) left: Keys,
    /// The documents whose side of a two-way reference was written.
    pub(super) touched: Vec<Touched>,
    /// The numbers of the touched documents of each side, by the positions of their `_id`s.
    numbers: [(Keys, Vec<usize>); 2],
    touches: usize,
}

impl Work {
    /// All documents.
    pub(super) fn everything() -> Self {
        Self {
            is_scan: true,
            ..Self::default()
        }
    }

    /// Adds a document whose side of a two-way reference was written, with the links that changed before.
    fn touch(&mut self, mut touched: Touched, id: RawBsonRef<'_>) -> Result<()> {
        touched.at = self.touches;
        self.touches += 1;
        let Some((ids, numbers)) = self.numbers.get_mut(touched.side) else {
            return Ok(());
        };
        let position = ids.add(id)?;
        let known = numbers.get(position).copied();
        if let Some(known) = known.and_then(|number| self.touched.get_mut(number)) {
            return known.follow(touched);
        }
        numbers.push(self.touched.len());
        self.touched.push(touched);
        Ok(())
    }
}

/// A change event of one document, or of a collection.
#[derive(Debug)]
pub(super) struct Event<'e> {
    kind: Change,
    collection: Option<&'e str>,
    to: Option<&'e str>,
    id: Option<RawBsonRef<'e>>,
    before: Option<&'e RawDocument>,
    after: Option<&'e RawDocument>,
    description: Option<&'e RawDocument>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Insert,
    Update,
    Replace,
    Delete,
    /// The collections are others now: after a drop or a rename.
    Collection,
    Database,
    /// An event that changes no document.
    Other,
}

impl<'e> Event<'e> {
    pub(super) fn read(event: &'e RawDocument) -> Self {
        let document = |name| raw::get(event, name).and_then(RawBsonRef::as_document);
        let collection = |name| {
            let namespace = document(name)?;
            raw::get(namespace, "coll")?.as_str()
        };
        let operation = raw::get(event, "operationType").and_then(RawBsonRef::as_str);
        Self {
            kind: match operation {
                Some("insert") => Change::Insert,
                Some("update") => Change::Update,
                Some("replace") => Change::Replace,
                Some("delete") => Change::Delete,
                Some("drop" | "rename") => Change::Collection,
                Some("dropDatabase") => Change::Database,
                _ => Change::Other,
            },
            collection: collection("ns"),
            to: collection("to"),
            id: document("documentKey").and_then(|key| raw::get(key, "_id")),
            before: document("fullDocumentBeforeChange"),
            after: document("fullDocument"),
            description: document("updateDescription"),
        }
    }

    /// Adds what follows from the event for a relation.
    pub(super) fn add_to(&self, relation: &Relation, work: &mut Work) -> Result<()> {
        let is_in = |name: &String| self.collection == Some(name);
        match self.kind {
            Change::Other => return Ok(()),
            Change::Database => {
                work.is_scan = true;
                return Ok(());
            }
            Change::Collection => {
                let mut names = relation.names.iter();
                work.is_scan |= names.any(|name| is_in(name) || self.to == Some(name));
                return Ok(());
            }
            Change::Insert | Change::Update | Change::Replace | Change::Delete => {}
        }
        let Some(id) = self.id else { return Ok(()) };
        let [is_source, is_holder] = relation.names.each_ref().map(is_in);
        match &relation.kind {
            Kind::Copies(kept) => {
                if is_source && self.changes_copied(kept) {
                    self.add_key(&kept.key, id, work)?;
                }
                if is_holder && self.changes_copies(kept) {
                    work.holders.add(id)?;
                }
            }
            Kind::Collected(one) => {
                if is_source && self.touches(one.sources()) {
                    self.add_references(one, id, work)?;
                }
                let own = one.fields().into_iter();
                let own = own.chain([one.key().as_str().to_owned()]);
                if is_holder && self.kind != Change::Delete && self.touches(own) {
                    work.holders.add(id)?;
                }
            }
            Kind::TwoWay(pair) => {
                if is_source {
                    self.add_touched(pair, 0, id, work)?;
                }
                if is_holder && !pair.is_symmetrical {
                    self.add_touched(pair, 1, id, work)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the write may have changed one of the fields.
    fn touches<S: AsRef<str>>(&self, fields: impl IntoIterator<Item = S>) -> bool {
        if self.kind != Change::Update {
            return true;
        }
        let paths = self.paths();
        let mut fields = fields.into_iter();
        fields.any(|field| paths.iter().any(|path| overlaps(path, field.as_ref())))
    }

    /// The paths that an update has changed.
    fn paths(&self) -> Vec<&'e str> {
        let mut paths = Vec::new();
        let Some(description) = self.description else {
            return paths;
        };
        let value = |name| raw::get(description, name);
        if let Some(RawBsonRef::Document(updated)) = value("updatedFields") {
            let fields = updated.iter().filter_map(Result::ok);
            paths.extend(fields.map(|(path, _)| path.as_str()));
        }
        if let Some(RawBsonRef::Array(removed)) = value("removedFields") {
            paths.extend(raw::values(removed).filter_map(RawBsonRef::as_str));
        }
        if let Some(RawBsonRef::Array(truncated)) = value("truncatedArrays") {
            let truncated = raw::values(truncated).filter_map(RawBsonRef::as_document);
            let fields = truncated.filter_map(|one| raw::get(one, "field")?.as_str());
            paths.extend(fields);
        }
        paths
    }

    fn changes_copied(&self, kept: &Kept) -> bool {
        let sources = kept.copies.following().flat_map(|field| &field.sources);
        let sources = sources.map(String::as_str).chain([kept.key.as_str()]);
        self.kind != Change::Delete && self.touches(sources)
    }

    fn changes_copies(&self, kept: &Kept) -> bool {
        let copies = kept.copies.following().map(|field| kept.path_of(field));
        let fields = copies.chain([kept.reference.as_str().to_owned()]);
        self.kind != Change::Delete && self.touches(fields)
    }

    /// Adds the key of the written document, or its `_id` if the key has to be read.
    fn add_key(&self, key: &StoredPath, id: RawBsonRef<'e>, work: &mut Work) -> Result<()> {
        if key.as_str() == "_id" {
            return work.keys.add(id).map(drop);
        }
        match self.after.and_then(|after| key.value(after)) {
            Some(value) => work.keys.add(value).map(drop),
            None => work.sources.add(id).map(drop),
        }
    }

    /// Adds what the document refers to and has referred to.
    fn add_references(&self, one: &Collected, id: RawBsonRef<'e>, work: &mut Work) -> Result<()> {
        let reference = one.reference();
        for document in [self.before, self.after].into_iter().flatten() {
            add_values(reference, document, &mut work.keys)?;
        }
        if self.kind == Change::Update {
            work.sources.add(id)?;
        }
        let is_new = self.kind == Change::Insert;
        if is_new || self.before.is_some() || !self.touches([reference.as_str()]) {
            return Ok(());
        }
        if one.lists_ids() {
            work.left.add(id)?;
        } else {
            work.is_scan = true;
        }
        Ok(())
    }

    fn add_touched(
        &self,
        pair: &Pair,
        side: usize,
        id: RawBsonRef<'e>,
        work: &mut Work,
    ) -> Result<()> {
        let Some(back) = pair.sides.get(side) else {
            return Ok(());
        };
        let (path, own_key) = (&back.own.path, &back.own.key);
        let has_other_key = own_key.as_str() != "_id";
        if self.kind == Change::Update {
            if has_other_key && self.touches([own_key.as_str()]) {
                work.is_scan = true;
                return Ok(());
            }
            if !self.touches([path.as_str()]) {
                return Ok(());
            }
        }
        let key = match self.before.or(self.after) {
            _ if !has_other_key => Some(id),
            Some(document) => own_key.value(document),
            None => None,
        };
        if self.kind == Change::Delete && key.is_none() {
            work.is_scan = true;
            return Ok(());
        }
        let links = match (self.kind, self.before) {
            (Change::Insert, _) => {
                let mut links = Keys::default();
                if let Some(after) = self.after {
                    add_values(path, after, &mut links)?;
                }
                // A single reference of a new document decides, whatever refers to it.
                (back.own.side.is_list() || links.len() == 0).then_some(links)
            }
            (_, None) => None,
            (_, Some(before)) => self.changed_links(path, before)?,
        };
        let touched = Touched {
            side,
            id: Bson::try_from(id).map_err(Error::encode)?,
            key: key.map(Bson::try_from).transpose().map_err(Error::encode)?,
            links,
            at: 0,
            is_new: self.kind == Change::Insert,
            is_gone: self.kind == Change::Delete,
        };
        work.touch(touched, id)
    }

    /// The references that the document has now and did not have, and those that it had; `None` if the event does not say.
    fn changed_links(&self, path: &StoredPath, before: &RawDocument) -> Result<Option<Keys>> {
        let values = |document: &RawDocument| {
            let mut values = Vec::new();
            path.each_value(document, &mut |value| values.push(RawBson::from(value)));
            values
        };
        let old = values(before);
        let new = match self.kind {
            Change::Delete => Some(Vec::new()),
            Change::Replace => self.after.map(values),
            _ => self.changed(path.as_str(), old.clone()),
        };
        let Some(new) = new else { return Ok(None) };
        let keys = |values: &[RawBson]| -> Result<Keys> {
            let mut keys = Keys::default();
            for value in values {
                keys.add(value.as_raw_bson_ref())?;
            }
            Ok(keys)
        };
        let (old_keys, new_keys) = (keys(&old)?, keys(&new)?);
        let mut links = Keys::default();
        for (values, others) in [(&old, &new_keys), (&new, &old_keys)] {
            for value in values {
                let value = value.as_raw_bson_ref();
                if value != RawBsonRef::Null && others.position(value).is_none() {
                    links.add(value)?;
                }
            }
        }
        Ok(Some(links))
    }

    /// The values of a field after the update, of those that it had before; `None` if the description has another form.
    fn changed(&self, path: &str, mut values: Vec<RawBson>) -> Option<Vec<RawBson>> {
        let description = self.description?;
        let value = |name| raw::get(description, name);
        if let Some(RawBsonRef::Array(removed)) = value("removedFields") {
            for removed in raw::values(removed).filter_map(RawBsonRef::as_str) {
                if removed == path {
                    values.clear();
                } else if overlaps(removed, path) {
                    return None;
                }
            }
        }
        if let Some(RawBsonRef::Array(truncated)) = value("truncatedArrays") {
            for one in raw::values(truncated).filter_map(RawBsonRef::as_document) {
                let field = raw::get(one, "field")?.as_str()?;
                if field == path {
                    let RawBsonRef::Int32(size) = raw::get(one, "newSize")? else {
                        return None;
                    };
                    values.truncate(usize::try_from(size).ok()?);
                } else if overlaps(field, path) {
                    return None;
                }
            }
        }
        if let Some(RawBsonRef::Document(updated)) = value("updatedFields") {
            for (name, value) in updated.iter().filter_map(Result::ok) {
                let name = name.as_str();
                if name == path {
                    values = match value {
                        RawBsonRef::Array(all) => raw::values(all).map(RawBson::from).collect(),
                        value => vec![value.into()],
                    };
                    continue;
                }
                if !overlaps(name, path) {
                    continue;
                }
                let index = name.strip_prefix(path)?.strip_prefix('.')?;
                let index: usize = index.parse().ok()?;
                if index == values.len() {
                    values.push(value.into());
                } else {
                    *values.get_mut(index)? = value.into();
                }
            }
        }
        Some(values)
    }
}

/// Adds the values at a path. Null is no reference.
fn add_values(path: &StoredPath, document: &RawDocument, keys: &mut Keys) -> Result<()> {
    let mut added = Ok(());
    path.each_value(document, &mut |value| {
        if value != RawBsonRef::Null && added.is_ok() {
            added = keys.add(value).map(drop);
        }
    });
    added
}
