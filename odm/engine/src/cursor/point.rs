//! Shortcuts for simple queries: a filter with one equality, or one `$in`, on the field of a single-field index.
//!
//! Most reads and updates are of these kinds. Only one plan is possible, so the planner is skipped; the result is the
//! same.

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use odm_language::error::ServerError;
use odm_language::value::raw;
use smallvec::SmallVec;

use crate::catalog::collection::{Collection, Version};
use crate::cursor::registry::{Item, Results};
use crate::index::spec::Kind;
use crate::index::{Index, LocatedEntry, RecordId, append};

/// The result of a lookup by `_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The document's entry in the `_id` index.
    Record(LocatedEntry),
    /// No document has this `_id`.
    Nothing,
}

/// A field and the value that it must equal. The value's type has one key for all values that compare equal, and the
/// value is not an operator or a regular expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Equality<'a> {
    name: &'a [u8],
    value: RawBsonRef<'a>,
}

/// A filter that may be answered without a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direct<'a> {
    /// `{field: value}`
    Equality(Equality<'a>),
    /// `{field: {$in: [value, …]}}`
    In(In<'a>),
}

impl<'a> Direct<'a> {
    pub(crate) fn of(filter: &'a RawDocument) -> Option<Self> {
        let (name, value) = only(filter)?;
        let RawBsonRef::Document(operators) = value else {
            return Equality::checked(name, value).map(Self::Equality);
        };
        match only(operators)? {
            (b"$in", RawBsonRef::Array(values)) => Some(Self::In(In { name, values })),
            _ => None,
        }
    }
}

impl<'a> Equality<'a> {
    /// The equality that the filter consists of, if it compares the `_id`.
    pub(crate) fn of_id(filter: &'a RawDocument) -> Option<Self> {
        let (name, value) = only(filter)?;
        Self::checked(name, value).filter(Self::is_of_id)
    }

    /// The equality of the filter `{name: value}`.
    pub(crate) fn new(name: &'a str, value: RawBsonRef<'a>) -> Option<Self> {
        Self::checked(name.as_bytes(), value)
    }

    fn checked(name: &'a [u8], value: RawBsonRef<'a>) -> Option<Self> {
        let is_field = !name.is_empty() && !name.starts_with(b"$");
        (is_field && is_plain(value)).then_some(Self { name, value })
    }

    /// Whether the field is `_id`. Such a filter is always valid.
    pub(crate) fn is_of_id(&self) -> bool {
        self.name == b"_id"
    }

    /// The record that has this `_id`, under the simple collation; `None` if the filter needs to be planned.
    pub(crate) fn by_id(&self, collection: &Collection) -> Option<Found> {
        let (index, found) = self.find_id(collection)?;
        index.spec.uses.add();
        Some(found)
    }

    /// Like [`by_id`](Self::by_id), for a caller that holds the collection's writer lock.
    pub(crate) fn by_id_to_write(&self, collection: &Collection) -> Option<Found> {
        let (index, found) = self.find_id(collection)?;
        index.spec.uses.add_alone();
        Some(found)
    }

    #[inline]
    fn find_id<'c>(&self, collection: &'c Collection) -> Option<(&'c Index, Found)> {
        let index = collection.indexes.first()?;
        if !self.is_of_id() || !index.spec.is_id() || index.spec.collation.is_some() {
            return None;
        }
        let found = index.locate(self.key(index)?);
        Some((index, found.map_or(Found::Nothing, Found::Record)))
    }

    /// The matching records from the only index that begins with the field, in record order, under the simple
    /// collation. `None` if the filter needs to be planned, or if there are more than `most`.
    pub(crate) fn by_index(
        &self,
        collection: &Collection,
        most: usize,
    ) -> Option<SmallVec<[RecordId; 4]>> {
        if self.is_of_id() {
            return None;
        }
        let index = only_index(self.name, collection)?;
        let mut records = SmallVec::new();
        let mut fits = true;
        index.each_record_of(&self.key(index)?, &mut |record| {
            fits = records.len() < most;
            if fits {
                records.push(record);
            }
            fits
        });
        if !fits {
            return None;
        }
        index.spec.uses.add();
        Some(records)
    }

    /// The value's key in a single-field index.
    fn key(&self, index: &Index) -> Option<Vec<u8>> {
        let spec = &index.spec;
        // With spare capacity for a record id and the rest of an index entry.
        let mut bytes = Vec::with_capacity(48);
        append(&mut bytes, Some(self.value), spec.parts.first()?, spec);
        Some(bytes)
    }
}

