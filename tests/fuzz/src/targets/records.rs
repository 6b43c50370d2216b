//! Where documents lie: a collection, its indexes and what readers hold of them, against a plain map.

use std::collections::BTreeMap;

use odm::bson::raw::RawDocumentBuf;
use odm::bson::{Bson, Document, doc};
use odm_engine::tools::Engine;

use crate::draw::Draw;
use crate::targets::{answered, empty};

/// The documents in the order in which they were inserted, by `_id`.
type Model = BTreeMap<i32, Document>;

/// A reader, and what there was when it began.
struct Reader {
    kind: Kind,
    model: Model,
}

enum Kind {
    /// How many of the documents it has been told.
    Cursor(i64, usize),
    Transaction(i64),
}

pub fn records(data: &[u8]) {
    let engine = empty();
    let mut draw = Draw::new(data);
    let mut model = Model::new();
    let mut readers: Vec<Reader> = Vec::new();
    let mut next = 0;
    let mut transactions = 0;
    run(
        &engine,
        doc! { "createIndexes": "c", "indexes": [{ "key": { "a": 1 }, "name": "a" }] },
    );
    // Each more takes longer, and finds no more than another input would.
    for _ in 0..60 {
        if draw.is_empty() {
            break;
        }
        match draw.below(10) {
            0..=2 => {
                let (count, size) = (draw.below(60) + 1, size(&mut draw));
                let documents: Vec<Document> = (next..)
                    .take(count)
                    .map(|id| document(id, id % 7, size))
                    .collect();
                next += count as i32;
                for document in &documents {
                    model.insert(
                        document.get_i32("_id").expect("it has one"),
                        document.clone(),
                    );
                }
                run(&engine, doc! { "insert": "c", "documents": documents });
            }
            3 | 4 => {
                let id = draw.below(next as usize + 1) as i32;
                let made = document(id, draw.below(7) as i32, size(&mut draw));
                let set = doc! { "$set": { "a": made.get("a"), "s": made.get("s") } };
                let reply = run(
                    &engine,
                    doc! { "update": "c", "updates": [{ "q": { "_id": id }, "u": set }] },
                );
                assert_eq!(
                    reply.get_i32("n").ok(),
                    Some(i32::from(model.contains_key(&id)))
                );
                model.entry(id).and_modify(|document| *document = made);
            }
            5 => {
                let id = draw.below(next as usize + 1) as i32;
                run(
                    &engine,
                    doc! { "delete": "c", "deletes": [{ "q": { "_id": id }, "limit": 1 }] },
                );
                model.remove(&id);
            }
            6 => {
                let from = draw.below(next as usize + 1) as i32;
                let to = from + draw.below(200) as i32;
                let range = doc! { "_id": { "$gte": from, "$lt": to } };
                let reply = run(
                    &engine,
                    doc! { "delete": "c", "deletes": [{ "q": range, "limit": 0 }] },
                );
                let before = model.len();
                model.retain(|id, _| !(from..to).contains(id));
                assert_eq!(reply.get_i32("n").ok(), Some((before - model.len()) as i32));
            }
            7 => {
                let (a, plus) = (draw.below(7) as i32, draw.below(3) as i32);
                let size = size(&mut draw);
                let update = doc! { "$inc": { "a": plus }, "$set": { "s": "x".repeat(size) } };
                run(
                    &engine,
                    doc! { "update": "c", "updates": [{ "q": { "a": a }, "u": update, "multi": true }] },
                );
                for (id, found) in &mut model {
                    if found.get_i32("a").ok() == Some(a) {
                        *found = document(*id, a + plus, size);
                    }
                }
            }
            8 if readers.len() < 8 => {
                transactions += 1;
                readers.push(reader(&engine, &mut draw, transactions, &model));
            }
            _ if readers.is_empty() => check(&engine, &model, draw.below(7) as i32),
            _ => {
                let at = draw.below(readers.len());
                let reader = readers.swap_remove(at);
                end(&engine, reader);
            }
        }
    }
    for reader in readers {
        end(&engine, reader);
    }
    check(&engine, &model, 3);
}

