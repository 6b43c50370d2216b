//! What the types of other crates have in common: operators of the stored type, ids, indexes, refusals, modules of one's own.

use std::time::Duration;

use chrono::{DateTime as ChronoTime, TimeDelta, Utc};
use jiff::Timestamp;
use odm::bson::{self, Bson, doc};
use odm::error::Code;
use odm::prelude::*;
use odm::relation::Resolved;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::OffsetDateTime;
use url::Url;
use uuid::Uuid;

use crate::case::cases;

cases![
    dates_have_the_operators_of_dates,
    numbers_have_the_operators_of_numbers,
    text_has_the_operators_of_text,
    ids_are_newtypes,
    what_would_be_rounded_is_refused,
    truncated_values_are_found_by_the_values_they_came_from,
    what_a_type_can_not_hold_is_not_read,
    a_timestamp_is_no_date,
    keys_of_json_have_no_meaning,
    a_module_of_ones_own,
    fields_inside_enums_and_lists,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "jobs", ttl(done, after = "30d"), index(starts))]
struct Job {
    #[serde(rename = "_id")]
    id: JobId,
    #[serde(with = "odm::chrono_0_4")]
    starts: ChronoTime<Utc>,
    #[serde(
        default,
        with = "odm::time_0_3",
        skip_serializing_if = "Option::is_none"
    )]
    done: Option<OffsetDateTime>,
    #[serde(with = "odm::jiff_0_2::truncated")]
    seen: Timestamp,
    #[serde(with = "odm::rust_decimal_1")]
    #[odm(range(min = 0))]
    cost: Decimal,
    #[serde(with = "odm::duration")]
    limit: Duration,
    #[serde(with = "odm::int128")]
    bytes: u128,
    #[serde(with = "odm::url_2")]
    page: Url,
    after: Option<Ref<Job>>,
}

