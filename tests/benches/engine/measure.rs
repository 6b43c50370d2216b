//! What is measured, of whom, and how often.

use std::env;
use std::time::{Duration, Instant};

use crate::item::{Item, Size};

/// Whoever keeps items by id, with an index on the rank. The calls of a kind are made in one go, so that entering a
/// runtime is not measured. What finds items decodes them, and answers how many they were.
pub(crate) trait Subject {
    /// How many calls of one item are a round's.
    fn calls(&self) -> i64 {
        20_000
    }
    fn clear(&mut self);
    fn insert_one(&mut self, items: &[Item]);
    fn insert_many(&mut self, items: &[Item]);
    fn by_id(&mut self, ids: &[i64]) -> usize;
    fn by_rank(&mut self, ranks: &[i32]) -> usize;
    /// The hundred from each rank on.
    fn range(&mut self, ranks: &[i32]) -> usize;
    /// All of the region below the amount, by a full scan.
    fn scan(&mut self, region: i32, amount: f64) -> usize;
    /// The ten with the highest amount.
    fn sort(&mut self) -> usize;
    fn increment(&mut self, ids: &[i64]);
    /// Counts the stock of 10,000 ranks up.
    fn update_many(&mut self, from: i32);
    fn any_of(&mut self, ids: &[i64]) -> usize;
    fn delete(&mut self, ids: &[i64]);
    /// The processor time of the process that does the work.
    fn processor(&self) -> Duration {
        processor_time()
    }
}

/// The operations, in the order of the table, and what their figure is for.
pub(crate) const OPERATIONS: [(&str, &str, Kind); 11] = [
    ("`insert_many` by 1,000", "document", Kind::Write),
    ("`insert_one`", "call", Kind::PointWrite),
    ("find by id", "call", Kind::Point),
    ("equality on an index", "call", Kind::Point),
    ("range of 100 on an index", "call", Kind::Read),
    ("full scan, two predicates", "document", Kind::Bulk),
    ("sort without an index, limit 10", "document", Kind::Bulk),
    ("`$in` of 1,000 ids", "document", Kind::Read),
    ("`$inc` by id", "call", Kind::PointWrite),
    ("`update_many` over 10,000", "document", Kind::BulkWrite),
    ("delete by id", "call", Kind::PointWrite),
];

/// Which targets an operation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Point,
    Bulk,
    Write,
    PointWrite,
    BulkWrite,
}

/// How often a round scans and sorts: a server's processor time is told in hundredths of a second, and one scan takes
/// two or three.
const SCANS: i64 = 10;

/// Best times for each operation, in microseconds.
#[derive(Debug, Clone)]
pub(crate) struct Cost {
    pub(crate) wall: Vec<f64>,
    pub(crate) processor: Vec<f64>,
}

pub(crate) struct Rounds {
    pub(crate) rounds: usize,
}

