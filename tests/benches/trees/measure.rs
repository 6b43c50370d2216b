//! Measures the ways of a case by turns, and makes a row of them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

/// One way to do what a case asks for; it returns how many nodes it has read or written.
pub(crate) struct Way<'b> {
    rounds: usize,
    run: Box<dyn Fn() -> LocalBoxFuture<'b, usize> + 'b>,
}

/// The ways of a case; the first is odm's.
pub(crate) struct Ways<'b> {
    pub(crate) odm: Way<'b>,
    pub(crate) by_hand: Option<Way<'b>>,
    pub(crate) one_by_one: Option<Way<'b>>,
    /// Runs before each way, and what it returns after it; neither is measured.
    pub(crate) before: Option<Before<'b>>,
}

pub(crate) type Before<'b> = Box<dyn Fn() -> LocalBoxFuture<'b, After<'b>> + 'b>;

/// What is put right after a way.
pub(crate) struct After<'b>(pub(crate) LocalBoxFuture<'b, ()>);

pub(crate) fn way<'b, F: Future<Output = usize> + 'b>(
    rounds: usize,
    run: impl Fn() -> F + 'b,
) -> Way<'b> {
    Way {
        rounds,
        run: Box::new(move || run().boxed_local()),
    }
}

/// Wall time and the CPU time of this process, in milliseconds.
#[derive(Clone, Copy)]
struct Spent {
    wall: f64,
    cpu: f64,
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("CPU time is not negative")
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The medians over the rounds.
pub(crate) struct Row {
    odm: f64,
    wall: Option<f64>,
    cpu: Option<f64>,
    one_by_one: Option<f64>,
}

impl Ways<'_> {
    /// Runs the ways by turns, after a round that warms up.
    pub(crate) async fn compare(self, case: &str) -> Row {
        let ways = [Some(self.odm), self.by_hand, self.one_by_one];
        let mut times: [Vec<Spent>; 3] = Default::default();
        let rounds = ways.iter().flatten().map(|way| way.rounds).max();
        for round in 0..=rounds.unwrap_or_default() {
            let mut done = HashSet::new();
            for place in 0..ways.len() {
                let place = (place + round) % ways.len();
                let Some(way) = &ways[place] else { continue };
                // A way of one round is not warmed up: it takes long.
                if round > way.rounds || way.rounds == 1 && round == 0 {
                    continue;
                }
                let after = match &self.before {
                    Some(before) => Some(before().await),
                    None => None,
                };
                let (wall, cpu) = (Instant::now(), cpu_time());
                done.insert((way.run)().await);
                let (wall, cpu) = (wall.elapsed(), cpu_time().saturating_sub(cpu));
                if let Some(After(after)) = after {
                    after.await;
                }
                if round > 0 {
                    times[place].push(Spent {
                        wall: wall.as_secs_f64() * 1e3,
                        cpu: cpu.as_secs_f64() * 1e3,
                    });
                }
            }
            assert!(done.len() <= 1, "{case}: the ways differ: {done:?} nodes");
        }
        let [odm, by_hand, one_by_one] = times;
        let ratio = |of: &[Spent], to: &[Spent], pick: fn(&Spent) -> f64| {
            let pairs = of.iter().zip(to);
            median(pairs.map(|(of, to)| pick(of) / pick(to)).collect())
        };
        Row {
            odm: median(odm.iter().map(|spent| spent.wall).collect()).unwrap_or_default(),
            wall: ratio(&odm, &by_hand, |spent| spent.wall),
            cpu: ratio(&odm, &by_hand, |spent| spent.cpu),
            one_by_one: ratio(&one_by_one, &odm, |spent| spent.wall),
        }
    }
}

impl Row {
    pub(crate) fn print(&self, pattern: &str, operation: &str) {
        let figure = |value: Option<f64>| match value {
            None => "–".to_owned(),
            Some(value) if value >= 100.0 => format!("{value:.0}"),
            Some(value) if value >= 10.0 => format!("{value:.1}"),
            Some(value) => format!("{value:.2}"),
        };
        let [odm, wall, cpu, one_by_one] =
            [Some(self.odm), self.wall, self.cpu, self.one_by_one].map(figure);
        println!("| {pattern} | {operation} | {odm} | {wall} | {cpu} | {one_by_one} |");
    }
}
