//! Every kind of damage is made, and found, it and no other.

use std::time::Duration;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::check::{Aspect, FindingKind};
use odm::prelude::*;

use super::{Author, Book, check, filled, insert, models, places, set, texts};

/// A command of another program, and what it damages.
pub(super) type Damage = (BsonDocument, &'static [&'static str]);

fn update(collection: &str, id: i32, change: BsonDocument) -> BsonDocument {
    doc! {
        "update": collection,
        "updates": [{"q": {"_id": id}, "u": change}],
        "bypassDocumentValidation": true,
    }
}

fn delete(collection: &str, id: i32) -> BsonDocument {
    doc! {"delete": collection, "deletes": [{"q": {"_id": id}, "limit": 1}]}
}

pub(super) fn damages() -> Vec<Damage> {
    let set = |collection, id, fields: BsonDocument| update(collection, id, doc! {"$set": fields});
    vec![
        (
            delete("authors", 2),
            &[
                "Book 4: dangling reference: `author` leads to no `Author` with the _id 2",
                "Review 2: dangling reference: `reviewer` leads to no `Author` with the _id 2",
            ],
        ),
        (
            set(
                "books",
                3,
                doc! {"translator": {"$ref": "authors", "$id": 9}},
            ),
            &[
                "Book 3: dangling reference: `translator` leads to no document of `authors` with the _id 9",
            ],
        ),
        (
            set("books", 4, doc! {"author_name": "nobody"}),
            &[
                "Book 4: stale copy: `author_name` is \"nobody\", and the field that it copies is \"author 2\"",
            ],
        ),
        (
            set("authors", 2, doc! {"book_count": 7_i64}),
            &["Author 2: stale summary: `book_count` is 7, and the count of `books` is 1"],
        ),
        (
            set("authors", 1, doc! {"newest": []}),
            &["Author 1: stale list: `newest` lacks 2 of the newest 2 documents of `Book`"],
        ),
        (
            set("authors", 1, doc! {"reviews": []}),
            &[
                "Review 1: one-sided reference: `reviewer` refers to the `Author` with the _id 1, and its `reviews` does not refer back",
            ],
        ),
        (
            set("books", 1, doc! {"tags": ["a", "b", "c", "d"]}),
            &["Book 1: long list: tags breaks `maxItems` 3 with [\"a\", \"b\", \"c\", \"d\"]"],
        ),
        (
            set("books", 1, doc! {"tags": [1]}),
            &["Book 1: invalid document: tags.0 breaks `bsonType` \"string\" with 1"],
        ),
        (
            update("books", 1, doc! {"$unset": {"tags": ""}}),
            &["Book 1: invalid document: tags breaks `required`: missing"],
        ),
        (
            set("books", 1, doc! {"colour": {"name": "red"}}),
            &["Book 1: undeclared field: `colour` is not declared"],
        ),
        (
            set("shelves", 3, doc! {"depth": 7}),
            &["Shelf 3: wrong depth: the depth is 7, expected 2"],
        ),
        (
            delete("shelves", 2),
            &["Shelf 3: orphan: there is no node 2"],
        ),
    ]
}

pub(super) async fn each_damage_is_found_and_no_other(db: &Db) {
    for (command, expected) in damages() {
        db.drop().await.unwrap();
        filled(db).await;
        let report = check(db).await;
        assert!(report.is_sound(), "{report}");
        assert_eq!(report.read(), 11);
        db.run_command(command.clone()).await.unwrap();
        let report = check(db).await;
        let found = texts(&report);
        let is_expected = |(found, expected): (&String, &&str)| found.starts_with(expected);
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(is_expected),
            "{command}: {report}"
        );
        assert_eq!(report.findings, expected.len() as u64);
    }
}

