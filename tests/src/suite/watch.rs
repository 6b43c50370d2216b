//! Change streams, typed.

use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use odm::Code;
use odm::bson::Bson;
use odm::bson::{Document as Raw, doc};
use odm::collection::{
    Change, ChangeStream, FullDocument, FullDocumentBeforeChange, Operation, OperationType,
    ResumeToken,
};
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    change_events_are_typed,
    update_events_list_changed_fields,
    writes_wake_waiting_streams,
    cancelled_waits_lose_no_event,
    events_carry_images_and_full_documents,
    missing_required_images_end_the_stream,
    filters_apply_to_events,
    stages_shape_events_of_another_type,
    database_streams_report_several_models,
    cluster_streams_report_every_database,
    transactions_share_one_number,
    an_undecodable_event_is_a_single_error,
    commands_of_streams_are_shown,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(super) struct Order {
    #[serde(rename = "_id")]
    id: i32,
    status: String,
    total: i64,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    #[odm(embed(few, max = 10))]
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    what: String,
    count: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "customers")]
pub(super) struct Customer {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    visits: i32,
}

pub(super) fn order(id: i32, total: i64) -> Order {
    Order {
        id,
        status: "new".into(),
        total,
        note: None,
        lines: Vec::new(),
    }
}

fn line(what: &str, count: i32) -> Line {
    Line {
        what: what.into(),
        count,
    }
}

/// The next event; waits for it, but not forever.
pub(super) async fn next<E>(changes: &mut ChangeStream<'_, E>) -> E {
    soon(changes).await.expect("the stream goes on").unwrap()
}

pub(super) async fn soon<E>(changes: &mut ChangeStream<'_, E>) -> Option<odm::Result<E>> {
    tokio::time::timeout(Duration::from_secs(20), changes.next())
        .await
        .expect("an event in time")
}

pub(super) async fn ids<const N: usize>(changes: &mut ChangeStream<'_, Change<Order>>) -> [i32; N] {
    let mut ids = [0; N];
    for id in &mut ids {
        *id = *next(changes).await.id().unwrap();
    }
    ids
}

/// Asserts that no event arrives.
pub(super) async fn assert_quiet<E: std::fmt::Debug>(changes: &mut ChangeStream<'_, E>) {
    let waited = tokio::time::timeout(Duration::from_millis(100), changes.next()).await;
    assert!(waited.is_err(), "{waited:?}");
}

async fn keep_images(db: &Db, is_on: bool) {
    let modify = doc! { "collMod": "orders", "changeStreamPreAndPostImages": { "enabled": is_on } };
    db.run_command(modify).await.unwrap();
}

async fn change_events_are_typed(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().await.unwrap();
    orders.insert_one(order(1, 40)).await.unwrap();
    orders
        .update_one(|o| o.id.eq(1), |o| o.total.inc(2))
        .await
        .unwrap();
    // An update that changes nothing has no event.
    orders
        .update_one(|o| o.id.eq(1), |o| o.total.set(42))
        .await
        .unwrap();
    orders
        .replace_one(|o| o.id.eq(1), order(1, 7))
        .await
        .unwrap();
    orders.delete_one(|o| o.id.eq(1)).await.unwrap();

    let insert = next(&mut changes).await;
    let inserted = Operation::Insert {
        id: 1,
        full_document: order(1, 40),
    };
    assert_eq!(insert.operation, inserted);
    assert_eq!(insert.full_document(), Some(&order(1, 40)));
    let namespace = insert.namespace.as_ref().unwrap();
    assert_eq!(namespace.database, db.name());
    assert_eq!(namespace.collection.as_deref(), Some("orders"));
    assert!(insert.cluster_time.time > 0 && insert.wall_time.is_some());
    assert!(insert.lsid.is_none() && insert.txn_number.is_none());

    let update = next(&mut changes).await;
    let Operation::Update {
        id: 1,
        update_description,
        full_document: None,
        full_document_before_change: None,
    } = &update.operation
    else {
        panic!("{update:?}")
    };
    let fields = &update_description.updated_fields;
    assert_eq!(fields.get_i64("total").unwrap(), 42);
    assert!(update.cluster_time > insert.cluster_time);
    assert_eq!((update.id(), update.full_document()), (Some(&1), None));

    let replaced = Operation::Replace {
        id: 1,
        full_document: order(1, 7),
        full_document_before_change: None,
    };
    assert_eq!(next(&mut changes).await.operation, replaced);
    let deleted = Operation::Delete {
        id: 1,
        full_document_before_change: None,
    };
    assert_eq!(next(&mut changes).await.operation, deleted);
    assert_quiet(&mut changes).await;
}

