//! The targets: each makes commands out of the fuzzer's bytes and sends them to a fresh engine.
//!
//! No input may panic, hang, or be answered with what is not BSON; libFuzzer's limits of time and memory see to the rest.
//! Where there is a second way to the same answer, its answer must be the same: these targets have a file each.

mod door;
mod encode;
mod files;
mod frames;
mod read;
mod records;
mod splice;
mod write;

use odm::Context;
use odm::bson::raw::{RawDocument, RawDocumentBuf};
use odm::bson::{Bson, DateTime, Document, doc, oid::ObjectId};
use odm_engine::tools::Engine;

use crate::draw::Draw;

pub use self::door::door;
pub use self::encode::encode;
pub use self::files::files;
pub use self::frames::frames;
pub use self::read::read;
pub use self::records::records;
pub use self::splice::splice;
pub use self::write::write;

/// Every target by its name.
pub const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("bson", bson),
    ("collation", collation),
    ("commands", commands),
    ("door", door),
    ("encode", encode),
    ("expressions", expressions),
    ("files", files),
    ("filters", filters),
    ("frames", frames),
    ("json_schema", json_schema),
    ("pipelines", pipelines),
    ("projections", projections),
    ("read", read),
    ("records", records),
    ("regex", regex),
    ("splice", splice),
    ("updates", updates),
    ("write", write),
];

/// How deep targets draw.
const DEPTH: usize = 6;

/// An engine whose clock stands still, so that an input always does the same.
fn empty() -> Engine {
    let id = ObjectId::from_bytes([7; 12]);
    Engine::new(
        Context::system()
            .with_clock(|| DateTime::from_millis(1_700_000_000_000))
            .with_object_ids(move || id)
            .with_random(|| 4),
    )
}

/// An engine with documents to meet the drawn paths.
fn filled() -> Engine {
    let engine = empty();
    let documents = vec![
        doc! { "_id": 1, "a": 1, "b": "x", "v": [1, 2.5, "s", null], "t": DateTime::from_millis(0) },
        doc! { "_id": 2, "a": { "b": [1, { "c": 2 }, [3, [4]]] }, "m": { "x": "caf\u{e9}", "y": 2 }, "e": [{ "b": 1 }, { "b": [] }] },
        doc! { "_id": 3, "a": [{ "b": 5 }, { "b": { "c": "q" } }, 7], "loc": { "type": "Point", "coordinates": [1, 2] } },
        doc! { "_id": 4, "a": [], "b": Bson::Null, "v": f64::NAN, "loc": [180, 90] },
        doc! { "_id": "5", "a": "a string of words", "v": i64::MAX, "t": DateTime::MAX },
    ];
    send(&engine, doc! { "insert": "c", "documents": documents });
    engine
}

/// Sends a command, unless the `bson` crate itself refuses to write it.
fn send(engine: &Engine, command: Document) {
    answered(engine, command);
}

/// The same, with its reply.
fn answered(engine: &Engine, mut command: Document) -> Option<RawDocumentBuf> {
    if !command.contains_key("$db") {
        command.insert("$db", "f");
    }
    let command = RawDocumentBuf::try_from(&command).ok()?;
    Some(answer(engine, &command))
}

fn answer(engine: &Engine, command: &RawDocument) -> RawDocumentBuf {
    let raw = engine.run(command);
    let reply = Document::try_from(raw.as_ref()).expect("a reply is BSON");
    assert!(reply.contains_key("ok"), "{reply}");
    raw
}

