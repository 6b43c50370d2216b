//! The verbs of every day: by id, pages, counts of a query, and documents that are loaded in other ways than by id.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use odm::bson::{Bson, Document as BsonDocument};
use odm::collection::{Loaded, PageToken};
use odm::prelude::*;
use odm::query::id;

use crate::case::cases;

cases![
    documents_are_changed_by_id,
    ids_that_look_like_operators_are_compared,
    filters_are_added_to_a_query,
    queries_are_counted_whatever_their_page,
    exists_reads_one_id,
    numbered_pages_have_an_order,
    pages_after_a_document_miss_and_repeat_none,
    pages_after_a_document_use_the_index,
    page_tokens_outlive_their_documents,
    page_tokens_of_other_queries_are_refused,
    pages_that_can_not_continue_are_refused,
    documents_are_loaded_by_filters,
    found_and_inserted_documents_are_saved,
    a_limit_of_zero_is_none,
    slices_of_text_are_values,
    generic_code_reaches_the_id,
    collections_are_named_by_constants,
    ids_are_owned_or_borrowed,
    a_ping_is_answered,
    the_first_result_of_a_pipeline_is_read,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(year = desc, id = desc))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stars: Option<f64>,
    tags: Vec<String>,
}

fn book(id: i32) -> Book {
    Book {
        id,
        title: format!("book {}", id % 7),
        year: 1900 + id % 5,
        stars: (id % 3 > 0).then(|| f64::from(id % 4)),
        tags: vec!["a".to_owned(), "b".to_owned()],
    }
}

async fn library(db: &Db, count: i32) -> Collection<Book> {
    let plan = db.sync(models![Book]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let books = db.collection::<Book>();
    // Not in the order of their ids.
    let all = (0..count).map(|n| book(n * 7 % count));
    books.insert_many(all.collect::<Vec<_>>()).await.unwrap();
    books
}

fn ids(books: &[Book]) -> Vec<i32> {
    books.iter().map(|book| book.id).collect()
}

async fn documents_are_changed_by_id(db: &Db) {
    let books = library(db, 3).await;
    let result = books.update_by_id(&1, |b| b.year.set(2000)).await.unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
    assert_eq!(books.get(&1).await.unwrap().unwrap().year, 2000);
    let none = books.update_by_id(&9, |b| b.year.set(2000)).await.unwrap();
    assert_eq!(none.matched, 0);
    let command = books.update_by_id(&1, |b| b.year.inc(1)).command().unwrap();
    let statement = command.get_array("updates").unwrap()[0].as_document();
    assert_eq!(
        statement.unwrap().get_document("q").unwrap(),
        &doc! {"_id": 1}
    );

    let other = Book { year: 1, ..book(2) };
    let result = books.replace_by_id(&2, &other).await.unwrap();
    assert_eq!(result.modified, 1);
    assert_eq!(books.get(&2).await.unwrap().unwrap(), other);
    let result = books.replace_by_id(&5, book(5)).upsert(true).await.unwrap();
    assert_eq!(result.upserted_id, Some(5));

    assert_eq!(books.delete_by_id(&5).await.unwrap().deleted, 1);
    assert_eq!(books.delete_by_id(&5).await.unwrap().deleted, 0);
    assert_eq!(books.find_all().count().await.unwrap(), 3);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "odd")]
struct Odd {
    #[serde(rename = "_id")]
    id: Bson,
    n: i32,
}

async fn ids_that_look_like_operators_are_compared(db: &Db) {
    let odd = db.collection::<Odd>();
    let own = Bson::Document(doc! {"a": 1});
    odd.insert_one(&Odd {
        id: own.clone(),
        n: 0,
    })
    .await
    .unwrap();
    let operator = Bson::Document(doc! {"$gte": Bson::MinKey});
    let none = odd.update_by_id(&operator, |o| o.n.inc(1)).await.unwrap();
    assert_eq!(none.matched, 0);
    assert_eq!(odd.delete_by_id(&operator).await.unwrap().deleted, 0);
    let one = odd.update_by_id(&own, |o| o.n.inc(1)).await.unwrap();
    assert_eq!(one.modified, 1);
    assert_eq!(odd.delete_by_id(&own).await.unwrap().deleted, 1);
}

async fn filters_are_added_to_a_query(db: &Db) {
    let books = library(db, 40).await;
    let found = books.find(|b| b.year.eq(1901) | b.year.eq(1902));
    let found = found.filter(|b| b.id.lt(12)).filter(|b| b.year.gt(0));
    let found = found.sort(|b| b.id.asc()).all().await.unwrap();
    assert_eq!(ids(&found), [1, 2, 6, 7, 11]);
    let all = books.find_all().filter(|b| b.id.eq(3));
    assert_eq!(
        all.command().unwrap().get_document("filter").unwrap(),
        &doc! {"_id": 3}
    );
    let refused = books.find_all().filter(|b| b.title.regex("("));
    assert!(refused.all().await.is_err());
}

