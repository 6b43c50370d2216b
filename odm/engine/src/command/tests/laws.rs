//! Property tests: queries give the same answer with and without an index.

use bson::{Bson, Document, doc};
use proptest::prelude::*;

use super::run;
use crate::Context;
use crate::command::state::Engine;

mod lookups;
mod places;
mod transactions;
mod words;

fn scalar() -> BoxedStrategy<Bson> {
    prop_oneof![
        (-3_i32..4).prop_map(Bson::Int32),
        (-3_i64..4).prop_map(Bson::Int64),
        prop_oneof![Just(0.5), Just(1.0), Just(f64::NAN), Just(f64::INFINITY)]
            .prop_map(Bson::Double),
        prop_oneof![Just("a"), Just("ab"), Just("b"), Just("")].prop_map(Bson::from),
        Just(Bson::Null),
        any::<bool>().prop_map(Bson::Boolean),
        prop_oneof![Just(Bson::MinKey), Just(Bson::MaxKey)],
        (0_i64..3).prop_map(|millis| Bson::DateTime(bson::DateTime::from_millis(millis))),
    ]
    .boxed()
}

/// Rare values.
fn odd() -> impl Strategy<Value = Bson> {
    prop_oneof![
        prop_oneof![
            Just("-1"),
            Just("0"),
            Just("0.5"),
            Just("NaN"),
            Just("-Infinity")
        ]
        .prop_map(|text| Bson::Decimal128(text.parse().unwrap())),
        Just(Bson::Double(-0.0)),
        Just(Bson::Double(f64::NEG_INFINITY)),
        (0_u32..2).prop_map(|increment| Bson::Timestamp(bson::Timestamp { time: 1, increment })),
        (0_u8..2).prop_map(|byte| Bson::ObjectId(bson::oid::ObjectId::from_bytes([byte; 12]))),
        (0_u8..2).prop_map(|byte| {
            let subtype = bson::spec::BinarySubtype::Generic;
            Bson::Binary(bson::Binary {
                subtype,
                bytes: vec![byte],
            })
        }),
        prop_oneof![Just("^a"), Just("b")].prop_map(pattern),
        Just(Bson::JavaScriptCode("b".to_owned())),
        Just(Bson::Symbol("b".to_owned())),
        Just(Bson::Document(doc! {})),
        Just(Bson::Document(doc! { "c": 1, "e": 2 })),
    ]
}

fn pattern(pattern: &str) -> Bson {
    let (pattern, options) = (pattern.try_into().unwrap(), "".try_into().unwrap());
    Bson::RegularExpression(bson::Regex { pattern, options })
}

fn value() -> BoxedStrategy<Bson> {
    let element = prop_oneof![
        4 => scalar(),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "c": value })),
        1 => proptest::collection::vec(scalar(), 0..3).prop_map(Bson::Array),
    ];
    let array = proptest::collection::vec(element, 0..3).prop_map(Bson::Array);
    prop_oneof![
        4 => scalar(),
        1 => odd(),
        1 => array.clone(),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "c": value })),
        1 => prop_oneof![
            array.prop_map(|array| Bson::Document(doc! { "c": array })),
            scalar().prop_map(|value| Bson::from(vec![Bson::from(vec![value])])),
        ],
    ]
    .boxed()
}

/// A value without arrays: an index of such values is not multikey, and more plans use its keys.
fn flat() -> BoxedStrategy<Bson> {
    prop_oneof![
        4 => scalar(),
        1 => odd(),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "c": value })),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "0": value })),
    ]
    .boxed()
}

fn documents() -> BoxedStrategy<Vec<Document>> {
    prop_oneof![
        proptest::collection::vec(document(value()), 1..16),
        proptest::collection::vec(document(flat()), 1..16),
    ]
    .boxed()
}

