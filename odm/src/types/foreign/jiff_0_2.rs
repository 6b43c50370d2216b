//! The types of [jiff] 0.2, for `#[serde(with = "odm::jiff_0_2")]`.
//!
//! | type | stored as |
//! | --- | --- |
//! | `Timestamp` | a date, not a BSON timestamp |
//! | `civil::Date` | text: `2026-11-23` |
//! | `civil::Time` | text: `09:30:00`, `09:30:00.25` |
//! | `civil::DateTime` | text: `2026-11-23T09:30:00` |
//! | `SignedDuration` | an integer (`long`) of milliseconds |
//!
//! Dates have milliseconds. A `Timestamp` or a `SignedDuration` with a fraction of one, such as `Timestamp::now()`, is refused,
//! by an error that names the field; the module [`truncated`] drops the fraction. A date that `Timestamp` can't hold is an
//! error when it is read. Text sorts as the dates and times do, for the years 0 to 9999; other years are refused.
//!
//! A date does not keep a zone, so `Zoned` is not stored: keep its `timestamp()`, and the name of the zone beside it.
//!
//! ```
//! use jiff::{SignedDuration, Timestamp, civil};
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "shifts", index(starts))]
//! struct Shift {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::jiff_0_2::truncated")]
//!     starts: Timestamp,
//!     #[serde(with = "odm::jiff_0_2")]
//!     lasts: SignedDuration,
//!     #[serde(with = "odm::jiff_0_2")]
//!     days: Vec<civil::Date>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let shifts = db.collection::<Shift>();
//! let monday = civil::date(2026, 11, 23);
//! let starts = "2026-11-23T09:30:00.1234567Z".parse()?;
//! shifts.insert_one(&Shift { id: 1, starts, lasts: SignedDuration::from_hours(8), days: vec![monday] }).await?;
//!
//! let hour = SignedDuration::from_hours(1);
//! shifts.update_one(|s| s.starts.eq(starts) & s.days.has(monday), |s| s.lasts.inc(hour)).await?;
//! let stored = shifts.get(&1).await?.ok_or("no shift")?;
//! assert_eq!(stored.starts, "2026-11-23T09:30:00.123Z".parse()?);
//! assert_eq!(stored.lasts, SignedDuration::from_hours(9));
//! # Ok(())
//! # }
//! ```

use bson::DateTime as BsonDate;
use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp, Zoned};

use super::bare::bare;
use super::civil::{self, CivilDate, CivilTime, Parts, civil_types};
use super::duration::{Count, in_milliseconds};
use super::instant;
use super::stored_as::{ConversionError, StoredAs};

/// How this module stores its types.
#[doc(hidden)]
#[derive(Debug)]
pub enum Jiff<const TRUNCATES: bool> {}

serializer!(Jiff<false>);

/// Like [the module above](super::jiff_0_2), but drops what is less than a millisecond: a `Timestamp` is rounded down to the
/// earlier millisecond, a `SignedDuration` toward zero. Values in filters and updates are truncated, too.
pub mod truncated {
    serializer!(super::Jiff<true>);
}

bare! {
    [] Timestamp: Date, "jiff::Timestamp", "text", "a date", "odm::jiff_0_2";
    [] Zoned: Date, "jiff::Zoned", "text", "a date, declare a `jiff::Timestamp` instead; for that", "odm::jiff_0_2";
    [] Date: String, "jiff::civil::Date", "text in a form of its own", "text that sorts", "odm::jiff_0_2";
    [] Time: String, "jiff::civil::Time", "text in a form of its own", "text that sorts", "odm::jiff_0_2";
    [] DateTime: String, "jiff::civil::DateTime", "text in a form of its own", "text that sorts", "odm::jiff_0_2";
    [] SignedDuration: Long, "jiff::SignedDuration", "text", "milliseconds", "odm::jiff_0_2";
}

impl<const TRUNCATES: bool> StoredAs<Timestamp> for Jiff<TRUNCATES> {
    type Stored = BsonDate;

    fn to_stored(value: &Timestamp) -> Result<BsonDate, ConversionError> {
        instant::date::<TRUNCATES>(value.as_nanosecond(), "jiff_0_2")
    }

    fn from_stored(date: BsonDate) -> Result<Timestamp, ConversionError> {
        let millis = date.timestamp_millis();
        let nanos = millis.rem_euclid(1_000) * 1_000_000;
        // `from_millisecond` refuses the last second that a `Timestamp` holds.
        i32::try_from(nanos)
            .ok()
            .and_then(|nanos| Timestamp::new(millis.div_euclid(1_000), nanos).ok())
            .ok_or_else(|| instant::out_of_range(date, "jiff::Timestamp"))
    }
}

