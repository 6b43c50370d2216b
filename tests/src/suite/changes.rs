//! Change streams, as commands.

use std::time::{Duration, Instant};

use futures::FutureExt;
use odm::Code;
use odm::bson::{Bson, Document as Event, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    change_events_are_in_order,
    update_events_describe_operator_updates,
    update_events_describe_pipeline_updates_as_diffs,
    transactions_are_reported_at_commit,
    a_stream_resumes_after_its_token,
    a_stream_ends_with_its_collection,
    database_streams_report_all_collections,
    events_carry_pre_and_post_images,
    pipelines_filter_and_shape_events,
    cluster_streams_report_all_databases,
    invalid_change_streams_are_refused,
    get_more_waits_for_events,
    the_cursor_of_a_stream_awaits_data,
];

/// An open stream and its last resume token.
pub(super) struct Stream<'d> {
    db: &'d Db,
    collection: String,
    cursor: i64,
    pub(super) token: Event,
    first: Vec<Event>,
}

impl<'d> Stream<'d> {
    pub(super) async fn open(
        db: &'d Db,
        target: impl Into<Bson>,
        spec: Event,
        behind: Vec<Event>,
    ) -> odm::Result<Self> {
        let mut stages = vec![doc! { "$changeStream": spec }];
        stages.extend(behind);
        let open = doc! { "aggregate": target.into(), "pipeline": stages, "cursor": {} };
        let reply = db.run_command(open).await?;
        let cursor = reply.get_document("cursor").unwrap();
        let (_, collection) = cursor.get_str("ns").unwrap().split_once('.').unwrap();
        Ok(Self {
            db,
            collection: collection.to_owned(),
            cursor: cursor.get_i64("id").unwrap(),
            token: cursor.get_document("postBatchResumeToken").unwrap().clone(),
            first: documents(cursor, "firstBatch"),
        })
    }

    pub(super) async fn more(&mut self) -> odm::Result<Vec<Event>> {
        let more = doc! {
            "getMore": self.cursor,
            "collection": &self.collection,
            "maxTimeMS": 200,
        };
        let reply = self.db.run_command(more).await?;
        let cursor = reply.get_document("cursor").unwrap();
        self.cursor = cursor.get_i64("id").unwrap();
        self.token = cursor.get_document("postBatchResumeToken").unwrap().clone();
        Ok(documents(cursor, "nextBatch"))
    }

    /// The next `n` events; waits for them, but not forever.
    pub(super) async fn take(&mut self, wanted: usize) -> Vec<Event> {
        let start = Instant::now();
        let mut events = std::mem::take(&mut self.first);
        while events.len() < wanted && self.cursor != 0 {
            assert!(start.elapsed() < Duration::from_secs(20), "{events:?}");
            events.extend(self.more().await.unwrap());
        }
        assert_eq!(events.len(), wanted, "{events:?}");
        let tokens: Vec<_> = events.iter().map(token).collect();
        assert!(tokens.is_sorted(), "{tokens:?}");
        events
    }
}

fn documents(cursor: &Event, batch: &str) -> Vec<Event> {
    let batch = cursor.get_array(batch).unwrap().iter();
    batch
        .map(|event| event.as_document().unwrap().clone())
        .collect()
}

fn token(event: &Event) -> String {
    let id = event.get_document("_id").unwrap();
    id.get_str("_data").unwrap().to_owned()
}

fn field(event: &Event, name: &str) -> Option<Event> {
    event.get_document(name).ok().cloned()
}

/// The event without the fields that differ from run to run.
fn plain(event: &Event) -> Event {
    let mut event = event.clone();
    assert!(event.remove("_id").is_some() && event.remove("clusterTime").is_some());
    assert!(event.remove("wallTime").is_some());
    let ns = event.remove("ns");
    let ns = ns.as_ref().and_then(Bson::as_document);
    if let Some(collection) = ns.and_then(|ns| ns.get_str("coll").ok()) {
        event.insert("coll", collection);
    }
    event
}

async fn insert(db: &Db, collection: &str, document: Event) {
    let insert = doc! { "insert": collection, "documents": [document] };
    db.run_command(insert).await.unwrap();
}

async fn update(db: &Db, collection: &str, filter: Event, u: impl Into<Bson>) {
    let update = doc! { "q": filter, "u": u.into() };
    let update = doc! { "update": collection, "updates": [update] };
    db.run_command(update).await.unwrap();
}

