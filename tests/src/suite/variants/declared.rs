//! The validator and the indexes of an enum, and how queries use them.

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use super::{Author, Book, Film, Medium, book, create, fill, film};
use crate::case::cases;

cases![
    indexes_of_variants_are_partial,
    unique_indexes_hold_among_one_variant,
    finds_of_a_variant_use_its_indexes,
    the_validator_has_a_branch_for_each_variant,
    a_plan_names_the_enum,
    a_plan_follows_changes_of_variants,
];

async fn indexes_of_variants_are_partial(db: &Db) {
    create(db).await;
    let declared = odm::schema::indexes(Medium::model()).unwrap();
    assert_eq!(
        declared,
        [
            doc! {
                "key": {"label": 1}, "name": "label_1_soundRecording",
                "partialFilterExpression": {"kind": "soundRecording"},
            },
            doc! {"key": {"title": 1}, "name": "title_1"},
            doc! {
                "key": {"isbn": 1}, "name": "isbn_1_book", "unique": true,
                "partialFilterExpression": {"kind": "book"},
            },
            doc! {
                "key": {"author": 1}, "name": "author_1_book",
                "partialFilterExpression": {"kind": "book"},
            },
            doc! {
                "key": {"isbn": 1}, "name": "isbn_1_film", "unique": true,
                "partialFilterExpression": {"kind": "film", "isbn": {"$exists": true}},
            },
        ]
    );
    let stored = db
        .run_command(doc! {"listIndexes": "media"})
        .all()
        .await
        .unwrap();
    let mut names: Vec<_> = stored
        .iter()
        .map(|it| it.get_str("name").unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "_id_",
            "author_1_book",
            "isbn_1_book",
            "isbn_1_film",
            "label_1_soundRecording",
            "title_1"
        ]
    );
    // Nothing is left to do.
    let again = db.sync(models![Medium]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
}

async fn unique_indexes_hold_among_one_variant(db: &Db) {
    fill(db).await;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    let twice = Book {
        isbn: "isbn-1".to_owned(),
        ..book(4, "Four", 4)
    };
    assert!(
        books
            .insert_one(&twice)
            .await
            .unwrap_err()
            .is_duplicate_key()
    );
    // A film may have the number of a book, and many films have none.
    let of_book = Film {
        isbn: Some("isbn-1".to_owned()),
        ..film(13, "Thirteen", 1)
    };
    films.insert_one(&of_book).await.unwrap();
    let again = Film { id: 14, ..of_book };
    assert!(
        films
            .insert_one(&again)
            .await
            .unwrap_err()
            .is_duplicate_key()
    );
    let through_the_enum = db.collection::<Medium>().insert_one(Medium::Film(again));
    assert!(through_the_enum.await.unwrap_err().is_duplicate_key());
}

