//! The fields that the library maintains: what each write does to them, held against the table in the book.

use std::fs;
use std::path::Path;

use odm::bson::{self, Bson, DateTime};
use odm::prelude::*;
use odm::query::raw;
use odm::tree::prelude::*;

use crate::case::cases;

cases![
    each_write_does_to_maintained_fields_what_the_book_says,
    typed_writes_of_fields_that_a_tree_keeps_are_refused,
];

/// Every maintained field that a document outside of trees may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(title), language = "english", max = 4))]
    words: Vec<String>,
    #[odm(version)]
    version: i32,
    #[odm(created_at)]
    created: DateTime,
    #[odm(updated_at)]
    updated: DateTime,
    #[odm(recent(Comment, max = 2, sort = id))]
    newest: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "comments")]
struct Comment {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = newest)]
    page: Ref<Page>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Comment)]
struct Line {
    #[serde(rename = "_id")]
    id: i32,
}

/// Every maintained field that a node may have. Its right bound changes with the nodes below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "nodes", tree(nested_sets, parent = parent))]
struct Node {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(title), language = "english", max = 4))]
    words: Vec<String>,
    #[odm(version)]
    version: i32,
    #[odm(created_at)]
    created: DateTime,
    #[odm(updated_at)]
    updated: DateTime,
    parent: Parent<Node>,
    left: Left,
    right: Right,
}

const CREATED: DateTime = DateTime::from_millis(1000);
const UPDATED: DateTime = DateTime::from_millis(2000);
const GIVEN: DateTime = DateTime::from_millis(3000);

/// The struct that a program writes.
fn page() -> Page {
    Page {
        id: 1,
        title: "new".to_owned(),
        words: vec!["given".to_owned()],
        version: 9,
        created: GIVEN,
        updated: GIVEN,
        newest: Vec::new(),
    }
}

fn node(id: i32) -> Node {
    Node {
        id,
        title: "new".to_owned(),
        words: vec!["given".to_owned()],
        version: 9,
        created: GIVEN,
        updated: GIVEN,
        parent: Parent::default(),
        left: Left::default(),
        right: Right::default(),
    }
}

/// Stores a document of another program.
async fn store(db: &Db, collection: &str, more: bson::Document) {
    let mut document = doc! {
        "_id": 1, "title": "old", "words": ["old"], "version": 5, "created": CREATED, "updated": UPDATED,
    };
    document.extend(more);
    let delete = doc! {"delete": collection, "deletes": [{"q": {}, "limit": 0}]};
    db.run_command(delete).await.unwrap();
    let insert = doc! {"insert": collection, "documents": [document]};
    db.run_command(insert).await.unwrap();
}

/// The effect on the maintained fields of the document with this `_id`, in the words of the book's table.
async fn outcome(db: &Db, collection: &str, id: i32) -> [String; 4] {
    let find = doc! {"find": collection, "filter": {"_id": id}, "singleBatch": true};
    let reply = db.run_command(find).await.unwrap();
    let batch = reply.get_document("cursor").unwrap();
    let document = batch.get_array("firstBatch").unwrap()[0]
        .as_document()
        .unwrap();
    let words = match document.get_array("words").map(Vec::as_slice) {
        Ok([Bson::String(word)]) if word == "new" => "computed",
        Ok([Bson::String(word)]) if word == "old" => "kept",
        Ok([Bson::String(word)]) if word == "given" => "as given",
        other => panic!("{other:?}"),
    };
    let version = match document.get_i32("version").unwrap() {
        5 => "kept",
        6 => "+1",
        9 => "as given",
        1 => "1",
        other => panic!("{other}"),
    };
    let time = |name, kept| match *document.get_datetime(name).unwrap() {
        time if time == kept => "kept",
        GIVEN => "as given",
        time if time.timestamp_millis() > 1_000_000 => "now",
        other => panic!("{other}"),
    };
    [
        words,
        version,
        time("created", CREATED),
        time("updated", UPDATED),
    ]
    .map(str::to_owned)
}

