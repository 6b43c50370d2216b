//! How long the changes of eight tasks on one tree take: in turns, and with the pauses of transactions that conflict.
//!
//! `cargo run --release -p odm-benches --bin tree-writers -- URI [CHANGES]`: one task inserts `CHANGES` nodes (default 20) below one
//! parent, one after the other; then eight tasks insert that many each, first with clones of one handle, whose changes take
//! turns, then with a connection for each task, as different processes have. Shown are the slowest change and the time of
//! all, and the times of the connections as multiples of those of the clones.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that measures: its report is what it is for"
)]

use std::env;
use std::time::{Duration, Instant};

use odm::prelude::*;
use odm::tree::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "writers", tree(materialized_path, order = rank))]
struct Node {
    #[serde(rename = "_id")]
    id: Id<Node>,
    path: Materialized<Node>,
    rank: Rank,
}

impl Node {
    fn new() -> Self {
        Self {
            id: Id::new(),
            path: Materialized::default(),
            rank: Rank::default(),
        }
    }
}

const TASKS: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = env::args().skip(1);
    let uri = arguments.next().expect("the URI of a database");
    let changes = arguments.next().map_or(20, |text| text.parse().unwrap());
    let db = Db::connect(&uri).await.unwrap();
    db.collection::<Node>().drop().await.unwrap();
    let plan = db.sync([Node::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let (one, _) = run(vec![db.clone()], changes).await;
    println!("one task: the slowest of {changes} changes took {one:.1?}");
    let turns = run(vec![db.clone(); TASKS], changes).await;
    report("in turns", turns);
    let mut connections = Vec::new();
    for _ in 0..TASKS {
        connections.push(Db::connect(&uri).await.unwrap());
    }
    let pauses = run(connections, changes).await;
    report("with pauses", pauses);
    let times = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!(
        "with pauses, the slowest change took {:.1} times as long, and all of them {:.1} times",
        times(pauses.0, turns.0),
        times(pauses.1, turns.1)
    );
    db.collection::<Node>().drop().await.unwrap();
}

fn report(how: &str, (slowest, all): (Duration, Duration)) {
    println!("{TASKS} tasks, {how}: the slowest change took {slowest:.1?}, all took {all:.1?}");
}

/// Inserts nodes by a task for each handle; returns how long the slowest insert took, and all of them.
async fn run(handles: Vec<Db>, changes: usize) -> (Duration, Duration) {
    let parent = handles.first().unwrap().tree::<Node>();
    let parent = parent.insert(Node::new(), Position::root()).await.unwrap();
    let parent = parent.node.id;
    let began = Instant::now();
    let tasks = handles.into_iter().map(|db| {
        tokio::spawn(async move {
            let tree = db.tree::<Node>();
            let mut slowest = Duration::ZERO;
            for _ in 0..changes {
                let began = Instant::now();
                let place = Position::child_of(Ref::from(parent));
                tree.insert(Node::new(), place).await.unwrap();
                slowest = slowest.max(began.elapsed());
            }
            slowest
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut slowest = Duration::ZERO;
    for task in tasks {
        slowest = slowest.max(task.await.unwrap());
    }
    (slowest, began.elapsed())
}
