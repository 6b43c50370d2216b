//! The in-memory engine beside what could stand in its place: a bare `BTreeMap` of BSON bytes, `SQLite` in memory with
//! JSONB, and a real server over loopback. All in one run, by turns.
//!
//! ```sh
//! ODM_TEST_URI='mongodb://127.0.0.1:27017/?directConnection=true' ODM_BENCH_MONGOD_PID=$(pidof mongod) \
//!     cargo bench -p odm-benches --features sqlite --bench engine
//! cargo bench -p odm-benches --features sqlite --bench engine -- --films
//! cargo bench -p odm-benches --features sqlite --bench engine -- --growth
//! cargo bench -p odm-benches --features sqlite --bench engine -- --threads
//! cargo bench -p odm-benches --features sqlite --bench engine -- --steps
//! ```
//!
//! Without a server its columns are left out. Of each figure the best of `ODM_BENCH_ROUNDS` rounds counts (5 unless
//! told): the machine's other work can only add to a time. What runs in this process, on one thread, is measured in
//! processor time, which other work disturbs least; the server's calls are measured by the clock.
//!
//! `--films` measures films of 22 fields, with and without the validator of sync. `--growth` shows how the engine's figures
//! and its memory grow from 10,000 to 1,000,000 documents, loaded and then updated; `--threads` compares two threads that
//! share a collection with one; `--steps` shows what each key, index and array element adds to the cost of a write, and each
//! index that the write does not concern. `--repeat NAME` runs one operation of the engine alone, for a profiler, on small
//! documents unless told `--large` or `--films`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

mod engine;
#[macro_use]
#[path = "../models/film.rs"]
mod film;
#[path = "../models/film_text.rs"]
mod film_text;
mod films;
mod item;
mod measure;
mod process;
mod report;
mod server;
mod sqlite;
mod steps;
mod threads;
mod tree;

use std::env;
use std::process::Command;

use item::{Item, Size};
use measure::{Rounds, Subject};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let text = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let value = |name: &str| text(name)?.parse::<i64>().ok();
    if let Some(count) = value("--memory") {
        return engine::memory(count);
    }
    if let Some(store) = text("--films-of") {
        return films::once(store, value("--documents").unwrap());
    }
    if let Some(operation) = text("--repeat") {
        if flag("--films") {
            return films::repeat(operation, flag("--validator"));
        }
        let mut engine = engine::Engine::new();
        let size = if flag("--large") {
            Size::Large
        } else {
            Size::Small
        };
        return measure::repeat(&mut engine, operation, 100_000, size);
    }
    if flag("--growth") {
        return growth();
    }
    if flag("--threads") {
        return threads::report(Rounds::from_env(5).count());
    }
    if flag("--steps") {
        return steps::report(Rounds::from_env(5).count());
    }
    if flag("--films") {
        let documents = value("--documents").unwrap_or(100_000);
        return films::compare(documents, &Rounds::from_env(5));
    }
    let rounds = Rounds::from_env(5);
    for size in [Size::Small, Size::Large] {
        let items = value("--documents").unwrap_or(100_000);
        let mut subjects: Vec<Box<dyn Subject>> = vec![
            Box::new(engine::Engine::new()),
            Box::new(tree::Tree::default()),
            Box::new(sqlite::Sqlite::new()),
        ];
        subjects
            .extend(server::Server::from_env().map(|server| Box::new(server) as Box<dyn Subject>));
        let costs = rounds.run(&mut subjects, items, size);
        println!(
            "\n{items} documents of {} bytes; microseconds\n",
            Item::new(0, items, size).bson().len()
        );
        report::comparison(&costs);
    }
}

/// The engine alone, from 10,000 documents to 1,000,000.
fn growth() {
    let counts = [10_000, 100_000, 1_000_000];
    let columns: Vec<Vec<f64>> = counts
        .iter()
        .map(|count| {
            let mut subjects: Vec<Box<dyn Subject>> = vec![Box::new(engine::Engine::new())];
            let mut costs = Rounds::from_env(3).run(&mut subjects, *count, Size::Small);
            costs.remove(0).processor
        })
        .collect();
    report::growth(&counts, &columns);
    println!("\n| documents | state | BSON, bytes | index keys, bytes | memory, bytes | ratio |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for count in counts {
        // A process of its own, so that nothing but the documents makes it grow.
        let status = Command::new(env::current_exe().unwrap())
            .args(["--memory", &count.to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }
}
