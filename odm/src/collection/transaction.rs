//! Transactions with the retries that MongoDB asks its drivers for.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use super::Db;
use crate::error::{Error, Result};
use crate::store::{Session, TransactionOptions};

/// How long bodies and commits are retried.
const LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// The tries of one transaction; [`transaction!`](crate::transaction) drives it.
#[derive(Debug)]
pub struct Tries {
    db: Db,
    options: TransactionOptions,
    session: Option<Session>,
    started: Instant,
    pause: Duration,
}

impl Tries {
    /// None yet.
    pub fn new(db: &Db, options: TransactionOptions) -> Self {
        Self {
            db: db.clone(),
            options,
            session: None,
            started: Instant::now(),
            pause: PAUSE,
        }
    }

    /// Starts the next try.
    pub async fn begin(&mut self) -> Result<&mut Session> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.db.start_session().await?,
        };
        let session = self.session.insert(session);
        session.start_transaction_with(self.options.clone()).await?;
        Ok(session)
    }

    /// Commits or aborts as the body's result says, and waits for the next try; `None` if there is
    /// one. Else the body's result, or why it could not be committed.
    pub async fn end<T, E>(
        &mut self,
        result: std::result::Result<T, E>,
    ) -> Option<Result<std::result::Result<T, E>>> {
        match result {
            Ok(value) => match self.commit().await {
                Ok(true) => Some(Ok(Ok(value))),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            },
            Err(error) => {
                if self.abort().await {
                    None
                } else {
                    Some(Ok(Err(error)))
                }
            }
        }
    }

    /// Commits, and sends the commit again while its result is unknown. Returns whether the
    /// transaction is committed; else there is another try.
    async fn commit(&mut self) -> Result<bool> {
        // The body may have ended the transaction itself.
        let Some(session) = self.session.as_mut().filter(|it| it.in_transaction()) else {
            return Ok(true);
        };
        let failure = loop {
            let Err(error) = session.commit_transaction().await else {
                return Ok(true);
            };
            if !error.has_label("UnknownTransactionCommitResult") || timed_out(&error) {
                break error;
            }
            if self.started.elapsed() >= LIMIT {
                return Err(error.context("the commit was retried for 120 seconds"));
            }
        };
        if !failure.has_label("TransientTransactionError") {
            return Err(failure);
        }
        if self.wait().await {
            Ok(false)
        } else {
            Err(failure.context("the transaction was retried for 120 seconds"))
        }
    }

    /// Aborts, and returns whether there is another try.
    async fn abort(&mut self) -> bool {
        let Some(session) = &mut self.session else {
            return false;
        };
        if session.in_transaction() {
            // What made the body fail matters more than a failure to abort.
            let _: Result<()> = session.abort_transaction().await;
        }
        session.is_transient() && self.wait().await
    }

    /// Pauses before another try, unless the time is up.
    async fn wait(&mut self) -> bool {
        let pause = jitter(self.pause);
        if self.started.elapsed() + pause >= LIMIT {
            return false;
        }
        tokio::time::sleep(pause).await;
        self.pause = (self.pause * 3 / 2).min(PAUSE_MAX);
        true
    }
}

/// Whether the commit used up the time that it was given: then it is not sent again.
fn timed_out(error: &Error) -> bool {
    error.code() == Some(crate::error::Code::MAX_TIME_MS_EXPIRED)
}

/// Part of the pause, so that transactions that collided don't collide again.
fn jitter(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) % 1024;
    pause * u32::try_from(random).unwrap_or(0) / 1024
}
