//! How many commands each collection had, and how long they took.

use std::collections::HashMap;
use std::time::Duration;

use odm_engine::{Latencies, Latency};

/// What a command does with its collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Query,
    GetMore,
    Insert,
    Update,
    Remove,
    /// Any other read.
    Read,
    /// Any other write.
    Write,
    /// Any other command.
    Command,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Query,
        Self::GetMore,
        Self::Insert,
        Self::Update,
        Self::Remove,
        Self::Read,
        Self::Write,
        Self::Command,
    ];

    pub(super) fn of(command: &str) -> Self {
        match command {
            "find" => Self::Query,
            "getMore" => Self::GetMore,
            "insert" => Self::Insert,
            "update" => Self::Update,
            "delete" => Self::Remove,
            "aggregate" | "count" | "distinct" => Self::Read,
            "findAndModify" | "findandmodify" => Self::Write,
            _ => Self::Command,
        }
    }

    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Query | Self::GetMore | Self::Read)
    }

    pub(crate) fn writes(self) -> bool {
        matches!(
            self,
            Self::Insert | Self::Update | Self::Remove | Self::Write
        )
    }
}

/// The latencies of the commands on one collection, by kind.
#[derive(Debug, Default, Clone)]
pub(crate) struct Usage([Latency; Kind::ALL.len()]);

impl Usage {
    fn add(&mut self, kind: Kind, took: Duration) {
        let micros = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        if let Some(latency) = self.0.get_mut(kind as usize) {
            latency.count += 1;
            latency.micros = latency.micros.saturating_add(micros);
            *latency.histogram.entry(bucket(micros)).or_default() += 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        for (latency, other) in self.0.iter_mut().zip(&other.0) {
            merge(latency, other);
        }
    }

    /// The number of commands of the wanted kinds, and their total microseconds.
    pub(crate) fn total(&self, wanted: impl Fn(Kind) -> bool) -> (i64, i64) {
        let latency = self.sum(wanted);
        (latency.count, latency.micros)
    }

    fn sum(&self, wanted: impl Fn(Kind) -> bool) -> Latency {
        let mut sum = Latency::default();
        let all = Kind::ALL.into_iter().zip(&self.0);
        for (_, latency) in all.filter(|(kind, _)| wanted(*kind)) {
            merge(&mut sum, latency);
        }
        sum
    }

    pub(super) fn latencies(&self) -> Latencies {
        Latencies {
            reads: self.sum(Kind::reads),
            writes: self.sum(Kind::writes),
            commands: self.sum(|kind| kind == Kind::Command),
            // The commands that end transactions name no collection.
            transactions: Latency::default(),
        }
    }
}

fn merge(latency: &mut Latency, other: &Latency) {
    latency.count += other.count;
    latency.micros = latency.micros.saturating_add(other.micros);
    for (micros, count) in &other.histogram {
        *latency.histogram.entry(*micros).or_default() += count;
    }
}

/// MongoDB's histograms have two buckets per power of two from `HALVED` on; `LAST` is the last bucket.
const HALVED: i64 = 2_048;
const LAST: i64 = 3 << 29;

/// The lower bound of a duration's bucket in MongoDB's histograms, in microseconds.
fn bucket(micros: i64) -> i64 {
    if micros < 2 {
        return 0;
    }
    let power = 1_i64 << micros.ilog2();
    let half = power + power / 2;
    let least = if power >= HALVED && micros >= half {
        half
    } else {
        power
    };
    least.min(LAST)
}

/// The used collections, by full name (`database.collection`).
#[derive(Debug, Default)]
pub(crate) struct Usages(HashMap<String, Usage>);

impl Usages {
    /// Records a command. A new name must be that of an existing collection, so that made-up names do not fill the map.
    pub(super) fn add(
        &mut self,
        namespace: &str,
        kind: Kind,
        took: Duration,
        is_there: impl FnOnce(&str) -> bool,
    ) {
        match self.0.get_mut(namespace) {
            Some(usage) => usage.add(kind, took),
            None if is_there(namespace) => {
                let usage = self.0.entry(namespace.to_owned()).or_default();
                usage.add(kind, took);
            }
            None => {}
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (namespace, usage) in &other.0 {
            self.merge_one(namespace, usage);
        }
    }

    fn merge_one(&mut self, namespace: &str, usage: &Usage) {
        match self.0.get_mut(namespace) {
            Some(known) => known.merge(usage),
            None => drop(self.0.insert(namespace.to_owned(), usage.clone())),
        }
    }

    /// Adds one collection's usage to `usage`.
    pub(super) fn merge_into(&self, namespace: &str, usage: &mut Usage) {
        if let Some(own) = self.0.get(namespace) {
            usage.merge(own);
        }
    }

    /// Removes the dropped collections.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|namespace, _| is_there(namespace));
    }

    /// All usages, sorted by name.
    pub(crate) fn into_sorted(self) -> Vec<(String, Usage)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn histogram_buckets_agree_with_mongod() {
        for (micros, least) in [
            (0, 0),
            (1, 0),
            (2, 2),
            (31, 16),
            (2_047, 1_024),
            (2_048, 2_048),
            (3_071, 2_048),
            (3_072, 3_072),
            (32_884, 32_768),
            (99_493, 98_304),
            (i64::MAX, 1_610_612_736),
        ] {
            assert_eq!(bucket(micros), least, "{micros}");
        }
    }
}
