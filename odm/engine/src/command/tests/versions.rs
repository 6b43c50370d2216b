//! What later versions add: their operators run there, and an older version refuses them as unknown.

use bson::{Binary, Bson, Document, doc};
use odm_language::version::ServerVersion;

use super::run;
use crate::Context;
use crate::command::state::Engine;

/// mongod's code for an unknown expression in a `$project`.
const UNKNOWN: i32 = 31325;

/// Numbers with a string and a gap, in two groups.
fn filled(version: ServerVersion) -> impl Fn(Document) -> Document {
    let engine = Engine::new();
    let context = Context::system().with_version(version);
    let documents: Vec<Document> = vec![
        doc! { "_id": 1, "g": 1, "v": 4 },
        doc! { "_id": 2, "g": 1, "v": 1_i64 },
        doc! { "_id": 3, "g": 1, "v": 2.5 },
        doc! { "_id": 4, "g": 1, "v": "x" },
        doc! { "_id": 5, "g": 2, "v": Bson::Double(f64::NAN) },
        doc! { "_id": 6, "g": 2 },
    ];
    let run = move |command: Document| run(&engine, &context, "x", &command);
    run(doc! { "insert": "c", "documents": documents });
    run
}

fn aggregate(stages: Vec<Document>) -> Document {
    doc! { "aggregate": "c", "pipeline": stages, "cursor": {} }
}

/// The value of an expression.
fn evaluated(run: &impl Fn(Document) -> Document, expression: Document) -> Result<Bson, i32> {
    let reply = run(aggregate(vec![
        doc! { "$match": { "_id": 1 } },
        doc! { "$project": { "_id": 0, "r": expression } },
    ]));
    match reply.get_document("cursor") {
        Err(_) => Err(reply.get_i32("code").unwrap()),
        Ok(cursor) => {
            let batch = cursor.get_array("firstBatch").unwrap();
            Ok(batch[0].as_document().unwrap().get("r").unwrap().clone())
        }
    }
}

/// Checks expressions of 7.0, which 6.0 refuses.
fn check<const N: usize>(cases: [(Document, Result<Bson, i32>); N]) {
    let old = filled(ServerVersion::V6_0);
    let new = filled(ServerVersion::V7_0);
    for (expression, expected) in cases {
        assert_eq!(
            evaluated(&new, expression.clone()),
            expected,
            "{expression}"
        );
        assert_eq!(
            evaluated(&old, expression.clone()),
            Err(UNKNOWN),
            "{expression}"
        );
    }
}

fn results(reply: &Document, name: &str) -> Vec<Bson> {
    let cursor = reply.get_document("cursor").unwrap();
    let batch = cursor.get_array("firstBatch").unwrap();
    let value = |row: &Bson| row.as_document().unwrap().get(name).unwrap().clone();
    batch.iter().map(value).collect()
}

#[test]
fn a_version_is_reported() {
    for (version, shown, wire) in [
        (ServerVersion::V6_0, "6.0.5", 17),
        (ServerVersion::V7_0, "7.0.0", 21),
        (ServerVersion::V8_0, "8.0.0", 25),
    ] {
        let run = filled(version);
        assert_eq!(
            run(doc! { "buildInfo": 1 }).get_str("version").ok(),
            Some(shown)
        );
        assert_eq!(
            run(doc! { "hello": 1 }).get_i32("maxWireVersion").ok(),
            Some(wire)
        );
    }
}

#[test]
fn bits_are_combined() {
    check([
        (doc! { "$bitAnd": [6, 3] }, Ok(Bson::Int32(2))),
        (doc! { "$bitAnd": [] }, Ok(Bson::Int32(-1))),
        (doc! { "$bitAnd": [-1, 5_i64] }, Ok(Bson::Int64(5))),
        (doc! { "$bitOr": ["$v", 3] }, Ok(Bson::Int32(7))),
        (doc! { "$bitOr": [] }, Ok(Bson::Int32(0))),
        (doc! { "$bitXor": [6, 3] }, Ok(Bson::Int32(5))),
        (doc! { "$bitXor": [6, "$nope"] }, Ok(Bson::Null)),
        (doc! { "$bitXor": "$v" }, Ok(Bson::Int32(4))),
        (doc! { "$bitNot": 5 }, Ok(Bson::Int32(-6))),
        (doc! { "$bitNot": [5_i64] }, Ok(Bson::Int64(-6))),
        (doc! { "$bitNot": Bson::Null }, Ok(Bson::Null)),
        (doc! { "$bitAnd": [1, 1.0] }, Err(14)),
        (doc! { "$bitNot": "x" }, Err(14)),
        (doc! { "$bitNot": [1, 2] }, Err(16020)),
    ]);
}

