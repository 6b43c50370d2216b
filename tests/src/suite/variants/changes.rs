//! Writes of one variant, and of all.

use odm::bson::doc;
use odm::prelude::*;
use odm::query::raw;

use super::super::relations::watched;
use super::{Book, Film, Medium, book, create, fill, film, recording};
use crate::case::cases;

cases![
    updates_reach_one_variant,
    deletes_reach_one_variant,
    replacements_keep_the_variant,
    saves_keep_the_variant,
    upserts_insert_the_variant,
    bulk_writes_reach_one_variant,
    the_tag_is_not_changed_by_a_variant,
    the_enum_replaces_one_variant_by_another,
    found_or_inserted_documents_have_the_tag,
    writers_of_variants_do_not_meet,
    transactions_of_a_variant,
];

/// The kinds and titles of all documents, by id.
async fn stored(db: &Db) -> Vec<(i32, String, String)> {
    let find = doc! {"find": "media", "sort": {"_id": 1}};
    let raw = db.run_command(find).all().await.unwrap();
    let text = |document: &odm::bson::Document, name| document.get_str(name).unwrap().to_owned();
    raw.iter()
        .map(|one| {
            let id = one.get_i32("_id").unwrap();
            (id, text(one, "kind"), text(one, "title"))
        })
        .collect()
}

fn row(id: i32, kind: &str, title: &str) -> (i32, String, String) {
    (id, kind.to_owned(), title.to_owned())
}

async fn updates_reach_one_variant(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    let all = books.update_all(|b| b.title.set("B")).await.unwrap();
    assert_eq!((all.matched, all.modified), (3, 3));
    let films = db.collection::<Film>();
    let one = films.update_one(|f| f.title.eq("Emma"), |f| f.title.set("F"));
    assert_eq!(one.await.unwrap().modified, 1);
    // The id is that of a book.
    let other = films.update_one(|f| f.id.eq(1), |f| f.title.set("X"));
    assert_eq!(other.await.unwrap().matched, 0);
    let many = films.update_many(|f| f.id.eq(1) | f.id.eq(12), |f| f.minutes.inc(1));
    assert_eq!(many.await.unwrap().matched, 1);
    let by_pipeline = books.update_one(
        |b| b.id.eq(2),
        |_| {
            Update::pipeline([doc! {"$replaceWith": {"$mergeObjects": [
                "$$ROOT", {"title": "P", "kind": "film"},
            ]}}])
        },
    );
    by_pipeline.await.unwrap();
    assert_eq!(
        stored(db).await,
        [
            row(1, "book", "B"),
            row(2, "book", "P"),
            row(3, "book", "B"),
            row(11, "film", "F"),
            row(12, "film", "Persuasion"),
            row(21, "soundRecording", "Emma"),
        ]
    );
    let before = books.find_one_and_update(|b| b.title.eq("P"), |b| b.pages.inc(1));
    assert_eq!(before.await.unwrap().unwrap().pages, 249);
    let none = films.find_one_and_update(|f| f.title.eq("P"), |f| f.minutes.inc(1));
    assert_eq!(none.await.unwrap(), None);
}

async fn deletes_reach_one_variant(db: &Db) {
    fill(db).await;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    let one = books.delete_one(|b| b.title.eq("Emma")).await.unwrap();
    assert_eq!(one.deleted, 1);
    assert_eq!(
        books
            .delete_one(|b| b.title.eq("Emma"))
            .await
            .unwrap()
            .deleted,
        0
    );
    let deleted = films
        .find_one_and_delete(|f| f.title.eq("Emma"))
        .await
        .unwrap();
    assert_eq!(deleted, Some(film(11, "Emma", 124)));
    assert_eq!(books.delete_all().await.unwrap().deleted, 2);
    assert_eq!(
        stored(db).await,
        [
            row(12, "film", "Persuasion"),
            row(21, "soundRecording", "Emma")
        ]
    );
    let refusal = books.drop().await.unwrap_err();
    assert!(
        refusal.to_string().contains("all variants of `Medium`"),
        "{refusal}"
    );
    assert_eq!(stored(db).await.len(), 2);
    let media = db.collection::<Medium>();
    assert_eq!(
        media
            .delete_many(|m| m.tag.eq("film"))
            .await
            .unwrap()
            .deleted,
        1
    );
}

