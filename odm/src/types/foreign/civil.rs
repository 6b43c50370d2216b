//! Dates and times of day without a zone, as text that sorts as they do: `2026-11-23`, `09:30:00`, `2026-11-23T09:30:00.25`.
//!
//! Seconds are always written, and zeros at the end of their fraction never.

use super::stored_as::ConversionError;
use crate::model::Rule;

/// A date of another crate.
pub(super) trait CivilDate: Sized {
    /// The year, the month and the day.
    fn parts(&self) -> (i32, u8, u8);

    /// The date, if the month has the day.
    fn from_parts(year: i32, month: u8, day: u8) -> Option<Self>;
}

/// A time of day of another crate.
pub(super) trait CivilTime: Sized {
    fn parts(&self) -> Parts;

    /// The time, if the day has the hour.
    fn from_parts(parts: Parts) -> Option<Self>;
}

/// Stores the dates of a crate, its times of day, and the two together, which `$join` makes, as text.
macro_rules! civil_types {
    ($marker:ident: $date:ty, $time:ty, $both:ty = $join:path) => {
        civil_types!(@as_text $marker: $date, DATE, |value| civil::write_date(value), |text| civil::read_date(text));
        civil_types!(@as_text $marker: $time, TIME, |value| civil::write_time(value), |text| civil::read_time(text));
        civil_types!(
            @as_text $marker: $both, DATE_TIME,
            |value| civil::write_both(&value.date(), &value.time()),
            |text| civil::read_both(text, $join)
        );
    };
    (@as_text $marker:ident: $type:ty, $rules:ident, |$value:ident| $write:expr, |$text:ident| $read:expr) => {
        impl<const TRUNCATES: bool> StoredAs<$type> for $marker<TRUNCATES> {
            type Stored = String;
            const RULES: &'static [$crate::model::Rule] = civil::$rules;

            fn to_stored($value: &$type) -> Result<String, ConversionError> {
                $write
            }

            fn from_stored(text: String) -> Result<$type, ConversionError> {
                let $text = &text;
                $read
            }
        }
    };
}

pub(super) use civil_types;

/// The parts of a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
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
pub(super) fn write_date(date: &impl CivilDate) -> Result<String, ConversionError> {
    let (year, month, day) = date.parts();
    if (0..=9999).contains(&year) {
        Ok(format!("{year:04}-{month:02}-{day:02}"))
    } else {
        Err(ConversionError::new(format!(
            "the year {year} is not between 0 and 9999: as text, it would not sort as a date"
        )))
    }
}

