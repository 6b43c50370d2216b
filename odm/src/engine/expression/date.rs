//! Dates, in UTC or at a fixed offset; zones by name are refused.

use bson::DateTime;
use bson::raw::RawBsonRef;

use crate::engine::expression::calendar::{self, Parts};
use crate::engine::expression::operator::{
    Args, Operator, Outcome, Shape, integral, null, owned, refuse, row,
};
use crate::engine::expression::text;
use crate::error::{Code, ServerError};

const PART: Shape = Shape::Named(&[("date", true), ("timezone", false)]);
const ADD: Shape = Shape::Named(&[
    ("startDate", true),
    ("unit", true),
    ("amount", true),
    ("timezone", false),
]);

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$dateAdd", ADD, |args| add(args, 1)),
    row(
        "$dateDiff",
        Shape::Named(&[
            ("startDate", true),
            ("endDate", true),
            ("unit", true),
            ("timezone", false),
            ("startOfWeek", false),
        ]),
        difference,
    ),
    row("$dateSubtract", ADD, |args| add(args, -1)),
    row(
        "$dateToString",
        Shape::Named(&[
            ("date", true),
            ("format", false),
            ("timezone", false),
            ("onNull", false),
        ]),
        to_string,
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
        truncate,
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

/// The instant that a value stands for.
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

/// The instant of an argument that the server names in its refusal.
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

/// The offset in milliseconds of the time zone argument; `None` for null.
fn zone(args: &Args<'_>, index: usize) -> Result<Option<i64>, ServerError> {
    if !args.given(index) {
        return Ok(Some(0));
    }
    match args.get(index) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Ok(None),
        Some(RawBsonRef::String(name)) => {
            let minutes = match name {
                "UTC" | "GMT" | "Etc/UTC" => Some(0),
                name if name.starts_with(['+', '-']) => calendar::zone_minutes(name),
                _ => None,
            };
            match minutes {
                Some(minutes) => Ok(Some(minutes * 60_000)),
                None => Err(ServerError::new(
                    Code::COMMAND_NOT_SUPPORTED,
                    format!(
                        "the time zone \"{name}\" is not supported by the in-memory engine: only UTC and offsets are"
                    ),
                )),
            }
        }
        Some(_) if args.values.len() == 2 => refuse(
            40533,
            format!(
                "{} requires a string for the timezone argument, but was given a {} ({})",
                args.operator,
                args.type_name(index),
                text::computed(args.or_null(index))
            ),
        ),
        Some(_) => refuse(
            40517,
            format!(
                "timezone must evaluate to a string, found {}",
                args.type_name(index)
            ),
        ),
    }
}

fn part<'a>(args: &Args<'a>, of: fn(i64) -> i64) -> Outcome<'a> {
    let Some(offset) = zone(args, 1)? else {
        return null();
    };
    if args.is_nullish(0) {
        return null();
    }
    let at = instant(args.or_null(0))?.saturating_add(offset);
    owned(i32::try_from(of(at)).unwrap_or_default())
}

/// Weeks start on Sunday; the days before the first Sunday are week 0.
fn week(at: i64) -> i64 {
    (calendar::day_of_year(at) + 7 - calendar::day_of_week(at)) / 7
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Year,
    Quarter,
    Month,
    /// A fixed number of milliseconds.
    Fixed(i64),
    Week,
}

fn unit(args: &Args<'_>, index: usize) -> Result<Unit, ServerError> {
    let RawBsonRef::String(name) = args.or_null(index) else {
        if matches!(args.operator, "$dateAdd" | "$dateSubtract") {
            return refuse(
                5_166_404,
                format!("{} expects string defining the time unit", args.operator),
            );
        }
        return refuse(
            5_439_013,
            format!(
                "{} requires 'unit' to be a string, but got {}",
                args.operator,
                args.type_name(index)
            ),
        );
    };
    Ok(match name {
        "year" => Unit::Year,
        "quarter" => Unit::Quarter,
        "month" => Unit::Month,
        "week" => Unit::Week,
        "day" => Unit::Fixed(86_400_000),
        "hour" => Unit::Fixed(3_600_000),
        "minute" => Unit::Fixed(60_000),
        "second" => Unit::Fixed(1_000),
        "millisecond" => Unit::Fixed(1),
        other => {
            if matches!(args.operator, "$dateAdd" | "$dateSubtract") {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!("unknown time unit value: {other}"),
                ));
            }
            return refuse(
                5_439_014,
                format!(
                    "{} parameter 'unit' value cannot be recognized as a time unit: {other}",
                    args.operator
                ),
            );
        }
    })
}

