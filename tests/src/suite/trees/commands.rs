//! What each operation sends, writes and searches, by pattern: the table of the book's chapter.

use std::fmt::Write as _;
use std::sync::Mutex;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;
use odm::tree::TreeDelete;
use odm::tree::prelude::*;

use crate::case::cases;
use crate::categories::{Category, PATTERNS};
use crate::categories::{by_ancestors, by_bounds, by_children, by_parent, by_path};
use crate::suite::relations::watched;

cases![
    every_operation_is_in_the_table_of_the_book,
    equal_changes_in_transactions_send_equal_commands,
];

const CHAPTER: &str = include_str!("../../../../book/src/trees.md");

async fn every_operation_is_in_the_table_of_the_book(db: &Db) {
    let mut columns = Vec::new();
    for pattern in PATTERNS {
        columns.push(match pattern.title {
            "tree, parent references" => cells::<by_parent::Category>(db, pattern.store).await,
            "tree, child references" => cells::<by_children::Category>(db, pattern.store).await,
            "tree, array of ancestors" => cells::<by_ancestors::Category>(db, pattern.store).await,
            "tree, materialized paths" => cells::<by_path::Category>(db, pattern.store).await,
            _ => cells::<by_bounds::Category>(db, pattern.store).await,
        });
    }
    let mut table = String::new();
    for (row, (operation, _)) in columns[0].iter().enumerate() {
        let cells = columns.iter().map(|cells| cells[row].1.as_str());
        let cells = cells.collect::<Vec<_>>().join(" | ");
        writeln!(table, "| {operation} | {cells} |").unwrap();
    }
    assert!(CHAPTER.contains(&table), "the chapter's table is\n{table}");
}

async fn equal_changes_in_transactions_send_equal_commands(db: &Db) {
    let pattern = PATTERNS
        .iter()
        .find(|it| it.title == "tree, materialized paths");
    (pattern.unwrap().store)(db).await.unwrap();
    let (watched, log) = watched(db);
    let tree = watched.tree::<by_path::Category>();
    let mut changes = Vec::new();
    for parent in ["Books", "Programming", "Books"] {
        let node = Ref::from("Databases");
        let place = Position::child_of(Ref::from(parent));
        tree.move_to(node, place).await.unwrap();
        changes.push(sent(&log));
    }
    assert_ne!(changes[0], changes[1]);
    assert_eq!(changes[0], changes[2]);
}

/// The commands that were sent, without those that start and end transactions.
fn sent(log: &Mutex<Vec<BsonDocument>>) -> Vec<BsonDocument> {
    let mut commands = std::mem::take(&mut *log.lock().unwrap());
    let ends = ["commitTransaction", "abortTransaction"];
    commands.retain(|one| !ends.iter().any(|end| one.contains_key(end)));
    commands
}

type Store = for<'d> fn(&'d Db) -> std::pin::Pin<Box<dyn Future<Output = odm::Result<()>> + 'd>>;