/// The id of a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
struct JobId(#[serde(with = "odm::uuid_1")] Uuid);

fn job(id: u128) -> Job {
    Job {
        id: JobId(Uuid::from_u128(id)),
        starts: ChronoTime::from_timestamp_millis(1_000).unwrap(),
        done: None,
        seen: "2026-11-23T09:30:00.1234567Z".parse().unwrap(),
        cost: Decimal::new(150, 2),
        limit: Duration::from_secs(60),
        bytes: 1,
        page: "https://example.org/a".parse().unwrap(),
        after: None,
    }
}

async fn jobs(db: &Db) -> Collection<Job> {
    let plan = db.sync(models![Job]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let jobs = db.collection::<Job>();
    jobs.insert_one(job(1)).await.unwrap();
    jobs
}

async fn raw(jobs: &Collection<Job>) -> bson::Document {
    let found = jobs.find_all().with_type().first().await;
    found.unwrap().unwrap()
}

/// The code of the write error of a command.
async fn refused(db: &Db, command: bson::Document) -> i32 {
    let reply = db.run_command(command).await.unwrap();
    let errors = reply.get_array("writeErrors").unwrap();
    errors[0].as_document().unwrap().get_i32("code").unwrap()
}

async fn dates_have_the_operators_of_dates(db: &Db) {
    let jobs = jobs(db).await;
    let before = Utc::now() - TimeDelta::minutes(5);
    jobs.update_one(
        |j| j.id.eq(job(1).id),
        |j| j.starts.current_date() & j.done.current_date(),
    )
    .await
    .unwrap();
    let stored = raw(&jobs).await;
    assert!(matches!(stored.get("starts"), Some(Bson::DateTime(_))));
    let changed = jobs.get(&job(1).id).await.unwrap().unwrap();
    assert!(changed.starts > before && changed.done.is_some());
    jobs.update_one(|_| Filter::all(), |j| j.done.unset())
        .await
        .unwrap();
    assert_eq!(jobs.get(&job(1).id).await.unwrap().unwrap().done, None);
    let indexes = db.run_command(doc! {"listIndexes": "jobs"}).all();
    let indexes = indexes.await.unwrap();
    let is_ttl = |index: &&bson::Document| index.contains_key("expireAfterSeconds");
    assert_eq!(indexes.iter().filter(is_ttl).count(), 1);
}

async fn numbers_have_the_operators_of_numbers(db: &Db) {
    let jobs = jobs(db).await;
    jobs.update_one(
        |j| j.cost.eq(Decimal::new(15, 1)) & j.limit.gte(Duration::from_secs(60)),
        |j| {
            j.cost.inc(Decimal::new(1, 28))
                & j.limit.dec(Duration::from_millis(1))
                & j.bytes.inc(u128::from(u64::MAX))
        },
    )
    .await
    .unwrap();
    let changed = jobs.get(&job(1).id).await.unwrap().unwrap();
    assert_eq!(changed.cost.to_string(), "1.5000000000000000000000000001");
    assert_eq!(changed.limit, Duration::from_millis(59_999));
    assert_eq!(changed.bytes, 1 << 64);
    jobs.update_one(|j| j.bytes.gt(0), |j| j.limit.mul(Duration::from_millis(2)))
        .await
        .unwrap();
    let changed = jobs.get(&job(1).id).await.unwrap().unwrap();
    assert_eq!(changed.limit, Duration::from_millis(119_998));
    let negative = Job {
        cost: Decimal::NEGATIVE_ONE,
        ..job(2)
    };
    let error = jobs.insert_one(&negative).await.unwrap_err();
    assert_eq!(
        error.code(),
        Some(Code::DOCUMENT_VALIDATION_FAILURE),
        "{error}"
    );
}

async fn text_has_the_operators_of_text(db: &Db) {
    let jobs = jobs(db).await;
    let found = jobs
        .count_documents(|j| {
            j.page.starts_with("https://") & j.page.contains("example") & j.page.ends_with("/a")
        })
        .await;
    assert_eq!(found.unwrap(), 1);
}

async fn ids_are_newtypes(db: &Db) {
    let jobs = jobs(db).await;
    let next = Job {
        after: Some(Ref::from(job(1).id)),
        ..job(2)
    };
    jobs.insert_one(&next).await.unwrap();
    let stored = jobs
        .find(|j| j.after.eq(Ref::from(job(1).id)))
        .with_type::<bson::Document>();
    let stored = stored.first().await.unwrap().unwrap();
    let uuid = bson::Uuid::from_bytes(1_u128.to_be_bytes());
    assert_eq!(stored.get("after"), Some(&Bson::from(uuid)));
    assert_eq!(
        jobs.get(&job(2).id).await.unwrap().unwrap().after,
        next.after
    );
    let rows = jobs
        .find(|j| j.id.eq(job(2).id))
        .join(|j| j.after)
        .all()
        .await
        .unwrap();
    let [row] = rows.as_slice() else {
        panic!("{rows:?}")
    };
    assert!(matches!(row.after(), Some(Resolved::Found(after)) if after.id == job(1).id));
}

async fn what_would_be_rounded_is_refused(db: &Db) {
    let jobs = jobs(db).await;
    let starts = ChronoTime::from_timestamp_micros(1_500).unwrap();
    let error = jobs
        .insert_one(&Job { starts, ..job(2) })
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("starts") && text.contains("odm::chrono_0_4::truncated"),
        "{text}"
    );

    let error = jobs.find(|j| j.starts.eq(starts)).all().await.unwrap_err();
    assert_eq!(error.path(), Some("starts"));
    let limit = Duration::from_nanos(1);
    let error = jobs
        .update_one(|_| Filter::all(), |j| j.limit.set(limit))
        .await
        .unwrap_err();
    assert_eq!(error.path(), Some("limit"));
    let error = jobs
        .count_documents(|j| j.bytes.lt(u128::MAX))
        .await
        .unwrap_err();
    assert_eq!(error.path(), Some("bytes"));
    let offset = time::UtcOffset::from_hms(1, 0, 0).unwrap();
    let done = OffsetDateTime::UNIX_EPOCH.to_offset(offset);
    let error = jobs.count_documents(|j| j.done.eq(done)).await.unwrap_err();
    assert_eq!(error.path(), Some("done"));
    assert_eq!(jobs.count_documents(|_| Filter::all()).await.unwrap(), 1);
}

async fn truncated_values_are_found_by_the_values_they_came_from(db: &Db) {
    let jobs = jobs(db).await;
    let seen = job(1).seen;
    assert_eq!(jobs.count_documents(|j| j.seen.eq(seen)).await.unwrap(), 1);
    let stored = jobs.get(&job(1).id).await.unwrap().unwrap();
    assert_eq!(stored.seen.as_nanosecond() % 1_000_000_000, 123_000_000);
}

async fn what_a_type_can_not_hold_is_not_read(db: &Db) {
    let table = [
        ("starts", Bson::DateTime(DateTime::MAX)),
        ("seen", Bson::DateTime(DateTime::MIN)),
        ("cost", Bson::Decimal128("NaN".parse().unwrap())),
        ("limit", Bson::Int64(-1)),
        ("bytes", Bson::Decimal128("1.5".parse().unwrap())),
        ("page", Bson::String("no URL".to_owned())),
        ("starts", Bson::String("2026-11-23T00:00:00Z".to_owned())),
    ];
    let jobs = db.collection::<Job>();
    jobs.insert_one(job(1)).await.unwrap();
    let good = raw(&jobs).await;
    for (field, value) in table {
        let mut bad = good.clone();
        bad.insert(field, value);
        let replace = doc! {"update": "jobs", "updates": [{"q": {}, "u": bad}]};
        db.run_command(replace).await.unwrap();
        let error = jobs.get(&job(1).id).await.unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
}

async fn a_timestamp_is_no_date(db: &Db) {
    let jobs = db.collection::<Job>();
    jobs.insert_one(job(1)).await.unwrap();
    let timestamp = bson::Timestamp {
        time: 1,
        increment: 1,
    };
    let update =
        doc! {"update": "jobs", "updates": [{"q": {}, "u": {"$set": {"starts": timestamp}}}]};
    db.run_command(update).await.unwrap();
    assert!(jobs.get(&job(1).id).await.is_err());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "events")]
struct Event {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::serde_json_1")]
    payload: Value,
}

async fn keys_of_json_have_no_meaning(db: &Db) {
    let events = db.collection::<Event>();
    let event = Event {
        id: 1,
        payload: json!({"$oid": "507f1f77bcf86cd799439011", "list": [{"$date": null}]}),
    };
    events.insert_one(&event).await.unwrap();
    assert_eq!(events.get(&1).await.unwrap(), Some(event.clone()));
    let same = events.find(|e| e.payload.eq(&event.payload)).all();
    assert_eq!(same.await.unwrap().len(), 1);
    let update = doc! {"update": "events", "updates": [{"q": {}, "u": {"$set": {"payload": DateTime::MAX}}}]};
    db.run_command(update).await.unwrap();
    let error = events.get(&1).await.unwrap_err().to_string();
    assert!(
        error.contains("payload") && error.contains("JSON"),
        "{error}"
    );
}

/// A temperature of another crate, in hundredths of a degree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Celsius(i64);

mod tenths {
    use odm::foreign::{ConversionError, StoredAs};

    use super::Celsius;

    pub(super) enum Tenths {}

    impl StoredAs<Celsius> for Tenths {
        type Stored = i64;

        fn to_stored(value: &Celsius) -> Result<i64, ConversionError> {
            if value.0 % 10 != 0 {
                return Err(ConversionError::new(
                    "a temperature has one digit after the point",
                ));
            }
            Ok(value.0 / 10)
        }

        fn from_stored(tenths: i64) -> Result<Celsius, ConversionError> {
            Ok(Celsius(tenths * 10))
        }
    }

    odm::serializer!(Tenths);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "readings", index(inside))]
