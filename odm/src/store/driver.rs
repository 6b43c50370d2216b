//! The store behind the official driver. It uses the driver's actions where they exist, so that the
//! driver handles retryable reads and writes, sessions, pools and server selection.

mod changes;
mod connect;
mod cursor;
mod errors;
mod options;
mod session;

/// Adds the session to an action, if there is one.
macro_rules! in_session {
    ($action:expr, $session:expr) => {
        match $session {
            Some(session) => $action.session(&mut session.session),
            None => $action,
        }
    };
}

/// Runs an action that returns a cursor. It is a macro because the action types share no trait.
macro_rules! opened {
    ($action:expr, $session:expr, $batch_size:expr) => {
        match $session {
            Some(session) => {
                let cursor = $action.session(&mut session.session).batch().await;
                let cursor = cursor.map_err(error)?;
                SessionCursor::open(cursor, &mut session.session, $batch_size).await?
            }
            None => {
                let cursor = $action.batch().await.map_err(error)?;
                ImplicitCursor::open(cursor, $batch_size).await?
            }
        }
    };
}

// Must follow the macros that it uses.
mod action;

use std::fmt;
use std::future::ready;

use bson::Document;
use bson::raw::RawDocumentBuf;
pub(crate) use mongodb::raw_batch_cursor::RawBatch;
use mongodb::{Collection, Database};

use self::action::Action;
pub(crate) use self::changes::DriverChanges;
pub(crate) use self::cursor::{ImplicitCursor, SessionCursor};
use self::errors::error;
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
        let session = DriverSession::new(session, self.transactions.clone());
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
        let session = match client_session(session) {
            Ok(session) => session,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let action = Action {
            database: &self.database,
            target: self.collection(&request.collection),
            collection: request.collection,
            options: request.options,
            session,
        };
        action.run(request.operation)
    }

    pub(crate) async fn run_command(
        &self,
        command: Document,
        session: Option<&mut Session>,
    ) -> Result<Document> {
        let session = client_session(session)?;
        let action = self.database.run_command(command);
        in_session!(action, session).await.map_err(error)
    }

    pub(crate) async fn run_cursor<'s>(
        &self,
        command: Document,
        session: Option<&'s mut Session>,
    ) -> Result<RawCursor<'s>> {
        let action = self.database.run_cursor_command(command);
        let session = client_session(session)?;
        Ok(opened!(action, session, None))
    }

    pub(crate) async fn drop_database(&self) -> Result<()> {
        self.database.drop().await.map_err(error)
    }
}

fn client_session(session: Option<&mut Session>) -> Result<Option<&mut DriverSession>> {
    match session {
        None => Ok(None),
        Some(session) => match &mut session.backend {
            Backend::Driver(session) => Ok(Some(session)),
            Backend::Memory(_) => Err(Session::foreign()),
        },
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({})", self.database.name())
    }
}