/// Bytes as they are, as a command and as a document of one.
pub fn bson(data: &[u8]) {
    let engine = empty();
    let mut framed = Vec::with_capacity(data.len() + 64);
    for bytes in [data, {
        // The same behind a name, with a length that fits: more of them pass the first check.
        framed.extend_from_slice(&[0; 4]);
        framed.extend_from_slice(b"\x02insert\0\x02\0\0\0c\0\x02$db\0\x02\0\0\0f\0\x04documents\0");
        let array = framed.len();
        framed.extend_from_slice(&[0; 4]);
        framed.extend_from_slice(b"\x030\0");
        framed.extend_from_slice(
            &i32::try_from(data.len() + 5)
                .unwrap_or(i32::MAX)
                .to_le_bytes(),
        );
        framed.extend_from_slice(data);
        framed.extend_from_slice(b"\0\0");
        let size = i32::try_from(framed.len() - array).unwrap_or(i32::MAX);
        framed[array..array + 4].copy_from_slice(&size.to_le_bytes());
        framed.push(0);
        let size = i32::try_from(framed.len()).unwrap_or(i32::MAX);
        framed[..4].copy_from_slice(&size.to_le_bytes());
        &framed
    }] {
        if let Ok(command) = RawDocument::from_bytes(bytes) {
            answer(&engine, command);
        }
    }
    send(
        &engine,
        doc! { "find": "c", "filter": { "a": { "$gt": 1 } }, "sort": { "a": 1 } },
    );
    send(
        &engine,
        doc! { "createIndexes": "c", "indexes": [{ "key": { "$**": 1 }, "name": "w" }, { "key": { "a": 1 }, "name": "a" }] },
    );
    send(
        &engine,
        doc! { "aggregate": "c", "cursor": {}, "pipeline": [{ "$group": { "_id": "$$ROOT" } }] },
    );
    send(
        &engine,
        doc! { "update": "c", "updates": [{ "q": {}, "u": { "$set": { "zz": 1 } }, "multi": true }] },
    );
}

/// A conversation of any commands.
pub fn commands(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    for _ in 0..8 {
        if draw.is_empty() {
            break;
        }
        let command = draw.command();
        send(&engine, command);
    }
}

pub fn filters(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    if draw.one_in(3) {
        let index = draw.index();
        send(&engine, doc! { "createIndexes": "c", "indexes": [index] });
    }
    let filter = draw.filter(DEPTH).into();
    let kind = draw.below(3);
    let filter = draw.wrapped(filter, |filter| match kind {
        0 => doc! { "$and": [filter] }.into(),
        1 => doc! { "a": { "$elemMatch": filter } }.into(),
        _ => doc! { "$nor": [filter] }.into(),
    });
    let sort = draw.sort();
    send(&engine, doc! { "find": "c", "filter": filter.clone() });
    send(
        &engine,
        doc! { "find": "c", "filter": filter.clone(), "sort": sort.clone() },
    );
    send(
        &engine,
        doc! { "explain": { "find": "c", "filter": filter.clone(), "sort": sort } },
    );
    send(
        &engine,
        doc! { "update": "c", "updates": [{ "q": filter, "u": { "$set": { "z": 1 } }, "upsert": true }] },
    );
}

pub fn expressions(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let expression = draw.expression(DEPTH);
    let kind = draw.below(3);
    let expression = draw.wrapped(expression, |inner| match kind {
        0 => doc! { "$not": [inner] }.into(),
        1 => doc! { "$ifNull": [inner, 1] }.into(),
        _ => Bson::Array(vec![inner]),
    });
    send(
        &engine,
        doc! { "aggregate": "c", "cursor": {}, "pipeline": [{ "$addFields": { "z": expression.clone() } }] },
    );
    send(
        &engine,
        doc! { "find": "c", "filter": { "$expr": expression } },
    );
}

pub fn pipelines(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let pipeline = draw.pipeline(DEPTH);
    send(
        &engine,
        doc! { "explain": { "aggregate": "c", "cursor": {}, "pipeline": pipeline.clone() } },
    );
    send(
        &engine,
        doc! { "aggregate": "c", "cursor": {}, "pipeline": pipeline.clone() },
    );
    send(
        &engine,
        doc! { "create": "view", "viewOn": "c", "pipeline": pipeline },
    );
    send(&engine, doc! { "find": "view" });
}

