//! The ids of documents to look up, each once.

use std::collections::HashMap;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, RawBson, oid::ObjectId};
use foldhash::fast::RandomState;
use odm_language::value::key;
use odm_language::value::number::Number;

use super::StoredPath;
use crate::error::{Error, Result};
use crate::store::limits::LIST_BYTES;

/// The ids of documents to look up, each once, by position. As in an index, equal numbers of different types are one id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    integers: HashMap<i64, usize, RandomState>,
    object_ids: HashMap<ObjectId, usize, RandomState>,
    strings: HashMap<Box<str>, usize, RandomState>,
    /// By their bytes in an index.
    others: HashMap<Vec<u8>, usize, RandomState>,
    values: Vec<Bson>,
    sizes: Vec<usize>,
    bytes: usize,
}

impl Keys {
    /// The values that documents have at a path, also in arrays. Null is no id.
    pub(crate) fn at(path: &StoredPath, documents: &[RawDocumentBuf]) -> Result<Self> {
        let mut keys = Self::default();
        for document in documents {
            let mut added = Ok(());
            path.each_value(document, &mut |value| {
                if value != RawBsonRef::Null && added.is_ok() {
                    added = keys.add(value).map(drop);
                }
            });
            added?;
        }
        Ok(keys)
    }

    /// These values.
    pub(crate) fn of<'v>(values: impl IntoIterator<Item = &'v Bson>) -> Result<Self> {
        let mut keys = Self::default();
        for value in values {
            keys.add_value(Some(value))?;
        }
        Ok(keys)
    }

    /// Adds the value, if there is one.
    pub(crate) fn add_value(&mut self, value: Option<&Bson>) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        let value = RawBson::try_from(value.clone()).map_err(Error::encode)?;
        self.add(value.as_raw_bson_ref()).map(drop)
    }

    /// Adds all of these values.
    pub(crate) fn add_all(&mut self, others: &Self) -> Result<()> {
        let mut others = others.values.iter();
        others.try_for_each(|value| self.add_value(Some(value)))
    }

    /// Adds an id and returns its position.
    pub(crate) fn add(&mut self, id: RawBsonRef<'_>) -> Result<usize> {
        if let Some(position) = self.position(id) {
            return Ok(position);
        }
        let position = self.values.len();
        let size = match id {
            RawBsonRef::ObjectId(id) => {
                self.object_ids.insert(id, position);
                12
            }
            RawBsonRef::String(text) => {
                self.strings.insert(text.into(), position);
                text.len() + 5
            }
            id => {
                if let Some(integer) = integer(id) {
                    self.integers.insert(integer, position);
                    16
                } else {
                    let key = key::of(id, None);
                    let size = key.len();
                    self.others.insert(key, position);
                    size
                }
            }
        };
        // The element around the value has a type and an index.
        self.sizes.push(size + 12);
        self.bytes += size + 12;
        self.values.push(Bson::try_from(id).map_err(Error::encode)?);
        Ok(position)
    }

    /// The position of an id, if it was added.
    pub(crate) fn position(&self, id: RawBsonRef<'_>) -> Option<usize> {
        match id {
            RawBsonRef::ObjectId(id) => self.object_ids.get(&id),
            RawBsonRef::String(text) => self.strings.get(text),
            id => match integer(id) {
                Some(integer) => self.integers.get(&integer),
                None if self.others.is_empty() => None,
                None => self.others.get(&key::of(id, None)),
            },
        }
        .copied()
    }

    /// Whether the value is one of the ids.
    pub(crate) fn contains(&self, value: &Bson) -> Result<bool> {
        let value = RawBson::try_from(value.clone()).map_err(Error::encode)?;
        Ok(self.position(value.as_raw_bson_ref()).is_some())
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The ids, in the order in which they were added.
    pub(crate) fn values(&self) -> &[Bson] {
        &self.values
    }

    /// About how many bytes the ids take in a command.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn into_values(self) -> Vec<Bson> {
        self.values
    }

    pub(crate) fn get(&self, position: usize) -> Option<&Bson> {
        self.values.get(position)
    }

    /// The ids as lists that fit one command each.
    pub(crate) fn parts(&self) -> Vec<Vec<Bson>> {
        self.parts_for(1)
    }

    /// The ids as lists that fit one command each, even if it repeats its list this many times.
    pub(crate) fn parts_for(&self, times: usize) -> Vec<Vec<Bson>> {
        let parts = parts(&self.sizes, LIST_BYTES / times.max(1)).into_iter();
        let parts = parts.filter_map(|range| self.values.get(range));
        let parts = parts.map(|part| {
            part.iter()
                .filter(|value| can_be_listed(value))
                .cloned()
                .collect()
        });
        parts.filter(|part: &Vec<Bson>| !part.is_empty()).collect()
    }
}

/// Whether MongoDB takes the value in a list of `$in`. No document has an `_id` that it does not take.
fn can_be_listed(value: &Bson) -> bool {
    match value {
        Bson::Undefined => false,
        Bson::Document(document) => {
            let has_operator = document
                .keys()
                .next()
                .is_some_and(|name| name.starts_with('$'));
            !has_operator || (document.contains_key("$ref") && document.contains_key("$id"))
        }
        _ => true,
    }
}

/// The number as an integer, whatever its type.
fn integer(id: RawBsonRef<'_>) -> Option<i64> {
    match id {
        RawBsonRef::Int32(value) => Some(i64::from(value)),
        RawBsonRef::Int64(value) => Some(value),
        id => Number::from_raw(id)?.to_i64_exact(),
    }
}

/// Ranges of ids that fit one command each.
fn parts(sizes: &[usize], most: usize) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, size) in sizes.iter().enumerate() {
        if index > start && bytes + size > most {
            parts.push(start..index);
            (start, bytes) = (index, 0);
        }
        bytes += size;
    }
    if start < sizes.len() {
        parts.push(start..sizes.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_are_added_once() {
        let mut keys = Keys::default();
        let text = "1".parse().unwrap();
        let added = [
            RawBsonRef::Int32(1),
            RawBsonRef::String("1"),
            RawBsonRef::Int64(1),
            RawBsonRef::Double(1.0),
            RawBsonRef::Decimal128(text),
            RawBsonRef::Double(1.5),
            RawBsonRef::Decimal128("1.50".parse().unwrap()),
            RawBsonRef::Boolean(true),
        ];
        let positions = added.map(|id| keys.add(id).unwrap());
        assert_eq!(positions, [0, 1, 0, 0, 0, 2, 2, 3]);
        assert_eq!(keys.len(), 4);
        assert_eq!(keys.get(1), Some(&Bson::from("1")));
        assert_eq!(keys.position(RawBsonRef::Boolean(false)), None);
    }

    #[test]
    fn each_command_stays_below_the_size_limit() {
        assert!(parts(&[], LIST_BYTES).is_empty());
        assert_eq!(
            parts(&[100; 1000], LIST_BYTES),
            std::iter::once(0..1000).collect::<Vec<_>>()
        );
        assert_eq!(parts(&[6_000_000; 5], LIST_BYTES), [0..2, 2..4, 4..5]);
        assert_eq!(parts(&[20_000_000, 1], LIST_BYTES), [0..1, 1..2]);
    }
}
