//! Points in the order of items, and intervals of them.

use std::ops::{Bound, RangeBounds};

use bson::raw::RawBsonRef;
use bson::{Bson, DateTime, Document, doc};
use odm_language::value::number::Number;

use super::model::BucketModel;
use crate::error::{Error, Result};

/// A point in the order of items: a date in milliseconds, or a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) units: i64,
    pub(super) kind: PointKind,
}

/// How a point is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointKind {
    Date,
    Int,
    Long,
}

impl Point {
    /// The point that a value is, if it is a date or a whole number.
    pub(super) fn of(value: RawBsonRef<'_>) -> Option<Self> {
        let (units, kind) = match value {
            RawBsonRef::DateTime(date) => (date.timestamp_millis(), PointKind::Date),
            RawBsonRef::Int32(number) => (number.into(), PointKind::Int),
            RawBsonRef::Int64(number) => (number, PointKind::Long),
            _ => return None,
        };
        Some(Self { units, kind })
    }

    /// The start of the span of this length that the point is in; none below the smallest point.
    pub(super) fn start_of_span(self, span: i64) -> Option<Self> {
        let units = self.units.checked_sub(self.units.rem_euclid(span))?;
        Some(Self { units, ..self })
    }

    pub(super) fn value(self) -> Bson {
        match (self.kind, i32::try_from(self.units)) {
            (PointKind::Date, _) => DateTime::from_millis(self.units).into(),
            (PointKind::Int, Ok(number)) => number.into(),
            _ => self.units.into(),
        }
    }
}

/// The units of a stored value. Other programs may have stored a whole number as another type.
pub(super) fn units(value: RawBsonRef<'_>) -> Option<i64> {
    let point = Point::of(value).map(|point| point.units);
    point.or_else(|| Number::from_raw(value)?.to_i64_truncated())
}

/// The points from one on, and before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Interval {
    pub(super) from: Option<Point>,
    pub(super) to: Option<Point>,
}

impl Interval {
    pub(super) fn new<M: BucketModel>(range: &impl RangeBounds<M::Time>) -> Result<Self> {
        let end = |bound: Bound<&M::Time>, next_of: fn(&Bound<&M::Time>) -> bool| {
            let is_next = next_of(&bound);
            let (Bound::Included(time) | Bound::Excluded(time)) = bound else {
                return Ok(None);
            };
            let value = M::encode_time(time)?;
            let raw = bson::RawBson::try_from(value).map_err(Error::encode)?;
            let Some(point) = Point::of(raw.as_raw_bson_ref()) else {
                let message = "the end of a range is stored as neither a date nor a whole number";
                return Err(Error::usage(message));
            };
            let units = point.units.checked_add(is_next.into());
            // No point is behind the largest one.
            Ok(units.map(|units| Point { units, ..point }))
        };
        let named = |error: Error| error.with_model(M::model().name);
        let from = end(range.start_bound(), |bound| {
            matches!(bound, Bound::Excluded(_))
        });
        let to = end(range.end_bound(), |bound| {
            matches!(bound, Bound::Included(_))
        });
        Ok(Self {
            from: from.map_err(named)?,
            to: to.map_err(named)?,
        })
    }

    /// Whether it has every point.
    pub(super) fn is_all(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Whether an item at this point is in it. An item without a point is in that of all points only.
    pub(super) fn has(&self, units: Option<i64>) -> bool {
        let Some(units) = units else {
            return self.is_all();
        };
        self.from.is_none_or(|from| units >= from.units)
            && self.to.is_none_or(|to| units < to.units)
    }

    /// The condition on the start of buckets that may have items in it.
    pub(super) fn starts_overlapping(&self, span: i64) -> Document {
        let mut starts = Document::new();
        if let Some(from) = self.from
            && let Some(units) = from.units.checked_sub(span)
        {
            starts.insert("$gt", Point { units, ..from }.value());
        }
        if let Some(to) = self.to {
            starts.insert("$lt", to.value());
        }
        starts
    }

    /// Expressions that are true of a bucket whose span is in the interval as a whole.
    pub(super) fn contains_span(&self, start: &str, span: i64) -> Vec<Bson> {
        let start = format!("${start}");
        let mut all = Vec::new();
        if let Some(from) = self.from {
            all.push(doc! {"$gte": [&start, from.value()]}.into());
        }
        if let Some(to) = self.to {
            let last = to.units.checked_sub(span);
            all.push(match last {
                Some(units) => doc! {"$lte": [&start, Point { units, ..to }.value()]}.into(),
                None => false.into(),
            });
        }
        all
    }

    /// The operators that an item in the interval meets.
    pub(super) fn operators(&self) -> Document {
        let mut operators = Document::new();
        if let Some(from) = self.from {
            operators.insert("$gte", from.value());
        }
        if let Some(to) = self.to {
            operators.insert("$lt", to.value());
        }
        operators
    }
}