/// The verbs of a row in the book's table.
async fn write(db: &Db, verb: &str) -> [String; 4] {
    let pages = db.collection::<Page>();
    store(db, "pages", doc! {"newest": []}).await;
    let missing = if verb.starts_with("insert") || verb.starts_with("upsert") {
        doc! {"delete": "pages", "deletes": [{"q": {}, "limit": 0}]}
    } else {
        doc! {"ping": 1}
    };
    db.run_command(missing).await.unwrap();
    let new = "new";
    match verb {
        "insert_one" => drop(pages.insert_one(page()).await.unwrap()),
        "insert_many" => drop(pages.insert_many([page()]).await.unwrap()),
        "insert if nothing is found" => drop(
            pages
                .find_one_or_insert(|p| p.id.eq(1), page())
                .await
                .unwrap(),
        ),
        "insert in bulk" => {
            drop(pages.bulk_write(|w| [w.insert_one(page())]).await.unwrap());
        }
        "update_one" => drop(
            pages
                .update_one(|p| p.id.eq(1), |p| p.title.set(new))
                .await
                .unwrap(),
        ),
        "update_many" => drop(
            pages
                .update_many(|p| p.id.eq(1), |p| p.title.set(new))
                .await
                .unwrap(),
        ),
        "update_all" => drop(pages.update_all(|p| p.title.set(new)).await.unwrap()),
        "find_one_and_update" => drop(
            pages
                .find_one_and_update(|p| p.id.eq(1), |p| p.title.set(new))
                .await
                .unwrap(),
        ),
        "update in bulk" => drop(
            pages
                .bulk_write(|w| [w.update_one(|p| p.id.eq(1), |p| p.title.set(new))])
                .await
                .unwrap(),
        ),
        "upsert" => drop(
            pages
                .update_one(|p| p.id.eq(1), |p| p.title.set(new))
                .upsert(true)
                .await
                .unwrap(),
        ),
        "upsert in bulk" => drop(
            pages
                .bulk_write(|w| {
                    [w.update_one(|p| p.id.eq(1), |p| p.title.set(new))
                        .upsert(true)]
                })
                .await
                .unwrap(),
        ),
        "replace_one" => drop(
            pages
                .replace_one(|p| p.id.eq(1), page())
                .leave_stale()
                .await
                .unwrap(),
        ),
        "find_one_and_replace" => drop(
            pages
                .find_one_and_replace(|p| p.id.eq(1), page())
                .leave_stale()
                .await
                .unwrap(),
        ),
        "replace in bulk" => drop(
            pages
                .bulk_write(|w| [w.replace_one(|p| p.id.eq(1), page()).leave_stale()])
                .await
                .unwrap(),
        ),
        "save" => {
            let mut loaded = pages.load(&1).await.unwrap().unwrap();
            new.clone_into(&mut loaded.title);
            pages.save(&mut loaded).await.unwrap();
        }
        "save without changes" => {
            let mut loaded = pages.load(&1).await.unwrap().unwrap();
            pages.save(&mut loaded).await.unwrap();
        }
        "touch" => drop(pages.touch(&1).await.unwrap()),
        "the list of the newest" => {
            store(db, "pages", doc! {"newest": []}).await;
            let comment = Comment {
                id: 1,
                page: Ref::from(1),
            };
            let comments = db.collection::<Comment>();
            comments.delete_all().leave_dangling().await.unwrap();
            let insert = comments.insert_one(comment).propagate();
            insert.non_atomic().await.unwrap();
        }
        "raw update" => drop(
            pages
                .update_one(|p| p.id.eq(1), |_| raw(doc! {"$set": {"title": new}}))
                .await
                .unwrap(),
        ),
        other => panic!("{other}"),
    }
    outcome(db, "pages", 1).await
}

