//! Time-series collections: sync creates them on MongoDB, and the engine refuses them by name.

use odm::bson::{Document as BsonDocument, doc};
use odm::plan::Action;
use odm::prelude::*;

use crate::case::cases;

cases![
    sync_creates_a_time_series,
    changes_of_a_time_series_are_planned,
    other_collections_are_in_the_way,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "readings",
    time_series(time = at, meta = sensor, granularity = "minutes", expire_after = "3600d"),
    index(sensor, at = desc)
)]
struct Reading {
    #[serde(rename = "_id")]
    id: Id<Reading>,
    #[serde(rename = "time")]
    at: DateTime,
    #[serde(rename = "meta")]
    sensor: String,
    celsius: f64,
}

/// The same collection, declared otherwise.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "readings", time_series(time = at, meta = sensor, granularity = "hours"))]
struct Hourly {
    #[serde(rename = "_id")]
    id: Id<Hourly>,
    #[serde(rename = "time")]
    at: DateTime,
    #[serde(rename = "meta")]
    sensor: String,
    celsius: f64,
}

/// As a collection without a time.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "readings")]
struct Plain {
    #[serde(rename = "_id")]
    id: Id<Plain>,
}

/// Creates the collection; returns `false` if the engine has refused it.
async fn created(db: &Db) -> bool {
    let plan = db.sync(models![Reading]).plan().await;
    if !db.capability().await.unwrap().durable {
        let refused = plan.unwrap_err();
        assert!(refused.is_unsupported(), "{refused}");
        assert_eq!(refused.model(), Some("Reading"));
        assert!(
            refused
                .to_string()
                .contains("time-series collections need MongoDB"),
            "{refused}"
        );
        return false;
    }
    let applied = plan.unwrap().apply(Allow::CREATE).await;
    let Err(refused) = applied else {
        return true;
    };
    // The engine behind a port.
    let text = refused.to_string();
    assert!(
        text.contains("does not support the option 'create.timeseries'"),
        "{text}"
    );
    false
}

async fn sync_creates_a_time_series(db: &Db) {
    if !created(db).await {
        return;
    }
    let listed = doc! {"listCollections": 1, "filter": {"name": "readings"}};
    let listed: Vec<BsonDocument> = db.run_command(listed).all().await.unwrap();
    assert_eq!(listed[0].get_str("type").unwrap(), "timeseries");
    let again = db.sync(models![Reading]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    let readings = db.collection::<Reading>();
    let reading = |minute: i64, celsius| Reading {
        id: Id::new(),
        at: DateTime::from_millis(1_767_225_600_000 + minute * 60_000),
        sensor: "s1".to_owned(),
        celsius,
    };
    let all = [reading(2, 1.0), reading(1, 2.0)];
    readings.insert_many(&all).await.unwrap();
    let found = readings.find(|r| r.sensor.eq("s1")).sort(|r| r.at.asc());
    assert_eq!(found.all().await.unwrap(), [all[1].clone(), all[0].clone()]);
    // MongoDB's own refusal, which names what it can't do.
    let refused = readings
        .update_by_id(&all[0].id, |r| r.celsius.set(3.0))
        .await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("time-series"), "{refused}");
}

async fn changes_of_a_time_series_are_planned(db: &Db) {
    if !created(db).await {
        return;
    }
    let plan = db.sync(models![Hourly]).plan().await.unwrap();
    let reasons: Vec<String> = plan
        .steps()
        .iter()
        .flat_map(|step| step.reasons.clone())
        .collect();
    assert!(
        reasons
            .iter()
            .any(|one| one.contains("the granularity minutes, declared with")),
        "{reasons:?}"
    );
    assert!(
        reasons
            .iter()
            .any(|one| one == "documents expire after 311040000 seconds, declared never"),
        "{reasons:?}"
    );
    plan.apply(Allow::CHANGE).await.unwrap();
    let plan = db.sync(models![Hourly]).plan().await.unwrap();
    assert!(
        plan.steps()
            .iter()
            .all(|step| step.action != Action::ChangeCollection),
        "{plan}"
    );
    // A time after which documents are removed is asked for.
    let plan = db.sync(models![Reading]).plan().await.unwrap();
    let shrinks = plan
        .steps()
        .iter()
        .any(|step| step.action == Action::ShrinkCollection);
    assert!(shrinks, "{plan}");
}

async fn other_collections_are_in_the_way(db: &Db) {
    if !created(db).await {
        return;
    }
    let plan = db.sync(models![Plain]).plan().await.unwrap();
    assert!(
        plan.to_string()
            .contains("a timeseries of this name is in the way"),
        "{plan}"
    );
    db.run_command(doc! {"drop": "readings"}).await.unwrap();
    db.collection::<Plain>()
        .insert_one(&Plain { id: Id::new() })
        .await
        .unwrap();
    let plan = db.sync(models![Reading]).plan().await.unwrap();
    assert!(
        plan.to_string()
            .contains("a collection of this name is in the way"),
        "{plan}"
    );
}
