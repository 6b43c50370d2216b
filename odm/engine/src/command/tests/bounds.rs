//! Hostile commands need bounded time and memory, and are refused as by mongod.

use std::time::{Duration, Instant};

use bson::{Bson, Document, doc};

use super::run;
use crate::Context;
use crate::command::state::Engine;

/// The time limit of a test, in a build without optimisation on a busy machine; unbounded, they would take hours.
const LONG: Duration = Duration::from_secs(60);

/// Answered, refused as by mongod, or refused as too large for the engine's own compiler.
const ANY: &[Option<i32>] = &[None, Some(51091), Some(238)];

/// Runs a command against documents: the code it fails with, and the first document of its reply.
fn answer(engine: &Engine, command: &Document) -> (Option<i32>, Option<Document>) {
    let began = Instant::now();
    let reply = run(engine, &Context::system(), "x", command);
    let (name, _) = command.iter().next().unwrap();
    assert!(began.elapsed() < LONG, "{name} took {:?}", began.elapsed());
    let error = match reply.get_array("writeErrors") {
        Ok(errors) => errors[0].as_document().unwrap().clone(),
        Err(_) => reply.clone(),
    };
    let first = reply
        .get_document("cursor")
        .and_then(|cursor| cursor.get_array("firstBatch"))
        .ok()
        .and_then(|batch| batch.first()?.as_document().cloned());
    (error.get_i32("code").ok(), first)
}

fn code(engine: &Engine, command: &Document) -> Option<i32> {
    answer(engine, command).0
}

fn engine(documents: Vec<Document>) -> Engine {
    let engine = Engine::new();
    assert_eq!(
        code(&engine, &doc! { "insert": "c", "documents": documents }),
        None
    );
    engine
}

fn find(filter: Document) -> Document {
    doc! { "find": "c", "filter": filter }
}

fn aggregate(stages: Vec<Document>) -> Document {
    doc! { "aggregate": "c", "pipeline": stages, "cursor": {} }
}

fn project(expression: impl Into<Bson>) -> Document {
    aggregate(vec![doc! { "$project": { "x": expression.into() } }])
}

/// `initial` after that many applications of `{operator: [$$value, $$value]}`.
fn doubled(times: i32, operator: &str, initial: impl Into<Bson>) -> Document {
    doc! { "$reduce": {
        "input": { "$range": [0, times] },
        "initialValue": initial.into(),
        "in": { operator: ["$$value", "$$value"] },
    } }
}

#[test]
fn hostile_regular_expressions_give_up() {
    let engine = engine(vec![
        doc! { "_id": 1, "s": format!("{}b", "a".repeat(40)), "t": "\u{e9}".repeat(2_000) },
    ]);
    for pattern in [
        "(a+)+$",
        "^(a|a)*$",
        "(a|aa)+$",
        "(.*)*c",
        "(a*)*c",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?=(a+)+$)x",
        "^(?:(a+)+)+\\1$",
        "(?<=a)(a+)+\\bx",
        "(a{0,100}){0,100}c",
    ] {
        for field in ["s", "t"] {
            let filter = doc! { field: { "$regex": pattern } };
            let code = code(&engine, &find(filter));
            assert!(matches!(code, None | Some(51156)), "{pattern}: {code:?}");
        }
        let matched = project(doc! { "$regexMatch": { "input": "$s", "regex": pattern } });
        let code = code(&engine, &matched);
        assert!(matches!(code, None | Some(51156)), "{pattern}: {code:?}");
    }
}

#[test]
fn large_regular_expressions_are_compiled_or_refused() {
    let engine = engine(vec![doc! { "_id": 1, "s": "w17" }]);
    let words: Vec<String> = (0..4_000).map(|n| format!("w{n}")).collect();
    assert_eq!(
        code(&engine, &find(doc! { "s": { "$regex": words.join("|") } })),
        None
    );
    let nested = |times: usize| format!("{}a{}", "(".repeat(times), ")".repeat(times));
    for (pattern, expected) in [
        ("a{65536}".to_owned(), &[Some(51091)][..]),
        (nested(100_000), &[Some(51091)]),
        (nested(251), &[Some(51091)]),
        ("[".repeat(50_000), &[Some(51091)]),
        // mongod limits the size of compiled patterns, and refuses most of these.
        ("(((a{100}){100}){100})".to_owned(), ANY),
        ("((((a{65535}){65535}){65535}){65535})".to_owned(), ANY),
        ("x".repeat(200_000), ANY),
        (nested(250), ANY),
        ("(?=".repeat(50_000), ANY),
        ("(?i)".repeat(50_000), ANY),
    ] {
        let code = code(&engine, &find(doc! { "s": { "$regex": &pattern } }));
        let shown: String = pattern.chars().take(20).collect();
        assert!(expected.contains(&code), "{shown}: {code:?}");
    }
}

