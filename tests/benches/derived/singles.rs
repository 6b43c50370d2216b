//! Inserts and moves of single documents by several tasks.

use std::time::{Duration, Instant};

use futures::future::join_all;
use mongodb::bson::{Document, doc};
use odm_benches::turns;

use crate::by_hand::ByHand;
use crate::models::Case;
use crate::{Bench, median, number};

const TASKS: i32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Insert,
    Move,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    ByHand,
    Odm,
}

/// Prints a table with a row for each number of parents.
pub(crate) async fn compare(bench: &Bench, change: Change, cases: &[Case]) {
    let count = number("ODM_BENCH_INSERTS", 2_000);
    println!("{change:?}s by {TASKS} tasks, µs and attempts of a transaction for each document:\n");
    let mut ways = Vec::new();
    if change == Change::Insert {
        ways.extend(cases.first().map(|case| (*case, Way::Plain)));
    }
    let mut head = vec!["parents".to_owned()];
    if change == Change::Insert {
        head.push("plain".to_owned());
    }
    for case in cases {
        ways.extend([(*case, Way::ByHand), (*case, Way::Odm)]);
        head.extend([format!("{case:?} by hand"), format!("{case:?}")]);
        head.push("beside by hand".to_owned());
    }
    println!("| {} |", head.join(" | "));
    println!("{}|", "| --- ".repeat(head.len()));
    for parents in [1, 20, 1_000] {
        if change == Change::Move && parents == 1 {
            continue;
        }
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); ways.len()];
        let mut attempts = vec![0; ways.len()];
        for round in 0..bench.rounds {
            let results = times.iter_mut().zip(&mut attempts);
            for ((case, way), (times, attempts)) in turns(round, ways.iter().zip(results)) {
                prepare(bench, *case, change, parents, count).await;
                let before = transactions(bench).await;
                times.push(run(bench, *case, change, *way, parents, count).await);
                *attempts += transactions(bench).await - before;
                if *way != Way::Plain {
                    assert!(case.is_sound(&bench.db).await, "{case:?} by {way:?}");
                }
            }
        }
        let mut row = vec![parents.to_string()];
        let mut by_hand = None;
        for ((_, way), (times, attempts)) in ways.iter().zip(times.into_iter().zip(attempts)) {
            let time = median(times).as_secs_f64() * 1e6 / f64::from(count);
            let attempts = f64::from(attempts) / f64::from(count * bench.rounds);
            row.push(format!("{time:.0} ({attempts:.1})"));
            match way {
                Way::Plain => {}
                Way::ByHand => by_hand = Some(time),
                Way::Odm => row.push(format!("{:.2}", time / by_hand.take().unwrap())),
            }
        }
        println!("| {} |", row.join(" | "));
    }
    println!();
}

/// How many transactions have begun on the server.
async fn transactions(bench: &Bench) -> i32 {
    let admin = bench.database.client().database("admin");
    let status = admin.run_command(doc! {"serverStatus": 1}).await.unwrap();
    let transactions = status.get_document("transactions").unwrap();
    let started = transactions.get_i64("totalStarted").unwrap();
    i32::try_from(started).unwrap()
}

/// Stores the parents, and the children that are to be moved.
async fn prepare(bench: &Bench, case: Case, change: Change, parents: i32, count: i32) {
    let names = case.names();
    for name in [names.parents, names.children] {
        let all = bench.database.collection::<Document>(name);
        all.delete_many(doc! {}).await.unwrap();
    }
    let is_move = change == Change::Move;
    let children: Vec<i32> = (0..count).filter(|_| is_move).collect();
    let of = |parent| {
        children
            .iter()
            .copied()
            .filter(move |id| id % parents == parent)
    };
    let stored = (0..parents).map(|id| case.parent(id, &of(id).collect::<Vec<_>>()));
    let all = bench.database.collection(names.parents);
    all.insert_many(stored).await.unwrap();
    if is_move {
        let stored = children.iter().map(|id| case.child(*id, id % parents));
        let all = bench.database.collection(names.children);
        all.insert_many(stored).await.unwrap();
    }
}

async fn run(
    bench: &Bench,
    case: Case,
    change: Change,
    way: Way,
    parents: i32,
    count: i32,
) -> Duration {
    let started = Instant::now();
    let tasks = (0..TASKS).map(|task| {
        let (db, by_hand) = (bench.db.clone(), ByHand::new(&bench.database, case));
        tokio::spawn(async move {
            for round in 0..count / TASKS {
                let id = round * TASKS + task;
                let (parent, next) = ((id * 7 + task) % parents, (id + 1) % parents);
                match (way, change) {
                    (Way::Plain, _) => by_hand.plain(id, parent).await,
                    (Way::ByHand, Change::Insert) => by_hand.insert(id, parent).await,
                    (Way::ByHand, Change::Move) => by_hand.reassign(id, next).await,
                    (Way::Odm, Change::Insert) => case.insert(&db, id, parent).await,
                    (Way::Odm, Change::Move) => case.reassign(&db, id, next).await,
                }
            }
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }
    started.elapsed()
}