async fn queries_are_counted_whatever_their_page(db: &Db) {
    let books = library(db, 23).await;
    let newest = || books.find(|b| b.year.gte(1903)).sort(|b| b.year.desc());
    assert_eq!(newest().all().await.unwrap().len(), 8);
    assert_eq!(newest().page(2, 3).count().await.unwrap(), 8);
    assert_eq!(newest().skip(2).limit(1).count().await.unwrap(), 8);
    assert_eq!(newest().count().skip(2).limit(3).await.unwrap(), 3);
    assert_eq!(newest().after(None).count().await.unwrap(), 8);
    let error = newest().after(&book(3)).count().await.unwrap_err();
    assert!(error.to_string().contains("`after`"), "{error}");
    let error = newest().min(doc! {"_id": 1}).count().await.unwrap_err();
    assert!(error.to_string().contains("`min`"), "{error}");
}

async fn exists_reads_one_id(db: &Db) {
    let books = library(db, 10).await;
    assert!(books.find(|b| b.year.eq(1903)).exists().await.unwrap());
    assert!(!books.find(|b| b.year.eq(2000)).exists().await.unwrap());
    assert!(!books.find_all().skip(10).exists().await.unwrap());
    // `exists` decodes no document, so one that does not fit the model is found, too.
    let insert = doc! {"insert": "books", "documents": [{"_id": 99, "year": "none"}], "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    assert!(books.find(|b| b.id.eq(99)).exists().await.unwrap());
}

async fn numbered_pages_have_an_order(db: &Db) {
    let books = library(db, 11).await;
    let mut all = Vec::new();
    for number in 1..=5 {
        all.extend(ids(&books.find_all().page(number, 3).all().await.unwrap()));
    }
    assert_eq!(all, (0..11).collect::<Vec<_>>());
    let sorted = books.find_all().page(2, 2).sort(|b| b.id.desc());
    assert_eq!(ids(&sorted.all().await.unwrap()), [8, 7]);
    for (number, size) in [(0, 3), (1, 0), (u64::MAX, u64::MAX)] {
        let error = books.find_all().page(number, size).all().await.unwrap_err();
        assert!(error.to_string().contains("at least 1"), "{error}");
    }
}

async fn pages_after_a_document_miss_and_repeat_none(db: &Db) {
    let books = library(db, 60).await;
    for size in [1, 7, 60] {
        for order in 0..6 {
            let query = || {
                let found = books.find(|b| b.id.ne(5));
                match order {
                    0 => found.sort(|b| b.year.desc()),
                    1 => found.sort(|b| b.year.asc().then(b.title.desc())),
                    // Missing in some documents.
                    2 => found.sort(|b| b.stars.asc()),
                    3 => found.sort(|b| b.stars.desc().then(b.year.asc())),
                    4 => found.sort(|b| b.id.desc()),
                    _ => found,
                }
            };
            let mut all: Vec<Book> = Vec::new();
            loop {
                let page = query().after(all.last()).limit(size).all().await.unwrap();
                if page.is_empty() {
                    break;
                }
                all.extend(page);
            }
            let whole = query().after(None).all().await.unwrap();
            assert_eq!(ids(&all), ids(&whole), "order {order}, pages of {size}");
            assert_eq!(all.len(), 59);

            let mut by_token: Vec<Book> = Vec::new();
            let mut token: Option<PageToken> = None;
            loop {
                let page = query().after_token(token.as_ref()).limit(size).all();
                let page = page.await.unwrap();
                let Some(last) = page.last() else {
                    break;
                };
                let text = query().page_token(last).await.unwrap().to_string();
                token = Some(text.parse().unwrap());
                by_token.extend(page);
            }
            assert_eq!(
                ids(&by_token),
                ids(&whole),
                "order {order}, pages of {size}"
            );
        }
    }
}

async fn pages_after_a_document_use_the_index(db: &Db) {
    let books = library(db, 200).await;
    let page = books
        .find_all()
        .sort(|b| b.year.desc())
        .after(&book(4))
        .limit(5);
    let plan = page.explain().await.unwrap();
    assert_eq!(
        plan.indexes.first().map(String::as_str),
        Some("year_-1__id_-1")
    );
    assert!(plan.documents_examined <= 10, "{}", plan.documents_examined);
    let behind = doc! {"$or": [
        {"$expr": {"$lt": ["$year", 1904]}},
        {"year": 1904, "$expr": {"$lt": ["$_id", 4]}},
    ]};
    assert_eq!(plan.command.get_document("filter").unwrap(), &behind);
    assert_eq!(
        plan.command.get_document("sort").unwrap(),
        &doc! {"year": -1, "_id": -1}
    );
    assert!(!plan.sorts_in_memory, "{plan}");

    // The command is known only once the document is read, unless the order is that of `_id`.
    let by_year = books.find_all().sort(|b| b.year.desc()).after(&book(4));
    let error = by_year.command().unwrap_err().to_string();
    assert!(error.contains("`explain`"), "{error}");
    let by_id = books.find_all().after(&book(4)).command().unwrap();
    let behind = doc! {"$expr": {"$gt": ["$_id", 4]}};
    assert_eq!(by_id.get_document("filter").unwrap(), &behind);
}

async fn page_tokens_outlive_their_documents(db: &Db) {
    let books = library(db, 6).await;
    let query = || books.find_all().sort(|b| b.year.desc());
    let page = query().limit(2).all().await.unwrap();
    let token = query().page_token(&page[1]).await.unwrap();
    books
        .update_by_id(&page[1].id, |b| b.year.set(1))
        .await
        .unwrap();
    books.delete_by_id(&page[0].id).await.unwrap();
    let next = query().after_token(&token).limit(2).all().await.unwrap();
    assert_eq!(ids(&next), [2, 1]);
}

async fn page_tokens_of_other_queries_are_refused(db: &Db) {
    let books = library(db, 3).await;
    let first = book(1);
    let token = books.find_all().sort(|b| b.year.asc()).page_token(&first);
    let token = token.await.unwrap();
    let other = books.find_all().sort(|b| b.title.asc()).after_token(&token);
    let error = other.all().await.unwrap_err();
    assert!(
        error.is_page_token() && error.to_string().contains("title"),
        "{error}"
    );

    // A client may write any values into a token.
    for value in [
        Bson::from(doc! {"$gt": 1}),
        Bson::from(vec![1]),
        Bson::from("x"),
    ] {
        let bytes = doc! {"year": value, "_id": {"$ne": 1}}.to_vec().unwrap();
        let text = URL_SAFE_NO_PAD.encode(bytes);
        let page = books.find_all().sort(|b| b.year.asc());
        let page = page
            .after_token(&text.parse::<PageToken>().unwrap())
            .all()
            .await;
        match page {
            Ok(page) => assert!(page.is_empty(), "no book is behind {text}"),
            Err(error) => assert!(error.is_page_token(), "{error}"),
        }
    }
}

async fn pages_that_can_not_continue_are_refused(db: &Db) {
    let books = library(db, 3).await;
    let error = books
        .find_all()
        .sort(|b| b.tags.asc())
        .after(&book(1))
        .all()
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("tags") && text.contains("array"), "{text}");
    let nan = Book {
        stars: Some(f64::NAN),
        ..book(1)
    };
    let error = books
        .find_all()
        .sort(|b| b.stars.asc())
        .after(&nan)
        .all()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("stars"), "{error}");
}

