//! `load` and `save`.

use odm::bson::Bson;
use odm::bson::{self, doc};
use odm::collection::{Loaded, ReturnDocument};
use odm::expr::literal;
use odm::model::BsonType;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    overflowing_versions_are_refused,
    unchanged_documents_are_not_sent,
    single_fields_are_sent,
    unknown_fields_stay,
    defaults_missing_in_storage_are_set_whole,
    a_removed_document_is_stale,
    stale_versions_are_refused,
    documents_without_a_version_get_one,
    saves_keep_the_id,
    typed_updates_increment_the_version,
    saves_conflict_with_typed_writes,
    upserts_start_the_version,
    replacements_increment_the_version,
    updates_without_other_changes_increment_the_version,
    a_typed_update_cannot_set_the_version,
    raw_updates_keep_the_version,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    size: Size,
    #[odm(embed(few, max = 9))]
    marks: Vec<Size>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Size {
    width: i32,
    height: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    state: String,
    #[serde(default)]
    #[odm(version)]
    version: i64,
}

async fn page(db: &Db) -> (Collection<Page>, Loaded<Page>) {
    let pages = db.collection::<Page>();
    let size = Size {
        width: 1,
        height: 2,
    };
    let page = Page {
        id: 1,
        title: "one".to_owned(),
        note: Some("n".to_owned()),
        marks: vec![size.clone()],
        size,
    };
    pages.insert_one(&page).await.unwrap();
    let loaded = pages.load(&1).await.unwrap().unwrap();
    assert_eq!(*loaded, page);
    (pages, loaded)
}

async fn unchanged_documents_are_not_sent(db: &Db) {
    let (pages, mut page) = page(db).await;
    assert_eq!(pages.save(&mut page).command().unwrap(), None);
    assert!(!pages.save(&mut page).await.unwrap());
    assert!(pages.load(&2).await.unwrap().is_none());
}

async fn single_fields_are_sent(db: &Db) {
    let (pages, mut page) = page(db).await;
    page.size.height = 3;
    page.note = None;
    page.marks.clear();
    assert_eq!(
        pages.save(&mut page).command().unwrap(),
        Some(doc! {
            "update": "pages",
            "updates": [{
                "q": {"_id": 1},
                "u": {
                    "$set": {"size.height": 3, "marks": []},
                    "$unset": {"note": true},
                },
            }],
            "ordered": true,
        })
    );
    assert!(pages.save(&mut page).await.unwrap());
    assert_eq!(pages.get(&1).await.unwrap().as_ref(), Some(&*page));
    assert!(!pages.save(&mut page).await.unwrap());
}

async fn unknown_fields_stay(db: &Db) {
    let (pages, mut page) = page(db).await;
    pages
        .update_one(
            |p| p.id.eq(1),
            |_| raw(doc! {"$set": {"x": 1, "size.depth": 9}}),
        )
        .await
        .unwrap();
    page.size.width = 7;
    assert!(pages.save(&mut page).await.unwrap());
    let stored = pages
        .find_all()
        .with_type::<bson::Document>()
        .first()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.get_i32("x").unwrap(), 1);
    assert_eq!(
        stored.get_document("size").unwrap(),
        &doc! {"width": 7, "height": 2, "depth": 9}
    );
}

async fn a_removed_document_is_stale(db: &Db) {
    let (pages, mut page) = page(db).await;
    pages.delete_all().await.unwrap();
    page.title = "two".into();
    let lost = pages.save(&mut page).await.unwrap_err();
    assert!(lost.is_stale(), "{lost}");
    assert_eq!(lost.model(), Some("Page"));
}

async fn stale_versions_are_refused(db: &Db) {
    let orders = db.collection::<Order>();
    let order = Order {
        id: 1,
        state: "new".to_owned(),
        version: 0,
    };
    orders.insert_one(&order).await.unwrap();
    let mut first = orders.load(&1).await.unwrap().unwrap();
    let mut second = orders.load(&1).await.unwrap().unwrap();
    first.state = "paid".into();
    assert!(orders.save(&mut first).await.unwrap());
    assert_eq!(first.version, 1);
    second.state = "cancelled".into();
    let lost = orders.save(&mut second).await.unwrap_err();
    assert!(lost.is_stale(), "{lost}");
    assert!(lost.to_string().contains("load it again"), "{lost}");
    first.state = "sent".into();
    assert!(orders.save(&mut first).await.unwrap());
    let stored = orders.get(&1).await.unwrap().unwrap();
    assert_eq!((stored.state.as_str(), stored.version), ("sent", 2));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "readers")]
