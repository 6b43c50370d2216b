//! The short ways to few documents: a filter that is one equality, on `_id` or on the one field of an index.
//!
//! Most reads and most updates are of these kinds. No plan could differ, so none is made; the answer is the same.

use bson::raw::{RawBsonRef, RawDocument};
use smallvec::SmallVec;

use crate::engine::catalog::collection::Collection;
use crate::engine::index::spec::Kind;
use crate::engine::index::{Index, RecordId, append};
use crate::value::raw;

/// What the way by `_id` leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Record(RecordId),
    /// No document has this `_id`.
    Nothing,
}

/// Whether the filter is an equality on `_id` of which nothing can be wrong.
pub(crate) fn is_by_id(filter: &RawDocument) -> bool {
    equality(filter).is_some_and(|(name, _)| name == b"_id")
}

/// The record that the filter finds under the simple collation; `None` where the filter needs to be planned.
pub(crate) fn by_id(filter: &RawDocument, collection: &Collection) -> Option<Found> {
    let (b"_id", value) = equality(filter)? else {
        return None;
    };
    let index = collection.indexes.first()?;
    if !index.spec.is_id() || index.spec.collation.is_some() {
        return None;
    }
    let record = index.first_of(&key(index, value)?);
    Some(record.map_or(Found::Nothing, Found::Record))
}

/// The records that the filter finds by the only index that begins with its field, in their order, under the simple
/// collation. `None` where the filter needs to be planned, or where there are more than `most`.
pub(crate) fn by_index(
    filter: &RawDocument,
    collection: &Collection,
    most: usize,
) -> Option<SmallVec<[RecordId; 4]>> {
    let (name, value) = equality(filter)?;
    // What leads into documents, or through arrays by their numbers, is for the planner.
    if name == b"_id" || name.contains(&b'.') {
        return None;
    }
    let index = only_index(name, collection)?;
    let mut records = SmallVec::new();
    let mut fits = true;
    index.each_record_of(&key(index, value)?, &mut |record| {
        fits = records.len() < most;
        if fits {
            records.push(record);
        }
        fits
    });
    fits.then_some(records)
}

/// The one index that a plan for the field could use, if it is as simple as can be.
fn only_index<'c>(name: &[u8], collection: &'c Collection) -> Option<&'c Index> {
    let mut only = None;
    for index in &collection.indexes {
        let spec = &index.spec;
        let begins = |path: &str| path.as_bytes() == name;
        if spec.hidden || spec.kind == Kind::Text {
            continue;
        }
        if spec.kind != Kind::Wildcard && !spec.paths.first().is_some_and(|it| begins(it.as_str()))
        {
            continue;
        }
        let simple = spec.kind == Kind::Ordered
            && spec.paths.len() == 1
            && spec.partial.is_none()
            && spec.collation.is_none();
        if !simple || only.is_some() {
            return None;
        }
        only = Some(index);
    }
    only
}

/// The bytes that stand for the value in an index of one field.
fn key(index: &Index, value: RawBsonRef<'_>) -> Option<Vec<u8>> {
    let spec = &index.spec;
    let mut bytes = Vec::with_capacity(16);
    append(&mut bytes, Some(value), spec.parts.first()?, spec);
    Some(bytes)
}

