//! The store behind the official driver. Its actions are used where it has them, so that
//! retryable reads and writes, sessions, pools and server selection stay the driver's.

mod connect;
mod cursor;
mod errors;
mod options;
mod transaction;

use std::fmt;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document};
use mongodb::options::UpdateModifications;
use mongodb::{Collection, Database};

pub(crate) use self::cursor::{ImplicitCursor, SessionCursor};
pub(crate) use self::errors::error;
pub(crate) use self::transaction::start_transaction;
use crate::error::{Error, Result};
use crate::store::cursor::RawCursor;
use crate::store::operation::{Modification, Operation, Request};
use crate::store::options::Chosen;
use crate::store::response::{self, Response, WriteKind, Written};
use crate::store::session::{Backend, DriverSession, Session, SessionOptions};

/// Adds the session to an action, if there is one.
macro_rules! in_session {
    ($action:expr, $session:expr) => {
        match $session {
            Some(session) => $action.session(&mut session.session),
            None => $action,
        }
    };
}

/// Runs an action that answers with a cursor. The types of such actions have no trait in common.
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

/// A database of the driver's client; clones share the connections.
#[derive(Clone)]
pub(crate) struct Driver {
    pub(crate) database: Database,
    /// The collection that most operations go to.
    target: Option<Collection<RawDocumentBuf>>,
}

impl Driver {
    pub(crate) fn new(database: Database) -> Self {
        Self {
            database,
            target: None,
        }
    }

    /// The same database, with a collection made ready: every one that the driver makes is allocated.
    pub(crate) fn at(&self, collection: &str) -> Self {
        Self {
            database: self.database.clone(),
            target: Some(self.database.collection(collection)),
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
        let session = DriverSession {
            session: action.await.map_err(error)?,
            in_transaction: false,
        };
        let backend = Backend::Driver(Box::new(session));
        Ok(Session::new(backend, options.transactions))
    }

    pub(crate) async fn exec<'s>(
        &self,
        request: Request,
        session: Option<&'s mut Session>,
    ) -> Result<Response<'s>> {
        let session = client_session(session)?;
        let Request {
            collection,
            operation,
            options,
        } = request;
        let target = self.collection(collection);
        match operation {
            // Boxed, as the driver boxes its own: one large future would make all of them large.
            Operation::Find { filter } => Box::pin(find(&target, filter, &options, session)).await,
            Operation::Aggregate { pipeline } => {
                Box::pin(aggregate(&target, pipeline, &options, session)).await
            }
            Operation::InsertOne { document } => {
                let action = target
                    .insert_one(&document)
                    .with_options(options.chosen().map(options::insert_one));
                in_session!(action, session).await.map_err(error)?;
                Ok(Response::Written(Written {
                    n: 1,
                    ..Written::default()
                }))
            }
            Operation::InsertMany { documents } => {
                let action = target
                    .insert_many(&documents)
                    .with_options(options.chosen().map(options::insert_many));
                let n = documents.len();
                match in_session!(action, session).await {
                    Ok(_) => Ok(Response::Written(Written {
                        n: n as u64,
                        ..Written::default()
                    })),
                    Err(failure) => Err(errors::insert_many(failure, n, options.ordered)),
                }
            }
            Operation::Update {
                filter,
                update,
                multi,
            } => {
                let update = modifications(update);
                let action = if multi {
                    target.update_many(filter, update)
                } else {
                    target.update_one(filter, update)
                };
                let action =
                    action.with_options(options.chosen().map(options::update).transpose()?);
                updated(in_session!(action, session).await)
            }
            Operation::Replace {
                filter,
                replacement,
            } => {
                let action = target
                    .replace_one(filter, &replacement)
                    .with_options(options.chosen().map(options::replace).transpose()?);
                updated(in_session!(action, session).await)
            }
            Operation::Delete { filter, multi } => {
                let action = if multi {
                    target.delete_many(filter)
                } else {
                    target.delete_one(filter)
                };
                let action =
                    action.with_options(options.chosen().map(options::delete).transpose()?);
                let result = in_session!(action, session).await.map_err(error)?;
                Ok(Response::Written(Written {
                    n: result.deleted_count,
                    ..Written::default()
                }))
            }
            Operation::FindAndUpdate { filter, update } => {
                let update = modifications(update);
                let action = target.find_one_and_update(filter, update).with_options(
                    options
                        .chosen()
                        .map(options::find_one_and_update)
                        .transpose()?,
                );
                let found = in_session!(action, session).await.map_err(error)?;
                Ok(Response::Document(found))
            }
            Operation::FindAndReplace {
                filter,
                replacement,
            } => {
                let action = target
                    .find_one_and_replace(filter, &replacement)
                    .with_options(
                        options
                            .chosen()
                            .map(options::find_one_and_replace)
                            .transpose()?,
                    );
                let found = in_session!(action, session).await.map_err(error)?;
                Ok(Response::Document(found))
            }
            Operation::FindAndDelete { filter } => {
                let action = target.find_one_and_delete(filter).with_options(
                    options
                        .chosen()
                        .map(options::find_one_and_delete)
                        .transpose()?,
                );
                let found = in_session!(action, session).await.map_err(error)?;
                Ok(Response::Document(found))
            }
            Operation::Count { filter } => {
                let action = target
                    .count_documents(filter)
                    .with_options(options.chosen().map(options::count).transpose()?);
                let counted = in_session!(action, session).await.map_err(error)?;
                Ok(Response::Count(counted))
            }
            Operation::EstimatedCount => {
                let counted = target
                    .estimated_document_count()
                    .with_options(options.chosen().map(options::estimated_count))
                    .await
                    .map_err(error)?;
                Ok(Response::Count(counted))
            }
            Operation::Distinct { path, filter } => {
                let action = target
                    .distinct(path, filter)
                    .with_options(options.chosen().map(options::distinct).transpose()?);
                let values: Vec<Bson> = in_session!(action, session).await.map_err(error)?;
                Ok(Response::Values(values))
            }
            Operation::Updates { .. } | Operation::Deletes { .. } => {
                let kind = if matches!(operation, Operation::Updates { .. }) {
                    WriteKind::Update
                } else {
                    WriteKind::Delete
                };
                let request = Request {
                    collection,
                    operation,
                    options,
                };
                self.statements(&request, kind, session).await
            }
            Operation::Drop => {
                let action = target
                    .drop()
                    .with_options(options.chosen().map(options::drop));
                in_session!(action, session).await.map_err(error)?;
                Ok(Response::Done)
            }
        }
    }

    /// Several updates or deletes in one command, for which the driver has no action on servers
    /// before 8.0. Such a command is not retried.
    async fn statements<'s>(
        &self,
        request: &Request,
        kind: WriteKind,
        session: Option<&mut DriverSession>,
    ) -> Result<Response<'s>> {
        let mut command = request.raw_command()?;
        let in_transaction = session
            .as_ref()
            .is_some_and(|session| session.in_transaction);
        if request.options.write_concern.is_none()
            && !in_transaction
            && let Some(concern) = self.database.write_concern()
        {
            // `run_command` does not inherit the connection's.
            let concern = bson::serialize_to_raw_document_buf(concern).map_err(Error::encode)?;
            command.append(bson::raw::cstr!("writeConcern"), concern);
        }
        let action = self.database.run_raw_command(command);
        let reply = in_session!(action, session).await.map_err(error)?;
        let reply = RawDocumentBuf::try_from(&reply).map_err(Error::encode)?;
        Ok(Response::Written(response::written(&reply, kind, true)?))
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

