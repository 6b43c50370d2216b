//! Arithmetic with units of time: `$dateAdd $dateSubtract $dateDiff $dateTrunc`.
//!
//! Days and longer units follow the calendar in the time zone; shorter units are fixed numbers of milliseconds.

use bson::DateTime;
use bson::raw::RawBsonRef;

use crate::error::{Code, ServerError, refuse};
use crate::expression::calendar::{self, Parts};
use crate::expression::compat::messages;
use crate::expression::date::zone::Zone;
use crate::expression::date::{instant, named_instant};
use crate::expression::operator::{Args, Outcome, integral, null, owned};

const DAY: i64 = 86_400_000;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Year,
    Quarter,
    Month,
    /// A fixed number of milliseconds.
    Fixed(i64),
    Week,
}

impl Unit {
    /// The unit of this name; `None` if the name is unknown.
    pub fn new(name: &str) -> Option<Self> {
        Some(match name {
            "year" => Self::Year,
            "quarter" => Self::Quarter,
            "month" => Self::Month,
            "week" => Self::Week,
            "day" => Self::Fixed(86_400_000),
            "hour" => Self::Fixed(3_600_000),
            "minute" => Self::Fixed(60_000),
            "second" => Self::Fixed(1_000),
            "millisecond" => Self::Fixed(1),
            _ => return None,
        })
    }

    /// Like [`Self::new`], with mongod's error for an unknown name.
    pub fn parse(name: &str) -> Result<Self, ServerError> {
        Self::new(name).ok_or_else(|| {
            ServerError::new(
                Code::FAILED_TO_PARSE,
                format!("unknown time unit value: {name}"),
            )
        })
    }

    /// The length in milliseconds; `None` if the calendar decides it.
    pub fn millis(self) -> Option<i64> {
        match self {
            Self::Fixed(millis) => Some(millis),
            Self::Week => Some(7 * DAY),
            Self::Month | Self::Quarter | Self::Year => None,
        }
    }
}

fn unit<'v>(args: &'v Args<'_>, index: usize) -> Result<(Unit, &'v str), ServerError> {
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
    let unit = match Unit::new(name) {
        Some(unit) => unit,
        None if matches!(args.operator, "$dateAdd" | "$dateSubtract") => Unit::parse(name)?,
        None => {
            return refuse(
                5_439_014,
                format!(
                    "{} parameter 'unit' value cannot be recognized as a time unit: {name}",
                    args.operator
                ),
            );
        }
    };
    Ok((unit, name))
}

pub(super) fn add<'a>(args: &Args<'a>, sign: i64) -> Outcome<'a> {
    if args.is_nullish(0) || args.is_nullish(1) || args.is_nullish(2) {
        return null();
    }
    let Some(zone) = Zone::of(args, 3)? else {
        return null();
    };
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
    let (unit, name) = unit(args, 1)?;
    let Some(amount) = integral(args.or_null(2)) else {
        return refuse(
            5_166_405,
            format!("{} expects integer amount of time units", args.operator),
        );
    };
    if sign < 0 && amount == i64::MIN {
        return refuse(
            6_045_000,
            format!("invalid $dateSubtract 'amount' parameter value: {amount}"),
        );
    }
    let moved = added(start, (unit, name), (amount, sign), &zone)?;
    owned(DateTime::from_millis(moved))
}

/// The instant this many units later, in UTC.
pub fn add_units(start: i64, unit: (Unit, &str), amount: i64) -> Result<i64, ServerError> {
    added(start, unit, (amount, 1), &Zone::Fixed(0))
}

