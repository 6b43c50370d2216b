//! What copies of fields cost on a mongod: inserts that fill them, and changes that propagate to 100,000 of them, beside the same
//! work by hand with the driver.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench copies
//! ```
//!
//! Inserts: 8 tasks insert 2,000 documents (`ODM_BENCH_INSERTS`) that copy the name of one of 1, 20 or 1,000 parents. *Plain*
//! inserts with a name that the program knows. By hand with the *strict* guarantee, a transaction increments a field of the parent
//! and returns its name by one command, then inserts: no transaction that changes the name can commit beside it. With a *fence*, it
//! increments a field of a document of another collection and reads the parent, as `propagate` does: every other write of the
//! parent goes on beside it. By hand with the *settled* guarantee, an insert reads the parent before and after. Propagation: the
//! name of a parent with 100,000 documents (`ODM_BENCH_COPIES`) changes, in one transaction (strict), or followed by an update of
//! what differs and a second read (settled). The ways run by turns; times are medians over the rounds (`ODM_BENCH_ROUNDS`, 5 by
//! default).
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

use std::env;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, join_all};
use mongodb::ClientSession;
use mongodb::bson::{Document as BsonDocument, doc, oid::ObjectId};
use mongodb::options::ReturnDocument;
use odm::prelude::*;
use odm_benches::{mongod_uri, turns};
use tokio::runtime::Builder;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "publishers",
    has_many(books: Book, by = publisher),
    has_squillions(sales: Sale, by = publisher)
)]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    writes: i64,
}

/// Its copy is strict.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
    #[odm(copy_of(publisher.name))]
    publisher_name: String,
}

/// Its copy is settled.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "sales")]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
    #[odm(copy_of(publisher.name))]
    publisher_name: String,
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
        let plan = db.sync(models![Publisher, Book, Sale]).plan().await;
        plan.unwrap().apply(Allow::CREATE).await.unwrap();
        let rounds = number("ODM_BENCH_ROUNDS", 5);
        inserts(&db, &database, rounds).await;
        propagations(&db, &database, rounds).await;
        database.drop().await.unwrap();
    });
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

async fn clear(database: &mongodb::Database) {
    for name in ["publishers", "books", "sales"] {
        let all = database.collection::<BsonDocument>(name);
        all.delete_many(doc! {}).await.unwrap();
    }
}

fn publisher(id: i32) -> Publisher {
    Publisher {
        id,
        name: format!("publisher {id}"),
        writes: 0,
    }
}

fn book(id: i32, publisher: i32) -> Book {
    Book {
        id,
        publisher: Ref::from(publisher),
        publisher_name: format!("publisher {publisher}"),
    }
}