fn document(value: BoxedStrategy<Bson>) -> BoxedStrategy<Document> {
    (
        proptest::option::of(value),
        proptest::option::of(prop_oneof![5 => scalar(), 1 => odd()]),
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
        .boxed()
}

fn condition() -> BoxedStrategy<Bson> {
    let operator = prop_oneof![
        Just("$gt"),
        Just("$gte"),
        Just("$lt"),
        Just("$lte"),
        Just("$eq"),
        Just("$ne")
    ];
    let member = prop_oneof![4 => value(), 1 => prop_oneof![Just("^a"), Just("b"), Just("^ab")].prop_map(pattern)];
    let members = proptest::collection::vec(member, 0..4);
    let list = prop_oneof![2 => Just("$in"), 1 => Just("$nin")];
    prop_oneof![
        // a pattern without an operator matches strings
        3 => value().prop_filter("a pattern finds strings", |value| !matches!(value, Bson::RegularExpression(_))),
        4 => (operator, prop_oneof![6 => scalar(), 1 => Just(Bson::MinKey), 1 => Just(Bson::MaxKey)]).prop_map(|(operator, value)| Bson::Document(doc! { operator: value })),
        2 => (Just("$ne"), flat()).prop_map(|(operator, value)| Bson::Document(doc! { operator: value })),
        2 => (prop_oneof![Just("$gt"), Just("$gte"), Just("$lt"), Just("$lte"), Just("$eq")], value())
            .prop_map(|(operator, value)| Bson::Document(doc! { operator: value })),
        2 => (scalar(), scalar()).prop_map(|(low, high)| Bson::Document(doc! { "$gte": low, "$lt": high })),
        2 => (list, members).prop_map(|(list, values)| Bson::Document(doc! { list: values })),
        1 => any::<bool>().prop_map(|exists| Bson::Document(doc! { "$exists": exists })),
        1 => Just(Bson::Document(doc! { "$regex": "^a" })),
        1 => (scalar(), scalar()).prop_map(|(low, high)| {
            Bson::Document(doc! { "$elemMatch": { "$gte": low, "$lte": high } })
        }),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "$elemMatch": { "c": value } })),
    ].boxed()
}

fn clause() -> BoxedStrategy<Document> {
    let path = prop_oneof![
        6 => Just("a"), 4 => Just("b"), 2 => Just("a.c"), 2 => Just("d"), 2 => Just("a.0"), 1 => Just("a.1.c"),
    ];
    let test = prop_oneof![
        6 => condition(),
        2 => condition().prop_map(|condition| match condition {
            Bson::Document(operators) if operators.keys().all(|name| name.starts_with('$')) && !operators.is_empty() => {
                Bson::Document(doc! { "$not": operators })
            }
            value => Bson::Document(doc! { "$not": { "$eq": value } }),
        }),
        1 => proptest::collection::vec(scalar(), 0..3)
            .prop_map(|values| Bson::Document(doc! { "$nin": values })),
        1 => scalar().prop_map(|value| Bson::Document(doc! { "$not": { "$gt": value } })),
        1 => prop_oneof![Just("string"), Just("number"), Just("int"), Just("object"), Just("array"), Just("null")]
            .prop_map(|name| Bson::Document(doc! { "$type": name })),
        1 => Just(Bson::Document(doc! { "$mod": [2, 1] })),
        1 => prop_oneof![Just("b"), Just("^a.*"), Just("^ab")]
            .prop_map(|pattern| Bson::Document(doc! { "$regex": pattern })),
        1 => proptest::collection::vec(value(), 0..3)
            .prop_map(|values| Bson::Document(doc! { "$all": values })),
        1 => (scalar(), scalar()).prop_map(|(low, other)| {
            Bson::Document(doc! { "$elemMatch": { "c": { "$gte": low, "$ne": other } } })
        }),
    ];
    (path, test)
        .prop_map(|(path, test)| doc! { path: test })
        .boxed()
}

