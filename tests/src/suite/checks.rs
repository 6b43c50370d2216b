//! `db.check`: every kind of damage is found, and nothing else is, whoever has written it and whoever writes beside.

mod damages;
mod options;
mod repairs;
mod scrubs;
mod stopped_repairs;
mod walks;
mod writers;

use std::collections::BTreeMap;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::check::{CheckReport, Finding};
use odm::dbref::{AnyDbRef, DbRef};
use odm::model::ModelMeta;
use odm::prelude::*;
use odm::tree::Position;
use odm::tree::prelude::*;

use self::damages::{
    bounds_of_reports, each_damage_is_found_and_no_other, relations_without_indexes_are_found,
    unfinished_changes_are_found,
};
use self::options::{
    all_chunks_are_compared_once, checks_go_on_after_every_document, each_aspect_finds_its_kinds,
    filters_and_ranges_choose, options_that_can_not_be_are_refused, samples_are_parts,
    the_commands_do_not_grow,
};
use self::repairs::{
    answers_that_do_not_fit_are_refused, documents_that_can_not_be_repaired_are_listed,
    each_damage_is_repaired, each_side_can_follow, references_are_repaired_at_any_depth,
    what_follows_from_repairs_is_repaired,
};
use self::scrubs::{
    ranges_are_divided_and_joined, scrubs_are_dropped, scrubs_find_what_checks_find,
    scrubs_share_the_work, scrubs_stop_after_every_command,
};
use self::stopped_repairs::{
    repairs_are_undone, repairs_beside_writers, repairs_go_on_after_every_batch,
    repairs_stop_after_every_command, undone_repairs_leave_later_writes,
};
use self::walks::{
    documents_of_other_programs_are_read, references_are_found_at_any_depth,
    undeclared_fields_are_found_at_any_depth,
};
use self::writers::writers_are_not_reported;
use crate::case::cases;

cases![
    each_damage_is_found_and_no_other,
    relations_without_indexes_are_found,
    unfinished_changes_are_found,
    bounds_of_reports,
    each_aspect_finds_its_kinds,
    filters_and_ranges_choose,
    checks_go_on_after_every_document,
    all_chunks_are_compared_once,
    samples_are_parts,
    options_that_can_not_be_are_refused,
    the_commands_do_not_grow,
    references_are_found_at_any_depth,
    undeclared_fields_are_found_at_any_depth,
    documents_of_other_programs_are_read,
    writers_are_not_reported,
    each_damage_is_repaired,
    each_side_can_follow,
    answers_that_do_not_fit_are_refused,
    references_are_repaired_at_any_depth,
    what_follows_from_repairs_is_repaired,
    documents_that_can_not_be_repaired_are_listed,
    repairs_go_on_after_every_batch,
    repairs_stop_after_every_command,
    repairs_beside_writers,
    repairs_are_undone,
    undone_repairs_leave_later_writes,
    scrubs_find_what_checks_find,
    ranges_are_divided_and_joined,
    scrubs_share_the_work,
    scrubs_are_dropped,
    scrubs_stop_after_every_command,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(count_of(books))]
    book_count: i64,
    #[odm(recent(Book, max = 2, sort = year))]
    newest: Vec<Line>,
    #[odm(references(many, max = 50), two_way = reviewer)]
    reviews: Vec<Ref<Review>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Book)]
struct Line {
    year: i32,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(author, year = desc))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent_in = newest)]
    author: Ref<Author>,
    #[odm(copy_of(author.name))]
    author_name: String,
    year: i32,
    title: String,
    #[odm(embed(few, max = 3))]
    tags: Vec<String>,
    translator: Option<DbRef<Author>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = reviews)]
    reviewer: Option<Ref<Author>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shelves", tree(parent_references, depth = depth))]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Shelf>,
    depth: Depth,
}

fn models() -> [&'static ModelMeta; 4] {
    models![Author, Book, Review, Shelf]
}

fn author(id: i32) -> Author {
    Author {
        id,
        name: format!("author {id}"),
        book_count: 0,
        newest: Vec::new(),
        reviews: Vec::new(),
    }
}

fn book(id: i32, author: i32) -> Book {
    Book {
        id,
        author: Ref::from(author),
        author_name: String::new(),
        year: 1900 + id,
        title: format!("book {id}"),
        tags: vec!["a".to_owned()],
        translator: None,
    }
}

/// Collections and indexes, two authors with three books and two reviews, and a tree of three shelves.
async fn filled(db: &Db) {
    let plan = db.sync(models()).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let authors = db.collection::<Author>();
    authors.insert_many([author(1), author(2)]).await.unwrap();
    let books = [book(1, 1), book(2, 1), book(3, 1), book(4, 2)];
    db.collection()
        .insert_many(books)
        .propagate()
        .await
        .unwrap();
    let reviews = [1, 2].map(|id| Review {
        id,
        reviewer: Some(Ref::from(id)),
    });
    db.collection()
        .insert_many(reviews)
        .propagate()
        .await
        .unwrap();
    let tree = db.tree::<Shelf>();
    let shelf = |id| Shelf {
        id,
        parent: Parent::default(),
        depth: Depth::default(),
    };
    let root = tree.insert(shelf(1), Position::root()).await.unwrap().node;
    let below = tree
        .insert(shelf(2), Position::child_of(&root))
        .await
        .unwrap()
        .node;
    tree.insert(shelf(3), Position::child_of(&below))
        .await
        .unwrap();
}

/// A write of another program, which validators do not stop.
async fn set(db: &Db, collection: &str, id: i32, change: BsonDocument) {
    let update = doc! {
        "update": collection,
        "updates": [{"q": {"_id": id}, "u": change}],
        "bypassDocumentValidation": true,
    };
    db.run_command(update).await.unwrap();
}

async fn insert(db: &Db, collection: &str, documents: impl IntoIterator<Item = BsonDocument>) {
    let documents: Vec<Bson> = documents.into_iter().map(Bson::from).collect();
    let insert = doc! {
        "insert": collection,
        "documents": documents,
        "bypassDocumentValidation": true,
    };
    db.run_command(insert).await.unwrap();
}

async fn check(db: &Db) -> CheckReport {
    db.check(models()).await.unwrap()
}

fn texts(report: &CheckReport) -> Vec<String> {
    let mut texts: Vec<_> = report.listed.iter().map(Finding::to_string).collect();
    texts.sort();
    texts
}

/// The kinds and paths of what was found.
fn places(report: &CheckReport) -> BTreeMap<String, u64> {
    let counts = report.counts.iter();
    let place = |count: &odm::check::FindingCount| {
        let place = format!("{} {} {}", count.model, count.kind.code(), count.path);
        (place.trim().to_owned(), count.count)
    };
    counts.map(place).collect()
}
