//! The commands on documents as Rust values, for callers in this process.
//!
//! Building a command document only to parse it again costs more than to find one document and return it. A [`Request`]
//! means exactly what the command with the same fields means, and that command's file runs it. The answer holds what
//! the reply would contain.
//!
//! Requests have no options, sessions or concerns: callers that need these send a command document.

use std::borrow::Cow;
use std::cell::Cell;

use bson::raw::{CStr, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::command::args::Args;
use crate::command::delete::{self, Delete};
use crate::command::insert::{self, Insert};
use crate::command::invocation::Invocation;
use crate::command::profiler::Watch;
use crate::command::reply::{Batch, Page, Written};
use crate::command::state::Engine;
use crate::command::update::{self, Update};
use crate::command::{find, get_more};
use crate::context::Context;
use crate::cursor::point::Equality;
use crate::txn::session::Mode;

/// A command that reads or writes documents, with these options only.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    Find {
        filter: Filter<'a>,
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
    /// `insert` of documents that a collection had before: the engine only adds a missing `_id`.
    Restore {
        documents: &'a [RawDocumentBuf],
        /// Whether to skip the collection's validator.
        bypass: bool,
    },
    Update {
        filter: &'a RawDocument,
        update: RawBsonRef<'a>,
        multi: bool,
    },
    Delete {
        filter: Filter<'a>,
        multi: bool,
    },
}

/// The filter of a request that the engine may answer without a plan.
#[derive(Debug, Clone, Copy)]
pub enum Filter<'a> {
    /// `{path: value}`. The engine answers most of these without building the document.
    Equality {
        path: &'a CStr,
        value: RawBsonRef<'a>,
    },
    Document(&'a RawDocument),
}

/// The contents of the reply.
#[derive(Debug)]
pub enum Answer {
    Page(Page),
    Written(Written),
}

/// The nesting level at which filters, documents and updates begin in their commands; the command itself is level 1.
const FILTER_OF_FIND: usize = 2;
const DOCUMENT: usize = 3;
const IN_STATEMENT: usize = 4;

/// At most this many documents are read under the catalog's read lock: a longer read would block writers for too long.
const FEW_DOCUMENTS: usize = 8;

/// The level of a document outside of any command.
const OUTERMOST: usize = 1;