async fn delete(db: &Db, collection: &str, filter: Event) {
    let delete = doc! { "delete": collection, "deletes": [{ "q": filter, "limit": 1 }] };
    db.run_command(delete).await.unwrap();
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    size: i32,
}

async fn change_events_are_in_order(db: &Db) {
    let mut stream = Stream::open(db, "things", doc! {}, vec![]).await.unwrap();
    let things = db.collection::<Thing>();
    things.insert_one(&Thing { id: 1, size: 1 }).await.unwrap();
    things
        .update_one(|t| t.id.eq(1), |t| t.size.inc(1))
        .await
        .unwrap();
    // An update that changes nothing has no event.
    things
        .update_one(|t| t.id.eq(1), |t| t.size.set(2))
        .await
        .unwrap();
    things
        .replace_one(|t| t.id.eq(1), &Thing { id: 1, size: 7 })
        .await
        .unwrap();
    things.delete_one(|t| t.id.eq(1)).await.unwrap();
    insert(db, "others", doc! { "_id": 1 }).await;
    things.insert_one(&Thing { id: 2, size: 1 }).await.unwrap();
    let events: Vec<_> = stream.take(5).await.iter().map(plain).collect();
    let key = doc! { "_id": 1 };
    let described =
        doc! { "updatedFields": { "size": 2 }, "removedFields": [], "truncatedArrays": [] };
    assert_eq!(
        events,
        [
            doc! { "operationType": "insert", "fullDocument": { "_id": 1, "size": 1 }, "documentKey": &key,
            "coll": "things" },
            doc! { "operationType": "update", "documentKey": &key, "updateDescription": described,
            "coll": "things" },
            doc! { "operationType": "replace", "fullDocument": { "_id": 1, "size": 7 }, "documentKey": &key,
            "coll": "things" },
            doc! { "operationType": "delete", "documentKey": &key, "coll": "things" },
            doc! { "operationType": "insert", "fullDocument": { "_id": 2, "size": 1 },
            "documentKey": { "_id": 2 }, "coll": "things" },
        ]
    );
}

/// Updates documents one after the other, and compares the events: `updateDescription`, or the document that
/// replaced the other.
async fn check_descriptions(db: &Db, rows: Vec<(Event, Bson, Event)>) {
    for (number, (mut document, u, expected)) in (0_i32..).zip(rows) {
        document.insert("_id", number);
        insert(db, "described", document.clone()).await;
        let mut stream = Stream::open(db, "described", doc! {}, vec![])
            .await
            .unwrap();
        update(db, "described", doc! { "_id": number }, u.clone()).await;
        let event = stream.take(1).await.remove(0);
        let told = match event.get_str("operationType").unwrap() {
            "update" => {
                let told = event.get_document("updateDescription").unwrap().clone();
                let parts = told.into_iter();
                parts
                    .filter(|(_, part)| part.as_array().is_none_or(|part| !part.is_empty()))
                    .collect()
            }
            other => doc! { other: true },
        };
        assert_eq!(told, expected, "{document} {u}");
    }
}