async fn update_events_list_changed_fields(db: &Db) {
    let orders = db.collection::<Order>();
    let mut first = order(1, 1);
    first.lines = vec![line("tea", 1), line("cup", 2), line("pot", 1)];
    orders.insert_one(&first).await.unwrap();
    let mut changes = orders.watch().await.unwrap();
    orders
        .update_one(
            |o| o.id.eq(1),
            |o| o.lines.at(1).count.set(5) & o.note.unset(),
        )
        .await
        .unwrap();
    let shorter = doc! { "update": "orders", "updates": [{
        "q": { "_id": 1 }, "u": [{ "$set": { "lines": { "$slice": ["$lines", 2] } } }],
    }] };
    db.run_command(shorter).await.unwrap();

    let Operation::Update {
        update_description, ..
    } = next(&mut changes).await.operation
    else {
        panic!("an update")
    };
    let fields = &update_description.updated_fields;
    assert_eq!(fields, &doc! { "lines.1.count": 5 });
    assert_eq!(update_description.removed_fields, ["note"]);
    assert!(update_description.truncated_arrays.is_empty());

    let Operation::Update {
        update_description, ..
    } = next(&mut changes).await.operation
    else {
        panic!("an update")
    };
    let [truncated] = &*update_description.truncated_arrays else {
        panic!("{update_description:?}")
    };
    assert_eq!((&*truncated.field, truncated.new_size), ("lines", 2));
}

async fn writes_wake_waiting_streams(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().await.unwrap();
    let start = Instant::now();
    let writer = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        orders.insert_one(order(1, 1)).await.unwrap();
        Instant::now()
    };
    // Both run in one task: a blocked thread would keep the other from writing.
    let (change, written) = futures::join!(next(&mut changes), writer);
    assert_eq!(change.id(), Some(&1));
    assert!(start.elapsed() >= Duration::from_millis(50));
    assert!(written.elapsed() < Duration::from_secs(5));

    // Several streams wait, and each is woken; a write to another collection wakes none.
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(orders.watch().await.unwrap());
    }
    let writer = async {
        let customer = Customer {
            id: "ada".into(),
            visits: 0,
        };
        db.collection::<Customer>()
            .insert_one(&customer)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        orders.insert_one(order(2, 1)).await.unwrap();
    };
    let all = futures::future::join_all(others.iter_mut().map(next));
    let (told, ()) = futures::join!(all, writer);
    assert!(told.iter().all(|change| change.id() == Some(&2)));
}

async fn cancelled_waits_lose_no_event(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().await.unwrap();
    for id in 1..=20 {
        // The future is dropped at any point; the token can be read at any time.
        assert!(changes.next().now_or_never().is_none());
        assert!(changes.resume_token().is_some());
        orders.insert_one(order(id, 1)).await.unwrap();
        assert_eq!(ids(&mut changes).await, [id]);
    }
    // As a `Stream` of the futures crate.
    orders.insert_one(order(21, 1)).await.unwrap();
    let found: Vec<_> = changes
        .by_ref()
        .map(|change| *change.unwrap().id().unwrap())
        .take(1)
        .collect()
        .await;
    assert_eq!(found, [21]);
}

