//! `load` and `save`.

use odm::bson::{self, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    a_version_that_would_not_fit_is_not_written,
    what_did_not_change_is_not_sent,
    single_fields_are_sent,
    unknown_fields_stay,
    a_removed_document_is_stale,
    a_version_makes_the_second_writer_lose,
    a_document_from_before_the_version_field_gets_one,
    the_id_stays,
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

async fn what_did_not_change_is_not_sent(db: &Db) {
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

async fn a_version_makes_the_second_writer_lose(db: &Db) {
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

async fn a_document_from_before_the_version_field_gets_one(db: &Db) {
    let orders = db.collection::<Order>();
    db.run_command(doc! {"insert": "orders", "documents": [{"_id": 1, "state": "old"}]})
        .await
        .unwrap();
    let mut order = orders.load(&1).await.unwrap().unwrap();
    let mut late = orders.load(&1).await.unwrap().unwrap();
    order.state = "new".into();
    assert!(orders.save(&mut order).await.unwrap());
    late.state = "late".into();
    assert!(orders.save(&mut late).await.unwrap_err().is_stale());
    let stored = orders.get(&1).await.unwrap().unwrap();
    assert_eq!((stored.state.as_str(), stored.version), ("new", 1));
}

async fn the_id_stays(db: &Db) {
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

async fn a_version_that_would_not_fit_is_not_written(db: &Db) {
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
    // As it was, and so is what was loaded.
    assert_eq!(tickets.get(&1).await.unwrap(), Some(last));
    assert_eq!(ticket.version, i32::MAX);
}
