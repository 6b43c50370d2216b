//! Aggregation expressions: compiled once, evaluated over raw documents.
//!
//! [`Expression::parse`] checks an expression and resolves its operators; [`Expression::eval`] runs it over a
//! document without decoding it. Start reading at `parse.rs` and `eval.rs`; the operators are rows of one sorted
//! table for each family.
//!
//! What this module is not: it knows no query predicates (those are `matcher`) and no stages.

pub(crate) mod calendar;
mod globals;
pub(crate) mod sort;
pub(crate) mod text;
mod value;

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError};

pub(crate) use self::globals::{Globals, Scope};
pub(crate) use self::value::Value;

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {}

impl Expression {
    /// Compiles an expression; `scope` names the variables that it may use.
    pub(crate) fn parse(raw: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        let _ = (raw, scope);
        Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "expressions are not supported yet",
        ))
    }

    /// The value of the expression for one document. Missing is distinct from null.
    pub(crate) fn eval<'a>(
        &'a self,
        root: &'a RawDocument,
        globals: &'a Globals,
    ) -> Result<Value<'a>, ServerError> {
        let _ = (root, globals);
        Ok(Value::Missing)
    }
}
