//! Buckets of many small documents: what is inserted comes back in order, what is kept is that of the items, and nothing overfills
//! a bucket.

mod damages;
mod writers;

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use odm::bson::{Document as BsonDocument, doc};
use odm::check::Aspect;
use odm::prelude::*;

use self::damages::{
    a_wrong_count_overfills_no_bucket, buckets_beyond_16_megabytes_are_explained,
    documents_of_other_programs_are_read, each_damage_is_found_and_repaired,
    rounded_totals_are_no_damage, spans_that_were_declared_otherwise_are_read_in_order,
    times_and_keys_of_other_crates_are_stored_by_their_modules,
};
use self::writers::{
    a_full_bucket_with_a_unique_key_is_an_error, a_unique_index_keeps_one_open_bucket,
    concurrent_calls_of_many_items_never_overfill, concurrent_writers_never_overfill,
    deletes_beside_inserts_leave_sound_buckets, deletes_leave_what_readers_expect,
    dropped_inserts_leave_sound_buckets, refused_items_are_listed,
    values_that_do_not_fit_are_refused,
};
use crate::case::cases;
use crate::random::Random;

cases![
    items_fill_buckets,
    many_items_fill_the_open_buckets_first,
    random_items_come_back_in_order,
    spans_begin_before_the_epoch,
    keys_have_several_fields,
    items_without_a_value_are_left_out,
    totals_have_the_declared_type,
    times_and_keys_of_other_crates_are_stored_by_their_modules,
    maintained_fields_follow,
    sync_creates_the_index,
    an_index_finds_buckets,
    transactions_keep_or_abort,
    ranges_have_all_kinds_of_ends,
    streams_end_at_their_limit,
    concurrent_writers_never_overfill,
    concurrent_calls_of_many_items_never_overfill,
    a_unique_index_keeps_one_open_bucket,
    a_full_bucket_with_a_unique_key_is_an_error,
    refused_items_are_listed,
    dropped_inserts_leave_sound_buckets,
    values_that_do_not_fit_are_refused,
    deletes_leave_what_readers_expect,
    deletes_beside_inserts_leave_sound_buckets,
    each_damage_is_found_and_repaired,
    rounded_totals_are_no_damage,
    documents_of_other_programs_are_read,
    a_wrong_count_overfills_no_bucket,
    spans_that_were_declared_otherwise_are_read_in_order,
    buckets_beyond_16_megabytes_are_explained,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Reading {
    at: DateTime,
    celsius: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "hours", bucket(of = Reading, by = sensor, max = 10, span = "1h"))]
struct Hour {
    #[serde(rename = "_id")]
    id: Id<Hour>,
    sensor: String,
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
    #[odm(smallest(at))]
    first: DateTime,
    #[odm(largest(at))]
    last: DateTime,
}

/// Ordered by a number, with two fields that items share, and names that differ from those of Rust.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Step {
    step_number: i64,
    #[odm(embed)]
    force: Force,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Force {
    in_newton: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "runs", bucket(of = Step, by(machine_id, axis), max = 4, span = 10))]
struct Run {
    #[serde(rename = "_id")]
    id: ObjectId,
    machine_id: i32,
    axis: String,
    #[odm(start_of(step_number))]
    first_step: i64,
    all_steps: Vec<Step>,
    #[odm(item_count)]
    step_count: i64,
    #[odm(smallest(force.in_newton))]
    least_force: Option<i32>,
    #[odm(largest(force.in_newton))]
    most_force: Option<i32>,
    #[odm(total(force.in_newton))]
    whole_force: i64,
    #[odm(version)]
    version: i64,
    #[odm(created_at)]
    created: DateTime,
    #[odm(updated_at)]
    updated: DateTime,
    note: Option<String>,
}

const DAY: i64 = 1_767_225_600_000;

fn minute(minute: i32) -> DateTime {
    DateTime::from_millis(DAY + i64::from(minute) * 60_000)
}

fn below(random: &mut Random, end: usize) -> i32 {
    i32::try_from(random.below(end)).unwrap()
}

