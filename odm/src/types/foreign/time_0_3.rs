//! The types of [time] 0.3, for `#[serde(with = "odm::time_0_3")]`.
//!
//! | type | stored as |
//! | --- | --- |
//! | `OffsetDateTime`, `UtcDateTime` | a date |
//! | `Date` | text: `2026-11-23` |
//! | `Time` | text: `09:30:00`, `09:30:00.25` |
//! | `PrimitiveDateTime` | text: `2026-11-23T09:30:00` |
//! | `Duration` | an integer (`long`) of milliseconds |
//!
//! Dates have milliseconds. A time or a `Duration` with a fraction of one, such as `OffsetDateTime::now_utc()`, is refused, by an
//! error that names the field; the module [`truncated`] drops the fraction. So is an `OffsetDateTime` whose offset is not
//! zero, because a date does not keep it: convert with `to_offset(UtcOffset::UTC)`. A date that the type can't hold is an error
//! when it is read. Text sorts as the dates and times do, for the years 0 to 9999; other years are refused.
//!
//! ```
//! use odm::prelude::*;
//! use time::{Date, Duration, OffsetDateTime};
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "visits", index(at))]
//! struct Visit {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::time_0_3::truncated")]
//!     at: OffsetDateTime,
//!     #[serde(with = "odm::time_0_3")]
//!     took: Duration,
//!     #[serde(default, with = "odm::time_0_3")]
//!     next: Option<Date>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let visits = db.collection::<Visit>();
//! let at = OffsetDateTime::from_unix_timestamp(1_795_521_600)? + Duration::nanoseconds(1_234_567);
//! visits.insert_one(&Visit { id: 1, at, took: Duration::minutes(20), next: None }).await?;
//!
//! let found = visits.find_one(|v| v.at.eq(at) & v.took.lt(Duration::HOUR) & v.next.eq(None)).await?;
//! assert_eq!(found.ok_or("no visit")?.at.millisecond(), 1);
//! # Ok(())
//! # }
//! ```

use bson::DateTime as BsonDate;
use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime};

use super::bare::bare;
use super::civil::{self, CivilDate, CivilTime, Parts, civil_types};
use super::duration::{Count, in_milliseconds};
use super::instant;
use super::stored_as::{ConversionError, StoredAs};

/// How this module stores its types.
#[doc(hidden)]
#[derive(Debug)]
pub enum TimeCrate<const TRUNCATES: bool> {}

serializer!(TimeCrate<false>);

/// Like [the module above](super::time_0_3), but drops what is less than a millisecond: a time is rounded down to the earlier
/// millisecond, a `Duration` toward zero. Values in filters and updates are truncated, too.
pub mod truncated {
    serializer!(super::TimeCrate<true>);
}

bare! {
    [] OffsetDateTime: Date, "time::OffsetDateTime", "numbers", "a date", "odm::time_0_3";
    [] UtcDateTime: Date, "time::UtcDateTime", "numbers", "a date", "odm::time_0_3";
    [] Date: String, "time::Date", "numbers", "text that sorts", "odm::time_0_3";
    [] Time: String, "time::Time", "numbers", "text that sorts", "odm::time_0_3";
    [] PrimitiveDateTime: String, "time::PrimitiveDateTime", "numbers", "text that sorts", "odm::time_0_3";
    [] Duration: Long, "time::Duration", "numbers", "milliseconds", "odm::time_0_3";
}

impl<const TRUNCATES: bool> StoredAs<OffsetDateTime> for TimeCrate<TRUNCATES> {
    type Stored = BsonDate;

    fn to_stored(value: &OffsetDateTime) -> Result<BsonDate, ConversionError> {
        if !value.offset().is_utc() {
            return Err(ConversionError::new(
                "the time has an offset, which a date does not keep: convert it with `to_offset(UtcOffset::UTC)`",
            ));
        }
        instant::date::<TRUNCATES>(value.unix_timestamp_nanos(), "time_0_3")
    }

    fn from_stored(date: BsonDate) -> Result<OffsetDateTime, ConversionError> {
        let nanos = i128::from(date.timestamp_millis()) * instant::NANOS_PER_MILLI;
        OffsetDateTime::from_unix_timestamp_nanos(nanos)
            .map_err(|_| instant::out_of_range(date, "time::OffsetDateTime"))
    }
}

impl<const TRUNCATES: bool> StoredAs<UtcDateTime> for TimeCrate<TRUNCATES> {
    type Stored = BsonDate;

    fn to_stored(value: &UtcDateTime) -> Result<BsonDate, ConversionError> {
        instant::date::<TRUNCATES>(value.unix_timestamp_nanos(), "time_0_3")
    }