/// `09:30:00`, `09:30:00.25`
pub(super) fn write_time(time: &impl CivilTime) -> Result<String, ConversionError> {
    let Parts {
        hour,
        minute,
        second,
        nanos,
    } = time.parts();
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

/// `2026-11-23T09:30:00`
pub(super) fn write_both(
    date: &impl CivilDate,
    time: &impl CivilTime,
) -> Result<String, ConversionError> {
    Ok(format!("{}T{}", write_date(date)?, write_time(time)?))
}

/// The error for a leap second.
pub(super) fn leap_second() -> ConversionError {
    ConversionError::new("the time is within a leap second, which the stored form does not have")
}

/// Reads a date.
pub(super) fn read_date<D: CivilDate>(text: &str) -> Result<D, ConversionError> {
    let (year, month, day) = date_parts(text)?;
    D::from_parts(year, month, day).ok_or_else(|| unreadable(text, "a day of the calendar"))
}

/// Reads a time of day.
pub(super) fn read_time<T: CivilTime>(text: &str) -> Result<T, ConversionError> {
    let parts =
        time_parts(text).ok_or_else(|| unreadable(text, "a time of day: expected `09:30:00`"))?;
    T::from_parts(parts).ok_or_else(|| unreadable(text, "a time of the day"))
}

/// Reads a date and a time of day, and joins them.
pub(super) fn read_both<D: CivilDate, T: CivilTime, B>(
    text: &str,
    join: impl FnOnce(D, T) -> B,
) -> Result<B, ConversionError> {
    let (date, time) = text
        .split_once('T')
        .ok_or_else(|| unreadable(text, "a date and time: expected `2026-11-23T09:30:00`"))?;
    Ok(join(read_date(date)?, read_time(time)?))
}

/// Reads the year, the month and the day, without a check that there is such a day.
fn date_parts(text: &str) -> Result<(i32, u8, u8), ConversionError> {
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
fn time_parts(text: &str) -> Option<Parts> {
    let (whole, nanos) = match text.split_once('.') {
        None => (text, 0),
        Some((whole, fraction)) if (1..=9).contains(&fraction.len()) => {
            (whole, digits(&format!("{fraction:0<9}"), 9)?)
        }
        Some(_) => return None,
    };
    let mut parts = whole.split(':');
    let time = Parts {
        hour: two_digits(parts.next()?)?,
        minute: two_digits(parts.next()?)?,
        second: two_digits(parts.next()?)?,
        nanos,
    };
    parts.next().is_none().then_some(time)
}

/// The error for text of another form, or for a day or an hour that does not exist.
fn unreadable(text: &str, expected: &str) -> ConversionError {
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

    impl CivilDate for (i32, u8, u8) {
        fn parts(&self) -> (i32, u8, u8) {
            *self
        }

        fn from_parts(year: i32, month: u8, day: u8) -> Option<Self> {
            Some((year, month, day))
        }
    }

    impl CivilTime for Parts {
        fn parts(&self) -> Parts {
            *self
        }

        fn from_parts(parts: Parts) -> Option<Self> {
            Some(parts)
        }
    }

    type Day = (i32, u8, u8);

    proptest! {
        #[test]
        fn text_sorts_as_times_do(a in time(), b in time()) {
            let order = key(a).cmp(&key(b));
            let (a, b) = (write_time(&a).unwrap(), write_time(&b).unwrap());
            prop_assert_eq!(a.cmp(&b), order);
        }

        #[test]
        fn times_are_read_back(a in time()) {
            prop_assert_eq!(read_time(&write_time(&a).unwrap()), Ok(a));
        }

        #[test]
        fn no_text_panics(text in "[-0-9:.T]{0,14}") {
            let _ = read_both::<Day, Parts, _>(&text, |date, time| (date, time));
            let _ = (read_date::<Day>(&text), read_time::<Parts>(&text));
        }
    }

    fn time() -> impl Strategy<Value = Parts> {
        let nanos = prop_oneof![0_u32..1_000_000_000, Just(0), Just(500_000_000), Just(1)];
        (0_u8..24, 0_u8..60, 0_u8..60, nanos).prop_map(|(hour, minute, second, nanos)| Parts {
            hour,
            minute,
            second,
            nanos,
        })
    }

    fn key(time: Parts) -> (u8, u8, u8, u32) {
        (time.hour, time.minute, time.second, time.nanos)
    }

    #[test]
    fn dates_have_years_of_four_digits() {
        assert_eq!(write_date(&(7, 1, 2)).unwrap(), "0007-01-02");
        assert!(write_date(&(-1, 1, 1)).is_err());
        assert!(write_date(&(10_000, 1, 1)).is_err());
        assert_eq!(read_date("2026-11-23"), Ok((2026, 11, 23)));
        for bad in [
            "",
            "2026-11",
            "2026-11-23-1",
            "26-11-23",
            "+026-11-23",
            "2026-1-23",
        ] {
            assert!(read_date::<Day>(bad).is_err(), "{bad}");
        }
        for bad in [
            "",
            "09:30",
            "09:30:00.",
            "09:30:00.1234567890",
            "9:30:00",
            "09:30:00:00",
        ] {
            assert!(read_time::<Parts>(bad).is_err(), "{bad}");
        }
    }
}
