//! Change streams that report changes of definitions (`showExpandedEvents`), and the points from which streams resume.

use odm::Code;
use odm::bson::{Bson, Document as Event, doc};
use odm::collection::{Operation, OperationType};
use odm::prelude::*;

use super::changes::Stream;
use crate::case::cases;

cases![
    show_expanded_events_reports_definitions,
    replaced_collections_are_reported,
    transactions_report_created_collections,
    definition_events_are_typed,
    filtered_events_are_not_resume_points,
    resume_tokens_do_not_precede_reported_events,
    collection_options_are_listed_in_a_fixed_order,
];

async fn run(db: &Db, commands: impl IntoIterator<Item = Event>) {
    for command in commands {
        let shown = command.to_string();
        if let Err(error) = db.run_command(command).await {
            panic!("{shown}: {error}");
        }
    }
}

/// The operation, namespace and description of an event about a definition.
fn told(event: &Event) -> Event {
    let ns = event.get_document("ns").unwrap();
    let mut told = doc! { event.get_str("operationType").unwrap(): ns.get_str("coll").unwrap() };
    if let Ok(description) = event.get_document("operationDescription") {
        let mut description = description.clone();
        if description.remove("dropTarget").is_some() {
            description.insert("dropTarget", "a uuid");
        }
        told.insert("how", description);
    }
    if let Ok(before) = event.get_document("stateBeforeChange") {
        let mut before = before.clone();
        let options = before.get_document_mut("collectionOptions").unwrap();
        assert_eq!(options.remove("uuid").as_ref(), event.get("collectionUUID"));
        told.insert("before", before);
    }
    told
}

fn id_index() -> Event {
    doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" }
}

fn index(name: &str) -> Event {
    doc! { "v": 2, "key": { name: 1 }, "name": name }
}

async fn show_expanded_events_reports_definitions(db: &Db) {
    let expanded = doc! { "showExpandedEvents": true };
    let mut stream = Stream::open(db, 1, expanded.clone(), vec![]).await.unwrap();
    let mut plain = Stream::open(db, 1, doc! {}, vec![]).await.unwrap();
    let mut of_view = Stream::open(db, "view", expanded, vec![]).await.unwrap();
    let spec = |name: &str| doc! { "key": { name: 1 }, "name": name };
    // Events report the definition as it was given, not as it is listed.
    let odd = doc! { "max": 4, "sparse": 0, "bits": 20.5 };
    let with_odd = |mut spec: Event| {
        spec.extend(odd.clone());
        spec
    };
    run(db, [
        doc! { "create": "ring", "capped": true, "size": 5000, "validator": { "a": 1 } },
        doc! { "createIndexes": "things", "indexes": [spec("a"), spec("b")] },
        doc! { "insert": "things", "documents": [{ "_id": 1 }] },
        doc! { "createIndexes": "things", "indexes": [spec("c"), with_odd(spec("d"))] },
        doc! { "createIndexes": "things", "indexes": [spec("c")] },
        doc! { "collMod": "things", "index": { "keyPattern": { "a": 1 }, "expireAfterSeconds": 5, "hidden": true } },
        doc! { "collMod": "things", "index": { "name": "a", "hidden": true }, "validationAction": "warn" },
        doc! { "dropIndexes": "things", "index": ["d", "c"] },
        doc! { "collMod": "ring", "cappedSize": 7000, "changeStreamPreAndPostImages": { "enabled": true } },
        doc! { "create": "view", "viewOn": "things", "pipeline": [{ "$match": {} }] },
        doc! { "collMod": "view", "viewOn": "ring" },
        doc! { "drop": "view" },
        doc! { "drop": "ring" },
    ])
    .await;
    assert!(
        db.run_command(doc! { "dropIndexes": "things", "index": "none" })
            .await
            .is_err()
    );
    run(
        db,
        [doc! { "insert": "things", "documents": [{ "_id": 2 }] }],
    )
    .await;
    let events = stream.take(16).await;
    let expected = [
        doc! { "create": "ring", "how": { "capped": true, "size": 5120, "validator": { "a": 1 }, "idIndex": id_index() } },
        doc! { "create": "things", "how": { "idIndex": id_index() } },
        doc! { "createIndexes": "things", "how": { "indexes": [index("a")] } },
        doc! { "createIndexes": "things", "how": { "indexes": [index("b")] } },
        doc! { "insert": "things" },
        doc! { "createIndexes": "things", "how": { "indexes": [index("c"), with_odd(index("d"))] } },
        doc! { "modify": "things",
        "how": { "index": { "name": "a", "expireAfterSeconds": 5_i64, "hidden": true } },
        "before": { "collectionOptions": {}, "indexOptions": { "hidden": false } } },
        // A change to the same value has no event.
        doc! { "modify": "things", "how": { "validationAction": "warn" }, "before": { "collectionOptions": {} } },
        doc! { "dropIndexes": "things", "how": { "indexes": [with_odd(index("d"))] } },
        doc! { "dropIndexes": "things", "how": { "indexes": [index("c")] } },
        doc! { "modify": "ring",
        "how": { "changeStreamPreAndPostImages": { "enabled": true }, "cappedSize": 7000_i64 },
        "before": { "collectionOptions": { "capped": true, "size": 5120, "validator": { "a": 1 } } } },
        doc! { "create": "view", "how": { "viewOn": "things", "pipeline": [{ "$match": {} }] } },
        doc! { "modify": "view", "how": { "viewOn": "ring", "pipeline": [{ "$match": {} }] } },
        doc! { "drop": "view" },
        doc! { "drop": "ring" },
        doc! { "insert": "things" },
    ];
    let seen: Vec<Event> = events.iter().map(told).collect();
    assert_eq!(seen, expected);
    for event in &events {
        let has_uuid = event.contains_key("collectionUUID");
        let of_view = event.get_document("ns").unwrap().get_str("coll").unwrap() == "view";
        assert_eq!(has_uuid, !of_view, "{event}");
    }
    let seen: Vec<Event> = plain.take(3).await.iter().map(told).collect();
    let expected = [
        doc! { "insert": "things" },
        doc! { "drop": "ring" },
        doc! { "insert": "things" },
    ];
    assert_eq!(seen, expected);
    // A stream of a collection reports no views.
    assert_eq!(of_view.more().await.unwrap(), [] as [Event; 0]);
}

