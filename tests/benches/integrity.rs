//! What whole references cost on a mongod: inserts that check them, and deletes that act on them, beside the same work by
//! hand with the driver.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench integrity
//! ```
//!
//! Inserts: 8 tasks insert 2,000 documents (`ODM_BENCH_INSERTS`) that refer to one of 1, 20 or 1,000 parents. *Plain* only
//! inserts. *By hand* increments a field of the parent in the transaction of the insert, which is the least that keeps a delete of
//! the parent out. *By hand with a fence* increments a field of a document of another collection and reads the parent, as
//! `check_references` does. Deletes: a document with 100,000 others below it
//! (`ODM_BENCH_CASCADE`), on three levels. *By hand* reads the `_id`s of a level to find the next one, deletes the lowest first,
//! in one transaction, and increments a field of the first document. *With fences*, it increments a field of a fence for each document
//! that others may refer to, as odm does. The ways run by turns; times are medians over the rounds
//! (`ODM_BENCH_ROUNDS`, 5 by default).
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

use std::collections::BTreeSet;
use std::env;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use futures::future::join_all;
use mongodb::ClientSession;
use mongodb::bson::{Bson, Document as BsonDocument, doc, oid::ObjectId};
use odm::prelude::*;
use odm_benches::{mongod_uri, turns};
use tokio::runtime::Builder;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "countries",
    has_many(regions: Region, by = country, on_delete = cascade)
)]
struct Country {
    #[serde(rename = "_id")]
    id: i32,
    writes: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "regions",
    has_many(cities: City, by = region, on_delete = cascade)
)]
struct Region {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    country: Ref<Country>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "cities",
    has_many(streets: Street, by = city, on_delete = cascade)
)]
struct City {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    region: Ref<Region>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "streets")]
struct Street {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    city: Ref<City>,
}

const TASKS: i32 = 8;

fn number(variable: &str, usual: i32) -> i32 {
    let set = env::var(variable).ok();
    set.map_or(usual, |set| set.parse().unwrap())
}

fn main() {
    let Some(uri) = mongod_uri() else {
        println!("`ODM_TEST_URI` names no mongod");
        return;
    };
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
        let database = client.database(&format!("odm_bench_{}", ObjectId::new()));
        let db = Db::from_driver(database.clone());
        let plan = db.sync(models![Country, Region, City, Street]).plan().await;
        plan.unwrap().apply(Allow::CREATE).await.unwrap();
        let rounds = number("ODM_BENCH_ROUNDS", 5);
        inserts(&db, &database, rounds).await;
        cascades(&db, &database, rounds).await;
        database.drop().await.unwrap();
    });
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

