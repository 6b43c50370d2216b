//! Documents that could be embedded.

use odm::advise::AdviceCode;
use odm::bson::doc;
use odm::prelude::*;

use super::models::{Author, Book, City, Country, Host, Loan, Offer, Product, Setup};
use super::{advised, figures, inserted, only, synced};

async fn hosts(db: &Db, setups: i32) {
    synced(db, models![Host, Setup]).await;
    let host = |id| Host {
        id,
        name: format!("host {id}"),
    };
    let setup = |id| Setup {
        id,
        host: Ref::from(id),
        memory: 8,
    };
    db.collection()
        .insert_many((0..150).map(host))
        .await
        .unwrap();
    db.collection()
        .insert_many((0..setups).map(setup))
        .await
        .unwrap();
}

pub(super) async fn documents_that_always_have_one_other_are_found(db: &Db) {
    hosts(db, 148).await;
    let report = advised(db, models![Host, Setup]).await;
    let advice = only(&report, AdviceCode::StoredApart);
    assert_eq!(advice.model, Some("Host"));
    let found = figures(advice, ["documents", "with_one", "percent"]);
    assert_eq!(found, [150, 148, 98]);
    assert!(advice.remedy.contains("embed `Setup`"), "{}", advice.remedy);
}

pub(super) async fn documents_that_seldom_have_one_other_are_not(db: &Db) {
    hosts(db, 110).await;
    let report = advised(db, models![Host, Setup]).await;
    assert!(report.is_empty(), "{report}");
}

pub(super) async fn references_to_documents_of_their_own_are_found(db: &Db) {
    synced(db, models![Product, Offer]).await;
    let product = |id| Product { id, price: id };
    let products = db.collection::<Product>();
    products.insert_many((0..120).map(product)).await.unwrap();
    let offer = |id| Offer {
        id,
        product: Ref::from(id),
        price: id,
    };
    // Written past odm, which would fill the copies.
    let offers: Vec<_> = (0..120)
        .map(|id| odm::bson::serialize_to_document(&offer(id)).unwrap())
        .collect();
    inserted(db, "offers", offers).await;
    let report = advised(db, models![Product, Offer]).await;
    let advice = only(&report, AdviceCode::StoredApart);
    assert_eq!(advice.model, Some("Offer"));
    assert_eq!(advice.path.as_deref(), Some("product"));
    assert_eq!(
        figures(advice, ["documents", "with_one", "copies"]),
        [120, 120, 1]
    );
    // Two offers of one product.
    inserted(
        db,
        "offers",
        vec![doc! {"_id": 200, "product": 7, "price": 7}],
    )
    .await;
    let report = advised(db, models![Product, Offer]).await;
    assert!(report.is_empty(), "{report}");
}

pub(super) async fn authors(db: &Db, books_of: impl Fn(i32) -> i32) {
    synced(db, models![Author, Book]).await;
    let author = |id| Author {
        id,
        name: format!("author {id}"),
    };
    db.collection()
        .insert_many((0..150).map(author))
        .await
        .unwrap();
    let books = (0..150).flat_map(|author| {
        (0..books_of(author)).map(move |number| Book {
            id: author * 1_000 + number,
            author: Ref::from(author),
            title: format!("book {number}"),
        })
    });
    let books: Vec<_> = books.collect();
    db.collection().insert_many(books).await.unwrap();
}

pub(super) async fn few_documents_are_found(db: &Db) {
    authors(db, |author| author % 5).await;
    let report = advised(db, models![Author, Book]).await;
    let advice = only(&report, AdviceCode::FewEnoughToEmbed);
    assert_eq!(advice.model, Some("Author"));
    let found = figures(
        advice,
        ["documents", "with_some", "p50", "p90", "p99", "max"],
    );
    assert_eq!(found, [150, 120, 2, 4, 4, 4]);
    assert!(
        advice.message.contains("`Book` (`books`)"),
        "{}",
        advice.message
    );
}

pub(super) async fn many_documents_are_not(db: &Db) {
    authors(db, |author| if author % 10 == 0 { 40 } else { 2 }).await;
    let report = advised(db, models![Author, Book]).await;
    assert!(report.is_empty(), "{report}");
}

pub(super) async fn documents_that_others_refer_to_are_not(db: &Db) {
    authors(db, |author| author % 5).await;
    inserted(db, "loans", vec![doc! {"_id": 1, "book": 4_001}]).await;
    let report = advised(db, models![Author, Book, Loan]).await;
    assert!(report.is_empty(), "{report}");
}

pub(super) async fn relations_without_an_index_are_not_examined(db: &Db) {
    let documents = |field: &str| (0..150).map(|id| doc! {"_id": id, field: id}).collect();
    inserted(db, "countries", documents("n")).await;
    inserted(db, "cities", documents("country")).await;
    let report = advised(db, models![Country, City]).await;
    assert!(report.is_empty(), "{report}");
    let expected = "the relation `cities` of Country (`countries`): no index of `City` starts with `country`, and a count would \
                    read the whole collection";
    assert_eq!(report.not_examined, [expected]);
    // The copies of all documents need no index, and those of a sample do.
    inserted(db, "products", documents("price")).await;
    inserted(db, "offers", documents("product")).await;
    let offers = |sample| db.advise(models![Offer, Product]).sample(sample);
    only(&offers(150).await.unwrap(), AdviceCode::StoredApart);
    let report = offers(130).await.unwrap();
    assert!(report.is_empty(), "{report}");
    let reason = "the relation `product` of Offer (`offers`): no index";
    assert!(report.not_examined[0].starts_with(reason), "{report}");
}