impl Rounds {
    pub(crate) fn from_env(usual: usize) -> Self {
        let told = env::var("ODM_BENCH_ROUNDS").ok();
        Self {
            rounds: told.and_then(|n| n.parse().ok()).unwrap_or(usual),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.rounds
    }

    /// Every operation on every subject, by turns.
    pub(crate) fn run(
        &self,
        subjects: &mut [Box<dyn Subject>],
        count: i64,
        size: Size,
    ) -> Vec<Cost> {
        let mut costs: Vec<Cost> = subjects
            .iter()
            .map(|_| Cost {
                wall: vec![f64::INFINITY; OPERATIONS.len()],
                processor: vec![f64::INFINITY; OPERATIONS.len()],
            })
            .collect();
        for _ in 0..self.rounds {
            for (subject, cost) in subjects.iter_mut().zip(&mut costs) {
                round(&mut **subject, cost, count, size);
            }
        }
        for subject in subjects {
            subject.clear();
        }
        costs
    }
}

/// One operation of one subject again and again, for a profiler to look at.
pub(crate) fn repeat(subject: &mut dyn Subject, operation: &str, count: i64, size: Size) {
    let items = |from: i64, to: i64| -> Vec<Item> {
        (from..to).map(|id| Item::new(id, count, size)).collect()
    };
    let calls = subject.calls().min(count);
    let ids = spread(calls, count);
    let ranks: Vec<i32> = ids.iter().map(|id| i32::try_from(*id).unwrap()).collect();
    let first = items(0, count);
    let extra = items(count, count + calls);
    let extras: Vec<i64> = (count..count + calls).collect();
    subject.clear();
    subject.insert_many(&first);
    let mut spent = Duration::ZERO;
    for _ in 0..10 {
        let processor = subject.processor();
        match operation {
            "load" => {
                subject.clear();
                subject.insert_many(&first);
            }
            "insert" => subject.insert_one(&extra),
            "delete" => {
                subject.insert_many(&extra);
                subject.delete(&extras);
            }
            "id" => assert_eq!(subject.by_id(&ids), ids.len()),
            "rank" => assert_eq!(subject.by_rank(&ranks), ranks.len()),
            "range" => assert!(subject.range(&ranks[..ranks.len() / 50]) > 0),
            "scan" => (0..5).for_each(|_| assert!(subject.scan(1, 1e6) > 0)),
            "sort" => (0..5).for_each(|_| assert_eq!(subject.sort(), 10)),
            "in" => assert_eq!(subject.any_of(&ids), ids.len()),
            "increment" => subject.increment(&ids),
            "update" => subject.update_many(0),
            _ => panic!("no operation has the name {operation}"),
        }
        spent += subject.processor().saturating_sub(processor);
        if operation == "insert" {
            subject.delete(&extras);
        }
    }
    println!(
        "{operation}: {:.1} ms of processor time",
        spent.as_secs_f64() * 1e3
    );
}

/// Ids in no order.
fn spread(calls: i64, count: i64) -> Vec<i64> {
    (0..calls).map(|n| n * 104_729 % count).collect()
}

fn round(subject: &mut dyn Subject, cost: &mut Cost, count: i64, size: Size) {
    subject.clear();
    let mut at = 0;
    let mut timed = |subject: &mut dyn Subject, per: i64, run: &mut dyn FnMut(&mut dyn Subject)| {
        let processor = subject.processor();
        let began = Instant::now();
        run(subject);
        let wall = began.elapsed().as_secs_f64() * 1e6 / per as f64;
        let processor = subject.processor().saturating_sub(processor);
        let processor = processor.as_secs_f64() * 1e6 / per as f64;
        cost.wall[at] = cost.wall[at].min(wall);
        cost.processor[at] = cost.processor[at].min(processor);
        at += 1;
    };
    let items = |from: i64, to: i64| -> Vec<Item> {
        (from..to).map(|id| Item::new(id, count, size)).collect()
    };
    let calls = subject.calls().min(count);
    let ids = spread(calls, count);
    let ranks: Vec<i32> = ids.iter().map(|id| i32::try_from(*id).unwrap()).collect();

    // In slices, so that not all are in memory twice.
    let slice = 100_000.min(count);
    let mut rest = slice;
    let first = items(0, slice);
    timed(subject, slice, &mut |subject| subject.insert_many(&first));
    drop(first);
    while rest < count {
        subject.insert_many(&items(rest, rest + slice));
        rest += slice;
    }
    let more = items(count, count + calls);
    timed(subject, calls, &mut |subject| subject.insert_one(&more));
    drop(more);
    timed(subject, calls, &mut |subject| {
        assert_eq!(subject.by_id(&ids), ids.len());
    });
    timed(subject, calls, &mut |subject| {
        assert_eq!(subject.by_rank(&ranks), ranks.len());
    });
    let starts: Vec<i32> = ranks
        .iter()
        .take(usize::try_from(calls / 100).unwrap())
        .map(|rank| (*rank).min(i32::try_from(count).unwrap() - 100))
        .collect();
    timed(subject, calls / 100, &mut |subject| {
        assert_eq!(subject.range(&starts), 100 * starts.len());
    });
    let matching = (0..count + calls)
        .map(|id| Item::new(id, count, Size::Small))
        .filter(|item| item.region == crate::item::REGION && item.amount < crate::item::AMOUNT)
        .count();
    timed(subject, SCANS * (count + calls), &mut |subject| {
        for _ in 0..SCANS {
            let found = subject.scan(crate::item::REGION, crate::item::AMOUNT);
            assert_eq!(found, matching);
        }
    });
    timed(subject, SCANS * (count + calls), &mut |subject| {
        for _ in 0..SCANS {
            assert_eq!(subject.sort(), 10);
        }
    });
    let some = spread(1000, count);
    timed(subject, 10_000, &mut |subject| {
        for _ in 0..10 {
            assert_eq!(subject.any_of(&some), some.len());
        }
    });
    timed(subject, calls, &mut |subject| subject.increment(&ids));
    timed(subject, 10_000, &mut |subject| subject.update_many(0));
    let extra: Vec<i64> = (count..count + calls).collect();
    timed(subject, calls, &mut |subject| subject.delete(&extra));
}

/// The processor time of this process.
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap()
}