impl Engine {
    /// A call outside of sessions.
    fn plain_call<'a>(
        &'a self,
        context: &'a Context,
        namespace: &'a Namespace,
        locked: &'a Cell<bool>,
    ) -> Result<Invocation<'a>, ServerError> {
        let now = context.now();
        self.tick(now.timestamp_millis());
        namespace.check()?;
        Ok(Invocation {
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
            first_statement: 0,
            now,
            locked,
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
        let watch = self.watch(context, Some(&namespace.database));
        // Profiled requests always run a plan, because direct lookups count nothing for the profiler.
        if watch.is_none()
            && let Some(Filter::Equality { path, value }) = request.filter()
            && let Some(equality) = Equality::new(path.as_str(), value)
        {
            match request {
                Request::Find { one, .. } => {
                    if let Some(batch) = self.look_up(context, namespace, &equality, one) {
                        return Ok(Answer::Page(batch.of(0, namespace.clone())));
                    }
                }
                Request::Delete { .. } => {
                    if let Some(written) = self.remove(context, namespace, &equality)? {
                        return Ok(Answer::Written(written));
                    }
                }
                _ => {}
            }
        }
        let answer = self.answer_planned(context, namespace, request, watch.as_ref());
        if let Some(watch) = watch {
            self.profile_request(context, &watch, namespace, &request, &answer);
        }
        answer
    }

    /// The documents that match an equality, or only the first if `one`. `None` if they need a plan.
    fn look_up(
        &self,
        context: &Context,
        namespace: &Namespace,
        equality: &Equality<'_>,
        one: bool,
    ) -> Option<Batch> {
        self.tick(context.now().timestamp_millis());
        if !one && context.splits_batches() {
            return None;
        }
        // A single match has no order to shuffle.
        let most = context.shuffle().map_or(FEW_DOCUMENTS, |_| 1);
        let look =
            |collection: &Collection| find::short(collection, equality, one.then_some(1), most);
        self.catalog.look(namespace, look)?
    }

    /// Removes the document with an `_id`. `None` if the request needs a plan, or if the collection does not exist.
    fn remove(
        &self,
        context: &Context,
        namespace: &Namespace,
        equality: &Equality<'_>,
    ) -> Result<Option<Written>, ServerError> {
        // Other invalid names need no check, since no collection has one.
        if !equality.is_of_id() || namespace.is_system() {
            return Ok(None);
        }
        self.tick(context.now().timestamp_millis());
        let removed = self.write(namespace, true, |writer| delete::remove(writer, equality))?;
        Ok(removed.flatten())
    }

    fn answer_planned(
        &self,
        context: &Context,
        namespace: &Namespace,
        request: Request<'_>,
        watch: Option<&Watch>,
    ) -> Result<Answer, ServerError> {
        let filter = request
            .filter()
            .map_or(Cow::Borrowed(raw::empty_document()), Filter::to_document);
        request.validate(&filter)?;
        let locked = Cell::new(false);
        let mut call = self.plain_call(context, namespace, &locked)?;
        call.profile = watch;
        match request {
            Request::Find { one, .. } => {
                call.args = Args::of_find(&filter, one);
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
            Request::Update { update, multi, .. } => {
                let update = Update {
                    statements: &[update::UpdateStatement::new(&filter, update, multi)?],
                    ordered: true,
                    bypass: false,
                    variables: None,
                };
                update.run(&mut call).map(Answer::Written)
            }
            Request::Delete { multi, .. } => {
                let delete = Delete {
                    statements: &[delete::DeleteStatement::new(&filter, multi)],
                    ordered: true,
                    variables: None,
                };
                delete.run(&mut call).map(Answer::Written)
            }
        }
    }
}

impl<'a> Request<'a> {
    fn filter(&self) -> Option<Filter<'a>> {
        match self {
            Self::Find { filter, .. } | Self::Delete { filter, .. } => Some(*filter),
            Self::Update { filter, .. } => Some(Filter::Document(filter)),
            Self::More { .. } | Self::Insert { .. } | Self::Restore { .. } => None,
        }
    }

    /// Validates all bytes, with the nesting levels that they would have in a command.
    fn validate(&self, filter: &RawDocument) -> Result<(), ServerError> {
        match self {
            Self::Find { .. } => raw::validate_at(filter, FILTER_OF_FIND),
            Self::More { .. } => Ok(()),
            Self::Insert { documents } => documents
                .iter()
                .try_for_each(|document| raw::validate_at(document, DOCUMENT)),
            Self::Restore { documents, .. } => documents
                .iter()
                .try_for_each(|document| raw::validate_at(document, OUTERMOST)),
            Self::Update { update, .. } => {
                raw::validate_at(filter, IN_STATEMENT)?;
                match update {
                    RawBsonRef::Document(update) => raw::validate_at(update, IN_STATEMENT),
                    RawBsonRef::Array(stages) => {
                        raw::validate_at(raw::array_document(stages), IN_STATEMENT)
                    }
                    _ => Ok(()),
                }
            }
            Self::Delete { .. } => raw::validate_at(filter, IN_STATEMENT),
        }
    }
}

impl<'a> Filter<'a> {
    pub(crate) fn to_document(self) -> Cow<'a, RawDocument> {
        match self {
            Self::Equality { path, value } => {
                let mut document = RawDocumentBuf::new();
                document.append(path, value);
                Cow::Owned(document)
            }
            Self::Document(document) => Cow::Borrowed(document),
        }
    }
}

impl<'a> From<&'a RawDocument> for Filter<'a> {
    fn from(document: &'a RawDocument) -> Self {
        Self::Document(document)
    }
}
