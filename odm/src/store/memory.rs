//! The in-memory store: sends requests and commands to the engine.

mod await_data;
mod changes;
mod cursor;
mod faults;
mod limits;
mod page;
mod parts;
mod retry;
mod session;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_engine::{Answer, Backoff, Context, Namespace, Service};

pub(crate) use self::changes::MemoryChanges;
pub(crate) use self::cursor::MemoryCursor;
use self::faults::Faults;
pub(crate) use self::page::MemoryPage;
use self::parts::Parts;
use self::retry::Retry;
pub(crate) use self::session::MemorySession;
use crate::error::{Code, Error, Result, ServerError};
use crate::store::batch::{Batch, Reply};
use crate::store::changes::{RawChanges, Source as Events};
use crate::store::cursor::{RawCursor, Source};
use crate::store::operation::{Operation, Request};
use crate::store::options::{Acknowledgment, Options, WriteConcern};
use crate::store::reply::{self, WriteKind, count, field};
use crate::store::response::Response;
use crate::store::session::{Backend, Session, SessionOptions};
use crate::store::watch::{Scope, Watch};

/// The engine, and the database and collection that operations use; clones share the data.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Handle>);

struct Handle {
    service: Arc<Service>,
    /// The database that operations use.
    database: Arc<str>,
    /// The collection that most operations use, kept here to avoid building its name for each.
    target: Option<Namespace>,
    /// What happens to commands on their way, if the engine is hostile.
    faults: Option<Arc<Faults>>,
}

impl Memory {
    pub(crate) fn new(context: Context, database: &str) -> Self {
        Self(Arc::new(Handle {
            faults: Faults::of(context.hostility()).map(Arc::new),
            service: Arc::new(Service::new(context)),
            database: database.into(),
            target: None,
        }))
    }

