//! How long a write waits for an open transaction that it conflicts with.

use std::time::{Duration, Instant};

use odm_language::error::{Code, ServerError};

/// MongoDB's default lifetime of a transaction.
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The waiting of one command: short pauses at first, then longer ones.
#[derive(Debug)]
pub struct Backoff {
    started: Instant,
    limit: Option<Duration>,
    pause: Duration,
}

impl Backoff {
    /// Starts waiting, with the command's `maxTimeMS` as the limit, if it has one.
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
    /// `MaxTimeMSExpired` when the limit is reached; the conflict itself when the wait has outlasted the lifetime of
    /// any transaction.
    pub fn pause(&mut self, conflict: ServerError) -> Result<Duration, ServerError> {
        let waited = self.started.elapsed();
        let left = self.limit.map(|limit| limit.saturating_sub(waited));
        if left.is_some_and(|left| left.is_zero()) {
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
        Ok(left.map_or(pause, |left| pause.min(left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_waits_until_its_limit() {
        let limit = Duration::from_millis(30);
        let mut patience = Backoff::new(Some(limit));
        let conflict = || ServerError::new(Code::WRITE_CONFLICT, "conflict");
        let expired = loop {
            match patience.pause(conflict()) {
                Ok(pause) => std::thread::sleep(pause),
                Err(expired) => break expired,
            }
        };
        assert_eq!(expired.code(), Code::MAX_TIME_MS_EXPIRED);
        assert!(patience.started.elapsed() >= limit);
    }
}
