//! Collections whose names are chosen at run time: a month's, a tenant's.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use odm::Code;
use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{Branch, Position};

use super::relations::watched;
use crate::case::cases;

cases![
    a_chosen_collection_is_used_by_every_action,
    joins_trees_and_copies_use_the_chosen_names,
    names_of_names_and_of_single_collections_combine,
    handles_with_other_names_share_the_fences_of_trees,
    event_streams_of_databases_tell_chosen_collections_apart,
    two_models_with_one_chosen_name_are_refused,
    invalid_names_are_refused,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "shelves",
    has_many(books: Book, by = shelf),
    has_squillions(sold: Book, by = seen_on)
)]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Notice, max = 2, sort = year))]
    newest: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", subset(text: BookText, by = book))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    shelf: Ref<Shelf>,
    #[odm(references(many, max = 10), index)]
    seen_on: Vec<Ref<Shelf>>,
    year: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notices")]
struct Notice {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = newest)]
    shelf: Ref<Shelf>,
    year: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Notice)]
struct Line {
    year: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "texts")]
struct BookText {
    #[serde(rename = "_id")]
    #[odm(rest_of = text)]
    book: Ref<Book>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "topics",
    tree(array_of_ancestors, parent = parent, order = rank)
)]
struct Topic {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Topic>,
    ancestors: Ancestors<Topic>,
    rank: Rank,
}

fn book(id: i32, shelf: i32) -> Book {
    Book {
        id,
        shelf: Ref::from(shelf),
        seen_on: vec![Ref::from(shelf)],
        year: 2000 + id,
    }
}

fn topic(id: i32) -> Topic {
    Topic {
        id,
        parent: Parent::default(),
        ancestors: Ancestors::default(),
        rank: Rank::default(),
    }
}

async fn sync(db: &Db) {
    let plan = db
        .sync(models![Shelf, Book, Notice, BookText, Topic])
        .plan()
        .await;
    let plan = plan.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let plan = db
        .sync(models![Shelf, Book, Notice, BookText, Topic])
        .plan()
        .await;
    assert!(plan.unwrap().is_empty());
}

async fn names(db: &Db) -> BTreeSet<String> {
    let listed = db
        .run_command(doc! {"listCollections": 1, "nameOnly": true})
        .all()
        .await
        .unwrap();
    listed
        .iter()
        .map(|it| it.get_str("name").unwrap().to_owned())
        .collect()
}

