//! Reads.

use futures::{FutureExt, StreamExt};
use odm::collection::{Change, Operation};
use odm::output;
use odm::pipeline::pipeline;

use super::{
    Before, Bson, BsonDocument, Db, Deserialize, Document, Embedded, Filter, Person, Price,
    Projection, Ref, Serialize, ada, current, doc, emmy, first, grace, is_current, models, person,
    split_name, store, stored, three,
};
use crate::suite::watch::{next, soon};

pub(super) async fn older_documents_are_read(db: &Db) {
    let people = three(db).await;
    assert_eq!(people.get(&1).await.unwrap(), Some(ada()));
    assert_eq!(
        people.find_one(|p| p.id.eq(2)).await.unwrap(),
        Some(grace())
    );
    let all = people.find_all().sort(|p| p.id.asc()).all().await.unwrap();
    assert_eq!(all, [ada(), grace(), emmy()]);
    let mut stream = people
        .find_all()
        .sort(|p| p.id.desc())
        .batch_size(1)
        .await
        .unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), emmy());
    assert_eq!(stream.next().await.unwrap().unwrap(), grace());
    let loaded = people.find_all().sort(|p| p.id.asc()).load().await.unwrap();
    assert_eq!(*loaded[0], ada());
    // A read writes nothing.
    assert_eq!(stored(db, "people", 1).await, first(1, "Ada Lovelace", 10));
    assert_eq!(people.count_outdated().await.unwrap(), 2);
    let command = people.find(|p| p.id.eq(1)).command().unwrap();
    assert_eq!(command, doc! {"find": "people", "filter": {"_id": 1}});
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Given {
    #[serde(rename = "_id")]
    id: i32,
    given: Option<String>,
}

pub(super) async fn pipelines_read_whole_older_documents(db: &Db) {
    let people = three(db).await;
    let sorted = || pipeline::<Person>().sort(|p| p.id.asc());
    let all = people.aggregate(sorted()).all().await.unwrap();
    assert_eq!(all, [ada(), grace(), emmy()]);
    let both = sorted().limit(2).union_with(sorted().skip(2));
    let both = people.aggregate(both).all().await.unwrap();
    assert_eq!(both, [ada(), grace(), emmy()]);
    // The stages themselves see what is stored.
    let given = people.aggregate(sorted().match_(|p| p.given.eq("Ada")));
    assert_eq!(given.all().await.unwrap(), []);
    let named = sorted().project(|p| {
        output!(Given {
            id: p.id,
            given: p.given.expr().optional(),
        })
    });
    let named = people.aggregate(named).all().await.unwrap();
    assert_eq!(named[0], Given { id: 1, given: None });
    let raw = people.aggregate(sorted()).with_type::<BsonDocument>();
    assert_eq!(
        raw.first().await.unwrap(),
        Some(first(1, "Ada Lovelace", 10))
    );
    // A person that a stage made has no version: it is one of this program.
    let made = sorted().match_(|p| p.id.eq(3)).project(|p| {
        output!(Person {
            id: p.id.expr() + 4,
            given: p.given,
            family: p.family,
            price: p.price.expr(),
        })
    });
    let made = people.aggregate(made).all().await.unwrap();
    assert_eq!(made, [Person { id: 7, ..emmy() }]);
}

pub(super) async fn versions_of_other_types_are_read_or_refused(db: &Db) {
    let people = db.collection::<Person>();
    let version = |id: i32, version: Bson| {
        let mut document = first(id, "Ada Lovelace", 10);
        document.insert("schema_version", version);
        document
    };
    let legal = [Bson::Int32(1), Bson::Int64(1), Bson::Double(1.0)];
    let illegal = [
        Bson::Int32(0),
        Bson::Int64(-1),
        Bson::Double(1.5),
        Bson::Double(f64::NAN),
        Bson::Double(f64::INFINITY),
        Bson::Null,
        Bson::String("1".to_owned()),
        Bson::Boolean(true),
        Bson::Array(vec![Bson::Int32(3)]),
        Bson::Decimal128("1".parse().unwrap()),
    ];
    let ids = 1_i32..;
    let documents = ids.zip(legal.iter().chain(&illegal));
    let documents: Vec<_> = documents
        .map(|(id, one)| version(id, one.clone()))
        .collect();
    store(db, "people", documents).await;
    for id in 1..=3 {
        let found = people.get(&id).await.unwrap().unwrap();
        assert_eq!(found, Person { id, ..ada() });
    }
    for id in 4..=13 {
        let error = people.get(&id).await.unwrap_err();
        assert!(error.is_schema_upgrade(), "{error}");
        assert_eq!(error.path(), Some("schema_version"), "{error}");
        assert_eq!(error.document_id(), Some(&Bson::Int32(id)));
        let error = people.update_by_id(&id, |p| p.family.set("King")).await;
        assert!(error.unwrap_err().is_schema_upgrade(), "{id}");
    }
    // The shell writes doubles.
    let double = doc! {"_id": 20, "given": "A", "family": "B", "price": 1, "schema_version": 2.0};
    store(db, "people", [double]).await;
    assert_eq!(
        people.get(&20).await.unwrap(),
        Some(person(20, "A", "B", 1))
    );
    let mut double = current(&person(21, "A", "B", 1));
    double.insert("schema_version", 3.0);
    store(db, "people", [double]).await;
    let result = people
        .update_by_id(&21, |p| p.family.set("C"))
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
}

