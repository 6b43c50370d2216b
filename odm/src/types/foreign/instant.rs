//! Instants as BSON dates and spans of time as integers, without silent rounding.

use bson::DateTime;

use super::stored_as::ConversionError;

pub(super) const NANOS_PER_MILLI: i128 = 1_000_000;
#[cfg(feature = "chrono_0_4")]
pub(super) const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// The date of an instant, from the nanoseconds since 1970. A fraction of a millisecond is refused, or rounded down to the
/// earlier millisecond, so that a later instant is never an earlier date.
pub(super) fn date<const TRUNCATES: bool>(
    nanos: i128,
    with: &str,
) -> Result<DateTime, ConversionError> {
    if !TRUNCATES && nanos % NANOS_PER_MILLI != 0 {
        return Err(ConversionError::new(format!(
            "the time has a fraction of a millisecond, which a date does not keep: round it first, or declare the field \
             `#[serde(with = \"odm::{with}::truncated\")]`"
        )));
    }
    i64::try_from(nanos.div_euclid(NANOS_PER_MILLI))
        .map(DateTime::from_millis)
        .map_err(|_| ConversionError::new("the time is out of the range of dates"))
}

/// The error for a date that a type can't hold.
pub(super) fn out_of_range(date: DateTime, of: &str) -> ConversionError {
    ConversionError::new(format!(
        "the date, {} ms after 1970, is out of the range of `{of}`",
        date.timestamp_millis()
    ))
}

/// A span of time as a number of units of this many nanoseconds. What is less than a unit is refused, or dropped.
pub(super) fn span<const UNIT: u32, const TRUNCATES: bool>(
    nanos: i128,
) -> Result<i64, ConversionError> {
    let unit = i128::from(UNIT);
    if !TRUNCATES && nanos % unit != 0 {
        return Err(ConversionError::new(format!(
            "the duration has a fraction of a {}: round it first, or declare the field with a smaller unit \
             (`#[serde(with = \"odm::duration::nanos\")]`) or as truncated (`#[serde(with = \"odm::duration::truncated\")]`)",
            unit_name(UNIT)
        )));
    }
    i64::try_from(nanos / unit).map_err(|_| {
        ConversionError::new(format!(
            "the duration has more {}s than 64 bits hold",
            unit_name(UNIT)
        ))
    })
}

fn unit_name(unit: u32) -> &'static str {
    match unit {
        1 => "nanosecond",
        1_000 => "microsecond",
        1_000_000 => "millisecond",
        _ => "second",
    }
}
