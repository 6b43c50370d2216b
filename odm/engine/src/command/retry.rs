//! Retryable writes: the statements of a command that were executed before.

use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::command::args::{Field, Kind, field, whole};
use crate::context::Context;
use crate::txn::session::{Statement, Statements};

/// The fields with the ids of statements; the write commands take them.
pub(crate) const STATEMENT_ID: Field = field("stmtId", Kind::Int);
pub(crate) const STATEMENT_IDS: Field = field("stmtIds", Kind::Ints);

/// Marks a statement without an id, which may be executed again.
const NONE: i32 = -1;

/// The statement ids of one command, and the session's record of executed statements.
#[derive(Debug)]
pub(crate) struct Retry<'a> {
    statements: Option<&'a mut Statements>,
    ids: Vec<i32>,
    first: i32,
    /// The place of the first statement among those that the ids are given for.
    skipped: usize,
    retried: Vec<i32>,
}

impl<'a> Retry<'a> {
    pub(crate) fn new(
        statements: Option<&'a mut Statements>,
        command: &RawDocument,
        skipped: usize,
    ) -> Self {
        let number = |value| whole(value).and_then(|id| i32::try_from(id).ok());
        let ids = match raw::get(command, "stmtIds") {
            Some(RawBsonRef::Array(ids)) => raw::values(ids).filter_map(number).collect(),
            _ => Vec::new(),
        };
        let first = raw::get(command, "stmtId").and_then(number).unwrap_or(0);
        Self {
            statements,
            ids,
            first,
            skipped,
            retried: Vec::new(),
        }
    }

    /// Refuses `stmtIds` beside `stmtId`, and a number of ids other than the number of statements.
    pub(crate) fn check(command: &RawDocument, statements: usize) -> Result<(), ServerError> {
        let Some(RawBsonRef::Array(ids)) = raw::get(command, "stmtIds") else {
            return Ok(());
        };
        if raw::get(command, "stmtId").is_some() {
            return Err(ServerError::new(
                Code::INVALID_OPTIONS,
                "May not specify both stmtId and stmtIds in write command",
            ));
        }
        let given = raw::values(ids).filter(|id| whole(*id).is_some()).count();
        if given == statements {
            return Ok(());
        }
        Err(ServerError::new(
            Code::INVALID_LENGTH,
            format!(
                "Number of statement ids must match the number of batch entries. Got {given} statement ids but {statements} operations"
            ),
        ))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.statements.is_some()
    }

    fn id(&self, index: usize) -> i32 {
        let index = index.saturating_add(self.skipped);
        self.ids.get(index).copied().unwrap_or_else(|| {
            self.first
                .saturating_add(i32::try_from(index).unwrap_or(i32::MAX))
        })
    }

    /// The result of the statement if it was executed before.
    pub(crate) fn before(&mut self, index: usize) -> Option<Statement> {
        let id = self.id(index);
        if id == NONE {
            return None;
        }
        let found = self.statements.as_ref()?.get(&id).cloned();
        if found.is_some() {
            self.retried.push(id);
        }
        found
    }

    /// Lets the writes of statements pass, before they are published.
    pub(crate) fn pass<T>(&self, context: &Context, done: &[T]) -> Result<(), ServerError> {
        if !self.is_on() || done.is_empty() {
            return Ok(());
        }
        context.pass()
    }

    /// Records statements as executed, once their writes are published.
    pub(crate) fn remember(&mut self, done: Vec<(usize, Statement)>) {
        for (index, statement) in done {
            let id = self.id(index);
            if let Some(statements) = &mut self.statements
                && id != NONE
            {
                statements.insert(id, statement);
            }
        }
    }

    /// The ids of the statements that were not executed again.
    pub(crate) fn into_retried(self) -> Vec<i32> {
        self.retried
    }

    pub(crate) fn retried(&self) -> Option<i32> {
        self.retried.first().copied()
    }
}
