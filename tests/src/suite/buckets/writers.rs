//! Writers beside each other, and writes that stop or are refused.

use std::future::IntoFuture;

use futures::future::join_all;
use odm::bson::{Document as BsonDocument, doc};
use odm::collection::WriteError;
use odm::prelude::*;

use super::{Hour, Reading, Run, assert_sound, below, hours, minute, reading, step, synced};
use crate::polls::dropped_after;
use crate::random::Random;

pub(super) async fn concurrent_writers_never_overfill(db: &Db) {
    synced(db).await;
    let insert = async |number: i32| {
        let buckets = db.buckets::<Hour>();
        let mut inserted = 0;
        for one in 0..6 {
            let result = buckets
                .insert_one("s1", reading(number % 60, one.into()))
                .await
                .unwrap();
            inserted += result.inserted;
        }
        inserted
    };
    let inserted: u64 = join_all((0..40).map(insert)).await.into_iter().sum();
    assert_eq!(inserted, 240);
    let all = hours(db).await;
    assert!(
        all.iter()
            .all(|hour| hour.count <= 10 && hour.readings.len() <= 10)
    );
    let items = db.buckets::<Hour>().items("s1").all().await.unwrap();
    assert_eq!(items.len(), 240);
    // Writers that open a bucket each fill them later.
    assert!(all.len() < 40 + 24, "{} buckets", all.len());
    assert_sound(db).await;
}

pub(super) async fn concurrent_calls_of_many_items_never_overfill(db: &Db) {
    synced(db).await;
    let insert = async |number: usize| {
        let buckets = db.buckets::<Hour>();
        let mut random = Random::of(number as u64);
        let mut inserted = 0;
        for _ in 0..3 {
            let count = 1 + random.below(35);
            let items = (0..count).map(|_| {
                let at = below(&mut random, 120);
                (format!("s{}", at % 2), reading(at, 1.0))
            });
            let items: Vec<_> = items.collect();
            let result = buckets.insert_all(items).await.unwrap();
            assert_eq!(result.inserted, count as u64);
            inserted += count;
        }
        inserted
    };
    let inserted: usize = join_all((0..16).map(insert)).await.into_iter().sum();
    let all = hours(db).await;
    let stored: usize = all.iter().map(|hour| hour.readings.len()).sum();
    assert_eq!(stored, inserted);
    assert!(all.iter().all(|hour| hour.readings.len() <= 10));
    assert_sound(db).await;
}

/// A key has one bucket with room at a time.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "single",
    bucket(of = Reading, by = sensor, max = 5, span = "1h"),
    unique(sensor, start, partial = |s| s.count.lt(5))
)]
struct Single {
    #[serde(rename = "_id")]
    id: Id<Single>,
    sensor: String,
    #[odm(start_of(at))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
}

pub(super) async fn a_unique_index_keeps_one_open_bucket(db: &Db) {
    let plan = db.sync(models![Single]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let insert = async |number: i32| {
        let buckets = db.buckets::<Single>();
        let result = buckets.insert_one("s1", reading(number, 1.0)).await;
        result.unwrap().inserted
    };
    let inserted: u64 = join_all((0..23).map(insert)).await.into_iter().sum();
    assert_eq!(inserted, 23);
    let all = db.collection::<Single>().find_all().all().await.unwrap();
    let mut counts: Vec<i32> = all.iter().map(|one| one.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [3, 5, 5, 5, 5]);
    // The two items that fit go out before the five that fill another bucket.
    let buckets = db.buckets::<Single>();
    let many = buckets
        .insert_many("s1", (30..42).map(|at| reading(at, 1.0)))
        .await
        .unwrap();
    assert_eq!((many.inserted, many.opened.len()), (12, 2));
    let report = db.check(models![Single]).await.unwrap();
    assert!(report.is_sound(), "{report}");
}

/// A key has one bucket of each span, and no second one when that is full.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "strict",
    bucket(of = Reading, by = sensor, max = 5, span = "1h"),
    unique(sensor, start)
)]
struct Strict {
    #[serde(rename = "_id")]
    id: Id<Strict>,
    sensor: String,
    #[odm(start_of(at))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
}

