//! References, resolved by one more query.

use std::collections::BTreeMap;

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm::query::raw;

use super::relations::watched;
use crate::case::cases;

cases![
    several_references_of_each_row,
    two_commands_for_all_rows,
    dangling_references_are_reported,
    lists_keep_their_order,
    a_projection_must_hold_the_reference,
    references_in_embedded_documents,
    a_join_reads_in_a_transaction,
    rows_may_lack_the_document_with_the_reference,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
    second: Option<Ref<Publisher>>,
    #[odm(references(many, max = 10))]
    sellers: Vec<Ref<Publisher>>,
    deal: Deal,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Deal {
    with: Ref<Publisher>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Debug, Deserialize, Projection)]
#[odm(of = Book)]
struct OnlyId {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Deserialize, Projection)]
#[odm(of = Book)]
#[expect(dead_code, reason = "only that it is sent matters")]
struct WithPublisher {
    publisher: Ref<Publisher>,
}

fn book(id: i32, publisher: i64) -> Book {
    Book {
        id,
        publisher: Ref::from(publisher),
        second: None,
        sellers: Vec::new(),
        deal: Deal {
            with: Ref::from(publisher),
        },
    }
}

async fn library(db: &Db) -> Collection<Book> {
    for (id, name) in [(1, "one"), (2, "two")] {
        let name = name.to_owned();
        let publisher = Publisher { id, name };
        let publishers = db.collection::<Publisher>();
        publishers.insert_one(&publisher).await.unwrap();
    }
    let books = db.collection::<Book>();
    books
        .insert_many([book(1, 2), book(2, 1), book(3, 2), book(4, 9)])
        .await
        .unwrap();
    books
}

/// The publisher's name, or the id of a dangling reference.
fn shown(resolved: &Resolved<Publisher>) -> Result<&str, i64> {
    match resolved {
        Resolved::Found(publisher) => Ok(&publisher.name),
        Resolved::Dangling(id) | Resolved::Excluded(id) => Err(*id),
        Resolved::Absent => Err(0),
    }
}

async fn two_commands_for_all_rows(db: &Db) {
    library(db).await;
    let (db, sent) = watched(db);
    let rows = db
        .collection::<Book>()
        .find(|b| b.id.lte(3))
        .sort(|b| b.id.desc())
        .join(|b| b.publisher)
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.id, shown(row.publisher())))
        .collect();
    assert_eq!(found, [(3, Ok("two")), (2, Ok("one")), (1, Ok("two"))]);
    assert_eq!(
        *sent.lock().unwrap(),
        [
            doc! {"find": "books", "filter": {"_id": {"$lte": 3}}, "sort": {"_id": -1}},
            doc! {"find": "publishers", "filter": {"_id": {"$in": [2_i64, 1_i64]}}},
        ]
    );
}

async fn dangling_references_are_reported(db: &Db) {
    let books = library(db).await;
    let row = books
        .find(|b| b.id.eq(4))
        .join(|b| b.publisher)
        .first()
        .await;
    let row = row.unwrap().unwrap();
    assert!(row.publisher().is_dangling());
    assert_eq!(shown(row.publisher()), Err(9));
    // No row, no second query, no error.
    let none = books.find(|b| b.id.eq(5)).join(|b| b.publisher).all().await;
    assert!(none.unwrap().is_empty());
    let row = books.find(|b| b.id.eq(4)).join(|b| b.second).first().await;
    assert_eq!(*row.unwrap().unwrap().second(), None);
}

async fn lists_keep_their_order(db: &Db) {
    let books = library(db).await;
    books
        .update_one(
            |b| b.id.eq(1),
            |_| raw(doc! {"$set": {"sellers": [9_i64, 2_i64, 1_i64, 2_i64]}}),
        )
        .await
        .unwrap();
    let rows = books
        .find(|b| b.id.lte(2))
        .sort(|b| b.id.asc())
        .join(|b| b.sellers)
        .all()
        .await
        .unwrap();
    let sellers: Vec<_> = rows[0].sellers().iter().map(shown).collect();
    assert_eq!(sellers, [Err(9), Ok("two"), Ok("one"), Ok("two")]);
    assert!(rows[1].sellers().is_empty());
}

