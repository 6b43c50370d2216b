//! A request in parts is answered as the command of its fields is, on an engine that holds the same.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::{Bson, Document, doc};

use super::run;
use crate::command::state::Engine;
use crate::{Answer, Context, Filter, Namespace, Request};

/// Answers each question in both forms, and compares.
struct Pair {
    context: Context,
    in_parts: Engine,
    in_commands: Engine,
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

/// Nested documents of this depth.
fn deep(levels: usize) -> Document {
    (1..levels).fold(doc! { "a": 1 }, |inner, _| doc! { "a": inner })
}

/// The filter of one field, in parts.
fn equality(filter: &RawDocument) -> Option<Filter<'_>> {
    let mut fields = filter.iter();
    let (path, value) = fields.next()?.unwrap();
    let is_only = fields.next().is_none();
    is_only.then_some(Filter::Equality { path, value })
}

/// The command of a request.
fn command(collection: &str, request: Request<'_>) -> Document {
    let array = |documents: &[&RawDocument]| {
        let mut array = RawArrayBuf::new();
        for document in documents {
            array.push(*document);
        }
        array
    };
    let mut command = RawDocumentBuf::new();
    match request {
        Request::Find { filter, one } => {
            command.append(cstr!("find"), collection);
            command.append(cstr!("filter"), &*filter.to_document());
            if one {
                command.append(cstr!("limit"), 1_i64);
                command.append(cstr!("singleBatch"), true);
            }
        }
        Request::More { cursor, batch_size } => {
            command.append(cstr!("getMore"), cursor);
            command.append(cstr!("collection"), collection);
            if let Some(size) = batch_size {
                command.append(cstr!("batchSize"), i64::from(size));
            }
        }
        Request::Insert { documents } => {
            let documents: Vec<&RawDocument> = documents.iter().map(|it| &**it).collect();
            command.append(cstr!("insert"), collection);
            command.append(cstr!("documents"), array(&documents));
        }
        Request::Restore { .. } => panic!("no command keeps empty timestamps"),
        Request::Update {
            filter,
            update,
            multi,
        } => {
            let mut statement = RawDocumentBuf::new();
            statement.append(cstr!("q"), filter);
            statement.append(cstr!("u"), RawBson::from(update));
            statement.append(cstr!("multi"), multi);
            command.append(cstr!("update"), collection);
            command.append(cstr!("updates"), array(&[&statement]));
        }
        Request::Delete { filter, multi } => {
            let mut statement = RawDocumentBuf::new();
            statement.append(cstr!("q"), &*filter.to_document());
            statement.append(cstr!("limit"), i32::from(!multi));
            command.append(cstr!("delete"), collection);
            command.append(cstr!("deletes"), array(&[&statement]));
        }
    }
    Document::try_from(command).unwrap()
}

impl Pair {
    fn new() -> Self {
        let context = Context::system()
            .with_random(|| 7)
            .with_object_ids(|| bson::oid::ObjectId::from_bytes([7; 12]));
        Self {
            context,
            in_parts: Engine::new(),
            in_commands: Engine::new(),
        }
    }

    /// Runs a command on both engines.
    fn run(&self, command: &Document) {
        for engine in [&self.in_parts, &self.in_commands] {
            let reply = run(engine, &self.context, "test", command);
            assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
        }
    }

    /// The answer, which must equal that of the command.
    fn ask(&self, collection: &str, request: Request<'_>) -> Document {
        let namespace = Namespace::new("test", collection);
        let is_more = matches!(request, Request::More { .. });
        let in_parts = match self.in_parts.answer(&self.context, &namespace, request) {
            Ok(Answer::Page(page)) if is_more => page.to_reply(cstr!("nextBatch")),
            Ok(Answer::Page(page)) => page.to_reply(cstr!("firstBatch")),
            Ok(Answer::Written(written)) => written.to_reply().unwrap(),
            Err(error) => raw(&error.to_reply()),
        };
        let in_parts = Document::try_from(in_parts).unwrap();
        let command = command(collection, request);
        let in_commands = run(&self.in_commands, &self.context, "test", &command);
        assert_eq!(in_parts, in_commands, "{command}");
        in_parts
    }