#[cfg_attr(
    not(feature = "memory"),
    expect(
        clippy::unnecessary_wraps,
        reason = "with two stores there may be sessions of the other"
    )
)]
fn client_session(session: Option<&mut Session>) -> Result<Option<&mut DriverSession>> {
    match session {
        None => Ok(None),
        Some(session) => match &mut session.backend {
            Backend::Driver(session) => Ok(Some(session)),
            #[cfg(feature = "memory")]
            Backend::Memory(_) => Err(Session::foreign()),
        },
    }
}

fn modifications(update: Modification) -> UpdateModifications {
    match update {
        Modification::Operators(operators) => operators.into(),
        Modification::Pipeline(stages) => stages.into(),
    }
}

fn updated<'s>(
    result: mongodb::error::Result<mongodb::results::UpdateResult>,
) -> Result<Response<'s>> {
    let result = result.map_err(error)?;
    let upserted: Vec<(usize, Bson)> = result.upserted_id.into_iter().map(|id| (0, id)).collect();
    Ok(Response::Written(Written {
        n: result.matched_count + upserted.len() as u64,
        modified: result.modified_count,
        upserted,
    }))
}

async fn find<'s>(
    target: &Collection<RawDocumentBuf>,
    filter: Document,
    options: &Chosen,
    session: Option<&'s mut DriverSession>,
) -> Result<Response<'s>> {
    let action = target
        .find(filter)
        .with_options(options.chosen().map(options::find).transpose()?);
    let cursor = opened!(action, session, options.batch_size);
    Ok(Response::Cursor(cursor))
}

async fn aggregate<'s>(
    target: &Collection<RawDocumentBuf>,
    pipeline: Vec<Document>,
    options: &Chosen,
    session: Option<&'s mut DriverSession>,
) -> Result<Response<'s>> {
    let action = target
        .aggregate(pipeline)
        .with_options(options.chosen().map(options::aggregate).transpose()?);
    let cursor = opened!(action, session, options.batch_size);
    Ok(Response::Cursor(cursor))
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({})", self.database.name())
    }
}