async fn a_projection_must_hold_the_reference(db: &Db) {
    let books = library(db).await;
    let find = || books.find(|b| b.id.eq(1));
    let rows = find()
        .select::<WithPublisher>()
        .join(|b| b.publisher)
        .all()
        .await;
    assert_eq!(shown(rows.unwrap()[0].publisher()), Ok("two"));
    let refused = find()
        .select::<OnlyId>()
        .join(|b| b.publisher)
        .all()
        .await
        .unwrap_err();
    assert_eq!(refused.path(), Some("publisher"));
    let plain = find().select::<OnlyId>().all().await.unwrap();
    assert_eq!(plain[0].id, 1);
}

async fn references_in_embedded_documents(db: &Db) {
    let books = library(db).await;
    let rows = books
        .find(|b| b.id.eq(2))
        .join(|b| b.deal.with.clone())
        .all()
        .await
        .unwrap();
    assert_eq!(shown(DealJoined::with(&rows[0])), Ok("one"));
}

async fn a_join_reads_in_a_transaction(db: &Db) {
    let books = library(db).await;
    transaction!(db, |tx| -> odm::Result<_> {
        let publisher = Publisher {
            id: 9,
            name: "nine".to_owned(),
        };
        let publishers = db.collection::<Publisher>();
        publishers.insert_one(&publisher).session(tx).await?;
        let rows = books
            .find(|b| b.id.eq(4))
            .join(|b| b.publisher)
            .session(tx)
            .all()
            .await?;
        assert_eq!(shown(rows[0].publisher()), Ok("nine"));
        Ok(())
    })
    .await
    .unwrap();
}

