//! Typed change streams: start, resume and end.

use std::time::{Duration, Instant};

use futures::FutureExt;
use odm::Code;
use odm::bson::{Timestamp, doc};
use odm::collection::{Operation, ReadConcern, ResumeToken};
use odm::prelude::*;

use super::watch::{Customer, Order, assert_quiet, ids, next, order, soon};
use crate::case::cases;

cases![
    a_stream_resumes_after_a_stored_token,
    a_stream_begins_at_a_time,
    tokens_advance_past_filtered_events,
    a_dropped_collection_invalidates_the_stream,
    renames_are_reported_with_the_new_name,
    streams_in_a_session,
    unwatchable_namespaces_are_refused,
    batches_of_one_lose_no_event,
];

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "progress")]
struct Progress {
    #[serde(rename = "_id")]
    service: String,
    token: Option<ResumeToken>,
}

async fn a_stream_resumes_after_a_stored_token(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().await.unwrap();
    for id in 1..=4 {
        orders.insert_one(order(id, 1)).await.unwrap();
    }
    assert_eq!(ids(&mut changes).await, [1]);
    let second = next(&mut changes).await;
    assert_eq!(changes.resume_token().as_ref(), Some(&second.resume_token));
    drop(changes);

    let progress = db.collection::<Progress>();
    let stored = Progress {
        service: "billing".into(),
        token: Some(second.resume_token.clone()),
    };
    progress.insert_one(&stored).await.unwrap();
    let stored = progress.get("billing").await.unwrap().unwrap();
    assert_eq!(stored.token.as_ref(), Some(&second.resume_token));

    let token = stored.token.clone();
    let mut resumed = orders.watch().resume_after(token).await.unwrap();
    assert_eq!(ids(&mut resumed).await, [3, 4]);
    let mut started = orders.watch().start_after(stored.token).await.unwrap();
    assert_eq!(ids(&mut started).await, [3, 4]);
    // Without a token, the stream starts now.
    let mut fresh = orders.watch().resume_after(None).await.unwrap();
    orders.insert_one(order(5, 1)).await.unwrap();
    assert_eq!(ids(&mut fresh).await, [5]);
    assert_eq!(ids(&mut resumed).await, [5]);
}

async fn a_stream_begins_at_a_time(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().await.unwrap();
    for id in 1..=3 {
        orders.insert_one(order(id, 1)).await.unwrap();
    }
    assert_eq!(ids(&mut changes).await, [1]);
    let second = next(&mut changes).await;
    let mut again = orders
        .watch()
        .start_at_operation_time(second.cluster_time)
        .await
        .unwrap();
    assert_eq!(ids(&mut again).await, [2, 3]);
    let Timestamp { time, increment } = second.cluster_time;
    let both = orders
        .watch()
        .start_at_operation_time(Timestamp { time, increment })
        .resume_after(second.resume_token)
        .await;
    let error = both.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(40674)), "{error}");
}

async fn tokens_advance_past_filtered_events(db: &Db) {
    let orders = db.collection::<Order>();
    let mut changes = orders.watch().filter(|c| c.id.eq(9)).await.unwrap();
    let start = changes.resume_token().unwrap();
    for id in 1..=3 {
        orders.insert_one(order(id, 1)).await.unwrap();
    }
    // The stream reads events, but all belong to other collections.
    let since = Instant::now();
    while changes.resume_token().as_ref() == Some(&start) {
        assert!(since.elapsed() < Duration::from_secs(20));
        let waited = tokio::time::timeout(Duration::from_millis(50), changes.next()).await;
        assert!(waited.is_err(), "{waited:?}");
    }
    let mut all = orders.watch().resume_after(start).await.unwrap();
    assert_eq!(ids(&mut all).await, [1, 2, 3]);
}

