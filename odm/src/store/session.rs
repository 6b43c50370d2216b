//! Sessions: causal consistency and transactions.

mod attempt;
mod options;

use std::fmt;
use std::time::Duration;

use futures_core::future::BoxFuture;

use crate::error::{Error, Result};
use crate::store::{Deadline, Deadlines, DriverSession, MemorySession};

use self::attempt::Current;
pub(crate) use self::attempt::{Attempt, Outcome};
pub use self::options::{SessionOptions, TransactionOptions};

/// A logical session. Start it with [`Db::start_session`](crate::collection::Db::start_session), and
/// pass it to actions with `.session(&mut session)`.
///
/// Most programs use [`transaction!`](crate::transaction) instead, which starts a session and retries
/// transactions as MongoDB's driver specification requires.
///
/// A session that is dropped aborts its transaction, even while a command is in flight. If that is the commit, the transaction is
/// committed or aborted.
#[derive(Debug)]
pub struct Session {
    pub(crate) backend: Backend,
    /// The default options of the session's transactions.
    defaults: TransactionOptions,
    /// The last transaction that was started.
    transaction: Option<Current>,
    /// What runs after the transaction under way has been committed.
    after_commit: AfterCommit,
    deadline: Option<Deadline>,
}

/// Work that follows a commit. It runs outside of the session.
pub(crate) type Afterwards = Box<dyn FnOnce() -> BoxFuture<'static, Result<()>> + Send + Sync>;

#[derive(Default)]
struct AfterCommit(Vec<Afterwards>);

impl fmt::Debug for AfterCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AfterCommit({})", self.0.len())
    }
}

#[derive(Debug)]
pub(crate) enum Backend {
    Memory(Box<MemorySession>),
    Driver(Box<DriverSession>),
}

impl Session {
    pub(crate) fn new(backend: Backend, defaults: TransactionOptions) -> Self {
        Self {
            backend,
            defaults,
            transaction: None,
            after_commit: AfterCommit::default(),
            deadline: None,
        }
    }

    /// Ends the session's calls with an error unless they are done within this time, from now on: see
    /// [`Within`](crate::Within), which does it for one call.
    ///
    /// An abort has no deadline.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use std::time::Duration;
    ///
    /// let mut session = db.start_session().await?.within(Duration::from_secs(2));
    /// session.start_transaction().await?;
    /// books.delete_one(|b| b.id.eq(1)).session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.deadline = Some(Deadline::after(limit));
        self
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline.clone()
    }

    /// Runs this after the transaction under way has been committed. It is dropped if the transaction is aborted.
    pub(crate) fn after_commit(&mut self, work: Afterwards) {
        self.after_commit.0.push(work);
    }

    /// Starts a transaction. Every action that then uses this session is part of it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// books.update_one(|b| b.id.eq(1), |b| b.year.set(1816)).session(&mut session).await?;
    /// assert_eq!(books.get(&1).await?.map(|book| book.year), Some(1815));
    /// session.commit_transaction().await?;
    /// assert_eq!(books.get(&1).await?.map(|book| book.year), Some(1816));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_transaction(&mut self) -> Result<()> {
        self.start_transaction_with(TransactionOptions::default())
            .await
    }

    /// Starts a transaction with these options; unset ones default to the session's transaction
    /// options.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::{TransactionOptions, WriteConcern};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut session = db.start_session().await?;
    /// let options = TransactionOptions::new().write_concern(WriteConcern::majority());
    /// session.start_transaction_with(options).await?;
    /// books.delete_one(|b| b.id.eq(1)).session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// assert_eq!(books.get(&1).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_transaction_with(&mut self, options: TransactionOptions) -> Result<()> {
        let options = options.or(&self.defaults);
        if let Some(concern) = &options.write_concern {
            concern.check()?;
        }
        if let Some(preference) = &options.read_preference {
            preference.check_in_transaction()?;
        }
        match &mut self.backend {
            Backend::Memory(session) => session.start(options)?,
            Backend::Driver(session) => session.start_transaction(options).await?,
        }
        self.transaction = Some(Current::start());
        self.after_commit.0.clear();
        Ok(())
    }

    /// Commits the transaction, which makes all its writes visible at once. After an error with the
    /// label `UnknownTransactionCommitResult`, call it again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// books.delete_one(|b| b.id.eq(1)).session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// assert_eq!(books.get(&1).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn commit_transaction(&mut self) -> Result<()> {
        let deadlines = Deadlines::of_command(self.deadline.clone());
        if let Some(deadlines) = &deadlines {
            // A commit that is not sent leaves the transaction open, so that it can be aborted.
            deadlines.check()?;
        }
        if let Some(transaction) = &self.transaction {
            transaction.committing();
        }
        let committed = match (&mut self.backend, deadlines) {
            (Backend::Memory(session), None) => session.commit().await,
            (Backend::Driver(session), None) => session.commit_transaction().await,
            (backend, Some(deadlines)) => {
                let commit = async {
                    match backend {
                        Backend::Memory(session) => session.commit().await,
                        Backend::Driver(session) => session.commit_transaction().await,
                    }
                };
                Box::pin(deadlines.watch("commitTransaction".to_owned(), commit)).await
            }
        };
        let committed = match &self.transaction {
            Some(transaction) => transaction.commit(committed),
            None => committed,
        };
        if committed.is_ok() {
            for work in std::mem::take(&mut self.after_commit.0) {
                // The commit has taken effect, and a stored record of the work stays until it is done.
                let _: Result<()> = work().await;
            }
        }
        committed
    }

    /// Aborts the transaction and discards its writes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// books.delete_one(|b| b.id.eq(1)).session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert_eq!(books.get(&1).await?.map(|book| book.id), Some(1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn abort_transaction(&mut self) -> Result<()> {
        if let Some(transaction) = &self.transaction {
            transaction.abort();
        }
        match &mut self.backend {
            Backend::Memory(session) => session.abort(),
            Backend::Driver(session) => session.abort_transaction().await,
        }
    }

    /// Whether a transaction is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let mut session = db.start_session().await?;
    /// assert!(!session.in_transaction());
    /// session.start_transaction().await?;
    /// assert!(session.in_transaction());
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_transaction(&self) -> bool {
        match &self.backend {
            Backend::Memory(session) => session.in_transaction(),
            Backend::Driver(session) => session.in_transaction(),
        }
    }

    /// Says that the transaction under way runs again after a transient error, which a hostile store wants to know.
    pub(crate) fn expect_retries(&mut self) {
        if let Backend::Memory(session) = &mut self.backend {
            session.expect_retries();
        }
    }

    /// The transaction that is under way.
    pub(crate) fn attempt(&self) -> Option<Attempt> {
        let transaction = self.transaction.as_deref();
        transaction.filter(|_| self.in_transaction()).cloned()
    }

    /// Whether an operation of the last transaction failed with a transient error, so that a retry may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        self.transaction
            .as_deref()
            .is_some_and(Attempt::is_transient)
    }

    /// The session of the in-memory engine.
    pub(crate) fn memory(&mut self) -> Result<&mut MemorySession> {
        match &mut self.backend {
            Backend::Memory(session) => Ok(session),
            Backend::Driver(_) => Err(Self::foreign()),
        }
    }

    /// The error for a session that another store started.
    pub(crate) fn foreign() -> Error {
        Error::usage(
            "the session was started by another store: start it with `start_session` of the same \
             `Db`",
        )
    }
}
