//! How long a write waits for the open transaction that stands in its way.

use std::time::{Duration, Instant};

use odm_language::error::{Code, ServerError};

/// As long as MongoDB lets a transaction live.
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The waiting of one command: short pauses at first, then longer ones.
#[derive(Debug)]
pub struct Patience {
    started: Instant,
    limit: Option<Duration>,
    pause: Duration,
}

impl Patience {
    /// With the command's `maxTimeMS`, if it has one.
    pub fn new(limit: Option<Duration>) -> Self {
        Self {
            started: Instant::now(),
            limit,
            pause: PAUSE,
        }
    }

    /// How long to wait before the next try, after a `conflict`.
    ///
    /// # Errors
    ///
    /// That the time is over, or the conflict itself where no transaction lives that long.
    pub fn pause(&mut self, conflict: ServerError) -> Result<Duration, ServerError> {
        let waited = self.started.elapsed();
        if self.limit.is_some_and(|limit| waited + self.pause >= limit) {
            return Err(ServerError::new(
                Code::MAX_TIME_MS_EXPIRED,
                "operation exceeded time limit",
            ));
        }
        if waited >= LIMIT {
            return Err(conflict);
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        Ok(pause)
    }
}
