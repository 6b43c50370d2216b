//! `save` of documents that were saved in a transaction.

use odm::collection::Loaded;
use odm::prelude::*;

use crate::case::cases;

cases![
    a_retried_transaction_saves_again,
    aborted_saves_are_sent_again,
    aborts_restore_the_version,
    saves_of_one_transaction_build_on_each_other,
    later_saves_compare_with_the_committed_save,
    dropped_sessions_save_nothing,
    failed_commits_save_nothing,
    an_open_transaction_keeps_its_document,
    clones_share_the_outcome,
    aborted_deletions_are_undone,
    a_load_belongs_to_its_transaction,
    a_body_may_load_and_return_its_document,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    state: String,
    note: String,
    #[serde(default)]
    #[odm(version)]
    version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    hits: i32,
}

async fn order(db: &Db) -> (Collection<Order>, Loaded<Order>) {
    let orders = db.collection::<Order>();
    let order = Order {
        id: 1,
        state: "new".to_owned(),
        note: String::new(),
        version: 0,
    };
    orders.insert_one(&order).await.unwrap();
    let loaded = orders.load(&1).await.unwrap().unwrap();
    (orders, loaded)
}

async fn page(db: &Db) -> (Collection<Page>, Loaded<Page>) {
    let pages = db.collection::<Page>();
    let page = Page {
        id: 1,
        title: "one".to_owned(),
        hits: 0,
    };
    pages.insert_one(&page).await.unwrap();
    let loaded = pages.load(&1).await.unwrap().unwrap();
    (pages, loaded)
}

async fn started(db: &Db) -> Session {
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    session
}

async fn stored(orders: &Collection<Order>) -> (String, i64) {
    let order = orders.get(&1).await.unwrap().unwrap();
    (order.state, order.version)
}