pub(super) async fn a_full_bucket_with_a_unique_key_is_an_error(db: &Db) {
    let plan = db.sync(models![Strict]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let buckets = db.buckets::<Strict>();
    buckets
        .insert_many("s1", (0..5).map(|at| reading(at, 1.0)))
        .await
        .unwrap();
    let refused = buckets.insert_one("s1", reading(5, 1.0)).await.unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    assert!(
        refused.to_string().contains("`max` is reached"),
        "{refused}"
    );
    // The items of another span are stored all the same.
    let many = [
        reading(6, 1.0),
        reading(61, 1.0),
        reading(7, 1.0),
        reading(62, 1.0),
    ];
    let refused = buckets.insert_many("s1", many).await.unwrap_err();
    let failed: Vec<usize> = refused
        .write_errors()
        .iter()
        .map(WriteError::index)
        .collect();
    assert_eq!(failed, [0, 2]);
    assert_eq!(refused.partial_result().unwrap().inserted, 2);
    assert_eq!(buckets.items("s1").all().await.unwrap().len(), 7);
}

/// Items have rules, too.
#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Vote {
    at: DateTime,
    #[odm(range(min = 1, max = 5))]
    stars: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "votes", bucket(of = Vote, by = film, max = 4, span = "1d"))]
struct Day {
    #[serde(rename = "_id")]
    id: Id<Day>,
    film: i64,
    #[odm(start_of(at))]
    start: DateTime,
    votes: Vec<Vote>,
    #[odm(item_count)]
    count: i64,
    #[odm(total(stars))]
    stars: i32,
}

