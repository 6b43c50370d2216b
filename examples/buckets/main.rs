//! Buckets: the readings of weather stations, an hour in a document.
//!
//! ```sh
//! cargo run --example buckets                                     # on the engine in this process
//! cargo run --example buckets -- mongodb://localhost/buckets      # on a server: the same output
//! ```
#![expect(
    clippy::print_stdout,
    reason = "the example shows what it stores and finds"
)]

use odm::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Reading {
    at: DateTime,
    celsius: f64,
    /// A station may have no rain gauge.
    rain: Option<i32>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "hours",
    bucket(of = Reading, by(region, station), max = 40, span = "1h")
)]
struct Hour {
    #[serde(rename = "_id")]
    id: Id<Hour>,
    region: String,
    station: i32,
    #[odm(start_of(at))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
    #[odm(smallest(celsius))]
    coldest: f64,
    #[odm(largest(celsius))]
    warmest: f64,
    #[odm(total(celsius))]
    celsius: f64,
    #[odm(total(rain))]
    rain: i64,
}

/// The first minute of 2026.
const START: i64 = 1_767_225_600_000;

fn minute(minute: i32) -> DateTime {
    DateTime::from_millis(START + i64::from(minute) * 60_000)
}

fn reading(at: i32) -> Reading {
    Reading {
        at: minute(at),
        celsius: f64::from((at * 7) % 30) / 2.0,
        rain: (at % 3 == 0).then_some(at % 5),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = match std::env::args().nth(1) {
        None => Db::memory(),
        Some(uri) => Db::connect(&uri).await?,
    };
    // The example ends by dropping the database: never one that holds anything of yours.
    let names = doc! {"listCollections": 1, "nameOnly": true};
    if !db.run_command(names).all().await?.is_empty() {
        return Err(
            "the database is not empty; name one that the example may fill and drop".into(),
        );
    }
    let shown = show(&db).await;
    db.drop().await?;
    shown
}

async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    db.sync(models![Hour])
        .plan()
        .await?
        .apply(Allow::CREATE)
        .await?;
    let hours = db.buckets::<Hour>();
    let north = |station| ("north".to_owned(), station);

    // A reading each minute of four hours: 60 of an hour are more than a bucket holds.
    let result = hours.insert_many(north(1), (0..240).map(reading)).await?;
    println!(
        "{} readings in {} buckets",
        result.inserted,
        result.opened.len()
    );
    // A late one finds a bucket of its hour with room.
    let late = hours.insert_one(north(1), reading(5)).await?;
    println!("a late reading opens {} buckets", late.opened.len());
    let others = (2..5).map(|station| (north(station), reading(station)));
    let result = hours.insert_all(others).await?;
    println!("three stations open {} buckets", result.opened.len());

    println!("from 1:58 to 2:02:");
    let mut around = hours
        .items(north(1))
        .range(minute(118)..=minute(122))
        .await?;
    while let Some(reading) = around.next().await {
        let reading = reading?;
        println!("  {} °C, rain {:?}", reading.celsius, reading.rain);
    }
    let last = hours.items(north(1)).newest_first().limit(2).all().await?;
    println!(
        "the last two: {:?}",
        last.iter().map(|one| one.celsius).collect::<Vec<_>>()
    );

    let summary = hours.summary(north(1)).range(minute(30)..).await?;
    println!(
        "from 0:30 on: {} readings, at most {:?} °C, {:?} mm of rain",
        summary.count,
        summary.get(|h| h.warmest)?,
        summary.get(|h| h.rain)?,
    );
    let hot = hours
        .collection()
        .find(|h| h.warmest.gt(14.0))
        .count()
        .await?;
    println!("buckets with more than 14 °C: {hot}");

    let deleted = hours.delete(north(1), ..minute(90)).await?;
    println!(
        "deleted before 1:30: {} buckets, and items of {}",
        deleted.deleted, deleted.trimmed
    );
    println!("left: {}", hours.summary(north(1)).await?.count);

    // Another program writes what odm keeps.
    let station = doc! {"region": "north", "station": 2};
    let change = doc! {"q": station, "u": {"$set": {"count": 9}}};
    db.run_command(doc! {"update": "hours", "updates": [change]})
        .await?;
    for finding in db.check(models![Hour]).await?.listed {
        println!("a check finds: {}: {}", finding.kind, finding.detail);
    }
    db.repair(models![Hour]).plan().await?.run().await?;
    println!(
        "sound after a repair: {}",
        db.check(models![Hour]).await?.is_sound()
    );
    Ok(())
}
