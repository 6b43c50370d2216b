//! What the operations of trees cost, for each pattern: beside the same work written by hand with the driver, and beside one
//! command for each document. On the in-memory store, and on a real server if one is named.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' cargo bench -p odm-benches --bench trees
//! cargo bench -p odm-benches --bench trees -- memory wide nested-sets move
//! ```
//!
//! The trees have 100,000 nodes (`ODM_BENCH_NODES`). The wide one has four levels, and about 100 children in its nodes. The
//! deep one has 100 levels, and chains of nodes with one child: deeper ones are no use for patterns that store all
//! ancestors of a node, whose documents grow with the depth.
//!
//! All ways of a case run by turns, and read or write the same number of documents; in the end each tree is sound. Wall
//! time and the CPU time of this process are medians over the rounds (`ODM_BENCH_ROUNDS`, 9 by default; at most 3 of those
//! that load, and 1 of those that send a command for each document). Changes run in transactions with the tree's fence,
//! whatever the way; a load in a deep tree does not, because it can take longer than MongoDB gives a transaction.
//! Those of one command for each document can take minutes: the mongod must allow that (`enableTestCommands`, or a larger
//! `transactionLifetimeLimitSeconds`). The bar is 1.1 times the driver. Words behind `--` select stores, shapes, patterns and operations by their names.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

mod by_hand;
mod measure;
mod models;
mod one_by_one;
mod place;
mod shape;

use std::env;
use std::sync::atomic::{AtomicI32, Ordering};

use by_hand::ByHand;
use futures::FutureExt;
use measure::{After, Ways, way};
use models::{BenchNode, ByAncestors, ByBounds, ByChildren, ByParent, ByPath, title};
use mongodb::bson::oid::ObjectId;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{Pattern, TreeDelete};
use odm_benches::mongod_uri;
use one_by_one::{Deleted, OneByOne};
use place::At;
use shape::Shape;
use tokio::runtime::Builder;

const STORES: [&str; 2] = ["memory", "mongod"];
const SHAPES: [&str; 2] = ["wide", "deep"];
const OPERATIONS: [&str; 8] = [
    "load",
    "children",
    "ancestors",
    "descendants",
    "insert last",
    "insert between",
    "move",
    "delete",
];
const PATTERNS: [Pattern; 5] = [
    Pattern::ParentReferences,
    Pattern::ChildReferences,
    Pattern::ArrayOfAncestors,
    Pattern::MaterializedPath,
    Pattern::NestedSets,
];

/// What the command line and the environment choose.
struct Choice {
    words: Vec<String>,
    rounds: usize,
    nodes: usize,
}

fn word(name: &str) -> String {
    name.replace(' ', "-")
}

impl Choice {
    fn new() -> Self {
        let number = |name: &str, usual| {
            let set = env::var(name).ok().and_then(|text| text.parse().ok());
            set.unwrap_or(usual)
        };
        let words = env::args().skip(1).filter(|word| !word.starts_with("--"));
        let words: Vec<String> = words.collect();
        let known: Vec<String> = [&STORES[..], &SHAPES, &OPERATIONS, &PATTERNS.map(title)]
            .concat()
            .into_iter()
            .map(word)
            .collect();
        for word in &words {
            assert!(known.contains(word), "{word} is none of {known:?}");
        }
        Self {
            words,
            rounds: number("ODM_BENCH_ROUNDS", 9),
            nodes: number("ODM_BENCH_NODES", 100_000),
        }
    }

    /// Whether a name is chosen, or none of those that could stand in its place.
    fn has(&self, name: &str, all: &[&str]) -> bool {
        let chosen = |name: &str| self.words.contains(&word(name));
        chosen(name) || !all.iter().any(|other| chosen(other))
    }

    fn operation(&self, name: &str) -> bool {
        self.has(name, &OPERATIONS)
    }
}

/// One tree in one store.
struct Bench<'b> {
    choice: &'b Choice,
    shape: &'b Shape,
    db: Db,
    driver: Option<mongodb::Database>,
    /// The id of the next node to insert.
    next: AtomicI32,
}

