//! What a hostile engine shuffles and splits, and what it leaves.

use std::collections::BTreeSet;
use std::time::Duration;

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

/// The sizes of the batches of a result, which has `wanted` documents in all.
fn sizes(engine: &Engine, context: &Context, command: &Document, wanted: usize) -> Vec<usize> {
    let mut reply = run(engine, context, "db", command);
    let mut name = "firstBatch";
    let mut sizes = Vec::new();
    loop {
        let cursor = reply.get_document("cursor").unwrap();
        sizes.push(cursor.get_array(name).unwrap().len());
        name = "nextBatch";
        let id = cursor.get_i64("id").unwrap();
        let is_complete = sizes.iter().sum::<usize>() == wanted;
        let tails = command.contains_key("tailable");
        if id == 0 || tails && is_complete {
            assert!(is_complete, "{command}: {sizes:?}");
            return sizes;
        }
        let more = doc! { "getMore": id, "collection": "capped", "batchSize": 5 };
        reply = run(engine, context, "db", &more);
    }
}

#[test]
fn batches_end_at_random_sizes() {
    let whole = doc! { "find": "capped", "batchSize": 5 };
    let single = doc! { "find": "capped", "singleBatch": true };
    let tail = doc! { "find": "capped", "batchSize": 5, "tailable": true, "awaitData": true };
    let mut has_empty = false;
    for seed in 0..50 {
        let context = Context::system().with_hostility(Hostility::new(seed).splitting_batches());
        let engine = filled(&context);
        let split = sizes(&engine, &context, &whole, 12);
        assert!(split.iter().all(|size| *size <= 5), "{split:?}");
        has_empty |= split.first() == Some(&0);
        assert_eq!(sizes(&engine, &context, &single, 12), [12]);
        // Its reader would wait for a write.
        let tailed = sizes(&engine, &context, &tail, 12);
        assert!(
            tailed.iter().all(|size| (1..=5).contains(size)),
            "{tailed:?}"
        );
    }
    assert!(has_empty);
}

#[test]
fn delays_are_bounded() {
    let longest = Duration::from_millis(3);
    let hostility = Hostility::new(1).delaying_replies(longest);
    let delays: Vec<_> = (0..400)
        .flat_map(|_| hostility.delays())
        .flatten()
        .collect();
    assert!(delays.iter().all(|delay| *delay <= longest));
    assert!((50..150).contains(&delays.len()), "{}", delays.len());
    hostility.pause();
    assert_eq!(hostility.delays(), [None, None]);
}
