//! The commands of documents in parts, as a caller in this process has them.
//!
//! To spell a command as a document, only to have it read again, costs more than to find one document and answer it. A
//! [`Request`] means exactly what the command of its fields means, and is run by that command's file; the answer is
//! what the reply would tell.
//!
//! What this module is not: it knows no options, no sessions and no concerns. Whoever has those to tell sends a
//! command document.

use std::cell::Cell;

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::command::args::Args;
use crate::command::call::Call;
use crate::command::delete::{self, Delete};
use crate::command::insert::{self, Insert};
use crate::command::profiler::Watch;
use crate::command::reply::{Page, Written};
use crate::command::state::Engine;
use crate::command::update::{self, Update};
use crate::command::{find, get_more};
use crate::context::Context;
use crate::cursor::point::Equality;
use crate::txn::session::Mode;

/// One of the commands that documents are read and written by, with no options but these.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    Find {
        filter: &'a RawDocument,
        /// `limit: 1, singleBatch: true`
        one: bool,
    },
    /// `getMore`
    More {
        cursor: i64,
        batch_size: Option<u32>,
    },
    Insert {
        documents: &'a [RawDocumentBuf],
    },
    /// `insert` of documents that a collection had before: nothing in them is filled in but an `_id`.
    Restore {
        documents: &'a [RawDocumentBuf],
        /// Whether they need not pass the validator.
        bypass: bool,
    },
    Update {
        filter: &'a RawDocument,
        update: RawBsonRef<'a>,
        multi: bool,
    },
    Delete {
        filter: &'a RawDocument,
        multi: bool,
    },
}

/// What the reply would tell.
#[derive(Debug)]
pub enum Answer {
    Page(Page),
    Written(Written),
}

/// How deep in their commands filters, documents and updates begin; the command itself is the first level.
const FILTER_OF_FIND: usize = 2;
const DOCUMENT: usize = 3;
const IN_STATEMENT: usize = 4;

/// More documents than these are found in a version of their own: writers would wait for too long.
const FEW_DOCUMENTS: usize = 8;

/// Where a document is in no command.
const OUTERMOST: usize = 1;

impl Engine {
    /// The documents of the filter `{path: value}`, of which only the first may be wanted. `None` where it is not known
    /// at once where they are: then a request must tell.
    pub(crate) fn look_up(
        &self,
        context: &Context,
        namespace: &Namespace,
        path: &str,
        value: &Bson,
        one: bool,
    ) -> Option<Page> {
        if self.profiler.covers(&namespace.database) {
            return None;
        }
        let equality = Equality::new(path, value)?;
        self.tick(context.now().timestamp_millis());
        let look = |collection: &Collection| {
            find::short(collection, &equality, one.then_some(1), FEW_DOCUMENTS)
        };
        let batch = self.catalog.look(namespace, look)??;
        Some(batch.of(0, namespace.clone()))
    }

    /// Removes the document of the filter `{path: value}`, if that is an `_id`. `None` where it is not known at once
    /// which document that is: then a request must tell.
    pub(crate) fn remove(
        &self,
        context: &Context,
        namespace: &Namespace,
        path: &str,
        value: &Bson,
    ) -> Result<Option<Written>, ServerError> {
        let Some(id) = Equality::new(path, value).filter(Equality::is_of_id) else {
            return Ok(None);
        };
        // What else is wrong with a name, no collection has.
        if namespace.is_system() || self.profiler.covers(&namespace.database) {
            return Ok(None);
        }
        self.tick(context.now().timestamp_millis());
        let removed = self.write(namespace, true, |writer| delete::remove(writer, &id))?;
        Ok(removed.flatten())
    }

    /// A call outside of sessions.
    fn plain_call<'a>(
        &'a self,
        context: &'a Context,
        namespace: &'a Namespace,
    ) -> Result<Call<'a>, ServerError> {
        let now = context.now();
        self.tick(now.timestamp_millis());
        namespace.check()?;
        Ok(Call {
            engine: self,
            context,
            command: raw::empty_document(),
            database: &namespace.database,
            namespace,
            args: Args::none(),
            mode: Mode::Plain,
            transaction: None,
            began: None,
            snapshot: None,
            statements: None,
            now,
            locked: Cell::new(false),
            profile: None,
        })
    }

    /// Answers a request outside of sessions.
    pub(crate) fn answer(
        &self,
        context: &Context,
        namespace: &Namespace,
        request: Request<'_>,
    ) -> Result<Answer, ServerError> {
        let Some(watch) = self.watch(context, Some(&namespace.database)) else {
            return self.answer_watched(context, namespace, request, None);
        };
        let answer = self.answer_watched(context, namespace, request, Some(&watch));
        self.profile_request(context, &watch, namespace, &request, &answer);
        answer
    }

    fn answer_watched(
        &self,
        context: &Context,
        namespace: &Namespace,
        request: Request<'_>,
        watch: Option<&Watch>,
    ) -> Result<Answer, ServerError> {
        request.validate()?;
        let mut call = self.plain_call(context, namespace)?;
        call.profile = watch;
        match request {
            Request::Find { filter, one } => {
                call.args = Args::of_find(filter, one);
                find::run(&mut call).map(Answer::Page)
            }
            Request::More { cursor, batch_size } => {
                let batch_size = batch_size.map(u64::from);
                get_more::next(&call, cursor, namespace, batch_size).map(Answer::Page)
            }
            Request::Insert { documents } => {
                let documents = documents.iter().map(|document| &**document).collect();
                let insert = Insert {
                    documents: insert::check_count(documents)?,
                    ordered: true,
                    bypass: false,
                    restores: false,
                };
                insert.run(&mut call).map(Answer::Written)
            }
            Request::Restore { documents, bypass } => {
                let documents = documents.iter().map(|document| &**document).collect();
                let insert = Insert {
                    documents: insert::check_count(documents)?,
                    ordered: true,
                    bypass,
                    restores: true,
                };
                insert.run(&mut call).map(Answer::Written)
            }
            Request::Update {
                filter,
                update,
                multi,
            } => {
                let update = Update {
                    statements: &[update::Row::new(filter, update, multi)?],
                    ordered: true,
                    bypass: false,
                    variables: None,
                };
                update.run(&mut call).map(Answer::Written)
            }
            Request::Delete { filter, multi } => {
                let delete = Delete {
                    statements: &[delete::Row::new(filter, multi)],
                    ordered: true,
                    variables: None,
                };
                delete.run(&mut call).map(Answer::Written)
            }
        }
    }
}

impl Request<'_> {
    /// The check of all bytes, as deep in them as they would be in a command.
    fn validate(&self) -> Result<(), ServerError> {
        match self {
            Self::Find { filter, .. } => raw::validate_at(filter, FILTER_OF_FIND),
            Self::More { .. } => Ok(()),
            Self::Insert { documents } => documents
                .iter()
                .try_for_each(|document| raw::validate_at(document, DOCUMENT)),
            Self::Restore { documents, .. } => documents
                .iter()
                .try_for_each(|document| raw::validate_at(document, OUTERMOST)),
            Self::Update { filter, update, .. } => {
                raw::validate_at(filter, IN_STATEMENT)?;
                match update {
                    RawBsonRef::Document(update) => raw::validate_at(update, IN_STATEMENT),
                    RawBsonRef::Array(stages) => {
                        raw::validate_at(raw::array_document(stages), IN_STATEMENT)
                    }
                    _ => Ok(()),
                }
            }
            Self::Delete { filter, .. } => raw::validate_at(filter, IN_STATEMENT),
        }
    }
}
