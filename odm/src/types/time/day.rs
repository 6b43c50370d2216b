//! [`CivilDay`]: a day of the calendar, which is another range of instants in each zone.

use std::fmt;
use std::str::FromStr;

use bson::DateTime;

use super::civil::{DAY, days};
use super::form::MAX_OFFSET;
use super::text::Reader;
use super::{InstantRange, Offset, TimeError};

/// A day of the calendar, such as 2026-03-29. When it begins and ends depends on the zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CivilDay {
    year: i32,
    month: u8,
    day: u8,
}

/// Reads a day: `day("2026-03-29")`.
///
/// ```
/// # use odm::time::day;
/// let day = day("2026-03-29")?;
/// assert_eq!((day.year(), day.month(), day.day()), (2026, 3, 29));
/// assert!(odm::time::day("2026-02-29").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The text is not a day of the calendar, written as in ISO 8601.
pub fn day(text: &str) -> Result<CivilDay, TimeError> {
    text.parse()
}

impl CivilDay {
    /// A day of a year from 0 to 9999.
    ///
    /// ```
    /// # use odm::time::CivilDay;
    /// let day = CivilDay::new(2026, 3, 29)?;
    /// assert_eq!(day.to_string(), "2026-03-29");
    /// assert!(CivilDay::new(2026, 2, 29).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The month does not have the day.
    pub fn new(year: i32, month: u8, day: u8) -> Result<Self, TimeError> {
        let this = Self { year, month, day };
        if !(0..=9999).contains(&year) || days(year, month, day).is_none() {
            return Err(TimeError::NotADay(this.to_string()));
        }
        Ok(this)
    }

    /// The year.
    ///
    /// ```
    /// # use odm::time::day;
    /// assert_eq!(day("2026-03-29")?.year(), 2026);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn year(self) -> i32 {
        self.year
    }

    /// The month, from 1.
    ///
    /// ```
    /// # use odm::time::day;
    /// assert_eq!(day("2026-03-29")?.month(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    ///
    /// ```
    /// # use odm::time::day;
    /// assert_eq!(day("2026-03-29")?.day(), 29);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn day(self) -> u8 {
        self.day
    }

    /// The day in UTC.
    ///
    /// ```
    /// # use odm::time::day;
    /// let range = day("2026-03-29")?.in_utc();
    /// assert_eq!(range.start().try_to_rfc3339_string()?, "2026-03-29T00:00:00Z");
    /// assert_eq!(range.millis(), 24 * 3_600_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_utc(self) -> InstantRange {
        self.in_offset(Offset::<()>::UTC)
    }

    /// The day of clocks with this offset.
    ///
    /// ```
    /// # use odm::time::{Iso, Offset, day};
    /// let range = day("2026-03-29")?.in_offset(Offset::<Iso>::from_minutes_east(120)?);
    /// assert_eq!(range.start().try_to_rfc3339_string()?, "2026-03-28T22:00:00Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_offset<F>(self, offset: Offset<F>) -> InstantRange {
        let start = self.midnight() - i64::from(offset.minutes_east()) * 60_000;
        InstantRange::from_millis(start, start + DAY)
    }

    /// The instants that are on this day somewhere: from the midnight of the clocks 18 hours ahead of UTC to that of
    /// the clocks 18 hours behind it, which are 60 hours.
    ///
    /// ```
    /// # use odm::time::day;
    /// let range = day("2026-03-29")?.anywhere();
    /// assert_eq!(range.millis(), 60 * 3_600_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn anywhere(self) -> InstantRange {
        let widest = i64::from(MAX_OFFSET) * 60_000;
        let start = self.midnight();
        InstantRange::from_millis(start - widest, start + DAY + widest)
    }

    /// Midnight in UTC.
    pub(super) fn midnight(self) -> i64 {
        // The constructor has checked the day.
        days(self.year, self.month, self.day).unwrap_or(0) * DAY
    }

    /// What clocks show at the start and at the end of the day, as if they showed UTC.
    pub(super) fn shown(self) -> (DateTime, DateTime) {
        let start = self.midnight();
        (
            DateTime::from_millis(start),
            DateTime::from_millis(start + DAY),
        )
    }
}

/// `2026-03-29`
impl fmt::Display for CivilDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for CivilDay {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let refused = || TimeError::NotADay(text.to_owned());
        let mut reader = Reader::new(text);
        let (year, month, day) = reader.date().ok_or_else(refused)?;
        if !reader.is_at_end() {
            return Err(refused());
        }
        Self::new(year, month, day).map_err(|_| refused())
    }
}
