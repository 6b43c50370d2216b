//! Damaged buckets, those of other programs, and those of another declaration.

use odm::bson::{Bson, Document as BsonDocument, doc, oid::ObjectId};
use odm::check::{Aspect, FindingKind};
use odm::prelude::*;
use odm::repair::Answer;

use super::{DAY, Hour, Reading, Run, assert_sound, hours, minute, reading, step, synced};

async fn change(db: &Db, filter: BsonDocument, update: BsonDocument) {
    let update = doc! {"update": "hours", "updates": [{"q": filter, "u": update}], "bypassDocumentValidation": true};
    let reply = db.run_command(update).await.unwrap();
    assert_eq!(reply.get_i32("n").unwrap(), 1);
}

async fn insert(db: &Db, document: BsonDocument) {
    let insert =
        doc! {"insert": "hours", "documents": [document], "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
}

pub(super) async fn each_damage_is_found_and_repaired(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    for hour in 0..10 {
        let many = (0..4).map(|at| reading(hour * 60 + at, at.into()));
        buckets.insert_many("s1", many).await.unwrap();
    }
    let at = |hour: i32| doc! {"start": minute(hour * 60)};
    change(db, at(1), doc! {"$set": {"count": 5}}).await;
    change(db, at(2), doc! {"$unset": {"count": ""}}).await;
    change(db, at(3), doc! {"$set": {"coldest": 1.5}}).await;
    change(db, at(4), doc! {"$set": {"warmest": null}}).await;
    change(db, at(5), doc! {"$inc": {"celsius": 0.001}}).await;
    change(
        db,
        at(6),
        doc! {"$push": {"readings": {"at": minute(361), "celsius": 9.0}}},
    )
    .await;
    // Wrong types that MongoDB compares as equal are none for this check.
    change(db, at(7), doc! {"$set": {"count": 4_i64, "celsius": 6}}).await;
    let only = || db.check(models![Hour]).only([Aspect::Buckets]);
    let report = only().await.unwrap();
    let mut found: Vec<(i64, String)> = Vec::new();
    let all = db.run_command(doc! {"find": "hours"});
    let all: Vec<BsonDocument> = all.all().await.unwrap();
    for finding in &report.listed {
        assert_eq!(finding.kind, FindingKind::WrongKeptValue);
        let bucket = all
            .iter()
            .find(|one| one.get("_id") == finding.id.as_ref())
            .unwrap();
        let start = bucket.get_datetime("start").unwrap().timestamp_millis();
        found.push(((start - DAY) / 3_600_000, finding.path.clone()));
    }
    found.sort();
    let expected = [
        (1, "count"),
        (2, "count"),
        (3, "coldest"),
        (4, "warmest"),
        (5, "celsius"),
        (6, "celsius"),
        (6, "count"),
        (6, "last"),
        (6, "warmest"),
    ];
    // The pushed reading is earlier than the last one.
    let expected: Vec<(i64, String)> = expected
        .into_iter()
        .filter(|one| *one != (6, "last"))
        .map(|(hour, path)| (hour, path.to_owned()))
        .collect();
    assert_eq!(found, expected);
    let one = report
        .listed
        .iter()
        .find(|one| one.path == "coldest")
        .unwrap();
    assert_eq!(
        one.detail,
        "`coldest` is 1.5, and the smallest `celsius` of `readings` is 0"
    );
    let plan = db.repair(models![Hour]).plan().await.unwrap();
    let repaired = plan.run().await.unwrap();
    assert!(repaired.is_complete(), "{repaired}");
    assert!(only().await.unwrap().is_sound());
    // An item in another span, and a list that is too long.
    change(
        db,
        at(8),
        doc! {"$set": {"readings.0.at": minute(0), "first": minute(0)}},
    )
    .await;
    let more: Vec<BsonDocument> = (10..20)
        .map(|one| doc! {"at": minute(540 + one), "celsius": 1.0})
        .collect();
    change(db, at(9), doc! {"$push": {"readings": {"$each": more}}}).await;
    let report = db.check(models![Hour]).await.unwrap();
    let kinds: Vec<FindingKind> = report.listed.iter().map(|one| one.kind).collect();
    for kind in [
        FindingKind::MisplacedItem,
        FindingKind::LongList,
        FindingKind::WrongKeptValue,
    ] {
        assert!(kinds.contains(&kind), "{report}");
    }
    let misplaced = report
        .listed
        .iter()
        .find(|one| one.kind == FindingKind::MisplacedItem)
        .unwrap();
    assert!(
        misplaced
            .detail
            .starts_with("`readings` has 1 item outside of the span"),
        "{misplaced}"
    );
    // What is kept follows the list that the repair shortens.
    let repair = db.repair(models![Hour]);
    let repair = repair.answer::<Hour, _, _>(|h| h.readings, Answer::KeepFirst);
    repair.plan().await.unwrap().run().await.unwrap();
    let long = &hours(db).await[9];
    assert_eq!((long.readings.len(), long.count), (10, 10));
    let report = only().await.unwrap();
    let left: Vec<FindingKind> = report.listed.iter().map(|one| one.kind).collect();
    assert_eq!(left, [FindingKind::MisplacedItem]);
    // Images of a repair bring a bucket back.
    change(db, at(1), doc! {"$set": {"count": 7}}).await;
    let plan = db.repair(models![Hour]).plan().await.unwrap();
    let report = plan.run().keep_images().await.unwrap();
    assert_eq!(hours(db).await[1].count, 4);
    db.undo_repair(models![Hour], report.images.unwrap())
        .await
        .unwrap();
    assert_eq!(hours(db).await[1].count, 7);
}

pub(super) async fn rounded_totals_are_no_damage(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    // Their sum depends on the order in which they are added.
    let values = [1e16, 1.0, -1e16, 0.1, 0.2, -0.3, 3.3, 1e9, -1e9];
    for (at, value) in (0..).zip(values) {
        buckets.insert_one("s1", reading(at, value)).await.unwrap();
    }
    assert_sound(db).await;
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        buckets
            .insert_many("s2", [reading(0, 1.0), reading(1, value)])
            .await
            .unwrap();
        assert_sound(db).await;
    }
    let summary = buckets.summary("s2").await.unwrap();
    assert!(summary.get(|h| h.celsius).unwrap().unwrap().is_nan());
}