    /// The engine.
    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.0.service
    }

    /// What happens to commands on their way, if the engine is hostile.
    fn faults(&self) -> Option<&Faults> {
        self.0.faults.as_deref()
    }

    /// The same data, for a handle whose operations mostly use this collection.
    pub(crate) fn at(&self, collection: &str) -> Self {
        let database = &self.0.database;
        Self(Arc::new(Handle {
            service: Arc::clone(self.service()),
            database: Arc::clone(database),
            target: Some(Namespace::new(database, collection)),
            faults: self.0.faults.clone(),
        }))
    }

    /// Another handle to the same engine and names. The two handles share no reference counts except the engine's.
    pub(crate) fn apart(&self) -> Self {
        let copy = |target: &Namespace| Namespace::new(&target.database, &target.collection);
        Self(Arc::new(Handle {
            service: Arc::clone(self.service()),
            database: Arc::clone(&self.0.database),
            target: self.0.target.as_ref().map(copy),
            faults: self.0.faults.clone(),
        }))
    }

    /// Another database of the same engine.
    pub(crate) fn sibling(&self, database: &str) -> Self {
        Self(Arc::new(Handle {
            service: Arc::clone(self.service()),
            database: database.into(),
            target: None,
            faults: self.0.faults.clone(),
        }))
    }

    /// Starts a session.
    pub(crate) fn session(&self, options: SessionOptions) -> Result<Session> {
        if options.snapshot == Some(true) {
            return Err(Error::unsupported(
                "the in-memory store has no snapshot sessions: read in a transaction, which sees \
                 one moment",
            ));
        }
        // A single node is causally consistent without further work.
        let session = Box::new(MemorySession::new(self.clone()));
        Ok(Session::new(Backend::Memory(session), options.transactions))
    }

    /// Whether both hold the same data.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.service(), other.service())
    }

    /// Runs a command once; a reply with `ok: 0` is an error.
    pub(crate) fn run(
        &self,
        database: &str,
        mut command: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        command.append(cstr!("$db"), database);
        Ok(self.service().try_run(&command)?)
    }

    /// Runs a request once, without building a command.
    #[inline]
    pub(crate) fn ask(
        &self,
        database: &str,
        collection: &str,
        request: odm_engine::Request<'_>,
    ) -> Result<Answer, ServerError> {
        let namespace = self.namespace(database, collection);
        self.service().answer(&namespace, request)
    }

    fn namespace(&self, database: &str, collection: &str) -> Cow<'_, Namespace> {
        match &self.0.target {
            Some(target) if target.is(database, collection) => Cow::Borrowed(target),
            _ => Cow::Owned(Namespace::new(database, collection)),
        }
    }

    /// Runs a command outside of transactions. On a write conflict with an open transaction it waits,
    /// as mongod does.
    pub(crate) async fn run_waiting(
        &self,
        database: &str,
        mut command: RawDocumentBuf,
    ) -> Result<RawDocumentBuf> {
        command.append(cstr!("$db"), database);
        let limit = odm_engine::args::max_time(&command);
        waiting(limit, || self.service().try_run(&command)).await
    }

    /// Runs a command, in a session if one is given.
    async fn run_in(
        &self,
        database: &str,
        mut command: RawDocumentBuf,
        session: Option<&mut Session>,
        retry: Retry,
    ) -> Result<RawDocumentBuf> {
        let session = session.map(Session::memory).transpose()?;
        if let Some(session) = &session
            && !session.memory.is_same(self)
        {
            return Err(Session::foreign());
        }
        if let Some(faults) = self.faults() {
            let run = self.run_on_faults(faults, database, command, session, retry);
            return Box::pin(run).await;
        }
        let Some(session) = session else {
            return self.run_waiting(database, command).await;
        };
        session.decorate(&mut command);
        if session.in_transaction() {
            self.run(database, command)
        } else {
            self.run_waiting(database, command).await
        }
    }

    /// Runs a command of a hostile engine, in a session if one is given.
    async fn run_on_faults(
        &self,
        faults: &Faults,
        database: &str,
        mut command: RawDocumentBuf,
        session: Option<&mut MemorySession>,
        retry: Retry,
    ) -> Result<RawDocumentBuf> {
        let send = |command| self.run_waiting(database, command);
        match session {
            Some(session) if session.in_transaction() => {
                session.run_statement(faults, database, command).await
            }
            Some(session) => {
                session.decorate(&mut command);
                if retry == Retry::Write {
                    command.append(cstr!("txnNumber"), session.next_number());
                }
                faults.send(command, retry, send).await
            }
            None if retry == Retry::Write => {
                let session = faults.implicit_session();
                command.append(cstr!("lsid"), &session.id);
                command.append(cstr!("txnNumber"), session.number);
                let reply = faults.send(command, retry, send).await;
                faults.keep(session);
                reply
            }
            None => faults.send(command, retry, send).await,
        }
    }

    /// Runs a command unchanged, apart from the session's fields.
    pub(crate) async fn run_command(
        &self,
        command: Document,
        session: Option<&mut Session>,
    ) -> Result<Document> {
        let raw = RawDocumentBuf::try_from(&command).map_err(Error::encode)?;
        let reply = self.run_written(&self.0.database, raw, session).await?;
        Document::try_from(&*reply).map_err(|_| Error::malformed_reply("well-formed BSON"))
    }

    /// Runs a command that returns a cursor.
    pub(crate) async fn run_cursor<'s>(
        &self,
        command: Document,
        mut session: Option<&'s mut Session>,
    ) -> Result<RawCursor<'s>> {
        let database = &self.0.database;
        let raw = RawDocumentBuf::try_from(&command).map_err(Error::encode)?;
        limits::check_command(&raw)?;
        let reply = self
            .run_in(database, raw, session.as_deref_mut(), Retry::Never)
            .await?;
        self.open_cursor(database, reply, None, session)
    }

    fn open_cursor<'s>(
        &self,
        database: &Arc<str>,
        reply: RawDocumentBuf,
        batch_size: Option<u32>,
        session: Option<&'s mut Session>,
    ) -> Result<RawCursor<'s>> {
        let mut fields = None;
        if let Some(session) = session {
            let fields = fields.insert(RawDocumentBuf::new());
            session.memory()?.append_fields(fields);
        }
        let batch = Batch::new(Reply::Memory(reply))?;
        Ok(self.cursor(database, batch, batch_size, fields))
    }

    fn cursor<'s>(
        &self,
        database: &Arc<str>,
        first: Batch,
        batch_size: Option<u32>,
        session: Option<RawDocumentBuf>,
    ) -> RawCursor<'s> {
        let source = if first.cursor_id == 0 {
            Source::Exhausted(PhantomData)
        } else {
            Source::Memory(Box::new(MemoryCursor::new(
                self.clone(),
                Arc::clone(database),
                &first,
                batch_size,
                session,
            )))
        };
        RawCursor::new(first, source, batch_size)
    }

    /// Opens a change stream.
    pub(crate) async fn watch<'s>(
        &self,
        watch: Watch,
        session: Option<&'s mut Session>,
    ) -> Result<RawChanges<'s>> {
        check(&watch.options)?;
        let database = match watch.scope {
            Scope::Cluster => "admin".into(),
            Scope::Collection(_) | Scope::Database => Arc::clone(&self.0.database),
        };
        let changes = MemoryChanges::open(self, &database, watch, session).await?;
        let start = changes.start();
        Ok(RawChanges::new(Events::Memory(Box::new(changes)), start))
    }

    /// Runs one operation without a session and options, and without building a command. Returns `None`, and does
    /// nothing, if the operation needs a command or must wait for an open transaction.
    pub(crate) fn exec_now<'s>(&self, request: &Request) -> Option<Result<Response<'s>>> {
        if !request.options.is_empty() || self.0.faults.is_some() {
            return None;
        }
        let database = &self.0.database;
        // Borrowed, because moving large values would take a good part of a lookup's time.
        let parts = Parts::of(request);
        let parts = match &parts {
            Ok(Some(parts)) if !parts.is_large() => parts,
            Ok(_) => return None,
            Err(_) => return parts.err().map(Err),
        };
        match self.ask(database, &request.collection, parts.request()) {
            Err(error) if error.code() == Code::WRITE_CONFLICT => None,
            Err(error) => Some(Err(error.into())),
            Ok(answer) => Some(self.respond(parts, answer, request)),
        }
    }

    /// Converts the engine's answer to a request without a command.
    #[inline]
    fn respond<'s>(
        &self,
        parts: &Parts<'_>,
        answer: Answer,
        request: &Request,
    ) -> Result<Response<'s>> {
        match answer {
            Answer::Page(page) => {
                let batch = Batch::of_page(MemoryPage::new(page, cstr!("firstBatch")));
                let cursor = self.cursor(&self.0.database, batch, None, None);
                Ok(Response::Cursor(cursor))
            }
            Answer::Written(written) => parts
                .written(written, request.operation.is_batch())
                .map(Response::Written),
        }
    }

    /// Runs one operation: without building a command if it has no options and no session, else as a command. On a
    /// write conflict with an open transaction it waits.
    pub(crate) async fn exec<'s>(
        &self,
        request: Request,
        session: Option<&'s mut Session>,
    ) -> Result<Response<'s>> {
        let database = &self.0.database;
        if session.is_none()
            && request.options.is_empty()
            && self.0.faults.is_none()
            && let Some(parts) = Parts::of(&request)?
            && !parts.is_large()
        {
            let ask = || self.ask(database, &request.collection, parts.request());
            let answer = waiting(None, ask).await?;
            return self.respond(&parts, answer, &request);
        }
        self.exec_command(database, &request, session).await
    }

    async fn exec_command<'s>(
        &self,
        database: &Arc<str>,
        request: &Request,
        mut session: Option<&'s mut Session>,
    ) -> Result<Response<'s>> {
        check(&request.options)?;
        let command = request.raw_command()?;
        limits::check(&request.operation, &command)?;
        let batch = request.operation.is_batch();
        let retry = request.operation.retry();
        if matches!(
            request.operation,
            Operation::Find { .. } | Operation::Aggregate { .. }
        ) {
            let reply = self
                .run_in(database, command, session.as_deref_mut(), retry)
                .await?;
            let size = request.options.batch_size;
            return Ok(Response::Cursor(
                self.open_cursor(database, reply, size, session)?,
            ));
        }
        if let Operation::Count { .. } = request.operation {
            let reply = self
                .run_in(database, command, session.as_deref_mut(), retry)
                .await?;
            // The pipeline returns at most one document.
            let mut cursor = self.open_cursor(database, reply, None, session)?;
            let counted = match cursor.next().await {
                Some(group) => count(group?, "n")?,
                None => 0,
            };
            return Ok(Response::Count(counted));
        }
        let reply = match self.run_in(database, command, session, retry).await {
            Err(error)
                if matches!(request.operation, Operation::Drop)
                    && error.code() == Some(Code::NAMESPACE_NOT_FOUND) =>
            {
                return Ok(Response::Done);
            }
            reply => reply?,
        };
        Ok(match request.operation {
            Operation::InsertOne { .. } | Operation::InsertMany { .. } => {
                Response::Written(reply::written(&reply, WriteKind::Insert, batch)?)
            }
            Operation::Update(_) | Operation::Replace { .. } | Operation::Updates { .. } => {
                Response::Written(reply::written(&reply, WriteKind::Update, batch)?)
            }
            Operation::Delete { .. } | Operation::Deletes { .. } => {
                Response::Written(reply::written(&reply, WriteKind::Delete, batch)?)
            }
            Operation::FindAndUpdate(_)
            | Operation::FindAndReplace { .. }
            | Operation::FindAndDelete { .. } => Response::Document(value(&reply)?),
            Operation::EstimatedCount => Response::Count(count(&reply, "n")?),
            Operation::Distinct { .. } => Response::Values(reply::values(&reply)?),
            Operation::Drop => Response::Done,
            Operation::Find { .. } | Operation::Aggregate { .. } | Operation::Count { .. } => {
                return Err(Error::malformed_reply("a cursor"));
            }
        })
    }
}

