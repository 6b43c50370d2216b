//! How the cost of one write grows with the keys, the indexes and the array elements that it touches, and what indexes
//! of other fields add to it. Costs must grow in proportion, without steps.

use bson::Document;
use odm::prelude::*;
use tokio::runtime::{Builder, Runtime};

use crate::measure::processor_time;

/// The writes of one measurement.
const CALLS: i32 = 1_500;

const KEYS: [i32; 6] = [1, 30, 60, 64, 100, 200];
const INDEXES: [i32; 5] = [1, 16, 32, 33, 48];
const ELEMENTS: [i32; 4] = [10, 100, 1_000, 10_000];

/// An engine with one collection, and what is written to it.
struct Case {
    runtime: Runtime,
    db: Db,
    next: i32,
}

impl Case {
    fn new(indexes: Vec<Document>) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let case = Self {
            runtime,
            db: Db::memory(),
            next: 0,
        };
        if !indexes.is_empty() {
            case.run(doc! { "createIndexes": "c", "indexes": indexes });
        }
        case
    }

    fn run(&self, command: Document) {
        self.runtime
            .block_on(async { self.db.run_command(command).await.unwrap() });
    }

    fn insert(&self, document: Document) {
        self.run(doc! { "insert": "c", "documents": [document] });
    }

    fn update(&self, id: i32, update: Document) {
        self.run(doc! { "update": "c", "updates": [{ "q": { "_id": id }, "u": update }] });
    }

    /// The microseconds of processor time of one write.
    fn time(&mut self, write: fn(&Self, i32, i32), size: i32) -> f64 {
        let began = processor_time();
        for at in self.next..self.next + CALLS {
            write(self, at, size);
        }
        self.next += CALLS;
        processor_time().saturating_sub(began).as_secs_f64() * 1e6 / f64::from(CALLS)
    }
}

/// The best of several rounds of each size, by turns.
fn best(
    rounds: usize,
    sizes: &[i32],
    make: fn(i32) -> Case,
    write: fn(&Case, i32, i32),
) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; sizes.len()];
    for _ in 0..rounds {
        for (size, best) in sizes.iter().zip(&mut best) {
            let mut case = make(*size);
            *best = best.min(case.time(write, *size));
        }
    }
    best
}

/// Prints the cost of a write for each size, and what each thing more adds to the cost of the smallest.
fn table(what: &str, sizes: &[i32], costs: &[f64]) {
    println!("\n| {what} | write, µs | for each more, µs |");
    println!("| --- | --- | --- |");
    for (size, cost) in sizes.iter().zip(costs) {
        let more = f64::from(size - sizes[0]);
        let each = if more > 0.0 {
            format!("{:.3}", (cost - costs[0]) / more)
        } else {
            String::new()
        };
        println!("| {size} | {cost:.2} | {each} |");
    }
}

fn keyed(_: i32) -> Case {
    Case::new(vec![doc! { "key": { "tags": 1 }, "name": "tags" }])
}

fn insert_keys(case: &Case, at: i32, keys: i32) {
    let tags: Vec<i32> = (0..keys).map(|key| key * 1_000 + at % 1_000).collect();
    case.insert(doc! { "_id": at, "tags": tags });
}

fn indexed(indexes: i32) -> Case {
    let spec = |at: i32| doc! { "key": { "n": 1, format!("f{at}"): 1 }, "name": format!("n{at}") };
    let case = Case::new((0..indexes).map(spec).collect());
    for id in 0..200 {
        case.insert(doc! { "_id": id, "n": id });
    }
    case
}

fn increment(case: &Case, at: i32, _: i32) {
    case.update(at % 200, doc! { "$inc": { "n": 1 } });
}

fn growing(elements: i32) -> Case {
    let case = Case::new(Vec::new());
    for id in 0..50 {
        let list: Vec<i32> = (0..elements).collect();
        case.insert(doc! { "_id": id, "list": list });
    }
    case
}

fn push(case: &Case, at: i32, _: i32) {
    case.update(at % 50, doc! { "$push": { "list": at } });
}

/// Text and wildcard indexes, and none: which one by number.
fn beside(which: i32) -> Case {
    let text = doc! { "key": { "title": "text", "body": "text" }, "name": "words" };
    let all = doc! { "key": { "$**": 1 }, "name": "all", "wildcardProjection": { "n": 0 } };
    let below = doc! { "key": { "tags.$**": 1 }, "name": "below" };
    let case = Case::new(match which {
        1 => vec![text],
        2 => vec![all],
        3 => vec![below],
        _ => Vec::new(),
    });
    for id in 0..200 {
        case.insert(doc! {
            "_id": id,
            "title": "Prices of running shoes",
            "body": "Numbers are compared by value, whatever their type; running prices are compared weekly.",
            "tags": { "color": "red", "sizes": [40, 41, 42], "maker": { "name": "x", "since": 1990 } },
            "n": 0,
        });
    }
    case
}

pub(crate) fn report(rounds: usize) {
    table(
        "insert: keys",
        &KEYS,
        &best(rounds, &KEYS, keyed, insert_keys),
    );
    table(
        "`$inc`: indexes",
        &INDEXES,
        &best(rounds, &INDEXES, indexed, increment),
    );
    table(
        "`$push`: elements",
        &ELEMENTS,
        &best(rounds, &ELEMENTS, growing, push),
    );
    let names = ["none", "text", "wildcard", "wildcard below a path"];
    let costs = best(rounds, &[0, 1, 2, 3], beside, increment);
    println!("\n| `$inc` beside an index of other fields | µs | ratio |");
    println!("| --- | --- | --- |");
    for (name, cost) in names.iter().zip(&costs) {
        println!("| {name} | {cost:.2} | {:.2} |", cost / costs[0]);
    }
}