#[test]
fn long_lists_of_conditions_are_answered() {
    let engine = engine(vec![doc! { "_id": 1, "v": 1, "w": 2 }]);
    let values: Vec<i32> = (0..300_000).collect();
    let found = answer(&engine, &find(doc! { "v": { "$in": values.clone() } }));
    assert!(found.1.is_some());
    assert_eq!(
        answer(&engine, &find(doc! { "v": { "$nin": values } })).1,
        None
    );
    let clauses: Vec<Document> = (0..20_000).map(|n| doc! { "v": n, "w": 2 }).collect();
    for filter in [
        doc! { "$or": clauses.clone() },
        doc! { "$nor": [{ "$nor": clauses }] },
    ] {
        assert!(answer(&engine, &find(filter)).1.is_some());
    }
}

#[test]
fn nested_elements_of_long_arrays_are_answered() {
    let nested = (0..4).fold(Bson::Int32(1), |inner, _| Bson::Array(vec![inner; 12]));
    let engine = engine(vec![doc! { "_id": 1, "a": nested }]);
    let filter = (0..90).fold(doc! { "$gt": 5 }, |inner, _| doc! { "$elemMatch": inner });
    assert_eq!(code(&engine, &find(doc! { "a": filter })), None);
    let path = vec!["a"; 100].join(".");
    let mut deep = Bson::Int32(1);
    // Two levels each: the limit of mongod.
    for _ in 0..89 {
        deep = doc! { "a": [deep] }.into();
    }
    let deep = doc! { "insert": "c", "documents": [{ "_id": 2, "a": deep }] };
    assert_eq!(code(&engine, &deep), None);
    assert_eq!(code(&engine, &find(doc! { &path: 1 })), None);
    let sorted = doc! { "find": "c", "sort": { &path: 1 } };
    assert_eq!(code(&engine, &sorted), None);
}

#[test]
fn expressions_do_not_outgrow_memory() {
    let engine = engine(vec![doc! { "_id": 1, "s": "a".repeat(1_000_000) }]);
    for (expression, expected) in [
        (doc! { "$range": [0, i32::MAX] }, 146),
        (doc! { "$range": [i32::MAX, i32::MIN, -2] }, 146),
        (doc! { "$size": { "$range": [0, 7_000_000] } }, 146),
        (doc! { "$range": [0, 2_000_000] }, 10334),
        (doubled(25, "$concat", "a"), 16493),
        (doc! { "$strLenBytes": doubled(60, "$concat", "a") }, 16493),
        (doc! { "$concat": vec!["$s"; 1_000] }, 16493),
        (
            doc! { "$strLenCP": { "$replaceAll": { "input": "$s", "find": "a", "replacement": "$s" } } },
            16493,
        ),
        // mongod has no limit for these but its memory.
        (doc! { "$size": doubled(40, "$concatArrays", vec![1]) }, 146),
        (
            doc! { "$size": { "$map": { "input": { "$range": [0, 1_000_000] }, "in": "$s" } } },
            146,
        ),
        (doc! { "$size": [vec!["$s"; 1_000]] }, 146),
        (
            doc! { "$objectToArray": (0..1_000).map(|n| (n.to_string(), Bson::from("$s"))).collect::<Document>() },
            146,
        ),
    ] {
        let found = code(&engine, &project(expression.clone()));
        let shown: String = expression.to_string().chars().take(80).collect();
        assert_eq!(found, Some(expected), "{shown}");
    }
}

