//! `$derivative` and `$integral`: the slope and the area of a curve through the points of a window.

use std::collections::VecDeque;

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::expression::sum::RemovableSum;
use odm_language::expression::units::Unit;
use odm_language::value::number::Number;

use super::common::refuse;
use super::sliding::Entry;

/// The state of `$integral`. Its entries are the sort field and the input, one after the other.
#[derive(Debug)]
pub(super) struct Integral {
    /// The unit's milliseconds, if the sort field is a date.
    unit: Option<i64>,
    points: VecDeque<(RawBson, Number)>,
    /// How many points are not numbers.
    nans: usize,
    sum: RemovableSum,
}

impl Integral {
    pub(super) fn new(unit: Option<i64>) -> Self {
        Self {
            unit,
            points: VecDeque::new(),
            nans: 0,
            sum: RemovableSum::default(),
        }
    }

    pub(super) fn change(&mut self, entry: &Entry, adds: bool) -> Result<(), ServerError> {
        if !adds {
            if let (Some(first), Some(second)) = (self.points.front(), self.points.get(1)) {
                self.sum.remove(area(first, second));
            }
            if self.points.pop_front().is_some_and(|point| is_nan(&point)) {
                self.nans -= 1;
            }
            return Ok(());
        }
        let point = self.point(entry)?;
        if let Some(last) = self.points.back() {
            self.sum.add(area(last, &point));
        }
        self.nans += usize::from(is_nan(&point));
        self.points.push_back(point);
        Ok(())
    }

    /// The point of a document, whose entry has the sort field and the input as an array.
    fn point(&self, entry: &Entry) -> Result<(RawBson, Number), ServerError> {
        let pair = match &entry.value {
            Some(RawBson::Array(pair)) => {
                let mut items = odm_language::value::raw::values(pair);
                items.next().zip(items.next())
            }
            _ => None,
        };
        let is_place = |x| matches!(x, RawBsonRef::DateTime(_)) || Number::from_raw(x).is_some();
        let Some((x, y)) =
            pair.and_then(|(x, y)| is_place(x).then_some(x).zip(Number::from_raw(y)))
        else {
            return refuse(
                5_423_900,
                "The input value of $integral window function must be a vector of 2 value, the first value must be numeric or date type and the second must be numeric.",
            );
        };
        match (x, self.unit) {
            (RawBsonRef::DateTime(_), None) => refuse(
                5_423_902,
                "$integral (with no 'unit') expects the sortBy field to be numeric",
            ),
            (RawBsonRef::DateTime(_), Some(_)) | (_, None) => Ok((x.into(), y)),
            (_, Some(_)) => refuse(
                5_423_901,
                "$integral with 'unit' expects the sortBy field to be a Date",
            ),
        }
    }

    pub(super) fn value(&self) -> RawBson {
        if self.points.is_empty() {
            return RawBson::Null;
        }
        let total = match self.sum.number() {
            // Also where decimals would make it a decimal.
            _ if self.nans > 0 => Number::Double(f64::NAN),
            total => total,
        };
        let total = match self.unit {
            None => total,
            Some(unit) => total.div(Number::Int64(unit)),
        };
        total.to_raw().into()
    }
}

/// The area of the trapezoid below two points.
fn area(left: &(RawBson, Number), right: &(RawBson, Number)) -> Number {
    let width = apart(left.0.as_raw_bson_ref(), right.0.as_raw_bson_ref());
    let width = width.unwrap_or(Number::Int32(0));
    let heights = left
        .1
        .checked_add(right.1)
        .unwrap_or_else(|| Number::Double(left.1.to_f64() + right.1.to_f64()));
    // mongod divides by a double, which shows in the trailing zeros of decimals.
    heights.mul(width).div(Number::Double(2.0))
}

fn is_nan((x, y): &(RawBson, Number)) -> bool {
    y.is_nan() || Number::from_raw(x.as_raw_bson_ref()).is_some_and(Number::is_nan)
}

/// The distance of two numbers, or of two dates in milliseconds.
pub(super) fn apart(left: RawBsonRef<'_>, right: RawBsonRef<'_>) -> Option<Number> {
    match (left, right) {
        (RawBsonRef::DateTime(left), RawBsonRef::DateTime(right)) => {
            let (left, right) = (left.timestamp_millis(), right.timestamp_millis());
            Some(Number::Int64(right.wrapping_sub(left)))
        }
        _ => Some(Number::from_raw(right)?.sub(Number::from_raw(left)?)),
    }
}

/// The sort field and the input of `$derivative` in one document.
pub(super) type Point = (Option<RawBson>, Option<RawBson>);

/// The slope between the first and the last document of a window.
pub(super) fn slope(
    (left, right): (&Point, &Point),
    unit: Option<i64>,
) -> Result<RawBson, ServerError> {
    let value = |value: &Option<RawBson>| value.clone().unwrap_or(RawBson::Null);
    let [(x1, y1), (x2, y2)] = [left, right].map(|point| (value(&point.0), value(&point.1)));
    for x in [&x1, &x2] {
        match (x, unit) {
            (RawBson::DateTime(_), Some(_)) => {}
            (_, Some(_)) => {
                return refuse(
                    5_624_900,
                    "$derivative with 'unit' expects the sortBy field to be a Date",
                );
            }
            (RawBson::DateTime(_), None) => {
                return refuse(
                    5_624_901,
                    "$derivative where the sortBy is a Date requires an 'unit'",
                );
            }
            (x, None) if Number::from_raw(x.as_raw_bson_ref()).is_some() => {}
            _ => {
                return refuse(
                    5_624_902,
                    "$derivative (with no 'unit') expects the sortBy field to be numeric",
                );
            }
        }
    }
    if [&y1, &y2]
        .iter()
        .any(|y| matches!(y, RawBson::Null | RawBson::Undefined))
    {
        return refuse(5_624_903, "$derivative input must not be null or missing");
    }
    let (y1, y2) = (y1.as_raw_bson_ref(), y2.as_raw_bson_ref());
    let Some(rise) = apart(y1, y2) else {
        let right = match y2 {
            RawBsonRef::DateTime(_) => "Date",
            y2 => messages::type_name(Some(y2)),
        };
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "can't $subtract {} from {right}",
                messages::type_name(Some(y1))
            ),
        ));
    };
    let run = apart(x1.as_raw_bson_ref(), x2.as_raw_bson_ref()).unwrap_or(Number::Int32(0));
    if run.is_zero() {
        return Ok(RawBson::Null);
    }
    let slope = rise.div(run);
    let slope = match unit {
        None => slope,
        Some(unit) => slope.mul(Number::Int64(unit)),
    };
    Ok(slope.to_raw().into())
}

/// The `unit` of these functions in milliseconds.
pub(super) fn unit(unit: RawBsonRef<'_>) -> Result<i64, ServerError> {
    let RawBsonRef::String(name) = unit else {
        return super::common::failed_to_parse(format!(
            "unit' must be a string, but got {}",
            messages::type_name(Some(unit))
        ));
    };
    match Unit::parse(name)?.millis() {
        Some(millis) => Ok(millis),
        None => refuse(5_490_710, "unit must be 'week' or smaller"),
    }
}
