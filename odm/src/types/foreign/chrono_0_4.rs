//! The types of [chrono] 0.4, for `#[serde(with = "odm::chrono_0_4")]`.
//!
//! | type | stored as |
//! | --- | --- |
//! | `DateTime<Utc>` | a date |
//! | `NaiveDate` | text: `2026-11-23` |
//! | `NaiveTime` | text: `09:30:00`, `09:30:00.25` |
//! | `NaiveDateTime` | text: `2026-11-23T09:30:00` |
//! | `TimeDelta` | an integer (`long`) of milliseconds |
//!
//! Dates have milliseconds. A time or a `TimeDelta` with a fraction of one is refused, by an error that names the field; the
//! module [`truncated`] drops the fraction. A date that `DateTime` can't hold is an error when it is read. Text sorts as
//! the dates and times do, for the years 0 to 9999; other years and leap seconds are refused.
//!
//! A date does not keep an offset, so `DateTime<FixedOffset>` and `DateTime<Local>` are not stored: convert with `to_utc()`.
//!
//! ```
//! use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "loans", index(due), ttl(returned, after = "365d"))]
//! struct Loan {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::chrono_0_4")]
//!     due: NaiveDate,
//!     #[serde(default, with = "odm::chrono_0_4")]
//!     returned: Option<DateTime<Utc>>,
//!     #[serde(with = "odm::chrono_0_4")]
//!     reminders: Vec<DateTime<Utc>>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let loans = db.collection::<Loan>();
//! let monday = NaiveDate::from_ymd_opt(2026, 11, 23).ok_or("no such day")?;
//! loans.insert_one(&Loan { id: 1, due: monday, returned: None, reminders: vec![] }).await?;
//!
//! let noon = DateTime::from_timestamp(1_795_521_600, 0).ok_or("no such time")?;
//! loans.update_one(|l| l.due.lte(monday), |l| l.reminders.push(noon) & l.returned.current_date()).await?;
//! let late = loans.find(|l| l.returned.gt(noon - TimeDelta::days(365_000)) & l.reminders.any().gte(noon)).all().await?;
//! assert_eq!(late.len(), 1);
//! # Ok(())
//! # }
//! ```

use bson::DateTime as Date;
use chrono::{
    DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc,
};

use super::bare::bare;
use super::civil::{self, CivilDate, CivilTime, Parts, civil_types};
use super::duration::{Count, in_milliseconds};
use super::instant;
use super::stored_as::{ConversionError, StoredAs};
use crate::model::Rule;

/// How this module stores its types.
#[doc(hidden)]
#[derive(Debug)]
pub enum Chrono<const TRUNCATES: bool> {}

serializer!(Chrono<false>);

/// Like [the module above](super::chrono_0_4), but drops what is less than a millisecond: a time is rounded down to the earlier
/// millisecond, a `TimeDelta` toward zero. Values in filters and updates are truncated, too.
pub mod truncated {
    serializer!(super::Chrono<true>);
}

bare! {
    [Tz: TimeZone] DateTime<Tz>: Date, "chrono::DateTime<Utc>", "text", "a date", "odm::chrono_0_4";
    [] NaiveDate: String, "chrono::NaiveDate", "text in a form of its own", "text that sorts", "odm::chrono_0_4";
    [] NaiveTime: String, "chrono::NaiveTime", "text in a form of its own", "text that sorts", "odm::chrono_0_4";
    [] NaiveDateTime: String, "chrono::NaiveDateTime", "text in a form of its own", "text that sorts", "odm::chrono_0_4";
    [] TimeDelta: Long, "chrono::TimeDelta", "two numbers", "milliseconds", "odm::chrono_0_4";
}

impl<const TRUNCATES: bool> StoredAs<DateTime<Utc>> for Chrono<TRUNCATES> {
    type Stored = Date;

    fn to_stored(value: &DateTime<Utc>) -> Result<Date, ConversionError> {
        // chrono stores a leap second as second 60; BSON would read the next second.
        let nanos = match i128::from(value.timestamp_subsec_nanos()) {
            leap if leap >= instant::NANOS_PER_SECOND && !TRUNCATES => {
                return Err(civil::leap_second());
            }
            nanos => nanos.min(instant::NANOS_PER_SECOND - 1),
        };
        let seconds = i128::from(value.timestamp()) * instant::NANOS_PER_SECOND;
        instant::date::<TRUNCATES>(seconds + nanos, "chrono_0_4")
    }

    fn from_stored(date: Date) -> Result<DateTime<Utc>, ConversionError> {
        DateTime::from_timestamp_millis(date.timestamp_millis())
            .ok_or_else(|| instant::out_of_range(date, "chrono::DateTime"))
    }
}

civil_types!(Chrono: NaiveDate, NaiveTime, NaiveDateTime = NaiveDateTime::new);
in_milliseconds!(Chrono: TimeDelta);

impl CivilDate for NaiveDate {
    fn parts(&self) -> (i32, u8, u8) {
        (self.year(), small(self.month()), small(self.day()))
    }

    fn from_parts(year: i32, month: u8, day: u8) -> Option<Self> {
        Self::from_ymd_opt(year, month.into(), day.into())
    }
}

impl CivilTime for NaiveTime {
    fn parts(&self) -> Parts {
        Parts {
            hour: small(self.hour()),
            minute: small(self.minute()),
            second: small(self.second()),
            nanos: self.nanosecond(),
        }
    }

    fn from_parts(parts: Parts) -> Option<Self> {
        let (hour, minute, second) = (parts.hour.into(), parts.minute.into(), parts.second.into());
        Self::from_hms_nano_opt(hour, minute, second, parts.nanos)
    }
}