struct Reading {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "tenths")]
    inside: Celsius,
    #[serde(with = "tenths")]
    outside: Vec<Celsius>,
}

async fn a_module_of_ones_own(db: &Db) {
    let plan = db.sync(models![Reading]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let readings = db.collection::<Reading>();
    let outside = vec![Celsius(-300), Celsius(450)];
    readings
        .insert_one(&Reading {
            id: 1,
            inside: Celsius(2150),
            outside,
        })
        .await
        .unwrap();
    readings
        .update_one(
            |r| r.inside.gt(Celsius(2000)) & r.outside.any().lt(Celsius(0)),
            |r| r.inside.inc(Celsius(50)) & r.outside.push(Celsius(700)),
        )
        .await
        .unwrap();
    let raw = readings
        .find_all()
        .with_type::<bson::Document>()
        .first()
        .await
        .unwrap();
    assert_eq!(
        raw,
        Some(doc! {"_id": 1, "inside": 220_i64, "outside": [-30_i64, 45_i64, 70_i64]})
    );
    let error = readings
        .find(|r| r.inside.eq(Celsius(1)))
        .all()
        .await
        .unwrap_err();
    assert_eq!(error.path(), Some("inside"));
    let wrong =
        doc! {"insert": "readings", "documents": [{"_id": 2, "inside": 21.5, "outside": []}]};
    assert_eq!(refused(db, wrong).await, 121);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders", index(steps.at))]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    state: State,
    #[odm(embed(few, max = 5))]
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum State {
    Paid {
        #[serde(with = "odm::chrono_0_4")]
        at: ChronoTime<Utc>,
    },
    Open,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Step {
    #[serde(with = "odm::chrono_0_4")]
    at: ChronoTime<Utc>,
}

async fn fields_inside_enums_and_lists(db: &Db) {
    let plan = db.sync(models![Order]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let orders = db.collection::<Order>();
    let at = ChronoTime::from_timestamp_millis(5_000).unwrap();
    let order = Order {
        id: 1,
        state: State::Paid { at },
        steps: vec![Step { at }],
    };
    orders.insert_one(&order).await.unwrap();
    let open = Order {
        id: 2,
        state: State::Open,
        steps: vec![],
    };
    orders.insert_one(&open).await.unwrap();
    let found = orders
        .find(|o| o.state.paid.at.lte(at) & o.steps.any().at.eq(at))
        .all();
    assert_eq!(found.await.unwrap(), [order]);
    let wrong = doc! {"insert": "orders", "documents": [{"_id": 3, "state": {"kind": "Paid", "at": "now"}, "steps": []}]};
    assert_eq!(refused(db, wrong).await, 121);
}
