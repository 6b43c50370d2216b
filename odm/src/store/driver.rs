//! The store behind the official driver. It uses the driver's actions where they exist, so that the
//! driver handles retryable reads and writes, sessions, pools and server selection.

mod changes;
mod connect;
mod cursor;
mod errors;
mod lease;
mod options;
mod session;

/// Adds the session to an action, if there is one.
macro_rules! in_session {
    ($action:expr, $session:expr) => {
        match $session {
            Some(session) => $action.session(session),
            None => $action,
        }
    };
}

/// Runs an action that returns a cursor. It is a macro because the action types share no trait.
macro_rules! opened {
    ($action:expr, $client:expr, $session:expr, $batch_size:expr) => {{
        let (cursor, session) = match $session {
            Some(session) => {
                let opened = $action.session(&mut *session).batch().await;
                (opened, Holder::Lent(session))
            }
            None => {
                let mut lease = Lease::for_cursor($client).await?;
                let (own, in_flight) = lease.lend()?;
                let opened = in_flight.watch($action.session(own).batch()).await;
                (opened, Holder::Own(Box::new(lease)))
            }
        };
        DriverCursor::open(cursor.map_err(error)?, session, $batch_size).await?
    }};
}

// Must follow the macros that it uses.
mod action;

use std::fmt;
use std::future::ready;

use bson::Document;
use bson::raw::RawDocumentBuf;
pub(crate) use mongodb::raw_batch_cursor::RawBatch;
use mongodb::{ClientSession, Collection, Database};

use self::action::Action;
pub(crate) use self::changes::DriverChanges;
pub(crate) use self::cursor::DriverCursor;
use self::errors::error;
use self::lease::{Holder, InFlight, Lease};
pub(crate) use self::session::DriverSession;
use self::session::KnownTransactions;
use crate::error::Result;
use crate::store::capability::{Capability, Transactions};
use crate::store::cursor::RawCursor;
use crate::store::operation::Request;
use crate::store::response::Answer;
use crate::store::session::{Backend, Session, SessionOptions};

/// A database of the driver's client; clones share the connections.
#[derive(Clone)]
pub(crate) struct Driver {
    pub(crate) database: Database,
    /// The collection that most operations use.
    target: Option<Collection<RawDocumentBuf>>,
    transactions: KnownTransactions,
}

impl Driver {
    pub(crate) fn new(database: Database) -> Self {
        Self {
            database,
            target: None,
            transactions: KnownTransactions::default(),
        }
    }

    /// The driver's own handle.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Another database of the same client.
    pub(crate) fn sibling(&self, database: &str) -> Self {
        Self {
            database: self.database.client().database(database),
            target: None,
            transactions: self.transactions.clone(),
        }
    }

    /// The same database, with a cached collection handle: the driver allocates each handle.
    pub(crate) fn at(&self, collection: &str) -> Self {
        Self {
            database: self.database.clone(),
            target: Some(self.database.collection(collection)),
            transactions: self.transactions.clone(),
        }
    }

    fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        match &self.target {
            Some(target) if target.name() == name => target.clone(),
            _ => self.database.collection(name),
        }
    }

    pub(crate) async fn start_session(&self, options: SessionOptions) -> Result<Session> {
        let mut chosen = mongodb::options::SessionOptions::default();
        chosen.causal_consistency = options.causal_consistency;
        chosen.snapshot = options.snapshot;
        let action = self.database.client().start_session().with_options(chosen);
        let session = action.await.map_err(error)?;
        let session = DriverSession::new(session, self.database.clone(), self.transactions.clone());
        let backend = Backend::Driver(Box::new(session));
        Ok(Session::new(backend, options.transactions))
    }

    pub(crate) async fn capability(&self) -> Result<Capability> {
        session::capability(self.database.client()).await
    }

    pub(crate) async fn transactions(&self) -> Option<Transactions> {
        self.transactions.get(self.database.client()).await
    }

    /// Runs one operation.
    pub(crate) fn exec<'s>(
        &self,
        request: Request,
        session: Option<&'s mut Session>,
    ) -> Answer<'s> {
        let in_transaction = session.as_deref().is_some_and(Session::in_transaction);
        let (session, in_flight) = match lend(session) {
            Ok(lent) => lent.unzip(),
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let action = Action {
            database: &self.database,
            target: self.collection(&request.collection),
            collection: request.collection,
            options: request.options,
            session,
            in_transaction,
        };
        // Others leave nothing open, and a write is not to be killed halfway.
        let may_leave_open = in_transaction || request.operation.opens_cursor();
        let in_flight = in_flight.filter(|_| may_leave_open);
        let answer = action.run(request.operation);
        match in_flight {
            Some(in_flight) => Box::pin(async move { in_flight.watch(answer).await }),
            None => answer,
        }
    }

    pub(crate) async fn run_command(
        &self,
        command: Document,
        session: Option<&mut Session>,
    ) -> Result<Document> {
        let action = self.database.run_command(command);
        let in_transaction = session.as_deref().is_some_and(Session::in_transaction);
        let reply = match lend(session)? {
            None => action.await,
            Some((session, in_flight)) if in_transaction => {
                in_flight.sent();
                let reply = action.session(session).await;
                in_flight.answered();
                reply
            }
            Some((session, _)) => action.session(session).await,
        };
        reply.map_err(error)
    }

    pub(crate) async fn run_cursor<'s>(
        &self,
        command: Document,
        session: Option<&'s mut Session>,
    ) -> Result<RawCursor<'s>> {
        let action = self.database.run_cursor_command(command);
        let (session, in_flight) = lend(session)?.unzip();
        // Boxed, because few calls need this large future, and callers' futures contain it.
        let open = Box::pin(async { Ok(opened!(action, self.database.client(), session, None)) });
        if let Some(in_flight) = &in_flight {
            in_flight.sent();
        }
        let opened = open.await;
        if let Some(in_flight) = &in_flight {
            in_flight.answered();
        }
        opened
    }

    pub(crate) async fn drop_database(&self) -> Result<()> {
        self.database.drop().await.map_err(error)
    }
}

/// The driver's session for one command, with the flag that the command sets while it is in flight.
fn lend(session: Option<&mut Session>) -> Result<Option<(&mut ClientSession, InFlight)>> {
    match session {
        None => Ok(None),
        Some(session) => match &mut session.backend {
            Backend::Driver(session) => session.lend().map(Some),
            Backend::Memory(_) => Err(Session::foreign()),
        },
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({})", self.database.name())
    }
}