#[test]
fn binary_data_is_text_in_six_formats() {
    let run = filled(ServerVersion::V8_0);
    let binary = |subtype: u8, bytes: &[u8]| {
        Bson::Binary(Binary {
            subtype: subtype.into(),
            bytes: bytes.to_vec(),
        })
    };
    let uuid = "00112233-4455-6677-8899-aabbccddeeff";
    let bytes: Vec<u8> = (0..16).map(|digit| digit * 0x11).collect();
    let generic = [0x3e, 0x3f, 0xff];
    let cases = [
        ("auto", 0, &generic[..], "Pj//"),
        ("auto", 4, &bytes[..], uuid),
        ("base64", 0, &generic, "Pj//"),
        ("base64", 128, b"a", "YQ=="),
        ("base64url", 0, &generic, "Pj__"),
        ("base64url", 0, b"a", "YQ"),
        ("hex", 5, &generic, "3E3FFF"),
        ("utf8", 0, "é".as_bytes(), "é"),
        ("uuid", 4, &bytes, uuid),
    ];
    for (format, subtype, bytes, text) in cases {
        let value = binary(subtype, bytes);
        let written = doc! { "$convert": { "input": &value, "to": "string", "format": format } };
        assert_eq!(evaluated(&run, written), Ok(text.into()), "{format}");
        if format != "auto" {
            let to = doc! { "type": "binData", "subtype": i32::from(subtype) };
            let read = doc! { "$convert": { "input": text, "to": to, "format": format } };
            assert_eq!(evaluated(&run, read), Ok(value), "{format}");
        }
    }
    let convert = |input: Bson, to: Bson, format: Bson| doc! { "$convert": { "input": input, "to": to, "format": format } };
    let of_uuid = || Bson::from(doc! { "type": 5, "subtype": 4 });
    for (expression, wanted) in [
        (doc! { "$toUUID": uuid }, Ok(binary(4, &bytes))),
        (doc! { "$toUUID": binary(4, &bytes) }, Ok(binary(4, &bytes))),
        (doc! { "$toUUID": "$nope" }, Ok(Bson::Null)),
        (doc! { "$toUUID": uuid.replace('-', "") }, Err(241)),
        (doc! { "$toUUID": 5 }, Err(241)),
        (doc! { "$toUUID": binary(0, &bytes) }, Err(241)),
        (doc! { "$toString": binary(4, &bytes) }, Ok(uuid.into())),
        (doc! { "$toString": binary(0, b"a") }, Ok("YQ==".into())),
        (
            convert("YQ".into(), "binData".into(), "base64url".into()),
            Ok(binary(0, b"a")),
        ),
        (
            convert("YQ==".into(), 5.into(), "base64url".into()),
            Ok(binary(0, b"a")),
        ),
        (convert("YQ".into(), 5.into(), "base64".into()), Err(241)),
        (convert("Pj__".into(), 5.into(), "base64".into()), Err(241)),
        (convert("abc".into(), 5.into(), "hex".into()), Err(241)),
        (convert("+1".into(), 5.into(), "hex".into()), Err(241)),
        (convert("YQ==".into(), 5.into(), "auto".into()), Err(241)),
        (convert("YQ==".into(), of_uuid(), "base64".into()), Err(241)),
        (convert(uuid.into(), 5.into(), "uuid".into()), Err(241)),
        (
            convert(binary(0, &[255]), 2.into(), "utf8".into()),
            Err(241),
        ),
        (convert(binary(0, b"a"), of_uuid(), Bson::Null), Err(241)),
        (
            convert(binary(0, b"a"), 5.into(), Bson::Null),
            Ok(binary(0, b"a")),
        ),
        (convert(true.into(), 5.into(), "hex".into()), Err(241)),
        (convert("a".into(), 5.into(), Bson::Null), Err(4_341_115)),
        (convert("a".into(), 5.into(), 5.into()), Err(9)),
        (convert("a".into(), 5.into(), "rot13".into()), Err(2)),
        (
            convert("a".into(), doc! { "subtype": 4 }.into(), Bson::Null),
            Err(9),
        ),
        (
            convert(
                "a".into(),
                doc! { "type": 5, "subtype": 10 }.into(),
                "utf8".into(),
            ),
            Err(9),
        ),
        (
            convert(Bson::Null, of_uuid(), "uuid".into()),
            Ok(Bson::Null),
        ),
        (
            doc! { "$convert": { "input": "x", "to": of_uuid(), "format": "uuid", "onError": "no" } },
            Ok("no".into()),
        ),
        (
            doc! { "$convert": { "input": "$nope", "to": 5, "format": "hex", "onNull": "none" } },
            Ok("none".into()),
        ),
    ] {
        assert_eq!(evaluated(&run, expression.clone()), wanted, "{expression}");
    }
    let old = filled(ServerVersion::V7_0);
    for (expression, code) in [
        (doc! { "$toUUID": uuid }, UNKNOWN),
        (doc! { "$toString": binary(4, &bytes) }, 241),
        (convert("a".into(), 5.into(), "hex".into()), 9),
        (
            doc! { "$convert": { "input": "a", "to": { "type": 5 } } },
            9,
        ),
        (doc! { "$convert": { "input": "a", "to": 5 } }, 241),
    ] {
        assert_eq!(
            evaluated(&old, expression.clone()),
            Err(code),
            "{expression}"
        );
    }
}

