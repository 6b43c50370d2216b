//! With an index or without: the same answer.

use bson::{Bson, Document, doc};
use proptest::prelude::*;

use super::run;
use crate::engine::{Context, Engine};

fn scalar() -> impl Strategy<Value = Bson> {
    prop_oneof![
        (-3_i32..4).prop_map(Bson::Int32),
        (-3_i64..4).prop_map(Bson::Int64),
        prop_oneof![Just(0.5), Just(1.0), Just(f64::NAN), Just(f64::INFINITY)]
            .prop_map(Bson::Double),
        prop_oneof![Just("a"), Just("ab"), Just("b"), Just("")].prop_map(Bson::from),
        Just(Bson::Null),
        any::<bool>().prop_map(Bson::Boolean),
        (0_i64..3).prop_map(|millis| Bson::DateTime(bson::DateTime::from_millis(millis))),
    ]
}

fn value() -> impl Strategy<Value = Bson> {
    let element = prop_oneof![
        4 => scalar(),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "c": value })),
    ];
    prop_oneof![
        4 => scalar(),
        1 => proptest::collection::vec(element, 0..3).prop_map(Bson::Array),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "c": value })),
    ]
}

fn document() -> impl Strategy<Value = Document> {
    (
        proptest::option::of(value()),
        proptest::option::of(scalar()),
        proptest::option::of(scalar()),
    )
        .prop_map(|(a, b, c)| {
            let mut document = Document::new();
            for (name, value) in [("a", a), ("b", b), ("d", c)] {
                if let Some(value) = value {
                    document.insert(name, value);
                }
            }
            document
        })
}

fn condition() -> impl Strategy<Value = Bson> {
    let operator = prop_oneof![
        Just("$gt"),
        Just("$gte"),
        Just("$lt"),
        Just("$lte"),
        Just("$eq"),
        Just("$ne")
    ];
    prop_oneof![
        3 => value(),
        4 => (operator, scalar()).prop_map(|(operator, value)| Bson::Document(doc! { operator: value })),
        2 => (scalar(), scalar()).prop_map(|(low, high)| Bson::Document(doc! { "$gte": low, "$lt": high })),
        2 => proptest::collection::vec(scalar(), 0..3).prop_map(|values| Bson::Document(doc! { "$in": values })),
        1 => any::<bool>().prop_map(|exists| Bson::Document(doc! { "$exists": exists })),
        1 => Just(Bson::Document(doc! { "$regex": "^a" })),
        1 => (scalar(), scalar()).prop_map(|(low, high)| {
            Bson::Document(doc! { "$elemMatch": { "$gte": low, "$lte": high } })
        }),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "$elemMatch": { "c": value } })),
    ]
}

fn filter() -> impl Strategy<Value = Document> {
    let path = prop_oneof![3 => Just("a"), 2 => Just("b"), 1 => Just("a.c"), 1 => Just("d")];
    proptest::collection::vec((path, condition()), 1..3).prop_map(|conditions| {
        let clauses: Vec<Bson> = conditions
            .into_iter()
            .map(|(path, condition)| Bson::Document(doc! { path: condition }))
            .collect();
        doc! { "$and": clauses }
    })
}

fn indexes() -> Vec<Document> {
    vec![
        doc! { "key": { "a": 1 }, "name": "a" },
        doc! { "key": { "a": -1, "b": 1 }, "name": "ab" },
        doc! { "key": { "b": 1, "a.c": -1 }, "name": "bac" },
        doc! { "key": { "a.c": 1 }, "name": "ac", "sparse": true },
        doc! { "key": { "b": -1 }, "name": "b", "sparse": true },
        doc! { "key": { "b": 1, "d": 1 }, "name": "p", "partialFilterExpression": { "b": { "$gt": 0 } } },
        doc! { "key": { "d": 1 }, "name": "e", "partialFilterExpression": { "b": { "$exists": true } } },
        doc! { "key": { "b": "hashed" }, "name": "h" },
        doc! { "key": { "a": 1 }, "name": "f", "partialFilterExpression": { "a": { "$eq": [1] } } },
        doc! { "key": { "d": 1 }, "name": "g", "partialFilterExpression": { "a": { "$lte": 1 }, "b": { "$type": "int" } } },
    ]
}

fn ids(reply: &Document) -> Vec<i32> {
    let batch = reply
        .get_document("cursor")
        .unwrap_or_else(|_| panic!("{reply}"))
        .get_array("firstBatch")
        .unwrap();
    batch
        .iter()
        .map(|row| row.as_document().unwrap().get_i32("_id").unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_index_changes_no_answer(
        documents in proptest::collection::vec(document(), 1..12),
        filter in filter(),
        index in 0..10_usize,
        order in prop_oneof![Just("a"), Just("b"), Just("d")],
        direction in prop_oneof![Just(1), Just(-1)],
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        let index = &indexes()[index];
        let documents: Vec<Bson> = documents
            .into_iter()
            .zip(0_i32..)
            .map(|(mut document, id)| {
                document.insert("_id", id);
                Bson::Document(document)
            })
            .collect();
        run(doc! { "insert": "plain", "documents": documents.clone() });
        run(doc! { "createIndexes": "indexed", "indexes": [index.clone()] });
        run(doc! { "insert": "indexed", "documents": documents });
        let find = |collection: &str| doc! { "find": collection, "filter": filter.clone() };
        let plain = ids(&run(find("plain")));
        let mut indexed = ids(&run(find("indexed")));
        indexed.sort_unstable();
        prop_assert_eq!(&plain, &indexed);

        // With `_id` behind it an order has no ties, so it is one sequence.
        let sorted = |collection: &str| {
            let mut find = find(collection);
            find.insert("sort", doc! { order: direction, "_id": 1 });
            ids(&run(find))
        };
        prop_assert_eq!(sorted("plain"), sorted("indexed"));
        // By the indexed field alone, ties keep no order; the keys of the rows do.
        let alone = |collection: &str| {
            let mut find = find(collection);
            find.insert("sort", doc! { order: direction });
            ids(&run(find))
        };
        let rank = |ids: Vec<i32>| {
            let sorted: Vec<i32> = ids.clone();
            sorted.into_iter().map(|id| {
                // How many rows sort strictly before this one tells its place among equals.
                let row = run(doc! { "find": "plain", "filter": { "_id": id } });
                let row = row.get_document("cursor").unwrap().get_array("firstBatch").unwrap()[0].clone();
                row.as_document().unwrap().get(order).cloned()
            }).collect::<Vec<_>>()
        };
        let (one, other) = (rank(alone("plain")), rank(alone("indexed")));
        for (one, other) in one.iter().zip(&other) {
            if let (Some(Bson::Int32(one)), Some(Bson::Int32(other))) = (one, other) {
                prop_assert_eq!(one, other);
            }
        }
    }
}