struct Reader {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    settings: Settings,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
struct Settings {
    page: i32,
    size: i32,
}

async fn defaults_missing_in_storage_are_set_whole(db: &Db) {
    let readers = db.collection::<Reader>();
    db.run_command(doc! {"insert": "readers", "documents": [{"_id": 1}]})
        .await
        .unwrap();
    let mut reader = readers.load(&1).await.unwrap().unwrap();
    // A save without changes does not write the default.
    assert!(!readers.save(&mut reader).await.unwrap());
    reader.settings.page = 7;
    assert!(readers.save(&mut reader).await.unwrap());
    let stored = readers.get(&1).await.unwrap().unwrap();
    assert_eq!(stored.settings, Settings { page: 7, size: 0 });
    // Now it is stored, and a changed field of it is sent alone.
    let change = doc! {"$set": {"settings.size": 3}};
    let update = doc! {"update": "readers", "updates": [{"q": {"_id": 1}, "u": change}]};
    db.run_command(update).await.unwrap();
    reader.settings.page = 8;
    assert!(readers.save(&mut reader).await.unwrap());
    let stored = readers.get(&1).await.unwrap().unwrap();
    assert_eq!(stored.settings, Settings { page: 8, size: 3 });
}

async fn documents_without_a_version_get_one(db: &Db) {
    let orders = db.collection::<Order>();
    db.run_command(doc! {"insert": "orders", "documents": [{"_id": 1, "state": "old"}]})
        .await
        .unwrap();
    let mut order = orders.load(&1).await.unwrap().unwrap();
    let mut late = orders.load(&1).await.unwrap().unwrap();
    order.state = "new".into();
    assert!(orders.save(&mut order).await.unwrap());
    late.state = "late".into();
    let lost = orders.save(&mut late).await.unwrap_err();
    assert!(lost.is_stale(), "{lost}");
    assert!(lost.to_string().contains("load it again"), "{lost}");
    let stored = orders.get(&1).await.unwrap().unwrap();
    assert_eq!((stored.state.as_str(), stored.version), ("new", 1));
    // The number has the declared type, or the validator would refuse it.
    let longs = orders.count_documents(|o| o.version.type_(BsonType::Long));
    assert_eq!(longs.await.unwrap(), 1);
}

async fn saves_keep_the_id(db: &Db) {
    let (pages, mut page) = page(db).await;
    page.id = 2;
    let refused = pages.save(&mut page).await.unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert_eq!(refused.path(), Some("_id"));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tickets")]
struct Ticket {
    #[serde(rename = "_id")]
    id: i32,
    state: String,
    #[odm(version)]
    version: i32,
}

async fn overflowing_versions_are_refused(db: &Db) {
    let tickets = db.collection::<Ticket>();
    let last = Ticket {
        id: 1,
        state: "open".to_owned(),
        version: i32::MAX,
    };
    tickets.insert_one(&last).await.unwrap();
    let mut ticket = tickets.load(&1).await.unwrap().unwrap();
    "closed".clone_into(&mut ticket.state);
    let refused = tickets.save(&mut ticket).await.unwrap_err();
    assert_eq!(
        (refused.model(), refused.path()),
        (Some("Ticket"), Some("version"))
    );
    let told = "the version after this save is 2147483648: ";
    assert!(refused.to_string().starts_with(told), "{refused}");
    // The stored document and the loaded one are unchanged.
    assert_eq!(tickets.get(&1).await.unwrap(), Some(last));
    assert_eq!(ticket.version, i32::MAX);
}

async fn open_order(db: &Db) -> (Collection<Order>, Loaded<Order>) {
    let orders = db.collection::<Order>();
    let order = Order {
        id: 1,
        state: "new".to_owned(),
        version: 7,
    };
    orders.insert_one(&order).await.unwrap();
    let loaded = orders.load(&1).await.unwrap().unwrap();
    (orders, loaded)
}

async fn version(orders: &Collection<Order>) -> i64 {
    orders.get(&1).await.unwrap().unwrap().version
}

fn sent(command: &bson::Document) -> &Bson {
    let update = command.get_array("updates").unwrap()[0].as_document();
    update.unwrap().get("u").unwrap()
}

async fn typed_updates_increment_the_version(db: &Db) {
    let (orders, _) = open_order(db).await;
    let update = || orders.update_one(|o| o.id.eq(1), |o| o.state.set("paid"));
    assert_eq!(
        sent(&update().command().unwrap()),
        &doc! {"$set": {"state": "paid"}, "$inc": {"version": 1_i64}}.into()
    );
    update().await.unwrap();
    assert_eq!(version(&orders).await, 8);
    let many = orders.update_many(|o| o.id.lt(5), |o| o.state.set("sent"));
    many.await.unwrap();
    orders.update_all(|o| o.state.set("lost")).await.unwrap();
    assert_eq!(version(&orders).await, 10);
    let after = orders
        .find_one_and_update(|o| o.id.eq(1), |o| o.state.set("found"))
        .return_document(ReturnDocument::After)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((after.state.as_str(), after.version), ("found", 11));
    orders
        .bulk_write(|w| {
            [
                w.update_one(|o| o.id.eq(1), |o| o.state.set("a")),
                w.update_many(|o| o.id.eq(1), |o| o.state.set("b")),
                w.update_all(|o| o.state.set("c")),
            ]
        })
        .await
        .unwrap();
    assert_eq!(version(&orders).await, 14);
    // By a pipeline of typed stages.
    let update = || {
        orders.update_one(
            |o| o.id.eq(1),
            |o| o.state.set_expr(o.state.expr().concat("!")),
        )
    };
    assert_eq!(
        sent(&update().command().unwrap()),
        &bson::bson!([
            {"$set": {"state": {"$concat": ["$state", "!"]}}},
            {"$set": {"version": {"$add": [{"$ifNull": ["$version", 0]}, 1_i64]}}},
        ])
    );
    update().await.unwrap();
    let order = orders.get(&1).await.unwrap().unwrap();
    assert_eq!((order.state.as_str(), order.version), ("c!", 15));
}

async fn saves_conflict_with_typed_writes(db: &Db) {
    let (orders, _) = open_order(db).await;
    for write in 0..4 {
        let mut order = orders.load(&1).await.unwrap().unwrap();
        let same = order.clone().into_inner();
        match write {
            0 => {
                let update = orders.update_one(|o| o.id.eq(1), |o| o.state.set("paid"));
                update.await.unwrap();
            }
            1 => {
                orders.replace_one(|o| o.id.eq(1), same).await.unwrap();
            }
            2 => {
                let replace = orders.find_one_and_replace(|o| o.id.eq(1), same);
                replace.await.unwrap();
            }
            _ => {
                let replace = orders.bulk_write(|w| [w.replace_one(|o| o.id.eq(1), same)]);
                replace.await.unwrap();
            }
        }
        order.state = format!("mine {write}");
        let lost = orders.save(&mut order).await.unwrap_err();
        assert!(lost.is_stale(), "{write}: {lost}");
    }
    assert_eq!(version(&orders).await, 11);
}

async fn upserts_start_the_version(db: &Db) {
    let orders = db.collection::<Order>();
    let update = orders.update_one(|o| o.id.eq(1), |o| o.state.set("new"));
    let written = update.upsert(true).await.unwrap();
    assert_eq!(written.upserted_id, Some(1));
    assert_eq!(version(&orders).await, 1);
    let order = Order {
        id: 2,
        state: "new".to_owned(),
        version: 40,
    };
    let replace = orders.replace_one(|o| o.state.eq("none"), &order);
    let written = replace.upsert(true).await.unwrap();
    assert_eq!(written.upserted_id, Some(2));
    let stored = orders.get(&2).await.unwrap().unwrap();
    assert_eq!((stored.state.as_str(), stored.version), ("new", 1));
    let replace = orders.find_one_and_replace(|o| o.id.eq(3), Order { id: 3, ..order });
    let replace = replace.upsert(true).return_document(ReturnDocument::After);
    assert_eq!(replace.await.unwrap().unwrap().version, 1);
    let longs = orders.count_documents(|o| o.version.type_(BsonType::Long));
    assert_eq!(longs.await.unwrap(), 3);
}

async fn replacements_increment_the_version(db: &Db) {
    let (orders, _) = open_order(db).await;
    let unknown = orders.update_one(|o| o.id.eq(1), |_| raw(doc! {"$set": {"x": 1}}));
    unknown.await.unwrap();
    let fresh = Order {
        id: 1,
        state: "$state".to_owned(),
        version: 0,
    };
    let written = orders.replace_one(|o| o.id.eq(1), &fresh).await.unwrap();
    assert_eq!((written.matched, written.modified), (1, 1));
    let stored = orders.find_all().with_type::<bson::Document>().all().await;
    assert_eq!(
        stored.unwrap(),
        [doc! {"_id": 1, "state": "$state", "version": 8_i64}]
    );
    let before = orders.find_one_and_replace(|o| o.id.eq(1), &fresh);
    assert_eq!(before.await.unwrap().unwrap().version, 8);
    let other = Order { id: 2, ..fresh };
    let refused = orders.replace_one(|o| o.id.eq(1), &other).await;
    let refused = refused.unwrap_err();
    let code = refused.code().map(odm::Code::number);
    assert_eq!(code, Some(66), "{refused}");
    assert_eq!(version(&orders).await, 9);
}

async fn updates_without_other_changes_increment_the_version(db: &Db) {
    let (orders, mut order) = open_order(db).await;
    let update = orders.update_one(|o| o.id.eq(1), |o| o.state.set("new"));
    let written = update.await.unwrap();
    assert_eq!((written.matched, written.modified), (1, 1));
    assert_eq!(version(&orders).await, 8);
    // A save without changes does not increment the version.
    assert!(!orders.save(&mut order).await.unwrap());
    let nothing = orders.update_one(|o| o.id.eq(1), |_| Update::all_of([None]));
    assert!(nothing.await.unwrap_err().is_usage());
    assert_eq!(version(&orders).await, 8);
}

async fn a_typed_update_cannot_set_the_version(db: &Db) {
    let (orders, _) = open_order(db).await;
    let fields = odm::query::fields::<Order>();
    for change in [
        fields.version.set(1),
        fields.version.inc(1) & fields.state.set("x"),
        fields.version.set_on_insert(1),
        fields.version.set_expr(literal(1_i64)),
        fields.state.set("x") & raw(doc! {"$set": {"version": 1}}),
    ] {
        let update = orders.update_one(|o| o.id.eq(1), |_| change);
        let refused = update.upsert(true).await.unwrap_err();
        assert!(refused.is_usage(), "{refused}");
        assert_eq!(refused.model(), Some("Order"));
        assert_eq!(refused.path(), Some("version"));
    }
    assert_eq!(version(&orders).await, 7);
}

async fn raw_updates_keep_the_version(db: &Db) {
    let (orders, _) = open_order(db).await;
    let update = async |change: Update<Order>| {
        let update = orders.update_one(|o| o.id.eq(1), |_| change);
        update.await.unwrap();
        version(&orders).await
    };
    assert_eq!(update(raw(doc! {"$set": {"state": "raw"}})).await, 7);
    assert_eq!(update(raw(doc! {"$set": {"version": 3_i64}})).await, 3);
    let stages = [doc! {"$set": {"state": "raw stage"}}];
    assert_eq!(update(Update::pipeline(stages)).await, 3);
    // An update with a typed part increments the version.
    let state = odm::query::fields::<Order>().state;
    let both = state.set("both") & raw(doc! {"$set": {"x": 1}});
    assert_eq!(update(both).await, 4);
}
