//! How long `check` takes, and how much memory, by the pattern of the tree.
//!
//! `cargo run --release -p odm-benches --bin tree-check -- URI [NODES [CHILDREN [PATTERN]]]`: it loads a tree of
//! `NODES` nodes (default 1,000,000), each with `CHILDREN` children (default 10). Each check runs in a process of its own, which
//! reports its peak resident memory before and after the check. Linux only: it reads `/proc/self/status`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that measures: its report is what it is for"
)]

#[path = "../../../src/suite/trees/models.rs"]
#[expect(dead_code, reason = "the suite uses more of it")]
mod models;

use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, TestTree,
};
use odm::prelude::*;

const PATTERNS: [&str; 7] = [
    "parent",
    "children",
    "ancestors",
    "path",
    "bounds",
    "bounds-and-parent",
    "all",
];

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = env::args().skip(1);
    let uri = arguments.next().expect("the URI of a database");
    let mut number = |default| {
        arguments
            .next()
            .map_or(default, |text| text.parse().unwrap())
    };
    let (nodes, children) = (number(1_000_000), number(10));
    let only = arguments.next();
    if let Some(verb) = arguments.next() {
        let db = Db::connect(&uri).await.unwrap();
        match only.as_deref().unwrap() {
            "parent" => run::<ByParent>(&db, nodes, children, &verb).await,
            "children" => run::<ByChildren>(&db, nodes, children, &verb).await,
            "ancestors" => run::<ByAncestors>(&db, nodes, children, &verb).await,
            "path" => run::<ByPath>(&db, nodes, children, &verb).await,
            "bounds" => run::<ByBounds>(&db, nodes, children, &verb).await,
            "bounds-and-parent" => run::<ByBoundsAndParent>(&db, nodes, children, &verb).await,
            _ => run::<ByAll>(&db, nodes, children, &verb).await,
        }
        return;
    }
    for pattern in PATTERNS {
        if only.as_deref().is_some_and(|only| only != pattern) {
            continue;
        }
        for verb in ["load", "check"] {
            let status = Command::new(env::current_exe().unwrap())
                .args([
                    &uri,
                    &nodes.to_string(),
                    &children.to_string(),
                    pattern,
                    verb,
                ])
                .stdin(Stdio::null())
                .status();
            assert!(status.unwrap().success());
        }
    }
}

async fn run<D: TestTree>(db: &Db, nodes: i32, children: i32, verb: &str) {
    let tree = db.tree::<D>();
    let name = D::Model::model().collection;
    let began = Instant::now();
    if verb == "load" {
        tree.collection().drop().await.unwrap();
        let plan = db.sync([D::Model::model()]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        let edges = (1..=nodes).map(|id| {
            let parent = (id > 1).then(|| Ref::<D::Model>::from((id - 2) / children + 1));
            (D::node(id), parent)
        });
        tree.insert_edges(edges).non_atomic().await.unwrap();
        println!("{name}: loaded in {:.1?}", began.elapsed());
        return;
    }
    let before = largest_resident();
    let mut reports = 0;
    let check = tree.check().on_progress(|_| reports += 1);
    let report = check.await.unwrap();
    assert!(report.is_sound(), "{report}");
    println!(
        "{name}: {} nodes checked in {:.1?}, {reports} reports of progress, {before} kB before and {} kB after",
        report.read,
        began.elapsed(),
        largest_resident()
    );
    tree.collection().drop().await.unwrap();
}

/// The largest resident memory of this process so far, in kilobytes.
fn largest_resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}