/// A comparison in `$expr`, which may bound an index.
fn compared() -> BoxedStrategy<Document> {
    let operator = prop_oneof![
        Just("$eq"),
        Just("$gt"),
        Just("$gte"),
        Just("$lt"),
        Just("$lte")
    ];
    let one = (
        operator,
        prop_oneof![Just("$a"), Just("$b"), Just("$a.c"), Just("$d")],
        prop_oneof![4 => value(), 1 => Just(Bson::MinKey), 1 => Just(Bson::MaxKey)],
        any::<bool>(),
    )
        .prop_map(|(operator, field, value, turned)| {
            let mut sides = vec![Bson::from(field), Bson::from(doc! { "$literal": value })];
            if turned {
                sides.reverse();
            }
            doc! { operator: sides }
        });
    let several = (
        prop_oneof![2 => Just("$and"), 1 => Just("$or")],
        proptest::collection::vec(one.clone(), 1..3),
    )
        .prop_map(|(operator, parts)| doc! { operator: parts });
    prop_oneof![2 => one, 1 => several]
        .prop_map(|condition| doc! { "$expr": condition })
        .boxed()
}

fn filter() -> BoxedStrategy<Document> {
    let clause = || prop_oneof![5 => clause(), 1 => compared()];
    let all =
        move || proptest::collection::vec(clause(), 1..3).prop_map(|all| doc! { "$and": all });
    let any = || proptest::collection::vec(all(), 1..4);
    prop_oneof![
        1 => Just(doc! {}),
        5 => all(),
        2 => any().prop_map(|any| doc! { "$or": any }),
        2 => (clause(), any()).prop_map(|(clause, any)| doc! { "$and": [clause, { "$or": any }] }),
        1 => (clause(), any()).prop_map(|(clause, any)| doc! { "$and": [clause, { "$nor": any }] }),
    ]
    .boxed()
}

fn key() -> impl Strategy<Value = Document> {
    let field = prop_oneof![
        4 => Just("a"), 3 => Just("b"), 2 => Just("a.c"), 2 => Just("d"), 2 => Just("_id"), 2 => Just("a.0"),
        1 => Just("a.1.c"),
    ];
    let direction = prop_oneof![4 => Just(Bson::from(1)), 3 => Just(Bson::from(-1)), 1 => Just(Bson::from("hashed"))];
    proptest::collection::vec((field, direction), 1..4).prop_map(|fields| {
        let mut key = Document::new();
        for (field, direction) in fields {
            let again = matches!(direction, Bson::String(_))
                && key.values().any(|value| value == &direction);
            key.entry(field.to_owned())
                .or_insert(if again { Bson::from(1) } else { direction });
        }
        key
    })
}