/// A field and the values that it may equal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct In<'a> {
    name: &'a [u8],
    values: &'a RawArray,
}

/// The documents whose field is one of several values, in the order of the index.
#[derive(Debug)]
pub(crate) struct Listed {
    collection: Version,
    records: std::vec::IntoIter<RecordId>,
    /// How many documents the limit still allows.
    left: Option<u64>,
}

impl In<'_> {
    /// The matching documents from the only index that begins with the field, under the simple collation. `None` if the
    /// filter needs to be planned.
    pub(crate) fn by_index(&self, collection: &Version, limit: Option<u64>) -> Option<Listed> {
        let values = self.values;
        let index = only_index(self.name, collection)?;
        // A record could match several of the values.
        if index.multikey() {
            return None;
        }
        let spec = &*index.spec;
        let part = spec.parts.first()?;
        let mut bytes = Vec::with_capacity(values.as_bytes().len());
        let mut keys = Vec::with_capacity(values.as_bytes().len() / 8);
        for element in raw::walk_array(values) {
            let value = element.value().filter(|value| is_plain(*value))?;
            let start = bytes.len();
            append(&mut bytes, Some(value), part, spec);
            keys.push(start..bytes.len());
        }
        let mut keys: Vec<&[u8]> = keys
            .into_iter()
            .filter_map(|place| bytes.get(place))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        // A single value is an equality, whose end is known without another read.
        if keys.len() == 1 {
            return None;
        }
        let mut records = Vec::with_capacity(keys.len());
        for key in keys {
            index.each_record_of(key, &mut |record| {
                records.push(record);
                true
            });
        }
        spec.uses.add();
        Some(Listed {
            collection: Version::clone(collection),
            records: records.into_iter(),
            left: limit,
        })
    }
}

impl Results for Listed {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let record = self.records.next()?;
        let stored = self.collection.stored(record)?;
        Some(Ok(Item::Stored(stored.keep())))
    }

    /// As with a plan, the end is only known after looking for one more record.
    fn is_at_end(&self) -> bool {
        self.left == Some(0)
    }
}

/// The only index that a plan for the field could use, if it is a plain single-field index. Dotted paths are left to
/// the planner.
fn only_index<'c>(name: &[u8], collection: &'c Collection) -> Option<&'c Index> {
    if name.contains(&b'.') {
        return None;
    }
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

/// The name and the value of a document of one element.
fn only(document: &RawDocument) -> Option<(&[u8], RawBsonRef<'_>)> {
    let mut elements = raw::walk(document);
    let only = elements.next()?;
    if elements.next().is_some() {
        return None;
    }
    Some((only.key_bytes(), only.value()?))
}

