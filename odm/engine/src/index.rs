//! Indexes: their specifications and their entries.
//!
//! An entry is the record's key bytes (see `value::key`: they sort like the values) followed by its record id. Entries
//! form a persistent ordered set, so a snapshot of an index is one pointer.
//!
//! What this module is not: it decides nothing about which index serves a query (`planner`), and holds no documents.

mod affects;
mod compat;
pub(crate) mod geo;
pub(crate) mod key_list;
pub(crate) mod key_pattern;
pub(crate) mod keys;
pub(crate) mod multikey;
pub(crate) mod partial;
pub(crate) mod spec;
pub(crate) mod text;
mod touched;
pub(crate) mod tree;
pub(crate) mod usage;
pub(crate) mod wildcard;

use std::ops::Bound;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document};
use smallvec::SmallVec;

use odm_language::error::{Code, ServerError};
use odm_language::value::key::{self, Direction};
use odm_language::value::print;
use odm_language::value::raw::{self, get};

use keys::{PathValue, Values};
use multikey::Arrays;
use spec::{Kind, Part, Spec};
use tree::entries::Entries;
use tree::{LeafRef, Tree, TreePath};

/// The id of a record in its collection.
pub(crate) type RecordId = u64;

/// An index of one collection, in one snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) spec: Arc<Spec>,
    /// The indexed paths on which some document had an array. As on mongod, a path stays here when the arrays are gone.
    pub(crate) arrays: Arrays,
    entries: Tree<Entries>,
    /// The size of all entries.
    bytes: usize,
}

/// The bytes of a key and of a record id.
pub(crate) type Entry = SmallVec<[u8; 32]>;

/// An entry, and the way to it in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedEntry {
    pub(crate) record: RecordId,
    pub(crate) entry: Vec<u8>,
    pub(crate) tree_path: TreePath,
}

/// The bytes of a key.
pub(crate) type Key = SmallVec<[u8; 24]>;

/// The keys of one document, without its record id: sorted, without duplicates.
pub(crate) type Keys = SmallVec<[Key; 1]>;

/// The prefix of a path that ends at the first array on it.
fn first_array<'p>(document: &RawDocument, path: &'p str) -> Option<&'p str> {
    let mut below = document;
    let mut length = 0;
    for part in path.split('.') {
        length += part.len();
        match get(below, part)? {
            RawBsonRef::Array(_) => return path.get(..length),
            RawBsonRef::Document(document) => below = document,
            _ => return None,
        }
        length += 1;
    }
    None
}

impl Index {
    pub(crate) fn new(spec: Arc<Spec>) -> Self {
        Self {
            spec,
            arrays: Arrays::default(),
            entries: Tree::default(),
            bytes: 0,
        }
    }

    /// Returns the same entries under a changed specification.
    #[must_use]
    pub(crate) fn with_spec(&self, spec: Spec) -> Self {
        Self {
            spec: Arc::new(spec),
            ..self.clone()
        }
    }

    /// Whether the index is multikey: an array gave some document several keys.
    pub(crate) fn multikey(&self) -> bool {
        !self.arrays.is_empty()
    }

    /// Returns the keys of a document in this index, and the arrays that gave it several. `buffer` holds the bytes of
    /// one key at a time; callers pass the same buffer for many documents to avoid allocations.
    pub(crate) fn keys(
        &self,
        document: &RawDocument,
        buffer: &mut Vec<u8>,
    ) -> Result<(Keys, Arrays), ServerError> {
        if let Some(keys) = self.plain_keys(document, buffer) {
            return Ok((keys, Arrays::default()));
        }
        if self.spec.is_first_version {
            self.refuse_decimals(document)?;
        }
        if let Some(text) = &self.spec.text {
            return match &self.spec.partial {
                Some(partial) if !partial.matcher.matches(document)? => {
                    Ok((Keys::new(), Arrays::default()))
                }
                _ => text.keys(document),
            };
        }
        if let Some(wildcard) = &self.spec.wildcard {
            return match &self.spec.partial {
                Some(partial) if !partial.matcher.matches(document)? => {
                    Ok((Keys::new(), Arrays::default()))
                }
                _ => Ok(wildcard.keys(document, self.spec.collation.as_ref())),
            };
        }
        let mut found = Keys::new();
        let multikey = self.each_key(document, &mut |values, spec| {
            buffer.clear();
            for (value, part) in values.iter().zip(&spec.parts) {
                append(buffer, *value, part, spec);
            }
            found.push(Key::from_slice(buffer));
        })?;
        found.sort_unstable();
        found.dedup();
        let mut arrays = if multikey {
            Arrays::of(&self.spec.paths, document)
        } else {
            Arrays::default()
        };
        if multikey && self.spec.kind == Kind::Geo {
            // On a geospatial field, a shape gives several keys without an array.
            for (path, part) in self.spec.paths.iter().zip(&self.spec.parts) {
                if part.geo.is_some() {
                    arrays.add(path.as_str());
                }
            }
        }
        Ok((found, arrays))
    }

