//! Converts between dates and text: `$dateToString $dateFromString`.

use bson::DateTime;
use bson::raw::RawBsonRef;

use crate::error::{Code, ServerError, refuse};
use crate::expression::calendar;
use crate::expression::compat::messages;
use crate::expression::date::zone::Zone;
use crate::expression::date::{instant, week};
use crate::expression::free_text::{self, Fault};
use crate::expression::operator::{Args, Outcome, null, owned};
use crate::expression::types::unread_date;

pub(super) fn to_string<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let format = match args.get(1) {
        _ if !args.is_present(1) => Some("%Y-%m-%dT%H:%M:%S.%LZ".to_owned()),
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => None,
        Some(RawBsonRef::String(format)) => {
            // mongod checks the format before the date.
            check_format(format, WRITTEN)?;
            Some(format.to_owned())
        }
        Some(_) => {
            return refuse(
                18533,
                format!(
                    "$dateToString requires that 'format' be a string, found: {} with value {}",
                    args.type_name(1),
                    messages::computed(args.or_null(1))
                ),
            );
        }
    };
    let zone = Zone::of(args, 2)?;
    // A null date takes precedence over a null format or zone.
    if args.is_nullish(0) {
        return if args.is_present(3) {
            Ok(args.take(3))
        } else {
            null()
        };
    }
    let (Some(format), Some(zone)) = (format, zone) else {
        return null();
    };
    let at = instant(args.or_null(0))?;
    owned(formatted(&format, zone.local(at), zone.offset(at))?)
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
            Some('Y') => {
                calendar::check_year(p.year)?;
                write!(out, "{:04}", p.year)
            }
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
            Some('G') => {
                let (_, year) = calendar::iso_week(at);
                calendar::check_year(year)?;
                write!(out, "{year:04}")
            }
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
            // `check_format` refuses all others.
            Some(_) | None => Ok(()),
        };
    }
    Ok(out)
}

pub(super) fn from_string<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let format = match args.get(1) {
        _ if !args.is_present(1) => None,
        // A null date takes precedence over a null format, so this does not decide the result yet.
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => None,
        Some(RawBsonRef::String(format)) => {
            check_format(format, READ)?;
            Some(format)
        }
        Some(_) => {
            return refuse(
                40684,
                format!(
                    "$dateFromString requires that 'format' be a string, found: {} with value {}",
                    args.type_name(1),
                    messages::computed(args.or_null(1))
                ),
            );
        }
    };
    let zone = Zone::of(args, 2)?;
    if args.is_nullish(0) {
        return if args.is_present(3) {
            Ok(args.take(3))
        } else {
            null()
        };
    }
    let Some(zone) = zone.filter(|_| !args.is_present(1) || format.is_some()) else {
        return null();
    };
    let read = match args.get(0) {
        Some(RawBsonRef::String(date)) => match format {
            Some(format) => by_format(date, format),
            None => by_guess(date),
        }
        .and_then(|read| read.instant(&zone, args.is_present(2))),
        _ => Err(unreadable(format!(
            "$dateFromString requires that 'dateString' be a string, found: {} with value {}",
            args.type_name(0),
            messages::computed(args.or_null(0))
        ))),
    };
    match read {
        Ok(at) => owned(DateTime::from_millis(at)),
        Err(error) if error.code() == Code::CONVERSION_FAILURE && args.is_present(4) => {
            Ok(args.take(4))
        }
        Err(error) => Err(error),
    }
}

fn unreadable(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::CONVERSION_FAILURE, message)
}

fn incomplete(date: &str) -> ServerError {
    unreadable(format!(
        "an incomplete date/time string has been found, with elements missing: \"{date}\""
    ))
}

/// A date as read from a text: the local time, and the zone if the text names one.
struct Read<'t> {
    local: i64,
    zone: Option<(&'t str, i64)>,
}

impl Read<'_> {
    fn instant(self, zone: &Zone, is_zone_given: bool) -> Result<i64, ServerError> {
        let overflow = || unreadable("the date is out of range");
        match self.zone {
            Some((name, _)) if is_zone_given => Err(unreadable(format!(
                "you cannot pass in a date/time string with {} together with a timezone argument",
                if name.starts_with(['+', '-']) {
                    "GMT offset".to_owned()
                } else {
                    format!("time zone information ('{name}')")
                }
            ))),
            Some((_, offset)) => self.local.checked_sub(offset).ok_or_else(overflow),
            None => zone.utc(self.local).ok_or_else(overflow),
        }
    }
}

/// Reads a date without a format.
fn by_guess(date: &str) -> Result<Read<'_>, ServerError> {
    let wrong = || unreadable(format!("Error parsing date string '{date}'"));
    let Some(utc) = calendar::parse_iso(date) else {
        let read = free_text::read(date).map_err(|fault| match fault {
            Fault::Incomplete => incomplete(date),
            Fault::Unknown => unread_date(date),
            Fault::Wrong => wrong(),
        })?;
        return Ok(Read {
            local: read.local,
            zone: read.zone,
        });
    };
    let zone = date
        .find(['T', ' '])
        .and_then(|time| date.get(time..)?.find(['Z', '+', '-']).map(|at| time + at))
        .and_then(|at| date.get(at..))
        .filter(|zone| !zone.is_empty());
    let offset = zone
        .map_or(Some(0), calendar::zone_minutes)
        .ok_or_else(wrong)?
        * 60_000;
    Ok(Read {
        local: utc.saturating_add(offset),
        zone: zone.map(|zone| (zone, offset)),
    })
}

