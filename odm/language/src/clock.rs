//! The cluster time: a second and a counter within it. It only grows.

use std::sync::atomic::{AtomicU64, Ordering};

use bson::{DateTime, Timestamp};

/// A logical clock that follows the engine's wall clock.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// Returns the time of a new write: later than that of every earlier write.
    pub fn tick(&self, now: DateTime) -> Timestamp {
        let start = first(now);
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| {
                Some(start.max(last + 1))
            })
            .unwrap_or(start);
        unpack(start.max(before + 1))
    }

    /// Advances the clock to at least this time.
    pub fn advance(&self, time: Timestamp) {
        let packed = (u64::from(time.time) << 32) | u64::from(time.increment);
        if packed > self.0.load(Ordering::Acquire) {
            self.0.fetch_max(packed, Ordering::AcqRel);
        }
    }

    /// The time of the last write.
    pub fn now(&self) -> Timestamp {
        unpack(self.0.load(Ordering::Acquire))
    }
}

/// The first cluster time in the second of `now`.
fn first(now: DateTime) -> u64 {
    let seconds = now.timestamp_millis().max(0) / 1000;
    (u64::try_from(seconds).unwrap_or(0) << 32) | 1
}

fn unpack(packed: u64) -> Timestamp {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    Timestamp {
        time: half(packed >> 32),
        increment: half(packed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_time_increases_even_if_the_clock_does_not() {
        let clock = Clock::default();
        let at = |seconds: i64| DateTime::from_millis(seconds * 1000);
        let times = [at(100), at(100), at(99), at(101)].map(|now| clock.tick(now));
        assert_eq!(
            times.map(|time| (time.time, time.increment)),
            [(100, 1), (100, 2), (100, 3), (101, 1)]
        );
        assert_eq!(clock.now(), times[3]);
    }
}
