//! The date operators, in UTC, at an offset or in a named time zone.

mod format;
mod parts;
pub mod units;
mod zone;

use bson::raw::RawBsonRef;

use crate::error::{ServerError, refuse};
use crate::expression::calendar;
use crate::expression::compat::messages;
use crate::expression::named::{BareArgument, Named, Wording};
use crate::expression::operator::{Args, ArgumentForm, Operator, Outcome, null, owned, row};

use self::zone::Zone;

const PART: ArgumentForm = ArgumentForm::Named(&Named {
    names: &["date", "timezone"],
    required: &[("date", 40539)],
    missing: Wording("missing '<key>' argument to <operator>, provided: <argument>"),
    unknown: (
        40535,
        Wording("unrecognized option to <operator>: \"<key>\""),
    ),
    bare: BareArgument::Only,
    ..Named::DEFAULT
});
const ADD: ArgumentForm = ArgumentForm::Named(&Named {
    names: &["startDate", "unit", "amount", "timezone"],
    required: &[
        ("startDate", 5_166_402),
        ("unit", 5_166_402),
        ("amount", 5_166_402),
    ],
    missing: Wording("<operator> requires startDate, unit, and amount to be present"),
    unknown: (5_166_401, UNRECOGNIZED),
    bare: BareArgument::Refused(5_166_400, NOT_AN_OBJECT),
    ..Named::DEFAULT
});

/// The other operators with more arguments than a date and a time zone.
const FIRST: Named = Named {
    missing: Wording("Missing '<key>' parameter to <operator>"),
    is_checked_first: true,
    ..Named::DEFAULT
};
const UNRECOGNIZED: Wording = Wording("Unrecognized argument to <operator>: <key>");
const NOT_AN_OBJECT: Wording = Wording("<operator> only supports an object as its argument");

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$dateAdd", ADD, |args| units::add(args, 1)),
    row(
        "$dateDiff",
        ArgumentForm::Named(&Named {
            names: &["startDate", "endDate", "unit", "timezone", "startOfWeek"],
            required: &[
                ("startDate", 5_166_303),
                ("endDate", 5_166_304),
                ("unit", 5_166_305),
            ],
            unknown: (5_166_302, UNRECOGNIZED),
            bare: BareArgument::Refused(5_166_301, NOT_AN_OBJECT),
            ..FIRST
        }),
        units::difference,
    ),
    row(
        "$dateFromParts",
        ArgumentForm::Named(&Named {
            names: parts::NAMES,
            unknown: (40518, UNRECOGNIZED),
            bare: BareArgument::Refused(40519, NOT_AN_OBJECT),
            check: Some(parts::one_calendar),
            ..FIRST
        }),
        parts::from_parts,
    ),
    row(
        "$dateFromString",
        ArgumentForm::Named(&Named {
            names: &["dateString", "format", "timezone", "onNull", "onError"],
            required: &[("dateString", 40542)],
            unknown: (40541, UNRECOGNIZED),
            bare: BareArgument::Refused(
                40540,
                Wording("<operator> only supports an object as an argument, found: <type>"),
            ),
            ..FIRST
        }),
        format::from_string,
    ),
    row("$dateSubtract", ADD, |args| units::add(args, -1)),
    row(
        "$dateToParts",
        ArgumentForm::Named(&Named {
            names: &["date", "timezone", "iso8601"],
            required: &[("date", 40522)],
            unknown: (40520, UNRECOGNIZED),
            bare: BareArgument::Refused(40524, NOT_AN_OBJECT),
            ..FIRST
        }),
        parts::to_parts,
    ),
    row(
        "$dateToString",
        ArgumentForm::Named(&Named {
            names: &["date", "format", "timezone", "onNull"],
            required: &[("date", 18628)],
            unknown: (18534, UNRECOGNIZED),
            bare: BareArgument::Refused(18629, NOT_AN_OBJECT),
            ..FIRST
        }),
        format::to_string,
    ),
    row(
        "$dateTrunc",
        ArgumentForm::Named(&Named {
            names: &["date", "unit", "binSize", "timezone", "startOfWeek"],
            required: &[("date", 5_439_009), ("unit", 5_439_010)],
            unknown: (5_439_008, UNRECOGNIZED),
            bare: BareArgument::Refused(5_439_007, NOT_AN_OBJECT),
            ..FIRST
        }),
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
                messages::type_name(Some(other))
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
