//! The filters of partial indexes: the operators that they allow, and their compiled form.

use bson::{Bson, Document, raw::RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;

use crate::index::spec::value::{refused, show};
use crate::index::spec::{Partial, stored_globals};

/// Compiles a filter that passed [`check`].
pub(crate) fn compile(
    filter: &Document,
    collation: Option<&Collator>,
) -> Result<Partial, ServerError> {
    let raw = RawDocumentBuf::try_from(filter)
        .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
    let globals = stored_globals().with_collator(collation.cloned());
    Ok(Partial {
        document: filter.clone(),
        matcher: Matcher::parse(&raw, &globals)?,
    })
}

/// Returns an error if the document is not a filter on fields.
pub(crate) fn parse(filter: &Document) -> Result<(), ServerError> {
    let raw = RawDocumentBuf::try_from(filter)
        .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
    Matcher::parse_condition(&raw, &stored_globals()).map(|_| ())
}

/// The most levels in the tree of a filter, counting branches, conjunctions and conditions.
const DEEPEST: usize = 4;

/// Returns an error for operators that mongod does not allow in a partial index, or for too many levels.
pub(crate) fn check(filter: &Document) -> Result<(), ServerError> {
    check_level(filter, 1)
}

/// Checks a part of the filter at a level.
fn check_level(filter: &Document, level: usize) -> Result<(), ServerError> {
    // Several conditions form a conjunction, which is a level of its own.
    let conditions: usize = filter
        .iter()
        .map(|(name, value)| conditions(name, value))
        .sum();
    let level = if conditions == 1 {
        level
    } else {
        check_depth(level)?;
        level + 1
    };
    for (name, value) in filter {
        if conditions_within(name, value) {
            check_depth(level + 1)?;
        } else if name != "$comment" {
            check_depth(level)?;
        }
        match (name.as_str(), value) {
            ("$and" | "$or", Bson::Array(branches)) => {
                for branch in branches {
                    if let Bson::Document(branch) = branch {
                        check_level(branch, level + 1)?;
                    }
                }
            }
            ("$comment", _) => {}
            (operator, _) if operator.starts_with('$') => return Err(unsupported(operator)),
            (path, Bson::RegularExpression(regex)) => {
                return Err(unsupported(&format!(
                    "{path} regex /{}/{}\n",
                    regex.pattern, regex.options
                )));
            }
            (path, Bson::Document(operators))
                if operators
                    .keys()
                    .next()
                    .is_some_and(|key| key.starts_with('$')) =>
            {
                for (operator, operand) in operators {
                    check_operator(path, operator, operand)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_depth(level: usize) -> Result<(), ServerError> {
    if level <= DEEPEST {
        return Ok(());
    }
    Err(refused(format!(
        "partialFilterExpression depth may not exceed {DEEPEST}"
    )))
}

/// The number of conditions that an element of a filter contains.
fn conditions(name: &str, value: &Bson) -> usize {
    match value {
        _ if name == "$comment" => 0,
        Bson::Document(operators)
            if !name.starts_with('$')
                && operators
                    .keys()
                    .next()
                    .is_some_and(|key| key.starts_with('$')) =>
        {
            operators.len()
        }
        _ => 1,
    }
}

/// Whether an element (`$all`) expands to several conditions on the next level.
fn conditions_within(name: &str, value: &Bson) -> bool {
    !name.starts_with('$')
        && value
            .as_document()
            .is_some_and(|operators| operators.contains_key("$all"))
}

fn check_operator(path: &str, operator: &str, operand: &Bson) -> Result<(), ServerError> {
    let shown = || {
        let document = show(&bson::doc! { "v": operand.clone() });
        document
            .strip_prefix("{ v: ")
            .and_then(|text| text.strip_suffix(" }"))
            .unwrap_or_default()
            .to_owned()
    };
    match (operator, operand) {
        ("$eq" | "$gt" | "$gte" | "$lt" | "$lte" | "$in" | "$type" | "$geoWithin", _)
        | ("$exists", Bson::Boolean(true)) => Ok(()),
        ("$all", Bson::Array(all)) => {
            if all.is_empty() {
                return Err(unsupported("$alwaysFalse: 1\n"));
            }
            all.iter().try_for_each(|each| match each {
                Bson::RegularExpression(regex) => Err(unsupported(&format!(
                    "{path} regex /{}/{}\n",
                    regex.pattern, regex.options
                ))),
                Bson::Document(inner)
                    if inner.keys().next().is_some_and(|key| key == "$elemMatch") =>
                {
                    check_operator(
                        path,
                        "$elemMatch",
                        inner.get("$elemMatch").unwrap_or(&Bson::Null),
                    )
                }
                _ => Ok(()),
            })
        }
        ("$exists", other) if !matches!(other, Bson::Boolean(false)) && truthy(other) => Ok(()),
        ("$exists", _) => Err(unsupported(&format!("$not\n    {path} exists\n"))),
        ("$ne", _) => Err(unsupported(&format!("$not\n    {path} $eq {}\n", shown()))),
        ("$regex", Bson::String(pattern)) => {
            Err(unsupported(&format!("{path} regex /{pattern}/\n")))
        }
        _ => Err(unsupported(&format!("{path} {operator} {}\n", shown()))),
    }
}

fn truthy(value: &Bson) -> bool {
    !matches!(
        value,
        Bson::Null | Bson::Undefined | Bson::Boolean(false) | Bson::Int32(0) | Bson::Int64(0)
    )
}

fn unsupported(tree: &str) -> ServerError {
    refused(format!("Expression not supported in partial index: {tree}"))
}