/// Each operation on the guides' categories, with its cell.
async fn cells<C: Category>(db: &Db, store: Store) -> Vec<(&'static str, String)> {
    let mut cells = Vec::new();
    for (name, operation) in operations::<C>() {
        let plan = db.sync([C::model()]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        store(db).await.unwrap();
        let (watched, log) = watched(db);
        let result = operation(watched.tree::<C>()).await;
        let cell = match result {
            Ok(written) => {
                let commands = sent(&log);
                let mut indexes = Vec::new();
                for command in &commands {
                    for index in searched(db, command).await {
                        if !indexes.contains(&index) {
                            indexes.push(index);
                        }
                    }
                }
                let written = (written > 0).then(|| format!(" + {written}"));
                let by = if indexes.is_empty() { "" } else { ": " };
                let written = written.unwrap_or_default();
                format!("{}{written}{by}{}", commands.len(), indexes.join(", "))
            }
            Err(error) => {
                assert!(error.tree_refusal().is_some(), "{name}: {error}");
                "—".to_owned()
            }
        };
        cells.push((name, cell));
        db.run_command(doc! {"drop": "categories"}).await.unwrap();
    }
    cells
}

/// Runs an operation; returns how many documents it has written, without the fence.
type Operation<C> = Box<dyn FnOnce(Tree<C>) -> Written>;
type Written = futures::future::LocalBoxFuture<'static, odm::Result<u64>>;

macro_rules! operation {
    ($name:literal, |$tree:ident| $read:expr) => {
        (
            $name,
            Box::new(|$tree: Tree<C>| {
                let written: Written = Box::pin(async move { $read.await.map(|_| 0) });
                written
            }) as Operation<C>,
        )
    };
    ($name:literal, |$tree:ident| $write:expr, |$done:ident| $written:expr) => {
        (
            $name,
            Box::new(|$tree: Tree<C>| {
                let written: Written = Box::pin(async move {
                    let $done = $write.await?;
                    Ok($written)
                });
                written
            }) as Operation<C>,
        )
    };
}

fn operations<C: Category>() -> Vec<(&'static str, Operation<C>)> {
    fn named<C: Category>(name: &str) -> Ref<C> {
        Ref::from(name)
    }
    vec![
        operation!("children", |tree| tree.children(named("Programming")).all()),
        operation!("parent", |tree| tree.parent(named("Databases")).all()),
        operation!("siblings", |tree| tree.siblings(named("Databases")).all()),
        operation!("ancestors", |tree| tree.ancestors(named("MongoDB")).all()),
        operation!("descendants", |tree| tree
            .descendants(named("Programming"))
            .all()),
        operation!("the same in pre-order", |tree| {
            tree.descendants(named("Programming")).pre_order().all()
        }),
        operation!("roots", |tree| tree.roots().all()),
        operation!("leaves", |tree| tree.leaves().all()),
        operation!("depth of a node", |tree| tree.depth(named("MongoDB"))),
        operation!("counts by depth", |tree| tree.all().counts_by_depth()),
        operation!(
            "insert a leaf",
            |tree| tree.insert(C::new("Redis"), Position::child_of(named("Databases"))),
            |done| done.written.inserted + done.written.modified
        ),
        operation!(
            "insert a root",
            |tree| tree.insert(C::new("Music"), Position::root()),
            |done| done.written.inserted + done.written.modified
        ),
        operation!(
            "move a subtree of 3",
            |tree| tree.move_to(named("Databases"), Position::child_of(named("Books"))),
            |done| done.modified
        ),
        operation!(
            "delete a leaf",
            |tree| tree.delete(named("dbm")),
            |done| done.deleted + done.modified
        ),
        operation!(
            "delete a subtree of 3",
            |tree| tree.delete(named("Databases")).policy(TreeDelete::Cascade),
            |done| done.deleted + done.modified
        ),
        operation!(
            "delete, adopt 2 children",
            |tree| tree.delete(named("Databases")).policy(TreeDelete::Adopt),
            |done| done.deleted + done.modified
        ),
        operation!(
            "delete, make 2 roots",
            |tree| tree
                .delete(named("Databases"))
                .policy(TreeDelete::MakeRoots),
            |done| done.deleted + done.modified
        ),
    ]
}

/// The first keys of the indexes that a command searches; `scan` if it reads the whole collection.
async fn searched(db: &Db, command: &BsonDocument) -> Vec<String> {
    let mut indexes = Vec::new();
    for part in parts(command) {
        let explain = doc! {"explain": part, "verbosity": "queryPlanner"};
        let reply = db.run_command(explain).await.unwrap();
        winning_stages(&Bson::Document(reply), &mut indexes);
    }
    indexes
}

/// The commands to explain: each statement of a write, and each search of a pipeline.
fn parts(command: &BsonDocument) -> Vec<BsonDocument> {
    let kept = [
        "find",
        "aggregate",
        "count",
        "filter",
        "query",
        "sort",
        "limit",
        "pipeline",
    ];
    let (name, collection) = command.iter().next().unwrap();
    if collection.as_str() != Some("categories") {
        return Vec::new();
    }
    let statements = match name.as_str() {
        "insert" => return Vec::new(),
        "update" => "updates",
        "delete" => "deletes",
        _ => {
            let mut part: BsonDocument = command.clone();
            let fields: Vec<String> = part.keys().cloned().collect();
            for field in fields
                .iter()
                .filter(|field| !kept.contains(&field.as_str()))
            {
                part.remove(field);
            }
            let mut parts = Vec::new();
            if name == "aggregate" {
                part.insert("cursor", doc! {});
                let stages = command.get_array("pipeline").unwrap().clone();
                parts.extend(stages.iter().filter_map(lookup));
            }
            parts.insert(0, part);
            return parts;
        }
    };
    let each = command.get_array(statements).unwrap().iter();
    each.map(|statement| doc! {name: "categories", statements: [statement.clone()]})
        .collect()
}

/// A find that searches as a stage of a pipeline does in the other collection.
fn lookup(stage: &Bson) -> Option<BsonDocument> {
    let stage = stage.as_document()?;
    let field = if let Ok(lookup) = stage.get_document("$lookup") {
        lookup.get_str("foreignField")
    } else {
        stage
            .get_document("$graphLookup")
            .ok()?
            .get_str("connectToField")
    };
    Some(doc! {"find": "categories", "filter": {field.ok()?: {"$in": ["x", "y"]}}})
}

fn winning_stages(value: &Bson, indexes: &mut Vec<String>) {
    match value {
        Bson::Document(document) => {
            let index = match document.get_str("stage") {
                Ok("IDHACK") => Some("_id".to_owned()),
                Ok("COLLSCAN") => Some("scan".to_owned()),
                Ok("IXSCAN" | "DISTINCT_SCAN") => {
                    let keys = document.get_document("keyPattern").unwrap();
                    Some(keys.keys().next().unwrap().clone())
                }
                _ => None,
            };
            indexes.extend(index);
            let plans = document.iter();
            for (_, value) in plans.filter(|(name, _)| *name != "rejectedPlans") {
                winning_stages(value, indexes);
            }
        }
        Bson::Array(values) => values
            .iter()
            .for_each(|value| winning_stages(value, indexes)),
        _ => {}
    }
}