fn reading(at: i32, celsius: f64) -> Reading {
    Reading {
        at: minute(at),
        celsius,
    }
}

fn step(number: i64, force: Option<i32>) -> Step {
    Step {
        step_number: number,
        force: Force { in_newton: force },
    }
}

async fn hours(db: &Db) -> Vec<Hour> {
    let hours = db.collection::<Hour>();
    let all = hours
        .find_all()
        .sort(|h| h.sensor.asc().then(h.start.asc()).then(h.id.asc()));
    all.all().await.unwrap()
}

/// No bucket has too many items, and what is kept of them is right.
async fn assert_sound(db: &Db) {
    let checked = db.check(models![Hour, Run]);
    let checked = checked.only([Aspect::Buckets, Aspect::Validator, Aspect::UndeclaredFields]);
    let report = checked.await.unwrap();
    assert!(report.is_sound(), "{report}");
}

async fn synced(db: &Db) {
    let plan = db.sync(models![Hour, Run]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

async fn items_fill_buckets(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    for (at, celsius, opens) in [(30, 4.0, true), (10, 2.0, false), (60, 9.0, true)] {
        let result = buckets
            .insert_one("s1", reading(at, celsius))
            .await
            .unwrap();
        assert_eq!(
            (result.inserted, result.opened.len()),
            (1, usize::from(opens))
        );
    }
    let all = hours(db).await;
    assert_eq!(all.len(), 2);
    let first = &all[0];
    assert_eq!((first.start, first.count), (minute(0), 2));
    assert_eq!(
        (first.coldest, first.warmest, first.celsius),
        (2.0, 4.0, 6.0)
    );
    assert_eq!((first.first, first.last), (minute(10), minute(30)));
    assert_eq!(first.readings, [reading(30, 4.0), reading(10, 2.0)]);
    assert_eq!((all[1].start, all[1].celsius), (minute(60), 9.0));
    let items = buckets.items("s1").all().await.unwrap();
    assert_eq!(
        items,
        [reading(10, 2.0), reading(30, 4.0), reading(60, 9.0)]
    );
    let none = buckets
        .insert_many("s1", Vec::<Reading>::new())
        .await
        .unwrap();
    assert_eq!((none.inserted, none.opened), (0, Vec::new()));
    let opened = buckets.insert_one("s2", &reading(0, 0.0)).await.unwrap();
    let ids = opened.opened_ids::<Hour>().unwrap();
    assert_eq!(hours(db).await[2].id, ids[0]);
    assert_sound(db).await;
}

async fn many_items_fill_the_open_buckets_first(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    let many = |from: i32, count: i32| (from..from + count).map(|at| reading(at, at.into()));
    let result = buckets.insert_many("s1", many(0, 7)).await.unwrap();
    assert_eq!((result.inserted, result.opened.len()), (7, 1));
    // Three fit into the first bucket, ten fill the second, and the rest opens the third.
    let result = buckets.insert_many("s1", many(7, 15)).await.unwrap();
    assert_eq!((result.inserted, result.opened.len()), (15, 2));
    let mut counts: Vec<i32> = hours(db).await.iter().map(|hour| hour.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [2, 10, 10]);
    // Other spans and other keys in one call.
    let all = (0..60).map(|at| (if at % 2 == 0 { "s1" } else { "s2" }, reading(at * 3, 1.0)));
    let result = buckets.insert_all(all).await.unwrap();
    assert_eq!(result.inserted, 60);
    // 10 of each key and hour: those of `s1` in the first hour find room for 8.
    assert_eq!(result.opened.len(), 6);
    assert_eq!(buckets.items("s1").all().await.unwrap().len(), 22 + 30);
    assert_eq!(buckets.items("s2").all().await.unwrap().len(), 30);
    assert_sound(db).await;
}

/// Inserts, reads and summaries, compared with a plain list.
async fn random_items_come_back_in_order(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    let mut random = Random::unless_set("ODM_BUCKETS", 11);
    let mut known: Vec<Reading> = Vec::new();
    let mut next = 0;
    for round in 0..24 {
        let count = 1 + random.below(if round % 3 == 0 { 1 } else { 40 });
        let items: Vec<Reading> = (0..count)
            .map(|_| {
                next += 1;
                // Each time once, so that there is one order.
                let at = minute(below(&mut random, 300)).timestamp_millis() + next;
                Reading {
                    at: DateTime::from_millis(at),
                    celsius: below(&mut random, 100).into(),
                }
            })
            .collect();
        let result = buckets.insert_many("s1", &items).await.unwrap();
        assert_eq!(result.inserted, items.len() as u64);
        buckets.insert_one("s2", reading(1, 1.0)).await.unwrap();
        known.extend(items);
        known.sort_by_key(|one| one.at);
        let (a, b) = (below(&mut random, 310) - 5, below(&mut random, 310) - 5);
        let (from, to) = (minute(a.min(b)), minute(a.max(b)));
        let within: Vec<Reading> = known
            .iter()
            .filter(|one| one.at >= from && one.at < to)
            .cloned()
            .collect();
        let limit = random.below(20);
        let read = buckets.items("s1").range(from..to);
        assert_eq!(read.all().await.unwrap(), within);
        let read = buckets.items("s1").range(from..to).newest_first();
        let newest: Vec<Reading> = within.iter().rev().cloned().collect();
        assert_eq!(read.all().await.unwrap(), newest);
        let read = buckets
            .items("s1")
            .range(from..to)
            .newest_first()
            .limit(limit as u64);
        let most = if limit == 0 { newest.len() } else { limit };
        let some: Vec<Reading> = newest.into_iter().take(most).collect();
        assert_eq!(read.all().await.unwrap(), some);
        let summary = buckets.summary("s1").range(from..to).await.unwrap();
        assert_eq!(summary.count, within.len() as u64);
        let total: f64 = within.iter().map(|one| one.celsius).sum();
        let least = within.iter().map(|one| one.celsius).reduce(f64::min);
        let most = within.iter().map(|one| one.celsius).reduce(f64::max);
        let expected = (!within.is_empty()).then_some(total);
        assert_eq!(summary.get(|h| h.celsius).unwrap(), expected);
        assert_eq!(summary.get(|h| h.coldest).unwrap(), least);
        assert_eq!(summary.get(|h| h.warmest).unwrap(), most);
        assert_eq!(
            summary.get(|h| h.first).unwrap(),
            within.first().map(|one| one.at)
        );
        assert_eq!(
            summary.get(|h| h.last).unwrap(),
            within.last().map(|one| one.at)
        );
    }
    assert_eq!(buckets.items("s1").all().await.unwrap(), known);
    let summary = buckets.summary("s1").await.unwrap();
    assert_eq!(summary.count, known.len() as u64);
    assert_sound(db).await;
}

async fn spans_begin_before_the_epoch(db: &Db) {
    let buckets = db.buckets::<Hour>();
    let at = |millis| Reading {
        at: DateTime::from_millis(millis),
        celsius: 1.0,
    };
    buckets
        .insert_many("s1", [at(-1), at(-3_600_000), at(-3_600_001), at(0)])
        .await
        .unwrap();
    let starts: Vec<i64> = hours(db)
        .await
        .iter()
        .map(|hour| hour.start.timestamp_millis())
        .collect();
    assert_eq!(starts, [-7_200_000, -3_600_000, 0]);
    let read = buckets
        .items("s1")
        .range(DateTime::from_millis(-3_600_000)..DateTime::from_millis(0));
    assert_eq!(read.all().await.unwrap(), [at(-3_600_000), at(-1)]);
    let refused = buckets.insert_one("s1", at(i64::MIN)).await.unwrap_err();
    assert!(
        refused.to_string().contains("no span starts before"),
        "{refused}"
    );
    // The largest date is in a span, too, and a range that includes it has no end.
    buckets.insert_one("s3", at(i64::MAX)).await.unwrap();
    let read = buckets
        .items("s3")
        .range(..=DateTime::from_millis(i64::MAX));
    assert_eq!(read.all().await.unwrap().len(), 1);
}

async fn keys_have_several_fields(db: &Db) {
    synced(db).await;
    let runs = db.buckets::<Run>();
    let key = |machine, axis: &str| (machine, axis.to_owned());
    runs.insert_one(key(1, "x"), step(-1, Some(5)))
        .await
        .unwrap();
    runs.insert_many(key(1, "x"), (0..12).map(|one| step(one, Some(2))))
        .await
        .unwrap();
    runs.insert_one(key(1, "y"), step(0, None)).await.unwrap();
    runs.insert_one(key(2, "x"), step(0, Some(1)))
        .await
        .unwrap();
    let find = doc! {"find": "runs", "filter": {"machineId": 1, "axis": "x"}, "sort": {"firstStep": 1, "stepCount": 1}};
    let stored: Vec<BsonDocument> = db.run_command(find).all().await.unwrap();
    let seen: Vec<(i64, i64)> = stored
        .iter()
        .map(|run| {
            (
                run.get_i64("firstStep").unwrap(),
                run.get_i64("stepCount").unwrap(),
            )
        })
        .collect();
    assert_eq!(seen, [(-10, 1), (0, 2), (0, 4), (0, 4), (10, 2)]);
    let read = runs.items(key(1, "x")).range(-1..=2).all().await.unwrap();
    assert_eq!(
        read,
        [
            step(-1, Some(5)),
            step(0, Some(2)),
            step(1, Some(2)),
            step(2, Some(2))
        ]
    );
    let summary = runs.summary(key(1, "x")).range(..11).await.unwrap();
    assert_eq!(summary.count, 12);
    assert_eq!(summary.get(|r| r.whole_force).unwrap(), Some(27));
    assert_eq!(summary.get(|r| r.most_force).unwrap(), Some(Some(5)));
    assert_sound(db).await;
}

async fn items_without_a_value_are_left_out(db: &Db) {
    synced(db).await;
    let runs = db.buckets::<Run>();
    let key = || (1, "x".to_owned());
    runs.insert_one(key(), step(0, None)).await.unwrap();
    let run = db
        .collection::<Run>()
        .find_all()
        .first()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (run.least_force, run.whole_force, run.step_count),
        (None, 0, 1)
    );
    runs.insert_many(key(), [step(1, Some(7)), step(2, None)])
        .await
        .unwrap();
    let run = db
        .collection::<Run>()
        .find_all()
        .first()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (run.least_force, run.most_force, run.whole_force),
        (Some(7), Some(7), 7)
    );
    let summary = runs.summary(key()).range(2..).await.unwrap();
    assert_eq!(
        (summary.count, summary.get(|r| r.least_force).unwrap()),
        (1, None)
    );
    let summary = runs.summary(key()).range(5..).await.unwrap();
    assert_eq!((summary.count, summary.buckets), (0, 0));
    assert_eq!(summary.get(|r| r.whole_force).unwrap(), None);
    let refused = summary.get(|r| r.version).unwrap_err();
    assert_eq!(refused.path(), Some("version"));
    // A trimmed bucket has no smallest value.
    runs.delete(key(), 1..2).await.unwrap();
    let run = db
        .collection::<Run>()
        .find_all()
        .first()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (run.least_force, run.whole_force, run.step_count),
        (None, 0, 2)
    );
    assert_sound(db).await;
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Payment {
    day: i32,
    price: odm::bson::Decimal128,
    pieces: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "payments", bucket(of = Payment, by = shop, max = 3, span = 7))]