pub(super) async fn relations_without_indexes_are_found(db: &Db) {
    insert(db, "books", [doc! {"_id": 1}]).await;
    let only = || db.check(models()).only([Aspect::Indexes]);
    let report = only().await.unwrap();
    // `Author.books` and `Author.newest` find books by one field, and `_id`s are always indexed.
    assert_eq!(
        places(&report),
        [("Book unindexed-relation author".to_owned(), 1)].into()
    );
    assert_eq!(report.listed[0].id, None);
    let index = |name: &str, key: BsonDocument, more: BsonDocument| {
        let mut index = doc! {"name": name, "key": key};
        index.extend(more);
        doc! {"createIndexes": "books", "indexes": [index]}
    };
    let useless = [
        index("year", doc! {"year": 1, "author": 1}, doc! {}),
        index(
            "part",
            doc! {"author": 1},
            doc! {"partialFilterExpression": {"year": 7}},
        ),
        index("text", doc! {"author": "text"}, doc! {}),
        index("hidden", doc! {"author": -1}, doc! {"hidden": true}),
    ];
    for command in useless {
        db.run_command(command.clone()).await.unwrap();
        assert_eq!(only().await.unwrap().findings, 1, "{command}");
    }
    let command = index("author", doc! {"author": 1, "title": 1}, doc! {});
    db.run_command(command).await.unwrap();
    assert!(only().await.unwrap().is_sound());
}

pub(super) async fn unfinished_changes_are_found(db: &Db) {
    filled(db).await;
    let authors = db.collection::<Author>();
    let change = authors.update_by_id(&1, |a| a.name.set("renamed"));
    change.in_background().await.unwrap();
    let only = || db.check(models()).only([Aspect::UnfinishedChanges]);
    assert!(only().await.unwrap().is_sound(), "it may still run");
    let report = only().unfinished_after(Duration::ZERO).await.unwrap();
    assert_eq!(
        places(&report),
        [("Author unfinished-change".to_owned(), 1)].into(),
        "{report}"
    );
    let other = db
        .check(models![super::Review])
        .unfinished_after(Duration::ZERO);
    assert!(other.await.unwrap().is_sound(), "a change of another model");
    authors.resume_propagation().await.unwrap();
    assert!(
        only()
            .unfinished_after(Duration::ZERO)
            .await
            .unwrap()
            .is_sound()
    );
    assert!(check(db).await.is_sound());
}

pub(super) async fn bounds_of_reports(db: &Db) {
    filled(db).await;
    let books = (10..310).map(|id| {
        doc! {
            "_id": id, "author": 7, "author_name": "", "year": 1, "title": "x".repeat(5_000), "tags": [],
            "translator": Bson::Null, format!("field{}", id % 3): "y".repeat(5_000),
        }
    });
    insert(db, "books", books).await;
    let mut heard = Vec::new();
    let check = db
        .check(models![Book])
        .on_finding(|finding| heard.push(finding.clone()));
    let report = check.await.unwrap();
    assert_eq!(report.findings, 600, "{}", report.counts.len());
    let dangling = |finding: &&odm::check::Finding| finding.kind == FindingKind::DanglingReference;
    assert_eq!(heard.iter().filter(dangling).count(), 300);
    assert_eq!(report.listed.iter().filter(dangling).count(), 100);
    assert_eq!(report.listed.len(), 400);
    assert_eq!(
        places(&report).get("Book undeclared-field field1"),
        Some(&100)
    );
    // Large values are left out.
    let undeclared = heard
        .iter()
        .find(|one| one.kind == FindingKind::UndeclaredField);
    assert_eq!(undeclared.unwrap().stored, None);
    let lines = report.to_json_lines();
    for line in lines.lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(json["model"], "Book");
        assert!(json["kind"].is_string() && json["id"].is_number() && json["path"].is_string());
    }
    assert_eq!(lines.lines().count(), 400);
    set(
        db,
        "books",
        10,
        doc! {"$set": {"author": "x".repeat(100_000)}},
    )
    .await;
    let report = db
        .check(models![Book])
        .filter::<Book>(|b| b.id.eq(10))
        .await
        .unwrap();
    assert!(
        report
            .listed
            .iter()
            .all(|one| one.detail.chars().count() <= 2_001),
        "{report}"
    );
}
