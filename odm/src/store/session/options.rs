//! The options of sessions and transactions.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::store::options::{ReadConcern, ReadPreference, WriteConcern};

/// The options of a session: its consistency, and the defaults of its transactions. Pass them to
/// [`Db::start_session_with`](crate::collection::Db::start_session_with).
///
/// ```
/// # use odm::prelude::*;
/// use odm::collection::{TransactionOptions, WriteConcern};
/// use odm::collection::SessionOptions;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// # let db = Db::memory();
/// let safe = TransactionOptions::new().write_concern(WriteConcern::majority());
/// let mut session = db.start_session_with(SessionOptions::new().transactions(safe)).await?;
/// session.start_transaction().await?;
/// # session.abort_transaction().await
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SessionOptions {
    pub(crate) causal_consistency: Option<bool>,
    pub(crate) snapshot: Option<bool>,
    pub(crate) transactions: TransactionOptions,
}

impl SessionOptions {
    /// Everything at its default.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::collection::SessionOptions;
    /// let mut session = db.start_session_with(SessionOptions::new()).await?;
    /// assert_eq!(books.find_all().session(&mut session).all().await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the session is causally consistent (the default): each read returns data at least as
    /// new as the session's earlier reads and writes, whichever node runs it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::collection::SessionOptions;
    /// let options = SessionOptions::new().causal_consistency(true);
    /// let mut session = db.start_session_with(options).await?;
    /// books.delete_one(|b| b.id.eq(1)).session(&mut session).await?;
    /// assert_eq!(books.find_all().session(&mut session).all().await?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn causal_consistency(mut self, causal: bool) -> Self {
        self.causal_consistency = Some(causal);
        self
    }

    /// Whether all reads use the snapshot of the first read. Such a session can't write. The
    /// in-memory engine does not support it.
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use odm::collection::SessionOptions;
    /// let db = Db::connect("mongodb://127.0.0.1:27017/shop").await?;
    /// let books = db.collection::<Book>();
    /// let mut session = db.start_session_with(SessionOptions::new().snapshot(true)).await?;
    /// let all = books.find_all().session(&mut session).all().await?;
    /// assert_eq!(books.find_all().session(&mut session).all().await?, all);
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(mut self, snapshot: bool) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// The default options of the session's transactions.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::{TransactionOptions, WriteConcern};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::collection::SessionOptions;
    /// let safe = TransactionOptions::new().write_concern(WriteConcern::majority());
    /// let options = SessionOptions::new().transactions(safe);
    /// let mut session = db.start_session_with(options).await?;
    /// session.start_transaction().await?;
    /// assert!(session.in_transaction());
    /// # Ok(())
    /// # }
    /// ```
    pub fn transactions(mut self, options: TransactionOptions) -> Self {
        self.transactions = options;
        self
    }

    /// Refuses contradictory options.
    pub(crate) fn check(&self) -> Result<()> {
        if self.snapshot == Some(true) && self.causal_consistency == Some(true) {
            return Err(Error::usage(
                "a session can't have both `snapshot` and `causal_consistency`: leave one of them \
                 out",
            ));
        }
        Ok(())
    }
}

/// The options of a transaction. Unset options have the session's and then the connection's
/// defaults.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TransactionOptions {
    pub(crate) read_concern: Option<ReadConcern>,
    pub(crate) write_concern: Option<WriteConcern>,
    pub(crate) read_preference: Option<ReadPreference>,
    pub(crate) max_commit_time: Option<Duration>,
}

impl TransactionOptions {
    /// Everything at its default.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::TransactionOptions;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let options = TransactionOptions::new();
    /// let done = transaction!(db, options, |tx| books.delete_all().session(tx).await);
    /// assert_eq!(done.await?.deleted, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The isolation of the transaction's reads.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::{ReadConcern, TransactionOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let options = TransactionOptions::new().read_concern(ReadConcern::Snapshot);
    /// let found = transaction!(db, options, |tx| books.find_all().session(tx).all().await);
    /// assert_eq!(found.await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_concern(mut self, concern: ReadConcern) -> Self {
        self.read_concern = Some(concern);
        self
    }

    /// The acknowledgment that the commit waits for.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::{TransactionOptions, WriteConcern};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let options = TransactionOptions::new().write_concern(WriteConcern::majority());
    /// let done = transaction!(db, options, |tx| books.delete_all().session(tx).await);
    /// assert_eq!(done.await?.deleted, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_concern(mut self, concern: WriteConcern) -> Self {
        self.write_concern = Some(concern);
        self
    }

    /// The node that runs reads: must be the primary. Set it if the connection's default is another
    /// node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::{ReadPreference, TransactionOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let options = TransactionOptions::new().read_preference(ReadPreference::primary());
    /// let found = transaction!(db, options, |tx| books.find_all().session(tx).all().await);
    /// assert_eq!(found.await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_preference(mut self, preference: ReadPreference) -> Self {
        self.read_preference = Some(preference);
        self
    }

    /// How long the commit may take.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::TransactionOptions;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use std::time::Duration;
    /// let options = TransactionOptions::new().max_commit_time(Duration::from_secs(5));
    /// let done = transaction!(db, options, |tx| books.delete_all().session(tx).await);
    /// assert_eq!(done.await?.deleted, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_commit_time(mut self, time: Duration) -> Self {
        self.max_commit_time = Some(time);
        self
    }

    /// These options, with unset ones taken from `defaults`.
    pub(super) fn or(self, defaults: &Self) -> Self {
        Self {
            read_concern: self.read_concern.or(defaults.read_concern),
            write_concern: self
                .write_concern
                .or_else(|| defaults.write_concern.clone()),
            read_preference: self
                .read_preference
                .or_else(|| defaults.read_preference.clone()),
            max_commit_time: self.max_commit_time.or(defaults.max_commit_time),
        }
    }
}