async fn update_events_describe_operator_updates(db: &Db) {
    let set = |fields: Event| doc! { "updatedFields": fields };
    let row = |document: Event, u: Event, expected: Event| (document, u.into(), expected);
    check_descriptions(
        db,
        vec![
            row(
                doc! { "a": 1 },
                doc! { "$set": { "a": 2, "b.c": 3, "z": 4 } },
                set(doc! { "a": 2, "b": { "c": 3 }, "z": 4 }),
            ),
            row(
                doc! { "a": 1, "b": { "c": 1, "d": 2 } },
                doc! { "$unset": { "a": 1, "b.c": 1 } },
                doc! { "updatedFields": {}, "removedFields": ["a", "b.c"] },
            ),
            row(
                doc! { "z": 1, "a": 1, "m": 1 },
                doc! { "$set": { "z": 2, "b": 3, "a": 2, "m": 1 } },
                set(doc! { "a": 2, "z": 2, "b": 3 }),
            ),
            row(
                doc! { "a": { "x": 1, "y": 2 } },
                doc! { "$set": { "a": { "x": 1, "y": 3 } } },
                set(doc! { "a": { "x": 1, "y": 3 } }),
            ),
            row(
                doc! { "a": [1, 2] },
                doc! { "$push": { "a": { "$each": [3, 4] } } },
                set(doc! { "a.2": 3, "a.3": 4 }),
            ),
            row(
                doc! { "a": [] },
                doc! { "$push": { "a": 1 } },
                set(doc! { "a": [1] }),
            ),
            row(
                doc! { "a": [1, 2] },
                doc! { "$push": { "a": { "$each": [3, 4], "$slice": 2 } } },
                set(doc! { "a": [1, 2] }),
            ),
            row(
                doc! { "a": [1] },
                doc! { "$push": { "a": { "$each": [5], "$sort": 1 } } },
                set(doc! { "a": [1, 5] }),
            ),
            row(
                doc! { "a": [1] },
                doc! { "$addToSet": { "a": 4 } },
                set(doc! { "a": [1, 4] }),
            ),
            row(
                doc! { "a": [1, 2] },
                doc! { "$push": { "a": { "$each": [], "$sort": 1 } } },
                set(doc! { "a": [1, 2] }),
            ),
            row(
                doc! { "a": { "b": [] }, "z": 1 },
                doc! { "$push": { "a.b": { "$each": [], "$sort": 1 } }, "$set": { "z": 2 } },
                set(doc! { "z": 2, "a.b": [] }),
            ),
            row(
                doc! { "a": { "b": [] } },
                doc! { "$push": { "a.b": { "$each": [1], "$slice": 0 } } },
                set(doc! { "a.b": [] }),
            ),
            row(
                doc! { "a": [1, 2, 3] },
                doc! { "$pop": { "a": 1 } },
                set(doc! { "a": [1, 2] }),
            ),
            row(
                doc! { "a": [{ "b": 1 }, { "b": 2 }] },
                doc! { "$set": { "a.1.b": 4, "a.0.c": 5 }, "$unset": { "a.1.c": 1, "a.0.b": 1 } },
                doc! { "updatedFields": { "a.0.c": 5, "a.1.b": 4 }, "removedFields": ["a.0.b"] },
            ),
            row(
                doc! { "a": [1] },
                doc! { "$set": { "a.3": 4 } },
                set(doc! { "a.3": 4 }),
            ),
            row(
                doc! { "a": [1, 2, 3] },
                doc! { "$unset": { "a.1": 1 } },
                set(doc! { "a.1": Bson::Null }),
            ),
            row(
                doc! { "a": [{ "b": 1 }, { "b": 2 }] },
                doc! { "$set": { "a.$[].b": 4 } },
                set(doc! { "a": [{ "b": 4 }, { "b": 4 }] }),
            ),
            row(
                doc! { "a": [{ "b": 4 }, { "b": 2 }] },
                doc! { "$set": { "a.$[].b": 4 } },
                set(doc! { "a.1": { "b": 4 } }),
            ),
            row(
                doc! { "a": 1, "b": { "x": 1 } },
                doc! { "$rename": { "a": "b.c" } },
                doc! { "updatedFields": { "b.c": 1 }, "removedFields": ["a"] },
            ),
        ],
    )
    .await;
}

async fn update_events_describe_pipeline_updates_as_diffs(db: &Db) {
    let long = "of a length that makes a difference worth its while";
    let row =
        |document: Event, stage: Event, expected: Event| (document, vec![stage].into(), expected);
    check_descriptions(
        db,
        vec![
            // The difference would be longer than the document.
            row(
                doc! { "a": 1 },
                doc! { "$set": { "a": 2, "b": { "c": 1 } } },
                doc! { "replace": true },
            ),
            row(
                doc! { "a": [1, 2, 3, 4, 5, 6, 7, 8] },
                doc! { "$set": { "a": { "$concatArrays": ["$a", [9]] } } },
                doc! { "updatedFields": { "a.8": 9 } },
            ),
            row(
                doc! { "a": [{ "b": 1, "c": long }, { "b": 2, "c": long }, 3] },
                doc! { "$set": { "a": [{ "b": 1, "c": long }, { "b": 3, "c": long }] } },
                doc! { "updatedFields": { "a.1.b": 3 }, "truncatedArrays": [{ "field": "a", "newSize": 2 }] },
            ),
            row(
                doc! { "l": long, "z": 1, "y": 1, "b": 1, "a": 1 },
                doc! { "$unset": ["z", "a", "y"] },
                doc! { "updatedFields": {}, "removedFields": ["a", "y", "z"] },
            ),
            row(
                doc! { "l": long, "b": { "a": 1, "b": long } },
                doc! { "$set": { "b.a": 2, "b.c": 1, "a": 1 } },
                doc! { "updatedFields": { "a": 1, "b.a": 2, "b.c": 1 } },
            ),
        ],
    )
    .await;
}

