//! Holds the memory engine against a real server: draws cases, runs each on both, compares, shrinks
//! what differs and prints it as JSON.
//!
//! ```text
//! cargo run -p odm-tests --bin differential -- --uri mongodb://127.0.0.1:27017/?directConnection=true \
//!     --cases 2000 --seed 1 [--area find] [--max 20] [--least answer|code|message]
//! ```
//! A case is drawn from its seed alone, so `--cases 1 --seed N --area A` repeats it. Ends with a failure
//! if anything differs.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for the engine's authors, whose report is what it prints"
)]

mod cases;
mod compare;
mod documents;
mod exceptions;
mod expressions;
mod filters;
mod indexes;
mod json;
mod rng;
mod run;
mod shapes;
mod shrink;
mod stages;
mod updates;
mod validators;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::{env, io};

use odm::Db;
use odm::bson::{Bson, doc};

use self::cases::{AREAS, Case};
use self::compare::{Kind, normal};
use self::json::json;
use self::run::{Difference, Stores};

#[derive(Debug)]
struct Options {
    uri: String,
    cases: u64,
    seed: u64,
    area: Option<String>,
    max: usize,
    /// The least kind of difference that is reported.
    least: Kind,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        uri: String::new(),
        cases: 500,
        seed: 1,
        area: None,
        max: 20,
        least: Kind::Message,
    };
    let mut args = env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next().ok_or(format!("{name} needs a value"))?;
        let number = || {
            value
                .parse()
                .map_err(|_| format!("{name} {value}: not a number"))
        };
        match name.as_str() {
            "--uri" => options.uri = value,
            "--cases" => options.cases = number()?,
            "--seed" => options.seed = number()?,
            "--max" => options.max = usize::try_from(number()?).unwrap_or(usize::MAX),
            "--least" => options.least = Kind::named(&value)?,
            "--area" => options.area = Some(value),
            _ => return Err(format!("{name} is no option")),
        }
    }
    if options.uri.is_empty() {
        return Err("--uri names the server".to_owned());
    }
    Ok(options)
}

/// Puts the database's name into a connection string.
fn with_database(uri: &str, name: &str) -> String {
    match uri.split_once("/?") {
        Some((host, options)) => format!("{host}/{name}?{options}"),
        None => format!("{}/{name}", uri.trim_end_matches('/')),
    }
}

#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    same: usize,
    unsupported: usize,
    excepted: usize,
    different: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let options = options().map_err(io::Error::other)?;
    let name = format!("differential_{}", std::process::id());
    let server = Db::connect(&with_database(&options.uri, &name))
        .await
        .map_err(io::Error::other)?;
    let memory = Db::memory().database(&name);
    let mut stores = Stores::new(memory, server.clone());
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let areas: Vec<_> = AREAS
        .iter()
        .filter(|(area, _)| options.area.as_deref().is_none_or(|wanted| wanted == *area))
        .collect();
    'all: for seed in options.seed..options.seed + options.cases {
        for (area, draw) in &areas {
            let case = cases::draw(area, *draw, seed);
            let outcome = stores.run(&case).await;
            let tally = tallies.entry(area).or_default();
            tally.cases += 1;
            tally.same += outcome.same;
            tally.unsupported += outcome.unsupported;
            tally.excepted += outcome.excepted;
            tally.different += outcome.differences.len();
            for difference in &outcome.differences {
                if difference.kind > options.least {
                    continue;
                }
                report(&mut stores, &case, seed, difference, &mut seen).await;
                if seen.len() >= options.max {
                    break 'all;
                }
            }
        }
    }
    for (area, tally) in &tallies {
        println!(
            "{area}: {} cases, {} replies the same, {} unsupported, {} known, {} different",
            tally.cases, tally.same, tally.unsupported, tally.excepted, tally.different
        );
    }
    let dropped = server.run_command(doc! { "dropDatabase": 1 }).await;
    dropped.map_err(io::Error::other)?;
    Ok(if seen.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Shrinks a difference and prints it, unless one of its like was printed.
async fn report(
    stores: &mut Stores,
    case: &Case,
    seed: u64,
    difference: &Difference,
    seen: &mut BTreeSet<String>,
) {
    let small = shrink::shrink(stores, case, difference.at, difference.kind).await;
    let outcome = stores.run(&small).await;
    // What cannot be repeated is shown as it was first seen.
    let last = outcome.differences.last();
    let shown = if last.is_some() { &small } else { case };
    let difference = last.unwrap_or(difference);
    let Some(step) = shown.steps.get(difference.at) else {
        return;
    };
    let mut words = BTreeSet::new();
    operators(&Bson::Document(step.command.clone()), &mut words);
    let signature = format!(
        "{:?} {words:?} {:?} {:?}",
        difference.kind,
        difference.memory.get("code"),
        difference.server.get("code")
    );
    if !seen.insert(signature) {
        return;
    }
    let commands: Vec<_> = shown.steps[..=difference.at]
        .iter()
        .map(|step| step.command.clone())
        .collect();
    println!(
        "{}",
        json(&doc! {
            "kind": format!("{:?}", difference.kind),
            "area": case.area,
            "seed": seed.to_string(),
            "commands": commands,
            "server": normal(&difference.server, step.order),
            "memory": normal(&difference.memory, step.order),
        })
    );
}

/// The operators that a command uses.
fn operators(value: &Bson, out: &mut BTreeSet<String>) {
    match value {
        Bson::Document(document) => {
            for (key, value) in document {
                if key.starts_with('$') {
                    out.insert(key.clone());
                }
                operators(value, out);
            }
        }
        Bson::Array(values) => values.iter().for_each(|value| operators(value, out)),
        _ => {}
    }
}