/// Every collection that the commands name: as their target, or in a `from`.
fn named_in(commands: &Arc<Mutex<Vec<BsonDocument>>>) -> BTreeSet<String> {
    fn from(value: &Bson, names: &mut BTreeSet<String>) {
        match value {
            Bson::Document(document) => {
                for (key, value) in document {
                    match (key.as_str(), value) {
                        ("from", Bson::String(name)) => {
                            names.insert(name.clone());
                        }
                        _ => from(value, names),
                    }
                }
            }
            Bson::Array(values) => values.iter().for_each(|value| from(value, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    for command in commands.lock().unwrap().iter() {
        let (name, target) = command.iter().next().unwrap();
        match (name.as_str(), target) {
            ("getMore", _) => {
                names.insert(command.get_str("collection").unwrap().to_owned());
            }
            (_, Bson::String(target)) => {
                names.insert(target.clone());
            }
            _ => {}
        }
        from(&Bson::from(command.clone()), &mut names);
    }
    names
}

async fn a_chosen_collection_is_used_by_every_action(db: &Db) {
    let (db, sent) = watched(db);
    let db = db.with_collection::<Book>("books_2026_11");
    sync(&db).await;
    sent.lock().unwrap().clear();
    let books = db.collection::<Book>();
    assert_eq!(books.name(), "books_2026_11");
    assert_eq!(books.clone().name(), "books_2026_11");
    books.insert_one(book(1, 1)).await.unwrap();
    books.insert_many([book(2, 1), book(3, 2)]).await.unwrap();
    books
        .update_one(|b| b.id.eq(1), |b| b.year.inc(1))
        .await
        .unwrap();
    books.update_all(|b| b.year.inc(1)).await.unwrap();
    books
        .find_one_and_update(|b| b.id.eq(1), |b| b.year.inc(1))
        .await
        .unwrap();
    let mut loaded = books.load(&2).await.unwrap().unwrap();
    loaded.year = 1;
    books.save(&mut loaded).await.unwrap();
    books.replace_by_id(&3, book(3, 2)).await.unwrap();
    books
        .bulk_write(|w| [w.update_one(|b| b.id.eq(3), |b| b.year.set(3))])
        .await
        .unwrap();
    let plan = books.bulk_write(|w| [w.update_one(|b| b.id.eq(3), |b| b.year.set(4))]);
    plan.plan("a plan")
        .unwrap()
        .apply(Allow::WRITE)
        .await
        .unwrap();
    odm::transaction!(db, |tx| {
        let books = db.collection::<Book>();
        books.insert_one(book(4, 2)).session(tx).await?;
        Ok::<_, odm::Error>(())
    })
    .await
    .unwrap();
    let all = books.find_all().batch_size(1).sort(|b| b.id.asc());
    let years: Vec<_> = all.all().await.unwrap().iter().map(|b| b.year).collect();
    assert_eq!(years, [2004, 1, 4, 2004]);
    assert_eq!(books.estimated_document_count().await.unwrap(), 4);
    let shelves = books.distinct(|b| b.shelf, |_| Filter::all());
    assert_eq!(shelves.await.unwrap().len(), 2);
    assert!(books.find(|b| b.id.eq(4)).exists().await.unwrap());
    books.find_all().explain().await.unwrap();
    books.delete_by_id(&4).await.unwrap();
    assert_eq!(books.find_all().count().await.unwrap(), 3);
    let mut changes = books.watch().await.unwrap();
    books.insert_one(book(5, 1)).await.unwrap();
    let change = changes.next().await.unwrap().unwrap();
    assert_eq!(change.id(), Some(&5));
    books.drop().await.unwrap();
    assert!(!names(&db).await.contains("books_2026_11"));
    assert_eq!(
        named_in(&sent).into_iter().collect::<Vec<_>>(),
        ["books_2026_11"]
    );
}

async fn joins_trees_and_copies_use_the_chosen_names(db: &Db) {
    let (db, sent) = watched(db);
    let db = db.with_collection_names(|name| format!("acme_{name}"));
    sync(&db).await;
    let (shelves, books) = (db.collection::<Shelf>(), db.collection::<Book>());
    for id in [1, 2] {
        let newest = Vec::new();
        shelves.insert_one(Shelf { id, newest }).await.unwrap();
    }
    for (id, shelf) in [(1, 1), (2, 1), (3, 2)] {
        books.insert_one(book(id, shelf)).await.unwrap();
        let notice = Notice {
            id,
            shelf: Ref::from(shelf),
            year: 2000 + id,
        };
        let insert = db.collection().insert_one(notice);
        insert.propagate().await.unwrap();
    }
    let text = BookText {
        book: Ref::from(4),
        text: "…".to_owned(),
    };
    books
        .insert_with_rest(book(4, 2), |b| b.text, text)
        .await
        .unwrap();

    let newest = shelves.get(&1).await.unwrap().unwrap().newest;
    assert_eq!(
        newest.iter().map(|b| b.year).collect::<Vec<_>>(),
        [2001, 2002]
    );
    let rows = shelves
        .find_all()
        .sort(|s| s.id.asc())
        .join(|s| s.books.sort(|b| b.id.asc()))
        .all();
    let rows = rows.await.unwrap();
    let joined: Vec<Vec<_>> = rows
        .iter()
        .map(|row| row.books().iter().map(|book| book.id).collect())
        .collect();
    assert_eq!(joined, [[1, 2], [3, 4]]);
    // A limit for each row is a `$lookup`.
    let rows = shelves
        .find_all()
        .sort(|s| s.id.asc())
        .join(|s| s.sold.sort(|b| b.id.desc()).limit(1))
        .all();
    let rows = rows.await.unwrap();
    assert_eq!(rows[0].sold()[0].id, 2);
    let row = books
        .get(&4)
        .join(|b| b.shelf)
        .join(|b| b.text)
        .await
        .unwrap();
    let row = row.unwrap();
    assert_eq!(row.shelf().found().map(|shelf| shelf.id), Some(2));
    assert!(row.text().is_some());
    let found = books
        .find_all()
        .where_any(|b| b.shelf, |s| s.id.eq(2))
        .order_by_related(|b| b.shelf, |s| s.id.desc());
    assert_eq!(found.all().await.unwrap().len(), 2);
    let found = shelves.find_all().where_none(|s| s.sold, |b| b.id.gt(2));
    assert_eq!(found.all().await.unwrap().len(), 1);
    let deleted = books.delete_with_rest(&4, |b| b.text).await.unwrap();
    assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));

    let tree = db.tree::<Topic>();
    let branch = Branch::leaf(topic(1)).with(Branch::leaf(topic(2)).with(topic(3)));
    tree.insert_branches([branch, Branch::leaf(topic(4))])
        .await
        .unwrap();
    tree.insert(topic(5), Position::child_of(Ref::from(3)))
        .await
        .unwrap();
    tree.move_to(Ref::from(2), Position::child_of(Ref::from(4)))
        .non_atomic()
        .await
        .unwrap();
    let ids = tree.descendants(Ref::from(4)).pre_order().ids();
    assert_eq!(ids.await.unwrap(), [2, 3, 5]);
    assert_eq!(tree.leaves().ids().await.unwrap().len(), 2);
    assert!(tree.check().await.unwrap().is_sound());
    tree.delete(Ref::from(5)).await.unwrap();

    let expected =
        ["books", "notices", "shelves", "texts", "topics"].map(|name| format!("acme_{name}"));
    let mut expected: BTreeSet<_> = expected.into_iter().collect();
    let own = [
        "odm_tree_fences",
        "odm_propagations",
        "odm_reference_fences",
    ];
    expected.extend(own.map(str::to_owned));
    assert_eq!(names(&db).await, expected);
    assert_eq!(named_in(&sent), expected);
}

async fn names_of_names_and_of_single_collections_combine(db: &Db) {
    let november = db
        .with_collection_names(|name| format!("acme_{name}"))
        .with_collection::<Book>("acme_books_2026_11");
    assert_eq!(november.collection::<Book>().name(), "acme_books_2026_11");
    assert_eq!(november.collection::<Shelf>().name(), "acme_shelves");
    let december = november.with_collection::<Book>("acme_books_2026_12");
    assert_eq!(december.collection::<Book>().name(), "acme_books_2026_12");
    let archived = november.with_collection_names(|name| format!("{name}_old"));
    assert_eq!(
        archived.collection::<Book>().name(),
        "acme_books_2026_11_old"
    );
    assert_eq!(archived.collection::<Shelf>().name(), "acme_shelves_old");
    // The names stay with the handle in other databases.
    let elsewhere = november.database("archive");
    assert_eq!(elsewhere.collection::<Shelf>().name(), "acme_shelves");
    assert_eq!(db.collection::<Shelf>().name(), "shelves");
}

/// Two handles that name one collection in different ways change one tree.
async fn handles_with_other_names_share_the_fences_of_trees(db: &Db) {
    let one = db.with_collection::<Topic>("acme_topics");
    let other = db.with_collection_names(|name| format!("acme_{name}"));
    sync(&one).await;
    let branch = Branch::leaf(topic(1)).with(topic(2));
    one.tree::<Topic>().insert_branches([branch]).await.unwrap();
    other
        .tree::<Topic>()
        .insert(topic(3), Position::child_of(Ref::from(1)))
        .await
        .unwrap();
    let fences = one
        .run_command(doc! {"count": "odm_tree_fences", "query": {"_id.collection": "acme_topics"}})
        .await
        .unwrap();
    assert_eq!(fences.get_i32("n").unwrap(), 1);
    let ids = one.tree::<Topic>().all().pre_order().ids().await.unwrap();
    assert_eq!(ids, [1, 2, 3]);
}

async fn event_streams_of_databases_tell_chosen_collections_apart(db: &Db) {
    let november = db.with_collection::<Book>("books_2026_11");
    let mut changes = november.watch().await.unwrap();
    let books = november.collection::<Book>();
    books.insert_one(book(1, 1)).await.unwrap();
    db.collection::<Book>()
        .insert_one(book(2, 1))
        .await
        .unwrap();
    let change = changes.next().await.unwrap().unwrap();
    assert!(change.of::<Book>().unwrap().is_none());
    let typed = change.of_collection(&books).unwrap().unwrap();
    assert_eq!(typed.id(), Some(&1));
    let change = changes.next().await.unwrap().unwrap();
    assert!(change.of_collection(&books).unwrap().is_none());
    assert_eq!(change.of::<Book>().unwrap().unwrap().id(), Some(&2));
}

async fn two_models_with_one_chosen_name_are_refused(db: &Db) {
    let db = db.with_collection_names(|_| "everything".to_owned());
    let error = db.sync(models![Shelf, Book]).plan().await.unwrap_err();
    assert!(error.is_declaration(), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("`Shelf` and `Book` into one collection, `everything`"),
        "{message}"
    );
    let db = db.with_collection_names(|_| "system.books".to_owned());
    let error = db.sync(models![Book]).plan().await.unwrap_err();
    assert!(error.is_declaration(), "{error}");
    assert_eq!(error.model(), Some("Book"));
}

async fn invalid_names_are_refused(db: &Db) {
    for name in ["", "a$b", ".a", "a\0b"] {
        let db = db.with_collection::<Book>(name);
        let books = db.collection::<Book>();
        let error = books.insert_one(book(1, 1)).await.unwrap_err();
        let code = error.code();
        assert_eq!(code, Some(Code::INVALID_NAMESPACE), "{name:?}: {error}");
    }
}