fn index() -> BoxedStrategy<Document> {
    let plain = (
        key(),
        proptest::bool::weighted(0.2),
        proptest::option::weighted(
            0.2,
            prop_oneof![
                Just(doc! { "b": { "$gt": 0 } }),
                Just(doc! { "b": { "$exists": true } }),
                Just(doc! { "a": { "$eq": [1] } }),
                Just(doc! { "a": { "$lte": 1 }, "b": { "$type": "int" } }),
                Just(doc! { "a": { "$in": ["a", 1] } }),
            ],
        ),
        proptest::bool::weighted(0.2),
    )
        .prop_map(|(key, sparse, partial, collated)| {
            let mut index = doc! { "key": key };
            if let Some(partial) = partial {
                index.insert("partialFilterExpression", partial);
            } else if sparse {
                index.insert("sparse", true);
            }
            if collated {
                index.insert("collation", doc! { "locale": "en", "strength": 2 });
            }
            index
        });
    let wildcard = prop_oneof![
        2 => Just(doc! { "key": { "$**": 1 } }),
        1 => Just(doc! { "key": { "a.$**": 1 } }),
        1 => Just(doc! { "key": { "$**": 1 }, "wildcardProjection": { "a": 0 } }),
        1 => Just(doc! { "key": { "$**": 1 }, "wildcardProjection": { "a.c": 1, "b": 1, "_id": 1 } }),
        1 => Just(doc! { "key": { "$**": 1 }, "collation": { "locale": "en", "strength": 2 } }),
    ];
    prop_oneof![4 => plain, 1 => wildcard].boxed()
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

/// A result with null for missing fields: covered plans cannot distinguish them.
fn filled(row: &Bson) -> Document {
    let row = row.as_document().unwrap();
    ["_id", "a", "b", "d"]
        .into_iter()
        .map(|name| {
            (
                name.to_owned(),
                row.get(name).cloned().unwrap_or(Bson::Null),
            )
        })
        .collect()
}

fn rows(reply: &Document) -> Vec<Bson> {
    let cursor = reply
        .get_document("cursor")
        .unwrap_or_else(|_| panic!("{reply}"));
    cursor.get_array("firstBatch").unwrap().clone()
}

/// Whether an array is directly within another one.
fn has_nested(value: &Bson) -> bool {
    match value {
        Bson::Document(document) => document.values().any(has_nested),
        Bson::Array(items) => {
            items.iter().any(|item| matches!(item, Bson::Array(_))) || items.iter().any(has_nested)
        }
        _ => false,
    }
}

/// Whether the filter has a range of all values.
fn asks_for_all(filter: &Bson) -> bool {
    match filter {
        Bson::Document(filter) => filter.iter().any(|(name, value)| {
            matches!(
                (name.as_str(), value),
                ("$gte", Bson::MinKey) | ("$lte", Bson::MaxKey)
            ) || asks_for_all(value)
        }),
        Bson::Array(items) => items.iter().any(asks_for_all),
        _ => false,
    }
}

/// Whether it contains an empty array.
fn has_empty(value: &Bson) -> bool {
    match value {
        Bson::Document(document) => document.values().any(has_empty),
        Bson::Array(items) => items.is_empty() || items.iter().any(has_empty),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("ODM_LAWS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
    ))]

    #[test]
    fn indexes_do_not_change_answers(
        documents in documents(),
        filter in filter(),
        indexes in proptest::collection::vec(index(), 1..4),
        order in proptest::collection::vec(
            (prop_oneof![Just("a"), Just("b"), Just("d"), Just("a.c")], prop_oneof![Just(1), Just(-1)]), 1..3,
        ),
        (skip, limit) in (0..3_i32, 0..6_i32),
        collated in proptest::bool::weighted(0.2),
        kept in proptest::sample::subsequence(vec!["a", "b", "d"], 1..3),
        with_id in any::<bool>(),
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        let documents: Vec<Bson> = documents
            .into_iter()
            .zip(0_i32..)
            .map(|(mut document, id)| {
                document.insert("_id", id);
                Bson::Document(document)
            })
            .collect();
        // With an index, mongod and the engine also find paths that end in an empty array.
        if asks_for_all(&Bson::Document(filter.clone())) && documents.iter().any(has_empty) {
            return Ok(());
        }
        // With an index, `distinct` of mongod also returns the elements of nested arrays.
        let is_nested = documents.iter().any(has_nested);
        // A document that an index refuses stays out of both.
        for (at, mut index) in indexes.into_iter().enumerate() {
            index.insert("name", format!("i{at}"));
            run(doc! { "createIndexes": "indexed", "indexes": [index] });
        }
        for document in documents {
            let reply = run(doc! { "insert": "indexed", "documents": [document.clone()] });
            if reply.get("n") == Some(&Bson::Int32(1)) {
                run(doc! { "insert": "plain", "documents": [document] });
            }
        }
        let ask = |name: &str, collection: &str| {
            let mut command = doc! { name: collection };
            command.insert(if name == "find" { "filter" } else { "query" }, filter.clone());
            if collated {
                command.insert("collation", doc! { "locale": "en", "strength": 2 });
            }
            command
        };
        let find = |collection: &str| ask("find", collection);
        let plain = run(find("plain"));
        if plain.get("code").is_some() {
            return Ok(());
        }
        let mut indexed = ids(&run(find("indexed")));
        indexed.sort_unstable();
        prop_assert_eq!(&ids(&plain), &indexed);

        // With `_id` as the last field, a sort has no ties.
        let sorted = |collection: &str| {
            let mut find = find(collection);
            let mut sort: Document = order.iter().map(|(path, direction)| ((*path).to_owned(), Bson::from(*direction))).collect();
            sort.insert("_id", order[0].1);
            find.insert("sort", sort);
            find.insert("skip", skip);
            find.insert("limit", limit);
            run(find)
        };
        let (one, other) = (sorted("plain"), sorted("indexed"));
        if one.get("code").is_none() && other.get("code").is_none() {
            prop_assert_eq!(ids(&one), ids(&other));
        }

        let count = |collection: &str| {
            let mut count = ask("count", collection);
            count.insert("skip", skip);
            count.insert("limit", limit);
            run(count)
        };
        prop_assert_eq!(count("plain").get("n").cloned(), count("indexed").get("n").cloned());
        let distinct = |collection: &str| {
            let mut distinct = ask("distinct", collection);
            distinct.insert("key", order[0].0);
            // Keys do not distinguish missing from null, nor an empty array from undefined; mongod gives these answers.
            let values = run(distinct).get_array("values").unwrap().clone();
            let is_told = |value: &Bson| !matches!(value, Bson::Null | Bson::Undefined);
            values.into_iter().filter(is_told).count()
        };
        if !is_nested {
            prop_assert_eq!(distinct("plain"), distinct("indexed"));
        }

        let projected = |collection: &str| {
            let mut find = find(collection);
            let mut projection: Document = kept.iter().map(|name| ((*name).to_owned(), Bson::from(1))).collect();
            projection.insert("_id", i32::from(with_id));
            find.insert("projection", projection);
            let mut rows: Vec<String> = rows(&run(find)).iter().map(|row| filled(row).to_string()).collect();
            rows.sort_unstable();
            rows
        };
        prop_assert_eq!(projected("plain"), projected("indexed"));
        // A hinted index is also a plan if it holds every document; the explained plan must run as well.
        let explained = run(doc! { "explain": find("indexed"), "verbosity": "allPlansExecution" });
        prop_assert_eq!(
            explained.get_document("executionStats").unwrap().get_i32("nReturned").unwrap(),
            i32::try_from(indexed.len()).unwrap(),
        );
    }
}

