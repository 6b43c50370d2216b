//! Changes in the background that are propagated some documents at a time.

use std::time::Duration;

use odm::bson::{Bson, doc};
use odm::prelude::*;

use super::models::{Customer, Order, Product, Visit, customer, order, product, visit};
use super::{insert, stored};

const NO_PAUSE: Duration = Duration::ZERO;

/// A customer with 25 visits and 12 orders, and a product in the orders.
async fn fill(db: &Db) {
    db.collection()
        .insert_one(customer(1, "Ada"))
        .await
        .unwrap();
    db.collection().insert_one(product(2, "nut")).await.unwrap();
    let visits = (0..25).map(|id| visit(id, 1));
    let visits = db.collection::<Visit>().insert_many(visits);
    visits.propagate().await.unwrap();
    let orders = (0..12).map(|id| order(id, 1, &[2, 2]));
    let orders = db.collection::<Order>().insert_many(orders);
    orders.propagate().await.unwrap();
}

async fn rename(db: &Db, name: &str) {
    let customers = db.collection::<Customer>();
    let change = customers.update_by_id(&1, |c| c.name.set(name));
    change.in_background().await.unwrap();
}

async fn is_sound(db: &Db) -> bool {
    let orders = db.collection::<Order>().check_copies().await.unwrap();
    let visits = db.collection::<Visit>().check_copies().await.unwrap();
    orders.is_sound() && visits.is_sound()
}

/// Each command writes at most the number of documents that the throttle allows.
pub(super) async fn a_throttled_run_writes_some_at_a_time(db: &Db) {
    fill(db).await;
    for documents in [1, 7, 12, 25, 1_000] {
        rename(db, &format!("name {documents}")).await;
        let customers = db.collection::<Customer>();
        let done = customers.resume_propagation().throttle(documents, NO_PAUSE);
        let done = done.await.unwrap();
        // A record for each key by which documents refer to the customer.
        assert_eq!((done.changes, done.documents), (2, 37), "{documents}");
        assert!(is_sound(db).await, "{documents}");
        assert!(stored(db, "odm_propagations").await.is_empty());
    }
    // Within lists.
    let products = db.collection::<Product>();
    let change = products.update_by_id(&2, |p| p.name.set("cog"));
    change.in_background().await.unwrap();
    let done = products.resume_propagation().throttle(5, NO_PAUSE).await;
    assert_eq!(done.unwrap().documents, 12);
    assert!(is_sound(db).await);
    for documents in [0, 10_001] {
        let refused = products.resume_propagation().throttle(documents, NO_PAUSE);
        let error = refused.await.unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
    let long = products
        .resume_propagation()
        .throttle(1, Duration::from_secs(301));
    assert!(long.await.unwrap_err().is_usage());
}

/// A run that is dropped while it pauses has counted what it has written, and the next one writes the rest.
pub(super) async fn a_throttled_run_that_stops_is_continued(db: &Db) {
    fill(db).await;
    rename(db, "Eve").await;
    let customers = db.collection::<Customer>();
    let long = Duration::from_secs(300);
    let slow = customers
        .resume_propagation()
        .throttle(10, long)
        .into_future();
    let stopped = tokio::time::timeout(Duration::from_millis(600), slow).await;
    assert!(stopped.is_err(), "it pauses for five minutes");
    let records = stored(db, "odm_propagations").await;
    let record = &records[0];
    assert_eq!((records.len(), &record["key"]), (2, &Bson::from("_id")));
    assert_eq!(record["written"], Bson::Int64(10), "{record}");
    assert!(record.get_datetime("written_at").is_ok(), "{record}");
    assert!(!is_sound(db).await);

    let done = customers
        .resume_propagation()
        .throttle(10, NO_PAUSE)
        .await
        .unwrap();
    assert_eq!((done.changes, done.documents), (2, 27));
    assert!(is_sound(db).await);
    assert!(stored(db, "odm_propagations").await.is_empty());
}

/// Documents that another program has written are read as they are.
pub(super) async fn a_throttled_run_meets_documents_of_other_programs(db: &Db) {
    fill(db).await;
    let others = [
        doc! {"_id": "text", "customer": 1},
        doc! {"_id": {"a": 1}, "customer": [1], "cn": 7},
        doc! {"_id": 1_000_i64, "customer": 1.0, "cn": Bson::Null},
    ];
    insert(db, "orders", others).await;
    rename(db, "Eve").await;
    let customers = db.collection::<Customer>();
    let done = customers
        .resume_propagation()
        .throttle(4, NO_PAUSE)
        .await
        .unwrap();
    assert_eq!(done.changes, 2);
    let orders = stored(db, "orders").await;
    for order in orders
        .iter()
        .filter(|order| order["customer"].as_array().is_none())
    {
        assert_eq!(order.get_str("cn").unwrap(), "Eve", "{order}");
    }
}
