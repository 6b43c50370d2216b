//! Transactions with the retries that MongoDB's driver specification requires.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use super::Db;
use crate::error::{Error, Result};
use crate::store::options::ReadPreference;
use crate::store::{Session, Store, TransactionOptions};

/// The total time for retries of the body and the commit.
const LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// The attempts of one transaction, driven by [`transaction!`](crate::transaction).
#[derive(Debug)]
pub struct Tries {
    db: Db,
    options: TransactionOptions,
    session: Option<Session>,
    started: Instant,
    pause: Duration,
}

impl Tries {
    /// Starts with no attempt made.
    pub fn new(db: &Db, options: TransactionOptions) -> Self {
        Self {
            db: db.clone(),
            options,
            session: None,
            started: Instant::now(),
            pause: PAUSE,
        }
    }

    /// Starts with no attempt made, for writes that the library joins. It reads from the primary, as each transaction does,
    /// also where the connection prefers secondaries.
    pub(crate) fn joined(store: &Store) -> Self {
        let db = Db {
            store: store.clone(),
        };
        let options = TransactionOptions::new().read_preference(ReadPreference::primary());
        Self::new(&db, options)
    }

    /// Starts the next attempt.
    pub async fn begin(&mut self) -> Result<&mut Session> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.db.start_session().await?,
        };
        let session = self.session.insert(session);
        session.start_transaction_with(self.options.clone()).await?;
        session.expect_retries();
        Ok(session)
    }

    /// Commits or aborts depending on the body's result. Returns `None`, after a pause, if the
    /// transaction should be attempted again; otherwise the body's result, or the commit's error.
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

    /// Commits, and sends the commit again while its result is unknown. Returns `false` if the
    /// transaction should be attempted again.
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

    /// Aborts, and returns whether the transaction should be attempted again.
    async fn abort(&mut self) -> bool {
        let Some(session) = &mut self.session else {
            return false;
        };
        if session.in_transaction() {
            // The body's error matters more than a failure to abort.
            let _: Result<()> = session.abort_transaction().await;
        }
        session.is_transient() && self.wait().await
    }

    /// Pauses before the next attempt; returns `false` if the time limit is reached.
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

/// Whether the commit exceeded its `maxTimeMS`; such a commit is not sent again.
fn timed_out(error: &Error) -> bool {
    error.code() == Some(crate::error::Code::MAX_TIME_MS_EXPIRED)
}

/// A random part of the pause, so that transactions that conflicted don't conflict again. It is never zero, so that other
/// tasks run meanwhile.
fn jitter(pause: Duration) -> Duration {
    let random = 1 + RandomState::new().hash_one(0_u8) % 1024;
    pause * u32::try_from(random).unwrap_or(0) / 1024
}