async fn replaced_collections_are_reported(db: &Db) {
    run(
        db,
        [
            doc! { "insert": "things", "documents": [{ "_id": 1 }] },
            doc! { "create": "made", "validator": { "_id": 1 } },
            doc! { "createIndexes": "made", "indexes": [{ "key": { "a": 1 }, "name": "a" }] },
        ],
    )
    .await;
    let expanded = doc! { "showExpandedEvents": true };
    let mut stream = Stream::open(db, 1, expanded, vec![]).await.unwrap();
    let out = |to: &str| doc! { "aggregate": "things", "cursor": {}, "pipeline": [{ "$out": to }] };
    run(
        db,
        [
            out("made"),
            out("new"),
            doc! { "convertToCapped": "new", "size": 4096 },
        ],
    )
    .await;
    let events = stream.take(9).await;
    // Temporary names differ between the stores.
    let for_now = |event: &Event| {
        let mut told = told(event);
        let (operation, name) = told.iter().next().unwrap();
        if name.as_str().is_some_and(|name| name.starts_with("tmp")) {
            let operation = operation.clone();
            told.insert(operation, "for now");
        }
        told
    };
    let seen: Vec<Event> = events.iter().map(for_now).collect();
    let to = |name: &str, replaces: bool| {
        let mut to = doc! { "to": { "db": db.name(), "coll": name } };
        if replaces {
            to.insert("dropTarget", "a uuid");
        }
        to
    };
    let id = id_index;
    let expected = [
        doc! { "create": "for now", "how": { "temp": true, "validator": { "_id": 1 }, "idIndex": id() } },
        doc! { "createIndexes": "for now", "how": { "indexes": [index("a")] } },
        doc! { "insert": "for now" },
        doc! { "rename": "for now", "how": to("made", true) },
        doc! { "create": "for now", "how": { "temp": true, "idIndex": id() } },
        doc! { "insert": "for now" },
        doc! { "rename": "for now", "how": to("new", false) },
        doc! { "create": "for now", "how": { "capped": true, "size": 4096, "temp": true, "idIndex": id() } },
        doc! { "rename": "for now", "how": to("new", true) },
    ];
    assert_eq!(seen, expected);
}

