//! Partial indexes' filters: what they may hold, and their compiled form.

use bson::{Bson, Document, raw::RawDocumentBuf};

use crate::engine::index::spec::{Partial, refused, show, stored_globals};
use crate::engine::matcher::Matcher;
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;

/// Compiles a filter that [`check`] let pass.
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

/// Refuses what is no filter, or one of more than the fields of a document.
pub(crate) fn parse(filter: &Document) -> Result<(), ServerError> {
    let raw = RawDocumentBuf::try_from(filter)
        .map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))?;
    Matcher::parse_condition(&raw, &stored_globals()).map(|_| ())
}

/// Refuses the operators that the server does not allow in a partial index.
pub(crate) fn check(filter: &Document) -> Result<(), ServerError> {
    for (name, value) in filter {
        match (name.as_str(), value) {
            ("$and" | "$or", Bson::Array(branches)) => {
                for branch in branches {
                    if let Bson::Document(branch) = branch {
                        check(branch)?;
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
