//! Which fields an update changed, and whether an index reads them: otherwise its keys stay the same.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument};
use odm_language::value::raw::{self, Element, Elements};
use smallvec::SmallVec;

use crate::index::multikey::Arrays;
use crate::index::spec::{Kind, Spec};
use crate::index::{Index, Keys};
use odm_language::value::path::starts_with;

/// A top-level field that differs between two documents.
#[derive(Debug, Clone, Copy)]
struct Differing<'d> {
    name: &'d str,
    before: Option<RawBsonRef<'d>>,
    after: Option<RawBsonRef<'d>>,
}

type Difference<'d> = SmallVec<[Differing<'d>; 4]>;

/// The most fields that may be added or removed, because each needs a search in the other document.
const MAX_MOVED: usize = 16;

/// The fields that differ. `None` if the other fields are in a different order, or if too many fields came or went.
fn difference<'d>(before: &'d RawDocument, after: &'d RawDocument) -> Option<Difference<'d>> {
    let mut found = Difference::new();
    let mut moved = 0;
    let (mut left, mut right) = (raw::walk(before), raw::walk(after));
    let (mut was, mut is) = (left.next(), right.next());
    loop {
        match (&was, &is) {
            (None, None) => return Some(found),
            (Some(one), Some(other)) if one.key_bytes() == other.key_bytes() => {
                if one.tag() != other.tag() || one.value_bytes() != other.value_bytes() {
                    found.push(Differing {
                        name: one.key()?,
                        before: Some(one.value()?),
                        after: Some(other.value()?),
                    });
                }
                (was, is) = (left.next(), right.next());
                continue;
            }
            (Some(gone), _) if !is_ahead(gone, is.as_ref(), &right) => {
                found.push(Differing {
                    name: gone.key()?,
                    before: Some(gone.value()?),
                    after: None,
                });
                was = left.next();
            }
            (_, Some(new)) if !is_ahead(new, was.as_ref(), &left) => {
                found.push(Differing {
                    name: new.key()?,
                    before: None,
                    after: Some(new.value()?),
                });
                is = right.next();
            }
            _ => return None,
        }
        moved += 1;
        if moved > MAX_MOVED {
            return None;
        }
    }
}

/// Whether the rest of a document has a field of the same name.
fn is_ahead(element: &Element<'_>, next: Option<&Element<'_>>, rest: &Elements<'_>) -> bool {
    let name = element.key_bytes();
    next.is_some_and(|next| next.key_bytes() == name) || rest.clone().find_key(name).is_some()
}

impl Index {
    /// Whether two documents certainly have the same keys, because all that the index reads is identical.
    pub(crate) fn is_untouched(&self, before: &RawDocument, after: &RawDocument) -> bool {
        let spec = &*self.spec;
        if matches!(spec.kind, Kind::Text | Kind::Wildcard) || spec.partial.is_some() {
            return difference(before, after)
                .is_some_and(|fields| !fields.iter().any(|field| spec.may_read(field)));
        }
        spec.paths.iter().all(|path| {
            let Some(first) = path.segments().first() else {
                return false;
            };
            let read = |document| {
                let element = raw::walk(document).find_name(first.key())?;
                Some((element.tag(), element.value_bytes()))
            };
            read(before) == read(after)
        })
    }

    /// The keys to remove and to add when one document replaces another, and the arrays among the new ones, computed
    /// from the fields that differ. `None` if that is not possible.
    pub(crate) fn changed_keys(
        &self,
        before: &RawDocument,
        after: &RawDocument,
    ) -> Option<(Keys, Keys, Arrays)> {
        let spec = &*self.spec;
        let wildcard = spec.wildcard.as_ref()?;
        if spec.partial.is_some() || spec.is_first_version {
            return None;
        }
        let fields = difference(before, after)?;
        let is_single = |document: &RawDocument, name: &str| {
            let named = |element: &Element<'_>| element.key_bytes() == name.as_bytes();
            raw::walk(document).filter(named).count() < 2
        };
        if !fields
            .iter()
            .all(|field| is_single(before, field.name) && is_single(after, field.name))
        {
            return None;
        }
        let was = fields.iter().filter_map(|it| Some((it.name, it.before?)));
        let is = fields.iter().filter_map(|it| Some((it.name, it.after?)));
        let (goes, _) = wildcard.keys_of(was, spec.collation.as_ref());
        let (comes, arrays) = wildcard.keys_of(is, spec.collation.as_ref());
        Some((goes, comes, arrays))
    }
}

impl Spec {
    /// Whether a change of a field may affect the keys.
    fn may_read(&self, field: &Differing<'_>) -> bool {
        let name = field.name;
        let partial = self.partial.as_ref();
        if partial.is_some_and(|partial| filter_may_read(&partial.document, name)) {
            return true;
        }
        match (&self.text, &self.wildcard) {
            (Some(text), _) => text.may_read(name, [field.before, field.after]),
            (_, Some(wildcard)) => wildcard.may_read(name),
            _ => self
                .paths
                .iter()
                .any(|path| starts_with(path.as_str(), name)),
        }
    }
}

/// Whether the filter of a partial index may read a field.
fn filter_may_read(filter: &Document, name: &str) -> bool {
    filter.iter().any(|(path, value)| match path.as_str() {
        "$comment" => false,
        "$and" | "$or" => match value.as_array() {
            Some(branches) => branches.iter().any(|branch| {
                branch
                    .as_document()
                    .is_none_or(|branch| filter_may_read(branch, name))
            }),
            None => true,
        },
        path => path.starts_with('$') || starts_with(path, name),
    })
}

