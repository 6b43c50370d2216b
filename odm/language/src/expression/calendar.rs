//! The proleptic Gregorian calendar in UTC, for milliseconds since 1970.

use crate::error::{ServerError, refuse};

const DAY: i64 = 86_400_000;

/// The parts of an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub millisecond: i64,
}

/// Splits an instant.
pub fn parts(millis: i64) -> Parts {
    let days = millis.div_euclid(DAY);
    let rest = millis.rem_euclid(DAY);
    let (year, month, day) = civil_from_days(days);
    Parts {
        year,
        month,
        day,
        hour: rest / 3_600_000,
        minute: rest / 60_000 % 60,
        second: rest / 1_000 % 60,
        millisecond: rest % 1_000,
    }
}

/// The instant of these parts; parts out of range carry over. `None` if it exceeds 64 bits.
pub fn millis(parts: Parts) -> Option<i64> {
    let months = parts
        .year
        .checked_mul(12)?
        .checked_add(parts.month.checked_sub(1)?)?;
    let year = months.div_euclid(12);
    if year.abs() > 300_000_000 {
        return None;
    }
    let days = days_from_civil(year, months.rem_euclid(12) + 1, 1)
        .checked_add(parts.day.checked_sub(1)?)?;
    days.checked_mul(DAY)?
        .checked_add(parts.hour.checked_mul(3_600_000)?)?
        .checked_add(parts.minute.checked_mul(60_000)?)?
        .checked_add(parts.second.checked_mul(1_000)?)?
        .checked_add(parts.millisecond)
}

/// The number of days from 1970-01-01 to this date.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date that is this many days after 1970-01-01: year, month and day.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the leap day is their last. An era has 400 years.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The days of the week as texts and options name them.
pub const WEEKDAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

/// 1 (Sunday) to 7.
pub fn day_of_week(millis: i64) -> i64 {
    (millis.div_euclid(DAY) + 4).rem_euclid(7) + 1
}

/// 1 to 366.
pub fn day_of_year(millis: i64) -> i64 {
    millis.div_euclid(DAY) - days_from_civil(parts(millis).year, 1, 1) + 1
}

/// The ISO 8601 week and the year that it belongs to.
pub fn iso_week(millis: i64) -> (i64, i64) {
    let days = millis.div_euclid(DAY);
    // The Thursday of the week decides its year.
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil_from_days(thursday);
    ((thursday - days_from_civil(year, 1, 1)) / 7 + 1, year)
}

/// The start of a day; parts out of range carry over.
pub fn midnight(year: i64, month: i64, day: i64) -> Option<i64> {
    millis(Parts {
        year,
        month,
        day,
        hour: 0,
        minute: 0,
        second: 0,
        millisecond: 0,
    })
}

/// The start of a day given by ISO 8601 year, week and day; parts out of range carry over.
pub fn iso_day(year: i64, week: i64, day: i64) -> Option<i64> {
    let fourth = days_from_civil(year, 1, 4);
    let monday = fourth - (fourth + 3).rem_euclid(7);
    (monday + (week - 1) * 7 + day - 1).checked_mul(DAY)
}

/// `2020-01-02T03:04:05.006Z`.
pub fn iso(millis: i64) -> String {
    let p = parts(millis);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        p.year, p.month, p.day, p.hour, p.minute, p.second, p.millisecond
    )
}

/// Like [`iso`], but refuses a year that does not have four digits.
pub fn iso_text(millis: i64) -> Result<String, ServerError> {
    check_year(parts(millis).year)?;
    Ok(iso(millis))
}

/// Refuses a year outside of 0 to 9999.
pub fn check_year(year: i64) -> Result<(), ServerError> {
    if (0..=9999).contains(&year) {
        return Ok(());
    }
    refuse(
        18537,
        format!(
            "Could not convert date to string: date component was outside the supported range of 0-9999: {year}"
        ),
    )
}

