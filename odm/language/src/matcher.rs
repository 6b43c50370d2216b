//! Query filters: parsed into a closed enum of predicates, evaluated over raw documents.
//!
//! [`Matcher::parse`] compiles a filter once: paths are split, operands owned, regular expressions
//! built. [`Matcher::matches`] then walks the bytes of each document and allocates nothing;
//! [`Matcher::failure`] explains a validator's refusal.
//!
//! This module knows nothing about collections and indexes. Start reading at `parse.rs`.

mod ast;
mod bits;
mod comparison;
mod err_info;
mod eval;
pub mod expr_comparison;
mod fields;
mod geo;
mod json_schema;
mod operators;
mod parse;
mod path;
mod reported;
mod text;

use bson::{Document, RawDocument};

use crate::error::{Code, ServerError};
use crate::expression::Globals;
use crate::value::text::Fields;

pub use self::ast::{ElementMatch, Group, Predicate, Test, TextTest};
pub use self::comparison::{Comparison, Operand};
pub use self::geo::{GeoTest, Near};
pub use self::json_schema::known as known_keywords;
pub use self::operators::{known as known_operators, known_options};
pub use self::parse::operand::integer;
pub use crate::regex::Regex;

/// Whether a `$jsonSchema` evidently matches no document.
pub fn is_never_met(schema: &RawDocument) -> bool {
    json_schema::Schema::parse(schema).is_ok_and(|schema| schema.is_never_met())
}

/// Rewords the error about an unsupported `$where` for places where MongoDB allows no `$where` at all.
pub fn without_where(error: ServerError) -> ServerError {
    let is_where = ["$where is not supported", "$where can only be applied"]
        .iter()
        .any(|start| error.message().starts_with(start));
    if is_where {
        ServerError::new(Code::BAD_VALUE, "$where is not allowed in this context")
    } else {
        error
    }
}

/// A compiled filter.
#[derive(Debug, Clone)]
pub struct Matcher {
    predicate: Predicate,
    globals: Globals,
}

/// How a document matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// The index in the outermost array of the element that the last matching array condition found: the positional `$`
    /// of an update stands for it.
    pub array_index: Option<usize>,
}

impl Matcher {
    /// Compiles a filter with the collation and the variables of `globals`. Refuses `$near`, which only
    /// [`Matcher::parse_query`] accepts: it needs an index.
    pub fn parse(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        Self::compile(filter, globals)?.without_near()
    }

    /// Compiles a validator. mongod evaluates its conditions in the written order, which matters when one of them
    /// fails.
    pub fn parse_validator(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        let mut validator = Self::parse(filter, globals)?;
        validator.predicate.keep_order();
        Ok(validator)
    }

    /// Returns a copy that evaluates the conditions in the written order. mongod does so for the positional `$` of a
    /// projection, where the last condition that matched an element decides.
    #[must_use]
    pub fn as_written(&self) -> Self {
        let mut it = self.clone();
        it.predicate.keep_order();
        it
    }

    /// Compiles a condition of an update on array elements. Refuses the operators for whole documents (`$expr`,
    /// `$jsonSchema`, `$text`, `$where`) and `$near`.
    pub fn parse_condition(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        let it = Self {
            predicate: parse::condition(filter, globals).map_err(without_where)?,
            globals: globals.clone(),
        };
        it.refuse_schemas()?;
        it.without_near()
    }

    fn without_near(self) -> Result<Self, ServerError> {
        match self.predicate.near() {
            Ok(None) => Ok(self),
            Ok(Some(_)) | Err(_) => Err(ServerError::new(
                Code::location(5_626_500),
                "$geoNear, $near, and $nearSphere are not allowed in this context",
            )),
        }
    }

    /// Like [`Matcher::parse`], but accepts `$near` at the positions where a query allows it.
    pub fn parse_query(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        let it = Self::compile(filter, globals)?;
        it.predicate.near()?;
        Ok(it)
    }

    fn compile(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        Ok(Self {
            predicate: parse::filter(filter, globals)?,
            globals: globals.clone(),
        })
    }

    /// The compiled condition, which the planner reads.
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// The paths that the filter reads; `None` if it reads whole documents.
    pub fn paths(&self) -> Option<Vec<String>> {
        let mut paths = Vec::new();
        self.predicate.collect_paths(&mut paths)?;
        Some(paths)
    }

    /// Returns a matcher of these conditions instead, with the same collation and variables.
    #[must_use]
    pub fn with(&self, conditions: Vec<Predicate>) -> Self {
        Self {
            predicate: Predicate::And(Group::new(conditions, None, bson::RawDocumentBuf::new())),
            globals: self.globals.clone(),
        }
    }