#[test]
fn percentiles_of_arrays() {
    let percentile = |input: Bson, p: Bson| {
        doc! { "$percentile": { "input": input, "p": p, "method": "approximate" } }
    };
    let list = || {
        Bson::from(vec![
            Bson::from(3),
            1.into(),
            "x".into(),
            2.into(),
            4.into(),
        ])
    };
    let doubles = |list: &[f64]| Ok(list.iter().copied().collect::<Bson>());
    check([
        (
            percentile(list(), vec![0.0, 0.25, 0.5, 0.51, 1.0].into()),
            doubles(&[1.0, 1.0, 2.0, 3.0, 4.0]),
        ),
        (percentile("$v".into(), vec![0.5].into()), doubles(&[4.0])),
        (
            percentile("$nope".into(), vec![0.5, 0.9].into()),
            Ok(vec![Bson::Null, Bson::Null].into()),
        ),
        (
            doc! { "$median": { "input": list(), "method": "approximate" } },
            Ok(Bson::Double(2.0)),
        ),
        (
            doc! { "$median": { "input": [], "method": "approximate" } },
            Ok(Bson::Null),
        ),
        (percentile(list(), 0.5.into()), Err(7_750_301)),
        (percentile(list(), Bson::Array(vec![])), Err(7_750_301)),
        (percentile(list(), vec!["x"].into()), Err(7_750_302)),
        (percentile(list(), vec![1.5].into()), Err(7_750_303)),
        (percentile(list(), vec!["$v"].into()), Err(7_750_300)),
        (
            doc! { "$percentile": { "input": list(), "p": [0.5], "method": "exact" } },
            Err(2),
        ),
        (
            doc! { "$percentile": { "input": list(), "method": "approximate" } },
            Err(40_414),
        ),
        (
            doc! { "$median": { "input": list(), "p": [0.5], "method": "approximate" } },
            Err(40_415),
        ),
        (doc! { "$median": list() }, Err(7_436_201)),
    ]);
}

