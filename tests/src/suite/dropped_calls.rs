//! Calls that are dropped after each of their polls: the handle stays usable, no document stays locked, and what is left is sound,
//! or a repair completes it.

use std::time::Duration;

use futures::TryStreamExt;
use futures::future::BoxFuture;
use odm::bson;
use odm::check::CheckReport;
use odm::model::ModelMeta;
use odm::prelude::*;
use odm::repair::Answer;
use odm::tree::prelude::*;
use odm::tree::{Branch, Position, TreeDelete};

use crate::case::cases;
use crate::in_flight::InFlight;
use crate::polls::dropped_after;

cases![
    handles_work_after_dropped_reads,
    dropped_writes_of_one_transaction_leave_all_or_nothing,
    dropped_writes_of_several_commands_leave_what_a_repair_completes,
    late_writes_leave_all_or_nothing,
    dropped_syncs_are_completed_by_the_next_one,
];

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    has_many(books: Book, by = author, on_delete = cascade)
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(count_of(books))]
    book_count: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    author: Ref<Author>,
    #[odm(copy_of(author.name))]
    author_name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 100), two_way = owner)]
    tasks: Vec<Ref<Task>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = tasks)]
    owner: Option<Ref<Person>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(nested_sets, parent = parent))]
struct Category {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Self>,
    left: Left,
    right: Right,
}

fn models() -> impl Iterator<Item = &'static ModelMeta> {
    models![Author, Book, Person, Task, Category].into_iter()
}

const COLLECTIONS: [&str; 5] = ["authors", "books", "people", "tasks", "categories"];

fn author(id: i32) -> Author {
    Author {
        id,
        name: format!("author {id}"),
        book_count: 0,
    }
}

fn book(id: i32, author: i32) -> Book {
    Book {
        id,
        author: Ref::from(author),
        author_name: String::new(),
    }
}

fn task(id: i32, owner: i32) -> Task {
    Task {
        id,
        owner: Some(Ref::from(owner)),
    }
}

fn category(id: i32) -> Category {
    Category {
        id,
        parent: Parent::default(),
        left: Left::default(),
        right: Right::default(),
    }
}

fn node(id: i32) -> Ref<Category> {
    Ref::from(id)
}

/// Two authors, the first with four books; two people, the first with three tasks; a tree of five nodes.
async fn fill(db: &Db) {
    let plan = db.sync(models()).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    db.collection()
        .insert_many([author(1), author(2)])
        .await
        .unwrap();
    let books = (1..=4).map(|id| book(id, 1));
    db.collection()
        .insert_many(books)
        .propagate()
        .await
        .unwrap();
    let people = [1, 2].map(|id| Person {
        id,
        tasks: Vec::new(),
    });
    db.collection().insert_many(people).await.unwrap();
    let tasks = (1..=3).map(|id| task(id, 1));
    db.collection()
        .insert_many(tasks)
        .propagate()
        .await
        .unwrap();
    let inner = Branch::leaf(category(2))
        .with(category(3))
        .with(category(4));
    let branch = Branch::leaf(category(1)).with(inner).with(category(5));
    db.tree::<Category>()
        .insert_branches([branch])
        .await
        .unwrap();
}

/// The documents of all collections.
async fn documents(db: &Db) -> Vec<(&'static str, Vec<bson::Document>)> {
    let mut all = Vec::new();
    for collection in COLLECTIONS {
        let found = db.run_command(doc! {"find": collection});
        all.push((collection, found.all().await.unwrap()));
    }
    all
}