    /// Returns a copy for documents read from an index, which mongod tests in a different order; `None` if the order
    /// does not matter. It matters only for `$expr`, which may fail.
    pub fn behind_index(&self) -> Option<Self> {
        let Predicate::And(group) = &self.predicate else {
            return None;
        };
        let may_fail = |child: &Predicate| matches!(child, Predicate::Expr(_));
        group.children.iter().any(may_fail).then(|| Self {
            predicate: Predicate::And(group.behind_index()),
            globals: self.globals.clone(),
        })
    }

    /// Binds the filter's `$text`, if any, to the collection's text index. Fails without a text index or where `$text`
    /// is not allowed.
    pub fn bind_text(&mut self, fields: Option<&Fields>) -> Result<(), ServerError> {
        text::bind(&mut self.predicate, fields)
    }

    /// Adds the field comparisons that each `$expr` implies, so that the planner can use them. The filter still matches
    /// the same documents.
    pub fn compare_fields(&mut self) {
        expr_comparison::compare_fields(&mut self.predicate, &self.globals);
    }

    /// Returns a copy that evaluates the conditions as a `$match` of mongod does that no query answers: in the written order,
    /// and beside every `$expr` the field comparisons that it implies.
    #[must_use]
    pub fn as_stage(&self) -> Self {
        let mut it = self.clone();
        it.compare_fields();
        it.predicate.keep_order();
        it
    }

    /// The filter's `$text`, if any.
    pub fn text(&self) -> Option<&TextTest> {
        self.predicate.text()
    }

    /// Whether a matching document matches through the `$text`, and not only through another branch of an `$or`.
    pub fn matches_by_text(&self, document: &RawDocument) -> Result<bool, ServerError> {
        for alternative in text::alternatives(&self.predicate) {
            if !eval::matches(alternative, document, &self.globals)? {
                return Ok(false);
            }
        }
        Ok(self.text().is_some())
    }

    /// Fails if a constant part of an `$expr` fails: mongod refuses such a filter before it reads a document.
    pub fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.predicate.check_constants(globals)
    }

    /// Refuses `$jsonSchema`, also inside `$elemMatch`.
    pub fn refuse_schemas(&self) -> Result<(), ServerError> {
        if self.predicate.has_schema() {
            return Err(ServerError::new(
                Code::QUERY_FEATURE_NOT_ALLOWED,
                "$jsonSchema is not allowed in this context",
            ));
        }
        Ok(())
    }

    /// Refuses the operators that neither a positional projection nor `$pull` accepts.
    pub fn refuse_whole_document_operators(&self) -> Result<(), ServerError> {
        let Some(operator) = self.predicate.whole_document_operator() else {
            return Ok(());
        };
        Err(ServerError::new(
            match operator {
                "$text" => Code::BAD_VALUE,
                _ => Code::QUERY_FEATURE_NOT_ALLOWED,
            },
            format!("{operator} is not allowed in this context"),
        ))
    }

    /// Whether a document matches. Fails only if an `$expr` or a regular expression fails.
    pub fn matches(&self, document: &RawDocument) -> Result<bool, ServerError> {
        eval::matches(&self.predicate, document, &self.globals)
    }

    /// Like [`Matcher::matches`], for the bytes of a document.
    pub fn matches_bytes(&self, document: &[u8]) -> Result<bool, ServerError> {
        eval::matches_bytes(&self.predicate, document, &self.globals)
    }

    /// Like [`Matcher::matches`], but with these values of the variables instead of those at compile time.
    pub fn matches_in(
        &self,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<bool, ServerError> {
        eval::matches(&self.predicate, document, globals)
    }

    /// Whether a document matches, and at which array element.
    pub fn match_position(&self, document: &RawDocument) -> Result<Option<Match>, ServerError> {
        let mut array_index = None;
        let matched = eval::matches_at(&self.predicate, document, &self.globals, &mut array_index)?;
        Ok(matched.then_some(Match { array_index }))
    }

    /// Why a document does not match, in the form of `errInfo.details`; `None` if it matches.
    pub fn failure(&self, document: &RawDocument) -> Result<Option<Document>, ServerError> {
        // A predicate that fails does not match either; the explanation names the error.
        if self.matches(document).unwrap_or(false) {
            return Ok(None);
        }
        err_info::explain(&self.predicate, document, &self.globals).map(Some)
    }
}

#[cfg(test)]
mod tests;