/// `Nov 14 22:13:20:3`: a timestamp as mongod converts it to a string.
pub fn clock(at: bson::Timestamp) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let p = parts(i64::from(at.time) * 1_000);
    let month = MONTHS
        .iter()
        .zip(1..)
        .find(|(_, number)| *number == p.month);
    format!(
        "{} {:>2} {:02}:{:02}:{:02}:{}",
        month.map_or("", |(name, _)| name),
        p.day,
        p.hour,
        p.minute,
        p.second,
        at.increment
    )
}

/// Reads `2020-01-02` or `2020-01-02T03:04[:05[.006]]`, with `Z`, an offset or neither (UTC).
pub fn parse_iso(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut date = date.splitn(3, '-');
    let year = digits(date.next()?, 4)?;
    let month = digits(date.next()?, 2)?;
    let day = digits(date.next()?, 2)?;
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let mut at = Parts {
        year,
        month,
        day,
        hour: 0,
        minute: 0,
        second: 0,
        millisecond: 0,
    };
    let mut offset = 0;
    if let Some(time) = time {
        let (clock, zone) = match time.find(['Z', '+', '-']) {
            Some(index) => time.split_at_checked(index)?,
            None => (time, ""),
        };
        let (clock, fraction) = match clock.split_once('.') {
            Some((clock, fraction)) => (clock, Some(fraction)),
            None => (clock, None),
        };
        let mut clock = clock.splitn(3, ':');
        at.hour = digits(clock.next()?, 2)?;
        at.minute = digits(clock.next()?, 2)?;
        at.second = clock.next().map_or(Some(0), |second| digits(second, 2))?;
        if let Some(fraction) = fraction {
            if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let milli: String = fraction.chars().chain("000".chars()).take(3).collect();
            at.millisecond = digits(&milli, 3)?;
        }
        if at.hour > 23 || at.minute > 59 || at.second > 59 {
            return None;
        }
        offset = zone_minutes(zone)?;
    }
    millis(at)?.checked_sub(offset * 60_000)
}

/// Whether mongod refuses a text that [`parse_iso`] cannot read: it has no digits or too few, or the form of ISO 8601
/// with parts out of range. mongod's many other rules might read any other text as a date.
pub fn is_no_date(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits < 4 {
        return true;
    }
    let is_day = |day: &str| {
        let parts: Vec<&str> = day.split('-').collect();
        matches!(parts.as_slice(), [year, month, day]
            if digits_of(year) == Some(4) && digits_of(month) == Some(2) && digits_of(day) == Some(2))
    };
    match text.split_once(['T', ' ']) {
        None => is_day(text),
        Some((day, time)) => {
            let clock: Vec<&str> = time.trim_end_matches('Z').split([':', '.']).collect();
            let is_clock = (2..=4).contains(&clock.len())
                && clock.iter().take(3).all(|part| digits_of(part) == Some(2));
            is_day(day) && is_clock
        }
    }
}

fn digits_of(text: &str) -> Option<usize> {
    text.bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(text.len())
}

/// The offset in minutes east of UTC of `Z`, `+01:00`, `+0100`, `+01` or an empty text.
pub fn zone_minutes(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone == "Z" {
        return Some(0);
    }
    let (sign, rest) = match zone.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, zone.strip_prefix('+')?),
    };
    let rest = rest.replace(':', "");
    let (hours, minutes) = rest.split_at_checked(2)?;
    let minutes = if minutes.is_empty() {
        0
    } else {
        digits(minutes, 2)?
    };
    Some(sign * (digits(hours, 2)? * 60 + minutes))
}

fn digits(text: &str, length: usize) -> Option<i64> {
    (text.len() == length && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip_through_their_parts() {
        for (instant, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_226_809_123, "2026-11-21T02:06:49.123Z"),
        ] {
            assert_eq!(iso(instant), text);
            assert_eq!(millis(parts(instant)), Some(instant));
        }
        assert_eq!(iso_week(1_609_459_200_000), (53, 2020));
        assert_eq!(day_of_week(0), 5);
        assert_eq!(day_of_year(951_782_400_000), 60);
    }
}