pub fn updates(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let mut statement = doc! { "q": {}, "multi": true };
    if draw.one_in(3) {
        statement = doc! { "q": draw.filter(3), "upsert": true };
    }
    statement.insert("u", draw.update());
    if draw.one_in(2) {
        statement.insert("arrayFilters", vec![draw.array_filter()]);
    }
    send(
        &engine,
        doc! { "update": "c", "updates": [statement.clone()] },
    );
    send(&engine, doc! { "update": "c", "updates": [statement] });
    send(&engine, doc! { "find": "c", "sort": { "a": 1 } });
}

pub fn json_schema(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let schema = draw.schema(DEPTH).into();
    let kind = draw.below(3);
    let schema = draw.wrapped(schema, |inner| match kind {
        0 => doc! { "not": inner }.into(),
        1 => doc! { "properties": { "a": inner } }.into(),
        _ => doc! { "items": [inner] }.into(),
    });
    send(
        &engine,
        doc! { "find": "c", "filter": { "$jsonSchema": schema.clone() } },
    );
    send(
        &engine,
        doc! { "collMod": "c", "validator": { "$jsonSchema": schema } },
    );
    let documents: Vec<Bson> = vec![draw.value(4), draw.value(4)];
    send(
        &engine,
        doc! { "insert": "c", "ordered": false, "documents": documents },
    );
}

pub fn regex(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let (pattern, text) = (draw.pattern(), draw.text());
    let options = draw.pick(&["", "i", "m", "s", "x", "imsx"]);
    send(
        &engine,
        doc! { "insert": "c", "documents": [{ "_id": "t", "a": [text, format!("{pattern}{pattern}"), "a".repeat(40)] }] },
    );
    send(
        &engine,
        doc! { "find": "c", "filter": { "a": { "$regex": &pattern, "$options": options } } },
    );
    send(
        &engine,
        doc! { "find": "c", "filter": { "$expr": { "$regexMatch": { "input": "$b", "regex": &pattern, "options": options } } } },
    );
    send(
        &engine,
        doc! { "aggregate": "c", "cursor": {}, "pipeline": [
            { "$unwind": "$a" },
            { "$project": { "a": { "$cond": [{ "$eq": [{ "$type": "$a" }, "string"] },
                { "$regexFindAll": { "input": "$a", "regex": &pattern, "options": options } }, 1] } } },
        ] },
    );
}

pub fn collation(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let collation = draw.collation();
    let (one, other) = (draw.text(), draw.text());
    send(
        &engine,
        doc! { "create": "d", "collation": collation.clone() },
    );
    send(
        &engine,
        doc! { "createIndexes": "d", "indexes": [{ "key": { "a": 1 }, "name": "a" }] },
    );
    send(
        &engine,
        doc! { "insert": "d", "documents": [{ "a": &one }, { "_id": 2, "a": &other }, { "_id": 3, "a": [one.clone()] }] },
    );
    for name in ["c", "d"] {
        send(
            &engine,
            doc! { "find": name, "filter": { "a": { "$gte": &other } }, "sort": { "a": 1 }, "collation": collation.clone() },
        );
    }
    send(
        &engine,
        doc! { "distinct": "d", "key": "a", "collation": collation },
    );
}

pub fn projections(data: &[u8]) {
    let engine = filled();
    let mut draw = Draw::new(data);
    let projection = draw.projection(DEPTH);
    let (sort, filter) = (draw.sort(), draw.filter(2));
    send(
        &engine,
        doc! { "find": "c", "projection": projection.clone() },
    );
    send(
        &engine,
        doc! { "find": "c", "filter": filter, "projection": projection.clone(), "sort": sort.clone() },
    );
    send(
        &engine,
        doc! { "aggregate": "c", "cursor": {}, "pipeline": [{ "$sort": sort }, { "$project": projection }] },
    );
}
