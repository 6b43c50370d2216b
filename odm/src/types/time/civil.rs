//! Days of the Gregorian calendar, and what clocks show.

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

/// The date that is this many days after 1970-01-01, in the proleptic Gregorian calendar.
fn date(days: i64) -> (i32, u8, u8) {
    // Years begin in March here, so that the leap day is their last. An era has 400 years.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * of_year + 2) / 153;
    let day = of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let small = |value: i64| u8::try_from(value).unwrap_or(0);
    (
        i32::try_from(year).unwrap_or(i32::MAX),
        small(month),
        small(day),
    )
}

/// How many days after 1970-01-01 a date is; `None` if no month has the day.
pub(super) fn days(year: i32, month: u8, day: u8) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (years, months) = (i64::from(year) - i64::from(month <= 2), i64::from(month));
    let era = years.div_euclid(400);
    let year_of_era = years.rem_euclid(400);
    let of_year = (153 * ((months + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    let days = era * 146_097 + of_era - 719_468;
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
