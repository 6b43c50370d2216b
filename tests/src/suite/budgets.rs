//! Query budgets: which commands are counted, and which plans are refused.

use std::panic::{AssertUnwindSafe, catch_unwind};

use odm::bson::{Document as BsonDocument, doc};
use odm::collection::{OverBudget, QueryBudget};
use odm::prelude::*;

use crate::case::cases;

cases![
    commands_within_the_budget_pass,
    every_command_counts,
    too_many_commands_are_listed_with_plans_and_callers,
    scans_of_every_verb_are_found,
    indexed_lookups_of_every_verb_pass,
    scans_behind_joins_are_found,
    statements_of_one_command_are_explained_by_their_shapes,
    scans_of_a_collection_can_be_allowed,
    sorts_in_memory_are_found,
    commands_of_transactions_count,
    a_dropped_budget_panics,
];

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(index)]
    publisher: Ref<Publisher>,
}

fn book(id: i32) -> Book {
    Book {
        id,
        title: format!("book {id}"),
        publisher: Ref::from(id % 2),
    }
}

async fn filled(db: &Db) {
    let plan = db.sync(models![Publisher, Book]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let publishers = (0..2).map(|id| Publisher {
        id,
        name: format!("publisher {id}"),
    });
    db.collection().insert_many(publishers).await.unwrap();
    db.collection()
        .insert_many((0..10).map(book))
        .await
        .unwrap();
}

/// Code that a test would watch.
async fn title_of_first(db: &Db) -> String {
    let books = db.collection::<Book>();
    books.get(&0).await.unwrap().unwrap().title
}

async fn commands_within_the_budget_pass(db: &Db) {
    filled(db).await;
    let budget = db.budget().max_commands(2).no_scan().no_sort_in_memory();
    assert_eq!(title_of_first(&budget).await, "book 0");
    title_of_first(budget.db()).await;
    // Commands of other handles are not counted.
    db.collection::<Book>().find_all().all().await.unwrap();
    assert_eq!(budget.commands().len(), 2);
    budget.finish().unwrap();
}

async fn every_command_counts(db: &Db) {
    filled(db).await;
    let budget = db.budget();
    let books = budget.collection::<Book>();
    let all = books.find_all().batch_size(4).all().await.unwrap();
    assert_eq!(all.len(), 10);
    books.insert_one(&book(20)).await.unwrap();
    // A command that fails was sent, too.
    books.insert_one(&book(20)).await.unwrap_err();
    let counted = budget.commands();
    let names = counted.iter().filter_map(|one| one.command.keys().next());
    let names: Vec<_> = names.map(String::as_str).collect();
    assert_eq!(names, ["find", "getMore", "getMore", "insert", "insert"]);
    let over = budget.max_commands(4).finish().unwrap_err();
    assert_eq!(over.exceeded, ["commands sent: 5, allowed: 4"]);
    assert_eq!(over.commands.len(), 5);
}

async fn too_many_commands_are_listed_with_plans_and_callers(db: &Db) {
    filled(db).await;
    let budget = db.budget().max_commands(1);
    title_of_first(&budget).await;
    let of_one = budget.collection::<Book>();
    of_one
        .find(|b| b.publisher.eq(Ref::from(1)))
        .all()
        .await
        .unwrap();
    let over = budget.finish().unwrap_err();
    let [first, second] = over.commands.as_slice() else {
        panic!("{over}");
    };
    assert_eq!(first.plans[0].stages, ["IDHACK"]);
    let origin = first.origin.as_deref().unwrap();
    assert!(origin.contains("budgets::title_of_first"), "{origin}");
    let origin = second.origin.as_deref().unwrap();
    assert!(origin.contains("budgets::too_many_commands"), "{origin}");
    assert_eq!(second.plans[0].collection, "books");
    assert_eq!(second.plans[0].indexes, ["publisher_1"]);
    let text = over.to_string();
    for part in [
        "over the query budget: commands sent: 2, allowed: 1\n",
        "   1. { \"find\": \"books\"",
        "\n      books: FETCH < IXSCAN, index publisher_1\n",
        "title_of_first",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// What the plans of this one command exceed.
fn over(budget: QueryBudget) -> Vec<String> {
    assert_eq!(budget.commands().len(), 1);
    budget
        .finish()
        .map_or_else(|over| over.exceeded, |()| Vec::new())
}

/// Runs a command of each verb that looks documents up by this filter; returns what exceeded the budget.
async fn verbs(db: &Db, filter: &BsonDocument) -> Vec<(&'static str, Vec<String>)> {
    let mut found = Vec::new();
    let commands = [
        ("find", doc! {"find": "books", "filter": filter.clone()}),
        ("count", doc! {"count": "books", "query": filter.clone()}),
        (
            "distinct",
            doc! {"distinct": "books", "key": "title", "query": filter.clone()},
        ),
        (
            "aggregate",
            doc! {"aggregate": "books", "pipeline": [{"$match": filter.clone()}], "cursor": {}},
        ),
        (
            "merge",
            doc! {"aggregate": "books", "pipeline": [{"$match": filter.clone()}, {"$merge": "shelf"}], "cursor": {}},
        ),
        (
            "update",
            doc! {"update": "books", "updates": [{"q": filter.clone(), "u": {"$set": {"title": "new"}}, "multi": true}]},
        ),
        (
            "findAndModify",
            doc! {"findAndModify": "books", "query": filter.clone(), "update": {"$set": {"title": "newer"}}},
        ),
        (
            "delete",
            doc! {"delete": "books", "deletes": [{"q": filter.clone(), "limit": 1}], "writeConcern": {"w": 1}},
        ),
    ];
    for (name, command) in commands {
        let budget = db.budget().no_scan();
        budget.run_command(command).await.unwrap();
        found.push((name, over(budget)));
    }
    found
}

async fn scans_of_every_verb_are_found(db: &Db) {
    filled(db).await;
    for (verb, over) in verbs(db, &doc! {"title": {"$ne": "none"}}).await {
        assert_eq!(over, ["command 1 scans `books`"], "{verb}");
    }
}

async fn indexed_lookups_of_every_verb_pass(db: &Db) {
    filled(db).await;
    for filter in [doc! {"publisher": 1}, doc! {"_id": {"$gt": 3}}] {
        for (verb, over) in verbs(db, &filter).await {
            assert_eq!(over, [""; 0], "{verb} by {filter}");
        }
    }
    let budget = db.budget().no_scan().max_commands(3);
    let books = budget.collection::<Book>();
    books.insert_many((30..40).map(book)).await.unwrap();
    books
        .update_one(|b| b.id.eq(30), |b| b.title.set("first"))
        .await
        .unwrap();
    books.replace_one(|b| b.id.eq(31), &book(31)).await.unwrap();
}

async fn pipeline(db: &Db, stages: Vec<BsonDocument>) -> Result<(), OverBudget> {
    let budget = db.budget().no_scan();
    let command = doc! {"aggregate": "publishers", "pipeline": stages, "cursor": {}};
    budget.run_command(command).await.unwrap();
    budget.finish()
}

async fn scans_behind_joins_are_found(db: &Db) {
    filled(db).await;
    let first = doc! {"$match": {"_id": 1}};
    let by = |field: &str| {
        doc! {"$lookup": {"from": "books", "localField": "_id", "foreignField": field, "as": "books"}}
    };
    let within = |field: &str| {
        let equal = doc! {"$expr": {"$eq": [format!("${field}"), "$$one"]}};
        doc! {"$lookup": {"from": "books", "let": {"one": "$_id"}, "pipeline": [{"$match": equal}], "as": "books"}}
    };
    let up = |field: &str| {
        doc! {"$graphLookup": {
            "from": "books", "startWith": "$_id", "connectFromField": "_id", "connectToField": field, "as": "books",
        }}
    };
    let union = |filter: BsonDocument| doc! {"$unionWith": {"coll": "books", "pipeline": [{"$match": filter}]}};
    let nested = |stage: BsonDocument| doc! {"$facet": {"all": [stage]}};
    let indexed = [
        by("publisher"),
        within("publisher"),
        up("publisher"),
        union(doc! {"publisher": 1}),
        nested(by("publisher")),
    ];
    for stage in indexed {
        if let Err(over) = pipeline(db, vec![first.clone(), stage.clone()]).await {
            panic!("{stage}: {over}");
        }
    }
    let scanning = [
        by("title"),
        within("title"),
        up("title"),
        union(doc! {"title": "book 1"}),
        doc! {"$unionWith": "books"},
        nested(by("title")),
    ];
    for stage in scanning {
        let found = pipeline(db, vec![first.clone(), stage.clone()]).await;
        let over = found.expect_err(&stage.to_string());
        assert_eq!(over.exceeded, ["command 1 scans `books`"], "{stage}");
    }
}

async fn statements_of_one_command_are_explained_by_their_shapes(db: &Db) {
    filled(db).await;
    let budget = db.budget().no_scan();
    let set = |filter: BsonDocument| doc! {"q": filter, "u": {"$set": {"title": "new"}}};
    let mut updates: Vec<_> = (0..50).map(|id| set(doc! {"_id": id})).collect();
    updates.push(set(doc! {"title": "book 1"}));
    let command = doc! {"update": "books", "updates": updates};
    budget.run_command(command).await.unwrap();
    assert_eq!(budget.commands()[0].plans.len(), 2);
    assert_eq!(over(budget), ["command 1 scans `books`"]);
}

async fn scans_of_a_collection_can_be_allowed(db: &Db) {
    filled(db).await;
    let budget = db.budget().no_scan().allow_scan_of::<Publisher>();
    budget
        .collection::<Publisher>()
        .find_all()
        .all()
        .await
        .unwrap();
    budget.finish().unwrap();
    let budget = db.budget().no_scan().allow_scan_of::<Publisher>();
    budget.collection::<Book>().find_all().all().await.unwrap();
    assert_eq!(over(budget), ["command 1 scans `books`"]);
}

async fn sorts_in_memory_are_found(db: &Db) {
    filled(db).await;
    let budget = db.budget().no_sort_in_memory();
    let books = budget.collection::<Book>();
    books
        .find_all()
        .sort(|b| b.publisher.asc())
        .all()
        .await
        .unwrap();
    books
        .find_all()
        .sort(|b| b.title.asc())
        .all()
        .await
        .unwrap();
    let over = budget.finish().unwrap_err();
    assert_eq!(over.exceeded, ["command 2 sorts in memory"]);
}

async fn commands_of_transactions_count(db: &Db) {
    filled(db).await;
    let budget = db.budget().no_scan();
    let (watched, books) = (budget.db(), budget.collection::<Book>());
    transaction!(watched, |tx| -> odm::Result<()> {
        books.insert_one(&book(50)).session(tx).await?;
        let changed = books.update_one(|b| b.title.eq("book 50"), |b| b.title.set("new"));
        changed.session(tx).await?;
        Ok(())
    })
    .await
    .unwrap();
    let over = budget.finish().unwrap_err();
    assert_eq!(over.exceeded, ["command 2 scans `books`"], "{over}");
}

async fn a_dropped_budget_panics(db: &Db) {
    filled(db).await;
    let budget = db.budget().max_commands(0);
    title_of_first(&budget).await;
    let panicked = catch_unwind(AssertUnwindSafe(|| drop(budget))).unwrap_err();
    let message = panicked.downcast_ref::<String>().unwrap();
    assert!(
        message.contains("commands sent: 1, allowed: 0"),
        "{message}"
    );
    assert!(message.contains("title_of_first"), "{message}");
    // A test that panics already keeps its own message.
    let budget = db.budget().max_commands(0);
    title_of_first(&budget).await;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _dropped = budget;
        panic!("the test's own");
    }));
    let message = panicked.unwrap_err();
    assert_eq!(message.downcast_ref::<&str>(), Some(&"the test's own"));
}