#[test]
fn graph_lookup_stops_at_the_memory_limit() {
    let engine = Engine::new();
    let text = "y".repeat(1 << 20);
    for start in (0..100).step_by(10) {
        let documents: Vec<Document> = (start..start + 10)
            .map(|id| doc! { "_id": id, "to": id + 1, "s": &text })
            .collect();
        let insert = doc! { "insert": "c", "documents": documents };
        assert_eq!(code(&engine, &insert), None);
    }
    let followed = |most: i32| {
        let graph = doc! {
            "from": "c", "startWith": 0, "connectFromField": "to", "connectToField": "_id", "as": "x", "maxDepth": most,
        };
        answer(
            &engine,
            &aggregate(vec![
                doc! { "$match": { "_id": 0 } },
                doc! { "$graphLookup": graph },
                doc! { "$project": { "n": { "$size": "$x" } } },
            ]),
        )
    };
    // 99 and 100 of them, as on mongod.
    assert_eq!(followed(98).1.unwrap().get_i32("n").ok(), Some(99));
    assert_eq!(followed(99).0, Some(40099));
}

#[test]
fn stages_do_not_outgrow_memory() {
    let text = "y".repeat(1_000_000);
    let documents = (0..8).map(|id| doc! { "_id": id, "s": &text }).collect();
    let engine = engine(documents);
    // 160 documents of 1 MB
    let many = || {
        vec![
            doc! { "$set": { "r": { "$range": [0, 20] } } },
            doc! { "$unwind": "$r" },
            doc! { "$set": { "s": { "$concat": ["$s", { "$toString": { "$add": ["$r", { "$multiply": ["$_id", 100] }] } }] } } },
        ]
    };
    let count = || doc! { "$project": { "n": { "$size": "$x" } } };
    let with = |stage: Document| aggregate([many(), vec![stage, count()]].concat());
    for (accumulator, expected) in [
        (doc! { "$push": "$s" }, 146),
        (doc! { "$addToSet": "$s" }, 146),
        (doc! { "$firstN": { "n": 1_000, "input": "$s" } }, 146),
        (doc! { "$maxN": { "n": 1_000, "input": "$s" } }, 146),
    ] {
        let group = doc! { "$group": { "_id": Bson::Null, "x": accumulator } };
        assert_eq!(code(&engine, &with(group)), Some(expected));
    }
    let few =
        doc! { "$group": { "_id": Bson::Null, "x": { "$lastN": { "n": 50, "input": "$s" } } } };
    assert_eq!(
        answer(&engine, &with(few)).1.unwrap().get_i32("n").ok(),
        Some(50)
    );
    let facet = doc! { "$facet": { "x": [{ "$skip": 0 }] } };
    assert_eq!(code(&engine, &with(facet)), Some(4_031_700));
    let lookup = doc! { "$lookup": { "from": "c", "as": "x", "pipeline": many() } };
    assert_eq!(
        code(
            &engine,
            &aggregate(vec![doc! { "$limit": 1 }, lookup, count()])
        ),
        Some(4568)
    );
    let large =
        doc! { "$set": { "x": { "$map": { "input": { "$range": [0, 30] }, "in": "$s" } } } };
    let large = vec![doc! { "$limit": 1 }, large];
    assert_eq!(code(&engine, &aggregate(large.clone())), Some(10334));
    assert_eq!(
        code(&engine, &aggregate([large.clone(), vec![count()]].concat())),
        None
    );
    for last in [doc! { "$out": "o" }, doc! { "$merge": "o" }] {
        let writing = aggregate([large.clone(), vec![last]].concat());
        assert_eq!(code(&engine, &writing), Some(10334));
    }
    let projected = doc! { "find": "c", "projection": { "x": { "$map": { "input": { "$range": [0, 30] }, "in": "$s" } } } };
    assert_eq!(code(&engine, &projected), Some(10334));
}

#[test]
fn slices_accept_any_number() {
    let engine = engine(vec![doc! { "_id": 1, "a": [1, 2, 3] }]);
    let slice = |argument: Bson| {
        let command = doc! { "find": "c", "projection": { "a": { "$slice": argument } } };
        let found = answer(&engine, &command).1.unwrap();
        found.get_array("a").unwrap().len()
    };
    for (argument, length) in [
        (Bson::Int64(i64::MIN), 3),
        (Bson::Int64(i64::MAX), 3),
        (vec![Bson::Int64(i64::MIN), Bson::Int64(i64::MAX)].into(), 3),
        (vec![Bson::Int64(i64::MAX), Bson::Int64(i64::MAX)].into(), 0),
        (vec![Bson::Int32(1), Bson::Int64(i64::MAX)].into(), 2),
    ] {
        assert_eq!(slice(argument.clone()), length, "{argument}");
    }
}