pub(super) async fn documents_of_other_programs_are_read(db: &Db) {
    // Without a validator, which refuses an update of what it would not accept.
    let buckets = db.buckets::<Hour>();
    let other = |start: i32, readings: Bson, count: Bson| {
        doc! {
            "_id": ObjectId::new(), "sensor": "s1", "start": minute(start), "readings": readings, "count": count,
        }
    };
    let item = |at: i32| doc! {"at": minute(at), "celsius": 1};
    // A count of another type, and without kept values: from before they were declared.
    insert(db, other(0, vec![item(5), item(1)].into(), 2.0.into())).await;
    insert(db, other(60, Bson::Null, Bson::Null)).await;
    insert(
        db,
        doc! {"_id": ObjectId::new(), "sensor": "s1", "start": minute(120)},
    )
    .await;
    insert(
        db,
        other(
            180,
            vec![Bson::from(7), item(181).into(), doc! {"celsius": 1}.into()].into(),
            3_i64.into(),
        ),
    )
    .await;
    insert(db, doc! {"_id": ObjectId::new(), "sensor": "s1"}).await;
    insert(
        db,
        doc! {"_id": ObjectId::new(), "sensor": "s1", "start": "today", "readings": [], "count": 0},
    )
    .await;
    let mut stream = buckets.items("s1").await.unwrap();
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    while let Some(item) = stream.next().await {
        match item {
            Ok(item) => read.push(item),
            Err(error) => errors.push(error),
        }
    }
    assert_eq!(read, [reading(1, 1.0), reading(5, 1.0), reading(181, 1.0)]);
    // A number in the list, and an item without a time.
    assert_eq!(errors.len(), 2, "{errors:?}");
    let within = buckets
        .items("s1")
        .range(minute(2)..minute(170))
        .all()
        .await
        .unwrap();
    assert_eq!(within, [reading(5, 1.0)]);
    // An insert fills such a bucket, and its kept values begin there.
    let result = buckets.insert_one("s1", reading(30, 4.0)).await.unwrap();
    assert!(result.opened.is_empty());
    let summary = buckets
        .summary("s1")
        .range(minute(0)..minute(60))
        .await
        .unwrap();
    assert_eq!(summary.count, 3);
    let report = db
        .check(models![Hour])
        .only([Aspect::Buckets])
        .await
        .unwrap();
    assert!(!report.is_sound());
    let plan = db.repair(models![Hour]).plan().await.unwrap();
    plan.run().await.unwrap();
    let summary = buckets
        .summary("s1")
        .range(minute(0)..minute(60))
        .await
        .unwrap();
    assert_eq!(summary.get(|h| h.celsius).unwrap(), Some(6.0));
    assert_eq!(summary.get(|h| h.coldest).unwrap(), Some(1.0));
    // A shell stores whole numbers as doubles, and other languages as the smallest type.
    let runs = db.buckets::<Run>();
    let insert = doc! {"insert": "runs", "documents": [{
        "machineId": 1.0, "axis": "x", "firstStep": 0.0, "stepCount": 1.0, "version": 1.0,
        "allSteps": [{"stepNumber": 3, "force": {"inNewton": 2_i64}}],
    }], "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    let key = || (1, "x".to_owned());
    let result = runs
        .insert_many(key(), [step(1, Some(1)), step(5, Some(1))])
        .await
        .unwrap();
    assert!(result.opened.is_empty(), "{result:?}");
    let summary = runs.summary(key()).range(1..4).await.unwrap();
    assert_eq!(
        (summary.count, summary.get(|r| r.whole_force).unwrap()),
        (2, Some(3))
    );
    let steps = runs.items(key()).range(..5).all().await.unwrap();
    assert_eq!(steps, [step(1, Some(1)), step(3, Some(2))]);
}

pub(super) async fn a_wrong_count_overfills_no_bucket(db: &Db) {
    synced(db).await;
    let buckets = db.buckets::<Hour>();
    buckets
        .insert_many("s1", (0..10).map(|at| reading(at, 1.0)))
        .await
        .unwrap();
    change(db, doc! {"sensor": "s1"}, doc! {"$set": {"count": 2}}).await;
    let result = buckets.insert_one("s1", reading(20, 1.0)).await.unwrap();
    assert_eq!(result.opened.len(), 1);
    let result = buckets
        .insert_many("s1", (30..40).map(|at| reading(at, 1.0)))
        .await
        .unwrap();
    assert_eq!(result.inserted, 10);
    let all = hours(db).await;
    assert!(all.iter().all(|hour| hour.readings.len() <= 10), "{all:?}");
    assert_eq!(buckets.items("s1").all().await.unwrap().len(), 21);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Tick {
    #[serde(with = "odm::jiff_0_2")]
    at: jiff::Timestamp,
    within: i32,
}

/// Types of other crates, and names that the library's pipelines could use.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "ticks", bucket(of = Tick, by(clock), max = 3, span = "1m"))]
struct Minute {
    #[serde(rename = "_id")]
    id: Id<Minute>,
    #[serde(with = "odm::uuid_1")]
    clock: uuid::Uuid,
    #[odm(start_of(at))]
    #[serde(with = "odm::jiff_0_2")]
    start: jiff::Timestamp,
    items: Vec<Tick>,
    #[odm(item_count)]
    buckets: i64,
    #[odm(largest(at))]
    #[serde(with = "odm::jiff_0_2")]
    kept0: jiff::Timestamp,
    #[odm(largest(within))]
    whole: i32,
    #[odm(smallest(within))]
    within: i32,
    #[odm(total(within))]
    count: i64,
}

pub(super) async fn times_and_keys_of_other_crates_are_stored_by_their_modules(db: &Db) {
    let plan = db.sync(models![Minute]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let ticks = db.buckets::<Minute>();
    let at = |second| jiff::Timestamp::from_second(second).unwrap();
    let tick = |second: i32| Tick {
        at: at(second.into()),
        within: second,
    };
    let (one, other) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
    ticks
        .insert_many(one, (0..90).step_by(10).map(tick))
        .await
        .unwrap();
    ticks.insert_one(other, tick(5)).await.unwrap();
    let stored: Vec<BsonDocument> = db.run_command(doc! {"find": "ticks"}).all().await.unwrap();
    assert!(
        stored.iter().all(|one| one.get_datetime("start").is_ok()),
        "{stored:?}"
    );
    let read = ticks.items(one).range(at(35)..at(65)).all().await.unwrap();
    assert_eq!(read, [tick(40), tick(50), tick(60)]);
    let summary = ticks.summary(one).range(at(35)..at(65)).await.unwrap();
    assert_eq!(
        (summary.count, summary.get(|m| m.count).unwrap()),
        (3, Some(150))
    );
    let extremes = (
        summary.get(|m| m.within).unwrap(),
        summary.get(|m| m.whole).unwrap(),
    );
    assert_eq!(extremes, (Some(40), Some(60)));
    assert_eq!(summary.get(|m| m.kept0).unwrap(), Some(at(60)));
    let all = ticks.summary(one).await.unwrap();
    assert_eq!((all.count, all.get(|m| m.count).unwrap()), (9, Some(360)));
    let report = db.check(models![Minute]).await.unwrap();
    assert!(report.is_sound(), "{report}");
}

/// The same collection with a longer span.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "hours", bucket(of = Reading, by = sensor, max = 10, span = "2h"))]
struct TwoHours {
    #[serde(rename = "_id")]
    id: Id<TwoHours>,
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

pub(super) async fn spans_that_were_declared_otherwise_are_read_in_order(db: &Db) {
    synced(db).await;
    let old = db.buckets::<Hour>();
    old.insert_many("s1", (0..40).map(|one| reading(one * 8, 1.0)))
        .await
        .unwrap();
    let new = db.buckets::<TwoHours>();
    new.insert_many("s1", (0..40).map(|one| reading(one * 8 + 4, 1.0)))
        .await
        .unwrap();
    let expected: Vec<Reading> = (0..80).map(|one| reading(one * 4, 1.0)).collect();
    assert_eq!(new.items("s1").all().await.unwrap(), expected);
    let mut newest = new.items("s1").newest_first().all().await.unwrap();
    newest.reverse();
    assert_eq!(newest, expected);
    let report = db
        .check(models![TwoHours])
        .only([Aspect::Buckets])
        .await
        .unwrap();
    assert!(report.is_sound(), "{report}");
    // With a shorter span, items are where no read of a range looks.
    let report = db
        .check(models![Hour])
        .only([Aspect::Buckets])
        .await
        .unwrap();
    assert!(
        report
            .listed
            .iter()
            .any(|one| one.kind == FindingKind::MisplacedItem),
        "{report}"
    );
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Frame {
    number: i64,
    pixels: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "frames", bucket(of = Frame, by = film, max = 100, span = 1_000))]
struct Scene {
    #[serde(rename = "_id")]
    id: Id<Scene>,
    film: i32,
    #[odm(start_of(number))]
    first: i64,
    frames: Vec<Frame>,
    #[odm(item_count)]
    count: i32,
}

pub(super) async fn buckets_beyond_16_megabytes_are_explained(db: &Db) {
    let scenes = db.buckets::<Scene>();
    let frame = |number| Frame {
        number,
        pixels: "x".repeat(3_000_000),
    };
    // More than one command has room for, and more than one bucket.
    for number in 0..5 {
        scenes.insert_one(1, frame(number)).await.unwrap();
    }
    let refused = scenes.insert_one(1, frame(5)).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("would exceed 16 MB: declare a smaller `max`"),
        "{refused}"
    );
    let report = db
        .check(models![Scene])
        .only([Aspect::Buckets])
        .await
        .unwrap();
    assert!(report.is_sound(), "{report}");
    let result = scenes.insert_many(2, (0..6).map(frame)).await;
    match result {
        Ok(result) => assert_eq!(result.inserted, 6),
        Err(refused) => assert!(refused.to_string().contains("16 MB"), "{refused}"),
    }
}
