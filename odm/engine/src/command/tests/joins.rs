//! `$lookup` by a field without an index.

use bson::{Document, doc};

use super::run;
use crate::Context;
use crate::command::state::Engine;

/// The first batch of an `aggregate`.
fn batch(reply: &Document) -> Vec<&Document> {
    let cursor = reply.get_document("cursor").unwrap();
    let batch = cursor.get_array("firstBatch").unwrap();
    batch.iter().filter_map(|row| row.as_document()).collect()
}

#[test]
fn matches_have_the_order_of_insertion() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    let rows: Vec<_> = (0..10).map(|id| doc! { "_id": id }).collect();
    run(doc! { "insert": "rows", "documents": rows });
    // The keys of the field have another order than the documents.
    let others = (0..30).map(|id| doc! { "_id": id, "f": [(30 - id) % 10, (id + 5) % 10] });
    run(doc! { "insert": "others", "documents": others.collect::<Vec<_>>() });
    let lookup = doc! { "from": "others", "localField": "_id", "foreignField": "f", "as": "found" };
    let reply =
        run(doc! { "aggregate": "rows", "pipeline": [{ "$lookup": lookup }], "cursor": {} });
    let rows = batch(&reply);
    assert_eq!(rows.len(), 10);
    for row in rows {
        let found = row.get_array("found").unwrap();
        let ids: Vec<i32> = found
            .iter()
            .map(|found| found.as_document().unwrap().get_i32("_id").unwrap())
            .collect();
        assert!(ids.len() >= 3 && ids.is_sorted(), "{row}");
    }
}

#[test]
fn a_limit_stops_reading_the_other_collection() {
    let (engine, context) = (Engine::new(), Context::system());
    let run = |command: Document| run(&engine, &context, "x", &command);
    let documents = [1, 1, 0].map(|n| doc! { "n": n }).to_vec();
    run(doc! { "insert": "c", "documents": documents });
    // The filter fails on the last document.
    let filter = doc! { "$expr": { "$eq": [{ "$divide": [1, "$n"] }, 1] } };
    for (limit, expected) in [(2, None), (3, Some(2))] {
        let inner = vec![doc! { "$match": &filter }, doc! { "$limit": limit }];
        let lookup = doc! { "from": "c", "pipeline": inner, "as": "x" };
        let stages = vec![doc! { "$limit": 1 }, doc! { "$lookup": lookup }];
        let reply = run(doc! { "aggregate": "c", "pipeline": stages, "cursor": {} });
        assert_eq!(reply.get_i32("code").ok(), expected, "{reply}");
    }
}