/// Reads what newer programs have stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    schema(version = 2, steps(split_name), newer = read)
)]
pub(super) struct Lenient {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) given: String,
}

pub(super) async fn newer_documents_are_errors_or_are_read(db: &Db) {
    three(db).await;
    let before = db.collection::<Before>();
    let error = before.get(&3).await.unwrap_err();
    assert!(
        error.is_newer_schema() && !error.is_schema_upgrade(),
        "{error}"
    );
    assert_eq!(error.model(), Some("Before"));
    assert_eq!(error.document_id(), Some(&Bson::Int32(3)));
    assert!(error.to_string().contains("has version 3"), "{error}");
    assert_eq!(before.find(|b| b.id.lt(3)).all().await.unwrap().len(), 2);
    assert_eq!(before.count_outdated().await.unwrap(), 1);
    let lenient = db.collection::<Lenient>();
    let all = lenient.find_all().sort(|p| p.id.asc()).all().await.unwrap();
    let names: Vec<_> = all.iter().map(|one| one.given.as_str()).collect();
    assert_eq!(names, ["Ada", "Grace", "Emmy"]);
}

pub(super) async fn failing_steps_are_named(db: &Db) {
    let people = db.collection::<Person>();
    let documents = [
        doc! {"_id": 1, "price": 1},
        doc! {"_id": 2, "given": "A", "family": "B", "price": "1", "schema_version": 2},
        doc! {"_id": 3, "name": "A B"},
    ];
    store(db, "people", documents).await;
    for (id, version, step) in [
        (1, 1, "split_name"),
        (2, 2, "add_currency"),
        (3, 2, "add_currency"),
    ] {
        let error = people.get(&id).await.unwrap_err();
        assert!(error.is_schema_upgrade() && !error.is_decode(), "{error}");
        assert_eq!(error.model(), Some("Person"));
        assert_eq!(error.document_id(), Some(&Bson::Int32(id)));
        let said = error.to_string();
        let expected = format!("has version {version}, and the step `{step}` failed: ");
        assert!(said.contains(&expected), "{said}");
    }
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "odd",
    schema(version = 3, steps(steps::rename, steps::change))
)]
pub(super) struct Odd {
    #[serde(rename = "_id")]
    id: i32,
    count: i32,
}

mod steps {
    use odm::bson::{Bson, Document};

    /// A step may have no result.
    pub(super) fn rename(document: &mut Document) {
        if let Some(count) = document.remove("n") {
            document.insert("count", count);
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "a step may have a result")]
    pub(super) fn change(document: &mut Document) -> odm::Result<()> {
        match document.get_i32("kind") {
            Ok(1) => panic!("a step panics"),
            Ok(2) => drop(document.insert("_id", 99)),
            Ok(3) => drop(document.remove("_id")),
            Ok(4) => drop(document.insert("schema_version", Bson::Null)),
            _ => {}
        }
        Ok(())
    }
}