    /// Returns the only key of a document without arrays at the paths, or no key if a sparse index leaves the document
    /// out. This is the common case. `None` if the general path has to generate the keys.
    fn plain_keys(&self, document: &RawDocument, buffer: &mut Vec<u8>) -> Option<Keys> {
        buffer.clear();
        let mut keys = Keys::new();
        if self.append_plain_key(document, buffer)? {
            keys.push(Key::from_slice(buffer));
        }
        Some(keys)
    }

    /// Like `plain_keys`, but appends the key to `bytes`. Returns whether the document has a key; on `None`, `bytes`
    /// may end in a partial key.
    pub(crate) fn append_plain_key(
        &self,
        document: &RawDocument,
        bytes: &mut Vec<u8>,
    ) -> Option<bool> {
        let spec = &*self.spec;
        if spec.kind != Kind::Ordered || spec.partial.is_some() || spec.is_first_version {
            return None;
        }
        let start = bytes.len();
        let mut held = !spec.sparse;
        for (path, part) in spec.paths.iter().zip(&spec.parts) {
            match keys::straight(document.as_bytes(), path) {
                PathValue::Array => return None,
                PathValue::Missing => append(bytes, None, part, spec),
                PathValue::Value(element) if part.hashed => {
                    held = true;
                    append(bytes, element.value(), part, spec);
                }
                PathValue::Value(element) => {
                    held = true;
                    key::append_element(bytes, &element, part.direction, spec.collation.as_ref());
                }
            }
        }
        if !held {
            bytes.truncate(start);
        }
        Some(held)
    }

    /// Whether `others` contains an earlier or later state of this index. A changed or rebuilt index does not count.
    pub(crate) fn is_among(&self, others: &[Self]) -> bool {
        let is_same = |other: &Self| Arc::ptr_eq(&self.spec, &other.spec);
        others.iter().any(is_same)
    }