fn add<'a>(args: &Args<'a>, sign: i64) -> Outcome<'a> {
    let Some(offset) = zone(args, 3)? else {
        return null();
    };
    if args.is_nullish(0) || args.is_nullish(1) || args.is_nullish(2) {
        return null();
    }
    let start = match args.or_null(0) {
        value @ (RawBsonRef::DateTime(_) | RawBsonRef::Timestamp(_) | RawBsonRef::ObjectId(_)) => {
            instant(value)?
        }
        _ => {
            return refuse(
                5_166_403,
                format!(
                    "{} requires startDate to be convertible to a date",
                    args.operator
                ),
            );
        }
    };
    let unit = unit(args, 1)?;
    let Some(amount) = integral(args.or_null(2)) else {
        return refuse(
            5_166_405,
            format!("{} expects integer amount of time units", args.operator),
        );
    };
    let moved = amount
        .checked_mul(sign)
        .and_then(|amount| moved(start.checked_add(offset)?, unit, amount))
        .and_then(|moved| moved.checked_sub(offset));
    match moved {
        Some(moved) => owned(DateTime::from_millis(moved)),
        None => refuse(5_166_406, format!("{} overflowed", args.operator)),
    }
}

fn moved(start: i64, unit: Unit, amount: i64) -> Option<i64> {
    let months = match unit {
        Unit::Fixed(millis) => return start.checked_add(amount.checked_mul(millis)?),
        Unit::Week => return start.checked_add(amount.checked_mul(7 * 86_400_000)?),
        Unit::Month => amount,
        Unit::Quarter => amount.checked_mul(3)?,
        Unit::Year => amount.checked_mul(12)?,
    };
    let at = calendar::parts(start);
    let month = at
        .year
        .checked_mul(12)?
        .checked_add(at.month - 1)?
        .checked_add(months)?;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let day = at.day.min(calendar::days_in_month(year, month));
    calendar::millis(Parts {
        year,
        month,
        day,
        ..at
    })
}

/// Which unit since the epoch an instant falls in.
fn ordinal(at: i64, unit: Unit, week_start: i64) -> i64 {
    let parts = calendar::parts(at);
    match unit {
        Unit::Year => parts.year,
        Unit::Quarter => parts.year * 4 + (parts.month - 1) / 3,
        Unit::Month => parts.year * 12 + parts.month - 1,
        // 1970-01-01 was a Thursday, day 5 from a Sunday that is 1.
        Unit::Week => (at.div_euclid(86_400_000) + 5 - week_start).div_euclid(7),
        Unit::Fixed(millis) => at.div_euclid(millis),
    }
}

/// Sunday is 1.
fn week_start(args: &Args<'_>, index: usize) -> Result<i64, ServerError> {
    const DAYS: [&str; 7] = [
        "sunday",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
    ];
    if !args.given(index) {
        return Ok(1);
    }
    let RawBsonRef::String(name) = args.or_null(index) else {
        return refuse(
            5_439_015,
            format!(
                "{} requires 'startOfWeek' to be a string, but got {}",
                args.operator,
                args.type_name(index)
            ),
        );
    };
    let name = name.to_ascii_lowercase();
    match DAYS
        .iter()
        .zip(1..)
        .find(|(day, _)| **day == name || day.get(..3) == Some(&name))
    {
        Some((_, number)) => Ok(number),
        None => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!(
                "{} parameter 'startOfWeek' value cannot be recognized as a day of a week: {name}",
                args.operator
            ),
        )),
    }
}

fn difference<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(offset) = zone(args, 3)? else {
        return null();
    };
    if args.is_nullish(0) || args.is_nullish(1) || args.is_nullish(2) {
        return null();
    }
    let unit = unit(args, 2)?;
    let start_of_week = week_start(args, 4)?;
    let start = named_instant(args, 0, "startDate", 5_166_307)?.saturating_add(offset);
    let end = named_instant(args, 1, "endDate", 5_166_307)?.saturating_add(offset);
    owned(ordinal(end, unit, start_of_week) - ordinal(start, unit, start_of_week))
}