async fn transactions_are_reported_at_commit(db: &Db) {
    if !db.capability().await.unwrap().transactions {
        return;
    }
    let things = db.collection::<Thing>();
    things.insert_one(&Thing { id: 9, size: 1 }).await.unwrap();
    let mut stream = Stream::open(db, "things", doc! {}, vec![]).await.unwrap();
    let refused: odm::Result<()> = transaction!(db, |tx| -> odm::Result<_> {
        things
            .insert_one(&Thing { id: 1, size: 1 })
            .session(tx)
            .await?;
        things
            .insert_one(&Thing { id: 9, size: 1 })
            .session(tx)
            .await?;
        Ok(())
    })
    .await;
    assert!(refused.is_err());
    transaction!(db, |tx| -> odm::Result<_> {
        things
            .insert_one(&Thing { id: 2, size: 1 })
            .session(tx)
            .await?;
        things
            .update_one(|t| t.id.eq(2), |t| t.size.inc(1))
            .session(tx)
            .await?;
        Ok(())
    })
    .await
    .unwrap();
    let events = stream.take(2).await;
    let kinds = events
        .iter()
        .map(|event| event.get_str("operationType").unwrap());
    assert_eq!(kinds.collect::<Vec<_>>(), ["insert", "update"]);
    let both = |name: &str| {
        let [first, second] = [0, 1].map(|at| events.get(at).unwrap().get(name).cloned());
        assert!(first.is_some() && first == second, "{name}");
    };
    ["clusterTime", "lsid", "txnNumber"]
        .into_iter()
        .for_each(both);
}

async fn a_stream_resumes_after_its_token(db: &Db) {
    let mut stream = Stream::open(db, "things", doc! {}, vec![]).await.unwrap();
    let start = stream.token.clone();
    for id in 1..=3 {
        insert(db, "things", doc! { "_id": id }).await;
    }
    let events = stream.take(3).await;
    let id = |at: usize| events.get(at).unwrap().get_document("_id").unwrap().clone();
    let time = events.get(1).unwrap().get("clusterTime").unwrap().clone();
    for (spec, first) in [
        (doc! { "resumeAfter": &start }, 1),
        (doc! { "resumeAfter": id(0) }, 2),
        (doc! { "startAfter": id(0) }, 2),
        (doc! { "startAtOperationTime": time }, 2),
        (doc! { "resumeAfter": id(1) }, 3),
    ] {
        let wanted = usize::try_from(4 - first).unwrap();
        let mut again = Stream::open(db, "things", spec.clone(), vec![])
            .await
            .unwrap();
        let told = again.take(wanted).await;
        let told: Vec<_> = told
            .iter()
            .filter_map(|event| field(event, "documentKey"))
            .collect();
        let expected: Vec<_> = (first..=3).map(|id| doc! { "_id": id }).collect();
        assert_eq!(told, expected, "{spec}");
    }
    // Another collection's stream has no such event.
    insert(db, "others", doc! { "_id": 1 }).await;
    let refused = Stream::open(db, "others", doc! { "resumeAfter": id(0) }, vec![]).await;
    let refused = refused.err().unwrap();
    assert_eq!(refused.code(), Some(Code::CHANGE_STREAM_FATAL_ERROR));
}

async fn a_stream_ends_with_its_collection(db: &Db) {
    insert(db, "things", doc! { "_id": 1 }).await;
    let mut stream = Stream::open(db, "things", doc! {}, vec![]).await.unwrap();
    db.run_command(doc! { "drop": "things" }).await.unwrap();
    let events = stream.take(2).await;
    let kinds = events
        .iter()
        .map(|event| event.get_str("operationType").unwrap());
    assert_eq!(kinds.collect::<Vec<_>>(), ["drop", "invalidate"]);
    assert_eq!(stream.cursor, 0);
    let end = events.last().unwrap().get_document("_id").unwrap().clone();
    let refused = Stream::open(db, "things", doc! { "resumeAfter": &end }, vec![]).await;
    assert_eq!(
        refused.err().unwrap().code(),
        Some(Code::INVALID_RESUME_TOKEN)
    );
    let mut again = Stream::open(db, "things", doc! { "startAfter": end }, vec![])
        .await
        .unwrap();
    insert(db, "things", doc! { "_id": 2 }).await;
    let event = again.take(1).await.remove(0);
    assert_eq!(field(&event, "documentKey"), Some(doc! { "_id": 2 }));
}