civil_types!(Jiff: Date, Time, DateTime = DateTime::from_parts);
in_milliseconds!(Jiff: SignedDuration);

impl CivilDate for Date {
    fn parts(&self) -> (i32, u8, u8) {
        (self.year().into(), small(self.month()), small(self.day()))
    }

    fn from_parts(year: i32, month: u8, day: u8) -> Option<Self> {
        let (year, month, day) = (year.try_into(), month.try_into(), day.try_into());
        Self::new(year.ok()?, month.ok()?, day.ok()?).ok()
    }
}

impl CivilTime for Time {
    fn parts(&self) -> Parts {
        Parts {
            hour: small(self.hour()),
            minute: small(self.minute()),
            second: small(self.second()),
            nanos: u32::try_from(self.subsec_nanosecond()).unwrap_or_default(),
        }
    }

    fn from_parts(parts: Parts) -> Option<Self> {
        let part = |number: u8| i8::try_from(number).ok();
        let (hour, minute, second) = (part(parts.hour)?, part(parts.minute)?, part(parts.second)?);
        Self::new(hour, minute, second, parts.nanos.try_into().ok()?).ok()
    }
}

/// A month, a day, an hour, a minute or a second.
fn small(number: i8) -> u8 {
    u8::try_from(number).unwrap_or_default()
}

impl<const UNIT: u32, const TRUNCATES: bool> StoredAs<SignedDuration> for Count<UNIT, TRUNCATES> {
    type Stored = i64;

    fn to_stored(value: &SignedDuration) -> Result<i64, ConversionError> {
        instant::span::<UNIT, TRUNCATES>(value.as_nanos())
    }

    fn from_stored(count: i64) -> Result<SignedDuration, ConversionError> {
        let nanos = i128::from(count) * i128::from(UNIT);
        // A number of 64 bits has at most as many seconds.
        Ok(SignedDuration::from_nanos_i128(nanos))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Exact = Jiff<false>;
    type Truncated = Jiff<true>;

    proptest! {
        #[test]
        fn dates_are_read_back(millis in prop_oneof![any::<i64>(), -400_000_000_000_000..300_000_000_000_000_i64]) {
            let date = BsonDate::from_millis(millis);
            if let Ok(time) = <Exact as StoredAs<Timestamp>>::from_stored(date) {
                prop_assert_eq!(Exact::to_stored(&time), Ok(date));
            }
        }

        #[test]
        fn truncation_keeps_the_order(a in -9_000_000..9_000_000_i128, b in -9_000_000..9_000_000_i128) {
            let time = |nanos| Timestamp::from_nanosecond(nanos).unwrap();
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
            let span: SignedDuration = Exact::from_stored(count).unwrap();
            prop_assert_eq!(Exact::to_stored(&span), Ok(count));
            let span: SignedDuration = Count::<1_000_000_000, false>::from_stored(count).unwrap();
            prop_assert_eq!(Count::<1_000_000_000, false>::to_stored(&span), Ok(count));
        }
    }

    fn time() -> impl Strategy<Value = DateTime> {
        let date = (0..=9999_i16, 1..=12_i8, 1..=28_i8);
        let time = (0..24_i8, 0..60_i8, 0..60_i8, 0..1_000_000_000_i32);
        (date, time).prop_map(|((year, month, day), (hour, minute, second, nanos))| {
            jiff::civil::datetime(year, month, day, hour, minute, second, nanos)
        })
    }

    #[test]
    fn the_ends_of_the_ranges() {
        for time in [Timestamp::MIN, Timestamp::MAX] {
            let stored = Truncated::to_stored(&time).unwrap();
            assert!(<Truncated as StoredAs<Timestamp>>::from_stored(stored).is_ok());
        }
        for date in [BsonDate::MIN, BsonDate::MAX] {
            let read: Result<Timestamp, _> = Exact::from_stored(date);
            assert!(read.unwrap_err().to_string().contains("out of the range"));
        }
        assert!(Exact::to_stored(&Date::MIN).is_err());
        assert!(Exact::to_stored(&Date::MAX).is_ok());
        assert!(Exact::to_stored(&SignedDuration::MAX).is_err());
        assert!(Truncated::to_stored(&SignedDuration::MIN).is_err());
        let read: Result<Date, _> = Exact::from_stored("2023-02-29".to_owned());
        assert!(read.is_err());
    }
}
