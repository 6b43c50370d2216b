//! Realistic documents: films of 22 fields, with `ObjectId`s and dates; without a validator, with that of sync, and
//! beside `SQLite`.
//!
//! `SQLite` stores what JSON has words for: ids as hexadecimal text, dates as milliseconds.

mod engine;
mod sqlite;

use std::env;
use std::process::Command;
use std::time::Duration;

use odm::prelude::*;

use crate::film::{Film, Films, object_id};
use crate::film_text::FilmText;
use crate::measure::Rounds;

/// A film in the forms that stores take, so that no clock runs while one becomes the other.
struct Input {
    film: Film,
    text: FilmText,
}

/// Keeps films, with an index on the rank. What finds films decodes them, and returns how many they were.
trait Store {
    fn clear(&mut self);
    fn insert_one(&mut self, films: &[Input]);
    fn insert_many(&mut self, films: &[Input]);
    fn by_id(&mut self, ids: &[ObjectId]) -> usize;
    fn by_rank(&mut self, ranks: &[i32]) -> usize;
    /// The hundred from each rank on.
    fn range(&mut self, ranks: &[i32]) -> usize;
    /// All of the year below the budget, by a full scan.
    fn scan(&mut self, year: i32, budget: f64) -> usize;
    /// The ten with the highest budget.
    fn sort(&mut self) -> usize;
    fn any_of(&mut self, ids: &[ObjectId]) -> usize;
    fn increment(&mut self, ids: &[ObjectId]);
    /// Counts the views of 10,000 ranks up.
    fn update_many(&mut self, from: i32);
    fn delete(&mut self, ids: &[ObjectId]);
}

/// The operations, in the order of the table, and what their figure is for.
const OPERATIONS: [(&str, &str); 11] = [
    ("`insert_many` by 1,000", "document"),
    ("`insert_one`", "call"),
    ("find by id", "call"),
    ("equality on an index", "call"),
    ("range of 100 on an index", "call"),
    ("full scan, two predicates", "document"),
    ("sort without an index, limit 10", "document"),
    ("`$in` of 1,000 ids", "document"),
    ("`$inc` by id", "call"),
    ("`update_many` over 10,000", "document"),
    ("delete by id", "call"),
];

/// How many films a round inserts one by one, reads, changes and deletes.
const CALLS: i64 = 20_000;

/// What the operations are done with: the same for every store.
struct Work {
    first: Vec<Input>,
    more: Vec<Input>,
    ids: Vec<ObjectId>,
    ranks: Vec<i32>,
    starts: Vec<i32>,
    matching: usize,
}

const YEAR: i32 = 2005;
const BUDGET: f64 = 10_000.0;

impl Work {
    fn new(count: i64) -> Self {
        let films = Films::new();
        let input = |number: i64| {
            let film = films.film(number, count);
            let text = FilmText::from(&film);
            Input { film, text }
        };
        let first: Vec<Input> = (0..count).map(input).collect();
        let calls = CALLS.min(count);
        let more: Vec<Input> = (count..count + calls).map(input).collect();
        let numbers: Vec<i64> = (0..calls).map(|n| n * 104_729 % count).collect();
        let ranks: Vec<i32> = numbers.iter().map(|n| i32::try_from(*n).unwrap()).collect();
        let last = i32::try_from(count).unwrap() - 100;
        let starts = ranks.iter().step_by(100).map(|rank| (*rank).min(last));
        let matching = |Input { film, .. }: &&Input| film.year == YEAR && film.budget < BUDGET;
        Self {
            matching: first.iter().chain(&more).filter(matching).count(),
            ids: numbers.iter().map(|n| object_id(*n)).collect(),
            starts: starts.collect(),
            ranks,
            first,
            more,
        }
    }

    /// Does every operation once; returns microseconds.
    fn round(&self, store: &mut dyn Store) -> Vec<f64> {
        let mut costs = Vec::new();
        let mut timed = |store: &mut dyn Store, per: usize, run: &dyn Fn(&mut dyn Store)| {
            let began = processor();
            run(store);
            let spent = processor().saturating_sub(began);
            costs.push(spent.as_secs_f64() * 1e6 / per as f64);
        };
        let Self { ids, ranks, .. } = self;
        let all = self.first.len() + self.more.len();
        let some = &ids[..1000];
        let extra: Vec<ObjectId> = self.more.iter().map(|input| input.film.id).collect();
        store.clear();
        timed(store, self.first.len(), &|store| {
            store.insert_many(&self.first);
        });
        timed(store, self.more.len(), &|store| {
            store.insert_one(&self.more);
        });
        timed(store, ids.len(), &|store| {
            assert_eq!(store.by_id(ids), ids.len());
        });
        timed(store, ranks.len(), &|store| {
            assert_eq!(store.by_rank(ranks), ranks.len());
        });
        timed(store, self.starts.len(), &|store| {
            assert_eq!(store.range(&self.starts), 100 * self.starts.len());
        });
        timed(store, 3 * all, &|store| {
            for _ in 0..3 {
                assert_eq!(store.scan(YEAR, BUDGET), self.matching);
            }
        });
        timed(store, 3 * all, &|store| {
            for _ in 0..3 {
                assert_eq!(store.sort(), 10);
            }
        });
        timed(store, 10_000, &|store| {
            for _ in 0..10 {
                assert_eq!(store.any_of(some), some.len());
            }
        });
        timed(store, ids.len(), &|store| store.increment(ids));
        timed(store, 10_000, &|store| store.update_many(0));
        timed(store, extra.len(), &|store| store.delete(&extra));
        costs
    }
}