async fn a_dropped_collection_invalidates_the_stream(db: &Db) {
    let orders = db.collection::<Order>();
    orders.insert_one(order(1, 1)).await.unwrap();
    let mut changes = orders.watch().await.unwrap();
    orders.drop().await.unwrap();
    assert_eq!(next(&mut changes).await.operation, Operation::Drop);
    let last = next(&mut changes).await;
    assert_eq!(last.operation, Operation::Invalidate);
    assert!(last.namespace.is_none() && last.id().is_none());
    assert!(soon(&mut changes).await.is_none());
    assert!(soon(&mut changes).await.is_none());
    let token = changes.resume_token();
    assert_eq!(token.as_ref(), Some(&last.resume_token));

    orders.insert_one(order(2, 1)).await.unwrap();
    let refused = orders.watch().resume_after(token.clone()).await;
    let error = refused.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(260)), "{error}");
    let mut next_one = orders.watch().start_after(token).await.unwrap();
    assert_eq!(ids(&mut next_one).await, [2]);
}

async fn renames_are_reported_with_the_new_name(db: &Db) {
    let orders = db.collection::<Order>();
    orders.insert_one(order(1, 1)).await.unwrap();
    let mut changes = orders.watch().await.unwrap();
    let [from, to] = ["orders", "old"].map(|name| format!("{}.{name}", db.name()));
    let rename = doc! { "renameCollection": from, "to": to };
    db.database("admin").run_command(rename).await.unwrap();
    let change = next(&mut changes).await;
    let Operation::Rename { to, .. } = change.operation else {
        panic!("{change:?}")
    };
    assert_eq!(to.collection.as_deref(), Some("old"));
    assert_eq!(next(&mut changes).await.operation, Operation::Invalidate);
    assert!(soon(&mut changes).await.is_none());
}

async fn streams_in_a_session(db: &Db) {
    let orders = db.collection::<Order>();
    let mut session = db.start_session().await.unwrap();
    let mut changes = orders.watch().session(&mut session).await.unwrap();
    assert!(changes.next().now_or_never().is_none());
    for id in 1..=2 {
        orders.insert_one(order(id, 1)).await.unwrap();
    }
    assert!(changes.resume_token().is_some());
    assert_eq!(ids(&mut changes).await, [1, 2]);
    drop(changes);

    session.start_transaction().await.unwrap();
    orders
        .insert_one(order(3, 1))
        .session(&mut session)
        .await
        .unwrap();
    let refused = orders.watch().session(&mut session).await;
    let error = refused.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(263)), "{error}");
    let _: odm::Result<()> = session.abort_transaction().await;
}

async fn unwatchable_namespaces_are_refused(db: &Db) {
    let view = doc! { "create": "orders", "viewOn": "customers", "pipeline": [] };
    db.run_command(view).await.unwrap();
    let orders = db.collection::<Order>();
    let error = orders.watch().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(166)), "{error}");
    assert_eq!(error.model(), Some("Order"));

    let customers = db.collection::<Customer>();
    let token = ResumeToken::from(doc! { "_data": "xx" });
    let error = customers.watch().resume_after(token).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(9)), "{error}");
    let sorted = customers.watch().pipeline([doc! { "$sort": { "a": 1 } }]);
    let error = sorted.await.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(20)), "{error}");
    let local = customers
        .clone()
        .with_read_concern(ReadConcern::Local)
        .watch()
        .await;
    let error = local.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(72)), "{error}");
    let error = db.database("admin").watch().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::from(73)), "{error}");
}

async fn batches_of_one_lose_no_event(db: &Db) {
    let orders = db.collection::<Order>();
    let start = orders.watch().await.unwrap().resume_token();
    for id in 1..=5 {
        orders.insert_one(order(id, 1)).await.unwrap();
    }
    let mut changes = orders
        .watch()
        .batch_size(1)
        .max_await_time(Duration::from_millis(50))
        .resume_after(start)
        .await
        .unwrap();
    for id in 1..=5 {
        assert_eq!(ids(&mut changes).await, [id]);
        // The token is never ahead of the reported events.
        let token = changes.resume_token();
        let mut rest = orders.watch().resume_after(token).await.unwrap();
        if id < 5 {
            assert_eq!(ids(&mut rest).await, [id + 1]);
        }
    }
    assert_quiet(&mut changes).await;
}