async fn documents_are_loaded_by_filters(db: &Db) {
    let books = library(db, 10).await;
    let mut one = books
        .find_one(|b| b.title.eq("book 3"))
        .load()
        .await
        .unwrap()
        .unwrap();
    one.year = 7;
    assert!(books.save(&mut one).await.unwrap());
    assert!(
        books
            .find_one(|b| b.id.eq(99))
            .load()
            .await
            .unwrap()
            .is_none()
    );
    for mut book in books.find(|b| b.year.eq(1904)).load().await.unwrap() {
        book.tags.push("c".to_owned());
        assert!(books.save(&mut book).await.unwrap());
    }
    assert_eq!(books.find(|b| b.tags.has("c")).count().await.unwrap(), 2);
    let part = books
        .find_one(|b| b.id.eq(1))
        .projection(doc! {"year": 1})
        .load();
    assert!(part.await.unwrap_err().to_string().contains("projection"));
    let part = books.find_all().projection(doc! {"year": 1}).load();
    assert!(part.await.unwrap_err().to_string().contains("projection"));
}

async fn found_and_inserted_documents_are_saved(db: &Db) {
    let books = library(db, 3).await;
    // A field that the model does not declare.
    let set = doc! {"update": "books", "updates": [{"q": {"_id": 1}, "u": {"$set": {"shelf": 7}}}]};
    db.run_command(set).await.unwrap();
    let found = books.get(&1).await.unwrap().unwrap();
    let mut found = Loaded::new(found).unwrap();
    assert!(!books.save(&mut found).await.unwrap());
    found.year += 1;
    found.stars = None;
    assert!(books.save(&mut found).await.unwrap());
    assert!(!books.save(&mut found).await.unwrap());
    let stored: Option<BsonDocument> = books.find_one(|b| b.id.eq(1)).with_type().await.unwrap();
    let stored = stored.unwrap();
    assert_eq!(stored.get_i32("shelf").unwrap(), 7);
    assert_eq!(stored.get_i32("year").unwrap(), 1902);
    assert!(!stored.contains_key("stars"));
    let mut absent = Loaded::new(book(77)).unwrap();
    absent.year = 1;
    assert!(books.save(&mut absent).await.unwrap_err().is_stale());
}