    fn each_key(
        &self,
        document: &RawDocument,
        emit: &mut dyn FnMut(&Values<'_>, &Spec),
    ) -> Result<bool, ServerError> {
        let spec = &*self.spec;
        if let Some(partial) = &spec.partial
            && !partial.matcher.matches(document)?
        {
            return Ok(false);
        }
        if spec.kind == Kind::Geo {
            return geo::generate(document, spec, emit);
        }
        if spec.kind == Kind::Hashed {
            self.refuse_arrays(document)?;
        }
        keys::generate(document, &spec.paths, &mut |values| {
            if !spec.sparse || values.iter().any(Option::is_some) {
                emit(values, spec);
            }
            Ok(())
        })
    }

    /// Rejects decimals, which version 1 indexes do not support.
    fn refuse_decimals(&self, document: &RawDocument) -> Result<(), ServerError> {
        if let Some(partial) = &self.spec.partial
            && !partial.matcher.matches(document)?
        {
            return Ok(());
        }
        let parts = self.spec.paths.iter().zip(&self.spec.parts);
        let ordered = parts.filter(|(_, part)| !part.hashed && part.geo.is_none());
        let mut values = ordered.flat_map(|(path, _)| path.get_all(document));
        if values.any(has_decimal) {
            return Err(ServerError::new(
                Code::UNSUPPORTED_FORMAT,
                "Index version does not support NumberDecimal",
            ));
        }
        Ok(())
    }

    fn refuse_arrays(&self, document: &RawDocument) -> Result<(), ServerError> {
        let mut paths = self.spec.paths.iter();
        let Some(path) = paths.find_map(|path| first_array(document, path.as_str())) else {
            return Ok(());
        };
        Err(ServerError::new(
            Code::location(16766),
            format!(
                "Error: hashed indexes do not currently support array values. Found array at path: {path}"
            ),
        ))
    }

    /// Whether a record other than `except` has this key.
    pub(crate) fn holds(&self, key: &[u8], except: Option<RecordId>) -> bool {
        // Most new ids are larger than all existing ones, so check the last key first.
        if self
            .entries
            .last()
            .and_then(Entries::last)
            .is_some_and(|last| last < key)
        {
            return false;
        }
        match self.first_of(key) {
            None => false,
            first if first != except => true,
            _ => self.records_of(key).len() > 1,
        }
    }

    /// Returns the first record with exactly this key.
    pub(crate) fn first_of(&self, key: &[u8]) -> Option<RecordId> {
        let (leaf, tree_path) = self.entries.first_from(key)?;
        let first = leaf.get(tree_path.at())?;
        (key_of(first) == key).then(|| record_of(first))
    }

    /// Returns the first entry with exactly this key, reusing the key's buffer.
    pub(crate) fn locate(&self, key: Vec<u8>) -> Option<LocatedEntry> {
        let (leaf, tree_path) = self.entries.first_from(&key)?;
        let first = leaf.get(tree_path.at())?;
        if key_of(first) != key {
            return None;
        }
        let record = record_of(first);
        let mut entry = key;
        entry.extend_from_slice(&record.to_be_bytes());
        Some(LocatedEntry {
            record,
            entry,
            tree_path,
        })
    }

    /// Returns the records with exactly this key.
    pub(crate) fn records_of(&self, key: &[u8]) -> Vec<RecordId> {
        let mut records = Vec::new();
        self.each_record_of(key, &mut |record| {
            records.push(record);
            true
        });
        records
    }

    /// Calls `visit` with each record of exactly this key, until `visit` returns false.
    pub(crate) fn each_record_of(&self, key: &[u8], visit: &mut dyn FnMut(RecordId) -> bool) {
        self.entries.ascend(Bound::Included(key), &mut |leaf, at| {
            leaf.get(at)
                .is_some_and(|entry| key_of(entry) == key && visit(record_of(entry)))
        });
    }

    pub(crate) fn insert(&mut self, entry: &[u8]) {
        let before = self.entries.len();
        self.entries.edit(entry, |leaf| leaf.insert(entry));
        if self.entries.len() > before {
            self.bytes += entry.len();
        }
    }

    /// Removes an entry. A known `tree_path` to it saves the search.
    pub(crate) fn remove(&mut self, entry: &[u8], tree_path: Option<&TreePath>) {
        let before = self.entries.len();
        self.entries.edit_at(entry, tree_path, |leaf, at| match at {
            Some(at) => leaf.remove_at(at),
            None => leaf.remove(entry),
        });
        if self.entries.len() < before {
            self.bytes -= entry.len();
        }
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The size of all entries in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the leaf in which a walk from a bound begins, and the position in it.
    pub(crate) fn seek(
        &self,
        from: Bound<&[u8]>,
        backwards: bool,
    ) -> Option<(LeafRef<Entries>, usize)> {
        self.entries.seek(from, backwards)
    }

    /// Returns at most `limit` entries between two bounds, starting from one end.
    pub(crate) fn range(
        &self,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        direction: Direction,
        limit: usize,
    ) -> Vec<Entry> {
        let (from, until) = match direction {
            Direction::Ascending => (low, high),
            Direction::Descending => (high, low),
        };
        let is_inside = |entry: &[u8]| match (direction, until) {
            (_, Bound::Unbounded) => true,
            (Direction::Ascending, Bound::Included(high)) => entry <= high,
            (Direction::Ascending, Bound::Excluded(high)) => entry < high,
            (Direction::Descending, Bound::Included(low)) => entry >= low,
            (Direction::Descending, Bound::Excluded(low)) => entry > low,
        };
        let mut found = Vec::new();
        let mut visit = |leaf: &Entries, at: usize| {
            let Some(entry) = leaf.get(at).filter(|entry| is_inside(entry)) else {
                return false;
            };
            found.push(Entry::from_slice(entry));
            found.len() < limit
        };
        match direction {
            Direction::Ascending => self.entries.ascend(from, &mut visit),
            Direction::Descending => self.entries.descend(from, &mut visit),
        }
        found
    }

    /// The error for a document whose key another record already has.
    pub(crate) fn duplicate(
        &self,
        namespace: &str,
        document: &RawDocument,
        key: &[u8],
    ) -> ServerError {
        let spec = &self.spec;
        let mut shown = String::new();
        let mut values = Document::new();
        let mut hex = Vec::new();
        let mut first = true;
        // Generates the keys again, this time with their values. It succeeded before, so errors can be ignored.
        if let Some(text) = &spec.text {
            let _ = text.each_key(document, &mut |bytes, candidate| {
                if bytes == key {
                    describe(candidate, spec, &mut shown, &mut values, &mut hex);
                }
            });
        } else {
            let _ = self.each_key(document, &mut |candidate, spec| {
                let mut bytes = Vec::new();
                for (value, part) in candidate.iter().zip(&spec.parts) {
                    append(&mut bytes, *value, part, spec);
                }
                if !first || bytes != key {
                    return;
                }
                first = false;
                describe(candidate, spec, &mut shown, &mut values, &mut hex);
            });
        }
        let mut details = bson::doc! { "keyPattern": spec.key.clone(), "keyValue": values };
        let mut collation_text = String::new();
        if let Some(collation) = &spec.collation {
            let document = collation.document();
            collation_text = format!(" collation: {}", spec::show(&document));
            if hex.iter().any(|is_hex| *is_hex == Bson::Boolean(true)) {
                details.insert("hexEncoded", hex);
            }
            details.insert("collation", document);
        }
        ServerError::new(
            Code::DUPLICATE_KEY,
            format!(
                "E11000 duplicate key error collection: {namespace} index: {}{collation_text} dup key: {{ {shown} }}",
                spec.name
            ),
        )
        .with_details(details)
    }
}

/// Formats the key's values for the error message. A string under a collation is shown as the bytes of its sort key.
fn describe(
    values: &Values<'_>,
    spec: &Spec,
    shown: &mut String,
    document: &mut Document,
    hex: &mut Vec<Bson>,
) {
    use std::fmt::Write as _;

    for (value, name) in values.iter().zip(spec.key.keys()) {
        if !shown.is_empty() {
            shown.push_str(", ");
        }
        let value = value.unwrap_or(RawBsonRef::Null);
        let _ = write!(shown, "{name}: ");
        if let (Some(collation), RawBsonRef::String(text)) = (&spec.collation, value) {
            let mut bytes = Vec::new();
            collation.append_key(text, &mut bytes);
            let digits = bytes.iter().fold(String::new(), |mut out, byte| {
                let _ = write!(out, "{byte:02x}");
                out
            });
            let _ = write!(shown, "\"0x{digits}\"");
            document.insert(name, digits);
            hex.push(Bson::Boolean(true));
        } else {
            shown.push_str(&print::value(value));
            document.insert(name, Bson::try_from(value).unwrap_or(Bson::Null));
            hex.push(Bson::Boolean(false));
        }
    }
}

/// Appends one field's part of a key. As on mongod, a missing value is stored as null.
pub(crate) fn append(bytes: &mut Vec<u8>, value: Option<RawBsonRef<'_>>, part: &Part, spec: &Spec) {
    let value = value.unwrap_or(RawBsonRef::Null);
    if part.hashed {
        bytes.extend_from_slice(&hash(value, spec).to_be_bytes());
    } else {
        key::append(bytes, value, part.direction, spec.collation.as_ref());
    }
}

fn has_decimal(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Decimal128(_) => true,
        RawBsonRef::Array(values) => raw::values(values).any(has_decimal),
        RawBsonRef::Document(fields) => raw::elements(fields).any(|(_, value)| has_decimal(value)),
        _ => false,
    }
}

/// A hash that is equal for values that compare equal.
fn hash(value: RawBsonRef<'_>, spec: &Spec) -> u64 {
    hash_key(&key::of(value, spec.collation.as_ref()))
}

/// The hash of a value, computed from its ascending key. Hashes are compared within one process only.
pub(crate) fn hash_key(key: &[u8]) -> u64 {
    use std::hash::Hasher;

    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}

/// Builds the entry of a record under a key.
pub(crate) fn entry(key: &[u8], record: RecordId) -> Entry {
    let mut bytes = Entry::from_slice(key);
    bytes.extend_from_slice(&record.to_be_bytes());
    bytes
}

/// The record id at the end of an entry.
pub(crate) fn record_of(entry: &[u8]) -> RecordId {
    entry
        .last_chunk::<8>()
        .map_or(0, |bytes| RecordId::from_be_bytes(*bytes))
}

/// The key bytes of an entry.
pub(crate) fn key_of(entry: &[u8]) -> &[u8] {
    entry
        .get(..entry.len().saturating_sub(8))
        .unwrap_or_default()
}