/// Retries while the operation conflicts with an uncommitted write of a transaction.
async fn waiting<T>(
    limit: Option<Duration>,
    mut run: impl FnMut() -> Result<T, ServerError>,
) -> Result<T> {
    let mut patience = Backoff::new(limit);
    loop {
        match run() {
            Err(error) if error.code() == Code::WRITE_CONFLICT => {
                tokio::time::sleep(patience.pause(error)?).await;
            }
            answer => return Ok(answer?),
        }
    }
}

/// Refuses options that a single in-memory node can't honour.
fn check(options: &Options) -> Result<()> {
    if let Some(preference) = &options.read_preference {
        preference.check_on_one_node()?;
    }
    options
        .write_concern
        .as_ref()
        .map_or(Ok(()), check_write_concern)
}

/// Refuses write concerns that a single in-memory node can't honour.
pub(crate) fn check_write_concern(concern: &WriteConcern) -> Result<()> {
    match &concern.w {
        Some(Acknowledgment::Nodes(2..)) => Err(Error::unsupported(
            "the in-memory store is a single node: a write can't be acknowledged by more than one",
        )),
        Some(Acknowledgment::Custom(name)) => Err(Error::unsupported(format!(
            "the in-memory store has no write concern named `{name}`"
        ))),
        _ => Ok(()),
    }
}

fn value(reply: &RawDocument) -> Result<Option<RawDocumentBuf>> {
    match field(reply, "value") {
        Some(RawBsonRef::Document(document)) => Ok(Some(document.to_owned())),
        Some(RawBsonRef::Null) | None => Ok(None),
        Some(_) => Err(Error::malformed_reply("a document as `value`")),
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}