async fn replacements_keep_the_variant(db: &Db) {
    fill(db).await;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    let new = book(1, "New", 10);
    let replaced = books.replace_one(|b| b.id.eq(1), &new).await.unwrap();
    assert_eq!(replaced.modified, 1);
    assert_eq!(books.get(&1).await.unwrap(), Some(new));
    // A film can't take the place of a book.
    let other = films
        .replace_one(|f| f.id.eq(1), film(1, "X", 1))
        .await
        .unwrap();
    assert_eq!(other.matched, 0);
    let before = books.find_one_and_replace(|b| b.id.eq(2), book(2, "Newer", 11));
    assert_eq!(before.await.unwrap().unwrap().title, "Persuasion");
    let upserted = films
        .replace_one(|f| f.id.eq(13), film(13, "Thirteen", 13))
        .upsert(true);
    assert_eq!(upserted.await.unwrap().upserted_id, Some(13));
    let stored = stored(db).await;
    assert_eq!(stored[0], row(1, "book", "New"));
    assert_eq!(stored[1], row(2, "book", "Newer"));
    assert_eq!(stored[5], row(13, "film", "Thirteen"));
}

async fn saves_keep_the_variant(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    assert!(books.load(&11).await.unwrap().is_none());
    let mut emma = books.load(&1).await.unwrap().unwrap();
    assert!(books.save(&mut emma).command().unwrap().is_none());
    emma.pages = 500;
    let command = books.save(&mut emma).command().unwrap().unwrap();
    let update = command.get_array("updates").unwrap()[0]
        .as_document()
        .unwrap();
    assert_eq!(
        update.get_document("q").unwrap(),
        &doc! {"_id": 1, "kind": "book"}
    );
    assert_eq!(
        update.get_document("u").unwrap(),
        &doc! {"$set": {"pages": 500}}
    );
    assert!(books.save(&mut emma).await.unwrap());
    // Somebody makes another variant of it.
    let media = db.collection::<Medium>();
    let replaced = media.replace_one(|m| m.id.eq(1), Medium::Film(film(1, "Emma", 3)));
    assert_eq!(replaced.await.unwrap().modified, 1);
    emma.pages = 501;
    assert!(books.save(&mut emma).await.unwrap_err().is_stale());
    // A save through the enum changes the variant, with the fields that the old one had.
    let mut medium = media.load(&1).await.unwrap().unwrap();
    *medium = Medium::Book(book(1, "Emma again", 7));
    assert!(media.save(&mut medium).await.unwrap());
    assert_eq!(books.get(&1).await.unwrap(), Some(book(1, "Emma again", 7)));
    let find = doc! {"find": "media", "filter": {"_id": 1}};
    let raw = db.run_command(find).all().await.unwrap();
    assert!(!raw[0].contains_key("minutes"), "{raw:?}");
}

async fn upserts_insert_the_variant(db: &Db) {
    create(db).await;
    let books = db.collection::<Book>();
    let upsert = |id: i32| {
        let books = books.clone();
        async move {
            let upsert = books.update_one(
                |b| b.id.eq(id) & (b.title.eq("T") | b.title.eq("U")),
                |b| {
                    b.title.set("T")
                        & b.isbn.set(format!("i{id}"))
                        & b.author.set(Ref::from("austen"))
                        & b.pages.set(1)
                },
            );
            upsert.upsert(true).await.unwrap()
        }
    };
    assert_eq!(upsert(1).await.upserted_id, Some(1));
    assert_eq!(upsert(1).await.upserted_id, None);
    assert_eq!(stored(db).await, [row(1, "book", "T")]);
    // The id belongs to another variant: the upsert finds none, and can't insert a second document.
    let media = db.collection::<Medium>();
    media.insert_one(recording(9, "R")).await.unwrap();
    let taken = books
        .update_one(|b| b.id.eq(9), |b| b.pages.set(1) & b.title.set("T"))
        .upsert(true);
    assert!(taken.await.is_err());
    assert_eq!(stored(db).await.len(), 2);
}

async fn bulk_writes_reach_one_variant(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    let written = books
        .bulk_write(|w| {
            [
                w.insert_one(book(4, "Four", 4)),
                w.update_one(|b| b.title.eq("Emma"), |b| b.pages.set(1)),
                w.update_many(|b| b.title.ne("Emma"), |b| b.title.set("Other")),
                w.replace_one(|b| b.id.eq(3), book(3, "Three", 3)),
                w.replace_one(|b| b.id.eq(12), book(12, "Film", 3)),
                w.delete_one(|b| b.id.eq(2)),
                w.delete_many(|b| b.id.eq(11)),
            ]
        })
        .await
        .unwrap();
    assert_eq!(
        (written.inserted, written.matched, written.deleted),
        (1, 5, 1)
    );
    assert_eq!(
        stored(db).await,
        [
            row(1, "book", "Emma"),
            row(3, "book", "Three"),
            row(4, "book", "Other"),
            row(11, "film", "Emma"),
            row(12, "film", "Persuasion"),
            row(21, "soundRecording", "Emma"),
        ]
    );
}