fn truncate<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(offset) = zone(args, 3)? else {
        return null();
    };
    if args.is_nullish(0) || args.is_nullish(1) {
        return null();
    }
    if args.given(2) && integral(args.or_null(2)) != Some(1) {
        return Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            "$dateTrunc with a binSize other than 1 is not supported by the in-memory engine",
        ));
    }
    let unit = unit(args, 1)?;
    let start_of_week = week_start(args, 4)?;
    let at = named_instant(args, 0, "date", 5_439_012)?.saturating_add(offset);
    let parts = calendar::parts(at);
    let month = |month| {
        calendar::millis(Parts {
            month,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            millisecond: 0,
            ..parts
        })
    };
    let start = match unit {
        Unit::Year => month(1),
        Unit::Quarter => month((parts.month - 1) / 3 * 3 + 1),
        Unit::Month => month(parts.month),
        Unit::Week => {
            (ordinal(at, unit, start_of_week) * 7 - 5 + start_of_week).checked_mul(86_400_000)
        }
        Unit::Fixed(millis) => at.div_euclid(millis).checked_mul(millis),
    };
    let Some(start) = start else {
        return match unit {
            Unit::Fixed(..86_400_000) => refuse(5_439_000, "dateTrunc overflowed"),
            _ => refuse(5_166_406, "dateAdd overflowed"),
        };
    };
    owned(DateTime::from_millis(start.saturating_sub(offset)))
}

fn to_string<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let format = match args.get(1) {
        _ if !args.given(1) => "%Y-%m-%dT%H:%M:%S.%LZ".to_owned(),
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return null(),
        Some(RawBsonRef::String(format)) => format.to_owned(),
        Some(_) => {
            return refuse(
                18533,
                format!(
                    "$dateToString requires that 'format' be a string, found: {} with value {}",
                    args.type_name(1),
                    text::computed(args.or_null(1))
                ),
            );
        }
    };
    let Some(offset) = zone(args, 2)? else {
        return null();
    };
    if args.is_nullish(0) {
        return if args.given(3) {
            Ok(args.take(3))
        } else {
            null()
        };
    }
    let at = instant(args.or_null(0))?.saturating_add(offset);
    owned(formatted(&format, at, offset)?)
}

fn formatted(format: &str, at: i64, offset: i64) -> Result<String, ServerError> {
    use std::fmt::Write as _;
    let p = calendar::parts(at);
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        // Writing to a String cannot fail.
        let _ = match characters.next() {
            Some('Y') => write!(out, "{:04}", p.year),
            Some('m') => write!(out, "{:02}", p.month),
            Some('d') => write!(out, "{:02}", p.day),
            Some('H') => write!(out, "{:02}", p.hour),
            Some('M') => write!(out, "{:02}", p.minute),
            Some('S') => write!(out, "{:02}", p.second),
            Some('L') => write!(out, "{:03}", p.millisecond),
            Some('j') => write!(out, "{:03}", calendar::day_of_year(at)),
            Some('w') => write!(out, "{}", calendar::day_of_week(at)),
            Some('u') => write!(out, "{}", (calendar::day_of_week(at) + 5) % 7 + 1),
            Some('U') => write!(out, "{:02}", week(at)),
            Some('V') => write!(out, "{:02}", calendar::iso_week(at).0),
            Some('G') => write!(out, "{:04}", calendar::iso_week(at).1),
            Some('z') => {
                let minutes = offset.abs() / 60_000;
                write!(
                    out,
                    "{}{:02}{:02}",
                    if offset < 0 { '-' } else { '+' },
                    minutes / 60,
                    minutes % 60
                )
            }
            Some('Z') => write!(out, "{}", offset / 60_000),
            Some('%') => write!(out, "%"),
            Some(other) => {
                return refuse(
                    18536,
                    format!("Invalid format character '%{other}' in format string"),
                );
            }
            None => return refuse(18535, "Unmatched '%' at end of format string"),
        };
    }
    Ok(out)
}