async fn database_streams_report_all_collections(db: &Db) {
    let mut stream = Stream::open(db, 1, doc! {}, vec![]).await.unwrap();
    insert(db, "one", doc! { "_id": 1 }).await;
    insert(db, "two", doc! { "_id": 2 }).await;
    let out = doc! { "aggregate": "one", "pipeline": [{ "$out": "two" }], "cursor": {} };
    db.run_command(out).await.unwrap();
    db.run_command(doc! { "drop": "two" }).await.unwrap();
    let capped = doc! { "create": "few", "capped": true, "size": 4096, "max": 1 };
    db.run_command(capped).await.unwrap();
    insert(db, "few", doc! { "_id": 1 }).await;
    insert(db, "few", doc! { "_id": 2 }).await;
    let events: Vec<_> = stream.take(8).await.iter().map(plain).collect();
    let told = |event: &Event| {
        let collection = event.get_str("coll").unwrap();
        let collection = collection.split('.').next().unwrap();
        format!("{} {collection}", event.get_str("operationType").unwrap())
    };
    assert_eq!(
        events.iter().map(told).collect::<Vec<_>>(),
        [
            "insert one",
            "insert two",
            "insert tmp",
            "rename tmp",
            "drop two",
            "insert few",
            "insert few",
            "delete few"
        ]
    );
}

async fn events_carry_pre_and_post_images(db: &Db) {
    let images = doc! { "create": "kept", "changeStreamPreAndPostImages": { "enabled": true } };
    db.run_command(images).await.unwrap();
    let spec = doc! { "fullDocument": "required", "fullDocumentBeforeChange": "required" };
    let mut stream = Stream::open(db, "kept", spec.clone(), vec![])
        .await
        .unwrap();
    let mut lookup = Stream::open(db, "kept", doc! { "fullDocument": "updateLookup" }, vec![])
        .await
        .unwrap();
    insert(db, "kept", doc! { "_id": 1, "x": 1 }).await;
    update(db, "kept", doc! {}, doc! { "$set": { "x": 2 } }).await;
    update(db, "kept", doc! {}, doc! { "$set": { "x": 3 } }).await;
    let events = lookup.take(3).await;
    // The document is looked up when the event is read.
    let now = doc! { "_id": 1, "x": 3 };
    assert_eq!(field(events.get(1).unwrap(), "fullDocument"), Some(now));
    delete(db, "kept", doc! {}).await;
    let events = stream.take(4).await;
    let of = |at: usize, name: &str| events.get(at).unwrap().get_document(name).ok().cloned();
    let with = |x: i32| Some(doc! { "_id": 1, "x": x });
    assert_eq!(of(0, "fullDocumentBeforeChange"), None);
    for (at, before, after) in [(1, 1, 2), (2, 2, 3)] {
        assert_eq!(of(at, "fullDocumentBeforeChange"), with(before));
        assert_eq!(of(at, "fullDocument"), with(after));
    }
    assert_eq!(of(3, "fullDocumentBeforeChange"), with(3));

    let modify = doc! { "collMod": "kept", "changeStreamPreAndPostImages": { "enabled": false } };
    db.run_command(modify).await.unwrap();
    let mut stream = Stream::open(db, "kept", spec, vec![]).await.unwrap();
    insert(db, "kept", doc! { "_id": 2 }).await;
    delete(db, "kept", doc! { "_id": 2 }).await;
    let failed = loop {
        match stream.more().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(failed.code(), Some(Code::NO_MATCHING_DOCUMENT));
}

async fn pipelines_filter_and_shape_events(db: &Db) {
    let stages = vec![
        doc! { "$match": { "operationType": "insert", "fullDocument.x": { "$gt": 1 } } },
        doc! { "$project": { "x": "$fullDocument.x" } },
    ];
    let mut stream = Stream::open(db, "things", doc! {}, stages).await.unwrap();
    for x in 0..4 {
        insert(db, "things", doc! { "_id": x, "x": x }).await;
    }
    let events = stream.take(2).await;
    let told: Vec<_> = events
        .iter()
        .map(|event| event.get_i32("x").unwrap())
        .collect();
    assert_eq!(told, [2, 3]);
    // A stream can't resume from an event without its token.
    let stages = vec![doc! { "$project": { "_id": 0 } }];
    let mut stream = Stream::open(db, "things", doc! {}, stages).await.unwrap();
    insert(db, "things", doc! { "_id": 9 }).await;
    let failed = loop {
        match stream.more().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(failed.code(), Some(Code::CHANGE_STREAM_FATAL_ERROR));
}

async fn cluster_streams_report_all_databases(db: &Db) {
    let admin = db.database("admin");
    let here = vec![doc! { "$match": { "ns.db": db.name() } }];
    let spec = doc! { "allChangesForCluster": true };
    let mut stream = Stream::open(&admin, 1, spec, here).await.unwrap();
    insert(db, "things", doc! { "_id": 1 }).await;
    let event = stream.take(1).await.remove(0);
    assert_eq!(field(&event, "documentKey"), Some(doc! { "_id": 1 }));
}

async fn invalid_change_streams_are_refused(db: &Db) {
    let view = doc! { "create": "view", "viewOn": "things", "pipeline": [] };
    db.run_command(view).await.unwrap();
    let sorted = vec![doc! { "$sort": { "a": 1 } }];
    for (target, spec, behind, code) in [
        ("view", doc! {}, vec![], 166),
        ("things", doc! { "other": 1 }, vec![], 40415),
        ("things", doc! { "fullDocument": "x" }, vec![], 2),
        (
            "things",
            doc! { "resumeAfter": { "_data": "xx" } },
            vec![],
            9,
        ),
        ("things", doc! { "resumeAfter": {} }, vec![], 40647),
        ("things", doc! { "allChangesForCluster": true }, vec![], 72),
        ("system.views", doc! {}, vec![], 73),
        ("things", doc! {}, sorted, 20),
    ] {
        let refused = Stream::open(db, target, spec.clone(), behind).await;
        let code_of = refused.err().and_then(|error| error.code());
        assert_eq!(code_of, Some(Code::from(code)), "{target} {spec}");
    }
    let second = doc! { "aggregate": "things", "cursor": {},
    "pipeline": [{ "$match": {} }, { "$changeStream": {} }] };
    let refused = db.run_command(second).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::from(40602)));
}

