//! `bulk_write`, and errors of writes that failed in part.

use odm::bson::{Bson, doc};
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    update_all_and_delete_all_in_bulk,
    writes_of_every_kind,
    ordered_writes_stop_at_the_first_failure,
    unordered_writes_are_all_tried,
    insert_many_reports_inserted_ids,
    commands_are_grouped,
    unsupported_bulk_options_are_refused,
    empty_bulk_writes_succeed,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "stock")]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    count: i32,
}

fn item(id: i32, count: i32) -> Item {
    Item { id, count }
}

async fn writes_of_every_kind(db: &Db) {
    let stock = db.collection::<Item>();
    let done = stock
        .bulk_write(|w| {
            [
                w.insert_one(item(1, 1)),
                w.insert_one(item(2, 2)),
                w.update_one(|i| i.id.eq(1), |i| i.count.inc(10)),
                w.update_one(|i| i.id.eq(3), |i| i.count.set(3))
                    .upsert(true),
                w.update_many(|i| i.count.gte(3), |i| i.count.inc(1)),
                w.replace_one(|i| i.id.eq(2), item(2, 20)),
                w.delete_one(|i| i.id.eq(1)),
                w.insert_one(item(4, 4)),
                w.delete_many(|i| i.id.gte(4)),
            ]
        })
        .await
        .unwrap();
    assert_eq!((done.inserted, done.deleted), (3, 2));
    assert_eq!((done.matched, done.modified), (4, 4));
    assert_eq!(
        done.upserted_ids.into_iter().collect::<Vec<_>>(),
        [(3, Bson::Int32(3))]
    );
    let left = stock.find_all().sort(|i| i.id.asc()).all().await.unwrap();
    assert_eq!(left, [item(2, 20), item(3, 4)]);
}

async fn ordered_writes_stop_at_the_first_failure(db: &Db) {
    let stock = db.collection::<Item>();
    let failed = stock
        .bulk_write(|w| {
            [
                w.insert_one(item(1, 1)),
                w.update_one(|i| i.id.eq(1), |i| i.count.set(2)),
                w.insert_one(item(2, 2)),
                w.insert_one(item(1, 1)),
                w.insert_one(item(3, 3)),
                w.delete_one(|i| i.id.eq(2)),
            ]
        })
        .await
        .unwrap_err();
    assert!(failed.is_bulk() && failed.is_duplicate_key(), "{failed}");
    let [error] = failed.write_errors() else {
        panic!("{failed}");
    };
    assert_eq!(error.index(), 3);
    let done = failed.partial_result().unwrap();
    assert_eq!((done.inserted, done.modified, done.deleted), (2, 1, 0));
    assert_eq!(stock.estimated_document_count().await.unwrap(), 2);
}

async fn unordered_writes_are_all_tried(db: &Db) {
    let stock = db.collection::<Item>();
    stock.insert_one(item(1, 1)).await.unwrap();
    let failed = stock
        .bulk_write(|w| {
            [
                w.update_one(|i| i.id.eq(1), |i| i.id.set(9)),
                w.insert_one(item(1, 1)),
                w.insert_one(item(2, 2)),
                w.update_one(|i| i.id.eq(1), |i| i.count.set(5)),
                w.delete_one(|i| i.id.eq(2)),
            ]
        })
        .ordered(false)
        .await
        .unwrap_err();
    let errors: Vec<_> = failed
        .write_errors()
        .iter()
        .map(|error| (error.index(), error.error().code().number()))
        .collect();
    // The changed `_id`, and the duplicate.
    assert_eq!(errors, [(0, 66), (1, 11000)]);
    let done = failed.partial_result().unwrap();
    assert_eq!((done.inserted, done.modified, done.deleted), (1, 1, 1));
}

async fn insert_many_reports_inserted_ids(db: &Db) {
    let stock = db.collection::<Item>();
    stock.insert_one(item(2, 0)).await.unwrap();
    let failed = stock
        .insert_many([item(1, 0), item(2, 0), item(3, 0)])
        .await
        .unwrap_err();
    assert_eq!(failed.partial_result().unwrap().inserted, 1);
    let error = &failed.write_errors()[0];
    assert_eq!((error.index(), error.path()), (1, Some("_id")));
    assert!(error.is_duplicate_key());
    assert!(error.to_string().starts_with("write 1 failed: E11000 "));
    assert_eq!(failed.duplicate_index(), Some("_id_"));
    let failed = stock
        .insert_many([item(2, 0), item(3, 0), item(1, 0), item(4, 0)])
        .ordered(false)
        .await
        .unwrap_err();
    assert_eq!(failed.partial_result().unwrap().inserted, 2);
    let indexes: Vec<_> = failed
        .write_errors()
        .iter()
        .map(odm::WriteError::index)
        .collect();
    assert_eq!(indexes, [0, 2]);
    let inserted = stock.insert_many([item(7, 0), item(6, 0)]).await.unwrap();
    assert_eq!(inserted.inserted_ids, [7, 6]);
}

async fn commands_are_grouped(db: &Db) {
    let stock = db.collection::<Item>();
    let commands = stock
        .bulk_write(|w| {
            [
                w.delete_one(|i| i.id.eq(1)),
                w.insert_one(item(1, 1)),
                w.delete_many(|i| i.count.lt(0)),
            ]
        })
        .ordered(false)
        .commands()
        .unwrap();
    assert_eq!(
        commands,
        [
            doc! {"insert": "stock", "documents": [{"_id": 1, "count": 1}], "ordered": false},
            doc! {
                "delete": "stock",
                "deletes": [
                    {"q": {"_id": 1}, "limit": 1},
                    {"q": {"count": {"$lt": 0}}, "limit": 0},
                ],
                "ordered": false,
            },
        ]
    );
}

async fn unsupported_bulk_options_are_refused(db: &Db) {
    let stock = db.collection::<Item>();
    let refused = stock
        .bulk_write(|w| {
            [
                w.insert_one(item(1, 1)),
                w.delete_one(|i| i.id.eq(1)).upsert(true),
            ]
        })
        .await
        .unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert!(refused.to_string().contains("write 1"), "{refused}");
    let refused = stock
        .bulk_write(|w| [w.delete_many(|_| Filter::all())])
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("delete_all"), "{refused}");
    assert_eq!(stock.estimated_document_count().await.unwrap(), 0);
}

async fn empty_bulk_writes_succeed(db: &Db) {
    let stock = db.collection::<Item>();
    let none: [Item; 0] = [];
    assert!(
        stock
            .insert_many(&none)
            .await
            .unwrap()
            .inserted_ids
            .is_empty()
    );
    let done = stock.bulk_write(|_| []).await.unwrap();
    assert_eq!((done.inserted, done.matched, done.deleted), (0, 0, 0));
}

async fn update_all_and_delete_all_in_bulk(db: &Db) {
    let stock = db.collection::<Item>();
    stock
        .insert_many((1..5).map(|id| item(id, 0)))
        .await
        .unwrap();
    let done = stock
        .bulk_write(|w| [w.update_all(|i| i.count.inc(1)), w.delete_all()])
        .await
        .unwrap();
    assert_eq!((done.matched, done.modified, done.deleted), (4, 4, 4));
    let refused = stock
        .bulk_write(|w| [w.delete_many(|_| raw(doc! {}))])
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("write `delete_all`"),
        "{refused}"
    );
}