/// The processor time of this thread.
fn processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The stores, by the names that [`once`] knows.
const STORES: [&str; 3] = ["odm", "validated", "sqlite"];

fn store(name: &str) -> Box<dyn Store> {
    match name {
        "odm" => Box::new(engine::Engine::new(false)),
        "validated" => Box::new(engine::Engine::new(true)),
        "sqlite" => Box::new(sqlite::Sqlite::new()),
        _ => panic!("no store has the name {name}"),
    }
}

/// Does every operation once on one store, after a round that warms up; prints the microseconds.
pub(crate) fn once(name: &str, count: i64) {
    let work = Work::new(count);
    let mut store = store(name);
    work.round(&mut *store);
    for cost in work.round(&mut *store) {
        println!("{cost}");
    }
}

/// Every operation on every store, by turns: the best times, and the medians of the ratios. Each store has a process of
/// its own, so that no allocation is slowed by the holes that another store left in the heap.
pub(crate) fn compare(count: i64, rounds: &Rounds) {
    let mut times: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); OPERATIONS.len()]; STORES.len()];
    for _ in 0..rounds.rounds {
        for (name, times) in STORES.iter().zip(&mut times) {
            let output = Command::new(env::current_exe().unwrap())
                .args(["--films-of", name, "--documents", &count.to_string()])
                .output()
                .unwrap();
            assert!(output.status.success());
            let lines = String::from_utf8(output.stdout).unwrap();
            for (line, times) in lines.lines().zip(times) {
                times.push(line.parse().unwrap());
            }
        }
    }
    let films = Films::new();
    let bytes = |number| {
        let film = films.film(number, count);
        bson::serialize_to_vec(&film).unwrap().len()
    };
    println!(
        "\n{count} films of {} bytes; microseconds\n",
        (0..1000).map(bytes).sum::<usize>() / 1000
    );
    println!(
        "| operation | per | odm | with validator | SQLite | SQLite ÷ odm | validator: with ÷ without |"
    );
    println!("|{}", " --- |".repeat(7));
    for (at, (name, per)) in OPERATIONS.iter().enumerate() {
        let [odm, validated, sqlite] = [0, 1, 2].map(|store: usize| &times[store][at]);
        println!(
            "| {name} | {per} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            best(odm),
            best(validated),
            best(sqlite),
            median_ratio(sqlite, odm),
            median_ratio(validated, odm),
        );
    }
}

fn best(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The median of the ratios of what was measured in one round.
fn median_ratio(of: &[f64], to: &[f64]) -> f64 {
    let mut ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// One operation of the engine again and again, for a profiler.
pub(crate) fn repeat(operation: &str, validated: bool) {
    let work = Work::new(20_000);
    let mut engine = engine::Engine::new(validated);
    engine.clear();
    engine.insert_many(&work.first);
    let extra: Vec<ObjectId> = work.more.iter().map(|input| input.film.id).collect();
    let mut spent = Duration::ZERO;
    for _ in 0..10 {
        let began = processor();
        match operation {
            "insert" => engine.insert_one(&work.more),
            "load" => engine.insert_many(&work.more),
            "id" => assert_eq!(engine.by_id(&work.ids), work.ids.len()),
            "rank" => assert_eq!(engine.by_rank(&work.ranks), work.ranks.len()),
            "range" => assert!(engine.range(&work.starts) > 0),
            "in" => assert_eq!(engine.any_of(&work.ids), work.ids.len()),
            "increment" => engine.increment(&work.ids),
            "update" => engine.update_many(0),
            _ => panic!("no operation has the name {operation}"),
        }
        spent += processor().saturating_sub(began);
        if matches!(operation, "insert" | "load") {
            engine.delete(&extra);
        }
    }
    println!(
        "{operation}: {:.1} ms of processor time",
        spent.as_secs_f64() * 1e3
    );
}
