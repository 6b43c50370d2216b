//! Dates from their parts and back: `$dateFromParts $dateToParts`.

use bson::DateTime;
use bson::raw::{RawBsonRef, RawDocumentBuf};

use crate::error::{Code, ServerError, refuse};
use crate::expression::calendar;
use crate::expression::compat::messages;
use crate::expression::date::instant;
use crate::expression::date::zone::Zone;
use crate::expression::operator::{Args, Outcome, integral, null, owned};
use crate::value::raw::append;

/// The arguments of `$dateFromParts`. Each part of the date stands before its ISO 8601 counterpart.
pub(super) const NAMES: &[&str] = &[
    "year",
    "isoWeekYear",
    "month",
    "isoWeek",
    "day",
    "isoDayOfWeek",
    "hour",
    "minute",
    "second",
    "millisecond",
    "timezone",
];

/// Checks that the parts belong to one calendar: year, month and day, or those of ISO 8601.
pub(super) fn one_calendar(given: &dyn Fn(&str) -> bool) -> Result<(), ServerError> {
    let has_iso = given("isoWeekYear");
    match (given("year"), has_iso) {
        (false, false) => refuse(
            40516,
            "$dateFromParts requires either 'year' or 'isoWeekYear' to be present",
        ),
        (true, _) if has_iso || given("isoWeek") || given("isoDayOfWeek") => refuse(
            40489,
            "$dateFromParts does not allow mixing natural dates with ISO dates",
        ),
        (false, true) if given("month") || given("day") => refuse(
            40525,
            "$dateFromParts does not allow mixing ISO dates with natural dates",
        ),
        _ => Ok(()),
    }
}

/// mongod's range for parts that carry over.
const RANGE: std::ops::RangeInclusive<i64> = -32_768..=32_767;

pub(super) fn from_parts<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    // mongod checks the time of day first, then the zone, then the day.
    let Some(hour) = carried(args, 6, 0)? else {
        return null();
    };
    let Some(minute) = carried(args, 7, 0)? else {
        return null();
    };
    let Some(second) = part(args, 8)? else {
        return null();
    };
    let Some(millisecond) = part(args, 9)? else {
        return null();
    };
    let Some(zone) = Zone::of(args, 10)? else {
        return null();
    };
    let is_iso = args.is_present(1);
    let first = usize::from(is_iso);
    let Some(year) = number(args, first)? else {
        return null();
    };
    let Some(month) = carried(args, 2 + first, 1)? else {
        return null();
    };
    let Some(day) = carried(args, 4 + first, 1)? else {
        return null();
    };
    // mongod checks the range of the year after the parts that follow it.
    if !(1..=9999).contains(&year) {
        let name = NAMES.get(first).copied().unwrap_or_default();
        return refuse(
            if is_iso { 31095 } else { 40523 },
            format!("'{name}' must evaluate to an integer in the range 1 to 9999, found {year}"),
        );
    }
    let midnight = if is_iso {
        calendar::iso_day(year, month, day)
    } else {
        calendar::midnight(year, month, day)
    };
    let local = midnight.and_then(|midnight| {
        let minutes = hour.checked_mul(60)?.checked_add(minute)?;
        let seconds = minutes.checked_mul(60)?.checked_add(second)?;
        let millis = i128::from(midnight)
            + i128::from(seconds) * 1_000
            + i128::from(in_microseconds(millisecond)?);
        i64::try_from(millis).ok()
    });
    match local.and_then(|local| zone.utc(local)) {
        Some(at) => owned(DateTime::from_millis(at)),
        None => Err(ServerError::new(
            Code::DURATION_OVERFLOW,
            "Overflow casting from a lower-precision duration to a higher-precision duration",
        )),
    }
}

/// Returns the milliseconds unless they overflow as microseconds, which mongod converts them to.
fn in_microseconds(milliseconds: i64) -> Option<i64> {
    milliseconds.checked_mul(1_000).and(Some(milliseconds))
}

/// An optional part, 0 by default; `None` for null.
fn part(args: &Args<'_>, index: usize) -> Result<Option<i64>, ServerError> {
    if args.is_present(index) {
        number(args, index)
    } else {
        Ok(Some(0))
    }
}

fn number(args: &Args<'_>, index: usize) -> Result<Option<i64>, ServerError> {
    if args.is_nullish(index) {
        return Ok(None);
    }
    let name = NAMES.get(index).copied().unwrap_or_default();
    let value = args.or_null(index);
    match integral(value) {
        Some(number) => Ok(Some(number)),
        None => refuse(
            40515,
            format!(
                "'{name}' must evaluate to an integer, found {} with value {}",
                args.type_name(index),
                messages::computed(value)
            ),
        ),
    }
}

/// A part that has to be within [`RANGE`].
fn carried(args: &Args<'_>, index: usize, otherwise: i64) -> Result<Option<i64>, ServerError> {
    if !args.is_present(index) {
        return Ok(Some(otherwise));
    }
    match number(args, index)? {
        Some(number) if !RANGE.contains(&number) => {
            let name = NAMES.get(index).copied().unwrap_or_default();
            refuse(
                31034,
                format!(
                    "'{name}' must evaluate to a value in the range [-32768, 32767]; value {number} is not in range"
                ),
            )
        }
        number => Ok(number),
    }
}

pub(super) fn to_parts<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(zone) = Zone::of(args, 1)? else {
        return null();
    };
    let is_iso = match args.get(2) {
        _ if !args.is_present(2) => false,
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return null(),
        Some(RawBsonRef::Boolean(is_iso)) => is_iso,
        Some(_) => {
            return refuse(
                40521,
                format!(
                    "iso8601 must evaluate to a bool, found {}",
                    args.type_name(2)
                ),
            );
        }
    };
    if args.is_nullish(0) {
        return null();
    }
    let at = zone.local(instant(args.or_null(0))?);
    let parts = calendar::parts(at);
    let mut document = RawDocumentBuf::new();
    let mut put = |name, value: i64| {
        let value = i32::try_from(value).unwrap_or_default();
        append(&mut document, name, RawBsonRef::Int32(value));
    };
    if is_iso {
        let (week, year) = calendar::iso_week(at);
        put("isoWeekYear", year);
        put("isoWeek", week);
        put("isoDayOfWeek", (calendar::day_of_week(at) + 5) % 7 + 1);
    } else {
        put("year", parts.year);
        put("month", parts.month);
        put("day", parts.day);
    }
    put("hour", parts.hour);
    put("minute", parts.minute);
    put("second", parts.second);
    put("millisecond", parts.millisecond);
    owned(document)
}
