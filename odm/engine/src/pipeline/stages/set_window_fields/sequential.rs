//! Functions that read the documents of a partition in order, without a window: ranks, `$shift`, `$expMovingAvg`,
//! `$locf` and `$linearFill`.

use std::cmp::Ordering;

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::collation::Collator;
use odm_language::value::decimal::Decimal;
use odm_language::value::number::Number;
use odm_language::value::order;

use super::common::{Column, refuse};
use super::integral::apart;

/// `$rank`, `$denseRank` and `$documentNumber`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    /// Equal values share a rank, and the next rank counts them.
    Sparse,
    Dense,
    Number,
}

impl Rank {
    pub(super) fn new(name: &str) -> Option<Self> {
        Some(match name {
            "$rank" => Self::Sparse,
            "$denseRank" => Self::Dense,
            "$documentNumber" => Self::Number,
            _ => return None,
        })
    }

    /// The ranks of documents with these values of the sort field. A missing value differs from null.
    pub(super) fn ranks(
        self,
        sorted: &[Option<RawBson>],
        collator: Option<&Collator>,
    ) -> Vec<Option<RawBson>> {
        let mut before: Option<Option<&RawBson>> = None;
        let mut rank = 0_i64;
        let ranks = sorted.iter().zip(1..).map(|(value, number)| {
            let value = value.as_ref();
            let is_tied = before.is_some_and(|before| is_equal(before, value, collator));
            before = Some(value);
            rank = match self {
                Self::Number => number,
                _ if is_tied => rank,
                Self::Sparse => number,
                Self::Dense => rank + 1,
            };
            Some(Number::Int64(rank))
        });
        let small = |rank| match rank {
            Number::Int64(n) => i32::try_from(n).map_or(RawBson::Int64(n), RawBson::Int32),
            other => other.to_raw().into(),
        };
        ranks.map(|rank| rank.map(small)).collect()
    }
}

fn is_equal(one: Option<&RawBson>, other: Option<&RawBson>, collator: Option<&Collator>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            order::equal(one.as_raw_bson_ref(), other.as_raw_bson_ref(), collator)
        }
        (None, None) => true,
        _ => false,
    }
}

/// `$shift`: the value of the document at a distance.
pub(super) fn shifted(input: &[Option<RawBson>], by: i32, default: Option<&RawBson>) -> Column {
    let by = isize::try_from(by).unwrap_or(0);
    (0..input.len())
        .map(|at| match at.checked_add_signed(by) {
            Some(place) => input
                .get(place)
                .map_or_else(|| default.cloned(), Clone::clone),
            None => default.cloned(),
        })
        .collect()
}

/// `$locf`: the last value that is neither null nor missing.
pub(super) fn carried(input: Column) -> Column {
    let mut last = RawBson::Null;
    let carried = input.into_iter().map(|value| {
        if let Some(value) = value.filter(|value| !is_null(value)) {
            last = value;
        }
        Some(last.clone())
    });
    carried.collect()
}

fn is_null(value: &RawBson) -> bool {
    matches!(value, RawBson::Null | RawBson::Undefined)
}

/// `$expMovingAvg`. The average is kept as a decimal, and is a double until the first decimal.
pub(super) fn moving_average(input: &[Option<RawBson>], alpha: Decimal) -> Column {
    let mut average: Option<Decimal> = None;
    let mut has_decimal = false;
    let rest = Decimal::from_i64(1).sub(alpha);
    let averages = input.iter().map(|value| {
        let number = value.as_ref().map(RawBson::as_raw_bson_ref);
        if let Some(number) = number.and_then(Number::from_raw) {
            has_decimal |= number.is_decimal();
            let number = number.to_decimal();
            average = Some(match average {
                None => number,
                Some(average) => number.mul(alpha).add(average.mul(rest)),
            });
        }
        Some(match average {
            None => RawBson::Null,
            Some(average) if has_decimal => RawBson::Decimal128(average.to_bson()),
            Some(average) => RawBson::Double(average.to_f64()),
        })
    });
    averages.collect()
}

/// `$linearFill`: nulls between two numbers get the values on the line through these. `before` is the last value of the
/// sort field in the partition before: mongod refuses an equal one here, too.
pub(super) fn linear_fill(
    sorted: &[Option<RawBson>],
    before: Option<&RawBson>,
    input: Column,
    collator: Option<&Collator>,
) -> Result<Column, ServerError> {
    let mut filled: Column = Vec::with_capacity(input.len());
    let mut left: Option<(RawBsonRef<'_>, Number)> = None;
    let mut previous = before.map(RawBson::as_raw_bson_ref);
    for (x, y) in sorted.iter().zip(input) {
        let x = checked_place(x.as_ref(), previous, collator)?;
        previous = Some(x);
        let y = y.filter(|y| !is_null(y));
        let Some(y) = y else {
            filled.push(None);
            continue;
        };
        let Some(number) = Number::from_raw(y.as_raw_bson_ref()) else {
            return mismatch(format!(
                "Value to be filled must be numeric or nullish, but found {}",
                messages::type_name(Some(y.as_raw_bson_ref()))
            ));
        };
        if let Some(left) = left {
            let gap = filled.iter().rev().take_while(|value| value.is_none());
            let from = filled.len() - gap.count();
            let places = sorted.iter().skip(from);
            for (place, value) in places.zip(filled.iter_mut().skip(from)) {
                let place = place.as_ref().map(RawBson::as_raw_bson_ref);
                *value = place.and_then(|place| between(left, (x, number), place));
            }
        } else {
            filled.fill(Some(RawBson::Null));
        }
        left = Some((x, number));
        filled.push(Some(y));
    }
    let nulls = filled.into_iter();
    Ok(nulls.map(|value| value.or(Some(RawBson::Null))).collect())
}

/// The height at a place on the line through two points.
fn between(
    (x1, y1): (RawBsonRef<'_>, Number),
    (x2, y2): (RawBsonRef<'_>, Number),
    place: RawBsonRef<'_>,
) -> Option<RawBson> {
    let slope = y2.sub(y1).div(apart(x1, x2)?);
    let rise = slope.mul(apart(x1, place)?);
    let height = y1
        .checked_add(rise)
        .unwrap_or_else(|| Number::Double(y1.to_f64() + rise.to_f64()));
    Some(height.to_raw().into())
}

/// The value of the sort field: a number or a date, of the same kind as the one before and different from it.
fn checked_place<'x>(
    x: Option<&'x RawBson>,
    previous: Option<RawBsonRef<'_>>,
    collator: Option<&Collator>,
) -> Result<RawBsonRef<'x>, ServerError> {
    let x = x.map_or(RawBsonRef::Null, RawBson::as_raw_bson_ref);
    let is_date = |x| matches!(x, RawBsonRef::DateTime(_));
    if !is_date(x) && Number::from_raw(x).is_none() {
        return mismatch(format!(
            "Value of the sortBy field must be numeric or a date, but found {}",
            messages::type_name(Some(x))
        ));
    }
    let Some(previous) = previous else {
        return Ok(x);
    };
    if is_date(x) != is_date(previous) {
        return mismatch(format!(
            "Conflicting sort value types, previously received type {}, but found {}",
            messages::type_name(Some(previous)),
            messages::type_name(Some(x))
        ));
    }
    if order::compare(x, previous, collator) == Ordering::Equal {
        return refuse(
            6_050_106,
            "There can be no repeated values in the sort field",
        );
    }
    Ok(x)
}

fn mismatch<T>(message: String) -> Result<T, ServerError> {
    Err(ServerError::new(Code::TYPE_MISMATCH, message))
}
