//! How often each length occurs.

use std::collections::BTreeMap;

/// Lengths up to this one are counted each for itself; of longer ones, the first three digits count.
const EXACT: u64 = 1_000;

/// Lengths by how often they occur, in memory that does not grow with their number.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    counts: BTreeMap<u64, u64>,
    total: u64,
    sum: u64,
    max: u64,
}

impl Lengths {
    pub(super) fn add(&mut self, length: u64) {
        *self.counts.entry(rounded(length)).or_default() += 1;
        self.total += 1;
        self.sum = self.sum.saturating_add(length);
        self.max = self.max.max(length);
    }

    /// How many lengths there are.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The sum of all lengths.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// How often this length, of at most 1,000, occurs.
    pub(super) fn count(&self, length: u64) -> u64 {
        self.counts.get(&length).copied().unwrap_or_default()
    }

    /// The smallest length that this many percent of all lengths do not exceed; 0 if there are none.
    pub(super) fn percentile(&self, percent: u64) -> u64 {
        let wanted = self.total.saturating_mul(percent).div_ceil(100);
        let mut counted = 0;
        for (length, count) in &self.counts {
            counted += count;
            if counted >= wanted {
                return *length;
            }
        }
        self.max
    }
}

fn rounded(length: u64) -> u64 {
    let mut unit = 1;
    while length / unit > EXACT {
        unit *= 10;
    }
    length / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_lengths_that_occur() {
        let mut lengths = Lengths::default();
        assert_eq!((lengths.percentile(99), lengths.max()), (0, 0));
        (1..=100).for_each(|length| lengths.add(length));
        let percentiles = [1, 50, 90, 99, 100].map(|percent| lengths.percentile(percent));
        assert_eq!(percentiles, [1, 50, 90, 99, 100]);
        assert_eq!((lengths.total(), lengths.sum()), (100, 5_050));
        lengths.add(1_234_567);
        assert_eq!(
            (lengths.percentile(100), lengths.max()),
            (1_230_000, 1_234_567)
        );
    }
}