async fn the_tag_is_not_changed_by_a_variant(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    for change in [
        doc! {"$set": {"kind": "film"}},
        doc! {"$unset": {"kind": ""}},
        doc! {"$rename": {"title": "kind"}},
        doc! {"$rename": {"kind": "old"}},
        doc! {"$set": {"kind.of": "film"}},
    ] {
        let refused = books.update_one(|b| b.id.eq(1), |_| raw(change.clone()));
        let refused = refused.await.unwrap_err().to_string();
        assert!(
            refused.contains("`kind` says which variant of `Medium`"),
            "{refused}"
        );
    }
    assert_eq!(stored(db).await[0], row(1, "book", "Emma"));
    // A raw filter of the tag can't widen the find.
    let films = books.find(|_| raw(doc! {"kind": "film"})).all().await;
    assert!(films.unwrap().is_empty());
    // Through the enum, the validator takes only what the variant can be.
    let media = db.collection::<Medium>();
    let refused = media
        .update_one(|m| m.id.eq(1), |m| m.tag.set("film"))
        .await;
    assert!(refused.unwrap_err().is_validation_failure());
    let refused = media
        .update_one(|m| m.id.eq(1), |m| m.tag.set("game"))
        .await;
    assert!(refused.unwrap_err().is_validation_failure());
}

async fn the_enum_replaces_one_variant_by_another(db: &Db) {
    fill(db).await;
    let media = db.collection::<Medium>();
    let replaced = media.replace_one(|m| m.id.eq(1), recording(1, "Emma"));
    assert_eq!(replaced.await.unwrap().modified, 1);
    assert_eq!(db.collection::<Book>().get(&1).await.unwrap(), None);
    assert_eq!(media.get(&1).await.unwrap(), Some(recording(1, "Emma")));
    let updated = media.update_one(|m| m.id.eq(1), |m| m.sound_recording.label.set("EMI"));
    assert_eq!(updated.await.unwrap().modified, 1);
    let invalid = Medium::Film(film(30, "Short", 0));
    assert!(
        media
            .insert_one(&invalid)
            .await
            .unwrap_err()
            .is_validation_failure()
    );
    assert!(invalid.validate().is_err());
    let valid = Medium::Film(film(30, "Long", 1));
    assert!(valid.validate().is_ok());
}

async fn found_or_inserted_documents_have_the_tag(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    let new = book(7, "Seven", 7);
    let other = Book {
        isbn: new.isbn.clone(),
        ..book(8, "Eight", 8)
    };
    let found = books
        .find_one_or_insert(|b| b.isbn.eq("isbn-7"), &new)
        .await
        .unwrap();
    assert_eq!(&found.document, &new);
    let again = books
        .find_one_or_insert(|b| b.isbn.eq("isbn-7"), &other)
        .await
        .unwrap();
    assert_eq!(&again.document, &new);
    assert_eq!(stored(db).await[3], row(7, "book", "Seven"));
}

async fn writers_of_variants_do_not_meet(db: &Db) {
    fill(db).await;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    let turn = |turn: i32| {
        let (books, films) = (books.clone(), films.clone());
        async move {
            let book = books.update_many(|b| b.title.eq("Emma"), |b| b.pages.inc(1));
            let film = films.update_many(|f| f.title.eq("Emma"), |f| f.minutes.inc(turn));
            let (book, film) = tokio::join!(book.into_future(), film.into_future());
            (book.unwrap().modified, film.unwrap().modified)
        }
    };
    let turns = futures::future::join_all((1..=8).map(turn)).await;
    assert_eq!(turns, [(1, 1); 8]);
    assert_eq!(books.get(&1).await.unwrap().unwrap().pages, 482);
    assert_eq!(films.get(&11).await.unwrap().unwrap().minutes, 160);
}

async fn transactions_of_a_variant(db: &Db) {
    fill(db).await;
    let (watching, sent) = watched(db);
    let (books, films) = (watching.collection::<Book>(), watching.collection::<Film>());
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    books
        .insert_one(book(5, "Five", 5))
        .session(&mut session)
        .await
        .unwrap();
    let within = books
        .find_all()
        .sort(|b| b.id.asc())
        .session(&mut session)
        .all()
        .await;
    assert_eq!(within.unwrap().len(), 4);
    let film = films.get(&5).session(&mut session).await.unwrap();
    assert_eq!(film, None);
    session.abort_transaction().await.unwrap();
    assert_eq!(books.count_documents(|_| Filter::all()).await.unwrap(), 3);
    assert!(!sent.lock().unwrap().is_empty());
}
