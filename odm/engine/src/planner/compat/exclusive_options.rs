//! Rejects parts of a query that exclude each other, even if the collection does not exist.

use bson::raw::{RawBsonRef, RawDocument};

use odm_language::error::{Code, ServerError};
use odm_language::matcher::Predicate;
use odm_language::value::number::Number;
use odm_language::value::{print, raw};

/// The parts of a query that may conflict.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) filter: Option<&'a Predicate>,
    pub(crate) sort: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) tailable: bool,
}

/// Rejects parts that exclude each other, with mongod's messages and in its order (6.0, `CanonicalQuery::isValid`).
pub(crate) fn check(parts: &Parts<'_>) -> Result<(), ServerError> {
    let sorted = parts.sort.and_then(|sort| raw::get(sort, NATURAL));
    let key = match parts.hint {
        Some(RawBsonRef::Document(key)) => Some(key),
        _ => None,
    };
    let hinted = key.and_then(|key| raw::get(key, NATURAL));
    alone(parts.sort.filter(|_| sorted.is_some()), "sort")?;
    alone(key.filter(|_| hinted.is_some()), "hint")?;
    let has_hint = match parts.hint {
        Some(RawBsonRef::Document(key)) => !key.is_empty(),
        hint => hint.is_some(),
    };
    let near = parts.filter.map_or(Ok(None), Predicate::near)?.is_some();
    let text = parts.filter.is_some_and(|filter| filter.text().is_some());
    let excluded = [
        (
            near && sorted.is_some(),
            "geoNear expression not allowed with $natural sort order",
        ),
        (
            near && hinted.is_some(),
            "geoNear expression not allowed with $natural hint",
        ),
        (text && near, "text and geoNear not allowed in same query"),
        (
            text && sorted.is_some(),
            "text expression not allowed with $natural sort order",
        ),
        (text && has_hint, "text and hint not allowed in same query"),
        (
            text && parts.tailable,
            "text and tailable cursor not allowed in same query",
        ),
        (
            near && parts.tailable,
            "Tailable cursors and geo $near cannot be used together",
        ),
        (
            sorted.is_some() && has_hint && hinted.is_none(),
            "index hint not allowed with $natural sort order",
        ),
        (
            sorted.is_some() && hinted.is_some() && sorted.map(int) != hinted.map(int),
            "$natural hint must be in the same direction as $natural sort order",
        ),
    ];
    match excluded.iter().find(|(is_so, _)| *is_so) {
        Some((_, why)) => Err(ServerError::new(Code::BAD_VALUE, *why)),
        None => Ok(()),
    }
}

const NATURAL: &str = "$natural";

fn alone(pattern: Option<&RawDocument>, what: &str) -> Result<(), ServerError> {
    match pattern {
        Some(pattern) if raw::elements(pattern).count() > 1 => Err(ServerError::new(
            Code::BAD_VALUE,
            format!(
                "Cannot include '$natural' in compound {what}: {}",
                print::document(pattern)
            ),
        )),
        _ => Ok(()),
    }
}

/// Whether `$natural`, in a sort or a hint, requests descending record order.
pub(crate) fn is_backwards(direction: RawBsonRef<'_>) -> bool {
    int(direction) < 0
}

/// Converts a direction to an integer as mongod does: non-numeric values count as 0.
fn int(value: RawBsonRef<'_>) -> i64 {
    let whole = match Number::from_raw(value) {
        Some(Number::Decimal(number)) => Some(number.to_i64_rounded()),
        Some(number) => number.to_i64_truncated(),
        None => None,
    };
    let bounds = (i64::from(i32::MIN), i64::from(i32::MAX));
    whole.unwrap_or_default().clamp(bounds.0, bounds.1)
}