pub(super) async fn documents_that_do_not_fit_after_the_steps_name_them(db: &Db) {
    let odd = db.collection::<Odd>();
    let documents = [
        doc! {"_id": 1, "n": "many"},
        doc! {"_id": 2, "n": 1, "kind": 2},
        doc! {"_id": 3, "n": 1, "kind": 3},
        doc! {"_id": 4, "n": 1, "kind": 4},
        doc! {"_id": 5, "schema_version": 2},
    ];
    store(db, "odd", documents).await;
    let error = odd.get(&1).await.unwrap_err();
    assert!(error.is_decode(), "{error}");
    assert_eq!((error.model(), error.path()), (Some("Odd"), Some("count")));
    let said = error.to_string();
    assert!(
        said.contains("after the steps `steps::rename`, `steps::change` from version 1 to 3"),
        "{said}"
    );
    let error = odd.get(&5).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("after the step `steps::change` from version 2 to 3"),
        "{error}"
    );
    for id in [2, 3] {
        let error = odd.get(&id).await.unwrap_err();
        assert!(
            error.is_schema_upgrade() && error.to_string().contains("`_id`"),
            "{error}"
        );
    }
    assert_eq!(odd.get(&4).await.unwrap().unwrap().count, 1);
}

pub(super) async fn panics_of_steps_leave_the_handle_usable(db: &Db) {
    let odd = db.collection::<Odd>();
    store(
        db,
        "odd",
        [doc! {"_id": 1, "n": 1, "kind": 1}, doc! {"_id": 2, "n": 2}],
    )
    .await;
    let read = std::panic::AssertUnwindSafe(async { odd.get(&1).await });
    assert!(read.catch_unwind().await.is_err());
    let update = odd.update_by_id(&1, |o| o.count.set(5));
    assert!(
        std::panic::AssertUnwindSafe(async { update.await })
            .catch_unwind()
            .await
            .is_err()
    );
    let migration = std::panic::AssertUnwindSafe(async { db.migrate(models![Odd]).await });
    assert!(migration.catch_unwind().await.is_err());
    assert_eq!(
        stored(db, "odd", 1).await,
        doc! {"_id": 1, "n": 1, "kind": 1}
    );
    assert_eq!(odd.get(&2).await.unwrap().unwrap().count, 2);
    odd.update_by_id(&2, |o| o.count.inc(1)).await.unwrap();
    assert_eq!(odd.get(&2).await.unwrap().unwrap().count, 3);
    odd.delete_by_id(&1).await.unwrap();
    assert!(db.migrate(models![Odd]).await.unwrap().is_complete());
}

pub(super) async fn cursors_go_on_after_a_document_that_fails(db: &Db) {
    let people = three(db).await;
    store(db, "people", [doc! {"_id": 0}]).await;
    let cursor = people
        .find_all()
        .sort(|p| p.id.asc())
        .batch_size(2)
        .await
        .unwrap();
    let found: Vec<_> = cursor.collect().await;
    assert!(found[0].as_ref().unwrap_err().is_schema_upgrade());
    let rest: Vec<_> = found.into_iter().skip(1).map(Result::unwrap).collect();
    assert_eq!(rest, [ada(), grace(), emmy()]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Person)]
#[serde(deny_unknown_fields)]
struct Short {
    given: String,
    price: Amount,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Price)]
#[serde(deny_unknown_fields)]
struct Amount {
    amount: i64,
}

fn short(given: &str, amount: i64) -> Short {
    Short {
        given: given.to_owned(),
        price: Amount { amount },
    }
}

pub(super) async fn projections_read_older_documents(db: &Db) {
    let people = three(db).await;
    let all = people
        .find_all()
        .sort(|p| p.id.asc())
        .select::<Short>()
        .all()
        .await
        .unwrap();
    assert_eq!(
        all,
        [short("Ada", 10), short("Grace", 20), short("Emmy", 30)]
    );
    let one = people.get(&1).select::<Short>().await.unwrap();
    assert_eq!(one, Some(short("Ada", 10)));
    let raw = people.find_all().sort(|p| p.id.asc());
    let raw = raw
        .projection(doc! {"price.currency": 1})
        .with_type::<BsonDocument>();
    let expected = |id: i32| doc! {"_id": id, "price": {"currency": "EUR"}};
    assert_eq!(
        raw.all().await.unwrap(),
        [expected(1), expected(2), expected(3)]
    );
    let deleted = people.find_one_and_delete(|p| p.id.eq(1)).select::<Short>();
    assert_eq!(deleted.await.unwrap(), Some(short("Ada", 10)));
    // A newer document is one in a projection, too.
    let newer = db.collection::<Before>();
    let parts = newer.find(|b| b.id.eq(3)).projection(doc! {"given": 1});
    assert!(
        parts
            .with_type::<BsonDocument>()
            .all()
            .await
            .unwrap_err()
            .is_newer_schema()
    );
    let lenient = db.collection::<Lenient>();
    let parts = lenient
        .find(|b| b.id.eq(3))
        .projection(doc! {"given": 1, "_id": 0});
    let parts = parts.with_type::<BsonDocument>().all().await.unwrap();
    assert_eq!(parts, [doc! {"given": "Emmy"}]);
    assert!(newer.find(|b| b.id.eq(3)).exists().await.unwrap());
}

