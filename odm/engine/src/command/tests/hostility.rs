//! What a shuffling engine shuffles, and what it leaves in order.

use std::collections::BTreeSet;

use bson::{Bson, Document, doc};

use crate::command::state::Engine;
use crate::command::tests::run;
use crate::{Context, Hostility};

fn shuffling(seed: u64) -> Context {
    Context::system().with_hostility(Hostility::new(seed).shuffling())
}

/// An engine with the documents `{_id: 0, a: 0}` to `{_id: 11, a: 2}` in the collections `c` and `capped`.
fn filled(context: &Context) -> Engine {
    let engine = Engine::new();
    let documents: Vec<Bson> = (0..12)
        .map(|id| doc! { "_id": id, "a": id / 4 }.into())
        .collect();
    let create = doc! { "create": "capped", "capped": true, "size": 10_000 };
    run(&engine, context, "db", &create);
    for name in ["c", "capped"] {
        let insert = doc! { "insert": name, "documents": &documents };
        run(&engine, context, "db", &insert);
    }
    engine
}

fn batch(reply: &Document) -> Vec<Document> {
    let cursor = reply.get_document("cursor").unwrap();
    let batch = cursor.get_array("firstBatch").unwrap();
    batch
        .iter()
        .map(|it| it.as_document().unwrap().clone())
        .collect()
}

/// The ids that a command returns in each of 20 runs.
fn orders(context: &Context, command: &Document) -> BTreeSet<Vec<i32>> {
    let engine = filled(context);
    let ids = |reply: &Document| {
        let documents = batch(reply);
        documents
            .iter()
            .map(|it| it.get_i32("_id").unwrap())
            .collect()
    };
    (0..20)
        .map(|_| ids(&run(&engine, context, "db", command)))
        .collect()
}

#[test]
fn what_no_sort_orders_is_shuffled() {
    for command in [
        doc! { "find": "c" },
        doc! { "find": "c", "filter": { "a": 1 } },
        doc! { "find": "c", "sort": { "a": 1 } },
        doc! { "find": "c", "sort": { "a": 1 }, "skip": 5, "limit": 2 },
        doc! { "find": "c", "limit": 1 },
        doc! { "find": "c", "filter": { "_id": { "$in": [1, 2, 3] } } },
        doc! { "aggregate": "c", "pipeline": [{ "$sort": { "a": 1 } }], "cursor": {} },
        doc! { "aggregate": "c", "pipeline": [{ "$group": { "_id": "$a" } }], "cursor": {} },
    ] {
        assert!(orders(&shuffling(1), &command).len() > 1, "{command}");
        assert_eq!(orders(&Context::system(), &command).len(), 1, "{command}");
    }
}

#[test]
fn what_mongodb_orders_stays() {
    let all: Vec<i32> = (0..12).collect();
    for command in [
        doc! { "find": "c", "sort": { "_id": 1 } },
        doc! { "find": "c", "sort": { "a": 1, "_id": 1 } },
        doc! { "find": "c", "sort": { "$natural": 1 } },
        doc! { "find": "c", "hint": { "$natural": 1 } },
        doc! { "find": "capped" },
        doc! { "aggregate": "c", "pipeline": [{ "$sort": { "_id": 1 } }], "cursor": {} },
    ] {
        let expected = BTreeSet::from([all.clone()]);
        assert_eq!(orders(&shuffling(1), &command), expected, "{command}");
    }
    let page = doc! { "find": "c", "sort": { "_id": -1 }, "skip": 3, "limit": 2 };
    assert_eq!(orders(&shuffling(1), &page), BTreeSet::from([vec![8, 7]]));
}

#[test]
fn a_seed_leads_to_the_same_results() {
    let run_all = |seed| {
        let context = shuffling(seed);
        let engine = filled(&context);
        let removed: Vec<Bson> = (0..12)
            .map(|_| {
                let remove = doc! { "findAndModify": "c", "query": {}, "remove": true };
                let reply = run(&engine, &context, "db", &remove);
                reply
                    .get_document("value")
                    .unwrap()
                    .get("_id")
                    .unwrap()
                    .clone()
            })
            .collect();
        removed
    };
    assert_eq!(run_all(7), run_all(7));
    assert_ne!(run_all(7), run_all(8));
}