/// A month, a day, an hour, a minute or a second.
fn small(number: u32) -> u8 {
    u8::try_from(number).unwrap_or_default()
}

impl<const UNIT: u32, const TRUNCATES: bool> StoredAs<TimeDelta> for Count<UNIT, TRUNCATES> {
    type Stored = i64;
    // A `TimeDelta` has at most `i64::MAX` milliseconds in either direction.
    const RULES: &'static [Rule] = match UNIT {
        1 | 1_000 => &[],
        1_000_000 => &[Rule::between(-i64::MAX, i64::MAX)],
        _ => &[Rule::between(-i64::MAX / 1_000, i64::MAX / 1_000)],
    };

    fn to_stored(value: &TimeDelta) -> Result<i64, ConversionError> {
        let seconds = i128::from(value.num_seconds()) * instant::NANOS_PER_SECOND;
        instant::span::<UNIT, TRUNCATES>(seconds + i128::from(value.subsec_nanos()))
    }

    fn from_stored(count: i64) -> Result<TimeDelta, ConversionError> {
        let nanos = i128::from(count) * i128::from(UNIT);
        let seconds = i64::try_from(nanos.div_euclid(instant::NANOS_PER_SECOND)).ok();
        let subsec = u32::try_from(nanos.rem_euclid(instant::NANOS_PER_SECOND)).ok();
        let value = seconds.zip(subsec);
        value
            .and_then(|(seconds, nanos)| TimeDelta::new(seconds, nanos))
            .ok_or_else(|| {
                ConversionError::new("the duration is out of the range of `chrono::TimeDelta`")
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::stored_as::StoredAs;
    use super::*;

    type Exact = Chrono<false>;
    type Truncated = Chrono<true>;

    proptest! {
        #[test]
        fn dates_are_read_back(millis in prop_oneof![any::<i64>(), -9_000_000_000_000_000..9_000_000_000_000_000_i64]) {
            let date = Date::from_millis(millis);
            if let Ok(time) = <Exact as StoredAs<DateTime<Utc>>>::from_stored(date) {
                prop_assert_eq!(Exact::to_stored(&time), Ok(date));
            }
        }

        #[test]
        fn truncation_keeps_the_order(a in time(), b in time()) {
            let (x, y) = (Truncated::to_stored(&a).unwrap(), Truncated::to_stored(&b).unwrap());
            prop_assert!(a > b || x <= y);
            if let (Ok(x), Ok(y)) = (Exact::to_stored(&a), Exact::to_stored(&b)) {
                prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            }
        }

        #[test]
        fn days_are_read_back_and_sort(a in -1_000_000..4_000_000_i32, b in 0..3_600_000_i32) {
            let day = |number| NaiveDate::from_num_days_from_ce_opt(number);
            let (Some(a), Some(b)) = (day(a), day(b)) else { return Ok(()) };
            if let (Ok(x), Ok(y)) = (Exact::to_stored(&a), Exact::to_stored(&b)) {
                prop_assert_eq!(x.cmp(&y), a.cmp(&b));
                prop_assert_eq!(Exact::from_stored(x), Ok(a));
            }
        }

        #[test]
        fn spans_are_read_back(seconds: i64, nanos in 0..1_000_000_000_u32) {
            if let Some(delta) = TimeDelta::new(seconds, nanos) {
                if let Ok(count) = Count::<1, false>::to_stored(&delta) {
                    prop_assert_eq!(Count::<1, false>::from_stored(count), Ok(delta));
                }
                if let Ok(count) = Exact::to_stored(&delta) {
                    prop_assert_eq!(Exact::from_stored(count), Ok(delta));
                }
            }
        }
    }

    fn time() -> impl Strategy<Value = DateTime<Utc>> {
        (-100_000..100_000_i64, 0..1_000_000_000_u32)
            .prop_map(|(seconds, nanos)| DateTime::from_timestamp(seconds, nanos).unwrap())
    }

    #[test]
    fn the_ends_of_the_ranges() {
        for time in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
            let stored = Truncated::to_stored(&time).unwrap();
            assert!(<Truncated as StoredAs<DateTime<Utc>>>::from_stored(stored).is_ok());
        }
        for date in [Date::MIN, Date::MAX] {
            let read: Result<DateTime<Utc>, _> = Exact::from_stored(date);
            assert!(read.unwrap_err().to_string().contains("out of the range"));
        }
        let read = |text: &str| -> Result<NaiveDate, _> { Exact::from_stored(text.to_owned()) };
        assert!(read("2023-02-29").is_err());
        assert!(read("2024-02-29").is_ok());
        assert!(Exact::to_stored(&NaiveDate::MAX).is_err());
        let delta: Result<TimeDelta, _> = Count::<1_000_000_000, false>::from_stored(i64::MAX);
        assert!(delta.is_err());
    }

    #[test]
    fn fractions_and_leap_seconds_are_refused() {
        let micro = DateTime::from_timestamp(-1, 999_999_000).unwrap();
        assert!(Exact::to_stored(&micro).is_err());
        assert_eq!(Truncated::to_stored(&micro), Ok(Date::from_millis(-1)));
        let leap = NaiveDate::from_ymd_opt(2016, 12, 31)
            .and_then(|day| day.and_hms_milli_opt(23, 59, 59, 1_500))
            .unwrap();
        assert!(Exact::to_stored(&leap.and_utc()).is_err());
        assert!(Exact::to_stored(&leap).is_err());
        let last = Truncated::to_stored(&leap.and_utc()).unwrap();
        assert_eq!(last.timestamp_millis() % 60_000, 59_999);
    }
}
