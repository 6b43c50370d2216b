//! The short way to one document: a filter that is an equality on `_id` and nothing else.
//!
//! Most reads and most updates are of this kind. No plan could differ, so none is made; the answer is the same.

use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::catalog::collection::Collection;
use crate::engine::index::RecordId;
use crate::value::{key, raw};

/// What the short way leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Record(RecordId),
    /// No document has this `_id`.
    Nothing,
}

/// The record that the filter finds under the simple collation; `None` where the filter needs to be planned.
pub(crate) fn find(filter: &RawDocument, collection: &Collection) -> Option<Found> {
    let mut elements = raw::walk(filter);
    let only = elements.next()?;
    if only.key_bytes() != b"_id" || elements.next().is_some() {
        return None;
    }
    let value = only.value()?;
    // Of these, exactly one key stands for what compares equal, and none is an operator or a pattern.
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
    let index = collection.indexes.first()?;
    if !plain || !index.spec.is_id() || index.spec.collation.is_some() {
        return None;
    }
    let record = index.first_of(&key::of(value, None));
    Some(record.map_or(Found::Nothing, Found::Record))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bson::{RawDocumentBuf, rawdoc};

    use super::{Found, find};
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
            let bytes = document.as_bytes().into();
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
            assert_eq!(find(&filter, &collection), Some(Found::Record(1)));
        }
        assert_eq!(
            find(&rawdoc! {"_id": "7"}, &collection),
            Some(Found::Record(2))
        );
        assert_eq!(
            find(&rawdoc! {"_id": 7.5}, &collection),
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
            assert_eq!(find(&filter, &collection), None, "{filter:?}");
        }
    }
}
