//! Wildcard indexes: one key for each path of a document, made of the path and its value.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document};
use odm_language::value::collation::Collator;
use odm_language::value::key::{self, Direction};
use odm_language::value::raw;

use crate::index::Keys;
use crate::index::affects::overlap;
use crate::index::multikey::Arrays;
use crate::index::spec::value::number;

/// The name of the path field of the index in `explain`.
pub(crate) const PATH: &str = "$_path";

/// The paths that a wildcard index covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wildcard {
    /// The paths from the key (`a` for `a.$**`) or from the projection. Each includes everything below it.
    listed: Vec<String>,
    /// Whether the listed paths are excluded.
    excludes: bool,
}

impl Wildcard {
    /// Builds it from the only field of the key pattern and the `wildcardProjection`.
    pub(crate) fn new(field: &str, projection: Option<&Document>) -> Self {
        if let Some(below) = field.strip_suffix(".$**") {
            return Self {
                listed: vec![below.to_owned()],
                excludes: false,
            };
        }
        let mut listed = Vec::new();
        flatten(projection.unwrap_or(&Document::new()), "", &mut listed);
        let id = listed
            .iter()
            .position(|(path, _)| path == "_id")
            .map(|at| listed.remove(at).1);
        let excludes = listed
            .first()
            .map_or(id != Some(true) || projection.is_none(), |(_, keeps)| {
                !keeps
            });
        let mut listed: Vec<String> = listed.into_iter().map(|(path, _)| path).collect();
        // The index covers `_id` only if the projection includes it.
        if id.unwrap_or(false) != excludes {
            listed.push("_id".to_owned());
        }
        // Sorted, so that equal projections compare equal.
        listed.sort();
        Self { listed, excludes }
    }

    /// Whether the index covers a path.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.listed.iter().any(|listed| is_within(path, listed)) != self.excludes
    }

    /// Whether the index may cover a path above or below this one. Exclusions are ignored.
    pub(super) fn may_hold(&self, path: &str) -> bool {
        self.excludes || self.listed.iter().any(|listed| overlap(listed, path))
    }

    /// Whether a top-level field may affect the keys.
    pub(super) fn may_read(&self, name: &str) -> bool {
        let may_hold = if self.excludes {
            self.holds(name)
        } else {
            self.may_hold(name)
        };
        may_hold && !name.contains('.')
    }

    /// Whether the index may cover paths below this one.
    fn leads_on(&self, path: &str) -> bool {
        self.excludes || self.listed.iter().any(|listed| is_within(listed, path))
    }

    /// The keys of a document, and the paths of its arrays.
    pub(crate) fn keys(
        &self,
        document: &RawDocument,
        collation: Option<&Collator>,
    ) -> (Keys, Arrays) {
        self.keys_of(raw::elements(document), collation)
    }

    /// The keys of some fields of a document, and the paths of their arrays.
    pub(super) fn keys_of<'d>(
        &self,
        fields: impl Iterator<Item = (&'d str, RawBsonRef<'d>)>,
        collation: Option<&Collator>,
    ) -> (Keys, Arrays) {
        let mut walk = Walk {
            wildcard: self,
            collation,
            keys: Keys::new(),
            arrays: Arrays::default(),
        };
        for (name, value) in fields.filter(has_path) {
            walk.field(name, value);
        }
        let Walk {
            mut keys, arrays, ..
        } = walk;
        keys.sort_unstable();
        keys.dedup();
        (keys, arrays)
    }
}

/// Whether a path can name the field, which is impossible if its name contains a dot.
fn has_path((name, _): &(&str, RawBsonRef<'_>)) -> bool {
    !name.contains('.')
}

/// Collects the paths of a projection, and whether each is included.
fn flatten(projection: &Document, place: &str, found: &mut Vec<(String, bool)>) {
    for (name, value) in projection {
        let path = if place.is_empty() {
            name.clone()
        } else {
            format!("{place}.{name}")
        };
        match value {
            Bson::Document(inner) => flatten(inner, &path, found),
            Bson::Boolean(keeps) => found.push((path, *keeps)),
            value => found.push((path, number(value) != Some(0.0))),
        }
    }
}

/// Whether a path equals another or is below it.
fn is_within(path: &str, other: &str) -> bool {
    path.strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

struct Walk<'w> {
    wildcard: &'w Wildcard,
    collation: Option<&'w Collator>,
    keys: Keys,
    arrays: Arrays,
}

impl Walk<'_> {
    fn field(&mut self, path: &str, value: RawBsonRef<'_>) {
        if !self.wildcard.holds(path) && !self.wildcard.leads_on(path) {
            return;
        }
        match value {
            RawBsonRef::Document(inner) => self.document(path, inner),
            RawBsonRef::Array(array) => {
                let mut is_empty = true;
                if self.wildcard.holds(path) || self.wildcard.leads_on(path) {
                    self.arrays.add(path);
                }
                for element in raw::values(array) {
                    is_empty = false;
                    match element {
                        RawBsonRef::Document(inner) => self.document(path, inner),
                        // An array inside an array is one value.
                        element => self.add(path, element),
                    }
                }
                if is_empty {
                    self.add(path, RawBsonRef::Undefined);
                }
            }
            value => self.add(path, value),
        }
    }

    fn document(&mut self, path: &str, document: &RawDocument) {
        let mut is_empty = true;
        for (name, value) in raw::elements(document) {
            is_empty = false;
            if has_path(&(name, value)) {
                self.field(&format!("{path}.{name}"), value);
            }
        }
        if is_empty {
            self.add(path, RawBsonRef::Document(document));
        }
    }

    fn add(&mut self, path: &str, value: RawBsonRef<'_>) {
        if !self.wildcard.holds(path) {
            return;
        }
        let mut bytes = Vec::with_capacity(path.len() + 16);
        key::append(
            &mut bytes,
            RawBsonRef::String(path),
            Direction::Ascending,
            None,
        );
        key::append(&mut bytes, value, Direction::Ascending, self.collation);
        self.keys.push(bytes.into());
    }
}

#[cfg(test)]
mod tests {
    use bson::{doc, rawdoc};

    use super::Wildcard;

    #[test]
    fn wildcard_projections_choose_indexed_paths() {
        let all = Wildcard::new("$**", None);
        assert!(all.holds("a.b") && !all.holds("_id"));
        let below = Wildcard::new("a.$**", None);
        assert!(below.holds("a.b") && below.holds("a") && !below.holds("ab"));
        let some = Wildcard::new("$**", Some(&doc! {"a.b": 1, "_id": 1}));
        assert!(some.holds("a.b.c") && some.holds("_id") && !some.holds("a"));
        let rest = Wildcard::new("$**", Some(&doc! {"a": {"b": 0}}));
        assert!(rest.holds("a.c") && !rest.holds("a.b.c") && !rest.holds("_id"));
    }

    #[test]
    fn each_leaf_has_a_key() {
        let (keys, arrays) = Wildcard::new("$**", None).keys(
            &rawdoc! {"_id": 1, "a": [1, {"b": 2}, [3, 4]], "c": {}, "d": [], "e": {"f": {"g": 1}}},
            None,
        );
        // a: 1, a: [3, 4], a.b: 2, c: {}, d: undefined, e.f.g: 1
        assert_eq!(keys.len(), 6);
        assert!(arrays.has("a.b") && arrays.has("d") && !arrays.has("e.f.g"));
    }
}
