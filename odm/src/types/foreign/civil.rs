//! Dates and times of day without a zone, as text that sorts as they do: `2026-11-23`, `09:30:00`, `2026-11-23T09:30:00.25`.
//!
//! Seconds are always written, and zeros at the end of their fraction never.

use super::stored_as::ConversionError;
use crate::model::Rule;

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) nanos: u32,
}

/// The days of the calendar from the year 0 to 9999: the months of 31 days, of 30, February, and its 29th in leap years.
macro_rules! date_pattern {
    () => {
        "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)\
         |02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
    };
}

macro_rules! time_pattern {
    () => {
        "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?"
    };
}

// `$` would allow a line break at the end.
pub(super) const DATE: &[Rule] = &[Rule::Pattern(concat!("^", date_pattern!(), "\\z"))];
pub(super) const TIME: &[Rule] = &[Rule::Pattern(concat!("^", time_pattern!(), "\\z"))];
pub(super) const DATE_TIME: &[Rule] = &[Rule::Pattern(concat!(
    "^",
    date_pattern!(),
    "T",
    time_pattern!(),
    "\\z"
))];

/// `2026-11-23`; years are those of four digits, whose text sorts.
pub(super) fn write_date(year: i32, month: u8, day: u8) -> Result<String, ConversionError> {
    if (0..=9999).contains(&year) {
        Ok(format!("{year:04}-{month:02}-{day:02}"))
    } else {
        Err(ConversionError::new(format!(
            "the year {year} is not one from 0 to 9999: as text, it would not sort as a date"
        )))
    }
}

/// `09:30:00`, `09:30:00.25`
pub(super) fn write_time(time: Time) -> Result<String, ConversionError> {
    let Time {
        hour,
        minute,
        second,
        nanos,
    } = time;
    if nanos >= 1_000_000_000 {
        return Err(leap_second());
    }
    let text = format!("{hour:02}:{minute:02}:{second:02}");
    if nanos == 0 {
        return Ok(text);
    }
    let fraction = format!("{nanos:09}");
    Ok(format!("{text}.{}", fraction.trim_end_matches('0')))
}

/// The error for a leap second.
pub(super) fn leap_second() -> ConversionError {
    ConversionError::new("the time is within a leap second, which the stored form does not have")
}

/// Reads the year, the month and the day, without a check that there is such a day.
pub(super) fn read_date(text: &str) -> Result<(i32, u8, u8), ConversionError> {
    let bad = || unreadable(text, "a date: expected `2026-11-23`");
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(bad());
    };
    let year = digits(year, 4).and_then(|year| i32::try_from(year).ok());
    match (year, two_digits(month), two_digits(day)) {
        (Some(year), Some(month), Some(day)) => Ok((year, month, day)),
        _ => Err(bad()),
    }
}

/// Reads a time of day, without a check that there is such an hour.
pub(super) fn read_time(text: &str) -> Result<Time, ConversionError> {
    read_parts(text).ok_or_else(|| unreadable(text, "a time of day: expected `09:30:00`"))
}

fn read_parts(text: &str) -> Option<Time> {
    let (whole, nanos) = match text.split_once('.') {
        None => (text, 0),
        Some((whole, fraction)) if (1..=9).contains(&fraction.len()) => {
            (whole, digits(&format!("{fraction:0<9}"), 9)?)
        }
        Some(_) => return None,
    };
    let mut parts = whole.split(':');
    let time = Time {
        hour: two_digits(parts.next()?)?,
        minute: two_digits(parts.next()?)?,
        second: two_digits(parts.next()?)?,
        nanos,
    };
    parts.next().is_none().then_some(time)
}

/// Splits `2026-11-23T09:30:00` at the `T`.
pub(super) fn split(text: &str) -> Result<(&str, &str), ConversionError> {
    text.split_once('T')
        .ok_or_else(|| unreadable(text, "a date and time: expected `2026-11-23T09:30:00`"))
}

/// The error for text of another form, or for a day or an hour that does not exist.
pub(super) fn unreadable(text: &str, expected: &str) -> ConversionError {
    ConversionError::new(format!("{text:?} is not {expected}"))
}

fn two_digits(text: &str) -> Option<u8> {
    digits(text, 2).and_then(|number| u8::try_from(number).ok())
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_sorts_as_times_do(a in time(), b in time()) {
            let order = parts(a).cmp(&parts(b));
            let (a, b) = (write_time(a).unwrap(), write_time(b).unwrap());
            prop_assert_eq!(a.cmp(&b), order);
        }

        #[test]
        fn times_are_read_back(a in time()) {
            prop_assert_eq!(read_time(&write_time(a).unwrap()), Ok(a));
        }

        #[test]
        fn no_text_panics(text in "[-0-9:.T]{0,14}") {
            let _ = (read_date(&text), read_time(&text), split(&text));
        }
    }

    fn time() -> impl Strategy<Value = Time> {
        let nanos = prop_oneof![0_u32..1_000_000_000, Just(0), Just(500_000_000), Just(1)];
        (0_u8..24, 0_u8..60, 0_u8..60, nanos).prop_map(|(hour, minute, second, nanos)| Time {
            hour,
            minute,
            second,
            nanos,
        })
    }

    fn parts(time: Time) -> (u8, u8, u8, u32) {
        (time.hour, time.minute, time.second, time.nanos)
    }

    #[test]
    fn dates_have_years_of_four_digits() {
        assert_eq!(write_date(7, 1, 2).unwrap(), "0007-01-02");
        assert!(write_date(-1, 1, 1).is_err());
        assert!(write_date(10_000, 1, 1).is_err());
        assert_eq!(read_date("2026-11-23"), Ok((2026, 11, 23)));
        for bad in [
            "",
            "2026-11",
            "2026-11-23-1",
            "26-11-23",
            "+026-11-23",
            "2026-1-23",
        ] {
            assert!(read_date(bad).is_err(), "{bad}");
        }
        for bad in [
            "",
            "09:30",
            "09:30:00.",
            "09:30:00.1234567890",
            "9:30:00",
            "09:30:00:00",
        ] {
            assert!(read_time(bad).is_err(), "{bad}");
        }
    }
}
