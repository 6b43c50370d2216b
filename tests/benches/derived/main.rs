//! What summaries, two-way references and lists of the newest cost on a mongod, beside the same work by hand with the driver, and
//! how far a follower lags behind writes past odm.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench derived
//! cargo bench -p odm-benches --bench derived -- bulk follower
//! ```
//!
//! Inserts: 8 tasks insert 2,000 documents (`ODM_BENCH_INSERTS`) that refer to one of 1, 20 or 1,000 parents. The parent has their
//! number and their mean, or their `_id`s, or the newest 10. Moves: the same number of documents, each of which moves to the next
//! parent. By hand with the same guarantee: *strict*, a transaction increments a field of a fence, as odm does; *settled*, it
//! stores a record by which another process could go on, and the summary is written until it does not change. A change of a two-way
//! reference writes both documents and needs no fence. By hand, `findAndModify` returns the former parent of a moved document.
//!
//! Bulk: 1,000 writes (400 inserts, 300 updates, 300 deletes) of summarized documents in one transaction. By hand the summaries are
//! written after each kind of writes, or once at the end. Follower: 200 single inserts past odm, each of which waits until its
//! summary is right, beside the time until a change stream returns the event; then 10,000 (`ODM_BENCH_BURST`) at once, beside a
//! loop over a change stream by hand.
//!
//! The ways run by turns; times are medians over the rounds (`ODM_BENCH_ROUNDS`, 5 by default). The bar is 1.1 times the driver.
//! First each way lists the commands that it sends. Words behind `--` select parts by their names.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

mod bulk;
mod by_hand;
mod commands;
mod follower;
mod models;
mod singles;

use std::env;
use std::time::Duration;

use models::{Album, Host, Message, Person, Product, Reading, Review, Shop, Song, Station, Task};
use models::{Case, Visit};
use mongodb::bson::oid::ObjectId;
use odm::prelude::*;
use odm_benches::{mongod_uri, peak, reset_peak};
use singles::Change;
use tokio::runtime::Builder;

const PARTS: [&str; 6] = [
    "commands",
    "summaries",
    "two-way",
    "newest",
    "bulk",
    "follower",
];

/// A database, by odm and by the driver.
#[derive(Debug, Clone)]
struct Bench {
    db: Db,
    database: mongodb::Database,
    rounds: i32,
}

fn main() {
    let Some(uri) = mongod_uri() else {
        println!("`ODM_TEST_URI` names no mongod");
        return;
    };
    // Cargo adds `--bench`.
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    for word in &words {
        assert!(PARTS.contains(&word.as_str()), "no part is named {word}");
    }
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
        let database = client.database(&format!("odm_bench_{}", ObjectId::new()));
        let db = Db::from_driver(database.clone());
        let all = models![
            Product, Review, Shop, Visit, Person, Task, Host, Message, Station, Reading, Album,
            Song
        ];
        let plan = db.sync(all).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        let rounds = number("ODM_BENCH_ROUNDS", 5);
        let bench = Bench {
            db,
            database,
            rounds,
        };
        for part in PARTS {
            if words.is_empty() || words.iter().any(|word| word == part) {
                reset_peak();
                run(&bench, part, &uri).await;
                println!("\nThe largest memory of this process: {}\n", peak());
            }
        }
        bench.database.drop().await.unwrap();
    });
}

async fn run(bench: &Bench, part: &str, uri: &str) {
    let summaries = [Case::StrictSummary, Case::SettledSummary];
    let lists = [Case::StrictList, Case::SettledList];
    match part {
        "commands" => commands::list(bench, uri).await,
        "summaries" => {
            singles::compare(bench, Change::Insert, &summaries).await;
            singles::compare(bench, Change::Move, &summaries).await;
        }
        "two-way" => {
            singles::compare(bench, Change::Insert, &[Case::TwoWay]).await;
            singles::compare(bench, Change::Move, &[Case::TwoWay]).await;
        }
        "newest" => singles::compare(bench, Change::Insert, &lists).await,
        "bulk" => bulk::compare(bench).await,
        _ => follower::measure(bench).await,
    }
}

fn number(variable: &str, usual: i32) -> i32 {
    let set = env::var(variable).ok();
    set.map_or(usual, |set| set.parse().unwrap())
}

fn median(times: Vec<Duration>) -> Duration {
    percentile(times, 50)
}

fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    let position = times.len() * percent / 100;
    times.get(position).copied().unwrap_or_default()
}
