//! `propagate`.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::{Info, Order, Payment, Product, Visit, order, product, visit};
use super::{insert, shop, stored};
use crate::suite::relations::watched;

pub(super) async fn inserts_are_filled(db: &Db) {
    shop(db).await;
    let paid = Order {
        payment: Some(Payment::Card {
            holder: Ref::from(2),
            country: String::new(),
        }),
        customer_name: Some("of nobody".to_owned()),
        ..order(4, None, &[1])
    };
    let orders = db.collection::<Order>();
    let result = orders.insert_one(&paid).propagate().await.unwrap();
    assert_eq!(result.inserted_id, 4);
    let stored = stored(db, "orders").await;
    let line = |product: i32, name: &str, notes: BsonDocument| {
        doc! {"product": product, "pn": name, "price": i64::from(product) * 100, "notes": [notes]}
    };
    let of_ada = doc! {"by": 1, "city": "Bern", "tags": []};
    let of_nobody = doc! {"by": null, "tags": null};
    let lines = vec![line(1, "bolt", of_ada.clone()), line(2, "nut", of_nobody)];
    assert_eq!(
        stored[0].get_array("l").unwrap(),
        &Bson::from(lines).as_array().unwrap().clone()
    );
    assert_eq!(stored[0].get_str("cn").unwrap(), "Ada");
    assert_eq!(stored[3].get("cn"), Some(&Bson::Null));
    let card = doc! {"Card": {"holder": 2, "country": "ch"}};
    assert_eq!(stored[3].get_document("payment").unwrap(), &card);
    assert_eq!(stored[0].get_i64("version").unwrap(), 0);

    let visits = db.collection::<Visit>();
    visits.insert_one(visit(1, 2)).propagate().await.unwrap();
    let info = visits.get(&1).await.unwrap().unwrap().info;
    let expected = Info {
        name: "Ben".to_owned(),
        country: "ch".to_owned(),
    };
    assert_eq!(info, expected);
}

pub(super) async fn a_list_of_documents_takes_one_query_for_each_reference(db: &Db) {
    shop(db).await;
    let (watched, log) = watched(db);
    let visits = (1..=100).map(|id| visit(id, 1 + id % 2));
    let insert = watched.collection::<Visit>().insert_many(visits);
    let result = insert.propagate().await.unwrap();
    assert_eq!(result.inserted_ids.len(), 100);
    // Settled: no transaction, and one look again.
    let names = |log: &[BsonDocument]| -> Vec<String> {
        let names = log.iter().filter_map(|command| command.keys().next());
        names.cloned().collect()
    };
    let sent = names(&log.lock().unwrap());
    assert_eq!(sent, ["find", "insert", "find"]);

    log.lock().unwrap().clear();
    let orders = (10..60).map(|id| order(id, 1 + id % 2, &[1, 2, 3]));
    let insert = watched.collection::<Order>().insert_many(orders);
    insert.propagate().await.unwrap();
    // Strict: the fences, a query for the customer, the products, the notes and the holders, and the insert.
    let sent = names(&log.lock().unwrap());
    let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
    let expected = ["update", "find", "find", "find", "insert"];
    assert_eq!(sent, expected);
}

pub(super) async fn a_reference_that_leads_to_nothing_is_refused(db: &Db) {
    shop(db).await;
    let orders = db.collection::<Order>();
    let insert = orders.insert_many([order(4, 1, &[1]), order(5, 1, &[1, 9])]);
    let error = insert.propagate().await.unwrap_err();
    assert!(error.is_dangling(), "{error}");
    assert_eq!(error.path(), Some("l.product"));
    assert!(error.to_string().starts_with("Order.l.product"), "{error}");
    assert_eq!(stored(db, "orders").await.len(), 3);
    let insert = orders.insert_one(order(4, 9, &[])).propagate();
    assert!(insert.non_atomic().await.unwrap_err().is_dangling());
    assert_eq!(stored(db, "orders").await.len(), 3);
    let products = db.collection::<Product>();
    let error = products.insert_one(product(9, "cog")).propagate().await;
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("nothing follows from documents of this model"),
        "{text}"
    );
}

pub(super) async fn a_document_without_the_field_is_refused(db: &Db) {
    shop(db).await;
    insert(
        db,
        "products",
        [doc! {"_id": 7}, doc! {"_id": 8, "name": null}],
    )
    .await;
    let orders = db.collection::<Order>();
    for id in [7, 8] {
        let error = orders.insert_one(order(4, 1, &[id])).propagate().await;
        let error = error.unwrap_err();
        assert!(error.is_nothing_to_copy(), "{error}");
        let text = error.to_string();
        let expected = format!("the `Product` with the _id {id} has no value of `name`");
        assert!(text.contains(&expected), "{text}");
        assert!(text.contains("`l.pn` can't be none"), "{text}");
    }
    // A customer without an address leaves the copy out.
    let orders = db.collection::<Order>();
    let mut order = order(5, 2, &[1]);
    order.lines[0].notes[0].by = Some(Ref::from(2));
    order.lines[0].notes[0].city = Some("Basel".to_owned());
    orders.insert_one(&order).propagate().await.unwrap();
    let order = orders.get(&5).await.unwrap().unwrap();
    assert_eq!(order.lines[0].notes[0].city, None);
}