/// Whether a value's type has one key for all values that compare equal, and the value is not a regular expression.
fn is_plain(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Double(value) => !value.is_nan(),
        RawBsonRef::String(_)
        | RawBsonRef::Binary(_)
        | RawBsonRef::ObjectId(_)
        | RawBsonRef::Boolean(_)
        | RawBsonRef::DateTime(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bson::{RawDocumentBuf, rawdoc};

    use super::{Direct, Equality, Found, Listed};
    use crate::catalog::collection::{Collection, Version, document};
    use crate::catalog::namespace::Namespace;
    use crate::catalog::options::Options;
    use crate::cursor::query::{Deadline, Query, QueryOutput};
    use crate::cursor::registry::Results;
    use crate::index::Index;
    use crate::index::spec::Spec;
    use odm_language::expression::Globals;

    fn collection(ids: &[RawDocumentBuf]) -> Collection {
        let index = Index::new(Arc::new(Spec::id(None)));
        let namespace = Namespace::new("test", "c");
        let mut collection = Collection::new(namespace, [0; 16], Options::none(), vec![index]);
        for document in ids {
            let record = collection.shared.next_record();
            let change = collection.change(record, None, Some(document)).unwrap();
            collection.apply(&change, Some(document.as_bytes()));
        }
        collection
    }

    fn equality(filter: &RawDocumentBuf) -> Option<Equality<'_>> {
        match Direct::of(filter)? {
            Direct::Equality(equality) => Some(equality),
            Direct::In(_) => None,
        }
    }

    fn by_id(filter: &RawDocumentBuf, collection: &Collection) -> Option<Found> {
        let found = equality(filter)?.by_id(collection);
        assert_eq!(Equality::of_id(filter).is_some(), found.is_some());
        found
    }

    fn listed(filter: &RawDocumentBuf, collection: &Version, limit: Option<u64>) -> Option<Listed> {
        match Direct::of(filter)? {
            Direct::In(one_of) => one_of.by_index(collection, limit),
            Direct::Equality(_) => None,
        }
    }

    #[test]
    fn point_lookups_find_numbers_of_any_type() {
        let collection = collection(&[rawdoc! {"_id": 7}, rawdoc! {"_id": "7"}]);
        for filter in [
            rawdoc! {"_id": 7},
            rawdoc! {"_id": 7_i64},
            rawdoc! {"_id": 7.0},
        ] {
            let found = by_id(&filter, &collection);
            assert!(matches!(found, Some(Found::Record(it)) if it.record == 1));
        }
        let found = by_id(&rawdoc! {"_id": "7"}, &collection);
        assert!(matches!(found, Some(Found::Record(it)) if it.record == 2));
        assert_eq!(
            by_id(&rawdoc! {"_id": 7.5}, &collection),
            Some(Found::Nothing)
        );
    }

    #[test]
    fn other_queries_use_the_planner() {
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
            let index = Index::new(Spec::parse(spec).unwrap().into());
            let index = collection.build(index).unwrap();
            collection.indexes.push(index);
        }
        collection
    }

    #[test]
    fn point_lookups_use_single_field_indexes() {
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
            let found = equality(&filter)?.by_index(&indexed(specs, &documents), most)?;
            Some(found.to_vec())
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
    /// The ids that the planner's plan finds.
    fn planned(filter: &RawDocumentBuf, collection: &Version, limit: u64) -> Vec<i64> {
        let query = Query {
            filter: Some(filter),
            sort: None,
            hint: None,
            skip: 0,
            limit: Some(limit),
            globals: Globals::new(bson::DateTime::from_millis(0)),
            shape: QueryOutput::default(),
        };
        let prepared = query.prepare(Some(collection)).unwrap();
        let found = prepared.run(Version::clone(collection), Deadline::none());
        let id = |bytes: &[u8]| document(bytes).unwrap().get_i32("_id").unwrap().into();
        found.unwrap().map(|row| id(&row.unwrap().1)).collect()
    }

    #[test]
    fn in_lists_agree_with_the_planner() {
        let documents = [
            rawdoc! {"_id": 1, "a": 7},
            rawdoc! {"_id": 2, "a": 3},
            rawdoc! {"_id": 3, "a": "7"},
            rawdoc! {"_id": 4, "a": 7.0, "b": 1},
            rawdoc! {"_id": 5},
        ];
        let up = rawdoc! {"key": {"a": 1}, "name": "a_1"};
        let down = rawdoc! {"key": {"a": -1}, "name": "a_-1"};
        for index in [up, down] {
            let collection = Version::new(indexed(&[index], &documents));
            for filter in [
                rawdoc! {"a": {"$in": [7, 3, 7.0, "7", "x"]}},
                rawdoc! {"a": {"$in": []}},
                rawdoc! {"a": {"$in": [true, 3_i64]}},
                rawdoc! {"_id": {"$in": [5, 4, 1, 9, 4]}},
            ] {
                for limit in [1, 2, 10] {
                    let mut results = listed(&filter, &collection, Some(limit)).unwrap();
                    let listed: Vec<i64> = std::iter::from_fn(|| results.next())
                        .map(|item| item.unwrap().document().get_i32("_id").unwrap().into())
                        .collect();
                    assert_eq!(listed, planned(&filter, &collection, limit), "{filter:?}");
                }
            }
            for filter in [
                rawdoc! {"a": {"$in": [7]}},
                rawdoc! {"a": {"$in": [7, 7.0]}},
                rawdoc! {"a": {"$in": [7, bson::RawBson::Null]}},
                rawdoc! {"a": {"$in": [7, f64::NAN]}},
                rawdoc! {"a": {"$in": [7, [3]]}},
                rawdoc! {"a": {"$in": [7, 3], "$gt": 3}},
                rawdoc! {"a": {"$nin": [7, 3]}},
                rawdoc! {"b": {"$in": [7, 3]}},
                rawdoc! {"a.b": {"$in": [7, 3]}},
                rawdoc! {"a": {"$in": [7, 3]}, "b": 1},
            ] {
                assert!(listed(&filter, &collection, None).is_none(), "{filter:?}");
            }
        }
        let many = [rawdoc! {"_id": 1, "a": [7, 3]}];
        let collection = indexed(&[rawdoc! {"key": {"a": 1}, "name": "a_1"}], &many);
        let filter = rawdoc! {"a": {"$in": [7, 3]}};
        assert!(listed(&filter, &Version::new(collection), None).is_none());
    }
}