async fn a_limit_of_zero_is_none(db: &Db) {
    let books = library(db, 5).await;
    assert_eq!(books.find_all().limit(0).all().await.unwrap().len(), 5);
    assert_eq!(
        books
            .find_all()
            .limit(2)
            .limit(0)
            .all()
            .await
            .unwrap()
            .len(),
        5
    );
    assert_eq!(
        books
            .count_documents(|b| b.id.gte(0))
            .limit(0)
            .await
            .unwrap(),
        5
    );
}

async fn slices_of_text_are_values(db: &Db) {
    let books = library(db, 15).await;
    let titles: &[&str] = &["book 1", "book 2"];
    assert_eq!(
        books.find(|b| b.title.in_(titles)).count().await.unwrap(),
        4
    );
    let owned = ["book 1".to_owned()];
    assert_eq!(
        books.find(|b| b.title.in_(&owned)).count().await.unwrap(),
        2
    );
    assert_eq!(
        books
            .find(|b| b.tags.any().in_(titles))
            .count()
            .await
            .unwrap(),
        0
    );
}

async fn generic_code_reaches_the_id(db: &Db) {
    async fn among<M: Document>(db: &Db, ids: &[M::Id]) -> Vec<M> {
        let found = db.collection::<M>().find(|_| id::<M>().in_(ids));
        found.sort(|_| id::<M>().asc()).all().await.unwrap()
    }
    library(db, 5).await;
    assert_eq!(ids(&among::<Book>(db, &[3, 1, 9]).await), [1, 3]);
}

mod names {
    pub(super) const SHELVES: &str = "library.shelves";
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = names::SHELVES)]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
}

async fn collections_are_named_by_constants(db: &Db) {
    let shelves = db.collection::<Shelf>();
    assert_eq!(shelves.name(), "library.shelves");
    shelves.insert_one(&Shelf { id: 1 }).await.unwrap();
    let stored = db.run_command(doc! {"find": "library.shelves"}).all().await;
    assert_eq!(stored.unwrap(), [doc! {"_id": 1}]);
}

async fn a_ping_is_answered(db: &Db) {
    db.ping().await.unwrap();
    db.database("another").ping().await.unwrap();
}

async fn the_first_result_of_a_pipeline_is_read(db: &Db) {
    let books = db.collection::<Book>();
    let count = || books.aggregate([doc! {"$count": "books"}]).first();
    assert_eq!(count().await.unwrap(), None);
    books
        .insert_many((0..200).map(book).collect::<Vec<_>>())
        .await
        .unwrap();
    assert_eq!(count().await.unwrap(), Some(doc! {"books": 200}));
    let newest = books.aggregate([doc! {"$sort": {"_id": -1}}]);
    let newest = newest.with_type::<Book>().first().await.unwrap();
    assert_eq!(newest.map(|book| book.id), Some(199));
    let failed = books.aggregate([doc! {"$nothing": 1}]).first().await;
    assert_eq!(failed.unwrap_err().code(), Some(40_324.into()));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "ledges")]
struct Ledge {
    #[serde(rename = "_id")]
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    below: Option<Ref<Ledge>>,
}

async fn ids_are_owned_or_borrowed(db: &Db) {
    let ledges = db.collection::<Ledge>();
    let below = Some(Ref::from("top"));
    let (name, top) = ("middle".to_owned(), "top".to_owned());
    ledges
        .insert_one(&Ledge {
            name: top.clone(),
            below: None,
        })
        .await
        .unwrap();
    ledges.insert_one(&Ledge { name, below }).await.unwrap();
    assert!(ledges.get("top").await.unwrap().is_some());
    assert!(ledges.get(&top).await.unwrap().is_some());
    assert!(ledges.get(top.clone()).await.unwrap().is_some());
    let names = [&top];
    for name in &names {
        assert!(ledges.get(name).await.unwrap().is_some());
    }
    assert_eq!(ledges.get("bottom").await.unwrap(), None);
    let found = ledges.find(|s| s.below.eq(Ref::from(&top)));
    assert_eq!(found.count().await.unwrap(), 1);
    let loaded = ledges.load("middle").await.unwrap().unwrap();
    assert_eq!(loaded.below, Some(Ref::from(top)));
    let result = ledges.update_by_id("middle", |s| s.below.unset());
    assert_eq!(result.await.unwrap().modified, 1);
    assert_eq!(ledges.delete_by_id("middle").await.unwrap().deleted, 1);
}
