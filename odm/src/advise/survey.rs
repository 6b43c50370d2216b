//! The measures of the sampled documents of one model.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use bson::raw::{RawBsonRef, RawDocument};
use foldhash::fast::RandomState;

use super::fields::{List, Optional, Places};
use super::lengths::Lengths;
use crate::exec::{Keys, StoredPath};
use crate::model::ModelMeta;

/// The largest number of different strings of one field that are compared.
const MOST_STRINGS: usize = 200_000;

/// What the sampled documents of a model are like.
pub(super) struct Survey {
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) largest: u64,
    /// The bytes of each declared top-level field, in all documents.
    pub(super) weights: Vec<(&'static str, u64)>,
    pub(super) lists: Vec<(List, Lengths)>,
    pub(super) optionals: Vec<(Optional, Held)>,
    pub(super) strings: Vec<Strings>,
    /// The values of the fields that relations go by.
    pub(super) keys: Vec<FoundKeys>,
}

/// How many documents have an optional field.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The documents in which it could be.
    pub(super) around: u64,
    /// Those in which it is, and is not null.
    pub(super) held: u64,
}

/// The strings of an indexed field, by their lower case.
#[derive(Debug)]
pub(super) struct Strings {
    pub(super) path: StoredPath,
    pub(super) index: String,
    hasher: RandomState,
    /// The hash of the first string, and whether another one followed.
    seen: HashMap<u64, (u64, bool), RandomState>,
}

/// The values of a field that relations go by, each once.
#[derive(Debug)]
pub(super) struct FoundKeys {
    pub(super) path: StoredPath,
    pub(super) keys: Keys,
    /// How many values there are, with repetitions.
    pub(super) values: u64,
    /// The largest number of different values that are kept.
    most: usize,
}

impl Survey {
    /// Measures documents of the model. `indexed` are the strings to compare: their paths, and the names of their indexes.
    pub(super) fn new(
        model: &'static ModelMeta,
        places: Places,
        indexed: Vec<(String, String)>,
        keys: Vec<StoredPath>,
        sample: u64,
    ) -> Self {
        let fields = (model.embedded)().fields.iter();
        let most = usize::try_from(sample).unwrap_or(usize::MAX);
        let strings = indexed.into_iter().map(|(path, index)| Strings {
            path: StoredPath::at(&path),
            index,
            hasher: RandomState::default(),
            seen: HashMap::default(),
        });
        let found = |path| FoundKeys {
            path,
            keys: Keys::default(),
            values: 0,
            most,
        };
        Self {
            documents: 0,
            bytes: 0,
            largest: 0,
            weights: fields
                .filter(|field| !field.flatten)
                .map(|field| (field.name, 0))
                .collect(),
            lists: with_default(places.lists),
            optionals: with_default(places.optionals),
            strings: strings.collect(),
            keys: keys.into_iter().map(found).collect(),
        }
    }

    pub(super) fn add(&mut self, document: &RawDocument) {
        let size = document.as_bytes().len() as u64;
        self.documents += 1;
        self.bytes += size;
        self.largest = self.largest.max(size);
        for element in document.iter_elements().filter_map(Result::ok) {
            let name = element.key().as_str();
            let mut weights = self.weights.iter_mut();
            if let Some((_, bytes)) = weights.find(|(known, _)| *known == name) {
                *bytes += element.size() as u64;
            }
        }
        for (list, lengths) in &mut self.lists {
            list.at.each_value(document, &mut |value| {
                if let Some(length) = length(value, list.is_map) {
                    lengths.add(length);
                }
            });
        }
        for (field, counts) in &mut self.optionals {
            field.parent.each_value(document, &mut |parent| {
                let RawBsonRef::Document(parent) = parent else {
                    return;
                };
                counts.around += 1;
                let value = parent.get(field.name).ok().flatten();
                counts.held += u64::from(value.is_some_and(|value| value != RawBsonRef::Null));
            });
        }
        for strings in &mut self.strings {
            strings.add(document);
        }
        for keys in &mut self.keys {
            keys.add(document);
        }
    }

    /// The mean size of a document in bytes.
    pub(super) fn mean(&self) -> u64 {
        self.bytes.checked_div(self.documents).unwrap_or(0)
    }
}

fn with_default<P, C: Default>(places: Vec<P>) -> Vec<(P, C)> {
    let places = places.into_iter();
    places.map(|place| (place, C::default())).collect()
}

/// The number of elements of a value that is declared as an array or as a map.
fn length(value: RawBsonRef<'_>, is_map: bool) -> Option<u64> {
    let count = match value {
        RawBsonRef::Array(elements) if !is_map => elements.into_iter().count(),
        RawBsonRef::Document(entries) if is_map => entries.into_iter().count(),
        _ => return None,
    };
    Some(count as u64)
}

impl Strings {
    fn add(&mut self, document: &RawDocument) {
        let Self {
            path, hasher, seen, ..
        } = self;
        path.each_value(document, &mut |value| {
            let RawBsonRef::String(text) = value else {
                return;
            };
            let lower = hasher.hash_one(text.to_lowercase());
            let exact = hasher.hash_one(text);
            if let Some((first, differs)) = seen.get_mut(&lower) {
                *differs |= *first != exact;
            } else if seen.len() < MOST_STRINGS {
                seen.insert(lower, (exact, false));
            }
        });
    }

    /// How many strings have variants that differ only by case.
    pub(super) fn variants(&self) -> u64 {
        let differing = self.seen.values().filter(|(_, differs)| *differs);
        differing.count() as u64
    }

    /// How many strings there are, whatever their case.
    pub(super) fn different(&self) -> u64 {
        self.seen.len() as u64
    }
}

impl FoundKeys {
    fn add(&mut self, document: &RawDocument) {
        let Self {
            path,
            keys,
            values,
            most,
        } = self;
        path.each_value(document, &mut |value| {
            if value == RawBsonRef::Null {
                return;
            }
            *values += 1;
            if keys.len() < *most {
                // A value that can't be encoded again refers to nothing.
                let _ = keys.add(value);
            }
        });
    }
}
