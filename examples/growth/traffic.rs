//! Traffic of a web site: a log that is tailed, numbers of tickets, minutes of an hour, and a view of them.

use odm::bson;
use odm::prelude::*;

/// The newest requests.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "requests", capped(size = 65_536, max = 5))]
struct Request {
    #[serde(rename = "_id")]
    number: i64,
    path: String,
    minute: u32,
}

/// The requests in each minute of an hour. There are many hours, so the names are short.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "hours")]
struct Hour {
    #[serde(rename = "_id")]
    hour: String,
    #[serde(rename = "m")]
    #[odm(length = 60)]
    minutes: Vec<i32>,
}

fn busy_hours() -> Vec<bson::Document> {
    vec![
        doc! {"$set": {"requests": {"$sum": "$m"}, "peak": {"$max": "$m"}}},
        doc! {"$match": {"requests": {"$gte": 5}}},
        doc! {"$unset": "m"},
    ]
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "busy_hours", view(on = Hour, pipeline = busy_hours))]
struct BusyHour {
    #[serde(rename = "_id")]
    hour: String,
    requests: i32,
    peak: i32,
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    let plan = db.sync(models![BusyHour, Hour, Request]).plan().await?;
    for step in plan.steps() {
        println!("{}: {step}", step.collection);
    }
    plan.apply(Allow::CREATE).await?;

    let (requests, hours) = (db.collection::<Request>(), db.collection::<Hour>());
    let mut tail = requests.tail().await?;
    for hour in ["14:00", "15:00"] {
        let minutes = vec![0; 60];
        let hour = hour.to_owned();
        hours.insert_one(Hour { hour, minutes }).await?;
    }
    // Numbers of a block may have gaps; the log needs none without.
    let numbers = db.counter("requests").next_block(5).await?;
    for (number, minute) in numbers.zip([3, 3, 17, 3, 59]) {
        let path = format!("/books/{number}");
        let request = Request {
            number,
            path,
            minute,
        };
        requests.insert_one(&request).await?;
    }
    // Another task would do this all the time.
    for _ in 0..5 {
        let Some(request) = tail.next().await.transpose()? else {
            break;
        };
        println!("request {} of {}", request.number, request.path);
        let counted = hours.update_by_id("14:00", |h| h.minutes.at(request.minute).inc(1));
        counted.await?;
    }
    let refused = hours.update_by_id("14:00", |h| h.minutes.at(60).inc(1));
    if let Err(error) = refused.await {
        println!("{error}");
    }
    for hour in db.collection::<BusyHour>().find_all().all().await? {
        println!(
            "{}: {} requests, at most {} in a minute",
            hour.hour, hour.requests, hour.peak
        );
    }
    Ok(())
}