async fn several_references_of_each_row(db: &Db) {
    let books = library(db).await;
    books
        .update_one(
            |b| b.id.eq(1),
            |b| b.second.set(Ref::from(1)) & b.sellers.set(vec![Ref::from(7), Ref::from(2)]),
        )
        .await
        .unwrap();
    let (watched, sent) = watched(db);
    let find = || {
        watched
            .collection::<Book>()
            .find(|b| b.id.in_([1, 4]))
            .sort(|b| b.id.asc())
            .hint("_id_")
    };
    let joined = || find().join(|b| b.publisher).join(|b| b.second);
    let rows = joined().join(|b| b.sellers).all().await.unwrap();
    let (publisher, second) = (rows[0].publisher(), rows[0].second());
    let sellers = rows[0].sellers();
    assert_eq!(shown(publisher), Ok("two"));
    assert_eq!(second.as_ref().map(shown), Some(Ok("one")));
    let sellers: Vec<_> = sellers.iter().map(shown).collect();
    assert_eq!(sellers, [Err(7), Ok("two")]);
    let (publisher, second) = (rows[1].publisher(), rows[1].second());
    let sellers = rows[1].sellers();
    assert_eq!((rows[1].id, shown(publisher)), (4, Err(9)));
    assert!(second.is_none() && sellers.is_empty());
    // The find, then a query for each reference.
    let filters: Vec<_> = std::mem::take(&mut *sent.lock().unwrap())
        .into_iter()
        .map(|command| command.get_document("filter").unwrap().clone())
        .collect();
    let expected = [
        doc! {"_id": {"$in": [1, 4]}},
        doc! {"_id": {"$in": [2_i64, 9_i64]}},
        doc! {"_id": {"$in": [1_i64]}},
        doc! {"_id": {"$in": [7_i64, 2_i64]}},
    ];
    assert_eq!(filters.len(), expected.len());
    for filter in expected {
        assert!(filters.contains(&filter), "{filter} of {filters:?}");
    }
    // A reference that is empty in every row needs no query.
    let row = find()
        .sort(|b| b.id.desc())
        .join(|b| b.second)
        .join(|b| b.publisher);
    let row = row.first().await.unwrap().unwrap();
    assert_eq!(
        (row.second().is_none(), shown(row.publisher())),
        (true, Err(9))
    );
    assert_eq!(sent.lock().unwrap().len(), 2);
    // Any number of joins; an error names the one that it is about.
    let all = joined().join(|b| b.sellers).join(|b| b.deal.with.clone());
    let rows = all.all().await.unwrap();
    assert_eq!(shown(DealJoined::with(&rows[0])), Ok("two"));
    let lacking = find().select::<WithPublisher>();
    let refused = lacking.join(|b| b.publisher).join(|b| b.deal.with.clone());
    let refused = refused.all().await.unwrap_err();
    assert_eq!(
        (refused.model(), refused.path()),
        (Some("Book"), Some("deal.with"))
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offer: Option<Offer>,
    source: Source,
    #[odm(embed(few, max = 10))]
    by_region: BTreeMap<String, Offer>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Offer {
    from: Ref<Publisher>,
    backup: Option<Ref<Publisher>>,
    #[odm(references(many, max = 5))]
    others: Vec<Ref<Publisher>>,
    inner: Option<Deal>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum Source {
    Shop,
    Partner { with: Ref<Publisher> },
}

async fn rows_may_lack_the_document_with_the_reference(db: &Db) {
    library(db).await;
    let offer = Offer {
        from: Ref::from(1),
        backup: Some(Ref::from(2)),
        others: vec![Ref::from(2), Ref::from(9)],
        inner: Some(Deal { with: Ref::from(2) }),
    };
    let orders = db.collection::<Order>();
    let partner = Source::Partner { with: Ref::from(9) };
    let rows = [
        (1, Some(offer.clone()), partner),
        (2, None, Source::Shop),
        (
            3,
            Some(Offer {
                inner: None,
                backup: None,
                ..offer.clone()
            }),
            Source::Shop,
        ),
    ];
    for (id, offer, source) in rows {
        let by_region = offer
            .iter()
            .map(|it| ("eu".to_owned(), it.clone()))
            .collect();
        let order = Order {
            id,
            offer,
            source,
            by_region,
        };
        orders.insert_one(&order).await.unwrap();
    }
    // An explicit null is treated like a missing field.
    db.run_command(doc! {"insert": "orders", "documents": [
        {"_id": 4, "offer": null, "source": "Shop", "by_region": {}},
    ]})
    .await
    .unwrap();
    let found = |resolved: &Resolved<Publisher>| match resolved {
        Resolved::Found(publisher) => publisher.id,
        Resolved::Dangling(id) | Resolved::Excluded(id) => -*id,
        Resolved::Absent => 0,
    };
    let find = || orders.find_all().sort(|o| o.id.asc());

    let rows = find().join(|o| o.offer.from.clone()).all().await.unwrap();
    let from: Vec<_> = rows.iter().map(|row| found(row.from())).collect();
    assert_eq!(from, [1, 0, 1, 0]);
    assert!(rows[1].from().is_absent() && rows[1].from().missing().is_none());
    assert!(!rows[1].from().is_dangling() && rows[1].from().found().is_none());

    let rows = find()
        .join(|o| o.offer.backup.clone())
        .join(|o| o.offer.others.clone())
        .join(|o| o.offer.inner.with.clone())
        .join(|o| o.by_region.key("eu").from.clone())
        .join(|o| o.source.partner.with.clone())
        .all();
    let rows = Box::pin(rows).await.unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let others: Vec<_> = row.others().iter().map(found).collect();
            let backup = row.backup().as_ref().map(found);
            let inner = found(DealJoined::with(row));
            let partner = found(SourceJoined::with(row));
            (backup, others, inner, found(row.from()), partner)
        })
        .collect();
    assert_eq!(
        rows,
        [
            (Some(2), vec![2, -9], 2, 1, -9),
            (None, vec![], 0, 0, 0),
            (None, vec![2, -9], 0, 1, 0),
            (None, vec![], 0, 0, 0),
        ]
    );
    // With a projection that excludes it, all rows would lack the reference.
    let refused = find()
        .projection(doc! {"source": 1})
        .with_type::<BsonDocument>()
        .join(|o| o.offer.from.clone())
        .all()
        .await
        .unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert_eq!(refused.path(), Some("offer.from"));
}