    fn find(&self, filter: &Document, one: bool) -> Document {
        let document = raw(filter);
        if let Some(filter) = equality(&document) {
            self.ask("c", Request::Find { filter, one });
        }
        let filter = (&*document).into();
        self.ask("c", Request::Find { filter, one })
    }

    fn insert(&self, documents: &[Document]) -> Document {
        let documents: Vec<_> = documents.iter().map(raw).collect();
        let documents = documents.as_slice();
        self.ask("c", Request::Insert { documents })
    }

    fn update(&self, filter: &Document, update: &Bson, multi: bool) -> Document {
        let (filter, update) = (raw(filter), RawBson::try_from(update.clone()).unwrap());
        let update = update.as_raw_bson_ref();
        self.ask(
            "c",
            Request::Update {
                filter: &filter,
                update,
                multi,
            },
        )
    }

    fn delete(&self, filter: &Document, multi: bool) -> Document {
        let document = raw(filter);
        let filter = (&*document).into();
        self.ask("c", Request::Delete { filter, multi })
    }

    fn delete_equal(&self, filter: &Document, multi: bool) -> Document {
        let document = raw(filter);
        let filter = equality(&document).unwrap();
        self.ask("c", Request::Delete { filter, multi })
    }
}

#[test]
fn reads() {
    let pair = Pair::new();
    pair.find(&doc! { "_id": 1 }, true);
    let documents: Vec<_> = (0..250).map(|id| doc! { "_id": id, "a": id % 3 }).collect();
    pair.insert(&documents);
    for filter in [
        doc! {},
        doc! { "_id": 7 },
        doc! { "_id": -1 },
        doc! { "_id": { "$in": [3, 1, 2] } },
        doc! { "a": 1 },
        doc! { "a": { "$nope": 1 } },
        doc! { "a": deep(96) },
        doc! { "a": deep(197) },
        doc! { "a": deep(198) },
        doc! { "a": deep(199) },
    ] {
        pair.find(&filter, true);
        pair.find(&filter, false);
    }
    let first = pair.find(&doc! {}, false);
    let cursor = first.get_document("cursor").unwrap().get_i64("id").unwrap();
    assert_ne!(cursor, 0);
    for batch_size in [Some(10), Some(0), None, None] {
        pair.ask("c", Request::More { cursor, batch_size });
    }
    let filter = raw(&doc! {});
    for name in ["", "a$b", ".a", "a\0b", "system.views", "absent"] {
        let filter = (&*filter).into();
        pair.ask(name, Request::Find { filter, one: false });
    }
    pair.run(&doc! { "create": "v", "viewOn": "c", "pipeline": [{ "$match": { "a": 2 } }] });
    pair.ask(
        "v",
        Request::Find {
            filter: (&*filter).into(),
            one: true,
        },
    );
}

#[test]
fn inserts() {
    let pair = Pair::new();
    pair.insert(&[]);
    pair.insert(&[
        doc! { "_id": 1 },
        doc! { "a": 1 },
        doc! { "a": 1, "_id": 2 },
    ]);
    pair.insert(&[doc! { "_id": 3 }, doc! { "_id": 1 }, doc! { "_id": 4 }]);
    pair.insert(&[doc! { "_id": [1] }]);
    pair.insert(&[doc! { "_id": 5, "t": bson::Timestamp { time: 1, increment: 0 } }]);
    for levels in [179, 180, 181, 196, 197, 198, 199] {
        pair.insert(&[deep(levels)]);
    }
    pair.run(&doc! { "create": "v", "viewOn": "c", "pipeline": [] });
    let documents = [raw(&doc! { "_id": 9 })];
    for name in ["v", "", "a$b", "system.views", "new"] {
        let documents = documents.as_slice();
        pair.ask(name, Request::Insert { documents });
    }
    pair.run(&doc! { "collMod": "c", "validator": { "a": { "$gt": 1 } } });
    pair.insert(&[doc! { "_id": 6, "a": 1 }]);
    // Bytes that are not a document.
    let broken = RawDocumentBuf::from_bytes(b"\x08\0\0\0\x66a\0\0".to_vec()).unwrap();
    let refused = pair.in_parts.answer(
        &pair.context,
        &Namespace::new("test", "c"),
        Request::Insert {
            documents: &[broken],
        },
    );
    assert_eq!(
        refused.unwrap_err().code(),
        odm_language::error::Code::INVALID_BSON
    );
    pair.find(&doc! {}, false);
}

