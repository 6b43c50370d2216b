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

impl Db {
    /// Runs `body` in a transaction: all that it does with the session `tx` happens, or nothing.
    ///
    /// The body runs again, from its start, when another transaction got in its way
    /// (`TransientTransactionError`), and the commit is sent again when its result is unknown, for
    /// up to 120 seconds; so the body must do nothing outside of the transaction that may not
    /// happen twice. An error that it returns aborts the transaction; for a reason of your own
    /// return [`Error::other`].
    ///
    /// In a future that must be `Send` (a spawned task, a web handler), let the body own what it
    /// uses, `async move |tx| …` over clones of the collections: the compiler can't yet prove that
    /// one that borrows is `Send`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "accounts")]
    /// # struct Account { #[serde(rename = "_id")] id: i32, balance: i64 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let accounts = db.collection::<Account>();
    /// accounts.insert_many([Account { id: 1, balance: 9 }, Account { id: 2, balance: 0 }]).await?;
    /// db.transaction(async |tx| {
    ///     accounts.update_one(|a| a.id.eq(1), |a| a.balance.inc(-5)).session(tx).await?;
    ///     accounts.update_one(|a| a.id.eq(2), |a| a.balance.inc(5)).session(tx).await?;
    ///     Ok(())
    /// })
    /// .await?;
    /// assert_eq!(accounts.get(&2).await?.map(|a| a.balance), Some(5));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn transaction<T>(
        &self,
        body: impl AsyncFnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        self.transaction_with(TransactionOptions::default(), body)
            .await
    }

    /// [`transaction`](Self::transaction), with read and write concerns of its own.
    pub async fn transaction_with<T>(
        &self,
        options: TransactionOptions,
        mut body: impl AsyncFnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let mut session = self.start_session().await?;
        let started = Instant::now();
        let mut pause = PAUSE;
        loop {
            session.start_transaction_with(options.clone()).await?;
            let failure = match body(&mut session).await {
                Ok(value) => {
                    // A body may have ended the transaction itself.
                    if !session.in_transaction() {
                        return Ok(value);
                    }
                    match commit(&mut session, started).await {
                        Ok(()) => return Ok(value),
                        Err(error) => error,
                    }
                }
                Err(error) => {
                    if session.in_transaction() {
                        // What made the body fail matters more than a failure to abort.
                        let _: Result<()> = session.abort_transaction().await;
                    }
                    error
                }
            };
            if !failure.has_label("TransientTransactionError") {
                return Err(failure);
            }
            let pausing = jitter(pause);
            if started.elapsed() + pausing >= LIMIT {
                return Err(failure.context("the transaction was retried for 120 seconds"));
            }
            tokio::time::sleep(pausing).await;
            pause = (pause * 3 / 2).min(PAUSE_MAX);
        }
    }
}

/// Commits, again while the result is unknown.
async fn commit(session: &mut Session, started: Instant) -> Result<()> {
    loop {
        let Err(error) = session.commit_transaction().await else {
            return Ok(());
        };
        if !error.has_label("UnknownTransactionCommitResult") || timed_out(&error) {
            return Err(error);
        }
        if started.elapsed() >= LIMIT {
            return Err(error.context("the commit was retried for 120 seconds"));
        }
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