async fn events_carry_images_and_full_documents(db: &Db) {
    let orders = db.collection::<Order>();
    orders.insert_one(order(1, 1)).await.unwrap();
    keep_images(db, true).await;
    let mut looked_up = orders
        .watch()
        .full_document(FullDocument::UpdateLookup)
        .await
        .unwrap();
    let mut images = orders
        .watch()
        .full_document(FullDocument::Required)
        .full_document_before_change(FullDocumentBeforeChange::Required)
        .await
        .unwrap();
    for total in [2, 3] {
        orders
            .update_one(|o| o.id.eq(1), |o| o.total.set(total))
            .await
            .unwrap();
    }
    // The document is looked up when the event is read.
    for _ in 0..2 {
        let change = next(&mut looked_up).await;
        assert_eq!(change.full_document(), Some(&order(1, 3)));
        assert_eq!(change.full_document_before_change(), None);
    }
    orders
        .replace_one(|o| o.id.eq(1), order(1, 4))
        .await
        .unwrap();
    orders.delete_one(|o| o.id.eq(1)).await.unwrap();
    for (before, after) in [(1, Some(2)), (2, Some(3)), (3, Some(4)), (4, None)] {
        let change = next(&mut images).await;
        let told = change.full_document().map(|order| order.total);
        assert_eq!(told, after);
        let told = change.full_document_before_change();
        assert_eq!(told, Some(&order(1, before)));
    }
    // A deleted document has no full document.
    let mut later = orders
        .watch()
        .full_document(FullDocument::UpdateLookup)
        .filter(|c| c.operation_type.eq(OperationType::Update))
        .await
        .unwrap();
    orders.insert_one(order(2, 1)).await.unwrap();
    orders
        .update_one(|o| o.id.eq(2), |o| o.total.set(2))
        .await
        .unwrap();
    orders.delete_one(|o| o.id.eq(2)).await.unwrap();
    let change = next(&mut later).await;
    assert_eq!((change.id(), change.full_document()), (Some(&2), None));
}

async fn missing_required_images_end_the_stream(db: &Db) {
    let orders = db.collection::<Order>();
    orders.insert_one(order(1, 1)).await.unwrap();
    let watch = || orders.watch();
    let mut lenient = watch()
        .full_document_before_change(FullDocumentBeforeChange::WhenAvailable)
        .full_document(FullDocument::WhenAvailable)
        .await
        .unwrap();
    let mut strict = watch()
        .full_document_before_change(FullDocumentBeforeChange::Required)
        .await
        .unwrap();
    orders
        .update_one(|o| o.id.eq(1), |o| o.total.set(2))
        .await
        .unwrap();
    let change = next(&mut lenient).await;
    assert_eq!(change.full_document(), None);
    assert_eq!(change.full_document_before_change(), None);
    let error = soon(&mut strict).await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some(Code::NO_MATCHING_DOCUMENT), "{error}");
    assert_eq!(error.model(), Some("Order"));
    assert!(soon(&mut strict).await.is_none());
}

async fn filters_apply_to_events(db: &Db) {
    let orders = db.collection::<Order>();
    let mut large = orders
        .watch()
        .filter(|c| c.full_document.total.gte(100))
        .await
        .unwrap();
    let mut paid = orders
        .watch()
        .filter(|c| c.updated_fields.status.eq("paid"))
        .await
        .unwrap();
    let mut deleted = orders
        .watch()
        .filter(|c| c.operation_type.eq(OperationType::Delete))
        .filter(|c| c.id.gt(1))
        .await
        .unwrap();
    let mut by_line = orders
        .watch()
        .filter(|c| {
            c.operation_type.in_([OperationType::Insert])
                & c.full_document.lines.any().what.eq("tea")
                & raw(doc! { "ns.coll": "orders" })
        })
        .await
        .unwrap();
    for (id, total) in [(1, 10), (2, 100), (3, 1000)] {
        let mut order = order(id, total);
        order.lines = vec![line(if id == 3 { "tea" } else { "cup" }, 1)];
        orders.insert_one(&order).await.unwrap();
        orders
            .update_one(|o| o.id.eq(id), |o| o.total.inc(1))
            .await
            .unwrap();
    }
    orders
        .update_one(|o| o.id.eq(2), |o| o.status.set("paid"))
        .await
        .unwrap();
    orders.delete_all().await.unwrap();
    assert_eq!(ids(&mut large).await, [2, 3]);
    assert_eq!(ids(&mut paid).await, [2]);
    let mut gone = ids(&mut deleted).await;
    gone.sort_unstable();
    assert_eq!(gone, [2, 3]);
    assert_eq!(ids(&mut by_line).await, [3]);
    assert_quiet(&mut by_line).await;
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Brief {
    operation_type: OperationType,
    total: i64,
}

async fn stages_shape_events_of_another_type(db: &Db) {
    let orders = db.collection::<Order>();
    let mut brief = orders
        .watch()
        .filter(|c| c.operation_type.eq(OperationType::Insert))
        .pipeline([doc! { "$project": { "operationType": 1, "total": "$fullDocument.total" } }])
        .with_type::<Brief>()
        .await
        .unwrap();
    let mut plain = orders.watch().with_type::<Raw>().await.unwrap();
    let mut cut = orders
        .watch()
        .pipeline([doc! { "$unset": "fullDocument" }])
        .await
        .unwrap();
    let mut without_token = orders
        .watch()
        .pipeline([doc! { "$project": { "_id": 0 } }])
        .await
        .unwrap();
    orders.insert_one(order(1, 40)).await.unwrap();
    let expected = Brief {
        operation_type: OperationType::Insert,
        total: 40,
    };
    assert_eq!(next(&mut brief).await, expected);
    assert_eq!(
        next(&mut plain).await.get_str("operationType").unwrap(),
        "insert"
    );
    let error = soon(&mut cut).await.unwrap().unwrap_err();
    assert!(error.is_decode(), "{error:?}");
    assert!(error.to_string().contains("`fullDocument`"), "{error}");
    let error = soon(&mut without_token).await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some(Code::CHANGE_STREAM_FATAL_ERROR));
}

