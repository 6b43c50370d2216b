//! A follower beside writes past odm.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};
use mongodb::bson::{self, Bson, Document, doc};
use mongodb::change_stream::event::{ChangeStreamEvent, OperationType};
use mongodb::options::FullDocumentBeforeChangeType;
use mongodb::{Collection, Database};
use odm::prelude::*;
use tokio::task::JoinHandle;

use crate::by_hand::ByHand;
use crate::models::{Album, Case, Song};
use crate::{Bench, median, number, percentile};

const CASE: Case = Case::Followed;
const PARENTS: i32 = 100;
const SINGLES: i32 = 200;
/// How many events the follower handles together.
const EVENTS: usize = 1_000;

pub(crate) async fn measure(bench: &Bench) {
    let events = events(bench).await;
    clear(bench).await;
    let worker = follow(&bench.db).await;
    let lags = singles(bench).await;
    worker.abort();
    println!("{SINGLES} single inserts past odm, milliseconds:\n");
    println!("| | median | 95th percentile |\n| --- | --- | --- |");
    for (name, times) in [
        ("a change stream returns the event", events),
        ("the follower has written the summary", lags),
    ] {
        let ms = |percent| percentile(times.clone(), percent).as_secs_f64() * 1e3;
        println!("| {name} | {:.1} | {:.1} |", ms(50), ms(95));
    }
    let burst = number("ODM_BENCH_BURST", 10_000);
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..bench.rounds {
        for (is_odm, times) in [false, true].into_iter().zip(&mut times) {
            clear(bench).await;
            let worker = if is_odm {
                follow(&bench.db).await
            } else {
                follow_by_hand(bench).await
            };
            times.push(insert_burst(bench, burst).await);
            worker.abort();
        }
    }
    let [by_hand, odm] = times.map(|times| f64::from(burst) / median(times).as_secs_f64());
    println!(
        "\n{burst} inserts past odm at once, documents for each second until all summaries are right: by hand {by_hand:.0}, the \
         follower {odm:.0}, {:.2} times the time",
        by_hand / odm
    );
}

fn songs(database: &Database) -> Collection<Document> {
    database.collection(CASE.names().children)
}

fn albums(database: &Database) -> Collection<Document> {
    database.collection(CASE.names().parents)
}

async fn clear(bench: &Bench) {
    songs(&bench.database).delete_many(doc! {}).await.unwrap();
    let albums = albums(&bench.database);
    albums.delete_many(doc! {}).await.unwrap();
    let stored = (0..PARENTS).map(|id| CASE.parent(id, &[]));
    albums.insert_many(stored).await.unwrap();
}

/// A follower that has compared all documents, and runs.
async fn follow(db: &Db) -> JoinHandle<()> {
    let mut follower = db.follow(models![Album, Song]).await.unwrap();
    // Either the first comparison, or the events of the documents that were removed.
    let first = tokio::time::timeout(Duration::from_secs(1), follower.next());
    drop(first.await);
    tokio::spawn(async move {
        follower.run().await.unwrap();
    })
}

/// A loop that writes the summaries of the albums in the events that are there, and stores its position.
async fn follow_by_hand(bench: &Bench) -> JoinHandle<()> {
    let names = CASE.names();
    let by_hand = ByHand::new(&bench.database, CASE);
    let positions = bench.database.collection::<Document>("positions");
    let songs = songs(&bench.database);
    let watch = songs.watch();
    let watch = watch.full_document_before_change(FullDocumentBeforeChangeType::WhenAvailable);
    let mut stream = watch.await.unwrap();
    tokio::spawn(async move {
        loop {
            let mut events = vec![stream.next().await.unwrap().unwrap()];
            while events.len() < EVENTS
                && let Some(event) = next_now(&mut stream).await
            {
                events.push(event);
            }
            let documents = events.iter().flat_map(|event| {
                let before = event.full_document_before_change.iter();
                before.chain(&event.full_document)
            });
            let albums = documents.map(|one| one.get_i32(names.reference).unwrap());
            let mut albums: Vec<i32> = albums.collect();
            albums.sort_unstable();
            albums.dedup();
            by_hand.summarize_until_right(&albums).await;
            let token = events.last().map(|event| event.id.clone());
            let token = bson::serialize_to_bson(&token).unwrap();
            let update =
                positions.update_one(doc! {"_id": "songs"}, doc! {"$set": {"token": token}});
            update.upsert(true).await.unwrap();
        }
    })
}

/// An event that was received already.
async fn next_now(
    stream: &mut mongodb::change_stream::ChangeStream<ChangeStreamEvent<Document>>,
) -> Option<ChangeStreamEvent<Document>> {
    let next = futures::future::poll_immediate(stream.next()).await;
    next.flatten().map(|event| event.unwrap())
}

/// The times until a change stream returns the event of an insert.
async fn events(bench: &Bench) -> Vec<Duration> {
    clear(bench).await;
    let songs = songs(&bench.database);
    let mut stream = songs.watch().await.unwrap();
    let mut times = Vec::new();
    for id in 0..SINGLES {
        let started = Instant::now();
        let song = CASE.child(id, id % PARENTS);
        songs.insert_one(song).await.unwrap();
        let event = stream.next().await.unwrap().unwrap();
        assert_eq!(event.operation_type, OperationType::Insert);
        times.push(started.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    times
}

/// The times from the reply of an insert until its summary is stored.
async fn singles(bench: &Bench) -> Vec<Duration> {
    let (songs, albums) = (songs(&bench.database), albums(&bench.database));
    let mut times = Vec::new();
    for id in 0..SINGLES {
        let (album, count) = (id % PARENTS, i64::from(id / PARENTS + 1));
        let song = CASE.child(id, album);
        let started = Instant::now();
        songs.insert_one(song).await.unwrap();
        let right = doc! {"_id": album, "count": count};
        while albums.find_one(right.clone()).await.unwrap().is_none() {}
        times.push(started.elapsed());
        // The follower stores its position.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    times
}

/// The time from the first insert until all summaries are right.
async fn insert_burst(bench: &Bench, count: i32) -> Duration {
    let started = Instant::now();
    let inserts = (0..count).map(|id| CASE.child(id, id % PARENTS));
    songs(&bench.database).insert_many(inserts).await.unwrap();
    loop {
        let sum = doc! {"$group": {"_id": null, "count": {"$sum": "$count"}}};
        let sums = albums(&bench.database).aggregate([sum]).await.unwrap();
        let sums: Vec<Document> = sums.try_collect().await.unwrap();
        let sum = sums.first().and_then(|one| one.get("count"));
        if sum == Some(&Bson::Int64(i64::from(count))) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let time = started.elapsed();
    assert!(CASE.is_sound(&bench.db).await);
    time
}
