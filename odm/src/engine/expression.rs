//! Aggregation expressions: compiled once, evaluated over raw documents.
//!
//! [`Expression::parse`] checks an expression and resolves its operators; [`Expression::eval`] runs it over a
//! document without decoding it. Start reading at `parse.rs` and `eval.rs`; the operators are rows of one sorted
//! table for each family.
//!
//! What this module is not: it knows no query predicates (those are `matcher`) and no stages.

pub(crate) mod accumulate;
mod arithmetic;
mod arranged;
mod array;
pub(crate) mod calendar;
mod comparison;
mod constant;
mod date;
mod eval;
mod forms;
mod globals;
pub(crate) mod hash;
#[cfg(feature = "memory")]
mod implied;
pub(crate) mod memory;
pub(crate) mod meta;
mod numeral;
mod object;
mod operator;
mod parse;
mod powers;
mod random;
pub(crate) mod ranked;
mod regex;
#[cfg(feature = "memory")]
pub(crate) mod root;
mod set;
#[cfg(feature = "memory")]
pub(crate) mod shape;
pub(crate) mod sort;
mod string;
pub(crate) mod sum;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod trigonometry;
mod types;
mod value;

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::ServerError;

#[cfg(feature = "memory")]
pub(crate) use self::eval::append;
#[cfg(feature = "memory")]
pub(crate) use self::globals::check_pipeline_depth;
pub(crate) use self::globals::{Globals, Scope};
#[cfg(feature = "memory")]
pub(crate) use self::implied::Implied;
#[cfg(all(test, feature = "memory"))]
pub(crate) use self::meta::VALUES as META_VALUES;
pub(crate) use self::object::merge_into;
#[cfg(feature = "memory")]
pub(crate) use self::parse::{check_variable_name, field_path};
#[cfg(all(test, feature = "memory"))]
pub(crate) use self::table::{known as known_operators, known_arguments};
pub(crate) use self::value::Value;

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression(parse::Node);

impl Expression {
    /// Compiles an expression; `scope` names the variables that it may use.
    pub(crate) fn parse(raw: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        parse::parse(raw, scope).map(Self)
    }

    /// The value of the expression for one document. Missing is distinct from null.
    pub(crate) fn eval<'a>(
        &'a self,
        root: &'a RawDocument,
        globals: &'a Globals,
    ) -> Result<Value<'a>, ServerError> {
        self.0.eval(&eval::Env::new(root, globals))
    }

    /// Fails if a part that depends on no document does: a server refuses it before it reads one.
    #[cfg(feature = "memory")]
    pub(crate) fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        let env = eval::Env::new(crate::value::raw::empty_document(), globals);
        self.0.constant(&env, &[]).map(|_| ())
    }
}