async fn a_retried_transaction_saves_again(db: &Db) {
    let (orders, mut order) = order(db).await;
    let (pages, _) = page(db).await;
    let mut runs = 0;
    order.state = "paid".into();
    transaction!(db, |tx| -> odm::Result<_> {
        runs += 1;
        assert!(orders.save(&mut order).session(tx).await?);
        if runs == 1 {
            // This write is between the transaction's snapshot and its write.
            pages.update_one(|p| p.id.eq(1), |p| p.hits.inc(1)).await?;
        }
        pages
            .update_one(|p| p.id.eq(1), |p| p.hits.inc(10))
            .session(tx)
            .await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(runs, 2);
    assert_eq!(stored(&orders).await, ("paid".to_owned(), 1));
    assert_eq!(order.version, 1);
    assert_eq!(pages.get(&1).await.unwrap().unwrap().hits, 11);
    assert!(!orders.save(&mut order).await.unwrap());
}

async fn aborted_saves_are_sent_again(db: &Db) {
    let (pages, mut page) = page(db).await;
    let mut session = started(db).await;
    page.title = "two".into();
    assert!(pages.save(&mut page).session(&mut session).await.unwrap());
    page.hits = 5;
    session.abort_transaction().await.unwrap();
    assert_eq!(pages.get(&1).await.unwrap().unwrap().title, "one");
    assert!(pages.save(&mut page).await.unwrap());
    assert_eq!(pages.get(&1).await.unwrap().as_ref(), Some(&*page));
    assert_eq!((page.title.as_str(), page.hits), ("two", 5));
}

async fn aborts_restore_the_version(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    assert_eq!(order.version, 1);
    session.abort_transaction().await.unwrap();
    // The same holds for reads.
    assert_eq!((order.state.as_str(), order.version), ("paid", 0));
    assert_eq!(order.clone().into_inner().version, 0);
    order.note = "late".into();
    assert_eq!((order.note.as_str(), order.version), ("late", 0));
    // In another transaction of the same session.
    session.start_transaction().await.unwrap();
    assert!(orders.save(&mut order).session(&mut session).await.unwrap());
    session.commit_transaction().await.unwrap();
    assert_eq!(order.version, 1);
    assert_eq!(stored(&orders).await, ("paid".to_owned(), 1));
    order.state = "sent".into();
    assert!(orders.save(&mut order).await.unwrap());
    assert_eq!(stored(&orders).await, ("sent".to_owned(), 2));
}

async fn saves_of_one_transaction_build_on_each_other(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    assert!(orders.save(&mut order).session(&mut session).await.unwrap());
    assert!(!orders.save(&mut order).session(&mut session).await.unwrap());
    order.note = "gift".into();
    let command = orders.save(&mut order).session(&mut session).command();
    assert_eq!(
        command.unwrap().unwrap().get_array("updates").unwrap()[0],
        doc! {
            "q": {"_id": 1, "version": 1_i64},
            "u": {"$set": {"note": "gift"}, "$inc": {"version": 1_i64}},
        }
        .into()
    );
    assert!(orders.save(&mut order).session(&mut session).await.unwrap());
    // The change is reverted, but the transaction stored another value.
    order.state = "new".into();
    assert!(orders.save(&mut order).session(&mut session).await.unwrap());
    assert_eq!(order.version, 3);
    session.commit_transaction().await.unwrap();
    assert_eq!(orders.get(&1).await.unwrap().as_ref(), Some(&*order));
}

async fn later_saves_compare_with_the_committed_save(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    let read = orders.load(&1).session(&mut session).await.unwrap();
    assert_eq!(*read.unwrap(), *order);
    order.note = "gift".into();
    session.commit_transaction().await.unwrap();
    // A committed transaction can be committed again, but not aborted.
    session.commit_transaction().await.unwrap();
    assert!(session.abort_transaction().await.unwrap_err().is_usage());
    let command = orders.save(&mut order).command().unwrap().unwrap();
    assert_eq!(
        command.get_array("updates").unwrap()[0],
        doc! {
            "q": {"_id": 1, "version": 1_i64},
            "u": {"$set": {"note": "gift"}, "$inc": {"version": 1_i64}},
        }
        .into()
    );
    assert!(orders.save(&mut order).await.unwrap());
    assert_eq!(orders.get(&1).await.unwrap().as_ref(), Some(&*order));
}

async fn dropped_sessions_save_nothing(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    drop(session);
    assert_eq!(order.version, 0);
    assert!(orders.save(&mut order).await.unwrap());
    assert_eq!(stored(&orders).await, ("paid".to_owned(), 1));
}

async fn failed_commits_save_nothing(db: &Db) {
    let (orders, mut order) = order(db).await;
    let (pages, _) = page(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    pages
        .update_one(|p| p.id.eq(1), |p| p.hits.inc(1))
        .await
        .unwrap();
    let hit = pages.update_one(|p| p.id.eq(1), |p| p.hits.inc(10));
    let conflict = hit.session(&mut session).await.unwrap_err();
    assert_eq!(conflict.code(), Some(odm::Code::WRITE_CONFLICT));
    // The conflict aborted the transaction; the commit fails.
    let gone = session.commit_transaction().await.unwrap_err();
    assert!(gone.has_label("TransientTransactionError"), "{gone:?}");
    assert_eq!(order.version, 0);
    assert!(orders.save(&mut order).await.unwrap());
    assert_eq!(stored(&orders).await, ("paid".to_owned(), 1));
}

async fn an_open_transaction_keeps_its_document(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    order.state = "sent".into();
    // The transaction's outcome decides whether this save must send the first change again.
    let refused = orders.save(&mut order).await.unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert_eq!(refused.model(), Some("Order"));
    let mut other = started(db).await;
    let refused = orders.save(&mut order).session(&mut other).await;
    assert!(refused.unwrap_err().is_usage());
    session.commit_transaction().await.unwrap();
    assert!(orders.save(&mut order).await.unwrap());
    assert_eq!(stored(&orders).await, ("sent".to_owned(), 2));
}

async fn clones_share_the_outcome(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    let mut copy = order.clone();
    session.abort_transaction().await.unwrap();
    assert!(orders.save(&mut copy).await.unwrap());
    assert_eq!(stored(&orders).await, ("paid".to_owned(), 1));
    assert!(orders.save(&mut order).await.unwrap_err().is_stale());
}

async fn aborted_deletions_are_undone(db: &Db) {
    let (orders, mut order) = order(db).await;
    let mut session = started(db).await;
    order.state = "paid".into();
    orders.save(&mut order).session(&mut session).await.unwrap();
    let delete = orders.delete_one(|o| o.id.eq(1));
    delete.session(&mut session).await.unwrap();
    order.state = "sent".into();
    let gone = orders.save(&mut order).session(&mut session).await;
    assert!(gone.unwrap_err().is_stale());
    session.abort_transaction().await.unwrap();
    assert!(orders.save(&mut order).await.unwrap());
    assert_eq!(stored(&orders).await, ("sent".to_owned(), 1));
}

async fn a_load_belongs_to_its_transaction(db: &Db) {
    let (pages, _) = page(db).await;
    let mut session = started(db).await;
    let loaded = pages.load(&1).session(&mut session).await.unwrap();
    let mut page = loaded.unwrap();
    page.hits = 5;
    assert!(pages.save(&mut page).await.unwrap_err().is_usage());
    assert!(pages.save(&mut page).session(&mut session).await.unwrap());
    session.commit_transaction().await.unwrap();
    page.title = "two".into();
    assert!(pages.save(&mut page).await.unwrap());
    assert_eq!(pages.get(&1).await.unwrap().as_ref(), Some(&*page));

    // Writes of an aborted transaction were never stored: a save can't be a difference to them.
    session.start_transaction().await.unwrap();
    let update = pages.update_one(|p| p.id.eq(1), |p| p.title.set("three"));
    update.session(&mut session).await.unwrap();
    let loaded = pages.load(&1).session(&mut session).await.unwrap();
    let mut page = loaded.unwrap();
    assert_eq!(page.title, "three");
    session.abort_transaction().await.unwrap();
    page.hits = 6;
    let refused = pages.save(&mut page).await.unwrap_err();
    assert!(refused.is_stale(), "{refused}");
    assert!(refused.to_string().contains("was aborted"), "{refused}");
    assert_eq!((page.title.as_str(), page.hits), ("three", 6));
    assert_eq!(page.into_inner().hits, 6);
    assert_eq!(pages.get(&1).await.unwrap().unwrap().hits, 5);
}

async fn a_body_may_load_and_return_its_document(db: &Db) {
    let (orders, _) = order(db).await;
    let mut runs = 0;
    let mut order = transaction!(db, |tx| -> odm::Result<_> {
        runs += 1;
        let mut order = orders.load(&1).session(tx).await?.expect("it is there");
        if runs == 1 {
            let other = orders.update_one(|o| o.id.eq(1), |o| o.note.set("other"));
            other.await?;
        }
        order.state = "paid".into();
        orders.save(&mut order).session(tx).await?;
        Ok(order)
    })
    .await
    .unwrap();
    assert_eq!((runs, order.version), (2, 2));
    order.state = "sent".into();
    assert!(orders.save(&mut order).await.unwrap());
    let stored = orders.get(&1).await.unwrap();
    assert_eq!(stored.as_ref(), Some(&*order));
    assert_eq!((order.note.as_str(), order.version), ("other", 3));
}