/// The field and the value of a filter that is one equality. The value is of a type of which exactly one key stands
/// for what compares equal, and is no operator and no pattern.
fn equality(filter: &RawDocument) -> Option<(&[u8], RawBsonRef<'_>)> {
    let mut elements = raw::walk(filter);
    let only = elements.next()?;
    let name = only.key_bytes();
    if elements.next().is_some() || name.is_empty() || name.starts_with(b"$") {
        return None;
    }
    let value = only.value()?;
    let plain = match value {
        RawBsonRef::Double(value) => !value.is_nan(),
        RawBsonRef::String(_)
        | RawBsonRef::Binary(_)
        | RawBsonRef::ObjectId(_)
        | RawBsonRef::Boolean(_)
        | RawBsonRef::DateTime(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_) => true,
        _ => false,
    };
    plain.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bson::{RawDocumentBuf, rawdoc};

    use super::{Found, by_id, by_index};
    use crate::engine::catalog::collection::Collection;
    use crate::engine::catalog::namespace::Namespace;
    use crate::engine::catalog::options::Options;
    use crate::engine::index::Index;
    use crate::engine::index::spec::Spec;

    fn collection(ids: &[RawDocumentBuf]) -> Collection {
        let index = Index::new(Arc::new(Spec::id(None)));
        let namespace = Namespace::new("test", "c");
        let mut collection = Collection::new(namespace, [0; 16], Options::none(), vec![index]);
        for document in ids {
            let record = collection.shared.next_record();
            let change = collection.change(None, Some(document)).unwrap();
            let bytes = document.as_bytes();
            collection.apply(&change, record, Some(bytes));
        }
        collection
    }

    #[test]
    fn numbers_are_found_in_any_type() {
        let collection = collection(&[rawdoc! {"_id": 7}, rawdoc! {"_id": "7"}]);
        for filter in [
            rawdoc! {"_id": 7},
            rawdoc! {"_id": 7_i64},
            rawdoc! {"_id": 7.0},
        ] {
            assert_eq!(by_id(&filter, &collection), Some(Found::Record(1)));
        }
        assert_eq!(
            by_id(&rawdoc! {"_id": "7"}, &collection),
            Some(Found::Record(2))
        );
        assert_eq!(
            by_id(&rawdoc! {"_id": 7.5}, &collection),
            Some(Found::Nothing)
        );
    }

    #[test]
    fn anything_else_is_planned() {
        let collection = collection(&[rawdoc! {"_id": 7}]);
        for filter in [
            rawdoc! {},
            rawdoc! {"a": 7},
            rawdoc! {"_id": 7, "a": 1},
            rawdoc! {"_id": {"$gt": 7}},
            rawdoc! {"_id": f64::NAN},
            rawdoc! {"_id": bson::RawBson::Null},
            rawdoc! {"_id": [7]},
        ] {
            assert_eq!(by_id(&filter, &collection), None, "{filter:?}");
        }
    }

    fn indexed(specs: &[RawDocumentBuf], documents: &[RawDocumentBuf]) -> Collection {
        let mut collection = collection(documents);
        for spec in specs {
            let index = Index::new(Spec::parse(spec, None, false).unwrap().into());
            let index = collection.build(index).unwrap();
            collection.indexes.push(index);
        }
        collection
    }

    #[test]
    fn one_index_of_one_field_is_enough() {
        let documents = [
            rawdoc! {"_id": 1, "a": 7},
            rawdoc! {"_id": 2, "a": [7, 8, 7]},
            rawdoc! {"_id": 3, "a": "7"},
            rawdoc! {"_id": 4, "a": 7.0, "b": 1},
            rawdoc! {"_id": 5},
        ];
        let up = rawdoc! {"key": {"a": 1}, "name": "a_1"};
        let down = rawdoc! {"key": {"a": -1}, "name": "a_-1"};
        let found = |specs: &[RawDocumentBuf], filter: RawDocumentBuf, most| {
            by_index(&filter, &indexed(specs, &documents), most).map(|found| found.to_vec())
        };
        for index in [up.clone(), down.clone()] {
            let index = &[index];
            assert_eq!(found(index, rawdoc! {"a": 7}, 3), Some(vec![1, 2, 4]));
            assert_eq!(found(index, rawdoc! {"a": 7}, 2), None);
            assert_eq!(found(index, rawdoc! {"a": "7"}, 3), Some(vec![3]));
            assert_eq!(found(index, rawdoc! {"a": 9}, 3), Some(vec![]));
            for planned in [
                rawdoc! {"b": 1},
                rawdoc! {"a": bson::RawBson::Null},
                rawdoc! {"a": [7]},
                rawdoc! {"a": {"$gt": 1}},
                rawdoc! {"a": 7, "b": 1},
                rawdoc! {"a.b": 7},
                rawdoc! {"_id": 1},
            ] {
                assert_eq!(found(index, planned.clone(), 3), None, "{planned:?}");
            }
        }
        let filter = rawdoc! {"a": 7};
        let compound = rawdoc! {"key": {"a": 1, "b": 1}, "name": "ab"};
        let beside = rawdoc! {"key": {"b": 1, "a": 1}, "name": "ba"};
        let hidden = rawdoc! {"key": {"a": 1}, "name": "hidden", "hidden": true};
        let wildcard = rawdoc! {"key": {"$**": 1}, "name": "all"};
        let partial = rawdoc! {
            "key": {"a": 1}, "name": "part", "partialFilterExpression": {"b": 1},
        };
        for specs in [
            vec![compound.clone()],
            vec![up.clone(), compound],
            vec![up.clone(), down],
            vec![up.clone(), wildcard],
            vec![partial],
            vec![hidden.clone()],
        ] {
            assert_eq!(found(&specs, filter.clone(), 3), None, "{specs:?}");
        }
        for specs in [vec![hidden, up.clone()], vec![beside, up]] {
            assert_eq!(found(&specs, filter.clone(), 3), Some(vec![1, 2, 4]));
        }
    }
}
