//! The date operators, in UTC, at an offset or in a named time zone.

mod format;
mod parts;
mod units;
mod zone;

use bson::raw::RawBsonRef;

use crate::error::ServerError;
use crate::expression::calendar;
use crate::expression::operator::{Args, Operator, Outcome, Shape, null, owned, refuse, row};
use crate::expression::text;

use self::zone::Zone;

const PART: Shape = Shape::Named(&[("date", true), ("timezone", false)]);
const ADD: Shape = Shape::Named(&[
    ("startDate", true),
    ("unit", true),
    ("amount", true),
    ("timezone", false),
]);

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$dateAdd", ADD, |args| units::add(args, 1)),
    row(
        "$dateDiff",
        Shape::Named(&[
            ("startDate", true),
            ("endDate", true),
            ("unit", true),
            ("timezone", false),
            ("startOfWeek", false),
        ]),
        units::difference,
    ),
    row(
        "$dateFromParts",
        Shape::Named(parts::NAMES),
        parts::from_parts,
    ),
    row(
        "$dateFromString",
        Shape::Named(&[
            ("dateString", true),
            ("format", false),
            ("timezone", false),
            ("onNull", false),
            ("onError", false),
        ]),
        format::from_string,
    ),
    row("$dateSubtract", ADD, |args| units::add(args, -1)),
    row(
        "$dateToParts",
        Shape::Named(&[("date", true), ("timezone", false), ("iso8601", false)]),
        parts::to_parts,
    ),
    row(
        "$dateToString",
        Shape::Named(&[
            ("date", true),
            ("format", false),
            ("timezone", false),
            ("onNull", false),
        ]),
        format::to_string,
    ),
    row(
        "$dateTrunc",
        Shape::Named(&[
            ("date", true),
            ("unit", true),
            ("binSize", false),
            ("timezone", false),
            ("startOfWeek", false),
        ]),
        units::truncate,
    ),
    row("$dayOfMonth", PART, |args| {
        part(args, |at| calendar::parts(at).day)
    }),
    row("$dayOfWeek", PART, |args| part(args, calendar::day_of_week)),
    row("$dayOfYear", PART, |args| part(args, calendar::day_of_year)),
    row("$hour", PART, |args| {
        part(args, |at| calendar::parts(at).hour)
    }),
    row("$isoDayOfWeek", PART, |args| {
        part(args, |at| (calendar::day_of_week(at) + 5) % 7 + 1)
    }),
    row("$isoWeek", PART, |args| {
        part(args, |at| calendar::iso_week(at).0)
    }),
    row("$isoWeekYear", PART, |args| {
        let year = part(args, |at| calendar::iso_week(at).1)?;
        match year.get() {
            Some(RawBsonRef::Int32(year)) => owned(i64::from(year)),
            _ => Ok(year),
        }
    }),
    row("$millisecond", PART, |args| {
        part(args, |at| calendar::parts(at).millisecond)
    }),
    row("$minute", PART, |args| {
        part(args, |at| calendar::parts(at).minute)
    }),
    row("$month", PART, |args| {
        part(args, |at| calendar::parts(at).month)
    }),
    row("$second", PART, |args| {
        part(args, |at| calendar::parts(at).second)
    }),
    row("$week", PART, |args| part(args, week)),
    row("$year", PART, |args| {
        part(args, |at| calendar::parts(at).year)
    }),
];

/// The instant of a date, a timestamp or an `ObjectId`.
fn instant(value: RawBsonRef<'_>) -> Result<i64, ServerError> {
    match value {
        RawBsonRef::DateTime(date) => Ok(date.timestamp_millis()),
        RawBsonRef::Timestamp(at) => Ok(i64::from(at.time) * 1000),
        RawBsonRef::ObjectId(id) => Ok(id.timestamp().timestamp_millis()),
        other => refuse(
            16006,
            format!(
                "can't convert from BSON type {} to Date",
                text::type_name(Some(other))
            ),
        ),
    }
}

/// The instant of an argument, for operators whose errors name the argument.
fn named_instant(args: &Args<'_>, index: usize, name: &str, code: i32) -> Result<i64, ServerError> {
    instant(args.or_null(index)).or_else(|_| {
        refuse(
            code,
            format!(
                "{} requires '{name}' to be a date, but got {}",
                args.operator,
                args.type_name(index)
            ),
        )
    })
}

fn part<'a>(args: &Args<'a>, of: fn(i64) -> i64) -> Outcome<'a> {
    if args.is_nullish(0) {
        return null();
    }
    let utc = instant(args.or_null(0))?;
    let Some(zone) = Zone::of(args, 1)? else {
        return null();
    };
    let at = zone.local(utc);
    owned(i32::try_from(of(at)).unwrap_or_default())
}

/// Weeks start on Sunday; the days before the first Sunday are week 0.
fn week(at: i64) -> i64 {
    (calendar::day_of_year(at) + 7 - calendar::day_of_week(at)) / 7
}
