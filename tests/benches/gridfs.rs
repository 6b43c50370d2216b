//! What uploads and downloads of a file cost beside the official driver's bucket: time and memory, on a mongod; and in memory.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench gridfs
//! ```
//!
//! A file of 256 MB (`ODM_BENCH_MEGABYTES`) is written 64 KiB at a time, and read into a sink. The ways run by turns; times are medians
//! over the rounds (`ODM_BENCH_ROUNDS`, 5 by default), and the memory is that of the whole process at most.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

use std::env;
use std::time::{Duration, Instant};

use futures::{AsyncReadExt, AsyncWriteExt};
use mongodb::bson::oid::ObjectId;
use odm::gridfs::File;
use odm::prelude::*;
use odm_benches::{mongod_uri, peak, reset_peak, turns};
use tokio::runtime::Builder;

const PART: usize = 64 * 1024;

fn number(variable: &str, usual: usize) -> usize {
    let set = env::var(variable).ok();
    set.map_or(usual, |set| set.parse().unwrap())
}

/// Bytes that a compressor or a cache gains nothing from.
fn part(at: usize) -> Vec<u8> {
    let mut state = at as u64 + 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(next)
        .take(PART / 8)
        .flat_map(u64::to_le_bytes)
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Driver,
    Odm,
}

async fn by_driver(
    database: &mongodb::Database,
    parts: &[Vec<u8>],
    rounds: usize,
) -> [Duration; 2] {
    let bucket = database.gridfs_bucket(None);
    let started = Instant::now();
    let mut stream = bucket.open_upload_stream("a").await.unwrap();
    let id = stream.id().clone();
    for part in parts.iter().cycle().take(rounds) {
        stream.write_all(part).await.unwrap();
    }
    stream.close().await.unwrap();
    let uploaded = started.elapsed();
    let started = Instant::now();
    let mut stream = bucket.open_download_stream(id.clone()).await.unwrap();
    let mut buffer = vec![0; PART];
    let mut read = 0;
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            more => read += more,
        }
    }
    assert_eq!(read, rounds * PART);
    let downloaded = started.elapsed();
    bucket.delete(id).await.unwrap();
    [uploaded, downloaded]
}

async fn by_odm(db: &Db, parts: &[Vec<u8>], rounds: usize) -> [Duration; 2] {
    let files = db.gridfs::<File>();
    let started = Instant::now();
    let mut writer = files.upload("a").open().unwrap();
    for part in parts.iter().cycle().take(rounds) {
        tokio::io::AsyncWriteExt::write_all(&mut writer, part)
            .await
            .unwrap();
    }
    tokio::io::AsyncWriteExt::shutdown(&mut writer)
        .await
        .unwrap();
    let id = *writer.id();
    drop(writer);
    let uploaded = started.elapsed();
    let started = Instant::now();
    let mut reader = files.download(&id).open().await.unwrap();
    let mut buffer = vec![0; PART];
    let mut read = 0;
    loop {
        match tokio::io::AsyncReadExt::read(&mut reader, &mut buffer)
            .await
            .unwrap()
        {
            0 => break,
            more => read += more,
        }
    }
    assert_eq!(read, rounds * PART);
    let downloaded = started.elapsed();
    files.delete(&id).await.unwrap();
    [uploaded, downloaded]
}

fn main() {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        println!("| store | way | upload | download | memory at most |");
        println!("| --- | --- | --- | --- | --- |");
        if let Some(uri) = mongod_uri() {
            let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
            let database = client.database(&format!("odm_bench_{}", ObjectId::new()));
            measure(
                "mongod",
                &Db::from_driver(database.clone()),
                Some(&database),
            )
            .await;
            database.drop().await.unwrap();
        }
        measure("memory", &Db::memory(), None).await;
    });
}

async fn measure(store: &str, db: &Db, database: Option<&mongodb::Database>) {
    let rounds = number("ODM_BENCH_MEGABYTES", 256) * 1_000_000 / PART;
    let parts: Vec<_> = (0..16).map(part).collect();
    let ways = if database.is_some() {
        vec![Way::Driver, Way::Odm]
    } else {
        vec![Way::Odm]
    };
    let mut times: Vec<[Vec<Duration>; 2]> = ways.iter().map(|_| Default::default()).collect();
    let mut memory = vec![String::new(); ways.len()];
    for round in 0..i32::try_from(number("ODM_BENCH_ROUNDS", 5)).unwrap() {
        let all = ways.iter().zip(&mut times).zip(&mut memory);
        for ((way, times), memory) in turns(round, all) {
            reset_peak();
            let [up, down] = match (way, database) {
                (Way::Driver, Some(database)) => by_driver(database, &parts, rounds).await,
                _ => by_odm(db, &parts, rounds).await,
            };
            let [ups, downs] = times;
            ups.push(up);
            downs.push(down);
            *memory = peak();
        }
    }
    for ((way, [up, down]), memory) in ways.iter().zip(times).zip(memory) {
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            times
                .get(times.len() / 2)
                .copied()
                .unwrap_or_default()
                .as_secs_f64()
        };
        println!(
            "| {store} | {way:?} | {:.2} s | {:.2} s | {memory} |",
            median(up),
            median(down)
        );
    }
}