/// The instant this many units later, or earlier if the sign is negative.
fn added(
    start: i64,
    (unit, name): (Unit, &str),
    (amount, sign): (i64, i64),
    zone: &Zone,
) -> Result<i64, ServerError> {
    // Larger amounts overflow 64-bit milliseconds for any date.
    let most = match unit {
        Unit::Year => 584_942_417,
        Unit::Quarter => 584_942_417 * 4,
        Unit::Month => 584_942_417 * 12,
        Unit::Week => i64::MAX / (7 * DAY),
        Unit::Fixed(millis) => i64::MAX / millis,
    };
    if amount.unsigned_abs() > most.unsigned_abs() && unit != Unit::Fixed(1) {
        return refuse(
            5_976_500,
            format!(
                "invalid dateAdd 'amount' parameter value: {} {name}",
                i128::from(amount) * i128::from(sign)
            ),
        );
    }
    if unit == Unit::Fixed(1) {
        return moved_by(start, amount * sign);
    }
    let moved = amount.checked_mul(sign).and_then(|amount| match unit {
        Unit::Fixed(millis) if millis < DAY => start.checked_add(amount.checked_mul(millis)?),
        _ => zone.utc_beside(start, moved(zone.local(start), unit, amount)?),
    });
    // Before 1970, for a time within a second, mongod's result is one second too early.
    let is_split = start < 0 && start % 1_000 != 0 && unit != Unit::Fixed(1);
    let moved = moved.and_then(|moved| moved.checked_sub(if is_split { 1_000 } else { 0 }));
    moved.map_or_else(|| refuse(5_166_406, "dateAdd overflowed"), Ok)
}

/// The date this many milliseconds later.
fn moved_by(start: i64, millis: i64) -> Result<i64, ServerError> {
    start.checked_add(millis).ok_or_else(|| {
        ServerError::new(
            Code::DURATION_OVERFLOW,
            format!(
                "Overflow while adding {millis}ms to {}ms",
                start.wrapping_add(millis)
            ),
        )
    })
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

/// The number of the unit, counted from the epoch, that an instant falls into.
fn ordinal(at: i64, unit: Unit, week_start: i64) -> i64 {
    let parts = calendar::parts(at);
    match unit {
        Unit::Year => parts.year,
        Unit::Quarter => parts.year * 4 + (parts.month - 1) / 3,
        Unit::Month => parts.year * 12 + parts.month - 1,
        // 1970-01-01 was a Thursday: day 5 if Sunday is 1.
        Unit::Week => (at.div_euclid(86_400_000) + 5 - week_start).div_euclid(7),
        Unit::Fixed(millis) => at.div_euclid(millis),
    }
}

/// Whether the unit is a week and a written `startOfWeek` is null; other units ignore it.
fn lacks_week_start(args: &Args<'_>, unit: usize, start: usize) -> bool {
    args.is_present(start)
        && args.is_nullish(start)
        && matches!(args.or_null(unit), RawBsonRef::String("week"))
}

/// The first day of the week; Sunday is 1.
fn week_start(args: &Args<'_>, index: usize, unit: Unit) -> Result<i64, ServerError> {
    if !args.is_present(index) || unit != Unit::Week {
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
    match calendar::WEEKDAYS
        .iter()
        .zip(1..)
        .find(|(day, _)| **day == name || day.get(..3) == Some(&name))
    {
        Some((_, number)) => Ok(number),
        None => refuse(
            5_439_016,
            format!(
                "{} parameter 'startOfWeek' value cannot be recognized as a day of a week: {name}",
                args.operator
            ),
        ),
    }
}

/// The zone, for operators whose errors name the argument.
fn named_zone(args: &Args<'_>) -> Result<Option<Zone>, ServerError> {
    Zone::of(args, 3).map_err(|error| {
        error.within(&format!(
            "{} parameter 'timezone' value parsing failed",
            args.operator
        ))
    })
}

pub(super) fn difference<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0)
        || args.is_nullish(1)
        || args.is_nullish(2)
        || lacks_week_start(args, 2, 4)
    {
        return null();
    }
    let Some(zone) = named_zone(args)? else {
        return null();
    };
    let start = named_instant(args, 0, "startDate", 5_166_307)?;
    let end = named_instant(args, 1, "endDate", 5_166_307)?;
    let (unit, _) = unit(args, 2)?;
    let start_of_week = week_start(args, 4, unit)?;
    let difference = match unit {
        Unit::Fixed(millis) if millis < DAY => {
            // The difference in local time, without the whole units by which the offset changed.
            let clock = |at: i64| zone.local(at).div_euclid(millis);
            let set = (zone.offset(end) - zone.offset(start)) / millis;
            clock(end)
                .checked_sub(clock(start))
                .map(|apart| apart - set)
        }
        _ => ordinal(zone.local(end), unit, start_of_week).checked_sub(ordinal(
            zone.local(start),
            unit,
            start_of_week,
        )),
    };
    match difference {
        Some(difference) => owned(difference),
        None => refuse(5_166_308, "dateDiff overflowed"),
    }
}