/// As text, in which NaN is equal to itself.
fn shown(rows: &[Bson]) -> Vec<String> {
    rows.iter().map(Bson::to_string).collect()
}

/// A write that succeeds for every document, so that its result does not depend on their order.
fn write() -> BoxedStrategy<Document> {
    let path = || prop_oneof![3 => Just("a"), 2 => Just("b"), 1 => Just("d")];
    let to_arrays = |operator: &'static str, value: Bson| {
        let operators = doc! { operator: { "a": value } };
        doc! { "q": { "a": { "$type": "array" } }, "u": operators, "multi": true }
    };
    let update = prop_oneof![
        4 => (path(), value()).prop_map(|(path, value)| Bson::Document(doc! { "$set": { path: value } })),
        2 => path().prop_map(|path| Bson::Document(doc! { "$unset": { path: "" } })),
        1 => (path(), scalar()).prop_map(|(path, value)| Bson::Document(doc! { "$min": { path: value } })),
        1 => (path(), scalar()).prop_map(|(path, value)| Bson::Document(doc! { "$max": { path: value } })),
        1 => Just(Bson::Document(doc! { "$rename": { "b": "d" } })),
        1 => (path(), path()).prop_map(|(to, from)| Bson::from(vec![doc! { "$set": { to: format!("${from}") } }])),
        1 => value().prop_map(|value| Bson::from(vec![doc! { "$replaceWith": { "_id": "$_id", "a": { "$literal": value } } }])),
    ];
    prop_oneof![
        6 => (filter(), update).prop_map(|(filter, update)| doc! { "q": filter, "u": update, "multi": true }),
        1 => value().prop_map(move |value| to_arrays("$push", value)),
        1 => value().prop_map(move |value| to_arrays("$addToSet", value)),
        1 => scalar().prop_map(move |value| to_arrays("$pull", value)),
        1 => Just(to_arrays("$pop", Bson::from(1))),
        1 => (0..16_i32, document(value()))
            .prop_map(|(id, document)| doc! { "q": { "_id": id }, "u": document, "upsert": true }),
        1 => filter().prop_map(|filter| doc! { "q": filter, "limit": 0 }),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("ODM_LAWS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
    ))]

    #[test]
    fn index_entries_match_documents_after_writes(
        documents in documents(),
        indexes in proptest::collection::vec(index(), 1..4),
        writes in proptest::collection::vec(write(), 1..6),
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        let create = |collection: &str| {
            for (at, index) in indexes.iter().enumerate() {
                let mut index = index.clone();
                index.insert("name", format!("i{at}"));
                run(doc! { "createIndexes": collection, "indexes": [index] });
            }
        };
        create("written");
        for (mut document, id) in documents.into_iter().zip(0_i32..) {
            document.insert("_id", id);
            if run(doc! { "insert": "written", "documents": [document.clone()] }).get("n") == Some(&Bson::Int32(1)) {
                run(doc! { "insert": "plain", "documents": [document] });
            }
        }
        for write in writes {
            let (command, statements) = if write.contains_key("limit") {
                ("delete", "deletes")
            } else {
                ("update", "updates")
            };
            let ask = |collection: &str| run(doc! { command: collection, statements: [write.clone()] });
            // A document that an index refuses ends the write: its progress depends on the plan.
            let (written, plain) = (ask("written"), ask("plain"));
            if written.contains_key("writeErrors") || plain.contains_key("writeErrors") {
                return Ok(());
            }
            prop_assert_eq!((written.get("n"), written.get("nModified")), (plain.get("n"), plain.get("nModified")));
        }
        let all = |collection: &str| rows(&run(doc! { "find": collection, "sort": { "_id": 1 }, "batchSize": 1000 }));
        prop_assert_eq!(shown(&all("written")), shown(&all("plain")));
        run(doc! { "create": "fresh" });
        for document in all("written") {
            run(doc! { "insert": "fresh", "documents": [document] });
        }
        create("fresh");
        for at in 0..indexes.len() {
            let entries = |collection: &str| {
                let find = doc! { "find": collection, "hint": format!("i{at}"), "batchSize": 1000 };
                let explained = run(doc! { "explain": find.clone(), "verbosity": "executionStats" });
                let examined = explained.get_document("executionStats").ok()?.get("totalKeysExamined").cloned();
                // documents with equal keys are in the order of insertion
                let mut found = shown(&rows(&run(find)));
                found.sort_unstable();
                Some((examined, found))
            };
            prop_assert_eq!(entries("written"), entries("fresh"));
        }
    }
}

#[test]
fn wildcard_indexes_find_embedded_documents() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    run(doc! { "createIndexes": "a", "indexes": [{ "key": { "$**": 1 }, "name": "w" }] });
    run(
        doc! { "insert": "a", "documents": [{ "_id": 0, "a": { "c": 0 } }, { "_id": 1, "a": [{ "c": 0 }] }] },
    );
    for filter in [
        doc! { "a": { "$type": "object" } },
        doc! { "a": { "$type": ["object", "int"] } },
        doc! { "a": { "$elemMatch": { "$type": "object" } } },
    ] {
        let found = ids(&run(doc! { "find": "a", "filter": filter.clone() }));
        let expected: &[i32] = if filter.to_string().contains("elemMatch") {
            &[1]
        } else {
            &[0, 1]
        };
        assert_eq!(found, expected, "{filter}");
    }
}
