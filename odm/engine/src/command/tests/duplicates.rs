//! Documents with the same name twice, which no `Document` can hold. The outcomes are those of a MongoDB 6.0.5.

use bson::raw::{RawArrayBuf, RawBson, RawDocumentBuf, cstr};
use bson::{Document, doc, rawdoc};

use crate::Context;
use crate::command::state::Engine;

fn joined(parts: &[RawDocumentBuf]) -> RawDocumentBuf {
    let mut whole = RawDocumentBuf::new();
    for (name, value) in parts.iter().flat_map(|part| part.iter().flatten()) {
        whole.append(name, value);
    }
    whole
}

fn ids(ids: &[i32]) -> RawDocumentBuf {
    let parts: Vec<_> = ids.iter().map(|id| rawdoc! { "_id": *id }).collect();
    joined(&parts)
}

fn run(engine: &Engine, command: RawDocumentBuf) -> Document {
    let command = joined(&[command, rawdoc! { "$db": "db" }]);
    Document::try_from(engine.run(&Context::system(), &command)).unwrap()
}

fn insert(engine: &Engine, documents: &[RawDocumentBuf], ordered: bool) -> Document {
    let documents: RawArrayBuf = documents.iter().cloned().map(RawBson::Document).collect();
    run(
        engine,
        rawdoc! { "insert": "c", "documents": documents, "ordered": ordered },
    )
}

fn stored(engine: &Engine, collection: &str) -> Vec<RawDocumentBuf> {
    let command = rawdoc! { "find": collection, "$db": "db" };
    let reply = engine.run(&Context::system(), &command);
    let cursor = reply.get_document(cstr!("cursor")).unwrap();
    let batch = cursor.get_array(cstr!("firstBatch")).unwrap();
    batch
        .into_iter()
        .map(|document| document.unwrap().as_document().unwrap().to_owned())
        .collect()
}

#[test]
fn inserts_with_duplicate_ids_are_refused() {
    for twice in [
        ids(&[1, 2]),
        ids(&[1, 1]),
        joined(&[rawdoc! { "a": 1 }, ids(&[1]), rawdoc! { "b": 1 }, ids(&[2])]),
    ] {
        for (ordered, left) in [(true, 1), (false, 2)] {
            let engine = Engine::new();
            let reply = insert(&engine, &[ids(&[8]), twice.clone(), ids(&[9])], ordered);
            assert_eq!(reply.get("n"), Some(&left.into()), "{reply}");
            let error = reply.get_array("writeErrors").unwrap();
            let error = error.first().unwrap().as_document().unwrap();
            assert_eq!(error.get("index"), Some(&1.into()));
            assert_eq!(error.get("code"), Some(&2.into()));
            let message = "can't have multiple _id fields in one document";
            assert_eq!(error.get("errmsg"), Some(&message.into()));
            assert_eq!(stored(&engine, "c").len(), usize::try_from(left).unwrap());
        }
    }
}

#[test]
fn a_refused_insert_creates_no_collection() {
    for ordered in [true, false] {
        let engine = Engine::new();
        insert(&engine, &[ids(&[1, 2])], ordered);
        let list = doc! { "listCollections": 1 };
        let reply = super::run(&engine, &Context::system(), "db", &list);
        let cursor = reply.get_document("cursor").unwrap();
        assert!(
            cursor.get_array("firstBatch").unwrap().is_empty(),
            "{reply}"
        );
    }
}

#[test]
fn duplicate_fields_other_than_id_are_stored() {
    let engine = Engine::new();
    let documents = [
        joined(&[ids(&[3]), rawdoc! { "a": 1 }, rawdoc! { "a": 2 }]),
        joined(&[ids(&[4]), rawdoc! { "n": ids(&[1, 2]) }]),
        rawdoc! { "_id": ids(&[1, 2]) },
    ];
    let reply = insert(&engine, &documents, true);
    assert_eq!(reply.get("n"), Some(&3.into()), "{reply}");
    assert_eq!(stored(&engine, "c"), documents);
}

#[test]
fn replacements_keep_duplicate_fields() {
    let engine = Engine::new();
    insert(&engine, &[ids(&[1])], true);
    for (replacement, upsert) in [(ids(&[1, 2]), false), (ids(&[7, 8]), true)] {
        let update = rawdoc! { "q": ids(&replacement_id(&replacement)), "u": replacement.clone(), "upsert": upsert };
        let command = rawdoc! { "update": "c", "updates": [update] };
        let reply = run(&engine, command);
        assert_eq!(reply.get("n"), Some(&1.into()), "{reply}");
        assert!(stored(&engine, "c").contains(&replacement));
    }
}

/// The first `_id` of a document.
fn replacement_id(document: &RawDocumentBuf) -> [i32; 1] {
    [document.get_i32(cstr!("_id")).unwrap()]
}

#[test]
fn out_refuses_duplicate_ids() {
    let engine = Engine::new();
    insert(&engine, &[ids(&[1])], true);
    let pipeline = [
        rawdoc! { "$replaceWith": { "$literal": ids(&[1, 2]) } },
        rawdoc! { "$out": "out" },
    ];
    let pipeline: RawArrayBuf = pipeline.into_iter().map(RawBson::Document).collect();
    let reply = run(
        &engine,
        rawdoc! { "aggregate": "c", "pipeline": pipeline, "cursor": {} },
    );
    assert_eq!(reply.get("code"), Some(&2.into()), "{reply}");
    assert_eq!(stored(&engine, "out"), []);
}