async fn database_streams_report_several_models(db: &Db) {
    let mut changes = db.watch().await.unwrap();
    let orders = db.collection::<Order>();
    let customers = db.collection::<Customer>();
    let ada = Customer {
        id: "ada".into(),
        visits: 1,
    };
    customers.insert_one(&ada).await.unwrap();
    orders.insert_one(order(1, 1)).await.unwrap();
    customers
        .update_one(|c| c.id.eq("ada"), |c| c.visits.inc(1))
        .await
        .unwrap();
    orders.drop().await.unwrap();

    let first = next(&mut changes).await;
    assert!(first.of::<Order>().unwrap().is_none());
    let customer = first.of::<Customer>().unwrap().unwrap();
    let inserted = Operation::Insert {
        id: "ada".to_owned(),
        full_document: ada,
    };
    assert_eq!(customer.operation, inserted);
    assert_eq!(customer.resume_token, first.resume_token);
    let second = next(&mut changes).await.of::<Order>().unwrap().unwrap();
    assert_eq!(second.id(), Some(&1));
    let third = next(&mut changes).await;
    assert_eq!(third.id(), Some(&Bson::from("ada")));
    let third = third.of::<Customer>().unwrap().unwrap();
    let Operation::Update {
        update_description, ..
    } = third.operation
    else {
        panic!("an update")
    };
    assert_eq!(update_description.updated_fields, doc! { "visits": 2 });
    let fourth = next(&mut changes).await;
    assert_eq!(fourth.operation, Operation::Drop);
    assert!(fourth.of::<Order>().unwrap().is_some());
    // The database still exists.
    assert_quiet(&mut changes).await;
}

async fn cluster_streams_report_every_database(db: &Db) {
    // A server may be shared.
    let here = doc! { "$match": { "ns.db": { "$regex": format!("^{}", db.name()) } } };
    let mut changes = db.watch_cluster().pipeline([here]).await.unwrap();
    let other = db.database(&format!("{}_2", db.name()));
    other
        .collection::<Order>()
        .insert_one(order(1, 1))
        .await
        .unwrap();
    db.collection::<Order>()
        .insert_one(order(2, 1))
        .await
        .unwrap();
    for (database, id) in [(other.name(), 1), (db.name(), 2)] {
        let change = next(&mut changes).await;
        assert_eq!(change.namespace.as_ref().unwrap().database, database);
        assert_eq!(change.of::<Order>().unwrap().unwrap().id(), Some(&id));
    }
    other.drop().await.unwrap();
    assert_eq!(next(&mut changes).await.operation, Operation::Drop);
    let gone = next(&mut changes).await;
    assert_eq!(gone.operation, Operation::DropDatabase);
    assert_eq!(gone.namespace.unwrap().collection, None);
}