/// Saturday, 1 January 2000, where bins start.
const REFERENCE: i64 = 946_684_800_000;

pub(super) fn truncate<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.is_nullish(0)
        || args.is_nullish(1)
        || args.is_present(2) && args.is_nullish(2)
        || lacks_week_start(args, 1, 4)
    {
        return null();
    }
    let Some(zone) = named_zone(args)? else {
        return null();
    };
    let at = named_instant(args, 0, "date", 5_439_012)?;
    let (unit, _) = unit(args, 1)?;
    let size = bin_size(args, unit)?;
    let start_of_week = week_start(args, 4, unit)?;
    let start = if let Unit::Fixed(..DAY) = unit {
        truncated(at, zone.utc(REFERENCE).unwrap_or(REFERENCE), size)
    } else {
        local_start(zone.local(at), unit, size, start_of_week).and_then(|start| zone.utc(start))
    };
    match start {
        Some(start) => owned(DateTime::from_millis(start)),
        None => match unit {
            Unit::Fixed(..DAY) => refuse(5_439_000, "dateTrunc overflowed"),
            _ => refuse(5_166_406, "dateAdd overflowed"),
        },
    }
}

/// The largest `binSize` for days and longer units.
const LARGEST: i64 = 100_000_000_000;

/// The size of a bin: in milliseconds for weeks and shorter units, otherwise in months.
fn bin_size(args: &Args<'_>, unit: Unit) -> Result<i64, ServerError> {
    let value = args.or_null(2);
    let size = if args.is_present(2) {
        match integral(value) {
            Some(size) if size > 0 => size,
            Some(size) => {
                return refuse(
                    5_439_018,
                    format!(
                        "$dateTrunc requires 'binSize' to be greater than 0, but got value {size}"
                    ),
                );
            }
            None => {
                return refuse(
                    5_439_017,
                    format!(
                        "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '{}' of type {}",
                        messages::computed(value),
                        args.type_name(2)
                    ),
                );
            }
        }
    } else {
        1
    };
    let one = match unit {
        Unit::Fixed(millis) => millis,
        Unit::Week => 7 * DAY,
        Unit::Month => 1,
        Unit::Quarter => 3,
        Unit::Year => 12,
    };
    match (size.checked_mul(one), unit) {
        (Some(whole), Unit::Fixed(..DAY)) => Ok(whole),
        (None, Unit::Fixed(..DAY)) => refuse(5_439_002, "dateTrunc overflowed"),
        (Some(whole), _) if size <= LARGEST => Ok(whole),
        _ => refuse(5_439_006, "dateTrunc unsupported binSize value"),
    }
}

/// The start of the bin that `at` falls into, for bins of this size that start at `from`.
fn truncated(at: i64, from: i64, size: i64) -> Option<i64> {
    at.checked_sub(from)?
        .div_euclid(size)
        .checked_mul(size)?
        .checked_add(from)
}

fn local_start(at: i64, unit: Unit, size: i64, start_of_week: i64) -> Option<i64> {
    match unit {
        Unit::Fixed(_) => truncated(at, REFERENCE, size),
        Unit::Week => {
            // 1 January 2000 was a Saturday, 7 if Sunday is 1: weeks count from the first that starts on that day or
            // later.
            let from = REFERENCE + (start_of_week - 7).rem_euclid(7) * DAY;
            truncated(at, from, size)
        }
        Unit::Month | Unit::Quarter | Unit::Year => {
            let parts = calendar::parts(at);
            let months = truncated(parts.year * 12 + parts.month - 1, 2000 * 12, size)?;
            calendar::millis(Parts {
                year: months.div_euclid(12),
                month: months.rem_euclid(12) + 1,
                day: 1,
                hour: 0,
                minute: 0,
                second: 0,
                millisecond: 0,
            })
        }
    }
}
