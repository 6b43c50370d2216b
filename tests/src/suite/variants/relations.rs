//! Relations from variants and to them.

use odm::bson::doc;
use odm::check::FindingKind;
use odm::prelude::*;
use odm::relation::Resolved;

use super::{
    Author, AuthorJoined, Book, BookJoined, Film, FilmJoined, Medium, MediumJoined, Praise,
    PraiseJoined, Review, ReviewJoined, fill,
};
use crate::case::cases;

cases![
    a_variant_joins_what_it_refers_to,
    the_enum_joins_what_a_variant_refers_to,
    references_to_the_enum_lead_to_any_variant,
    references_to_a_variant_lead_to_no_other,
    inverse_relations_find_one_variant,
    finds_by_related_documents,
    dangling_references_of_variants_are_found,
];

async fn reviews(db: &Db) {
    let reviews = db.collection::<Review>();
    for (id, medium) in [(1, 1), (2, 12), (3, 21), (4, 12)] {
        let review = Review {
            id,
            medium: Ref::from(medium),
            stars: id,
        };
        reviews.insert_one(&review).await.unwrap();
    }
    let praise = db.collection::<Praise>();
    for (id, book) in [(1, 2), (2, 12)] {
        let one = Praise {
            id,
            book: Ref::from(book),
        };
        praise.insert_one(&one).await.unwrap();
    }
}

async fn a_variant_joins_what_it_refers_to(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    let rows = books
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.author)
        .all()
        .await
        .unwrap();
    let born: Vec<_> = rows
        .iter()
        .map(|row| (row.id, row.author().found().map(|it| it.born)))
        .collect();
    assert_eq!(born, [(1, Some(1775)), (2, Some(1775)), (3, Some(1775))]);
    let films = db.collection::<Film>();
    let row = films
        .get(&12)
        .join(|f| f.based_on.join(|b| b.author))
        .await
        .unwrap()
        .unwrap();
    let book = row.based_on().as_ref().and_then(Resolved::found).unwrap();
    assert_eq!(
        (book.pages, book.author().found().map(|it| it.born)),
        (249, Some(1775))
    );
}

async fn the_enum_joins_what_a_variant_refers_to(db: &Db) {
    fill(db).await;
    let media = db.collection::<Medium>();
    let find = media.find_all().sort(|m| m.id.asc());
    let rows = find.join(|m| m.book.author).all().await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                *row.id(),
                row.author().found().map(|author| author.id.as_str()),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (1, Some("austen")),
            (2, Some("austen")),
            (3, Some("austen")),
            (11, None),
            (12, None),
            (21, None)
        ]
    );
    assert!(rows[3].author().is_absent());
}

async fn references_to_the_enum_lead_to_any_variant(db: &Db) {
    fill(db).await;
    reviews(db).await;
    let rows = db
        .collection::<Review>()
        .find_all()
        .sort(|r| r.id.asc())
        .join(|r| r.medium)
        .all()
        .await
        .unwrap();
    let kinds: Vec<_> = rows
        .iter()
        .map(|row| match row.medium().found() {
            Some(Medium::Book(book)) => format!("book of {} pages", book.pages),
            Some(Medium::Film(film)) => format!("film of {} minutes", film.minutes),
            Some(Medium::SoundRecording { label, .. }) => label.clone(),
            None => "nothing".to_owned(),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "book of 474 pages",
            "film of 107 minutes",
            "Decca",
            "film of 107 minutes"
        ]
    );
    // A reference is made from a document of the enum, or from its id.
    let medium = db.collection::<Medium>().get(&1).await.unwrap().unwrap();
    assert_eq!(Ref::to(&medium), Ref::<Medium>::from(1));
}

async fn references_to_a_variant_lead_to_no_other(db: &Db) {
    fill(db).await;
    reviews(db).await;
    let praise = db.collection::<Praise>();
    let rows = praise
        .find_all()
        .sort(|p| p.id.asc())
        .join(|p| p.book)
        .all()
        .await
        .unwrap();
    assert_eq!(rows[0].book().found().map(|book| book.pages), Some(249));
    // The id is that of a film.
    assert!(rows[1].book().is_dangling());
    assert_eq!(rows[1].book().missing(), Some(&12));
}

