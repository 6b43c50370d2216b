//! What encoding and decoding cost: the values of filters by their type, and a film beside bson and `serde_json`.
//!
//! ```sh
//! cargo bench -p odm-benches --bench values
//! ```
//!
//! Everything runs by turns in one process, so that all of it sees the same machine. A time is the best of the rounds,
//! a ratio the median over them. `ODM_BENCH_ROUNDS` sets the rounds (61 unless told); a word behind `--` picks rows by
//! name.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark reports, and stops at anything unexpected"
)]

#[macro_use]
#[path = "models/film.rs"]
mod film;
#[path = "models/film_text.rs"]
mod film_text;

use std::hint::black_box;
use std::time::Duration;

use bson::spec::BinarySubtype;
use bson::{Binary, Timestamp};
use odm::bson::{Decimal128, Uuid};
use odm::prelude::*;
use odm::query::Field;
use odm::query::{IntoValue, fields};
use odm::support::bytes;

use film::{Film, Films};
use film_text::FilmText;

/// A field of each type whose values are encoded in ways of their own.
#[derive(Serialize, Deserialize, Embedded)]
struct Fields {
    long: i64,
    text: String,
    object_id: ObjectId,
    optional: Option<ObjectId>,
    id: Id<Film>,
    newtype: FilmId,
    date: DateTime,
    uuid: Uuid,
    decimal: Decimal128,
    timestamp: Timestamp,
    binary: Binary,
    md5: Binary,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, Embedded)]
#[serde(transparent)]
struct FilmId(ObjectId);

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// One thing that is measured, and how many of them a call does.
struct Row<'a> {
    name: &'static str,
    per_call: f64,
    call: Box<dyn Fn() + 'a>,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, per_call: f64, call: impl Fn() + 'a) -> Self {
        let call = Box::new(call);
        Self {
            name,
            per_call,
            call,
        }
    }
}

/// Runs all rows by turns, and prints their times and their ratios to the first.
fn table(title: &str, rows: &[Row<'_>]) {
    const CALLS: u32 = 100;
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let chosen: Vec<&Row<'_>> = rows
        .iter()
        .filter(|row| asked.is_empty() || asked.iter().any(|part| row.name.contains(part)))
        .collect();
    let rounds = std::env::var("ODM_BENCH_ROUNDS").ok();
    let rounds: usize = rounds.and_then(|n| n.parse().ok()).unwrap_or(61);
    let mut times = vec![Vec::new(); chosen.len()];
    for round in 0..=rounds {
        for (row, times) in chosen.iter().zip(&mut times) {
            let began = cpu_time();
            for _ in 0..CALLS {
                (row.call)();
            }
            let spent = cpu_time().saturating_sub(began).as_secs_f64() * 1e9;
            // The first round warms up.
            if round > 0 {
                times.push(spent / f64::from(CALLS) / row.per_call);
            }
        }
    }
    println!("\n| {title} | best, ns | ratio |\n| --- | --- | --- |");
    for (row, own) in chosen.iter().zip(&times) {
        let mut ratios: Vec<f64> = own.iter().zip(&times[0]).map(|(a, b)| a / b).collect();
        ratios.sort_by(f64::total_cmp);
        let best = own.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "| {} | {best:.1} | {:.2} |",
            row.name,
            ratios[ratios.len() / 2]
        );
    }
}

/// The filter that a field is one of a thousand values.
fn any_of<T, V>(
    name: &'static str,
    field: Field<Fields, T>,
    make: impl Fn(i64) -> V,
) -> Row<'static>
where
    T: 'static,
    V: IntoValue<T> + Clone + 'static,
    odm::query::BySerde: odm::query::Encode<T>,
{
    let values: Vec<V> = (0..1000).map(make).collect();
    Row::new(name, 1000.0, move || {
        drop(black_box(field.in_(values.iter().cloned())));
    })
}

fn binary(number: i64, subtype: BinarySubtype) -> Binary {
    let bytes = number.to_le_bytes().repeat(2);
    Binary { subtype, bytes }
}

fn filters() {
    let f = fields::<Fields>();
    let of = film::object_id;
    table(
        "a value of a typed `$in`",
        &[
            any_of("`i64`", f.long, |n| n),
            any_of("`String`", f.text, |n| format!("number {n}")),
            any_of("`ObjectId`", f.object_id, of),
            any_of("`Option<ObjectId>`", f.optional, of),
            any_of("`Id<T>`", f.id, move |n| Id::from_object_id(of(n))),
            any_of("a newtype of `ObjectId`", f.newtype, move |n| FilmId(of(n))),
            any_of("`DateTime`", f.date, DateTime::from_millis),
            any_of("`Uuid`", f.uuid, |n| {
                Uuid::from_bytes((i128::from(n) << 64).to_le_bytes())
            }),
            any_of("`Decimal128`", f.decimal, |n| {
                n.to_string().parse::<Decimal128>().unwrap()
            }),
            any_of("`Timestamp`", f.timestamp, |n| Timestamp {
                time: u32::try_from(n).unwrap(),
                increment: 1,
            }),
            any_of("`Binary`, generic", f.binary, |n| {
                binary(n, BinarySubtype::Generic)
            }),
            any_of("`Binary`, MD5", f.md5, |n| binary(n, BinarySubtype::Md5)),
        ],
    );
}

fn films() {
    let films = Films::new();
    let films: Vec<Film> = (0..10).map(|n| films.film(n, 10)).collect();
    let texts: Vec<FilmText> = films.iter().map(FilmText::from).collect();
    let raw: Vec<Vec<u8>> = films
        .iter()
        .map(|film| bson::serialize_to_vec(film).unwrap())
        .collect();
    let json: Vec<String> = texts
        .iter()
        .map(|film| serde_json::to_string(film).unwrap())
        .collect();
    println!(
        "\n{} bytes a film",
        raw.iter().map(Vec::len).sum::<usize>() / raw.len()
    );
    table(
        "a film decoded",
        &[
            Row::new("bson", 10.0, || {
                for film in &raw {
                    black_box(bson::deserialize_from_slice::<Film>(film).unwrap());
                }
            }),
            Row::new("odm", 10.0, || {
                for film in &raw {
                    black_box(bytes::read::<Film>(film).unwrap());
                }
            }),
            Row::new("serde_json", 10.0, || {
                for film in &json {
                    black_box(serde_json::from_str::<FilmText>(film).unwrap());
                }
            }),
            Row::new("a clone of it", 10.0, || {
                for film in &films {
                    black_box(film.clone());
                }
            }),
        ],
    );
    table(
        "a film encoded",
        &[
            Row::new("bson", 10.0, || {
                for film in &films {
                    black_box(bson::serialize_to_raw_document_buf(film).unwrap());
                }
            }),
            Row::new("odm", 10.0, || {
                for film in &films {
                    black_box(bytes::encode(film).unwrap());
                }
            }),
            Row::new("serde_json", 10.0, || {
                for film in &texts {
                    black_box(serde_json::to_string(film).unwrap());
                }
            }),
        ],
    );
}

fn main() {
    filters();
    films();
}
