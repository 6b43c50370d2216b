//! Resolves hints, and the `min` and `max` bounds that go with them.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::value::key::Direction;
use odm_language::value::{print, raw};

use crate::index::spec::{Kind, same_key};
use crate::index::{Index, append};
use crate::planner::compat::exclusive_options::is_backwards;
use crate::planner::interval::is_collated;
use crate::planner::plan::Limits;
use crate::planner::requirements::Requirements;

/// The access path that a hint names.
pub(super) enum Hinted<'i> {
    No,
    Records { backwards: bool },
    Index(&'i Index),
}

pub(super) fn find<'i>(
    indexes: &'i [Index],
    requirements: &Requirements<'_>,
) -> Result<Hinted<'i>, ServerError> {
    let index = match requirements.hint {
        None => return without(requirements),
        Some(RawBsonRef::String(name)) => named(indexes, name),
        Some(RawBsonRef::Document(key)) => {
            if let Some(RawBsonRef::String(name)) = raw::get(key, "$hint") {
                return existing(named(indexes, name));
            }
            if let Some(value) = raw::get(key, "$natural") {
                if requirements.min.is_some() || requirements.max.is_some() {
                    return Err(no_plan("min and max are incompatible with $natural"));
                }
                return Ok(Hinted::Records {
                    backwards: is_backwards(value),
                });
            }
            let Ok(key) = Document::try_from(key) else {
                return without(requirements);
            };
            if key.is_empty() {
                return without(requirements);
            }
            let mut same = indexes
                .iter()
                .filter(|index| same_key(&index.spec.key, &key) && !index.spec.hidden);
            match (same.next(), same.next()) {
                (Some(one), Some(other)) => return Err(ambiguous(one, other)),
                (found, _) => found,
            }
        }
        Some(_) => {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Hint must be a string or an object",
            ));
        }
    };
    existing(index)
}

fn named<'i>(indexes: &'i [Index], name: &str) -> Option<&'i Index> {
    indexes.iter().find(|index| index.spec.name == name)
}

/// The hinted index; an error if it does not exist or is hidden.
fn existing(index: Option<&Index>) -> Result<Hinted<'_>, ServerError> {
    let Some(index) = index.filter(|index| !index.spec.hidden) else {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "planner returned error :: caused by :: hint provided does not correspond to an existing index",
        ));
    };
    Ok(Hinted::Index(index))
}

/// The error for a key pattern that several indexes have. Such indexes differ in their collation or their partial
/// filter.
fn ambiguous(one: &Index, other: &Index) -> ServerError {
    let shown = |index: &Index| {
        let picture = |document: &Document| {
            RawDocumentBuf::try_from(document)
                .map_or_else(|_| String::new(), |document| print::document(&document))
        };
        format!(
            "kp: {} name: '({}, )' io: {}",
            picture(&index.spec.key),
            index.spec.name,
            picture(&index.spec.kept)
        )
    };
    ServerError::new(
        Code::INDEX_NOT_FOUND,
        format!(
            "planner returned error :: caused by :: Hint matched multiple indexes, must hint by index name. Matched: {} and {}",
            shown(one),
            shown(other)
        ),
    )
}

fn without<'i>(requirements: &Requirements<'_>) -> Result<Hinted<'i>, ServerError> {
    if requirements.min.is_some() || requirements.max.is_some() {
        if requirements.natural.is_some() {
            return Err(no_plan("min and max are incompatible with $natural"));
        }
        return Err(ServerError::new(
            Code::location(51173),
            "planner returned error :: caused by :: When using min()/max() a hint of which index to use must be provided",
        ));
    }
    Ok(Hinted::No)
}

/// The keys of `min` and `max`, which must name the fields of the index in order.
pub(super) fn limits(
    index: &Index,
    requirements: &Requirements<'_>,
) -> Result<Limits, ServerError> {
    let what = match index.spec.kind {
        Kind::Hashed => Some("hashes"),
        Kind::Text => Some("words"),
        _ => None,
    };
    if let Some(what) = what {
        return Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            format!("the in-memory engine does not support min and max in the order of {what}"),
        ));
    }
    let key = |bound: Option<&RawDocument>| {
        bound
            .map(|bound| {
                let names = raw::elements(bound).map(|(name, _)| name);
                if index.spec.kind != Kind::Ordered
                    || !names.eq(index.spec.key.keys().map(String::as_str))
                {
                    return Err(mismatch());
                }
                if index.spec.collation.as_ref() != requirements.collation
                    && raw::elements(bound).any(|(_, value)| is_collated(value))
                {
                    return Err(mismatch());
                }
                let mut bytes = Vec::new();
                for ((_, value), part) in raw::elements(bound).zip(&index.spec.parts) {
                    append(&mut bytes, Some(value), part, &index.spec);
                }
                Ok(bytes)
            })
            .transpose()
    };
    let mut limits = Limits {
        min: key(requirements.min)?,
        max: key(requirements.max)?,
    };
    if limits.min.is_some() && limits.max.is_none() {
        // MongoDB completes `min` with the largest key, which `max` excludes.
        let mut bytes = Vec::new();
        for part in &index.spec.parts {
            let last = match part.direction {
                Direction::Ascending => RawBsonRef::MaxKey,
                Direction::Descending => RawBsonRef::MinKey,
            };
            append(&mut bytes, Some(last), part, &index.spec);
        }
        limits.max = Some(bytes);
    }
    if let (Some(min), Some(max)) = (&limits.min, &limits.max)
        && min >= max
    {
        return Err(ServerError::new(
            Code::location(51175),
            "planner returned error :: caused by :: The value provided for min() does not come before the value provided for max() in the hinted index",
        ));
    }
    Ok(limits)
}

/// The error for a query without a plan.
pub(super) fn no_plan(why: &str) -> ServerError {
    ServerError::new(
        Code::NO_QUERY_EXECUTION_PLANS,
        format!("planner returned error :: caused by :: {why}"),
    )
}

fn mismatch() -> ServerError {
    ServerError::new(
        Code::location(51174),
        "planner returned error :: caused by :: The index chosen is not compatible with min/max",
    )
}