async fn inverse_relations_find_one_variant(db: &Db) {
    fill(db).await;
    reviews(db).await;
    let authors = db.collection::<Author>();
    let row = authors
        .get("austen")
        .join(|a| a.books.sort(|b| b.id.asc()))
        .await
        .unwrap();
    let row = row.unwrap();
    let books: Vec<_> = row.books().iter().map(|book| book.pages).collect();
    assert_eq!(books, [474, 249, 80]);
    let first = authors
        .find_all()
        .join(|a| a.books.sort(|b| b.pages.asc()).limit(1))
        .all()
        .await
        .unwrap();
    assert_eq!(first[0].books().len(), 1);
    assert_eq!(first[0].books()[0].id, 3);
    let books = db.collection::<Book>();
    let rows = books
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.praise)
        .all()
        .await
        .unwrap();
    let praised: Vec<_> = rows.iter().map(|row| row.praise().len()).collect();
    assert_eq!(praised, [0, 1, 0]);
    let media = db.collection::<Medium>();
    let rows = media
        .find_all()
        .sort(|m| m.id.asc())
        .join(|m| m.reviews)
        .all()
        .await
        .unwrap();
    let reviewed: Vec<_> = rows
        .iter()
        .map(|row| (*row.id(), row.reviews().len()))
        .collect();
    assert_eq!(
        reviewed,
        [(1, 1), (2, 0), (3, 0), (11, 0), (12, 2), (21, 1)]
    );
}

async fn finds_by_related_documents(db: &Db) {
    fill(db).await;
    reviews(db).await;
    let authors = db.collection::<Author>();
    let found = authors
        .find_all()
        .where_any(|a| a.books, |b| b.pages.gt(400))
        .all()
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    let found = authors
        .find_all()
        .where_any(|a| a.books, |b| b.pages.gt(4_000))
        .all()
        .await
        .unwrap();
    assert!(found.is_empty());
    // The order looks up one book of each author.
    let sorted = authors
        .find_all()
        .order_by_related(|a| a.books, |b| b.pages.desc())
        .all()
        .await
        .unwrap();
    assert_eq!(sorted.len(), 1);
    let books = db.collection::<Book>();
    let sorted = books
        .find(|b| b.pages.gt(100))
        .order_by_related(|b| b.author, |a| a.born.asc())
        .sort(|b| b.id.desc())
        .all()
        .await
        .unwrap();
    assert_eq!(super::ids(&sorted), [2, 1]);
    let praised = books
        .find_all()
        .where_any(|b| b.praise, |p| p.id.gte(1))
        .all()
        .await
        .unwrap();
    assert_eq!(super::ids(&praised), [2]);
}

async fn dangling_references_of_variants_are_found(db: &Db) {
    fill(db).await;
    reviews(db).await;
    let models = || models![Author, Medium, Book, Film, Review, Praise];
    let report = db.check(models()).await.unwrap();
    let found: Vec<_> = report
        .listed
        .iter()
        .map(|it| (it.kind, it.model, it.path.as_str()))
        .collect();
    assert_eq!(found, [(FindingKind::DanglingReference, "Praise", "book")]);
    db.run_command(doc! {"delete": "authors", "deletes": [{"q": {}, "limit": 0}]})
        .await
        .unwrap();
    db.run_command(doc! {"update": "media", "updates": [
        {"q": {"_id": 12}, "u": {"$set": {"based_on": 11}}},
    ]})
    .await
    .unwrap();
    let report = db.check(models![Medium]).await.unwrap();
    let mut found: Vec<_> = report
        .listed
        .iter()
        .map(|it| (it.kind, it.path.as_str(), it.id.clone()))
        .collect();
    found.sort_by_key(|(_, path, id)| (path.to_string(), format!("{id:?}")));
    let dangling = |path, id: i32| (FindingKind::DanglingReference, path, Some(id.into()));
    assert_eq!(
        found,
        [
            dangling("author", 1),
            dangling("author", 2),
            dangling("author", 3),
            dangling("based_on", 12)
        ]
    );
    // A check of several models of the collection finds each of them once, and so does a check of one: it reads the collection.
    let both = db.check(models![Medium, Book, Film]).await.unwrap();
    assert_eq!(both.findings, 4, "{both}");
    let books = db.check(models![Book]).await.unwrap();
    assert_eq!(books.findings, 4, "{books}");
}