async fn clear(database: &mongodb::Database) {
    for name in ["countries", "regions", "cities", "streets"] {
        let all = database.collection::<BsonDocument>(name);
        all.delete_many(doc! {}).await.unwrap();
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Plain,
    ByHand,
    FencedByHand,
    Odm,
}

const WAYS: [Way; 4] = [Way::Plain, Way::ByHand, Way::FencedByHand, Way::Odm];

async fn inserts(db: &Db, database: &mongodb::Database, rounds: i32) {
    let count = number("ODM_BENCH_INSERTS", 2_000);
    println!("Inserts by {TASKS} tasks, µs for each document:\n");
    println!(
        "| parents | plain | by hand | by hand with a fence | `check_references` | beside by hand | beside the fence |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for parents in [1, 20, 1_000] {
        let mut times: [Vec<Duration>; 4] = Default::default();
        for round in 0..rounds {
            for (way, times) in turns(round, WAYS.into_iter().zip(&mut times)) {
                clear(database).await;
                let country = |id| Country { id, writes: 0 };
                db.collection()
                    .insert_many((0..parents).map(country))
                    .await
                    .unwrap();
                let started = Instant::now();
                let tasks = (0..TASKS).map(|task| {
                    let (db, database) = (db.clone(), database.clone());
                    tokio::spawn(async move {
                        for round in 0..count / TASKS {
                            let id = round * TASKS + task;
                            insert(&db, &database, way, id, (id * 7 + task) % parents).await;
                        }
                    })
                });
                for task in join_all(tasks).await {
                    task.unwrap();
                }
                times.push(started.elapsed());
            }
        }
        let [plain, by_hand, fenced, odm] =
            times.map(|times| median(times).as_secs_f64() * 1e6 / f64::from(count));
        println!(
            "| {parents} | {plain:.0} | {by_hand:.0} | {fenced:.0} | {odm:.0} | {:.2} | {:.2} |",
            odm / by_hand,
            odm / fenced
        );
    }
}

async fn insert(db: &Db, database: &mongodb::Database, way: Way, id: i32, parent: i32) {
    let region = Region {
        id,
        country: Ref::from(parent),
    };
    match way {
        Way::Plain => drop(db.collection().insert_one(region).await.unwrap()),
        Way::Odm => drop(
            db.collection()
                .insert_one(region)
                .check_references()
                .await
                .unwrap(),
        ),
        Way::ByHand | Way::FencedByHand => {
            let mut session = database.client().start_session().await.unwrap();
            loop {
                session.start_transaction().await.unwrap();
                let is_fenced = way == Way::FencedByHand;
                let mut result = by_hand(database, &mut session, is_fenced, id, parent).await;
                if result.is_ok() {
                    result = session.commit_transaction().await;
                }
                match result {
                    Ok(()) => break,
                    Err(error) if error.contains_label("TransientTransactionError") => {
                        let _aborted = session.abort_transaction().await;
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// The commands of one attempt.
async fn by_hand(
    database: &mongodb::Database,
    session: &mut ClientSession,
    is_fenced: bool,
    id: i32,
    parent: i32,
) -> mongodb::error::Result<()> {
    let countries = database.collection::<BsonDocument>("countries");
    let regions = database.collection::<BsonDocument>("regions");
    let region = doc! {"_id": id, "country": parent};
    let (key, change) = (doc! {"_id": parent}, doc! {"$inc": {"writes": 1_i64}});
    if is_fenced {
        let fences = database.collection::<BsonDocument>("fences");
        let fence = fences.update_one(key.clone(), change).upsert(true);
        fence.session(&mut *session).await?;
        regions.insert_one(region).session(&mut *session).await?;
        let read = countries.find_one(key).projection(doc! {"_id": 1});
        assert!(read.session(session).await?.is_some());
    } else {
        let write = countries.update_one(key, change);
        let written = write.session(&mut *session).await?;
        assert_eq!(written.matched_count, 1);
        regions.insert_one(region).session(session).await?;
    }
    Ok(())
}

async fn cascades(db: &Db, database: &mongodb::Database, rounds: i32) {
    let count = number("ODM_BENCH_CASCADE", 100_000);
    let (regions, cities) = (count / 1_000, count / 10);
    let streets = count - regions - cities;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        let ways = [Way::ByHand, Way::FencedByHand, Way::Odm];
        for (way, times) in turns(round, ways.into_iter().zip(&mut times)) {
            clear(database).await;
            db.collection()
                .insert_one(Country { id: 1, writes: 0 })
                .await
                .unwrap();
            let region = |id| Region {
                id,
                country: Ref::from(1),
            };
            db.collection()
                .insert_many((0..regions).map(region))
                .await
                .unwrap();
            let city = |id| City {
                id,
                region: Ref::from(id % regions),
            };
            db.collection()
                .insert_many((0..cities).map(city))
                .await
                .unwrap();
            let street = |id| Street {
                id,
                city: Ref::from(id % cities),
            };
            db.collection()
                .insert_many((0..streets).map(street))
                .await
                .unwrap();
            let started = Instant::now();
            if way == Way::Odm {
                let delete = db
                    .collection::<Country>()
                    .delete_by_id(&1)
                    .with_dependents();
                let result = delete.await.unwrap();
                let deleted: u64 = result.dependents.iter().map(|it| it.documents).sum();
                assert_eq!(deleted, u64::try_from(count).unwrap());
            } else {
                let is_fenced = way == Way::FencedByHand;
                // mongod aborts a transaction that its cache has no room for.
                while let Err(error) = cascade_by_hand(database, is_fenced).await {
                    let is_transient = error.contains_label("TransientTransactionError");
                    assert!(is_transient, "{error}");
                }
            }
            times.push(started.elapsed());
        }
    }
    let [by_hand, fenced, odm] = times.map(|times| median(times).as_secs_f64() * 1e3);
    println!(
        "\nA cascade of {count} documents over three levels: by hand {by_hand:.0} ms, with fences {fenced:.0} ms, `with_dependents` \
         {odm:.0} ms: {:.2} and {:.2} times",
        odm / by_hand,
        odm / fenced
    );
}

async fn cascade_by_hand(
    database: &mongodb::Database,
    is_fenced: bool,
) -> mongodb::error::Result<()> {
    let collection = |name| database.collection::<BsonDocument>(name);
    let mut session = database.client().start_session().await?;
    session.start_transaction().await?;
    let countries = collection("countries");
    let touch = countries.update_one(doc! {"_id": 1}, doc! {"$inc": {"writes": 1_i64}});
    touch.session(&mut session).await?;
    let mut levels = vec![vec![Bson::Int32(1)]];
    for (name, by) in [("regions", "country"), ("cities", "region")] {
        let above = levels.last().unwrap().clone();
        let level = collection(name);
        let find = level
            .find(doc! {by: {"$in": above}})
            .projection(doc! {"_id": 1});
        let mut found = find.session(&mut session).await?;
        let mut ids = Vec::new();
        let mut stream = found.stream(&mut session);
        while let Some(document) = stream.try_next().await? {
            ids.push(document.get("_id").unwrap().clone());
        }
        levels.push(ids);
    }
    if is_fenced {
        let fences = levels.iter().zip(["countries", "regions", "cities"]);
        let fences = fences.flat_map(|(ids, name)| {
            ids.iter().map(move |id| {
                let fence = id.as_i32().unwrap() % 4_096;
                (name, fence)
            })
        });
        let fences: BTreeSet<(&str, i32)> = fences.collect();
        let statements = fences.into_iter().map(|(name, fence)| {
            let id = doc! {"collection": name, "fence": fence};
            doc! {"q": {"_id": id}, "u": {"$inc": {"writes": 1_i64}}, "upsert": true}
        });
        let statements: Vec<_> = statements.collect();
        let update = doc! {"update": "fences", "updates": statements};
        let written = database.run_command(update).session(&mut session);
        written.await?;
    }
    let cities = levels.pop().unwrap();
    let regions = levels.pop().unwrap();
    for (name, filter) in [
        ("streets", doc! {"city": {"$in": cities.clone()}}),
        ("cities", doc! {"_id": {"$in": cities}}),
        ("regions", doc! {"_id": {"$in": regions}}),
        ("countries", doc! {"_id": 1}),
    ] {
        let level = collection(name);
        let delete = level.delete_many(filter);
        delete.session(&mut session).await?;
    }
    session.commit_transaction().await
}