/// The parts of a date that a text with a format names.
#[derive(Default)]
struct Named {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    millisecond: Option<i64>,
}

fn by_format<'t>(date: &'t str, format: &str) -> Result<Read<'t>, ServerError> {
    let wrong = || unreadable(format!("Error parsing date string '{date}'"));
    let mut named = Named::default();
    let mut zone = None;
    let mut rest = date;
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            rest = rest.strip_prefix(c).ok_or_else(wrong)?;
            continue;
        }
        let specifier = characters.next();
        let is_fraction = specifier == Some('L');
        let (slot, most) = match specifier {
            Some('Y') => (&mut named.year, 4),
            Some('m') => (&mut named.month, 2),
            Some('d') => (&mut named.day, 2),
            Some('G') => (&mut named.iso_year, 4),
            Some('V') => (&mut named.iso_week, 2),
            Some('u') => (&mut named.iso_day, 1),
            Some('H') => (&mut named.hour, 2),
            Some('M') => (&mut named.minute, 2),
            Some('S') => (&mut named.second, 2),
            Some('L') => (&mut named.millisecond, 3),
            Some(of @ ('z' | 'Z')) => {
                let (text, after) = split_zone(rest).ok_or_else(wrong)?;
                let minutes = if of == 'Z' {
                    text.parse().ok()
                } else {
                    calendar::zone_minutes(text)
                };
                zone = Some((text, minutes.ok_or_else(wrong)? * 60_000));
                rest = after;
                continue;
            }
            _ => {
                rest = rest.strip_prefix('%').ok_or_else(wrong)?;
                continue;
            }
        };
        let digits = rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        let (number, after) = rest.split_at_checked(digits).ok_or_else(wrong)?;
        let number: i64 = number.parse().map_err(|_| wrong())?;
        *slot = Some(match digits {
            // The digits after the decimal point.
            1 if is_fraction => number * 100,
            2 if is_fraction => number * 10,
            _ => number,
        });
        rest = after;
    }
    if !rest.is_empty() {
        return Err(wrong());
    }
    let local = named.local(date)?.ok_or_else(wrong)?;
    Ok(Read { local, zone })
}

/// Splits off a zone: `Z`, or a sign and its digits.
fn split_zone(text: &str) -> Option<(&str, &str)> {
    if text.starts_with('Z') {
        return text.split_at_checked(1);
    }
    let end = text
        .char_indices()
        .skip(1)
        .find(|(_, c)| !c.is_ascii_digit() && *c != ':')
        .map_or(text.len(), |(at, _)| at);
    text.starts_with(['+', '-'])
        .then(|| text.split_at_checked(end))
        .flatten()
}

impl Named {
    /// The local time; `None` if a part is out of range.
    fn local(&self, date: &str) -> Result<Option<i64>, ServerError> {
        let incomplete = || incomplete(date);
        let day = if let Some(year) = self.iso_year {
            let (Some(week), Some(day)) = (self.iso_week, self.iso_day) else {
                return Err(incomplete());
            };
            let in_range = (1..=53).contains(&week) && (1..=7).contains(&day);
            in_range
                .then(|| calendar::iso_day(year, week, day))
                .flatten()
        } else {
            let (Some(year), Some(month), Some(day)) = (self.year, self.month, self.day) else {
                return Err(incomplete());
            };
            let in_range = (1..=12).contains(&month)
                && (1..=calendar::days_in_month(year, month)).contains(&day);
            in_range
                .then(|| calendar::midnight(year, month, day))
                .flatten()
        };
        let (hour, minute) = (self.hour.unwrap_or(0), self.minute.unwrap_or(0));
        let (second, millisecond) = (self.second.unwrap_or(0), self.millisecond.unwrap_or(0));
        if hour > 24 || minute > 59 || second > 59 {
            return Ok(None);
        }
        let time = ((hour * 60 + minute) * 60 + second) * 1_000 + millisecond;
        Ok(day.and_then(|day| day.checked_add(time)))
    }
}

/// The specifiers of `$dateToString`.
const WRITTEN: &str = "YmdHMSLjwuUVGzZ%";
/// The specifiers of `$dateFromString`.
const READ: &str = "dGHLmMSuVYzZ%";

/// Refuses unknown specifiers.
fn check_format(format: &str, specifiers: &str) -> Result<(), ServerError> {
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            continue;
        }
        match characters.next() {
            Some(known) if specifiers.contains(known) => {}
            Some(other) => {
                return refuse(
                    18536,
                    format!("Invalid format character '%{other}' in format string"),
                );
            }
            None => return refuse(18535, "Unmatched '%' at end of format string"),
        }
    }
    Ok(())
}
