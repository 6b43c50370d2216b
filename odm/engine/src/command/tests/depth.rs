//! The deepest accepted nesting is answered on an ordinary thread's stack, and deeper nesting is refused.

use bson::raw::{RawDocumentBuf, cstr};
use bson::{Bson, Document, doc};

use super::run;
use crate::Context;
use crate::command::state::Engine;

type Wrap = fn(Bson) -> Bson;

/// The levels of documents and arrays in a value.
fn depth(value: &Bson) -> usize {
    match value {
        Bson::Document(document) => 1 + document.values().map(depth).max().unwrap_or(0),
        Bson::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// `wrap` around `inner`, as often as the limit of the whole command allows.
fn deepest(inner: Bson, wrap: Wrap, command: impl Fn(Bson) -> Document) -> Document {
    let mut value = inner;
    loop {
        let wrapped = wrap(value.clone());
        if depth(&command(wrapped.clone()).into()) > 200 {
            return command(value);
        }
        value = wrapped;
    }
}

fn find(filter: Bson) -> Document {
    doc! { "find": "c", "filter": filter }
}

fn expr(expression: Bson) -> Document {
    find(doc! { "$expr": expression }.into())
}

fn schema(schema: Bson) -> Document {
    find(doc! { "$jsonSchema": schema }.into())
}

fn aggregate(stage: Bson) -> Document {
    doc! { "aggregate": "c", "pipeline": [stage], "cursor": {} }
}

fn update(value: Bson) -> Document {
    doc! { "update": "c", "updates": [{ "q": {}, "u": { "$set": { "v": value } } }] }
}

const ONE: Bson = Bson::Int32(1);

#[test]
fn the_deepest_commands_are_answered() {
    let (engine, context) = (Engine::new(), Context::system());
    let insert = doc! { "insert": "c", "documents": [{ "_id": 1, "a": 1 }] };
    run(&engine, &context, "x", &insert);
    let equal = || Bson::from(doc! { "a": 1 });
    let commands = [
        deepest(equal(), |f| doc! { "$and": [f] }.into(), find),
        deepest(equal(), |f| doc! { "$nor": [f, { "b": 1 }] }.into(), find),
        deepest(equal(), |f| doc! { "a": { "$elemMatch": f } }.into(), find),
        deepest(equal(), |f| doc! { "a": f }.into(), find),
        deepest(ONE, |e| doc! { "$not": [e] }.into(), expr),
        deepest(ONE, |e| doc! { "$add": [e, 1] }.into(), expr),
        deepest(ONE, |e| doc! { "$and": [e, 1] }.into(), expr),
        deepest(ONE, |e| doc! { "$cond": [e, 1, 2] }.into(), expr),
        deepest(
            ONE,
            |e| doc! { "$let": { "vars": { "v": 1 }, "in": e } }.into(),
            expr,
        ),
        deepest(
            ONE,
            |e| doc! { "$map": { "input": [1], "in": e } }.into(),
            expr,
        ),
        deepest(
            ONE,
            |e| doc! { "$reduce": { "input": [1], "initialValue": 1, "in": e } }.into(),
            expr,
        ),
        deepest(ONE, |e| doc! { "x": e }.into(), expr),
        deepest(ONE, |e| Bson::Array(vec![e]), expr),
        deepest(doc! {}.into(), |s| doc! { "not": s }.into(), schema),
        deepest(doc! {}.into(), |s| doc! { "allOf": [s] }.into(), schema),
        deepest(
            doc! {}.into(),
            |s| doc! { "properties": { "a": s } }.into(),
            schema,
        ),
        deepest(
            ONE,
            |p| doc! { "a": p }.into(),
            |p| aggregate(doc! { "$project": { "a": p } }.into()),
        ),
        deepest(ONE, |v| doc! { "a": v }.into(), update),
        deepest(ONE, |v| Bson::Array(vec![v]), update),
        deepest(
            ONE,
            |v| doc! { "a": v }.into(),
            |v| doc! { "insert": "c", "documents": [{ "v": v }] },
        ),
        deepest(
            ONE,
            |v| doc! { "a": v }.into(),
            |v| doc! { "find": "c", "filter": { "v": v }, "sort": { "v": 1 } },
        ),
        doc! { "aggregate": "c", "pipeline": [{ "$group": { "_id": "$v" } }, { "$sort": { "_id": 1 } }], "cursor": {} },
    ];
    for command in commands {
        let reply = run(&engine, &context, "x", &command);
        let explain = doc! { "explain": command.clone() };
        assert!(reply.contains_key("ok"), "{command}");
        assert_ne!(reply.get_i32("code").ok(), Some(15), "{command}: {reply}");
        assert!(run(&engine, &context, "x", &explain).contains_key("ok"));
    }
}

#[test]
fn deeper_commands_are_refused() {
    let (engine, context) = (Engine::new(), Context::system());
    // Built from bytes: such deep documents overflow the stack of the `bson` crate.
    let mut filter = RawDocumentBuf::new();
    for _ in 0..5_000 {
        let mut outer = RawDocumentBuf::new();
        outer.append(cstr!("a"), filter);
        filter = outer;
    }
    let mut command = RawDocumentBuf::new();
    command.append(cstr!("find"), "c");
    command.append(cstr!("filter"), filter);
    let reply = Document::try_from(engine.run(&context, &command)).unwrap();
    assert_eq!(reply.get_i32("code").ok(), Some(15));
    assert_eq!(
        reply.get_str("errmsg").ok(),
        Some("BSONObj exceeded maximum nested object depth: 200")
    );
}

#[test]
fn pipeline_nesting_limit_agrees_with_mongod() {
    let (engine, context) = (Engine::new(), Context::system());
    let nested = |times: usize, innermost: Document, wrap: fn(Document) -> Document| {
        let stage = (0..times).fold(innermost, |stage, _| wrap(stage));
        let reply = run(&engine, &context, "x", &aggregate(stage.into()));
        reply.get_i32("code").ok()
    };
    let lookup = |s| doc! { "$lookup": { "from": "c", "as": "r", "pipeline": [s] } };
    let union = |s| doc! { "$unionWith": { "coll": "c", "pipeline": [s] } };
    let equal =
        doc! { "$lookup": { "from": "c", "as": "r", "localField": "a", "foreignField": "a" } };
    for (times, innermost, code) in [
        (20, doc! { "$match": {} }, None),
        (21, doc! { "$match": {} }, Some(232)),
        (19, equal.clone(), None),
        (20, equal, Some(232)),
        (19, doc! { "$unionWith": "c" }, None),
        (20, doc! { "$unionWith": "c" }, Some(232)),
    ] {
        assert_eq!(nested(times, innermost.clone(), lookup), code);
        assert_eq!(nested(times, innermost, union), code);
    }
}

/// Codes and messages of refused writes, and empty ones of accepted writes.
fn refusal(reply: &Document) -> (i32, String) {
    let error = reply
        .get_array("writeErrors")
        .ok()
        .and_then(|errors| errors.first()?.as_document().cloned())
        .unwrap_or_else(|| reply.clone());
    let message = error.get_str("errmsg").unwrap_or("");
    (error.get_i32("code").unwrap_or(0), message.to_owned())
}

#[test]
fn document_depth_limit_agrees_with_mongod() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| refusal(&run(&engine, &context, "x", &command));
    let taken = (0, String::new());
    let inserted = "cannot insert document because it exceeds 180 levels of nesting";
    let updated = "Document exceeds maximum nesting depth of 180";
    let found = format!("Plan executor error during findAndModify :: caused by :: {updated}");
    for wrap in [(|value| doc! { "a": value }.into()) as Wrap, |value| {
        vec![value].into()
    }] {
        for levels in [100, 179, 180, 190] {
            let value = (0..levels).fold(Bson::Int32(1), |value, _| wrap(value));
            let wanted = |message: &str| {
                if levels < 180 {
                    taken.clone()
                } else {
                    (15, message.to_owned())
                }
            };
            let insert = doc! { "insert": "c", "documents": [{ "d": value.clone() }] };
            assert_eq!(run(insert), wanted(inserted), "{levels}");
            let set = doc! { "$set": { "d": value.clone() } };
            for (q, u) in [
                (doc! { "_id": 1 }, set.clone()),
                (doc! { "_id": 1 }, doc! { "d": value.clone(), "e": 1 }),
                (doc! { "_id": format!("{levels}") }, set.clone()),
            ] {
                let update = doc! { "q": q, "u": u, "upsert": true };
                let update = doc! { "update": "c", "updates": [update] };
                assert_eq!(run(update), wanted(updated), "{levels}");
            }
            let modify = doc! { "findAndModify": "c", "query": { "_id": 1 }, "update": set };
            assert_eq!(run(modify), wanted(&found), "{levels}");
        }
    }
}

#[test]
fn document_size_limit_agrees_with_mongod() {
    const LARGEST: usize = 16 * 1024 * 1024;
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| refusal(&run(&engine, &context, "x", &command));
    let taken = (0, String::new());
    let empty = bson::serialize_to_vec(&doc! { "_id": 1, "s": "" })
        .unwrap()
        .len();
    let text = |more: usize| "x".repeat(LARGEST - empty + more);
    let insert = |more: usize| doc! { "insert": "c", "documents": [{ "_id": 1, "s": text(more) }] };
    assert_eq!(run(insert(0)), taken);
    let too_large = format!(
        "object to insert too large. size in bytes: {}, max size: {LARGEST}",
        LARGEST + 1
    );
    assert_eq!(run(insert(1)), (2, too_large));
    let grown = format!("Resulting document after update is larger than {LARGEST}");
    let set = doc! { "$set": { "t": 1 } };
    let update = |q: Document, u: Bson| doc! { "update": "c", "updates": [{ "q": q, "u": u, "upsert": true }] };
    assert_eq!(
        run(update(doc! { "_id": 1 }, set.clone().into())),
        (17419, grown.clone())
    );
    assert_eq!(
        run(update(doc! { "_id": 1 }, vec![set.clone()].into())),
        (17419, grown.clone())
    );
    let modify = doc! { "findAndModify": "c", "query": { "_id": 1 }, "update": set };
    let found = format!("Plan executor error during findAndModify :: caused by :: {grown}");
    assert_eq!(run(modify), (17419, found));
    let half = "x".repeat(LARGEST / 2);
    let upsert = update(
        doc! { "_id": 2, "k": &half },
        doc! { "$set": { "t": &half } }.into(),
    );
    let upserted = format!("Document to upsert is larger than {LARGEST}");
    assert_eq!(run(upsert), (17420, upserted));
}
