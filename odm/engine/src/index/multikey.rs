//! The arrays on the paths of an index. They decide which bounds can be combined and which sort orders a walk provides.

use std::collections::BTreeSet;

use bson::raw::{RawBsonRef, RawDocument};

use odm_language::value::path::{Path, Segment};
use odm_language::value::raw;

/// The positions of arrays: dotted prefixes of the indexed paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arrays(BTreeSet<Box<str>>);

impl Arrays {
    /// The arrays that a document has on these paths.
    pub(crate) fn of(paths: &[Path], document: &RawDocument) -> Self {
        let mut arrays = Self::default();
        for path in paths {
            follow(document, path.segments(), "", &mut arrays);
        }
        arrays
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, place: &str) {
        if !self.0.contains(place) {
            self.0.insert(place.into());
        }
    }

    pub(crate) fn add_all(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn contains_all(&self, other: &Self) -> bool {
        other.0.is_subset(&self.0)
    }

    /// The arrays on a path, outermost first.
    pub(crate) fn on<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        prefixes(path).filter(|prefix| self.0.contains(*prefix))
    }

    /// Whether any array is on a path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.on(path).next().is_some()
    }
}

/// The prefixes of a path, shortest first, ending with the path itself.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('.')
        .filter_map(|(at, _)| path.get(..at))
        .chain(std::iter::once(path))
}

fn follow(document: &RawDocument, path: &[Segment], place: &str, arrays: &mut Arrays) {
    let Some((segment, rest)) = path.split_first() else {
        return;
    };
    let here = if place.is_empty() {
        segment.name().to_owned()
    } else {
        format!("{place}.{}", segment.name())
    };
    match raw::get(document, segment.name()) {
        Some(RawBsonRef::Document(inner)) => follow(inner, rest, &here, arrays),
        Some(RawBsonRef::Array(array)) => {
            arrays.add(&here);
            for element in raw::values(array) {
                if let RawBsonRef::Document(inner) = element {
                    follow(inner, rest, &here, arrays);
                }
            }
            // A numeric path part may also pick an array element, below which there may be more arrays.
            if let Some((number, rest)) = rest.split_first()
                && let Some(at) = number.index()
            {
                let here = format!("{here}.{}", number.name());
                match raw::values(array).nth(at) {
                    Some(RawBsonRef::Document(inner)) => follow(inner, rest, &here, arrays),
                    Some(RawBsonRef::Array(_)) => arrays.add(&here),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::Arrays;
    use odm_language::value::path::Path;

    #[test]
    fn multikey_paths_record_array_positions() {
        let document = rawdoc! {"a": [{"b": [1]}, {"b": 2}], "c": 1};
        let arrays = Arrays::of(&[Path::new("a.b"), Path::new("c")], &document);
        assert_eq!(arrays.on("a.b").collect::<Vec<_>>(), ["a", "a.b"]);
        assert!(!arrays.has("c"));
        assert!(Arrays::of(&[Path::new("c")], &document).is_empty());
    }
}