pub(super) async fn other_projections_of_older_documents_are_refused(db: &Db) {
    let people = three(db).await;
    let computed = doc! {"total": {"$add": ["$price.amount", 1]}};
    let excluded = doc! {"price": 0};
    for projection in [computed.clone(), excluded.clone()] {
        for (id, is_read) in [(1, false), (2, false), (3, true)] {
            let find = people.get(&id).projection(projection.clone());
            let found = find.with_type::<BsonDocument>().await;
            match found {
                Ok(Some(_)) => assert!(is_read, "{id} {projection}"),
                Ok(None) => panic!("no document {id}"),
                Err(error) => {
                    assert!(!is_read && error.is_schema_upgrade(), "{error}");
                    assert!(error.to_string().contains("db.migrate"), "{error}");
                }
            }
        }
    }
    db.migrate(models![Person]).await.unwrap();
    let total = people
        .get(&1)
        .projection(computed)
        .with_type::<BsonDocument>();
    assert_eq!(total.await.unwrap(), Some(doc! {"_id": 1, "total": 11_i64}));
    let rest = people
        .get(&1)
        .projection(excluded)
        .with_type::<BsonDocument>();
    assert!(!rest.await.unwrap().unwrap().contains_key("price"));
}

pub(super) async fn fields_of_older_documents_are_read(db: &Db) {
    let people = three(db).await;
    let sorted = || people.find_all().sort(|p| p.id.asc());
    let given = sorted().field(|p| p.given).all().await.unwrap();
    assert_eq!(given, ["Ada", "Grace", "Emmy"]);
    let amounts = sorted().field(|p| p.price.amount).all().await.unwrap();
    assert_eq!(amounts, [10, 20, 30]);
    assert_eq!(sorted().field(|p| p.id).first().await.unwrap(), Some(1));
    // `distinct` runs in MongoDB, on what is stored.
    let mut given = people
        .distinct(|p| p.given, |_| Filter::all())
        .await
        .unwrap();
    given.sort();
    assert_eq!(given, ["Emmy", "Grace"]);
}

pub(super) async fn pages_have_older_documents(db: &Db) {
    let people = three(db).await;
    let sorted = || people.find_all().sort(|p| p.id.asc());
    let first = sorted().page(1, 2).all().await.unwrap();
    assert_eq!(first, [ada(), grace()]);
    let rest = sorted().after(first.last()).all().await.unwrap();
    assert_eq!(rest, [emmy()]);
    let page = sorted().page_after(None, 2).await.unwrap();
    assert_eq!(page.items, [ada(), grace()]);
    let page = sorted().page_after(page.next.as_ref(), 2).await.unwrap();
    assert_eq!(page.items, [emmy()]);
    // The token has what is stored: an older document has no `given`.
    let by_name = || people.find_all().sort(|p| p.given.asc()).select::<Named>();
    let page = by_name().page_after(None, 1).await.unwrap();
    assert_eq!(page.items[0].given, "Ada");
    let page = by_name().page_after(page.next.as_ref(), 5).await.unwrap();
    let names: Vec<_> = page.items.iter().map(|one| one.given.as_str()).collect();
    assert_eq!(names, ["Emmy", "Grace"]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Person)]
struct Named {
    #[serde(rename = "_id")]
    id: i32,
    given: String,
}

/// Version 1 had the reference as `a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", schema(version = 2, steps(name_author)))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    author: Ref<Author>,
}

fn name_author(book: &mut BsonDocument) -> Result<(), &'static str> {
    let author = book.remove("a").ok_or("no `a`")?;
    book.insert("author", author);
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    schema(version = 2, steps(trim), field = "v"),
    has_many(books: Book, by = author)
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

fn trim(author: &mut BsonDocument) -> Result<(), String> {
    let name = author.get_str("name").map_err(|error| error.to_string())?;
    let name = name.trim().to_owned();
    author.insert("name", name);
    Ok(())
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Author)]
struct OnlyName {
    name: String,
}

