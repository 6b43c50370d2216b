//! What commands cost the engine beside a mongod: CPU time of each, in one run.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench pipelines
//! ```
//!
//! The mongod must run on this machine, whose `/proc` has its CPU time. 100,000 events and 20,000 films are stored on both.
//! Each command runs on both by turns, over as many rounds as `ODM_BENCH_ROUNDS` says (5 by default); a round repeats it until
//! the mongod has used a fifth of a second. *Ratio* is mongod's time ÷ the engine's: below 1, the engine is slower. Both times
//! end with the reply in bytes: the client's decoding counts on neither side.
//! `ODM_BENCH_ONLY` chooses the rows whose names contain it. mongod's time includes the network, which is most of a short
//! command's time.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

mod everyday;
mod moved;

use std::time::Duration;
use std::{env, fs};

use mongodb::bson::{Document, RawDocumentBuf, doc};
use odm::Db;
use odm_benches::mongod_uri;
use odm_engine::{Context, Service};
use tokio::runtime::Builder;

const EVENTS: i32 = 100_000;
const FILMS: i32 = 20_000;
const USERS: i32 = 1_000;
const CHUNK: i32 = 5_000;

/// The least time of a round on mongod, whose CPU time is counted in hundredths of a second.
const ROUND: Duration = Duration::from_millis(200);
const MOST_RUNS: u32 = 2_000;

/// A number that looks random and is the same in every run.
fn mixed(number: i32, range: i32) -> i32 {
    let mixed = (i64::from(number) * 2_654_435_761) >> 7;
    i32::try_from(mixed.rem_euclid(i64::from(range))).unwrap()
}

fn event(id: i32) -> Document {
    doc! {
        "_id": id,
        "user": mixed(id, USERS),
        "kind": format!("kind {}", mixed(id + 7, 20)),
        "value": mixed(id + 13, 1_000),
        "tags": [mixed(id, 9), mixed(id + 1, 9), mixed(id + 2, 9)],
        "place": { "city": mixed(id + 3, 300), "zone": mixed(id + 5, 10) },
    }
}

fn film(id: i32) -> Document {
    let cast: Vec<Document> = (0..8)
        .map(|at| doc! { "name": format!("actor {}", mixed(id * 8 + at, 5_000)), "role": at })
        .collect();
    doc! {
        "_id": id,
        "title": format!("film {}", mixed(id, 1_000_000)),
        "year": 1920 + mixed(id + 1, 100),
        "genres": [mixed(id, 18), mixed(id + 2, 18)],
        "votes": mixed(id + 3, 1_000_000),
        "rating": f64::from(mixed(id + 4, 100)) / 10.0,
        "director": mixed(id + 5, 900),
        "plot": "A stranger comes to a small town, and nothing is as it was before. ".repeat(6),
        "cast": cast,
    }
}

/// The database on the engine.
const DATABASE: &str = "bench";

/// A command in bytes, for the database on the engine.
fn bytes(command: &Document) -> RawDocumentBuf {
    let mut command = command.clone();
    command.insert("$db", DATABASE);
    RawDocumentBuf::try_from(&command).unwrap()
}

/// Runs a command on both.
async fn run(db: &Db, engine: &Service, command: Document) {
    engine.try_run(&bytes(&command)).unwrap();
    db.run_command(command).await.unwrap();
}