struct Week {
    #[serde(rename = "_id")]
    id: Id<Week>,
    shop: i32,
    #[odm(start_of(day))]
    monday: i32,
    payments: Vec<Payment>,
    #[odm(item_count)]
    count: i32,
    #[odm(total(price))]
    income: odm::bson::Decimal128,
    #[odm(total(pieces))]
    pieces: f64,
}

async fn totals_have_the_declared_type(db: &Db) {
    let plan = db.sync(models![Week]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let weeks = db.buckets::<Week>();
    let pay = |day, price: &str, pieces| Payment {
        day,
        price: price.parse().unwrap(),
        pieces,
    };
    weeks.insert_one(1, pay(0, "0.10", 1)).await.unwrap();
    weeks
        .insert_many(
            1,
            [
                pay(1, "0.20", 2),
                pay(2, "1E+3", i32::MAX),
                pay(3, "5", i32::MAX),
            ],
        )
        .await
        .unwrap();
    let stored: Vec<BsonDocument> = db
        .run_command(doc! {"find": "payments"})
        .all()
        .await
        .unwrap();
    for week in &stored {
        assert!(week.get_f64("pieces").is_ok(), "{week}");
        assert!(
            week.get_i32("count").is_ok() && week.get_i32("monday").is_ok(),
            "{week}"
        );
    }
    let summary = weeks.summary(1).await.unwrap();
    assert_eq!(
        summary.get(|w| w.income).unwrap().unwrap().to_string(),
        "1005.30"
    );
    assert_eq!(
        summary.get(|w| w.pieces).unwrap(),
        Some(3.0 + 2.0 * f64::from(i32::MAX))
    );
    weeks.delete(1, 1..=1).await.unwrap();
    let report = db.check(models![Week]).await.unwrap();
    assert!(report.is_sound(), "{report}");
    let stored: Vec<BsonDocument> = db
        .run_command(doc! {"find": "payments"})
        .all()
        .await
        .unwrap();
    assert!(
        stored.iter().all(|week| week.get_f64("pieces").is_ok()),
        "{stored:?}"
    );
}

async fn maintained_fields_follow(db: &Db) {
    synced(db).await;
    let runs = db.buckets::<Run>();
    let key = || (1, "x".to_owned());
    let only = async || {
        db.collection::<Run>()
            .find_all()
            .first()
            .await
            .unwrap()
            .unwrap()
    };
    runs.insert_one(key(), step(0, None)).await.unwrap();
    let opened = only().await;
    assert_eq!(opened.version, 1);
    runs.insert_many(key(), [step(1, None), step(2, None)])
        .await
        .unwrap();
    let filled = only().await;
    assert_eq!((filled.version, filled.created), (2, opened.created));
    assert!(filled.updated >= opened.updated);
    runs.delete(key(), ..1).await.unwrap();
    let trimmed = only().await;
    assert_eq!((trimmed.version, trimmed.step_count), (3, 2));
    assert!(trimmed.updated >= filled.updated);
}

async fn sync_creates_the_index(db: &Db) {
    synced(db).await;
    let list = doc! {"listIndexes": "runs"};
    let indexes: Vec<BsonDocument> = db.run_command(list).all().await.unwrap();
    let keys: Vec<_> = indexes
        .iter()
        .map(|one| one.get_document("key").unwrap().clone())
        .collect();
    assert!(
        keys.contains(&doc! {"machineId": 1, "axis": 1, "firstStep": 1, "stepCount": -1}),
        "{keys:?}"
    );
    let again = db.sync(models![Hour, Run]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
}

async fn an_index_finds_buckets(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    let many = (0..200).map(|at| reading(at % 60, 1.0));
    buckets.insert_many("s1", many).await.unwrap();
    buckets
        .insert_many("s1", (60..70).map(|at| reading(at, 1.0)))
        .await
        .unwrap();
    let full = buckets
        .collection()
        .find(|h| h.sensor.eq("s1") & h.start.eq(minute(0)) & h.count.lte(9));
    let plan = full.explain().await.unwrap();
    // The 20 full buckets are not looked at.
    assert!(
        plan.documents_examined == 0 && plan.keys_examined <= 1,
        "{plan:?}"
    );
    let range = buckets
        .collection()
        .find(|h| h.sensor.eq("s1") & h.start.gt(minute(0)));
    let plan = range.sort(|h| h.start.asc()).explain().await.unwrap();
    assert!(
        !plan.sorts_in_memory && plan.documents_examined == 1,
        "{plan:?}"
    );
}

async fn transactions_keep_or_abort(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    buckets.insert_one("s1", reading(0, 1.0)).await.unwrap();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let many = (1..25).map(|at| reading(at, 2.0));
    buckets
        .insert_many("s1", many)
        .session(&mut session)
        .await
        .unwrap();
    let inside = buckets
        .items("s1")
        .session(&mut session)
        .all()
        .await
        .unwrap();
    assert_eq!(inside.len(), 25);
    let summary = buckets.summary("s1").session(&mut session).await.unwrap();
    assert_eq!(summary.get(|h| h.celsius).unwrap(), Some(49.0));
    buckets
        .delete("s1", ..minute(3))
        .session(&mut session)
        .await
        .unwrap();
    assert_eq!(buckets.items("s1").all().await.unwrap().len(), 1);
    session.abort_transaction().await.unwrap();
    assert_eq!(buckets.items("s1").all().await.unwrap(), [reading(0, 1.0)]);
    let kept = transaction!(db, |tx| {
        let buckets = db.buckets::<Hour>();
        buckets
            .insert_many("s1", [reading(1, 1.0), reading(2, 1.0)])
            .session(tx)
            .await?;
        odm::Result::Ok(())
    });
    kept.await.unwrap();
    assert_eq!(buckets.items("s1").all().await.unwrap().len(), 3);
    assert_sound(db).await;
}

async fn ranges_have_all_kinds_of_ends(db: &Db) {
    let runs = db.buckets::<Run>();
    let key = || (1, "x".to_owned());
    runs.insert_many(key(), (0..40).map(|one| step(one, Some(1))))
        .await
        .unwrap();
    let read = async |range: (Bound<i64>, Bound<i64>)| {
        let items = runs.items(key()).range(range).all().await.unwrap();
        let summary = runs.summary(key()).range(range).await.unwrap();
        assert_eq!(summary.count, items.len() as u64, "{range:?}");
        items.iter().map(|one| one.step_number).collect::<Vec<_>>()
    };
    assert_eq!(read((Included(9), Excluded(11))).await, [9, 10]);
    assert_eq!(read((Excluded(9), Included(11))).await, [10, 11]);
    assert_eq!(read((Excluded(37), Unbounded)).await, [38, 39]);
    assert_eq!(read((Unbounded, Included(1))).await, [0, 1]);
    assert_eq!(
        read((Included(10), Excluded(20))).await,
        (10..20).collect::<Vec<_>>()
    );
    assert_eq!(read((Included(20), Excluded(10))).await, [0_i64; 0]);
    assert_eq!(read((Included(12), Excluded(12))).await, [0_i64; 0]);
    assert_eq!(
        read((Excluded(i64::MAX), Unbounded)).await.len(),
        40,
        "nothing is behind the largest number"
    );
    assert_eq!(
        read((Included(i64::MIN), Included(i64::MAX))).await.len(),
        40
    );
    assert_eq!(read((Unbounded, Excluded(i64::MIN))).await, [0_i64; 0]);
}

async fn streams_end_at_their_limit(db: &Db) {
    let buckets = db.buckets::<Hour>();
    buckets
        .insert_many("s1", (0..600).map(|at| reading(at, at.into())))
        .await
        .unwrap();
    let mut stream = buckets.items("s1").limit(15).await.unwrap();
    let mut seen = Vec::new();
    while let Some(item) = stream.next().await {
        seen.push(item.unwrap());
    }
    assert!(stream.next().await.is_none());
    assert_eq!(
        seen,
        (0..15).map(|at| reading(at, at.into())).collect::<Vec<_>>()
    );
    let all = buckets.items("s1").newest_first().await.unwrap();
    let all: Vec<_> = futures::StreamExt::collect(all).await;
    assert_eq!(all.len(), 600);
    assert_eq!(all[0].as_ref().unwrap(), &reading(599, 599.0));
}
