//! `find(…).field(…)`: one field of the documents that match.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use odm::bson::{Bson, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    a_field_is_read_in_the_order_of_the_query,
    fields_inside_are_read,
    fields_with_serializers_are_read,
    options_are_none_where_they_are_missing,
    missing_fields_are_named,
    other_types_of_numbers_are_read,
    fields_in_lists_are_refused,
    only_the_field_is_sent,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Address {
    city: String,
    zip: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    sku: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[serde(rename_all = "camelCase")]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    item_count: i64,
    billing: Address,
    shipping: Option<Address>,
    #[odm(embed(few, max = 5))]
    lines: Vec<Line>,
    #[serde(with = "odm::duration")]
    took: Duration,
}

fn order(id: i32) -> Order {
    let billing = Address {
        city: format!("city {}", id % 2),
        zip: None,
    };
    Order {
        id,
        item_count: i64::from(10 - id),
        shipping: (id == 2).then(|| billing.clone()),
        billing,
        lines: vec![Line {
            sku: "a".to_owned(),
        }],
        took: Duration::from_millis(u64::try_from(id).unwrap()),
    }
}

async fn orders(db: &Db) -> Collection<Order> {
    let orders = db.collection::<Order>();
    let all: Vec<_> = (1..=3).map(order).collect();
    orders.insert_many(all).await.unwrap();
    orders
}

async fn a_field_is_read_in_the_order_of_the_query(db: &Db) {
    let orders = orders(db).await;
    let counts = orders
        .find_all()
        .sort(|o| o.item_count.asc())
        .field(|o| o.item_count);
    assert_eq!(counts.all().await.unwrap(), [7, 8, 9]);
    let ids = orders
        .find(|o| o.item_count.gt(7))
        .sort(|o| o.id.desc())
        .skip(1)
        .field(|o| o.id);
    assert_eq!(ids.all().await.unwrap(), [1]);
    let first = orders
        .find_all()
        .sort(|o| o.id.desc())
        .field(|o| o.id)
        .first();
    assert_eq!(first.await.unwrap(), Some(3));
    let none = orders.find(|o| o.id.gt(9)).field(|o| o.id).first();
    assert_eq!(none.await.unwrap(), None);
}

async fn fields_inside_are_read(db: &Db) {
    let orders = orders(db).await;
    let cities = orders
        .find_all()
        .sort(|o| o.id.asc())
        .field(|o| o.billing.city);
    assert_eq!(cities.all().await.unwrap(), ["city 1", "city 0", "city 1"]);
    let lists = orders.find(|o| o.id.eq(1)).field(|o| o.lines.clone());
    assert_eq!(lists.all().await.unwrap(), [order(1).lines]);
}

async fn fields_with_serializers_are_read(db: &Db) {
    let orders = orders(db).await;
    let took = orders.find(|o| o.id.eq(3)).field(|o| o.took).first();
    assert_eq!(took.await.unwrap(), Some(Duration::from_millis(3)));
}

async fn options_are_none_where_they_are_missing(db: &Db) {
    let orders = orders(db).await;
    let unset = doc! {"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"$unset": {"billing.zip": 1, "shipping": 1}}}]};
    db.run_command(unset).await.unwrap();
    let zips = orders.find_all().field(|o| o.billing.zip);
    assert_eq!(zips.all().await.unwrap(), [None, None, None]);
}

async fn missing_fields_are_named(db: &Db) {
    let orders = orders(db).await;
    let unset = doc! {"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"$unset": {"itemCount": 1}}}]};
    db.run_command(unset).await.unwrap();
    let counts = || {
        orders
            .find_all()
            .sort(|o| o.id.asc())
            .field(|o| o.item_count)
    };
    let error = counts().all().await.unwrap_err();
    assert!(error.is_decode());
    let message = error.to_string();
    for part in ["Order", "`itemCount`", "exists(true)"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(counts().first().await.is_err());
    let there = orders
        .find(|o| o.item_count.exists(true))
        .field(|o| o.item_count);
    assert_eq!(there.all().await.unwrap().len(), 2);
}

async fn other_types_of_numbers_are_read(db: &Db) {
    let orders = orders(db).await;
    for stored in [Bson::Int32(4), Bson::Double(4.0)] {
        let set = doc! {"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"$set": {"itemCount": stored}}}]};
        db.run_command(set).await.unwrap();
        let read = orders
            .find(|o| o.id.eq(1))
            .field(|o| o.item_count)
            .first()
            .await;
        let whole = orders.get(&1).await;
        match whole {
            Ok(whole) => assert_eq!(read.unwrap(), whole.map(|order| order.item_count)),
            Err(_) => assert!(read.is_err()),
        }
    }
}

async fn fields_in_lists_are_refused(db: &Db) {
    let orders = orders(db).await;
    for call in [
        orders.find_all().field(|o| o.lines.any().sku),
        orders.find_all().field(|o| o.lines.at(0).sku),
    ] {
        let error = call.all().await.unwrap_err();
        assert!(error.to_string().contains("outside of lists"), "{error}");
    }
}

async fn only_the_field_is_sent(db: &Db) {
    let orders = orders(db).await;
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&sent);
    let watched = db.on_command(move |event| {
        log.lock().unwrap().push(event.command.clone());
    });
    drop(orders);
    let orders = watched.collection::<Order>();
    orders
        .find_all()
        .field(|o| o.billing.city)
        .all()
        .await
        .unwrap();
    orders.find_all().field(|o| o.id).all().await.unwrap();
    let sent = sent.lock().unwrap();
    let projections: Vec<_> = sent
        .iter()
        .filter_map(|it| it.get_document("projection").ok())
        .collect();
    assert_eq!(
        projections,
        [&doc! {"_id": 0, "billing.city": 1}, &doc! {"_id": 1}]
    );
}
