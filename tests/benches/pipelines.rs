//! What aggregations cost the engine beside a mongod: CPU time of each, in one run.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench pipelines
//! ```
//!
//! The mongod must run on this machine, whose `/proc` has its CPU time. 100,000 events and 20,000 films are stored on both.
//! Each command runs on both by turns, over as many rounds as `ODM_BENCH_ROUNDS` says (5 by default); a round repeats it until
//! the mongod has used a fifth of a second. *Ratio* is mongod's time ÷ the engine's: below 1, the engine is slower. Both times
//! end with the reply in bytes: the client's decoding counts on neither side.
//! `ODM_BENCH_ONLY` chooses the rows whose names contain it.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

use std::time::Duration;
use std::{env, fs};

use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};
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
    for (collection, key) in [
        ("events", doc! { "user": 1 }),
        ("events", doc! { "kind": 1, "value": 1 }),
        ("films", doc! { "year": 1, "votes": 1 }),
        ("films", doc! { "cast.name": 1 }),
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

fn rows() -> Vec<(&'static str, Document)> {
    let events = |stages| pipeline("events", stages);
    let films = |stages| pipeline("films", stages);
    let lookup = |local: &str, foreign: &str| {
        doc! { "$lookup": { "from": "users", "localField": local, "foreignField": foreign, "as": "found" } }
    };
    vec![
        (
            "$addFields, $match on an index",
            events(vec![
                doc! { "$addFields": { "double": { "$multiply": ["$value", 2] } } },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$project, $match on an index",
            events(vec![
                doc! { "$project": { "user": 1, "value": 1 } },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$sort, $match on an index",
            events(vec![
                doc! { "$sort": { "value": 1 } },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$unwind, $match on the parent's index",
            events(vec![
                doc! { "$unwind": "$tags" },
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$lookup, $match on the parent's index",
            events(vec![
                lookup("user", "_id"),
                doc! { "$match": { "user": 7 } },
            ]),
        ),
        (
            "$group, $match on the key",
            events(vec![
                doc! { "$group": { "_id": "$user", "sum": { "$sum": "$value" } } },
                doc! { "$match": { "_id": 7 } },
            ]),
        ),
        (
            "distinct by an index",
            doc! { "distinct": "events", "key": "user" },
        ),
        (
            "$group of an index",
            events(vec![doc! { "$group": { "_id": "$user" } }]),
        ),
        (
            "$sort, $group with $first",
            events(vec![
                doc! { "$sort": { "kind": 1, "value": 1 } },
                doc! { "$group": { "_id": "$kind", "first": { "$first": "$value" } } },
            ]),
        ),
        (
            "$unwind, $group",
            events(vec![
                doc! { "$unwind": "$tags" },
                doc! { "$group": { "_id": "$tags", "sum": { "$sum": "$value" } } },
            ]),
        ),
        (
            "$group with $sum",
            events(vec![
                doc! { "$group": { "_id": "$place.city", "sum": { "$sum": "$value" } } },
            ]),
        ),
        (
            "$lookup without an index, 100 documents",
            events(vec![doc! { "$limit": 100 }, lookup("user", "alias")]),
        ),
        (
            "$lookup by an index, 1,000 documents",
            events(vec![doc! { "$limit": 1_000 }, lookup("user", "_id")]),
        ),
        (
            "covered projection of 10,000",
            doc! {
                "find": "events",
                "filter": { "user": { "$lt": 100 } },
                "projection": { "_id": 0, "user": 1 },
                "batchSize": 1_000_000,
            },
        ),
        (
            "count over half of an index",
            doc! { "count": "events", "query": { "user": { "$lt": USERS / 2 } } },
        ),
        (
            "$facet of three",
            events(vec![
                doc! { "$match": { "user": { "$lt": 100 } } },
                doc! { "$facet": {
                    "kinds": [{ "$sortByCount": "$kind" }],
                    "values": [{ "$group": { "_id": Bson::Null, "most": { "$max": "$value" } } }],
                    "some": [{ "$limit": 10 }],
                } },
            ]),
        ),
        (
            "$project, $group of one field of a film",
            films(vec![
                doc! { "$project": { "director": 1 } },
                doc! { "$group": { "_id": "$director", "films": { "$sum": 1 } } },
            ]),
        ),
        (
            "$group of one field of a film",
            films(vec![
                doc! { "$group": { "_id": "$director", "films": { "$sum": 1 } } },
            ]),
        ),
        (
            "$sort, $skip, $limit without an index",
            films(vec![
                doc! { "$sort": { "rating": -1, "title": 1 } },
                doc! { "$skip": 100 },
                doc! { "$limit": 20 },
            ]),
        ),
        (
            "$addFields, $sort, $limit",
            films(vec![
                doc! { "$addFields": { "score": { "$multiply": ["$rating", "$votes"] } } },
                doc! { "$sort": { "score": -1 } },
                doc! { "$limit": 20 },
            ]),
        ),
        (
            "sort of all films",
            doc! { "find": "films", "sort": { "title": 1 }, "batchSize": 1_000_000, "projection": { "title": 1 } },
        ),
        (
            "$expr of two fields",
            films(vec![
                doc! { "$match": { "$expr": { "$gt": ["$year", "$votes"] } } },
            ]),
        ),
        (
            "equality in an array by an index",
            doc! { "find": "films", "filter": { "cast.name": "actor 7" } },
        ),
        (
            "$elemMatch without an index",
            doc! { "find": "films", "filter": { "cast": { "$elemMatch": { "role": 3, "name": { "$gt": "actor 99" } } } } },
        ),
    ]
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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
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
        println!(
            "{:42} {:>12} {:>12} {:>7}",
            "", "mongod ms", "engine ms", "ratio"
        );
        for (name, command) in rows() {
            if !name.contains(&only) {
                continue;
            }
            let (mut there, mut here) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                let (server, engine) = times(&command, (&server, process), &engine).await;
                there.push(server);
                here.push(engine);
            }
            let (there, here) = (median(there), median(here));
            println!(
                "{name:42} {:>12.3} {:>12.3} {:>7.2}",
                there.as_secs_f64() * 1_000.0,
                here.as_secs_f64() * 1_000.0,
                there.as_secs_f64() / here.as_secs_f64(),
            );
        }
        server.drop().await.unwrap();
    });
}