impl Bench<'_> {
    /// Makes the collection anew.
    async fn clear<M: BenchNode>(&self) {
        self.db.drop().await.unwrap();
        let plan = self.db.sync(models![M]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
    }

    async fn load<M: BenchNode>(&self) -> usize {
        let edges = self.shape.edges();
        let edges = edges.map(|(id, parent)| (M::new(id), parent.map(Ref::<M>::from)));
        let mut load = self.db.tree::<M>().insert_edges(edges);
        if !self.loads_atomically() {
            load = load.non_atomic();
        }
        usize::try_from(load.await.unwrap().inserted).unwrap()
    }

    fn loads_atomically(&self) -> bool {
        self.shape.name == "wide"
    }

    async fn pattern<M: BenchNode>(&self) {
        let title = title(M::PATTERN);
        if !self.choice.has(title, &PATTERNS.map(models::title)) {
            return;
        }
        let by_hand = self.driver.as_ref().map(ByHand::<M>::new);
        let by_hand = by_hand.as_ref();
        self.loads(by_hand).await;
        self.reads(by_hand).await;
        self.writes(by_hand).await;
        self.deletes(by_hand).await;
        let report = self.db.tree::<M>().check().await.unwrap();
        assert!(report.is_sound(), "{title}: {report}");
        self.db.drop().await.unwrap();
    }

    async fn compare<M: BenchNode>(&self, operation: &str, ways: Ways<'_>) {
        if self.choice.operation(operation) {
            let title = title(M::PATTERN);
            let row = ways.compare(&format!("{title}, {operation}")).await;
            row.print(title, operation);
        }
    }

    async fn loads<M: BenchNode>(&self, by_hand: Option<&ByHand<M>>) {
        let rounds = self.choice.rounds.min(3);
        let one_by_one = OneByOne { db: &self.db };
        let atomic = self.loads_atomically();
        let ways = Ways {
            odm: way(rounds, || self.load::<M>()),
            by_hand: by_hand.map(|it| way(rounds, move || it.load(self.shape.edges(), atomic))),
            one_by_one: Some(way(1, || one_by_one.load(M::PATTERN, self.shape.edges()))),
            before: Some(Box::new(|| {
                async {
                    self.clear::<M>().await;
                    After(async {}.boxed_local())
                }
                .boxed_local()
            })),
        };
        self.compare::<M>("load", ways).await;
        self.clear::<M>().await;
        let loaded = self.load::<M>().await;
        assert_eq!(loaded, self.shape.parents.len());
    }

    async fn reads<M: BenchNode>(&self, by_hand: Option<&ByHand<M>>) {
        let rounds = self.choice.rounds;
        let points = &self.shape.points;
        let tree = self.db.tree::<M>();
        let tree = &tree;
        let ways = Ways {
            odm: way(rounds * 10, || async {
                let found = tree.children(Ref::from(points.parent)).all();
                found.await.unwrap().len()
            }),
            by_hand: by_hand.map(|it| {
                way(rounds * 10, move || async {
                    it.children(points.parent).await.len()
                })
            }),
            one_by_one: None,
            before: None,
        };
        self.compare::<M>("children", ways).await;
        let ways = Ways {
            odm: way(rounds, || async {
                let found = tree.ancestors(Ref::from(points.leaf)).all();
                found.await.unwrap().len()
            }),
            by_hand: by_hand.map(|it| {
                way(rounds, move || async {
                    it.ancestors(points.leaf).await.len()
                })
            }),
            one_by_one: None,
            before: None,
        };
        self.compare::<M>("ancestors", ways).await;
        let ways = Ways {
            odm: way(rounds, || async {
                let found = tree.descendants(Ref::from(points.inner)).all();
                found.await.unwrap().len()
            }),
            by_hand: by_hand.map(|it| {
                way(rounds, move || async {
                    it.descendants(points.inner).await.len()
                })
            }),
            one_by_one: None,
            before: None,
        };
        self.compare::<M>("descendants", ways).await;
    }

    async fn writes<M: BenchNode>(&self, by_hand: Option<&ByHand<M>>) {
        let rounds = self.choice.rounds;
        let points = &self.shape.points;
        let tree = &self.db.tree::<M>();
        let one_by_one = &OneByOne { db: &self.db };
        let id = || self.next.fetch_add(1, Ordering::Relaxed);
        let is_nested = M::PATTERN == Pattern::NestedSets;
        // Other patterns insert with a few commands, whatever the tree.
        let many = if is_nested { rounds } else { rounds * 10 };
        for (operation, at) in [
            ("insert last", At::LastIn(points.growing)),
            ("insert between", At::Before(points.sibling)),
        ] {
            let ways = Ways {
                odm: way(many, move || async move {
                    let inserted = tree.insert(M::new(id()), position(at)).await.unwrap();
                    let written = inserted.written;
                    usize::try_from(written.inserted + written.modified).unwrap()
                }),
                by_hand: by_hand.map(|it| way(many, move || it.insert(id(), at))),
                one_by_one: is_nested.then(|| way(1, move || one_by_one.insert::<M>(id(), at))),
                before: None,
            };
            // The ways do not insert in the same place: nested sets have one more node behind it each time.
            self.compare::<M>(operation, ways).await;
        }
        let there = At::LastIn(points.target);
        let back = At::Before(points.next);
        let rewrites = !matches!(
            M::PATTERN,
            Pattern::ParentReferences | Pattern::ChildReferences
        );
        let rounds = if rewrites { rounds } else { rounds * 10 };
        let ways = Ways {
            odm: way(rounds, || async {
                let mut modified = 0;
                for at in [there, back] {
                    let moved = tree.move_to(Ref::from(points.moved), position(at));
                    modified += moved.await.unwrap().modified;
                }
                usize::try_from(modified).unwrap()
            }),
            by_hand: by_hand.map(|it| {
                way(rounds, move || async move {
                    it.relocate(points.moved, there).await + it.relocate(points.moved, back).await
                })
            }),
            one_by_one: rewrites.then(|| {
                way(1, || async {
                    let there = one_by_one.relocate::<M>(points.moved, there).await;
                    there + one_by_one.relocate::<M>(points.moved, back).await
                })
            }),
            before: None,
        };
        self.compare::<M>("move", ways).await;
    }

    async fn deletes<M: BenchNode>(&self, by_hand: Option<&ByHand<M>>) {
        let rounds = self.choice.rounds;
        let id = self.shape.points.deleted;
        let tree = &self.db.tree::<M>();
        let one_by_one = &OneByOne { db: &self.db };
        let ways = Ways {
            odm: way(rounds, || async {
                let delete = tree.delete(Ref::from(id)).policy(TreeDelete::Cascade);
                let written = delete.await.unwrap();
                usize::try_from(written.deleted + written.modified).unwrap()
            }),
            by_hand: by_hand.map(|it| way(rounds, move || it.delete(id))),
            one_by_one: Some(way(1, || one_by_one.delete::<M>(id))),
            before: Some(Box::new(|| {
                async {
                    let ids = tree.descendants(Ref::from(id)).ids().await.unwrap();
                    let deleted = Deleted::read::<M>(&self.db, id, ids).await;
                    After(deleted.restore::<M>(&self.db).boxed_local())
                }
                .boxed_local()
            })),
        };
        self.compare::<M>("delete", ways).await;
    }
}

