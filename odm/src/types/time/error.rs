//! The errors of times and days.

use std::fmt;

use super::form::MAX_OFFSET;

/// Why a time can't be read or made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeError {
    /// The offset is more than 18 hours from UTC.
    Offset {
        /// The minutes east of UTC.
        minutes: i64,
    },
    /// The text is not a date and a time with an offset, as RFC 3339 writes them.
    NotATime(String),
    /// The text is not a day, or no month has this day.
    NotADay(String),
    /// The time has fractions of a millisecond, which a date of MongoDB can't store: truncate it first.
    TooPrecise(String),
    /// The time has another offset than its zone has at that instant, such as a time that a change of clocks skips.
    ZoneOffset {
        /// The text.
        text: String,
        /// The time in its zone at that instant.
        in_zone: String,
    },
    /// The time zone database has no such zone.
    UnknownZone(String),
    /// The time is out of range.
    OutOfRange(String),
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offset { minutes } => write!(
                f,
                "an offset of {minutes} minutes is more than {} hours from UTC",
                MAX_OFFSET / 60
            ),
            Self::NotATime(text) => write!(
                f,
                "`{text}` is not a time with an offset: expected `2026-03-29T10:30:00+02:00`"
            ),
            Self::NotADay(text) => write!(f, "`{text}` is not a day: expected `2026-03-29`"),
            Self::TooPrecise(text) => write!(
                f,
                "`{text}` has fractions of a millisecond, and MongoDB stores whole ones: use the function that truncates"
            ),
            Self::ZoneOffset { text, in_zone } => write!(
                f,
                "`{text}` has another offset than its zone, where this instant is `{in_zone}`"
            ),
            Self::UnknownZone(name) => write!(
                f,
                "unknown time zone `{name}`: expected a name of the IANA database, such as `Europe/Berlin`"
            ),
            Self::OutOfRange(text) => write!(f, "`{text}` is out of the range of times"),
        }
    }
}

impl std::error::Error for TimeError {}