pub(super) async fn joins_read_older_documents_on_both_sides(db: &Db) {
    let authors = [
        doc! {"_id": 1, "name": " Ada "},
        doc! {"_id": 2, "name": "Bob", "v": 2},
    ];
    store(db, "authors", authors).await;
    let books = [
        doc! {"_id": 1, "a": 1},
        doc! {"_id": 2, "author": 1, "schema_version": 2},
        doc! {"_id": 3, "author": 2, "schema_version": 2},
    ];
    store(db, "books", books).await;
    let books = db.collection::<Book>();
    let rows = books
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.author)
        .all()
        .await
        .unwrap();
    let names: Vec<_> = rows
        .iter()
        .map(|row| row.author().found().unwrap().name.clone())
        .collect();
    assert_eq!(names, ["Ada", "Ada", "Bob"]);
    let joined = books
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.author.select::<OnlyName>());
    let rows = joined.all().await.unwrap();
    assert_eq!(rows[0].author().found().unwrap().name, "Ada");
    let authors = db.collection::<Author>();
    let row = authors.get(&1).join(|a| a.books).await.unwrap().unwrap();
    assert_eq!(row.name, "Ada");
    // The join finds documents by the stored reference, which the book of version 1 has under another name.
    let ids: Vec<_> = row.books().iter().map(|book| book.id).collect();
    assert_eq!(ids, [2]);
    let limited = authors.find_all().sort(|a| a.id.asc());
    let limited = limited
        .join(|a| a.books.sort(|b| b.id.asc()).limit(1))
        .all()
        .await
        .unwrap();
    assert_eq!(limited[0].books()[0].id, 2);
    db.migrate(models![Author, Book]).await.unwrap();
    let row = authors.get(&1).join(|a| a.books).await.unwrap().unwrap();
    assert_eq!(row.books().len(), 2);
}

pub(super) async fn watched_changes_are_of_the_current_version(db: &Db) {
    if !db.capability().await.unwrap().change_streams {
        return;
    }
    let inserted = |change: Change<Person>| match change.operation {
        Operation::Insert { full_document, .. } => full_document,
        other => panic!("{other:?}"),
    };
    let people = db.collection::<Person>();
    let mut changes = people.watch().await.unwrap();
    store(db, "people", [first(1, "Ada Lovelace", 10)]).await;
    store(db, "people", [doc! {"_id": 2, "schema_version": 9}]).await;
    store(db, "people", [first(3, "Emmy Noether", 30)]).await;
    assert_eq!(inserted(next(&mut changes).await), ada());
    let newer = soon(&mut changes).await.unwrap();
    assert!(newer.unwrap_err().is_newer_schema());
    assert_eq!(inserted(next(&mut changes).await), emmy());
}

pub(super) async fn found_and_changed_documents_are_current(db: &Db) {
    let people = three(db).await;
    let before = people
        .find_one_and_update(|p| p.id.eq(1), |p| p.family.set("King"))
        .await
        .unwrap();
    assert_eq!(before, Some(ada()));
    is_current(db, &person(1, "Ada", "King", 10)).await;
    let before = people
        .find_one_and_replace(|p| p.id.eq(2), person(2, "G", "H", 1))
        .await
        .unwrap();
    assert_eq!(before, Some(grace()));
    is_current(db, &person(2, "G", "H", 1)).await;
    store(db, "people", [first(4, "A B", 1)]).await;
    let gone = people.find_one_and_delete(|p| p.id.eq(4)).await.unwrap();
    assert_eq!(gone, Some(person(4, "A", "B", 1)));
    store(db, "people", [first(5, "A B", 1)]).await;
    let found = people
        .find_one_or_insert(|p| p.id.eq(5), person(5, "C", "D", 2))
        .await
        .unwrap();
    assert!(!found.inserted);
    assert_eq!(found.document, person(5, "A", "B", 1));
    assert_eq!(stored(db, "people", 5).await, first(5, "A B", 1));
    let made = people
        .find_one_or_insert(|p| p.id.eq(6), person(6, "C", "D", 2))
        .await
        .unwrap();
    assert!(made.inserted);
    is_current(db, &person(6, "C", "D", 2)).await;
}

pub(super) async fn filters_name_stored_fields(db: &Db) {
    let people = three(db).await;
    assert_eq!(people.find_one(|p| p.given.eq("Ada")).await.unwrap(), None);
    let result = people
        .update_one(|p| p.given.eq("Ada"), |p| p.family.set("King"))
        .await
        .unwrap();
    assert_eq!(result.matched, 0);
    assert_eq!(people.count_outdated().await.unwrap(), 2);
    db.migrate(models![Person]).await.unwrap();
    assert_eq!(
        people.find_one(|p| p.given.eq("Ada")).await.unwrap(),
        Some(ada())
    );
}