pub(super) async fn refused_items_are_listed(db: &Db) {
    let plan = db.sync(models![Day]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let days = db.buckets::<Day>();
    let vote = |day: i32, stars| Vote {
        at: minute(day * 1_440),
        stars,
    };
    let refused = days.insert_one(1, vote(0, 6)).await.unwrap_err();
    assert!(refused.validation_failure().is_some(), "{refused}");
    // One bad item keeps those from being stored that go into the same bucket.
    let many = [vote(0, 5), vote(1, 6), vote(1, 1), vote(2, 2), vote(2, 0)];
    let refused = days.insert_many(1, many).await.unwrap_err();
    let failed: Vec<usize> = refused
        .write_errors()
        .iter()
        .map(WriteError::index)
        .collect();
    assert_eq!(failed, [1, 2, 3, 4]);
    assert!(refused.write_errors()[0].validation_failure().is_some());
    assert_eq!(refused.partial_result().unwrap().inserted, 1);
    assert_eq!(days.items(1).all().await.unwrap().len(), 1);
    let report = db.check(models![Day]).await.unwrap();
    assert!(report.is_sound(), "{report}");
}

pub(super) async fn dropped_inserts_leave_sound_buckets(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    for polls in 0..12 {
        let many = (0..25).map(|at| reading(at, 1.0));
        let insert = buckets.insert_many("s1", many).into_future();
        dropped_after(polls, insert).await;
        dropped_after(
            polls,
            buckets.delete("s1", minute(3)..minute(20)).into_future(),
        )
        .await;
        dropped_after(polls, buckets.items("s1").all()).await;
    }
    // A command that was sent may still run.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert_sound(db).await;
    buckets.insert_one("s1", reading(0, 1.0)).await.unwrap();
    assert_sound(db).await;
}

/// A key of any type.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "loose", bucket(of = Reading, by = key, max = 3, span = "1h"))]
struct Loose {
    #[serde(rename = "_id")]
    id: Id<Loose>,
    key: odm::bson::Bson,
    #[odm(start_of(at))]
    start: DateTime,
    readings: Vec<Reading>,
    #[odm(item_count)]
    count: i32,
}

pub(super) async fn values_that_do_not_fit_are_refused(db: &Db) {
    use odm::bson::Bson;

    let loose = db.buckets::<Loose>();
    for key in [Bson::Null, Bson::Array(vec![1.into()])] {
        let refused = loose
            .insert_one(key.clone(), reading(0, 1.0))
            .await
            .unwrap_err();
        assert_eq!(
            (refused.model(), refused.path()),
            (Some("Loose"), Some("key"))
        );
        assert!(loose.items(key.clone()).all().await.is_err());
        assert!(loose.summary(key.clone()).await.is_err());
        assert!(loose.delete(key, ..).await.is_err());
    }
    // A document with operators is a value.
    let tricky = Bson::Document(doc! {"$gt": ""});
    assert_eq!(loose.items(tricky).all().await.unwrap(), []);
    let key = Bson::Document(doc! {"a": 1});
    loose
        .insert_many(key.clone(), [reading(0, 1.0), reading(1, 1.0)])
        .await
        .unwrap();
    assert_eq!(loose.items(key).all().await.unwrap().len(), 2);
    assert_eq!(
        loose
            .items(Bson::Document(doc! {"a": 2}))
            .all()
            .await
            .unwrap(),
        []
    );
    // A total beyond its type.
    let days = db.buckets::<Day>();
    let vote = Vote {
        at: minute(0),
        stars: i32::MAX,
    };
    let plan = db.sync(models![Day, Run]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    assert!(days.insert_many(1, [&vote, &vote]).await.is_err());
    let runs = db.buckets::<Run>();
    let many = (0..4).map(|one| step(one, Some(i32::MAX)));
    runs.insert_many((1, "x".to_owned()), many).await.unwrap();
    let sum = runs.summary((1, "x".to_owned())).await.unwrap();
    assert_eq!(
        sum.get(|r| r.whole_force).unwrap(),
        Some(4 * i64::from(i32::MAX))
    );
}

pub(super) async fn deletes_leave_what_readers_expect(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    let mut random = Random::unless_set("ODM_BUCKETS", 3);
    let mut known: Vec<Reading> = Vec::new();
    let mut next = 0;
    for _ in 0..20 {
        let items = (0..30).map(|_| {
            next += 1;
            Reading {
                at: DateTime::from_millis(
                    minute(below(&mut random, 400)).timestamp_millis() + next,
                ),
                celsius: below(&mut random, 9).into(),
            }
        });
        let items: Vec<Reading> = items.collect();
        buckets.insert_many("s1", &items).await.unwrap();
        buckets.insert_one("s2", reading(7, 1.0)).await.unwrap();
        known.extend(items);
        let (a, b) = (below(&mut random, 420) - 10, below(&mut random, 420) - 10);
        let (from, to) = (minute(a.min(b)), minute(a.max(b)));
        let before = hours(db).await.len();
        let result = buckets.delete("s1", from..to).await.unwrap();
        assert_eq!(
            hours(db).await.len(),
            before - usize::try_from(result.deleted).unwrap()
        );
        known.retain(|one| one.at < from || one.at >= to);
        known.sort_by_key(|one| one.at);
        assert_eq!(buckets.items("s1").all().await.unwrap(), known);
        assert_sound(db).await;
    }
    assert_eq!(buckets.items("s2").all().await.unwrap().len(), 20);
    buckets.delete("s1", ..).await.unwrap();
    assert_eq!(buckets.items("s1").all().await.unwrap(), []);
    let left = hours(db).await;
    assert!(left.iter().all(|hour| hour.sensor == "s2"), "{left:?}");
}

pub(super) async fn deletes_beside_inserts_leave_sound_buckets(db: &Db) {
    synced(db).await;
    let write = async |number: i32| {
        let buckets = db.buckets::<Hour>();
        for one in 0..5 {
            let at = (number * 7 + one * 3) % 60;
            buckets
                .insert_many("s1", [reading(at, 1.0), reading(59 - at, 2.0)])
                .await
                .unwrap();
            if number % 2 == 0 {
                let range = minute(at)..minute(at + 10);
                buckets.delete("s1", range).await.unwrap();
            }
        }
    };
    join_all((0..12).map(write)).await;
    assert_sound(db).await;
    let empty: Vec<BsonDocument> = db
        .run_command(doc! {"find": "hours", "filter": {"count": 0}})
        .all()
        .await
        .unwrap();
    assert_eq!(empty, []);
}