async fn transactions_share_one_number(db: &Db) {
    let orders = db.collection::<Order>();
    orders.insert_one(order(9, 1)).await.unwrap();
    let mut changes = orders.watch().await.unwrap();
    let given_up: odm::Result<()> = transaction!(db, |tx| -> odm::Result<_> {
        orders.insert_one(order(1, 1)).session(tx).await?;
        Err(odm::Error::other("no"))
    })
    .await;
    given_up.unwrap_err();
    transaction!(db, |tx| -> odm::Result<_> {
        orders.insert_one(order(2, 1)).session(tx).await?;
        assert!(changes.next().now_or_never().is_none());
        orders
            .update_one(|o| o.id.eq(2), |o| o.total.inc(1))
            .session(tx)
            .await?;
        Ok(())
    })
    .await
    .unwrap();
    let insert = next(&mut changes).await;
    let update = next(&mut changes).await;
    assert_eq!((insert.id(), update.id()), (Some(&2), Some(&2)));
    assert!(insert.lsid.is_some() && insert.lsid == update.lsid);
    assert!(insert.txn_number.is_some() && insert.txn_number == update.txn_number);
    assert_eq!(insert.cluster_time, update.cluster_time);
    // After the first of them.
    let token = insert.resume_token;
    let mut resumed = orders.watch().resume_after(token).await.unwrap();
    let Operation::Update { .. } = next(&mut resumed).await.operation else {
        panic!("the second")
    };
}

async fn an_undecodable_event_is_a_single_error(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().await.unwrap();
    let mut whole = db.watch().await.unwrap();
    orders.insert_one(order(1, 1)).await.unwrap();
    let wrong = doc! { "_id": 2, "status": "new", "total": "much" };
    let insert = doc! { "insert": "orders", "documents": [wrong] };
    db.run_command(insert).await.unwrap();
    orders.insert_one(order(3, 1)).await.unwrap();
    assert_eq!(ids(&mut changes).await, [1]);
    let error = soon(&mut changes).await.unwrap().unwrap_err();
    assert!(error.is_decode(), "{error}");
    assert_eq!(
        (error.model(), error.path()),
        (Some("Order"), Some("total"))
    );
    assert_eq!(error.document_id(), Some(&Bson::Int32(2)));
    // The token is after the event, so that a resumed stream does not repeat it.
    let mut resumed = orders
        .watch()
        .resume_after(changes.resume_token())
        .await
        .unwrap();
    assert_eq!(ids(&mut changes).await, [3]);
    assert_eq!(ids(&mut resumed).await, [3]);

    assert!(next(&mut whole).await.of::<Order>().is_ok());
    let second = next(&mut whole).await;
    let error = second.of::<Order>().unwrap_err();
    assert_eq!(
        (error.model(), error.path()),
        (Some("Order"), Some("total"))
    );
}

async fn commands_of_streams_are_shown(db: &Db) {
    let token = doc! { "_data": "82" };
    let command = db
        .collection::<Order>()
        .watch()
        .full_document(FullDocument::WhenAvailable)
        .full_document_before_change(FullDocumentBeforeChange::WhenAvailable)
        .start_after(ResumeToken::from(token.clone()))
        .filter(|c| c.full_document.total.gt(1))
        .batch_size(7)
        .comment("billing")
        .command()
        .unwrap();
    let expected = doc! {
        "aggregate": "orders",
        "pipeline": [
            { "$changeStream": {
                "fullDocument": "whenAvailable", "fullDocumentBeforeChange": "whenAvailable",
                "startAfter": token,
            } },
            { "$match": { "fullDocument.total": { "$gt": 1_i64 } } },
        ],
        "cursor": { "batchSize": 7_i64 },
        "comment": "billing",
    };
    assert_eq!(command, expected);
    let whole = db.watch_cluster().command().unwrap();
    assert_eq!(whole.get_i32("aggregate").unwrap(), 1);

    let shown = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&shown);
    let db = db.on_command(move |event| {
        let is_done = event.outcome.is_ok();
        seen.lock().unwrap().push((event.command.clone(), is_done));
    });
    let orders = db.collection::<Order>();
    let _changes = orders.watch().await.unwrap();
    let shown = std::mem::take(&mut *shown.lock().unwrap());
    assert_eq!(shown, [(orders.watch().command().unwrap(), true)]);
}
