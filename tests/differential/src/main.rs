//! Holds the memory engine against a real server: draws cases, runs each on both, compares, shrinks
//! what differs and prints it as JSON.
//!
//! ```text
//! cargo run -p odm-differential -- --uri mongodb://127.0.0.1:27017/test?directConnection=true \
//!     --cases 2000 --seed 1 [--area find] [--max 20] [--least answer|code|message] [--jobs 4] [--keep FILE]
//! ```
//! Each job has a database of its own beside the one that the connection string names. A case is drawn from its seed alone, so `--cases 1 --seed N --area A` repeats it; `--cases` counts those of each
//! area. `--keep` adds what was found to a file of recorded cases, `tests/cases/command/minimal_….json`. Ends with a
//! failure if anything differs that `exceptions` does not list.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for the engine's authors, whose report is what it prints"
)]

mod cases;
mod collations;
mod compare;
mod documents;
mod exceptions;
mod expressions;
mod families;
mod filters;
mod indexes;
mod json;
mod report;
mod rng;
mod run;
mod shapes;
mod shrink;
mod stages;
mod updates;
mod validators;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::{env, io};

use odm::Db;
use odm::bson::doc;

use self::cases::AREAS;
use self::compare::Kind;
use self::report::Report;
use self::run::Stores;

#[derive(Debug, Clone)]
struct Options {
    uri: String,
    cases: u64,
    seed: u64,
    area: Option<String>,
    max: usize,
    /// The least kind of difference that is reported.
    least: Kind,
    /// How many cases run at once, each job in a database of its own.
    jobs: u64,
    keep: Option<String>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        uri: String::new(),
        cases: 500,
        seed: 1,
        area: None,
        max: 20,
        least: Kind::Message,
        jobs: 4,
        keep: None,
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
            "--jobs" => options.jobs = number()?.max(1),
            "--keep" => options.keep = Some(value),
            _ => return Err(format!("{name} is no option")),
        }
    }
    if options.uri.is_empty() {
        return Err("--uri names the server".to_owned());
    }
    Ok(options)
}

#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    same: usize,
    unsupported: usize,
    different: usize,
    known: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.same += other.same;
        self.unsupported += other.unsupported;
        self.different += other.different;
        for (name, count) in other.known {
            *self.known.entry(name).or_default() += count;
        }
    }
}

type Tallies = BTreeMap<&'static str, Tally>;

/// Runs the cases of one seed after the other, until there are none left or enough was found.
async fn job(
    options: Options,
    number: u64,
    next: Arc<AtomicU64>,
    report: Arc<Report>,
) -> odm::Result<Tallies> {
    let name = format!("differential_{}_{number}", std::process::id());
    let server = Db::connect(&options.uri).await?.database(&name);
    let mut stores = Stores::new(Db::memory().database(&name), server.clone());
    let mut tallies = Tallies::new();
    'all: loop {
        let drawn = next.fetch_add(1, Ordering::Relaxed);
        if drawn >= options.cases {
            break;
        }
        let seed = options.seed + drawn;
        for (area, draw) in AREAS {
            if options
                .area
                .as_deref()
                .is_some_and(|wanted| wanted != *area)
            {
                continue;
            }
            let case = cases::draw(area, *draw, seed);
            let outcome = stores.run(&case).await;
            let tally = tallies.entry(area).or_default();
            tally.cases += 1;
            tally.same += outcome.same;
            tally.unsupported += outcome.unsupported;
            tally.different += outcome.differences.len();
            for name in outcome.known {
                *tally.known.entry(name).or_default() += 1;
            }
            for difference in &outcome.differences {
                if difference.kind > options.least {
                    continue;
                }
                report
                    .difference(&mut stores, &case, seed, difference)
                    .await;
                if report.count() >= options.max {
                    break 'all;
                }
            }
        }
    }
    server.run_command(doc! { "dropDatabase": 1 }).await?;
    Ok(tallies)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> io::Result<ExitCode> {
    let options = options().map_err(io::Error::other)?;
    let began = Instant::now();
    let next = Arc::new(AtomicU64::new(0));
    let report = Arc::new(Report::default());
    let jobs: Vec<_> = (0..options.jobs)
        .map(|number| tokio::spawn(job(options.clone(), number, next.clone(), report.clone())))
        .collect();
    let mut tallies = Tallies::new();
    for job in jobs {
        let done = job.await.map_err(io::Error::other)?;
        for (area, tally) in done.map_err(io::Error::other)? {
            tallies.entry(area).or_default().add(tally);
        }
    }
    let mut total = Tally::default();
    for (area, tally) in tallies {
        println!("{area}: {}", summary(&tally));
        total.add(tally);
    }
    for (name, count) in &total.known {
        println!("{count} known: {name}");
    }
    println!(
        "{} of them only which of two refusals comes first",
        report.two_faults()
    );
    println!(
        "all: {}, in {} s",
        summary(&total),
        began.elapsed().as_secs()
    );
    if let Some(path) = &options.keep {
        report.keep(path)?;
    }
    Ok(if report.count() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn summary(tally: &Tally) -> String {
    format!(
        "{} cases, {} replies the same, {} unsupported, {} known, {} different",
        tally.cases,
        tally.same,
        tally.unsupported,
        tally.known.values().sum::<usize>(),
        tally.different
    )
}