async fn transactions_report_created_collections(db: &Db) {
    let expanded = doc! { "showExpandedEvents": true };
    let mut stream = Stream::open(db, 1, expanded, vec![]).await.unwrap();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    for command in [
        doc! { "create": "made" },
        doc! { "createIndexes": "made", "indexes": [{ "key": { "a": 1 }, "name": "a" }] },
        doc! { "insert": "things", "documents": [{ "_id": 1 }] },
    ] {
        db.run_command(command).session(&mut session).await.unwrap();
    }
    session.commit_transaction().await.unwrap();
    let events = stream.take(4).await;
    let seen: Vec<Event> = events.iter().map(told).collect();
    let expected = [
        doc! { "create": "made", "how": { "idIndex": id_index() } },
        doc! { "createIndexes": "made", "how": { "indexes": [index("a")] } },
        doc! { "create": "things", "how": { "idIndex": id_index() } },
        doc! { "insert": "things" },
    ];
    assert_eq!(seen, expected);
    assert!(events.iter().all(|event| event.contains_key("txnNumber")));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "things", index(total))]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    total: i64,
}

async fn definition_events_are_typed(db: &Db) {
    let mut changes = db.watch().show_expanded_events(true).await.unwrap();
    let mut indexed = db
        .collection::<Thing>()
        .watch()
        .show_expanded_events(true)
        .filter(|change| change.operation_type.eq(OperationType::CreateIndexes))
        .await
        .unwrap();
    let plan = db.sync(models![Thing]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    run(
        db,
        [
            doc! { "collMod": "things", "validationAction": "warn" },
            doc! { "dropIndexes": "things", "index": "total_1" },
            doc! { "create": "others" },
        ],
    )
    .await;
    let admin = db.database("admin");
    let (from, to) = (
        format!("{}.things", db.name()),
        format!("{}.others", db.name()),
    );
    run(
        &admin,
        [doc! { "renameCollection": from, "to": to, "dropTarget": true }],
    )
    .await;

    let mut seen = Vec::new();
    let mut uuids = Vec::new();
    while seen.len() < 6 {
        let change = changes.next().await.unwrap().unwrap();
        uuids.push(change.collection_uuid.unwrap());
        // A typed stream reports the same.
        if let Some(of_model) = change.of::<Thing>().unwrap() {
            assert_eq!(
                format!("{:?}", of_model.operation),
                format!("{:?}", change.operation)
            );
        }
        seen.push(change.operation);
    }
    let [
        Operation::Create { description },
        Operation::CreateIndexes { indexes },
        Operation::Modify {
            description: modified,
            before: Some(before),
        },
        Operation::DropIndexes { indexes: dropped },
        Operation::Create { .. },
        Operation::Rename {
            to,
            replaced: Some(replaced),
        },
    ] = &seen[..]
    else {
        panic!("{seen:?}");
    };
    assert_eq!(description.get_str("validationAction").unwrap(), "error");
    assert_eq!(indexes, dropped);
    assert_eq!(indexes[0].get_str("name").unwrap(), "total_1");
    assert_eq!(*modified, doc! { "validationAction": "warn" });
    let was = before.get_document("collectionOptions").unwrap();
    assert_eq!(was.get_str("validationAction").unwrap(), "error");
    assert_eq!(to.collection.as_deref(), Some("others"));
    assert_eq!([uuids[0], uuids[4]], [uuids[5], *replaced]);
    let change = indexed.next().await.unwrap().unwrap();
    assert!(matches!(change.operation, Operation::CreateIndexes { .. }));
}

async fn filtered_events_are_not_resume_points(db: &Db) {
    let insert = |id: i32| doc! { "insert": "things", "documents": [{ "_id": id }] };
    let update = doc! { "update": "things", "updates": [{ "q": { "_id": 1 }, "u": { "$inc": { "a": 1 } } }] };
    let mut stream = Stream::open(db, "things", doc! {}, vec![]).await.unwrap();
    run(db, [insert(1), update.clone()]).await;
    let events = stream.take(2).await;
    let id = |at: usize| events[at].get("_id").unwrap().clone();
    let only = |operation: &str| vec![doc! { "$match": { "operationType": operation } }];
    let code = |error: odm::Error| error.code().unwrap();
    let fatal = Code::CHANGE_STREAM_FATAL_ERROR;
    // The token of a filtered event is not a resume point.
    for start in ["resumeAfter", "startAfter"] {
        let spec = doc! { start: id(0) };
        let opened = Stream::open(db, "things", spec, only("update")).await;
        assert_eq!(opened.err().map(code), Some(fatal));
    }
    let spec = || doc! { "resumeAfter": id(1) };
    let mut of_inserts = Stream::open(db, "things", spec(), only("insert"))
        .await
        .unwrap();
    let mut of_deletes = Stream::open(db, "things", spec(), only("delete"))
        .await
        .unwrap();
    run(db, [update]).await;
    assert_eq!(of_inserts.more().await.unwrap(), [] as [Event; 0]);
    run(db, [insert(2)]).await;
    let more = of_inserts.more().await;
    assert_eq!(more.err().map(code), Some(fatal));
    assert_eq!(of_deletes.more().await.unwrap(), [] as [Event; 0]);
    // The same holds if a computed condition filtered the event.
    let computes = vec![
        doc! { "$set": { "b": { "$eq": ["$operationType", "update"] } } },
        doc! { "$match": { "b": true } },
    ];
    let spec = doc! { "resumeAfter": id(0) };
    let opened = Stream::open(db, "things", spec, computes).await;
    assert_eq!(opened.err().map(code), Some(fatal));

    // The token must not be of an event that only expanded streams report.
    let expanded = doc! { "showExpandedEvents": true };
    let mut stream = Stream::open(db, "things", expanded, vec![]).await.unwrap();
    let create =
        doc! { "createIndexes": "things", "indexes": [{ "key": { "a": 1 }, "name": "a" }] };
    run(db, [create, insert(3)]).await;
    let token = stream.take(2).await[0].get("_id").unwrap().clone();
    let opened = Stream::open(db, "things", doc! { "resumeAfter": &token }, vec![]).await;
    assert_eq!(opened.err().map(code), Some(fatal));
    let spec = doc! { "resumeAfter": &token, "showExpandedEvents": true };
    let mut stream = Stream::open(db, "things", spec, vec![]).await.unwrap();
    assert_eq!(stream.take(1).await.len(), 1);
}

async fn resume_tokens_do_not_precede_reported_events(db: &Db) {
    let creates = ["things", "others"].map(|name| doc! { "create": name });
    run(db, creates).await;
    let inserts = vec![doc! { "$match": { "operationType": "insert" } }];
    let open = |spec| Stream::open(db, "things", spec, inserts.clone());
    let mut stream = open(doc! {}).await.unwrap();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    // The events have one time; the others are left out for their collection, and for what they are.
    for command in [
        doc! { "insert": "things", "documents": [{ "_id": 1 }] },
        doc! { "insert": "others", "documents": [{ "_id": 1 }] },
        doc! { "delete": "things", "deletes": [{ "q": { "_id": 1 }, "limit": 1 }] },
    ] {
        db.run_command(command).session(&mut session).await.unwrap();
    }
    session.commit_transaction().await.unwrap();
    stream.take(1).await;
    assert_eq!(stream.more().await.unwrap(), [] as [Event; 0]);
    let mut again = open(doc! { "resumeAfter": &stream.token }).await.unwrap();
    run(
        db,
        [doc! { "insert": "things", "documents": [{ "_id": 2 }] }],
    )
    .await;
    let told = again.take(1).await;
    assert_eq!(
        told[0].get_document("documentKey").unwrap(),
        &doc! { "_id": 2 }
    );
}

async fn collection_options_are_listed_in_a_fixed_order(db: &Db) {
    run(
        db,
        [
            doc! { "create": "things", "validator": { "a": 1 }, "collation": { "locale": "fr" } },
            doc! { "collMod": "things", "changeStreamPreAndPostImages": { "enabled": true } },
        ],
    )
    .await;
    let listed = db
        .run_command(doc! { "listCollections": 1 })
        .all()
        .await
        .unwrap();
    let options = listed[0].get_document("options").unwrap();
    let names: Vec<_> = options.keys().take(2).map(String::as_str).collect();
    assert_eq!(names, ["changeStreamPreAndPostImages", "validator"]);
    assert!(
        matches!(options.iter().last(), Some((name, Bson::Document(_))) if name == "collation")
    );
}