/// Puts the documents back. An open transaction would hold some of those that are there for 60 seconds; the deletes wait for a
/// third of that.
async fn put_back(db: &Db, documents: &[(&'static str, Vec<bson::Document>)]) {
    for (collection, documents) in documents {
        let delete = doc! {
            "delete": *collection,
            "deletes": [{ "q": {}, "limit": 0 }],
            "maxTimeMS": 20_000,
        };
        db.run_command(delete).await.unwrap();
        let insert = doc! {"insert": *collection, "documents": documents.clone()};
        db.run_command(insert).await.unwrap();
    }
}

type Run = fn(Db) -> BoxFuture<'static, odm::Result<()>>;

macro_rules! calls {
    ($list:ident: $($name:literal: |$db:ident| $call:expr;)*) => {
        const $list: &[(&str, Run)] = &[$(($name, |$db| {
            Box::pin(async move { $call.await.map(drop) })
        })),*];
    };
}

calls! {
    READS:
    "find": |db| db.collection::<Book>().find_all().batch_size(2).all();
    "a stream": |db| async move {
        let mut books = db.collection::<Book>().find_all().batch_size(2).await?;
        while books.try_next().await?.is_some() {}
        Ok::<_, odm::Error>(())
    };
    "get": |db| db.collection::<Book>().get(&1);
    "load": |db| db.collection::<Book>().load(&1);
    "count": |db| db.collection::<Book>().find(|b| b.id.gt(1)).count();
    "estimated count": |db| db.collection::<Book>().estimated_document_count();
    "distinct": |db| db.collection::<Book>().distinct(|b| b.author_name, |_| Filter::all());
    "aggregate": |db| db.collection::<Book>().aggregate([doc! {"$sort": {"_id": 1}}]).all();
    "join": |db| db.collection::<Book>().find_all().join(|b| b.author).all();
    "join of the many": |db| db.collection::<Author>().find_all().join(|a| a.books).all();
    "descendants": |db| db.tree::<Category>().descendants(node(1)).all();
    "ancestors": |db| db.tree::<Category>().ancestors(node(4)).all();
    "a question of a tree": |db| db.tree::<Category>().depth(node(4));
    "a check of a tree": |db| db.tree::<Category>().check();
    "check": |db| db.check(models());
    "plan of a sync": |db| async move {
        db.sync(models![Author, Book]).plan().await
    };
    "explain": |db| db.collection::<Book>().find_all().explain();
    "watch": |db| db.collection::<Book>().watch();
    "a session": |db| async move {
        let mut session = db.start_session().await?;
        session.start_transaction().await?;
        db.collection::<Book>().find_all().session(&mut session).all().await?;
        session.commit_transaction().await
    };
}

calls! {
    WHOLE_WRITES:
    "insert_one": |db| db.collection().insert_one(author(9));
    "insert_many": |db| db.collection().insert_many((9..15).map(author));
    "update_many": |db| db.collection::<Author>().update_many(|a| a.id.gt(0), |a| a.name.set("x")).propagate();
    "save": |db| async move {
        let authors = db.collection::<Author>();
        let mut loaded = authors.load(&1).await?.unwrap();
        loaded.name = "saved".into();
        authors.save(&mut loaded).propagate().await
    };
    "find_one_or_insert": |db| db.collection::<Author>().find_one_or_insert(|a| a.id.eq(9), author(9));
    "insert_one, propagated": |db| db.collection().insert_one(book(9, 2)).propagate();
    "insert_many, propagated": |db| db.collection().insert_many([book(8, 1), book(9, 2)]).propagate();
    "insert_one, checked": |db| db.collection().insert_one(author(9)).check_references();
    "update_one, propagated": |db| db.collection::<Author>().update_by_id(&1, |a| a.name.set("new")).propagate();
    "a book of another author": |db| {
        db.collection::<Book>().update_by_id(&1, |b| b.author.set(Ref::from(2))).propagate()
    };
    "a task of another person": |db| {
        db.collection::<Task>().update_by_id(&1, |t| t.owner.set(Some(Ref::from(2)))).propagate()
    };
    "delete_one with dependents": |db| db.collection::<Book>().delete_one(|b| b.id.eq(2)).with_dependents();
    "delete with dependents": |db| db.collection::<Author>().delete_by_id(&1).with_dependents();
    "a node": |db| db.tree::<Category>().insert(category(9), Position::child_of(node(2)));
    "a move": |db| db.tree::<Category>().move_to(node(2), Position::child_of(node(5)));
    "a swap": |db| db.tree::<Category>().swap(node(2), node(5));
    "a branch": |db| {
        let branch = Branch::leaf(category(8)).with(category(9));
        db.tree::<Category>().insert_branches([branch])
    };
    "delete of a node": |db| db.tree::<Category>().delete(node(2)).policy(TreeDelete::Cascade);
    "a transaction": |db| transaction!(db, |tx| {
        let authors = db.collection::<Author>();
        authors.insert_one(author(9)).session(tx).await?;
        authors.delete_one(|a| a.id.eq(9)).leave_dangling().session(tx).await
    });
}

calls! {
    PARTIAL_WRITES:
    "insert_many, propagated": |db| {
        db.collection().insert_many([book(8, 1), book(9, 2)]).propagate().non_atomic()
    };
    "update_one, propagated": |db| {
        db.collection::<Author>().update_by_id(&1, |a| a.name.set("new")).propagate().non_atomic()
    };
    "a task of another person": |db| {
        db.collection::<Task>().update_by_id(&1, |t| t.owner.set(Some(Ref::from(2)))).propagate().non_atomic()
    };
    "delete with dependents": |db| {
        db.collection::<Author>().delete_by_id(&1).with_dependents().non_atomic()
    };
    "a repair": |db| async move {
        let books = db.collection::<Book>();
        books.update_by_id(&1, |b| b.author_name.set("wrong")).leave_stale().await?;
        let plan = db.repair(models![Author, Book]).plan().await?;
        plan.run().await
    };
}

async fn handles_work_after_dropped_reads(db: &Db) {
    fill(db).await;
    for (name, run) in READS {
        for polls in 0.. {
            let ended = dropped_after(polls, run(db.clone())).await;
            let counted = db.collection::<Book>().find_all().count().await.unwrap();
            assert_eq!(counted, 4, "{name}, after {polls} polls");
            if let Some(ended) = ended {
                ended.unwrap_or_else(|error| panic!("{name}: {error}"));
                break;
            }
        }
    }
    put_back(db, &documents(db).await).await;
}

async fn check(db: &Db) -> CheckReport {
    let check = db.check(models());
    check.unfinished_after(Duration::ZERO).await.unwrap()
}

async fn repair(db: &Db) {
    let repair = db
        .repair(models())
        .unfinished_after(Duration::ZERO)
        .answer::<Book, _, _>(|b| b.author, Answer::Delete)
        .answer::<Person, _, _>(|p| p.tasks, Answer::Follow);
    repair.plan().await.unwrap().run().await.unwrap();
}

/// Drops each of the calls after each of its polls. Returns how often a repair had to complete one.
async fn drop_each(db: &Db, calls: &[(&str, Run)]) -> u32 {
    fill(db).await;
    let whole = documents(db).await;
    let (watched, in_flight) = InFlight::watch(db).await;
    let mut repaired = 0;
    for (name, run) in calls {
        for polls in 0.. {
            let ended = dropped_after(polls, run(watched.clone())).await;
            in_flight.end().await;
            if !check(db).await.is_sound() {
                repair(db).await;
                repaired += 1;
                let left = check(db).await;
                assert!(left.is_sound(), "{name}, after {polls} polls: {left}");
            }
            put_back(db, &whole).await;
            if let Some(ended) = ended {
                ended.unwrap_or_else(|error| panic!("{name}: {error}"));
                break;
            }
        }
    }
    repaired
}

async fn dropped_writes_of_one_transaction_leave_all_or_nothing(db: &Db) {
    assert_eq!(drop_each(db, WHOLE_WRITES).await, 0);
}

async fn dropped_writes_of_several_commands_leave_what_a_repair_completes(db: &Db) {
    let repaired = drop_each(db, PARTIAL_WRITES).await;
    // The engine completes most calls in one poll.
    let is_remote = db.as_driver().is_some();
    assert!(repaired > 0 || !is_remote);
}

async fn late_writes_leave_all_or_nothing(db: &Db) {
    fill(db).await;
    let whole = documents(db).await;
    let (watched, in_flight) = InFlight::watch(db).await;
    for (name, run) in WHOLE_WRITES {
        for limit in [100, 500, 1_000, 2_000, 5_000, 60_000_000] {
            let limit = Duration::from_micros(limit);
            match run(watched.clone()).within(limit).await {
                Ok(()) => {}
                Err(error) => assert!(error.is_deadline(), "{name}: {error}"),
            }
            in_flight.end().await;
            let left = check(db).await;
            assert!(left.is_sound(), "{name}, after {limit:?}: {left}");
            put_back(db, &whole).await;
        }
        run(db.clone()).within(Duration::MAX).await.unwrap();
        put_back(db, &whole).await;
    }
}

async fn dropped_syncs_are_completed_by_the_next_one(db: &Db) {
    let (watched, in_flight) = InFlight::watch(db).await;
    for polls in 0.. {
        let sync = async {
            let plan = watched.sync(models()).plan().await?;
            plan.apply(Allow::CREATE).await
        };
        let ended = dropped_after(polls, sync).await;
        in_flight.end().await;
        let rest = db.sync(models()).plan().await.unwrap();
        rest.apply(Allow::CREATE).await.unwrap();
        let plan = db.sync(models()).plan().await.unwrap();
        assert!(plan.is_empty(), "after {polls} polls");
        if let Some(ended) = ended {
            ended.unwrap();
            return;
        }
        db.drop().await.unwrap();
    }
}