#[test]
fn percentiles_of_groups_and_windows() {
    let median = || doc! { "$median": { "input": "$v", "method": "approximate" } };
    let ends = || doc! { "$percentile": { "input": "$v", "p": [0, 1], "method": "approximate" } };
    let group = aggregate(vec![
        doc! { "$group": { "_id": "$g", "m": median(), "e": ends() } },
        doc! { "$sort": { "_id": 1 } },
    ]);
    let run = filled(ServerVersion::V7_0);
    let reply = run(group.clone());
    assert_eq!(results(&reply, "m"), [Bson::Double(2.5), Bson::Null]);
    let nothing = vec![Bson::Null, Bson::Null];
    assert_eq!(
        results(&reply, "e"),
        [vec![1.0, 4.0].into(), Bson::from(nothing)]
    );
    let window = |bounds: [Bson; 2]| {
        let mut sliding = median();
        sliding.insert("window", doc! { "documents": bounds.to_vec() });
        aggregate(vec![doc! { "$setWindowFields": {
            "sortBy": { "_id": 1 }, "output": { "m": sliding },
        } }])
    };
    let double = Bson::Double;
    let sliding = window([(-1).into(), 0.into()]);
    assert_eq!(
        results(&run(sliding.clone()), "m"),
        [
            double(4.0),
            double(1.0),
            double(1.0),
            double(2.5),
            Bson::Null,
            Bson::Null
        ]
    );
    let growing = window(["unbounded".into(), "current".into()]);
    assert_eq!(
        results(&run(growing), "m"),
        [4.0, 1.0, 2.5, 2.5, 2.5, 2.5].map(double)
    );
    let old = filled(ServerVersion::V6_0);
    assert_eq!(old(group).get_i32("code").ok(), Some(15952));
    assert_eq!(old(sliding).get_i32("code").ok(), Some(9));
}

#[test]
fn stored_expressions_have_the_version() {
    let odd = doc! { "$expr": { "$eq": [{ "$bitAnd": ["$n", 1] }, 1] } };
    let create = doc! { "create": "odd", "validator": odd.clone() };
    let view = doc! { "create": "view", "viewOn": "c", "pipeline": [{ "$match": odd }] };
    let old = filled(ServerVersion::V6_0);
    assert_eq!(old(create.clone()).get_i32("code").ok(), Some(168));
    assert_eq!(old(view.clone()).get_i32("code").ok(), Some(168));
    let new = filled(ServerVersion::V8_0);
    assert_eq!(new(create).get_f64("ok").ok(), Some(1.0));
    assert_eq!(new(view).get_f64("ok").ok(), Some(1.0));
    let insert = |n: i32| doc! { "insert": "odd", "documents": [{ "n": n }] };
    assert!(!new(insert(3)).contains_key("writeErrors"));
    assert!(new(insert(2)).contains_key("writeErrors"));
    let change = doc! { "collMod": "odd", "validator": { "$expr": { "$bitNot": "$n" } } };
    assert_eq!(new(change).get_f64("ok").ok(), Some(1.0));
    let read = doc! { "find": "view" };
    assert_eq!(new(read).get_f64("ok").ok(), Some(1.0));
}

#[test]
fn updates_of_one_document_are_sorted() {
    let update = |sort: Bson, multi: bool, upsert: bool| {
        doc! { "update": "c", "updates": [{
            "q": { "g": 1 }, "u": { "$set": { "first": true } }, "sort": sort, "multi": multi, "upsert": upsert,
        }] }
    };
    for version in [ServerVersion::V6_0, ServerVersion::V7_0] {
        let reply = filled(version)(update(doc! { "v": -1 }.into(), false, false));
        assert_eq!(reply.get_i32("code").ok(), Some(40_415), "{version}");
    }
    let run = filled(ServerVersion::V8_0);
    let first = |run: &dyn Fn(Document) -> Document| {
        let found = run(doc! { "find": "c", "filter": { "first": true } });
        results(&found, "_id")
    };
    for (sort, id) in [(doc! { "v": 1 }, 2), (doc! { "_id": -1 }, 4), (doc! {}, 1)] {
        let run = filled(ServerVersion::V8_0);
        let reply = run(update(sort.clone().into(), false, true));
        assert_eq!(reply.get_i32("nModified").ok(), Some(1), "{sort}: {reply}");
        assert_eq!(first(&run), [Bson::Int32(id)], "{sort}");
    }
    let replace = doc! { "update": "c", "updates": [{
        "q": { "g": 1 }, "u": { "first": true }, "sort": { "_id": -1 },
    }] };
    assert_eq!(run(replace).get_i32("nModified").ok(), Some(1));
    assert_eq!(first(&run), [Bson::Int32(4)]);
    for (command, code) in [
        (update(doc! { "v": 1 }.into(), true, false), 9),
        (update(1.into(), false, false), 14),
        (update(doc! { "v": 7 }.into(), false, false), 15_975),
    ] {
        let reply = run(command.clone());
        let error = match reply.get_array("writeErrors") {
            Ok(errors) => errors[0].as_document().unwrap().clone(),
            Err(_) => reply,
        };
        assert_eq!(error.get_i32("code").ok(), Some(code), "{command}");
    }
}