async fn finds_of_a_variant_use_its_indexes(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    let index = |explain: odm::collection::Explain| {
        let mut names: Vec<_> = explain.indexes.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let by_isbn = books.find(|b| b.isbn.eq("isbn-1")).explain().await.unwrap();
    assert_eq!(index(by_isbn), ["isbn_1_book"]);
    let by_author = books
        .find(|b| b.author.eq(Ref::from("austen")))
        .explain()
        .await
        .unwrap();
    assert_eq!(index(by_author), ["author_1_book"]);
    let update = books
        .update_many(|b| b.author.eq(Ref::from("austen")), |b| b.pages.inc(1))
        .explain()
        .await
        .unwrap();
    assert_eq!(index(update), ["author_1_book"]);
    // The whole collection has no index of `isbn`.
    let media = db.collection::<Medium>();
    let all = media
        .find(|m| m.book.isbn.eq("isbn-1"))
        .explain()
        .await
        .unwrap();
    assert!(index(all).is_empty());
    let tagged = media.find(|m| m.book.isbn.eq("isbn-1") & m.tag.eq("book"));
    assert_eq!(index(tagged.explain().await.unwrap()), ["isbn_1_book"]);
    let by_id = books.find(|b| b.id.eq(1)).explain().await.unwrap();
    assert_eq!(index(by_id), ["_id_"]);
}

/// The code of the error of an insert, if MongoDB refuses it.
pub(super) async fn refusal(db: &Db, collection: &str, document: BsonDocument) -> Option<i32> {
    let insert = doc! {"insert": collection, "documents": [document]};
    let reply = db.run_command(insert).await.unwrap();
    let errors = reply.get_array("writeErrors").ok()?;
    errors[0].as_document()?.get_i32("code").ok()
}

async fn the_validator_has_a_branch_for_each_variant(db: &Db) {
    create(db).await;
    let film = doc! {"_id": 1, "kind": "film", "title": "T", "minutes": 90, "based_on": null};
    let refused = [
        // Each variant requires its own fields.
        doc! {"_id": 2, "kind": "book", "title": "T", "minutes": 90},
        doc! {"_id": 3, "kind": "film", "title": "T"},
        doc! {"_id": 4, "kind": "film", "title": "T", "minutes": 0},
        doc! {"_id": "text", "kind": "film", "title": "T", "minutes": 1},
        // Unknown variants, and documents without a tag.
        doc! {"_id": 5, "kind": "game", "title": "T", "minutes": 90},
        doc! {"_id": 6, "title": "T", "minutes": 90},
        doc! {"_id": 7, "kind": null, "title": "T", "minutes": 90},
        // The rule of books.
        doc! {"_id": 8, "kind": "book", "title": "T", "isbn": "8", "author": "a", "pages": 0},
    ];
    let accepted = [
        film,
        doc! {"_id": 9, "kind": "book", "title": "T", "isbn": "9", "author": "a", "pages": 1},
        doc! {"_id": 10, "kind": "soundRecording", "title": "T", "label": "L"},
        // A field that another variant has a rule for.
        doc! {"_id": 11, "kind": "soundRecording", "title": "T", "label": "L", "pages": 0, "minutes": 0},
    ];
    for document in refused {
        let code = refusal(db, "media", document.clone()).await;
        assert_eq!(code, Some(121), "{document}");
    }
    for document in accepted {
        assert_eq!(
            refusal(db, "media", document.clone()).await,
            None,
            "{document}"
        );
    }
    let error = db
        .collection::<Book>()
        .insert_one(book(20, "No pages", 0))
        .await
        .unwrap_err();
    let failure = error.validation_failure().expect("a rule is broken");
    let is_rule = |it: &odm::Violation| it.rule == "a book has pages";
    assert!(failure.violations().iter().all(is_rule), "{error}");
    let is_of_pages = |it: &odm::Violation| it.path == "pages";
    assert!(failure.violations().iter().any(is_of_pages), "{error}");
}

async fn a_plan_names_the_enum(db: &Db) {
    let alone = db.sync(models![Author, Book]).plan().await.unwrap_err();
    assert!(alone.is_declaration());
    assert!(alone.to_string().contains("list `Medium`"), "{alone}");
    let plan = db.sync(models![Book, Medium, Film]).plan().await.unwrap();
    assert_eq!(plan.steps().len(), 2, "{plan}");
    assert!(plan.to_string().contains("isbn_1_book"), "{plan}");
}

/// The collection as an older version of the program declared it, with films of its own.
#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "media")]
struct OldFilm {
    #[serde(rename = "_id")]
    id: i32,
    kind: String,
    title: String,
    #[odm(unique)]
    isbn: String,
}

async fn a_plan_follows_changes_of_variants(db: &Db) {
    let old = db.sync(models![OldFilm]).plan().await.unwrap();
    old.apply(Allow::CREATE).await.unwrap();
    let plan = db.sync(models![Medium]).plan().await.unwrap();
    plan.apply(Allow::CREATE | Allow::CHANGE | Allow::DROP)
        .await
        .unwrap();
    let again = db.sync(models![Medium]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    let stored = db
        .run_command(doc! {"listIndexes": "media"})
        .all()
        .await
        .unwrap();
    assert!(
        stored
            .iter()
            .all(|it| it.get_str("name").unwrap() != "isbn_1"),
        "{stored:?}"
    );
}