fn sale(id: i32, publisher: i32) -> Sale {
    Sale {
        id,
        publisher: Ref::from(publisher),
        publisher_name: format!("publisher {publisher}"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Plain,
    StrictByHand,
    FencedByHand,
    Strict,
    SettledByHand,
    Settled,
}

const WAYS: [Way; 6] = [
    Way::Plain,
    Way::StrictByHand,
    Way::FencedByHand,
    Way::Strict,
    Way::SettledByHand,
    Way::Settled,
];

async fn inserts(db: &Db, database: &mongodb::Database, rounds: i32) {
    let count = number("ODM_BENCH_INSERTS", 2_000);
    println!("Inserts with a copy by {TASKS} tasks, µs for each document:\n");
    println!(
        "| parents | plain | strict by hand | by hand with a fence | strict | beside by hand | beside the fence | settled by hand \
         | settled | beside by hand |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for parents in [1, 20, 1_000] {
        let mut times: [Vec<Duration>; 6] = Default::default();
        for round in 0..rounds {
            for (way, times) in turns(round, WAYS.into_iter().zip(&mut times)) {
                clear(database).await;
                let publishers = (0..parents).map(publisher);
                db.collection().insert_many(publishers).await.unwrap();
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
        let times = times.map(|times| median(times).as_secs_f64() * 1e6 / f64::from(count));
        let [
            plain,
            strict_by_hand,
            fenced,
            strict,
            settled_by_hand,
            settled,
        ] = times;
        println!(
            "| {parents} | {plain:.0} | {strict_by_hand:.0} | {fenced:.0} | {strict:.0} | {:.2} | {:.2} | {settled_by_hand:.0} | \
             {settled:.0} | {:.2} |",
            strict / strict_by_hand,
            strict / fenced,
            settled / settled_by_hand
        );
    }
}

async fn insert(db: &Db, database: &mongodb::Database, way: Way, id: i32, parent: i32) {
    let publishers = database.collection::<BsonDocument>("publishers");
    match way {
        Way::Plain => drop(db.collection().insert_one(book(id, parent)).await.unwrap()),
        Way::Strict => {
            let insert = db.collection().insert_one(book(id, parent));
            insert.propagate().await.unwrap();
        }
        Way::Settled => {
            let insert = db.collection().insert_one(sale(id, parent));
            insert.propagate().await.unwrap();
        }
        Way::SettledByHand => {
            let read = || async {
                let found = publishers.find_one(doc! {"_id": parent}).await.unwrap();
                found.unwrap().get_str("name").unwrap().to_owned()
            };
            let name = read().await;
            let sale = doc! {"_id": id, "publisher": parent, "publisher_name": &name};
            let sales = database.collection::<BsonDocument>("sales");
            sales.insert_one(sale).await.unwrap();
            assert_eq!(read().await, name);
        }
        Way::StrictByHand => {
            let books = database.collection::<BsonDocument>("books");
            in_transaction(database, |session| {
                let (publishers, books) = (publishers.clone(), books.clone());
                Box::pin(async move {
                    let read = publishers
                        .find_one_and_update(doc! {"_id": parent}, doc! {"$inc": {"writes": 1_i64}})
                        .return_document(ReturnDocument::After)
                        .session(&mut *session);
                    let publisher = read.await?.unwrap();
                    let name = publisher.get_str("name").unwrap();
                    let book = doc! {"_id": id, "publisher": parent, "publisher_name": name};
                    books.insert_one(book).session(session).await.map(drop)
                })
            })
            .await;
        }
        Way::FencedByHand => {
            let fences = database.collection::<BsonDocument>("fences");
            let books = database.collection::<BsonDocument>("books");
            in_transaction(database, |session| {
                let all = (fences.clone(), publishers.clone(), books.clone());
                Box::pin(async move {
                    let (fences, publishers, books) = all;
                    let fence =
                        fences.update_one(doc! {"_id": parent}, doc! {"$inc": {"writes": 1_i64}});
                    fence.upsert(true).session(&mut *session).await?;
                    let read = publishers.find_one(doc! {"_id": parent});
                    let read = read.projection(doc! {"name": 1});
                    let publisher = read.session(&mut *session).await?.unwrap();
                    let name = publisher.get_str("name").unwrap();
                    let book = doc! {"_id": id, "publisher": parent, "publisher_name": name};
                    books.insert_one(book).session(session).await.map(drop)
                })
            })
            .await;
        }
    }
}

/// Runs the body until its transaction commits.
async fn in_transaction(
    database: &mongodb::Database,
    body: impl for<'s> Fn(&'s mut ClientSession) -> BoxFuture<'s, mongodb::error::Result<()>>,
) {
    let mut session = database.client().start_session().await.unwrap();
    loop {
        session.start_transaction().await.unwrap();
        let mut result = body(&mut session).await;
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

async fn propagations(db: &Db, database: &mongodb::Database, rounds: i32) {
    let count = number("ODM_BENCH_COPIES", 100_000);
    clear(database).await;
    db.collection().insert_one(publisher(1)).await.unwrap();
    let books = (0..count).map(|id| book(id, 1));
    db.collection().insert_many(books).await.unwrap();
    let sales = (0..count).map(|id| sale(id, 1));
    db.collection().insert_many(sales).await.unwrap();
    let mut times: [Vec<Duration>; 2] = Default::default();
    // Both kinds of copies follow each change: the books strictly, the sales afterwards.
    for round in 0..rounds {
        let ways = [Way::StrictByHand, Way::Strict];
        for (way, times) in turns(round, ways.into_iter().zip(&mut times)) {
            let name = format!("{way:?} {round}");
            let started = Instant::now();
            if way == Way::Strict {
                let publishers = db.collection::<Publisher>();
                let change = publishers.update_by_id(&1, |p| p.name.set(&name));
                let result = change.propagate().await.unwrap();
                let written: u64 = result.propagated.iter().map(|one| one.documents).sum();
                assert_eq!(written, 2 * u64::try_from(count).unwrap());
            } else {
                propagate_by_hand(database, &name).await;
            }
            times.push(started.elapsed());
        }
    }
    let [by_hand, odm] = times.map(|times| median(times).as_secs_f64() * 1e3);
    println!(
        "\nA change that propagates to {count} strict and {count} settled copies: by hand {by_hand:.0} ms, `propagate` {odm:.0} ms, \
         {:.2} times",
        odm / by_hand
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "The largest memory of this process: {}",
        peak.unwrap_or("unknown")
    );
}

async fn propagate_by_hand(database: &mongodb::Database, name: &str) {
    let collection = |name| database.collection::<BsonDocument>(name);
    let (publishers, books) = (collection("publishers"), collection("books"));
    let differs = doc! {"publisher": 1, "publisher_name": {"$ne": name}};
    let copy = doc! {"$set": {"publisher_name": name}};
    let change = doc! {"$set": {"name": name}, "$inc": {"writes": 1_i64}};
    in_transaction(database, |session| {
        let (publishers, books) = (publishers.clone(), books.clone());
        let (differs, copy, change) = (differs.clone(), copy.clone(), change.clone());
        Box::pin(async move {
            let update = publishers.update_one(doc! {"_id": 1}, change);
            update.session(&mut *session).await?;
            let update = books.update_many(differs, copy);
            update.session(session).await.map(drop)
        })
    })
    .await;
    let sales = collection("sales");
    sales.update_many(differs, copy).await.unwrap();
    let again = publishers.find_one(doc! {"_id": 1}).await.unwrap();
    assert_eq!(again.unwrap().get_str("name").unwrap(), name);
}
