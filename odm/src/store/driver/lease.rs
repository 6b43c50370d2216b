//! The driver's sessions, and the end of what a dropped future has left in one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bson::{Document, doc};
use mongodb::{Client, ClientSession, Database};

use super::errors::error;
use crate::error::{Error, Result};

/// A session of the driver. A lease that is dropped while a command is in flight ends what the command may have left open:
///
/// - A transaction. The driver by itself aborts the transaction of a dropped session only between the answer to the transaction's
///   first command and the call that commits or aborts it. Otherwise the transaction stays open for
///   `transactionLifetimeLimitSeconds`.
/// - A cursor whose id nobody has read. It stays open for `cursorTimeoutMillis`, which is ten minutes.
pub(super) struct Lease {
    /// Present until the lease is dropped.
    session: Option<ClientSession>,
    /// Whether commands may be part of a transaction, and then a database in which the user may read.
    transactions: Option<Database>,
    in_flight: InFlight,
}

impl Lease {
    /// A session for a user's transactions, which read the database.
    pub(super) fn for_transactions(session: ClientSession, database: Database) -> Self {
        Self {
            session: Some(session),
            transactions: Some(database),
            in_flight: InFlight::default(),
        }
    }

    /// A session for one cursor, as the driver itself would start one.
    pub(super) async fn for_cursor(client: &Client) -> Result<Self> {
        let session = client.start_session().causal_consistency(false).await;
        Ok(Self {
            session: Some(session.map_err(error)?),
            transactions: None,
            in_flight: InFlight::default(),
        })
    }

    pub(super) fn session(&mut self) -> Result<&mut ClientSession> {
        self.session
            .as_mut()
            .ok_or_else(|| Error::usage("the session has ended: start another one"))
    }

    /// The session for one command, and the flag that the command sets while it is in flight.
    pub(super) fn lend(&mut self) -> Result<(&mut ClientSession, InFlight)> {
        let in_flight = self.in_flight.clone();
        Ok((self.session()?, in_flight))
    }

    /// A database in which the user may read, if commands may be part of a transaction.
    pub(super) fn database(&self) -> Option<Database> {
        self.transactions.clone()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.in_flight.is_set() {
            return;
        }
        // Without a runtime, the driver's connections don't work either.
        if let (Some(mut session), Ok(runtime)) =
            (self.session.take(), tokio::runtime::Handle::try_current())
        {
            let transactions = self.transactions.take();
            runtime.spawn(async move {
                let _: mongodb::error::Result<()> = end(&mut session, transactions.as_ref()).await;
                // Only now may another operation of the client get the session from the driver's pool.
                drop(session);
            });
        }
    }
}

/// Kills the session's running command and its cursors, aborts its transaction, and makes MongoDB refuse a command of the
/// transaction that arrives later.
pub(super) async fn end(
    session: &mut ClientSession,
    transactions: Option<&Database>,
) -> mongodb::error::Result<()> {
    // First, because an abort waits for the running command.
    let kill = doc! {"killSessions": [session.id().clone()]};
    let admin = session.client().database("admin");
    let _: mongodb::error::Result<Document> = admin.run_command(kill).await;
    let Some(database) = transactions else {
        return Ok(());
    };
    let aborted = session.abort_transaction().await;
    // A read in a transaction with a higher number: commands of earlier ones are too old from then on.
    if session.start_transaction().await.is_ok() {
        let none = database.collection::<Document>("odm_ended");
        let _: mongodb::error::Result<_> = none.find_one(doc! {}).session(&mut *session).await;
        let _: mongodb::error::Result<()> = session.abort_transaction().await;
    }
    aborted
}

/// The session of a cursor: the user's, or one of its own.
#[derive(Debug)]
pub(super) enum Holder<'s> {
    Lent(&'s mut ClientSession),
    Own(Box<Lease>),
}

impl Holder<'_> {
    pub(super) fn session(&mut self) -> Result<&mut ClientSession> {
        match self {
            Self::Lent(session) => Ok(session),
            Self::Own(lease) => lease.session(),
        }
    }
}

/// Whether a command of a session has been sent and its answer not been read: it is in flight, or its future was dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight(Arc<AtomicBool>);

impl InFlight {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn sent(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(super) fn answered(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Runs a command. If its future is dropped before it is done, it stays in flight.
    pub(super) async fn watch<F: IntoFuture>(&self, command: F) -> F::Output {
        self.sent();
        let answer = command.into_future().await;
        self.answered();
        answer
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("session", &self.session)
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}
