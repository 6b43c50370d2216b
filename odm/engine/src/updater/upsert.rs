//! The document that an upsert starts from: the values that the filter requires to be equal.

use std::borrow::Cow;

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::matcher;
use odm_language::value::order;
use odm_language::value::raw::values;

use crate::updater::Update;
use crate::updater::node::{Node, append, build, fields};

/// Returns the equalities of a (checked) filter as a document; for a replacement, only the `_id`. Pass the result to
/// [`Update::apply`] with `inserting`, then add an `_id` if it still has none.
pub(crate) fn seed(filter: &RawDocument, update: &Update) -> Result<RawDocumentBuf, ServerError> {
    check_filter(filter)?;
    let mut found = Vec::new();
    if !never_matches(filter) {
        collect(filter, &mut found)?;
    }
    if update.is_replacement() {
        found.retain(|(path, _)| *path == "_id" || path.starts_with("_id."));
    }
    found.sort_by_key(|(path, _)| *path);
    check(&found)?;
    if update.is_replacement()
        && let Some((path, _)) = found.iter().find(|(path, _)| path.starts_with("_id."))
    {
        return Err(ServerError::new(
            Code::NOT_EXACT_VALUE_FIELD,
            format!("field at '_id' must be exactly specified, field at sub-path '{path}'found"),
        ));
    }
    if found.iter().any(|(path, _)| path.is_empty()) {
        // mongod takes the empty path for the document itself.
        return Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            "Cannot call setValue on the root object",
        ));
    }
    let mut root = Vec::new();
    for (path, value) in found {
        plant(&mut root, path, value);
    }
    Ok(build(&root))
}

/// Returns an error if an upsert cannot use the filter, even if the upsert would not insert.
pub(crate) fn check_filter(filter: &RawDocument) -> Result<(), ServerError> {
    for (key, value) in fields(filter) {
        match (key, value) {
            ("$expr", _) => {
                return Err(ServerError::new(
                    Code::QUERY_FEATURE_NOT_ALLOWED,
                    "$expr is not allowed in the query predicate for an upsert",
                ));
            }
            ("$and" | "$or" | "$nor", RawBsonRef::Array(clauses)) => {
                for clause in values(clauses) {
                    if let RawBsonRef::Document(clause) = clause {
                        check_filter(clause)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The part of a filter before its first `$expr`.
pub(crate) fn before_expr(filter: &RawDocument) -> RawDocumentBuf {
    let mut before = RawDocumentBuf::new();
    for (key, value) in fields(filter) {
        match (key, value) {
            ("$expr", _) => break,
            ("$and" | "$or" | "$nor", RawBsonRef::Array(clauses)) => {
                let mut kept = RawArrayBuf::new();
                let mut ends = false;
                for clause in values(clauses) {
                    match clause {
                        RawBsonRef::Document(clause) if check_filter(clause).is_err() => {
                            kept.push(before_expr(clause));
                            ends = true;
                            break;
                        }
                        clause => kept.push(clause),
                    }
                }
                append(&mut before, key, RawBsonRef::Array(&kept));
                if ends {
                    break;
                }
            }
            (key, value) => append(&mut before, key, value),
        }
    }
    before
}

/// Whether mongod detects that nothing can match the filter; it then ignores the rest of the filter.
fn never_matches(filter: &RawDocument) -> bool {
    let is_empty =
        |value| matches!(value, RawBsonRef::Array(list) if values(list).next().is_none());
    let never = |clause| matches!(clause, RawBsonRef::Document(clause) if never_matches(clause));
    fields(filter).any(|(key, value)| match (key, value) {
        ("$alwaysFalse", _) => true,
        ("$and", RawBsonRef::Array(clauses)) => values(clauses).any(never),
        ("$or", RawBsonRef::Array(clauses)) => values(clauses).all(never),
        ("$jsonSchema", RawBsonRef::Document(schema)) => matcher::is_never_met(schema),
        (_, RawBsonRef::Document(condition)) if is_operators(condition) => {
            fields(condition).any(|(operator, operand)| operator == "$all" && is_empty(operand))
        }
        _ => false,
    })
}

type Found<'a> = Vec<(&'a str, RawBsonRef<'a>)>;

fn collect<'a>(filter: &'a RawDocument, found: &mut Found<'a>) -> Result<(), ServerError> {
    for (key, value) in fields(filter) {
        match (key, value) {
            ("$and", RawBsonRef::Array(clauses)) => {
                for clause in values(clauses) {
                    if let RawBsonRef::Document(clause) = clause {
                        collect(clause, found)?;
                    }
                }
            }
            ("$or", RawBsonRef::Array(clauses)) => {
                let mut clauses = values(clauses).filter(|clause| {
                    !matches!(clause, RawBsonRef::Document(clause) if never_matches(clause))
                });
                if let (Some(RawBsonRef::Document(only)), None) = (clauses.next(), clauses.next()) {
                    collect(only, found)?;
                }
            }
            (key, _) if key.starts_with('$') => {}
            (_, RawBsonRef::RegularExpression(_)) => {}
            (path, RawBsonRef::Document(condition)) if is_operators(condition) => {
                for (operator, operand) in fields(condition) {
                    match (operator, operand) {
                        ("$eq", value) => found.push((path, value)),
                        ("$in", RawBsonRef::Array(list)) => {
                            let mut values = values(list);
                            match values.next() {
                                Some(RawBsonRef::RegularExpression(_)) | None => {}
                                // Several equal values count as one.
                                Some(first)
                                    if values.all(|value| order::equal(first, value, None)) =>
                                {
                                    found.push((path, first));
                                }
                                Some(_) => {}
                            }
                        }
                        ("$all", RawBsonRef::Array(list)) => {
                            for value in values(list) {
                                let plain = match value {
                                    RawBsonRef::Document(document) => !is_operators(document),
                                    RawBsonRef::RegularExpression(_) => false,
                                    _ => true,
                                };
                                if plain {
                                    found.push((path, value));
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
            (path, value) => found.push((path, value)),
        }
    }
    Ok(())
}

fn is_operators(document: &RawDocument) -> bool {
    fields(document)
        .next()
        .is_some_and(|(name, _)| name.starts_with('$') && !matches!(name, "$ref" | "$id" | "$db"))
}

/// Rejects paths that would be set twice. `found` is sorted, so a parent comes before its children.
fn check(found: &Found<'_>) -> Result<(), ServerError> {
    for (index, (path, _)) in found.iter().enumerate() {
        for (known, _) in found.iter().take(index) {
            let message = if known == path {
                format!("cannot infer query fields to set, path '{path}' is matched twice")
            } else if path
                .strip_prefix(known)
                .is_some_and(|rest| rest.starts_with('.'))
            {
                format!(
                    "cannot infer query fields to set, both paths '{path}' and '{known}' are matched"
                )
            } else {
                continue;
            };
            return Err(ServerError::new(Code::location(54), message));
        }
    }
    Ok(())
}

fn plant<'a>(fields: &mut Vec<(Cow<'a, str>, Node<'a>)>, path: &'a str, value: RawBsonRef<'a>) {
    let Some((head, rest)) = path.split_once('.') else {
        fields.push((Cow::Borrowed(path), Node::Raw(value)));
        return;
    };
    if let Some((_, Node::Document(below))) = fields.iter_mut().find(|(name, _)| name == head) {
        return plant(below, rest, value);
    }
    let mut below = Vec::new();
    plant(&mut below, rest, value);
    fields.push((Cow::Borrowed(head), Node::Document(below)));
}
