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

/// Runs a body in a transaction: everything that it does with the session `tx` happens, or nothing.
///
/// `transaction!(db, |tx| body)` is a future of the body's `Result`. The body may use `.await` and
/// `?`, and borrow what surrounds it; `return` and `?` leave the body alone. `Ok` commits. An error
/// aborts the transaction and is returned.
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
/// odm::transaction!(db, |tx| -> odm::Result<()> {
///     accounts.update_one(|a| a.id.eq(1), |a| a.balance.inc(-5)).session(tx).await?;
///     accounts.update_one(|a| a.id.eq(2), |a| a.balance.inc(5)).session(tx).await?;
///     Ok(())
/// })
/// .await?;
/// assert_eq!(accounts.get(&2).await?.map(|a| a.balance), Some(5));
/// # Ok(())
/// # }
/// ```
///
/// # Retries
///
/// The body runs again, from its start, after an operation in the transaction failed with the label
/// `TransientTransactionError`: another transaction got in its way, or the primary changed. The commit
/// is sent again while its result is unknown. Both go on for up to 120 seconds. So the body must do
/// nothing outside of the transaction that may not happen twice, and a value that it moves has to be
/// cloned. A [`Loaded`](crate::collection::Loaded) document knows of the retry.
///
/// # Errors of your own
///
/// The body's error is any type that is `From<odm::Error>`. It may wrap the error of an operation:
/// the session remembers whether to retry. The compiler infers the type where the result is returned;
/// where it goes through another `?`, write it after the `|tx|`:
///
/// ```
/// # use odm::prelude::*;
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "accounts")]
/// # struct Account { #[serde(rename = "_id")] id: i32, balance: i64 }
/// # #[derive(Debug)]
/// enum PayError {
///     Broke,
///     Odm(odm::Error),
/// }
///
/// impl From<odm::Error> for PayError {
///     fn from(error: odm::Error) -> Self {
///         Self::Odm(error)
///     }
/// }
///
/// async fn pay(db: &Db, accounts: &Collection<Account>, amount: i64) -> Result<(), PayError> {
///     odm::transaction!(db, |tx| {
///         let enough = accounts.update_one(|a| a.id.eq(1) & a.balance.gte(amount), |a| a.balance.inc(-amount));
///         if enough.session(tx).await?.matched == 0 {
///             return Err(PayError::Broke);
///         }
///         Ok(())
///     })
///     .await
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let db = Db::memory();
/// # let accounts = db.collection::<Account>();
/// // The future is `Send`: it may run in a spawned task or in a web handler.
/// let paying = tokio::spawn(async move { pay(&db, &accounts, 5).await });
/// assert!(matches!(paying.await.unwrap(), Err(PayError::Broke)));
/// # }
/// ```
///
/// # Options
///
/// [`TransactionOptions`](crate::collection::TransactionOptions) stand before the body:
/// `transaction!(db, TransactionOptions::new().read_concern(ReadConcern::Snapshot), |tx| body)`.
/// For a session of your own, or without retries, use [`Db::start_session`](crate::Db::start_session)
/// and [`Session::start_transaction`](crate::Session::start_transaction).
#[macro_export]
macro_rules! transaction {
    (@run $db:expr, $options:expr, $tx:ident, $output:ty, $body:expr) => {
        async {
            let mut tries = $crate::support::Tries::new(&$db, $options);
            loop {
                let $tx = match tries.begin().await {
                    ::core::result::Result::Ok(session) => session,
                    ::core::result::Result::Err(error) => {
                        break ::core::result::Result::Err(::core::convert::From::from(error));
                    }
                };
                let result: $output = async { $body }.await;
                if let ::core::option::Option::Some(result) = tries.end(result).await {
                    break result;
                }
            }
        }
    };
    ($db:expr, |$tx:ident| -> $output:ty $body:block $(,)?) => {
        $crate::transaction!(
            @run $db, $crate::collection::TransactionOptions::new(), $tx, $output, $body
        )
    };
    ($db:expr, |$tx:ident| $body:expr $(,)?) => {
        $crate::transaction!(
            @run $db, $crate::collection::TransactionOptions::new(), $tx,
            ::core::result::Result<_, _>, $body
        )
    };
    ($db:expr, $options:expr, |$tx:ident| -> $output:ty $body:block $(,)?) => {
        $crate::transaction!(@run $db, $options, $tx, $output, $body)
    };
    ($db:expr, $options:expr, |$tx:ident| $body:expr $(,)?) => {
        $crate::transaction!(@run $db, $options, $tx, ::core::result::Result<_, _>, $body)
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write `transaction!(db, |tx| { …; Ok(value) })`: the body is a closure without `async` \
             or `move`, with a name for the session; options stand before it"
        )
    };
}

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

    /// Commits or aborts as the body's result says, and waits for the next try; `Some` if there is
    /// none.
    pub async fn end<T, E: From<Error>>(&mut self, result: Result<T, E>) -> Option<Result<T, E>> {
        match result {
            Ok(value) => match self.commit().await {
                Ok(true) => Some(Ok(value)),
                Ok(false) => None,
                Err(error) => Some(Err(error.into())),
            },
            Err(error) => {
                if self.abort().await {
                    None
                } else {
                    Some(Err(error))
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