fn size(draw: &mut Draw<'_>) -> usize {
    match draw.below(8) {
        0 => 5000,
        1 => 1000,
        _ => draw.below(120),
    }
}

fn document(id: i32, a: i32, size: usize) -> Document {
    doc! { "_id": id, "a": a, "s": "x".repeat(size) }
}

fn reader(engine: &Engine, draw: &mut Draw<'_>, number: i64, model: &Model) -> Reader {
    let kind = if draw.one_in(2) {
        let size = draw.below(40);
        let reply = run(engine, doc! { "find": "c", "batchSize": size as i32 });
        let id = reply
            .get_document("cursor")
            .and_then(|cursor| cursor.get_i64("id"));
        Kind::Cursor(id.expect("a cursor"), size.min(model.len()))
    } else {
        // The snapshot is of the first command.
        let mut first = within(doc! { "find": "c", "limit": 1 }, number);
        first.insert("startTransaction", true);
        run(engine, first);
        Kind::Transaction(number)
    };
    Reader {
        kind,
        model: model.clone(),
    }
}

/// In a transaction, which has a session of its own.
fn within(mut command: Document, number: i64) -> Document {
    let id = odm::bson::Uuid::from_bytes([number.to_le_bytes()[0]; 16]);
    command.extend(doc! { "lsid": { "id": id }, "txnNumber": 1_i64, "autocommit": false });
    command
}

/// The reader still finds what there was when it began.
fn end(engine: &Engine, reader: Reader) {
    let all: Vec<Bson> = reader.model.into_values().map(Bson::Document).collect();
    match reader.kind {
        Kind::Cursor(0, told) => assert_eq!(told, all.len()),
        Kind::Cursor(id, told) => {
            let reply = run(
                engine,
                doc! { "getMore": id, "collection": "c", "batchSize": 1_000_000 },
            );
            assert!(
                batch(&reply, "nextBatch") == &all[told..],
                "another snapshot"
            );
        }
        Kind::Transaction(number) => {
            let reply = run(
                engine,
                within(doc! { "find": "c", "batchSize": 1_000_000 }, number),
            );
            assert!(batch(&reply, "firstBatch") == &all, "another snapshot");
            run(engine, {
                let mut abort = within(doc! { "abortTransaction": 1 }, number);
                abort.insert("$db", "admin");
                abort
            });
        }
    }
}

/// The engine holds what the map holds: in order, one by one, and by the index.
fn check(engine: &Engine, model: &Model, a: i32) {
    let find = |filter: Document| {
        let reply = run(
            engine,
            doc! { "find": "c", "filter": filter, "batchSize": 1_000_000 },
        );
        batch(&reply, "firstBatch").clone()
    };
    let all: Vec<Bson> = model.values().cloned().map(Bson::Document).collect();
    assert!(find(doc! {}) == all, "another order, or other documents");
    let of_a = model
        .values()
        .filter(|document| document.get_i32("a").ok() == Some(a));
    let of_a: Vec<Bson> = of_a.cloned().map(Bson::Document).collect();
    assert!(find(doc! { "a": a }) == of_a, "the index finds others");
    for id in model.keys().step_by(model.len() / 20 + 1) {
        assert_eq!(find(doc! { "_id": *id }).len(), 1);
    }
}

fn batch<'r>(reply: &'r Document, name: &str) -> &'r Vec<Bson> {
    let cursor = reply.get_document("cursor");
    cursor
        .and_then(|cursor| cursor.get_array(name))
        .expect("a batch")
}

/// The reply, which must tell of success.
fn run(engine: &Engine, command: Document) -> Document {
    let reply: Option<RawDocumentBuf> = answered(engine, command);
    let reply = Document::try_from(&*reply.expect("a command of sound BSON")).expect("sound BSON");
    assert!(
        reply.get_f64("ok").ok() == Some(1.0) && !reply.contains_key("writeErrors"),
        "{reply}"
    );
    reply
}