async fn fill(db: &Db, engine: &Service) {
    db.drop().await.unwrap();
    let users = (0..USERS).map(|id| doc! { "_id": id, "name": format!("user {id}"), "alias": id });
    for (name, count, make) in [
        ("events", EVENTS, event as fn(i32) -> Document),
        ("films", FILMS, film),
    ] {
        for from in (0..count).step_by(usize::try_from(CHUNK).unwrap()) {
            let documents: Vec<Document> = (from..(from + CHUNK).min(count)).map(make).collect();
            let insert = doc! { "insert": name, "documents": documents };
            run(db, engine, insert).await;
        }
    }
    let users: Vec<Document> = users.collect();
    run(db, engine, doc! { "insert": "users", "documents": users }).await;
    let written: Vec<Document> = (0..USERS)
        .map(|id| doc! { "_id": id, "user": id, "value": id, "n": 0 })
        .collect();
    run(
        db,
        engine,
        doc! { "insert": "written", "documents": written },
    )
    .await;
    for (collection, key) in [
        ("events", doc! { "user": 1 }),
        ("events", doc! { "kind": 1, "value": 1 }),
        ("films", doc! { "year": 1, "votes": 1 }),
        ("films", doc! { "cast.name": 1 }),
        ("written", doc! { "user": 1 }),
        ("written", doc! { "value": 1 }),
    ] {
        let name = key.keys().cloned().collect::<Vec<_>>().join("_");
        let index = doc! { "key": key, "name": name };
        let create = doc! { "createIndexes": collection, "indexes": [index] };
        run(db, engine, create).await;
    }
}

fn pipeline(collection: &str, stages: Vec<Document>) -> Document {
    doc! { "aggregate": collection, "pipeline": stages, "cursor": { "batchSize": 1_000_000 } }
}

/// The CPU time that a process has had.
fn cpu_of(process: i64) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name before the last `)` may have spaces.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn own_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap()
}

/// The time of one run of a command on mongod and on the engine.
async fn times(command: &Document, mongod: (&Db, i64), engine: &Service) -> (Duration, Duration) {
    let (server, process) = mongod;
    let start = cpu_of(process);
    let mut runs = 0;
    while runs < MOST_RUNS && cpu_of(process).saturating_sub(start) < ROUND {
        server.run_command(command.clone()).await.unwrap();
        runs += 1;
    }
    let there = cpu_of(process).saturating_sub(start) / runs;
    let command = bytes(command);
    let start = own_cpu();
    let mut here_runs = 0;
    while here_runs < runs.max(1) && own_cpu().saturating_sub(start) < ROUND {
        engine.try_run(&command).unwrap();
        here_runs += 1;
    }
    (there, own_cpu().saturating_sub(start) / here_runs)
}

fn median<T: PartialOrd + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable_by(|one, other| one.partial_cmp(other).unwrap());
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn main() {
    let Some(uri) = mongod_uri() else { return };
    let rounds = env::var("ODM_BENCH_ROUNDS").map_or(5, |rounds| rounds.parse().unwrap());
    let only = env::var("ODM_BENCH_ONLY").unwrap_or_default();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (address, options) = uri.split_once("/?").unwrap_or((&uri, ""));
        let server = Db::connect(&format!("{address}/odm_bench_pipelines?{options}"))
            .await
            .unwrap();
        let status = server
            .run_command(doc! { "serverStatus": 1 })
            .await
            .unwrap();
        let process = status.get_i64("pid").unwrap();
        let engine = Service::new(Context::system());
        fill(&server, &engine).await;
        for rows in [moved::rows(), everyday::rows()] {
            println!(
                "{:46} {:>12} {:>12} {:>7}",
                "", "mongod ms", "engine ms", "ratio"
            );
            let mut ratios = Vec::new();
            for (name, command) in rows {
                if !name.contains(&only) {
                    continue;
                }
                let (mut there, mut here) = (Vec::new(), Vec::new());
                for _ in 0..rounds {
                    let (server, engine) = times(&command, (&server, process), &engine).await;
                    there.push(server);
                    here.push(engine);
                }
                let (there, here) = (median(there).as_secs_f64(), median(here).as_secs_f64());
                let ratio = there / here;
                ratios.push(ratio);
                println!(
                    "{name:46} {:>12.3} {:>12.3} {ratio:>7.2}",
                    there * 1_000.0,
                    here * 1_000.0,
                );
            }
            println!("median {:>71.2}", median(ratios));
        }
        server.drop().await.unwrap();
    });
}
