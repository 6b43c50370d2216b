//! The statements of a write command, run one after another: the loop that `insert`, `update` and `delete` share.

use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;

use crate::command::invocation::Invocation;
use crate::command::modify::Outcome;
use crate::command::profiler::Watch;
use crate::command::reply::Written;
use crate::command::retry::Retry;
use crate::context::Context;
use crate::txn::session::{Mode, Statement};
use crate::txn::writer::Writer;

/// Where one statement enters what it did.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    index: usize,
    written: &'a mut Written,
    /// `None` where the session need not remember the statement.
    done: Option<&'a mut Vec<(usize, Statement)>>,
}

impl Tally<'_> {
    /// Adds documents inserted, deleted, or matched and upserted.
    pub(crate) fn count(&mut self, n: i64) {
        self.written.n += n;
    }

    pub(crate) fn modified(&mut self, modified: i64) {
        self.written.modified = self.written.modified.map(|sum| sum + modified);
    }

    pub(crate) fn upserted(&mut self, id: Bson) {
        self.written.upserted.push((self.index, id));
    }

    /// Records what a retry of the statement answers. The session remembers it once the writes are published.
    pub(crate) fn remember(&mut self, statement: impl FnOnce() -> Statement) {
        if let Some(done) = &mut self.done {
            done.push((self.index, statement()));
        }
    }
}

/// The results of the statements that ran so far.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    written: Written,
    retry: Retry<'a>,
    /// The changes of the statements, by index. The session remembers them once the writes are published.
    done: Vec<(usize, Statement)>,
    /// Whether the first error ends the command, as every error does in a transaction.
    ends_at_error: bool,
    context: &'a Context,
    profile: Option<&'a Watch>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(call: &mut Invocation<'a>, ordered: bool) -> Self {
        Self {
            written: Written::default(),
            retry: Retry::new(call.statements.take(), call.command, call.first_statement),
            done: Vec::new(),
            ends_at_error: ordered || matches!(call.mode, Mode::Transaction { .. }),
            context: call.context,
            profile: call.profile,
        }
    }

    /// Also counts the modified documents.
    pub(crate) fn count_modified(mut self) -> Self {
        self.written.modified = Some(0);
        self
    }

    /// Whether the session remembers the statements, so that a retry does not execute them again.
    pub(crate) fn is_retryable(&self) -> bool {
        self.retry.is_on()
    }

    pub(crate) fn ends_at_error(&self) -> bool {
        self.ends_at_error
    }

    /// Executes each statement that the session has not executed before. `repeated` counts one that it has.
    pub(crate) fn run<S>(
        &mut self,
        writer: &mut Writer<'_, '_>,
        statements: impl IntoIterator<Item = S>,
        repeated: impl Fn(Statement, Tally<'_>),
        mut execute: impl FnMut(&mut Writer<'_, '_>, S, Tally<'_>) -> Result<(), ServerError>,
    ) -> Result<(), ServerError> {
        let is_retryable = self.is_retryable();
        for (index, statement) in statements.into_iter().enumerate() {
            let before = self.retry.before(index);
            let tally = Tally {
                index,
                written: &mut self.written,
                done: (is_retryable && before.is_none()).then_some(&mut self.done),
            };
            if let Some(before) = before {
                repeated(before, tally);
                continue;
            }
            match execute(writer, statement, tally) {
                Ok(()) => {}
                Err(e) if is_fatal(&e) => return Err(e),
                Err(e) => {
                    self.written.errors.push((index, e));
                    if self.ends_at_error {
                        break;
                    }
                }
            }
        }
        self.retry.pass(self.context, &self.done)
    }

    /// Reports the statements as failed that could not be prepared, where there is no collection to run them on.
    pub(crate) fn fail<T>(&mut self, prepared: impl IntoIterator<Item = Result<T, ServerError>>) {
        let failed = prepared
            .into_iter()
            .enumerate()
            .filter_map(|(index, prepared)| Some((index, prepared.err()?)));
        let most = if self.ends_at_error { 1 } else { usize::MAX };
        self.written.errors.extend(failed.take(most));
    }

    /// Adds the entries of statements that found no collection to the profile.
    pub(crate) fn profile_eof(
        &self,
        call: &Invocation<'_>,
        operation: &str,
        entries: impl Iterator<Item = Document>,
    ) {
        let Some(profile) = self.profile else { return };
        for entry in entries {
            call.name_plan("EOF");
            profile.statement(operation, entry, Ok(&Outcome::default()));
        }
    }

    /// The results of a command that fails before its first statement.
    pub(crate) fn refused(mut self, error: ServerError) -> Written {
        self.written.errors.push((0, error));
        self.written
    }

    /// The results, once the writes are published.
    pub(crate) fn finish(mut self) -> Written {
        self.retry.remember(self.done);
        self.written.retried = self.retry.into_retried();
        self.written
    }
}

/// The default collation of the command's collection, if it exists and has one. Refuses views.
pub(crate) fn collation(call: &Invocation<'_>) -> Result<Option<Collator>, ServerError> {
    // `look` holds no version of the collection: holding one would force the writer to copy it.
    let collection = call.look(call.namespace, |it| it.options.collation.clone());
    if collection.is_none() {
        call.check_not_view(call.namespace)?;
    }
    Ok(collection.flatten())
}

/// Whether the error stops the whole command, whatever `ordered` says.
pub(crate) fn is_fatal(error: &ServerError) -> bool {
    matches!(
        error.code(),
        Code::WRITE_CONFLICT | Code::SNAPSHOT_UNAVAILABLE | Code::MAX_TIME_MS_EXPIRED
    )
}

/// Refuses a statement on several documents in a retryable write.
pub(crate) fn no_multi(what: &str) -> ServerError {
    ServerError::new(
        Code::INVALID_OPTIONS,
        format!("Cannot use (or request) retryable writes with {what}"),
    )
}