#[cfg(test)]
mod tests {
    use bson::{RawDocumentBuf, rawdoc};

    use super::difference;
    use crate::index::Index;
    use crate::index::spec::Spec;

    fn index(spec: &RawDocumentBuf) -> Index {
        Index::new(Spec::parse(spec).unwrap().into())
    }

    #[test]
    fn changed_fields_are_found_regardless_of_order() {
        let names = |before: RawDocumentBuf, after: RawDocumentBuf| {
            let fields = difference(&before, &after)?;
            Some(
                fields
                    .iter()
                    .map(|it| it.name.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let before = || rawdoc! {"_id": 1, "a": 1, "b": 2, "c": 3};
        for (after, found) in [
            (before(), Some(vec![])),
            (rawdoc! {"_id": 1, "a": 1, "b": 3, "c": 3}, Some(vec!["b"])),
            (
                rawdoc! {"_id": 1, "a": 1, "b": 2_i64, "c": 3},
                Some(vec!["b"]),
            ),
            (
                rawdoc! {"_id": 1, "b": 2, "c": 3, "d": 1},
                Some(vec!["a", "d"]),
            ),
            (
                rawdoc! {"_id": 1, "a": 1, "x": 1, "b": 2, "c": 3},
                Some(vec!["x"]),
            ),
            (rawdoc! {"_id": 1}, Some(vec!["a", "b", "c"])),
            (rawdoc! {"_id": 1, "b": 2, "a": 1, "c": 3}, None),
        ] {
            let found = found.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(names(before(), after.clone()), found, "{after:?}");
        }
    }

    #[test]
    fn indexes_of_unchanged_fields_are_not_updated() {
        let text = index(&rawdoc! {
            "key": {"t": "text", "n": 1}, "name": "t", "weights": {"t": 1, "s.u": 2},
        });
        let all_text = index(&rawdoc! {"key": {"$**": "text"}, "name": "t"});
        let all = index(&rawdoc! {"key": {"$**": 1}, "name": "w"});
        let below = index(&rawdoc! {"key": {"a.b.$**": 1}, "name": "w"});
        let rest = index(&rawdoc! {"key": {"$**": 1}, "name": "w", "wildcardProjection": {"a": 0}});
        let partial = index(&rawdoc! {
            "key": {"x": 1}, "name": "p",
            "partialFilterExpression": {"$and": [{"a.b": {"$gt": 1}}, {"c": 1}]},
        });
        let with = |name: &str, value: bson::RawBson| {
            let mut document = rawdoc! {"_id": 1};
            document.append(bson::raw::CString::try_from(name).unwrap(), value);
            document
        };
        let touches = |index: &Index, name: &str, before: bson::RawBson, after: bson::RawBson| {
            !index.is_untouched(&with(name, before), &with(name, after))
        };
        let numbers = |index: &Index, name: &str| touches(index, name, 1.into(), 2.into());
        let words = |index: &Index, name: &str| touches(index, name, "x".into(), "y".into());
        for name in ["t", "s", "s.u", "n", "language", ""] {
            assert!(words(&text, name), "{name}");
        }
        assert!(!words(&text, "a") && !words(&text, "u"));
        assert!(words(&all_text, "a") && numbers(&all_text, "language"));
        assert!(!numbers(&all_text, "a"));
        assert!(touches(&all_text, "a", "x".into(), 1.into()));
        assert!(numbers(&all, "a") && !numbers(&all, "a.b"));
        assert!(numbers(&below, "a") && !numbers(&below, "b"));
        assert!(!numbers(&rest, "a") && numbers(&rest, "b"));
        assert!(["a", "c", "x"].iter().all(|name| numbers(&partial, name)));
        assert!(!numbers(&partial, "b"));
    }

    #[test]
    fn only_changed_wildcard_keys_are_updated() {
        let index = index(&rawdoc! {"key": {"$**": 1}, "name": "w"});
        let before = rawdoc! {"_id": 1, "a": {"b": 1}, "c": [1, 2], "d": 1};
        let after = rawdoc! {"_id": 1, "a": {"b": 1}, "c": [1, 3], "d": 1, "e": "x"};
        let (goes, comes, arrays) = index.changed_keys(&before, &after).unwrap();
        let mut buffer = Vec::new();
        let (all_before, _) = index.keys(&before, &mut buffer).unwrap();
        let (all_after, _) = index.keys(&after, &mut buffer).unwrap();
        let only = |these: &crate::index::Keys, those: &crate::index::Keys| {
            let only: Vec<_> = these
                .iter()
                .filter(|key| !those.contains(key))
                .cloned()
                .collect();
            only
        };
        assert_eq!(only(&goes, &comes), only(&all_before, &all_after));
        assert_eq!(only(&comes, &goes), only(&all_after, &all_before));
        assert!(arrays.has("c"));

        // Two fields of one name may have the same key.
        let mut doubled = rawdoc! {"_id": 1, "a": 1};
        doubled.append(bson::raw::cstr!("a"), 1);
        assert!(
            index
                .changed_keys(&doubled, &rawdoc! {"_id": 1, "a": 1})
                .is_none()
        );
    }
}
