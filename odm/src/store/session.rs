//! Sessions: causal consistency and transactions.

mod attempt;
mod options;

use crate::error::{Error, Result};
use crate::store::{DriverSession, MemorySession};

use self::attempt::Current;
pub(crate) use self::attempt::{Attempt, Outcome};
pub use self::options::{SessionOptions, TransactionOptions};

/// A logical session. Start it with [`Db::start_session`](crate::collection::Db::start_session), and
/// pass it to actions with `.session(&mut session)`.
///
/// Most programs use [`transaction!`](crate::transaction) instead, which starts a session and retries
/// transactions as MongoDB's driver specification requires.
#[derive(Debug)]
pub struct Session {
    pub(crate) backend: Backend,
    /// The default options of the session's transactions.
    defaults: TransactionOptions,
    /// The last transaction that was started.
    transaction: Option<Current>,
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
        }
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
        if let Some(transaction) = &self.transaction {
            transaction.committing();
        }
        let committed = match &mut self.backend {
            Backend::Memory(session) => session.commit().await,
            Backend::Driver(session) => session.commit_transaction().await,
        };
        match &self.transaction {
            Some(transaction) => transaction.commit(committed),
            None => committed,
        }
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
