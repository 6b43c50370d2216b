//! `arrayFilters`: select the elements that `$[name]` updates.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::raw::values;

use crate::updater::node::{Node, append, fields};
use crate::updater::operator::bad_value;

#[derive(Debug, Default)]
pub(super) struct ArrayFilters(Vec<(String, Matcher)>);

impl ArrayFilters {
    pub(super) fn has_any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn parse(filters: &RawArray, globals: &Globals) -> Result<Self, ServerError> {
        let mut parsed: Vec<(String, Matcher)> = Vec::new();
        for (index, filter) in values(filters).enumerate() {
            let filter = match filter {
                RawBsonRef::Document(filter) => filter,
                RawBsonRef::Null | RawBsonRef::Undefined => continue,
                other => {
                    return Err(ServerError::new(
                        Code::TYPE_MISMATCH,
                        format!(
                            "BSON field 'update.updates.arrayFilters.{index}' is the wrong type '{}', expected type 'object'",
                            odm_language::expression::compat::messages::type_name(Some(other))
                        ),
                    ));
                }
            };
            let matcher =
                Matcher::parse_condition(filter, globals).map_err(|error| parsing(&error))?;
            let mut names = Vec::new();
            top_level_names(filter, &mut names);
            let identifier = match names.as_slice() {
                [] => {
                    return Err(ServerError::new(
                        Code::FAILED_TO_PARSE,
                        "Cannot use an expression without a top-level field name in arrayFilters",
                    ));
                }
                [one] => one.clone(),
                [first, second, ..] => {
                    return Err(parsing(&ServerError::new(
                        Code::FAILED_TO_PARSE,
                        format!(
                            "Expected a single top-level field name, found '{first}' and '{second}'"
                        ),
                    )));
                }
            };
            let plain = identifier.starts_with(|c: char| c.is_ascii_lowercase())
                && identifier.bytes().all(|b| b.is_ascii_alphanumeric());
            if !plain {
                return Err(parsing(&bad_value(format!(
                    "The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '{identifier}'"
                ))));
            }
            if parsed.iter().any(|(known, _)| *known == identifier) {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "Found multiple array filters with the same top-level field name {identifier}"
                    ),
                ));
            }
            parsed.push((identifier, matcher));
        }
        Ok(Self(parsed))
    }

    pub(super) fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(identifier, _)| identifier.as_str())
    }

    /// Whether `$[identifier]` selects this element; the empty identifier selects all.
    pub(super) fn matches(
        &self,
        identifier: &str,
        element: &Node<'_>,
    ) -> Result<bool, ServerError> {
        if identifier.is_empty() {
            return Ok(true);
        }
        let Some((_, matcher)) = self.0.iter().find(|(known, _)| known == identifier) else {
            return Ok(false);
        };
        let mut document = RawDocumentBuf::new();
        element.with(|value| append(&mut document, identifier, value));
        matcher.matches(&document)
    }
}

/// Collects the first parts of the paths in a filter, without duplicates.
fn top_level_names(filter: &RawDocument, names: &mut Vec<String>) {
    for (key, value) in fields(filter) {
        match value {
            RawBsonRef::Document(test) if matches_nothing(test) => {}
            RawBsonRef::Array(clauses) if matches!(key, "$and" | "$or" | "$nor") => {
                for clause in values(clauses) {
                    if let RawBsonRef::Document(clause) = clause {
                        top_level_names(clause, names);
                    }
                }
            }
            _ if key.starts_with('$') => {}
            _ => {
                let name = key.split('.').next().unwrap_or(key);
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }
}

/// Whether the test is `{$all: []}` or its negation, which does not depend on the field.
fn matches_nothing(test: &RawDocument) -> bool {
    let mut operators = fields(test);
    match (operators.next(), operators.next()) {
        (Some(("$all", RawBsonRef::Array(list))), None) => values(list).next().is_none(),
        (Some(("$not", RawBsonRef::Document(below))), None) => matches_nothing(below),
        _ => false,
    }
}

fn parsing(error: &ServerError) -> ServerError {
    ServerError::new(
        error.code(),
        format!(
            "Error parsing array filter :: caused by :: {}",
            error.message()
        ),
    )
}
