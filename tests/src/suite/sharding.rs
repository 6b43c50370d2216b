//! Shard keys: indexes and plans, operations that reach all shards, and documents that have no place in a sharded collection.

use std::sync::{Arc, Mutex};

use odm::bson::{Document as BsonDocument, doc};
use odm::check::{Aspect, FindingKind};
use odm::collection::Loaded;
use odm::plan::Action;
use odm::prelude::*;
use odm::sharding::Effect;

use crate::case::cases;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Rack {
    row: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shard_hosts", shard_key(region, rack.row), unique(region, rack.row, name), has_many(readings: Reading, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    region: String,
    rack: Rack,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shard_readings", shard_key(host = hashed))]
struct Reading {
    #[serde(rename = "_id")]
    id: i32,
    host: Ref<Host>,
    #[odm(copy_of(host.name))]
    host_name: String,
    #[serde(default)]
    load: f64,
}

cases![
    plans_list_what_no_cluster_shards,
    operations_that_lack_the_shard_key_are_reported,
    joins_and_copies_report_what_they_scatter,
    saves_name_the_shard,
    saves_of_older_documents_find_them,
    checks_find_documents_without_a_place,
    other_names_and_handles_are_watched,
];

fn host(id: i32) -> Host {
    Host {
        id,
        region: if id % 2 == 0 { "east" } else { "west" }.to_owned(),
        rack: Rack { row: id },
        name: format!("h{id}"),
    }
}

async fn fill(db: &Db) {
    let plan = db.sync(models![Host, Reading]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    db.collection::<Host>()
        .insert_many([host(1), host(2)])
        .await
        .unwrap();
    let readings = (1..=4).map(|id| Reading {
        id,
        host: Ref::from(1 + id % 2),
        host_name: format!("h{}", 1 + id % 2),
        load: 0.5,
    });
    let readings: Vec<_> = readings.collect();
    db.collection::<Reading>()
        .insert_many(readings)
        .propagate()
        .await
        .unwrap();
}

type Reports = Arc<Mutex<Vec<String>>>;

/// A handle, and what it reports: the effect, the command, the collection and the missing fields.
fn watched(db: &Db) -> (Db, Reports) {
    let reports = Reports::default();
    let kept = Arc::clone(&reports);
    let db = db
        .on_scattered(models![Host, Reading], move |scattered| {
            let effect = match scattered.effect {
                Effect::AllShards => "all",
                Effect::Refused => "refused",
                _ => "other",
            };
            let verb = scattered.command.keys().next().unwrap();
            let (collection, missing) = (&scattered.collection, scattered.missing.join(" "));
            kept.lock()
                .unwrap()
                .push(format!("{effect} {verb} {collection} {missing}"));
        })
        .unwrap();
    (db, reports)
}

fn take(reports: &Reports) -> Vec<String> {
    std::mem::take(&mut reports.lock().unwrap())
}

async fn plans_list_what_no_cluster_shards(db: &Db) {
    let plan = db.sync(models![Host, Reading]).plan().await.unwrap();
    let left_out: Vec<_> = plan
        .left_out()
        .iter()
        .map(|step| (step.model, &step.action))
        .collect();
    let shard = Action::ShardCollection { is_new: true };
    assert_eq!(left_out, [("Host", &shard), ("Reading", &shard)]);
    assert!(
        plan.to_string()
            .contains("left out, because the deployment is not a sharded cluster"),
        "{plan}"
    );
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    // The unique index of hosts begins with their shard key; readings get one.
    for (collection, key) in [
        ("shard_hosts", doc! {"region": 1, "rack.row": 1, "name": 1}),
        ("shard_readings", doc! {"host": "hashed"}),
    ] {
        let indexes = db
            .run_command(doc! {"listIndexes": collection})
            .all()
            .await
            .unwrap();
        let keys: Vec<_> = indexes
            .iter()
            .map(|index| index.get_document("key").unwrap())
            .collect();
        assert_eq!(keys[1..], [&key]);
    }
    let again = db.sync(models![Host, Reading]).plan().await.unwrap();
    assert!(again.is_empty() && again.left_out().len() == 2);
    assert_eq!(
        again.left_out()[0].action,
        Action::ShardCollection { is_new: false }
    );
}

async fn operations_that_lack_the_shard_key_are_reported(db: &Db) {
    fill(db).await;
    let (db, reports) = watched(db);
    let hosts = db.collection::<Host>();
    // These reach one shard, or the shards of a region.
    hosts
        .find_one(|h| h.region.eq("west") & h.rack.row.eq(1))
        .await
        .unwrap()
        .unwrap();
    hosts.find(|h| h.region.eq("east")).all().await.unwrap();
    hosts.count_documents(|h| h.region.gt("d")).await.unwrap();
    hosts
        .update_one(
            |h| h.region.eq("west") & h.rack.row.eq(1),
            |h| h.name.set("a"),
        )
        .leave_stale()
        .await
        .unwrap();
    hosts
        .update_many(|h| h.region.in_(["east", "west"]), |h| h.name.set("a"))
        .leave_stale()
        .await
        .unwrap();
    hosts
        .find_one_and_update(
            |h| h.region.eq("east") & h.rack.row.eq(2),
            |h| h.name.set("b"),
        )
        .leave_stale()
        .await
        .unwrap();
    let reached: Vec<_> = take(&reports)
        .into_iter()
        .filter(|report| report.contains("shard_hosts"))
        .collect();
    assert_eq!(reached, Vec::<String>::new());

    hosts.get(&1).await.unwrap();
    hosts.find_all().all().await.unwrap();
    hosts.count_documents(|h| h.name.eq("a")).await.unwrap();
    hosts
        .distinct(|h| h.name, |h| h.name.ne("x"))
        .await
        .unwrap();
    hosts
        .update_by_id(&1, |h| h.name.set("c"))
        .leave_stale()
        .await
        .unwrap();
    hosts
        .update_one(|h| h.name.eq("c"), |h| h.name.set("d"))
        .leave_stale()
        .await
        .unwrap();
    hosts
        .update_one(|h| h.region.eq("west"), |h| h.name.set("d"))
        .leave_stale()
        .await
        .unwrap();
    hosts
        .find_one_and_update(|h| h.id.eq(1), |h| h.name.set("e"))
        .leave_stale()
        .await
        .unwrap();
    hosts
        .delete_many(|h| h.name.eq("nobody"))
        .leave_dangling()
        .await
        .unwrap();
    hosts
        .delete_one(|h| h.name.eq("nobody"))
        .leave_dangling()
        .await
        .unwrap();
    hosts
        .replace_by_id(&9, host(9))
        .upsert(true)
        .leave_stale()
        .await
        .unwrap();
    assert_eq!(
        take(&reports),
        [
            "all find shard_hosts region",
            "all find shard_hosts region",
            "all aggregate shard_hosts region",
            "all distinct shard_hosts region",
            "all update shard_hosts region",
            "refused update shard_hosts region rack.row",
            "refused update shard_hosts rack.row",
            "refused findAndModify shard_hosts region rack.row",
            "all delete shard_hosts region",
            "refused delete shard_hosts region rack.row",
            "refused update shard_hosts region rack.row",
        ]
    );
}

async fn joins_and_copies_report_what_they_scatter(db: &Db) {
    fill(db).await;
    let (db, reports) = watched(db);
    let readings = db.collection::<Reading>();
    let rows = readings
        .find(|r| r.host.eq(Ref::from(1)))
        .join(|r| r.host)
        .all()
        .await
        .unwrap();
    assert!(rows.iter().all(|row| row.host().found().is_some()));
    // Hosts are found by their `_id`, which is not in their shard key.
    assert_eq!(take(&reports), ["all find shard_hosts region"]);
    let hosts = db.collection::<Host>();
    hosts
        .update_one(
            |h| h.region.eq("west") & h.rack.row.eq(1),
            |h| h.name.set("x"),
        )
        .propagate()
        .await
        .unwrap();
    // Copies are found by the reference, which is the shard key of readings.
    let scattered = take(&reports);
    assert!(
        scattered
            .iter()
            .all(|report| !report.contains("shard_readings")),
        "{scattered:?}"
    );
    let stored = readings
        .find(|r| r.host.eq(Ref::from(1)))
        .all()
        .await
        .unwrap();
    assert!(stored.iter().all(|reading| reading.host_name == "x"));
}

async fn saves_name_the_shard(db: &Db) {
    fill(db).await;
    let (db, reports) = watched(db);
    let hosts = db.collection::<Host>();
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    take(&reports);
    loaded.name = String::from("saved");
    let command = hosts
        .save(&mut loaded)
        .leave_stale()
        .command()
        .unwrap()
        .unwrap();
    let update = command.get_array("updates").unwrap()[0]
        .as_document()
        .unwrap();
    let filter = doc! {"_id": 1, "region": "west", "rack.row": 1};
    assert_eq!(update.get_document("q").unwrap(), &filter);
    hosts.save(&mut loaded).leave_stale().await.unwrap();
    // A document moves to another shard when its key changes; the filter has the stored one.
    loaded.region = String::from("north");
    loaded.rack.row = 7;
    hosts.save(&mut loaded).leave_stale().await.unwrap();
    loaded.name = String::from("again");
    hosts.save(&mut loaded).leave_stale().await.unwrap();
    assert_eq!(take(&reports), Vec::<String>::new());
    let stored = hosts.get(&1).await.unwrap().unwrap();
    assert_eq!(
        (
            stored.region.as_str(),
            stored.rack.row,
            stored.name.as_str()
        ),
        ("north", 7, "again")
    );
    // Somebody else has moved it: the save finds nothing, and says so.
    hosts
        .update_by_id(&1, |h| h.region.set("south"))
        .await
        .unwrap();
    loaded.name = String::from("lost");
    let stale = hosts.save(&mut loaded).leave_stale().await.unwrap_err();
    assert!(stale.is_stale(), "{stale}");
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(default)]
struct Site {
    hall: i32,
    shelf: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shard_places", shard_key(zone, row, site.hall))]
struct Place {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    zone: String,
    row: i32,
    #[serde(default)]
    site: Site,
    note: String,
}

/// The filter of a save.
fn filter_of(places: &Collection<Place>, loaded: &mut Loaded<Place>) -> BsonDocument {
    let command = places.save(loaded).command().unwrap().unwrap();
    let updates = command.get_array("updates").unwrap();
    let update = updates[0].as_document().unwrap();
    update.get_document("q").unwrap().clone()
}

/// Documents that an older version or another program stored: without fields of the shard key, or with another numeric type.
async fn saves_of_older_documents_find_them(db: &Db) {
    let documents = [
        doc! {"_id": 1, "row": 1, "note": "a"},
        doc! {"_id": 2, "zone": "z", "row": 2_i64, "site": {"shelf": 4}, "note": "a"},
        doc! {"_id": 3, "zone": "z", "row": 3, "site": {"hall": 5_i64}, "note": "a"},
    ];
    let insert = doc! {"insert": "shard_places", "documents": documents};
    let reply = db.run_command(insert).await.unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
    let places = db.collection::<Place>();
    for (id, mut expected) in [
        (1, doc! {"_id": 1, "row": 1}),
        (2, doc! {"_id": 2, "zone": "z", "row": 2_i64}),
        (
            3,
            doc! {"_id": 3, "zone": "z", "row": 3, "site.hall": 5_i64},
        ),
    ] {
        let mut loaded = places.load(&id).await.unwrap().unwrap();
        loaded.note = String::from("b");
        // The filter has what is stored, and nothing of what the struct adds.
        assert_eq!(filter_of(&places, &mut loaded), expected);
        assert!(places.save(&mut loaded).await.unwrap());
        // A save that does not touch the key leaves the next one as it is.
        loaded.note = String::from("c");
        assert_eq!(filter_of(&places, &mut loaded), expected);
        assert!(places.save(&mut loaded).await.unwrap());
        // Each save may store a field of the key, of which the next one has the value.
        loaded.zone = format!("y{id}");
        assert!(places.save(&mut loaded).await.unwrap());
        expected.insert("zone", format!("y{id}"));
        loaded.site.hall = 9;
        let before = filter_of(&places, &mut loaded);
        assert_eq!(before.get("zone"), expected.get("zone"));
        assert_eq!(before.get("site.hall"), expected.get("site.hall"));
        assert!(places.save(&mut loaded).await.unwrap());
        loaded.site.shelf = 6;
        assert_eq!(
            filter_of(&places, &mut loaded)
                .get_i32("site.hall")
                .unwrap(),
            9
        );
        assert!(places.save(&mut loaded).await.unwrap());
        let stored = places.get(&id).await.unwrap().unwrap();
        assert_eq!(stored, *loaded);
    }
    // A subdocument that was not stored is stored as a whole, with the field of the key.
    let reply = db
        .run_command(
            doc! {"insert": "shard_places", "documents": [{"_id": 4, "row": 4, "note": "a"}]},
        )
        .await
        .unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
    let mut loaded = places.load(&4).await.unwrap().unwrap();
    loaded.site.shelf = 2;
    assert!(places.save(&mut loaded).await.unwrap());
    loaded.note = String::from("b");
    assert!(places.save(&mut loaded).await.unwrap());
    assert_eq!(places.get(&4).await.unwrap().unwrap(), *loaded);
}

async fn raw(db: &Db, documents: Vec<BsonDocument>) {
    let insert =
        doc! {"insert": "shard_hosts", "documents": documents, "bypassDocumentValidation": true};
    let reply = db.run_command(insert).await.unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
}

async fn checks_find_documents_without_a_place(db: &Db) {
    fill(db).await;
    let sound = db
        .check(models![Host, Reading])
        .only([Aspect::ShardKeys])
        .await
        .unwrap();
    assert!(sound.is_sound(), "{sound}");
    raw(
        db,
        vec![
            doc! {"_id": 10, "rack": {"row": 1}, "name": "a"},
            doc! {"_id": 11, "region": null, "rack": {"row": 1_i64}, "name": "b"},
            doc! {"_id": 12, "region": ["a", "b"], "rack": {"row": 1}, "name": "c"},
            doc! {"_id": 13, "region": "a", "rack": [{"row": 1}], "name": "d"},
            doc! {"_id": 14, "region": "a", "rack": 5, "name": "e"},
            doc! {"_id": 15, "region": 5, "rack": {"row": "x"}, "name": "f"},
        ],
    )
    .await;
    let report = db
        .check(models![Host])
        .only([Aspect::ShardKeys])
        .await
        .unwrap();
    let mut found: Vec<_> = report
        .listed
        .iter()
        .map(|one| {
            (
                one.id.clone().unwrap().as_i32().unwrap(),
                one.kind,
                one.path.as_str(),
            )
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            (10, FindingKind::MissingShardKey, "region"),
            (11, FindingKind::MissingShardKey, "region"),
            (12, FindingKind::ArrayInShardKey, "region"),
            (13, FindingKind::ArrayInShardKey, "rack.row"),
            (14, FindingKind::MissingShardKey, "rack.row"),
        ],
        "{report}"
    );
    let text = report.to_string();
    assert!(
        text.contains("`region` is null, and the shard key needs one value of it"),
        "{text}"
    );
    let plan = db
        .repair(models![Host])
        .only([Aspect::ShardKeys])
        .plan()
        .await
        .unwrap();
    assert!(plan.to_string().contains("by hand"), "{plan}");
}

async fn other_names_and_handles_are_watched(db: &Db) {
    fill(db).await;
    let named = db.with_collection_names(|name| format!("{name}_2"));
    let (watching, reports) = watched(&named);
    watching.collection::<Host>().get(&1).await.unwrap();
    // The handle before it reports nothing, and other collections are of no interest.
    named.collection::<Host>().get(&1).await.unwrap();
    watching
        .run_command(doc! {"find": "shard_hosts", "filter": {}})
        .all()
        .await
        .unwrap();
    assert_eq!(take(&reports), ["all find shard_hosts_2 region"]);
}
