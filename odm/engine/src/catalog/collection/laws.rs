//! Property test: an index maintained through updates has the same entries as a rebuilt one.

use std::ops::Bound;

use bson::raw::CString;
use bson::{RawBson, RawDocumentBuf, rawdoc};
use odm_language::value::key::Direction;
use proptest::prelude::*;

use super::{Collection, document};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::index::spec::Spec;
use crate::index::{Entry, Index};

fn specs() -> Vec<RawDocumentBuf> {
    vec![
        rawdoc! {"key": {"a": 1}, "name": "plain"},
        rawdoc! {"key": {"a.b": 1, "n": -1}, "name": "compound", "sparse": true},
        rawdoc! {"key": {"n": 1}, "name": "partial", "partialFilterExpression": {"a.b": {"$gt": 0}}},
        rawdoc! {
            "key": {"$**": 1}, "name": "partial_all",
            "partialFilterExpression": {"$or": [{"n": 1}, {"$and": [{"t": "cats run"}]}]},
        },
        rawdoc! {"key": {"$**": 1}, "name": "all"},
        rawdoc! {"key": {"a.$**": 1}, "name": "below"},
        rawdoc! {"key": {"$**": 1}, "name": "some", "wildcardProjection": {"a.b": 1, "t": 1}},
        rawdoc! {"key": {"$**": 1}, "name": "rest", "wildcardProjection": {"a.b": 0, "t": 0}},
        rawdoc! {"key": {"$**": 1}, "name": "alike", "collation": {"locale": "en", "strength": 2}},
        rawdoc! {"key": {"t": "text", "a.b": "text"}, "name": "words", "weights": {"t": 2, "a.b": 3}},
        rawdoc! {"key": {"n": 1, "t": "text"}, "name": "after", "weights": {"t": 1}},
        rawdoc! {
            "key": {"t": "text"}, "name": "t_text", "weights": {"t": 1}, "language_override": "n",
            "partialFilterExpression": {"a": {"$exists": true}},
        },
        rawdoc! {"key": {"$**": "text"}, "name": "all_words"},
    ]
}

fn value() -> impl Strategy<Value = RawBson> {
    let scalar = prop_oneof![
        (0_i32..3).prop_map(RawBson::Int32),
        prop::sample::select(vec!["cats run", "a cat", "french", "none", ""])
            .prop_map(|text| RawBson::String(text.to_owned())),
        Just(RawBson::Null),
    ];
    scalar.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|values| {
                let mut array = bson::RawArrayBuf::new();
                for value in values {
                    array.push(value);
                }
                RawBson::Array(array)
            }),
            fields(inner, 3).prop_map(|fields| RawBson::Document(raw(&fields))),
        ]
    })
}

type Fields = Vec<(&'static str, RawBson)>;

fn fields(
    value: impl Strategy<Value = RawBson> + 'static,
    most: usize,
) -> impl Strategy<Value = Fields> {
    let name = prop::sample::select(vec!["a", "b", "t", "n", "c", "language", "a.b", ""]);
    prop::collection::vec((name, value), 0..most)
}

fn raw(fields: &Fields) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    for (name, value) in fields {
        document.append(CString::try_from(*name).unwrap(), value.clone());
    }
    document
}

/// One edit of a document's fields.
#[derive(Debug, Clone)]
enum Edit {
    Put(usize, RawBson),
    Add(usize, &'static str, RawBson),
    Remove(usize),
    Swap(usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = prop::sample::select(vec!["a", "b", "t", "n", "c", "language", "a.b", ""]);
    prop_oneof![
        4 => (0_usize..6, value()).prop_map(|(at, value)| Edit::Put(at, value)),
        2 => (0_usize..6, name, value()).prop_map(|(at, name, value)| Edit::Add(at, name, value)),
        1 => (0_usize..6).prop_map(Edit::Remove),
        1 => (0_usize..6, 0_usize..6).prop_map(|(one, other)| Edit::Swap(one, other)),
    ]
}

fn edited(fields: &Fields, edits: &[Edit]) -> Fields {
    let mut fields = fields.clone();
    for edit in edits {
        let count = fields.len();
        match edit {
            Edit::Put(at, value) if *at < count => fields[*at].1 = value.clone(),
            Edit::Add(at, name, value) => fields.insert((*at).min(count), (*name, value.clone())),
            Edit::Remove(at) if *at < count => {
                fields.remove(*at);
            }
            Edit::Swap(one, other) if *one < count && *other < count => fields.swap(*one, *other),
            _ => {}
        }
    }
    fields
}

fn entries(index: &Index) -> Vec<Entry> {
    index.range(
        Bound::Unbounded,
        Bound::Unbounded,
        Direction::Ascending,
        usize::MAX,
    )
}

fn cases() -> u32 {
    let asked = std::env::var("ODM_LAWS").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn maintained_indexes_equal_rebuilt_indexes(
        fields in fields(value(), 7),
        edits in prop::collection::vec(prop::collection::vec(edit(), 1..3), 1..4),
    ) {
        for spec in specs() {
            let spec = std::sync::Arc::new(Spec::parse(&spec).unwrap());
            let namespace = Namespace::new("test", "c");
            let index = Index::new(spec.clone());
            let mut collection = Collection::new(namespace, [0; 16], Options::none(), vec![index]);
            let record = collection.shared.next_record();
            let mut fields = fields.clone();
            let first = raw(&fields);
            // Some values have no keys in some indexes.
            let Ok(change) = collection.change(record, None, Some(&first)) else {
                continue;
            };
            collection.apply(&change, Some(first.as_bytes()));
            for edits in &edits {
                let next = edited(&fields, edits);
                let after = raw(&next);
                let mut change = super::EntryChanges::nothing(record);
                let before = collection.get(record).and_then(document);
                if collection.complete(&mut change, 0, before, Some(&after)).is_err() {
                    continue;
                }
                collection.apply(&change, Some(after.as_bytes()));
                fields = next;
                let built = collection.build(Index::new(spec.clone())).unwrap();
                prop_assert_eq!(
                    entries(&collection.indexes[0]), entries(&built), "{} {:?}", spec.name, after
                );
            }
        }
    }
}