/// The effect of an insert on the new node or on the node above it, or of a move on the node that moves.
async fn nodes(db: &Db, what: &str) -> [String; 4] {
    store(db, "nodes", doc! {"parent": null, "left": 1, "right": 2}).await;
    let tree = db.tree::<Node>();
    tree.insert(node(2), Position::child_of(Ref::from(1)))
        .non_atomic()
        .await
        .unwrap();
    match what {
        "the node" => outcome(db, "nodes", 2).await,
        "the nodes around it" => outcome(db, "nodes", 1).await,
        "move" => {
            tree.move_to(Ref::from(2), Position::root())
                .non_atomic()
                .await
                .unwrap();
            tree.move_to(Ref::from(1), Position::child_of(Ref::from(2)))
                .non_atomic()
                .await
                .unwrap();
            outcome(db, "nodes", 1).await
        }
        other => panic!("{other}"),
    }
}

/// The cells of the rows of the book's table, without the column of trees.
fn rows() -> Vec<(String, [String; 4])> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/models.md");
    let chapter = fs::read_to_string(path).unwrap();
    let (_, table) = chapter
        .split_once("| write | fields of a tree | computed keywords | version | `created_at` | `updated_at` |")
        .unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [write, _, words, version, created, updated] = cells.as_slice() else {
            panic!("{line}");
        };
        (
            (*write).to_owned(),
            [words, version, created, updated].map(|cell| (*cell).to_owned()),
        )
    })
    .collect()
}

async fn each_write_does_to_maintained_fields_what_the_book_says(db: &Db) {
    let mut table = rows().into_iter();
    let groups: [&[&str]; 7] = [
        &[
            "insert_one",
            "insert_many",
            "insert if nothing is found",
            "insert in bulk",
        ],
        &[
            "update_one",
            "update_many",
            "update_all",
            "find_one_and_update",
            "update in bulk",
        ],
        &["upsert", "upsert in bulk"],
        &["replace_one", "find_one_and_replace", "replace in bulk"],
        &["save"],
        &["save without changes"],
        &["touch"],
    ];
    for verbs in groups {
        let (row, cells) = table.next().unwrap();
        for verb in verbs {
            assert_eq!(write(db, verb).await, cells, "{verb}: {row}");
        }
    }
    let (row, cells) = table.next().unwrap();
    assert_eq!(write(db, "the list of the newest").await, cells, "{row}");
    for what in ["the node", "the nodes around it", "move"] {
        let (row, cells) = table.next().unwrap();
        assert_eq!(nodes(db, what).await, cells, "{what}: {row}");
    }
    let (row, cells) = table.next().unwrap();
    assert_eq!(write(db, "raw update").await, cells, "{row}");
    assert_eq!(table.next(), None);
}

async fn typed_writes_of_fields_that_a_tree_keeps_are_refused(db: &Db) {
    store(db, "nodes", doc! {"parent": null, "left": 1, "right": 2}).await;
    let nodes = db.collection::<Node>();
    let mut loaded = nodes.load(&1).await.unwrap().unwrap();
    loaded.right = node(2).right;
    let refusals = [
        nodes.insert_one(node(2)).await.unwrap_err(),
        nodes.insert_many([node(2)]).await.unwrap_err(),
        nodes
            .bulk_write(|w| [w.insert_one(node(2))])
            .await
            .unwrap_err(),
        nodes
            .update_one(|n| n.id.eq(1), |n| n.right.set(Right::default()))
            .await
            .unwrap_err(),
        nodes
            .update_all(|n| n.right.set(Right::default()))
            .await
            .unwrap_err(),
        nodes
            .update_one(|n| n.id.eq(2), |n| n.title.set("new"))
            .upsert(true)
            .await
            .unwrap_err(),
        nodes
            .replace_one(|n| n.id.eq(1), node(1))
            .await
            .unwrap_err(),
        nodes
            .find_one_and_replace(|n| n.id.eq(1), node(1))
            .await
            .unwrap_err(),
        nodes.save(&mut loaded).await.unwrap_err(),
    ];
    for refusal in refusals {
        assert!(refusal.to_string().contains("tree"), "{refusal}");
    }
    assert_eq!(
        outcome(db, "nodes", 1).await,
        ["kept"; 4].map(str::to_owned)
    );
}
