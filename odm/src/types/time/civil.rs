//! Days of the Gregorian calendar, and what clocks show.

use odm_language::expression::calendar;

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weekday {
    /// The first day of the week in ISO 8601.
    Monday,
    /// The second day.
    Tuesday,
    /// The third day.
    Wednesday,
    /// The fourth day.
    Thursday,
    /// The fifth day.
    Friday,
    /// The sixth day.
    Saturday,
    /// The seventh day.
    Sunday,
}

impl Weekday {
    /// The number in ISO 8601: 1 for Monday, 7 for Sunday.
    ///
    /// ```
    /// # use odm::time::Weekday;
    /// assert_eq!((Weekday::Monday.number(), Weekday::Sunday.number()), (1, 7));
    /// ```
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The day of the week of a day that is this many days after 1970-01-01.
    pub(super) fn of_days(days: i64) -> Self {
        // 1970-01-01 was a Thursday.
        match (days + 3).rem_euclid(7) {
            0 => Self::Monday,
            1 => Self::Tuesday,
            2 => Self::Wednesday,
            3 => Self::Thursday,
            4 => Self::Friday,
            5 => Self::Saturday,
            _ => Self::Sunday,
        }
    }
}

pub(super) const DAY: i64 = 86_400_000;

/// A date, and the milliseconds since its midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i32,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) millis: u32,
    pub(super) weekday: Weekday,
}

impl Civil {
    /// What a clock shows that is `offset` minutes ahead of UTC, at this many milliseconds after 1970.
    pub(super) fn new(millis: i64, offset: i32) -> Self {
        // Separately, because the sum may overflow.
        let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
        let local = rest + i64::from(offset) * 60_000;
        let days = days + local.div_euclid(DAY);
        let (year, month, day) = date(days);
        Self {
            year,
            month,
            day,
            millis: u32::try_from(local.rem_euclid(DAY)).unwrap_or(0),
            weekday: Weekday::of_days(days),
        }
    }
}

/// The date that is this many days after 1970-01-01.
fn date(days: i64) -> (i32, u8, u8) {
    let (year, month, day) = calendar::civil_from_days(days);
    let small = |value: i64| u8::try_from(value).unwrap_or(0);
    (
        i32::try_from(year).unwrap_or(i32::MAX),
        small(month),
        small(day),
    )
}

/// How many days after 1970-01-01 a date is; `None` if no month has the day.
pub(super) fn days(year: i32, month: u8, day: u8) -> Option<i64> {
    let days = calendar::days_from_civil(year.into(), month.into(), day.into());
    (date(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Civil, Weekday, date, days};

    #[test]
    fn known_days() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 2, 29), Some(11_016));
        assert_eq!(days(1900, 2, 29), None);
        assert_eq!(days(2026, 4, 31), None);
        assert_eq!(date(-1), (1969, 12, 31));
        let civil = Civil::new(i64::MIN, -18 * 60);
        assert_eq!(civil.year, -292_275_055);
        let civil = Civil::new(1_774_773_000_000, 120);
        assert_eq!(
            (civil.month, civil.day, civil.weekday),
            (3, 29, Weekday::Sunday)
        );
    }

    proptest! {
        #[test]
        fn days_are_read_back(day in -100_000_000_i64..100_000_000) {
            let (year, month, of_month) = date(day);
            prop_assert_eq!(days(year, month, of_month), Some(day));
        }
    }
}