async fn get_more_waits_for_events(db: &Db) {
    let stream = Stream::open(db, "things", doc! {}, vec![]).await.unwrap();
    let more = |millis: i64| {
        let more = doc! {
            "getMore": stream.cursor,
            "collection": &stream.collection,
            "maxTimeMS": millis,
        };
        let more = db.run_command(more);
        async move {
            let start = Instant::now();
            let reply = more.await.unwrap();
            let told = documents(reply.get_document("cursor").unwrap(), "nextBatch");
            (told.len(), start.elapsed())
        }
    };
    let (told, took) = more(150).await;
    assert_eq!(told, 0);
    assert!(took >= Duration::from_millis(140), "{took:?}");
    // Both run in one task: the waiting stream must not block the writer.
    let write = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        insert(db, "things", doc! { "_id": 1 }).await;
    };
    let ((told, took), ()) = futures::join!(more(30_000), write);
    assert_eq!(told, 1);
    assert!(took < Duration::from_secs(20), "{took:?}");
}

async fn the_cursor_of_a_stream_awaits_data(db: &Db) {
    let things = db.collection::<Thing>();
    let mut cursor = things
        .aggregate([doc! { "$changeStream": {} }])
        .await
        .unwrap();
    assert!(cursor.next().now_or_never().is_none());
    for id in 1..=3 {
        things.insert_one(&Thing { id, size: 1 }).await.unwrap();
        let event = cursor.next().await.unwrap().unwrap();
        assert_eq!(field(&event, "documentKey"), Some(doc! { "_id": id }));
        assert!(cursor.next().now_or_never().is_none());
    }

    // The same holds for a tailable cursor, although nobody watches the collection.
    let capped = doc! { "create": "log", "capped": true, "size": 4096 };
    db.run_command(capped).await.unwrap();
    insert(db, "log", doc! { "_id": 1 }).await;
    let open = doc! { "find": "log", "tailable": true, "awaitData": true };
    let reply = db.run_command(open).await.unwrap();
    let opened = reply.get_document("cursor").unwrap();
    assert_eq!(documents(opened, "firstBatch").len(), 1);
    let more = doc! {
        "getMore": opened.get_i64("id").unwrap(),
        "collection": "log",
        "maxTimeMS": 30_000,
    };
    let write = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        insert(db, "log", doc! { "_id": 2 }).await;
    };
    let start = Instant::now();
    let (reply, ()) = futures::join!(db.run_command(more).into_future(), write);
    let reply = reply.unwrap();
    let told = documents(reply.get_document("cursor").unwrap(), "nextBatch");
    assert_eq!(told.len(), 1);
    assert!(start.elapsed() < Duration::from_secs(20));
}
