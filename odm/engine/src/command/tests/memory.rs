//! The memory limits of stages, at sizes clearly below and above those of mongod.

use bson::{Bson, Document, doc};

use super::run;
use crate::Context;
use crate::command::state::Engine;

const NO_DISK: Option<i32> = Some(292);

/// A collection of eight documents of one megabyte.
fn engine() -> Engine {
    let text = "y".repeat(1_000_000);
    let documents: Vec<Document> = (0..8).map(|id| doc! { "_id": id, "s": &text }).collect();
    let engine = Engine::new();
    let insert = doc! { "insert": "c", "documents": documents };
    assert_eq!(code(&engine, &insert), None);
    engine
}

fn code(engine: &Engine, command: &Document) -> Option<i32> {
    let reply = run(engine, &Context::system(), "x", command);
    reply.get_i32("code").ok()
}

/// Each document as often as `times`, with another string: megabytes eight times that number.
fn copies(times: i32) -> Vec<Document> {
    let number = doc! { "$add": ["$r", { "$multiply": ["$_id", 100] }] };
    vec![
        doc! { "$set": { "r": { "$range": [0, times] }, "k": 1 } },
        doc! { "$unwind": "$r" },
        doc! { "$set": { "s": { "$concat": ["$s", { "$toString": number }] } } },
    ]
}

/// Stages that read whole documents and keep none.
fn drop_all() -> Vec<Document> {
    vec![
        doc! { "$set": { "none": 1 } },
        doc! { "$match": { "none": 2 } },
    ]
}

/// The codes of the stages on 80 and on 160 megabytes.
fn codes(engine: &Engine, stages: &[Document], allows_disk_use: bool) -> [Option<i32>; 2] {
    [10, 20].map(|times| {
        let stages = [&copies(times), stages, &drop_all()].concat();
        let command = doc! { "aggregate": "c", "pipeline": stages, "cursor": {}, "allowDiskUse": allows_disk_use };
        code(engine, &command)
    })
}

fn group(id: impl Into<Bson>, accumulator: Document) -> Vec<Document> {
    vec![doc! { "$group": { "_id": id.into(), "x": accumulator } }]
}

#[test]
fn stages_that_would_need_the_disk_are_refused_without_it() {
    let engine = engine();
    let each = || doc! { "a": "$_id", "b": "$r" };
    let sort = doc! { "$sort": { "r": 1 } };
    let faceted = [vec![sort.clone()], drop_all()].concat();
    for (stages, above) in [
        (vec![sort.clone()], NO_DISK),
        (vec![sort.clone(), doc! { "$limit": 50 }], None),
        (vec![sort, doc! { "$limit": 130 }], NO_DISK),
        (group("$s", doc! { "$sum": 1 }), NO_DISK),
        (group(each(), doc! { "$first": "$s" }), NO_DISK),
        (group(each(), doc! { "$sum": 1 }), None),
        (
            group(doc! { "$mod": ["$r", 2] }, doc! { "$push": "$s" }),
            NO_DISK,
        ),
        (vec![doc! { "$sortByCount": "$s" }], NO_DISK),
        (
            vec![doc! { "$bucketAuto": { "groupBy": "$r", "buckets": 4 } }],
            NO_DISK,
        ),
        (
            vec![
                doc! { "$setWindowFields": { "partitionBy": { "$add": ["$r", 0] }, "output": { "w": { "$sum": "$r" } } } },
            ],
            NO_DISK,
        ),
        (vec![doc! { "$facet": { "x": faceted } }], NO_DISK),
    ] {
        assert_eq!(codes(&engine, &stages, true), [None, None], "{stages:?}");
        assert_eq!(codes(&engine, &stages, false), [None, above], "{stages:?}");
    }
}

#[test]
fn a_partition_is_held_as_far_as_its_windows_reach() {
    let engine = engine();
    let sum = |window: Option<Document>| {
        let mut sum = doc! { "$sum": "$r" };
        sum.extend(window.map(|window| ("window".to_owned(), window.into())));
        vec![doc! { "$setWindowFields": { "sortBy": { "_id": 1 }, "output": { "w": sum } } }]
    };
    // The sort of $setWindowFields refuses it.
    let running = sum(Some(doc! { "documents": ["unbounded", "current"] }));
    assert_eq!(codes(&engine, &running, false), [None, NO_DISK]);
    let whole = vec![doc! { "$setWindowFields": { "output": { "w": { "$sum": "$r" } } } }];
    assert_eq!(codes(&engine, &whole, false)[1], Some(5_643_011));
    assert_eq!(codes(&engine, &whole, true), [None, None]);
}

#[test]
fn densify_never_uses_the_disk() {
    let engine = engine();
    let densify =
        doc! { "field": "k", "partitionByFields": ["s"], "range": { "step": 1, "bounds": "full" } };
    let stages = [doc! { "$densify": densify }];
    assert_eq!(codes(&engine, &stages, true), [None, Some(6_007_200)]);
}

#[test]
fn a_sort_counts_what_it_keeps() {
    let engine = Engine::new();
    let text = "y".repeat(1_000_000);
    for start in (0..120).step_by(10) {
        let documents: Vec<Document> = (start..start + 10)
            .map(|id| doc! { "_id": id, "n": -id, "s": &text })
            .collect();
        assert_eq!(
            code(&engine, &doc! { "insert": "c", "documents": documents }),
            None
        );
    }
    let find = |more: Document| {
        let mut find = doc! { "find": "c", "sort": { "n": 1 }, "allowDiskUse": false };
        find.extend(more);
        code(&engine, &find)
    };
    assert_eq!(find(doc! {}), NO_DISK);
    assert_eq!(find(doc! { "limit": 80 }), None);
    assert_eq!(find(doc! { "limit": 110 }), NO_DISK);
    assert_eq!(find(doc! { "projection": { "n": 1 } }), None);
    assert_eq!(find(doc! { "allowDiskUse": true }), None);
    let aggregate = |stages: Vec<Document>| {
        code(
            &engine,
            &doc! { "aggregate": "c", "pipeline": stages, "cursor": {}, "allowDiskUse": false },
        )
    };
    let sort = || doc! { "$sort": { "n": 1 } };
    assert_eq!(aggregate([vec![sort()], drop_all()].concat()), NO_DISK);
    assert_eq!(
        aggregate(vec![sort(), doc! { "$project": { "x": "$n" } }]),
        None
    );
    let group = doc! { "$group": { "_id": "$k", "x": { "$push": "$n" } } };
    assert_eq!(aggregate(vec![sort(), group]), None);
    let buckets = doc! { "$bucketAuto": { "groupBy": "$n", "buckets": 4 } };
    assert_eq!(aggregate(vec![buckets]), None);
}