fn position<M: BenchNode>(at: At) -> Position<M> {
    match at {
        At::LastIn(parent) => Position::child_of(Ref::from(parent)),
        At::Before(sibling) => Position::before(Ref::from(sibling)),
    }
}

async fn run(choice: &Choice, store: &str) {
    if !choice.has(store, &STORES) {
        return;
    }
    let driver = if store == "mongod" {
        let Some(uri) = mongod_uri() else {
            println!("{store}: skipped; name a server in ODM_TEST_URI");
            return;
        };
        let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
        // One client for all ways: the same connections and the same view of the cluster.
        Some(client.database(&format!("odm_{}", ObjectId::new())))
    } else {
        None
    };
    for shape in [Shape::wide(choice.nodes), Shape::deep(choice.nodes)] {
        if !choice.has(shape.name, &SHAPES) {
            continue;
        }
        println!("\n{store}, {}, {} nodes\n", shape.name, shape.parents.len());
        println!(
            "| pattern | operation | odm, ms | odm ÷ driver, wall | CPU | one command per document ÷ odm |"
        );
        println!("|{}", " --- |".repeat(6));
        let bench = Bench {
            choice,
            shape: &shape,
            db: driver.clone().map_or_else(Db::memory, Db::from_driver),
            driver: driver.clone(),
            next: AtomicI32::new(1_000_000_000),
        };
        bench.pattern::<ByParent>().await;
        bench.pattern::<ByChildren>().await;
        bench.pattern::<ByAncestors>().await;
        bench.pattern::<ByPath>().await;
        bench.pattern::<ByBounds>().await;
    }
}

fn main() {
    let choice = Choice::new();
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for store in STORES {
            run(&choice, store).await;
        }
    });
}
