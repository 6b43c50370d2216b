//! Query filters: parsed into a closed enum of predicates, evaluated over raw documents.
//!
//! [`Matcher::parse`] compiles a filter once: paths are split, operands owned, regular expressions
//! built. [`Matcher::matches`] then walks the bytes of each document and allocates nothing;
//! [`Matcher::failure`] explains a validator's refusal.
//!
//! What this module is not: it knows no collections and no indexes. Start at `parse.rs`.

mod ast;
mod bits;
pub mod compared;
mod eval;
mod failure;
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

pub use self::ast::Predicate;
pub use self::ast::{Comparison, ElementMatch, Group, Operand, Test, TextTest};
pub use self::geo::{GeoTest, Near};
pub use self::json_schema::known as known_keywords;
pub use self::operators::{known as known_operators, known_options};
pub use self::parse::operand::integer;
pub use crate::regex::Regex;

/// Whether it is plain of a `$jsonSchema` that no document matches it.
pub fn is_never_met(schema: &RawDocument) -> bool {
    json_schema::Schema::parse(schema).is_ok_and(|schema| schema.is_never_met())
}

/// The refusal of a filter where `$where` is not allowed at all, so that it does not matter what the engine supports.
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
    /// The index in the outermost array that the last matching condition on an array found: what
    /// the positional `$` of an update stands for.
    pub array_index: Option<usize>,
}

impl Matcher {
    /// Compiles a filter. The collation and the variables of `$expr` are those of `globals`.
    /// `$near` is refused: only a query that chooses its documents by an index takes it.
    pub fn parse(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        Self::compile(filter, globals)?.without_near()
    }

    /// Compiles a validator, whose conditions a server evaluates in the order in which they were written: which comes
    /// first matters where one of them fails.
    pub fn parse_validator(filter: &RawDocument, globals: &Globals) -> Result<Self, ServerError> {
        let mut validator = Self::parse(filter, globals)?;
        validator.predicate.keep_order();
        Ok(validator)
    }

    /// The same with its conditions evaluated in the order in which they were written: so does a server for the
    /// positional `$` of a projection, which is where the last of them matched.
    #[must_use]
    pub fn as_written(&self) -> Self {
        let mut it = self.clone();
        it.predicate.keep_order();
        it
    }

    /// Compiles what an update asks of the elements of an array: no conditions but on their fields.
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

    /// As [`Matcher::parse`], with `$near` where a query may have it.
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

    /// What was compiled: the planner looks inside.
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// A matcher of some of the conditions only.
    #[must_use]
    pub fn with(&self, conditions: Vec<Predicate>) -> Self {
        Self {
            predicate: Predicate::And(Group::new(conditions, None, bson::RawDocumentBuf::new())),
            globals: self.globals.clone(),
        }
    }

    /// The same filter for documents that an index chose, where it makes a difference: which condition comes first
    /// matters where one of them may fail.
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

    /// Binds the `$text` in it, if any, to the collection's text index. Fails where that or the filter does not let it be.
    pub fn bind_text(&mut self, fields: Option<&Fields>) -> Result<(), ServerError> {
        text::bind(&mut self.predicate, fields)
    }

    /// Puts beside each `$expr` what it says of single fields: a planner understands that. The same documents match.
    pub fn compare_fields(&mut self) {
        compared::compare_fields(&mut self.predicate, &self.globals);
    }

    /// The `$text` in it.
    pub fn text(&self) -> Option<&TextTest> {
        self.predicate.text()
    }

    /// Whether a document that matches does so by the `$text` in it, and not only by an alternative to that.
    pub fn matches_by_text(&self, document: &RawDocument) -> Result<bool, ServerError> {
        for alternative in text::alternatives(&self.predicate) {
            if !eval::matches(alternative, document, &self.globals)? {
                return Ok(false);
            }
        }
        Ok(self.text().is_some())
    }

    /// Fails if a constant part of a `$expr` does: a server refuses it before it reads a document.
    pub fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.predicate.check_constants(globals)
    }

    /// Refuses `$jsonSchema`, also of elements.
    pub fn refuse_schemas(&self) -> Result<(), ServerError> {
        if self.predicate.has_schema() {
            return Err(ServerError::new(
                Code::QUERY_FEATURE_NOT_ALLOWED,
                "$jsonSchema is not allowed in this context",
            ));
        }
        Ok(())
    }

    /// Refuses the operators that neither a positional projection nor `$pull` can go with.
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

    /// Whether a document matches. Fails only where `$expr` or a regular expression does.
    pub fn matches(&self, document: &RawDocument) -> Result<bool, ServerError> {
        eval::matches(&self.predicate, document, &self.globals)
    }

    /// The same of a document's bytes.
    pub fn matches_bytes(&self, document: &[u8]) -> Result<bool, ServerError> {
        eval::matches_bytes(&self.predicate, document, &self.globals)
    }

    /// The same in another environment than that it was compiled in: other values of the same variables.
    pub fn matches_in(
        &self,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<bool, ServerError> {
        eval::matches(&self.predicate, document, globals)
    }

    /// Whether and at which array element a document matches.
    pub fn match_position(&self, document: &RawDocument) -> Result<Option<Match>, ServerError> {
        let mut array_index = None;
        let matched = eval::matches_at(&self.predicate, document, &self.globals, &mut array_index)?;
        Ok(matched.then_some(Match { array_index }))
    }

    /// Why a document does not match, as `errInfo.details` says it; `None` if it does.
    pub fn failure(&self, document: &RawDocument) -> Result<Option<Document>, ServerError> {
        // What fails while matching does not match; the account says how it failed.
        if self.matches(document).unwrap_or(false) {
            return Ok(None);
        }
        failure::explain(&self.predicate, document, &self.globals).map(Some)
    }
}

#[cfg(test)]
mod tests;
