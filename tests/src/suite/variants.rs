//! Several models in one collection: an enum, and the structs of its variants.

mod changes;
mod declared;
mod relations;
mod strangers;
mod tools;

use std::collections::BTreeMap;

use odm::bson::doc;
use odm::prelude::*;

use crate::case::{Case, cases};

cases![
    each_model_reads_its_own_documents,
    the_enum_reads_all_documents,
    documents_are_stored_with_their_tag,
    every_read_of_a_variant_has_the_tag,
    pipelines_read_one_variant,
    pages_of_one_variant,
];

/// The cases of all parts.
pub(super) fn all() -> Vec<Case> {
    [
        CASES,
        changes::CASES,
        declared::CASES,
        relations::CASES,
        strangers::CASES,
        tools::CASES,
    ]
    .concat()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: String,
    born: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "media", index(book.title), has_many(reviews: Review, by = medium))]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Medium {
    Book(Book),
    Film(Film),
    SoundRecording {
        #[serde(rename = "_id")]
        id: i32,
        title: String,
        #[odm(index)]
        label: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    variant_of = Medium,
    has_many(praise: Praise, by = book),
    rule("a book has pages", |b| b.pages.gt(0)),
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(unique)]
    isbn: String,
    #[odm(index)]
    author: Ref<Author>,
    pages: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(unique(partial = |f| f.isbn.exists(true)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    isbn: Option<String>,
    #[odm(range(min = 1))]
    minutes: i32,
    based_on: Option<Ref<Book>>,
}

/// A review of any medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    medium: Ref<Medium>,
    stars: i32,
}

/// Praise of a book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "praise")]
struct Praise {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    book: Ref<Book>,
}

/// A part of a book.
#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Book)]
struct Titled {
    title: String,
}

fn book(id: i32, title: &str, pages: i32) -> Book {
    Book {
        id,
        title: title.to_owned(),
        isbn: format!("isbn-{id}"),
        author: Ref::from("austen"),
        pages,
    }
}

fn film(id: i32, title: &str, minutes: i32) -> Film {
    Film {
        id,
        title: title.to_owned(),
        isbn: None,
        minutes,
        based_on: None,
    }
}

fn recording(id: i32, title: &str) -> Medium {
    Medium::SoundRecording {
        id,
        title: title.to_owned(),
        label: "Decca".to_owned(),
    }
}

/// Creates the collections.
async fn create(db: &Db) {
    let plan = db
        .sync(models![Author, Medium, Book, Film, Review, Praise])
        .plan();
    let plan = plan.await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

/// Books 1 to 3, films 11 and 12, recording 21.
async fn fill(db: &Db) {
    create(db).await;
    let austen = Author {
        id: "austen".to_owned(),
        born: 1775,
    };
    db.collection::<Author>().insert_one(&austen).await.unwrap();
    let books = db.collection::<Book>();
    books
        .insert_many([
            book(1, "Emma", 474),
            book(2, "Persuasion", 249),
            book(3, "Sanditon", 80),
        ])
        .await
        .unwrap();
    let films = db.collection::<Film>();
    films.insert_one(film(11, "Emma", 124)).await.unwrap();
    let media = db.collection::<Medium>();
    let second = Film {
        based_on: Some(Ref::from(2)),
        ..film(12, "Persuasion", 107)
    };
    media.insert_one(Medium::Film(second)).await.unwrap();
    media.insert_one(recording(21, "Emma")).await.unwrap();
}

fn ids(books: &[Book]) -> Vec<i32> {
    books.iter().map(|book| book.id).collect()
}

async fn each_model_reads_its_own_documents(db: &Db) {
    fill(db).await;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    let all = books.find_all().sort(|b| b.id.desc()).all().await.unwrap();
    assert_eq!(ids(&all), [3, 2, 1]);
    assert_eq!(all[2], book(1, "Emma", 474));
    // The other variants have the title, too.
    let emma = books.find(|b| b.title.eq("Emma")).all().await.unwrap();
    assert_eq!(ids(&emma), [1]);
    let one = films.find_one(|f| f.title.eq("Emma")).await.unwrap();
    assert_eq!(one, Some(film(11, "Emma", 124)));
    // A disjunction does not reach past the variant.
    let either = books
        .find(|b| b.title.eq("Emma") | b.pages.lt(100))
        .sort(|b| b.id.asc());
    assert_eq!(ids(&either.all().await.unwrap()), [1, 3]);
    let none = books.find(|b| !b.title.eq("Emma")).sort(|b| b.id.asc());
    assert_eq!(ids(&none.all().await.unwrap()), [2, 3]);
    // The ids are those of the whole collection.
    assert_eq!(books.get(&1).await.unwrap().unwrap().pages, 474);
    assert_eq!(books.get(&11).await.unwrap(), None);
    assert_eq!(films.get(&1).await.unwrap(), None);
    let of_media = db.collection::<Medium>().variant::<Book>();
    assert_eq!(
        of_media.count_documents(|_| Filter::all()).await.unwrap(),
        3
    );
}

async fn the_enum_reads_all_documents(db: &Db) {
    fill(db).await;
    let media = db.collection::<Medium>();
    let all = media.find_all().sort(|m| m.id.asc()).all().await.unwrap();
    let kinds: Vec<_> = all
        .iter()
        .map(|medium| match medium {
            Medium::Book(book) => ("book", book.id),
            Medium::Film(film) => ("film", film.id),
            Medium::SoundRecording { id, .. } => ("recording", *id),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("book", 1),
            ("book", 2),
            ("book", 3),
            ("film", 11),
            ("film", 12),
            ("recording", 21)
        ]
    );
    // A path of one variant matches the other variants that have a field of this name.
    let emmas = media.find(|m| m.book.title.eq("Emma")).sort(|m| m.id.asc());
    let emmas: Vec<i32> = emmas
        .all()
        .await
        .unwrap()
        .iter()
        .map(|it| *it.id())
        .collect();
    assert_eq!(emmas, [1, 11, 21]);
    let books = media.find(|m| m.book.title.eq("Emma") & m.tag.eq("book"));
    assert_eq!(
        books.all().await.unwrap(),
        [Medium::Book(book(1, "Emma", 474))]
    );
    let decca = media.find(|m| m.sound_recording.label.eq("Decca"));
    assert_eq!(decca.all().await.unwrap(), [recording(21, "Emma")]);
    assert_eq!(media.get(&21).await.unwrap(), Some(recording(21, "Emma")));
    let mut kinds = media.distinct(|m| m.tag, |_| Filter::all()).await.unwrap();
    kinds.sort();
    assert_eq!(kinds, ["book", "film", "soundRecording"]);
}

async fn documents_are_stored_with_their_tag(db: &Db) {
    fill(db).await;
    let find = doc! {"find": "media", "filter": {"_id": {"$in": [1, 12]}}, "sort": {"_id": 1}};
    let raw = db.run_command(find).all().await.unwrap();
    let [book, film] = raw.as_slice() else {
        panic!("{raw:?}")
    };
    assert_eq!(
        book.clone().into_iter().collect::<BTreeMap<_, _>>(),
        doc! {
            "_id": 1, "kind": "book", "title": "Emma", "isbn": "isbn-1", "author": "austen", "pages": 474,
        }
        .into_iter()
        .collect()
    );
    assert_eq!(
        film.clone().into_iter().collect::<BTreeMap<_, _>>(),
        doc! {"_id": 12, "kind": "film", "title": "Persuasion", "minutes": 107, "based_on": 2}
            .into_iter()
            .collect()
    );
}

async fn every_read_of_a_variant_has_the_tag(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    assert_eq!(books.estimated_document_count().await.unwrap(), 3);
    assert_eq!(
        books.count_documents(|b| b.title.eq("Emma")).await.unwrap(),
        1
    );
    assert!(!books.find(|b| b.id.eq(11)).exists().await.unwrap());
    let mut titles = books
        .distinct(|b| b.title, |_| Filter::all())
        .await
        .unwrap();
    titles.sort();
    assert_eq!(titles, ["Emma", "Persuasion", "Sanditon"]);
    let loaded = books.find_all().sort(|b| b.id.asc()).load().await.unwrap();
    assert_eq!(loaded.len(), 3);
    let streamed = books.find_all().batch_size(2).await.unwrap().all().await;
    assert_eq!(streamed.unwrap().len(), 3);
    let titled = books.find_all().select::<Titled>().sort(|b| b.id.desc());
    assert_eq!(titled.first().await.unwrap().unwrap().title, "Sanditon");
    let command = books.find(|b| b.title.eq("Emma")).command().unwrap();
    assert_eq!(
        command,
        doc! {"find": "media", "filter": {"title": "Emma", "kind": "book"}}
    );
}

async fn pipelines_read_one_variant(db: &Db) {
    fill(db).await;
    let books = db.collection::<Book>();
    let count = |stages| {
        let books = books.clone();
        async move {
            let found = books.aggregate(stages).with_type::<odm::bson::Document>();
            found.await.unwrap().all().await.unwrap()
        }
    };
    let group = doc! {"$group": {"_id": null, "n": {"$sum": 1}, "pages": {"$sum": "$pages"}}};
    assert_eq!(
        count(vec![group.clone()]).await,
        [doc! {"_id": null, "n": 3, "pages": 803}]
    );
    let emma = doc! {"$match": {"title": "Emma"}};
    assert_eq!(
        count(vec![emma, group]).await,
        [doc! {"_id": null, "n": 1, "pages": 474}]
    );
    // A filter of the tag can't reach the documents of another variant.
    let films = doc! {"$match": {"kind": "film"}};
    assert!(count(vec![films]).await.is_empty());
}

async fn pages_of_one_variant(db: &Db) {
    create(db).await;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    for id in 1..=5 {
        books.insert_one(book(id, "A", 10 * id)).await.unwrap();
        films.insert_one(film(10 + id, "A", id)).await.unwrap();
    }
    let mut read: Vec<Book> = Vec::new();
    loop {
        let find = books
            .find_all()
            .sort(|b| b.title.asc().then(b.id.asc()))
            .limit(2);
        let page = find.after(read.last()).all().await.unwrap();
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    assert_eq!(ids(&read), [1, 2, 3, 4, 5]);
}
