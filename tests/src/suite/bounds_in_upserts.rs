//! The bounds of lists in upserts, in `find_one_and_update` and in transactions.

use odm::prelude::*;

use super::bounds::{Patron, address, full, patron, patrons, shown};
use crate::case::cases;

cases![
    find_one_and_update_fails_on_a_full_list,
    upserts_insert_no_second_document,
    upserts_that_could_insert_twice_are_refused,
    guards_work_in_transactions,
];

async fn find_one_and_update_fails_on_a_full_list(db: &Db) {
    let patrons = patrons(db, [patron("joe", 9)]).await;
    let push = |id: &'static str| {
        patrons.find_one_and_update(|p| p.id.eq(id), |p| p.addresses.push(address("new", 0)))
    };
    assert_eq!(push("joe").await.unwrap().unwrap().addresses.len(), 9);
    let error = push("joe").await.unwrap_err();
    assert!(error.is_full() && !error.is_duplicate_element() && !error.is_usage());
    assert_eq!(error.model(), Some("Patron"));
    assert_eq!(shown(error.withheld()), [full("addresses", 10, 1)]);
    assert!(push("ann").await.unwrap().is_none());
    let error = push("joe").upsert(true).await.unwrap_err();
    assert!(error.is_full(), "{error}");
    assert!(push("ann").upsert(true).await.unwrap().is_none());
    assert_eq!(patrons.count_documents(|_| Filter::all()).await.unwrap(), 2);
}

async fn indexed(db: &Db) {
    db.sync(models![Patron])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
}

async fn upserts_insert_no_second_document(db: &Db) {
    indexed(db).await;
    let patrons = patrons(db, [patron("joe", 10), patron("ann", 0)]).await;
    let by_id = |id: &'static str| {
        patrons
            .update_one(
                |p| p.id.eq(id),
                |p| {
                    p.addresses.push(address("new", 0))
                        & p.name.set_on_insert(id)
                        & p.tags.set_on_insert([""; 0].map(str::to_owned))
                },
            )
            .upsert(true)
    };
    let joe = by_id("joe").await.unwrap();
    assert_eq!(shown(&joe.withheld), [full("addresses", 10, 1)]);
    assert_eq!((joe.matched, joe.upserted_id), (0, None));
    assert_eq!(by_id("ann").await.unwrap().modified, 1);
    let new = by_id("kim").await.unwrap();
    assert_eq!(new.upserted_id.as_deref(), Some("kim"));
    assert_eq!(new.withheld, []);
    // Without tags, the new document would break the validator before the unique index.
    for tags in [Some(Vec::<String>::new()), None] {
        let by_name = patrons
            .update_one(
                |p| p.name.eq("joe Bookreader"),
                |p| {
                    let push = p.addresses.push(address("new", 0)) & p.id.set_on_insert("new");
                    match tags {
                        Some(tags) => push & p.tags.set_on_insert(tags),
                        None => push,
                    }
                },
            )
            .upsert(true)
            .await
            .unwrap();
        assert!(by_name.is_full());
    }
    let many = patrons
        .update_many(|p| p.id.eq("joe"), |p| p.addresses.push(address("new", 0)))
        .upsert(true)
        .await
        .unwrap();
    assert!(many.is_full() && many.upserted_id.is_none());
    assert_eq!(patrons.count_documents(|_| Filter::all()).await.unwrap(), 3);
    // The document is there and does not match, but it is not full.
    let error = patrons
        .update_one(
            |p| p.id.eq("ann") & p.name.eq("somebody else"),
            |p| p.addresses.push(address("new", 0)) & p.tags.set_on_insert(Vec::<String>::new()),
        )
        .upsert(true)
        .await
        .unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
}

async fn upserts_that_could_insert_twice_are_refused(db: &Db) {
    let patrons = patrons(db, [patron("joe", 10)]).await;
    let error = patrons
        .update_one(
            |p| p.tags.has("reader"),
            |p| p.addresses.push(address("new", 0)),
        )
        .upsert(true)
        .await
        .unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("second document"),
        "{error}"
    );
    let error = patrons
        .bulk_write(|w| {
            [w.update_one(|p| p.tags.has("reader"), |p| p.tags.push("x"))
                .upsert(true)]
        })
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    let sliced = patrons
        .update_one(
            |p| p.id.eq("joe") & p.tags.has("reader"),
            |p| p.tags.push_with(["x"], |push| push.slice(3)),
        )
        .upsert(true)
        .command();
    assert!(sliced.is_ok());
}

async fn guards_work_in_transactions(db: &Db) {
    indexed(db).await;
    let patrons = patrons(db, [patron("joe", 9)]).await;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    for expected in [1, 0] {
        let result = patrons
            .update_one(|p| p.id.eq("joe"), |p| p.addresses.push(address("new", 0)))
            .session(&mut session)
            .await
            .unwrap();
        assert_eq!(
            (result.modified, result.is_full()),
            (expected, expected == 0)
        );
    }
    let upsert = patrons
        .update_one(|p| p.id.eq("joe"), |p| p.addresses.push(address("new", 0)))
        .upsert(true)
        .session(&mut session)
        .await
        .unwrap();
    assert!(upsert.is_full());
    let many = patrons
        .update_all(|p| p.addresses.push(address("new", 0)))
        .session(&mut session)
        .await
        .unwrap();
    assert_eq!(shown(&many.withheld), [full("addresses", 10, 1)]);
    let error = patrons
        .find_one_and_update(|p| p.id.eq("joe"), |p| p.addresses.push(address("new", 0)))
        .session(&mut session)
        .await
        .unwrap_err();
    assert!(error.is_full());
    session.commit_transaction().await.unwrap();
    let joe = patrons.get("joe").await.unwrap().unwrap();
    assert_eq!(joe.addresses.len(), 10);
}