    fn from_stored(date: BsonDate) -> Result<UtcDateTime, ConversionError> {
        let nanos = i128::from(date.timestamp_millis()) * instant::NANOS_PER_MILLI;
        UtcDateTime::from_unix_timestamp_nanos(nanos)
            .map_err(|_| instant::out_of_range(date, "time::UtcDateTime"))
    }
}

civil_types!(TimeCrate: Date, Time, PrimitiveDateTime = PrimitiveDateTime::new);
in_milliseconds!(TimeCrate: Duration);

impl CivilDate for Date {
    fn parts(&self) -> (i32, u8, u8) {
        (self.year(), self.month().into(), self.day())
    }

    fn from_parts(year: i32, month: u8, day: u8) -> Option<Self> {
        Self::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()
    }
}

impl CivilTime for Time {
    fn parts(&self) -> Parts {
        Parts {
            hour: self.hour(),
            minute: self.minute(),
            second: self.second(),
            nanos: self.nanosecond(),
        }
    }

    fn from_parts(parts: Parts) -> Option<Self> {
        Self::from_hms_nano(parts.hour, parts.minute, parts.second, parts.nanos).ok()
    }
}

impl<const UNIT: u32, const TRUNCATES: bool> StoredAs<Duration> for Count<UNIT, TRUNCATES> {
    type Stored = i64;

    fn to_stored(value: &Duration) -> Result<i64, ConversionError> {
        instant::span::<UNIT, TRUNCATES>(value.whole_nanoseconds())
    }

    fn from_stored(count: i64) -> Result<Duration, ConversionError> {
        // A number of 64 bits has at most as many seconds.
        Ok(Duration::nanoseconds_i128(
            i128::from(count) * i128::from(UNIT),
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::UtcOffset;

    use super::*;

    type Exact = TimeCrate<false>;
    type Truncated = TimeCrate<true>;

    proptest! {
        #[test]
        fn dates_are_read_back(millis in prop_oneof![any::<i64>(), -400_000_000_000_000..300_000_000_000_000_i64]) {
            let date = BsonDate::from_millis(millis);
            if let Ok(time) = <Exact as StoredAs<OffsetDateTime>>::from_stored(date) {
                prop_assert_eq!(Exact::to_stored(&time), Ok(date));
                prop_assert_eq!(Exact::to_stored(&time.to_utc()), Ok(date));
            }
        }

        #[test]
        fn truncation_keeps_the_order(a in -9_000_000..9_000_000_i128, b in -9_000_000..9_000_000_i128) {
            let time = |nanos| OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap();
            let stored = |nanos| Truncated::to_stored(&time(nanos)).unwrap();
            prop_assert!(a > b || stored(a) <= stored(b));
            prop_assert_eq!(Exact::to_stored(&time(a)).is_ok(), a % 1_000_000 == 0);
        }

        #[test]
        fn civil_times_are_read_back_and_sort(a in time(), b in time()) {
            let (x, y) = (Exact::to_stored(&a).unwrap(), Exact::to_stored(&b).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(Exact::from_stored(x), Ok(a));
        }

        #[test]
        fn spans_are_read_back(count: i64) {
            let span: Duration = Exact::from_stored(count).unwrap();
            prop_assert_eq!(Exact::to_stored(&span), Ok(count));
            let span: Duration = Count::<1_000_000_000, false>::from_stored(count).unwrap();
            prop_assert_eq!(Count::<1_000_000_000, false>::to_stored(&span), Ok(count));
        }
    }

    fn time() -> impl Strategy<Value = PrimitiveDateTime> {
        let time = (0..24_u8, 0..60_u8, 0..60_u8, 0..1_000_000_000_u32);
        (0..=9999_i32, 1..=365_u16, time).prop_map(|(year, day, (hour, minute, second, nanos))| {
            PrimitiveDateTime::new(
                Date::from_ordinal_date(year, day).unwrap(),
                Time::from_hms_nano(hour, minute, second, nanos).unwrap(),
            )
        })
    }

    #[test]
    fn the_ends_of_the_ranges() {
        for date in [BsonDate::MIN, BsonDate::MAX] {
            let read: Result<OffsetDateTime, _> = Exact::from_stored(date);
            assert!(read.unwrap_err().to_string().contains("out of the range"));
        }
        for date in [Date::MIN, Date::MAX] {
            let time = date.midnight().assume_utc();
            assert!(Exact::to_stored(&time).is_ok());
        }
        assert!(Exact::to_stored(&Date::MIN).is_err());
        assert!(Exact::to_stored(&Duration::MAX).is_err());
        let read: Result<Date, _> = Exact::from_stored("2023-02-29".to_owned());
        assert!(read.is_err());
    }

    #[test]
    fn offsets_are_refused() {
        let time = OffsetDateTime::UNIX_EPOCH.to_offset(UtcOffset::from_hms(1, 0, 0).unwrap());
        let refused = Truncated::to_stored(&time).unwrap_err();
        assert!(refused.to_string().contains("offset"));
    }
}
