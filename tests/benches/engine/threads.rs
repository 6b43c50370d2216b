//! One collection shared by two threads, beside the same work on one thread.

use std::time::Instant;

use odm::prelude::*;
use tokio::runtime::Builder;

use crate::item::{Item, Size};
use crate::measure::processor_time;

/// The documents that are there from the start.
const ITEMS: i64 = 10_000;

/// How many tasks share the work, on either number of threads.
const TASKS: i64 = 8;

/// The calls of a round.
const CALLS: i64 = 200_000;

/// What the tasks do: a name, and how many calls of ten are reads.
const MIXES: [(&str, i64); 3] = [
    ("writes: insert, `$inc` and delete by turns", 0),
    ("80 % finds by id, the rest as above", 8),
    ("finds by id", 10),
];

/// Prints the calls per second of one and of two threads. Both run in every round; of each the best round counts.
pub(crate) fn report(rounds: usize) {
    println!(
        "\n| calls on one collection | 1 thread, calls/s | 2 threads, calls/s | ratio | 1 thread, processor µs/call | 2 threads |"
    );
    println!("|{}", " --- |".repeat(6));
    for (name, reads) in MIXES {
        let mut best = [(0.0_f64, f64::INFINITY); 2];
        for _ in 0..rounds {
            for (threads, (rate, cost)) in (1..).zip(&mut best) {
                let (calls, processor) = run(threads, reads);
                *rate = rate.max(calls);
                *cost = cost.min(processor);
            }
        }
        let [(one, alone), (two, beside)] = best;
        println!(
            "| {name} | {one:.0} | {two:.0} | {:.2} | {alone:.2} | {beside:.2} |",
            two / one
        );
    }
}

/// The calls per second on so many threads, and the microseconds of processor time of one.
fn run(threads: usize, reads: i64) -> (f64, f64) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let db = Db::memory();
        let index = doc! {
            "createIndexes": "items",
            "indexes": [{"key": {"rank": 1}, "name": "rank_1"}],
        };
        db.run_command(index).await.unwrap();
        let items = db.collection::<Item>();
        let first: Vec<Item> = (0..ITEMS)
            .map(|id| Item::new(id, ITEMS, Size::Small))
            .collect();
        items.insert_many(&first).await.unwrap();
        let (began, processor) = (Instant::now(), processor_time());
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| tokio::spawn(work(items.clone(), task, reads)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let spent = processor_time().saturating_sub(processor).as_secs_f64();
        let calls = CALLS as f64;
        (calls / began.elapsed().as_secs_f64(), spent * 1e6 / calls)
    })
}

/// One task's share of the calls.
async fn work(items: Collection<Item>, task: i64, reads: i64) {
    let mut writes = 0;
    let own = ITEMS * (task + 1);
    for call in 0..CALLS / TASKS {
        // Of ten, the reads are spread among the writes.
        if call * 7 % 10 < reads {
            let id = (call * 7919 + task) % ITEMS;
            assert!(items.get(&id).await.unwrap().is_some());
        } else {
            let id = own + writes / 3;
            match writes % 3 {
                0 => {
                    let item = Item::new(id, ITEMS, Size::Small);
                    items.insert_one(&item).await.unwrap();
                }
                1 => {
                    let other = (call * 104_729 + task) % ITEMS;
                    let done = items.update_one(|i| i.id.eq(other), |i| i.stock.inc(1));
                    assert_eq!(done.await.unwrap().modified, 1);
                }
                _ => {
                    let done = items.delete_one(|i| i.id.eq(id)).await.unwrap();
                    assert_eq!(done.deleted, 1);
                }
            }
            writes += 1;
        }
        // As a task does that awaits something else, so that all of them have their turns.
        if call % 64 == 63 {
            tokio::task::yield_now().await;
        }
    }
}