#[test]
fn db_pointers_are_read_one_by_one() {
    let pointer = |at: usize| format!("\x0C{at}\0\x02\0\0\0c\0{}", "p".repeat(12));
    let framed = |elements: &[u8]| {
        let size = i32::try_from(elements.len() + 5).unwrap();
        [&size.to_le_bytes(), elements, &[0]].concat()
    };
    let pointers: String = (0..200_000).map(pointer).collect();
    let array = [b"\x04a\0", &*framed(pointers.as_bytes())].concat();
    let document = Document::from_reader(&*framed(&array)).unwrap();
    let engine = engine(vec![document]);
    let nothing = find(doc! { "a": "x" });
    assert_eq!(answer(&engine, &nothing), (None, None));
    let index = doc! { "createIndexes": "c", "indexes": [{ "key": { "a": 1 }, "name": "a" }] };
    assert_eq!(code(&engine, &index), None);
}

#[test]
fn updates_do_not_outgrow_a_document() {
    let engine = engine(vec![doc! { "_id": 1, "p": ["x".repeat(9_000_000)] }]);
    let update =
        |change: Bson| doc! { "update": "c", "updates": [{ "q": { "_id": 1 }, "u": change }] };
    let each = |size: usize| doc! { "$push": { "p": { "$each": ["x".repeat(size)] } } }.into();
    for (change, expected) in [
        (each(9_000_000), 10334),
        (
            vec![doc! { "$set": { "p": { "$concatArrays": ["$p", "$p"] } } }].into(),
            10334,
        ),
        (doc! { "$set": { "p.1500001": 1 } }.into(), 10334),
        (doc! { "$set": { "p.1500002": 1 } }.into(), 34),
        (
            doc! { "$push": { "p": { "$each": vec![Bson::from(7_i64); 1_000_000] } } }.into(),
            10334,
        ),
    ] {
        let found = code(&engine, &update(change));
        assert!(found.is_some());
        assert_eq!(found, Some(expected));
    }
    assert_eq!(code(&engine, &update(each(1_000))), None);
}

/// A pattern without special characters is searched for as a string; one that is too large is refused.
#[test]
fn a_long_literal_pattern_is_found_at_once() {
    let engine = Engine::new();
    let text = "ab".repeat(50_000);
    let insert = doc! { "insert": "c", "documents": [{ "_id": 1, "s": &text }] };
    assert_eq!(code(&engine, &insert), None);
    let began = Instant::now();
    for (pattern, expected) in [
        (format!("{}c", "ab".repeat(16_000)), 0),
        ("ab".repeat(16_000), 1),
    ] {
        let operands = doc! { "input": "$s", "regex": &pattern };
        for filter in [
            doc! { "s": { "$regex": &pattern } },
            doc! { "$expr": { "$regexMatch": operands.clone() } },
            doc! { "$expr": { "$gt": [{ "$regexFind": operands }, null] } },
        ] {
            let count = doc! { "count": "c", "query": filter };
            let reply = run(&engine, &Context::system(), "x", &count);
            assert_eq!(reply.get_i32("n").unwrap(), expected);
        }
    }
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    for (character, most, most_of_expression) in [("a", 32_761, 32_764), ("é", 21_840, 21_843)] {
        for more in [0, 1] {
            let pattern = character.repeat(most + more);
            let schema = doc! { "properties": { "s": { "pattern": &pattern } } };
            for filter in [
                doc! { "s": { "$regex": &pattern } },
                doc! { "$jsonSchema": schema },
            ] {
                let count = doc! { "count": "c", "query": filter };
                assert_eq!(code(&engine, &count), (more == 1).then_some(51091));
            }
            let pattern = character.repeat(most_of_expression + more);
            let operands = doc! { "input": "$s", "regex": pattern };
            let matched = doc! { "$expr": { "$regexMatch": operands } };
            let filter = doc! { "count": "c", "query": matched };
            assert_eq!(code(&engine, &filter), (more == 1).then_some(51111));
        }
    }
}