#[test]
fn writes() {
    let pair = Pair::new();
    let update = |filter: Document, update: Bson| {
        pair.update(&filter, &update, false);
        pair.update(&filter, &update, true);
        pair.find(&doc! {}, false);
    };
    update(doc! { "_id": 1 }, doc! { "$set": { "a": 1 } }.into());
    update(
        doc! { "a": { "$nope": 1 } },
        doc! { "$set": { "a": 1 } }.into(),
    );
    pair.insert(&[
        doc! { "_id": 1, "a": 1 },
        doc! { "_id": 2, "a": [2, 3] },
        doc! { "_id": 3, "a": "x" },
    ]);
    pair.run(&doc! {
        "createIndexes": "c",
        "indexes": [{ "key": { "a": 1 }, "name": "a_1", "unique": true }],
    });
    for change in [
        doc! { "$inc": { "b": 1 } },
        doc! { "$set": { "b": 2 } },
        doc! { "$set": { "_id": 9 } },
        doc! { "$inc": { "a": 1 } },
        doc! { "$nope": { "a": 1 } },
        doc! { "a.$": 1 },
        doc! { "$set": { "a.$": 7 } },
        doc! { "b": 5 },
        doc! { "$set": { "c": deep(178) } },
        doc! { "$set": { "c": deep(190) } },
        doc! { "$set": { "c": deep(196) } },
    ] {
        for filter in [
            doc! { "_id": 1 },
            doc! { "a": 2 },
            doc! {},
            doc! { "_id": 8 },
        ] {
            update(filter, change.clone().into());
        }
    }
    let stages = |stage: Document| Bson::Array(vec![stage.into()]);
    update(
        doc! {},
        stages(doc! { "$set": { "d": { "$add": ["$_id", 1] } } }),
    );
    update(doc! {}, stages(doc! { "$nope": 1 }));
    update(doc! {}, Bson::Int32(1));
    for filter in [
        doc! { "_id": 1 },
        doc! { "x": { "$nope": 1 } },
        doc! { "a": 7 },
    ] {
        pair.delete(&filter, false);
        pair.delete(&filter, true);
    }
    pair.run(&doc! { "create": "v", "viewOn": "c", "pipeline": [] });
    let (filter, change) = (raw(&doc! {}), raw(&doc! { "$set": { "a": 1 } }));
    for name in ["v", "", "a$b", "system.views", "absent"] {
        let (filter, multi) = (&*filter, true);
        let update = RawBsonRef::Document(&change);
        pair.ask(
            name,
            Request::Update {
                filter,
                update,
                multi,
            },
        );
        let filter = filter.into();
        pair.ask(name, Request::Delete { filter, multi });
    }
    pair.delete(&doc! {}, true);
    pair.find(&doc! {}, false);
}

#[test]
fn equalities() {
    let pair = Pair::new();
    pair.delete_equal(&doc! { "_id": 1 }, false);
    let documents: Vec<_> = (0..40).map(|id| doc! { "_id": id, "a": id % 3 }).collect();
    pair.insert(&documents);
    pair.run(&doc! {
        "createIndexes": "c",
        "indexes": [{ "key": { "a": 1 }, "name": "a_1" }],
    });
    for filter in [
        doc! { "_id": 1 },
        doc! { "_id": 2_i64 },
        doc! { "_id": 3.0 },
        doc! { "_id": "absent" },
        doc! { "_id": [4] },
        doc! { "_id": { "$lt": 6 } },
        doc! { "_id": { "$nope": 6 } },
        doc! { "a": 1 },
        doc! { "a": Bson::Null },
        doc! { "$nope": 1 },
        doc! { "": 1 },
    ] {
        pair.find(&filter, true);
        pair.find(&filter, false);
        pair.delete_equal(&filter, false);
        pair.find(&doc! {}, false);
        pair.delete_equal(&filter, true);
        pair.find(&doc! {}, false);
    }
    pair.run(&doc! { "create": "v", "viewOn": "c", "pipeline": [] });
    let seven = raw(&doc! { "_id": 7 });
    let filter = equality(&seven).unwrap();
    for name in ["v", "", "a$b", "system.views", "absent"] {
        pair.ask(name, Request::Find { filter, one: true });
        let multi = false;
        pair.ask(name, Request::Delete { filter, multi });
    }
}
