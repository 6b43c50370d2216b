//! Spans of time as integers, for `#[serde(with = "odm::duration")]`: `std::time::Duration`, and those of chrono, jiff and time if
//! their features are enabled.
//!
//! | module | stored as (`long`) |
//! | --- | --- |
//! | `odm::duration` | milliseconds |
//! | `odm::duration::truncated` | milliseconds, without what is less than one |
//! | `odm::duration::seconds` | seconds |
//! | `odm::duration::micros` | microseconds |
//! | `odm::duration::nanos` | nanoseconds, up to 292 years |
//!
//! Except in `truncated`, a duration with a fraction of the unit is refused, by an error that names the field. So is one with
//! more units than 64 bits hold, and a stored number that the type can't hold: a `std::time::Duration` is never negative.
//!
//! ```
//! use std::time::Duration;
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "tasks")]
//! struct Task {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::duration")]
//!     #[odm(range(max = 60_000))]
//!     took: Duration,
//!     #[serde(with = "odm::duration::nanos")]
//!     laps: Vec<Duration>,
//! }
//!
//! # fn main() -> odm::Result<()> {
//! let task = odm::query::fields::<Task>();
//! let half = Duration::from_millis(500);
//! assert_eq!(task.took.gt(half).to_document()?, doc! {"took": {"$gt": 500_i64}});
//! assert_eq!(task.took.inc(half).to_document()?, doc! {"$inc": {"took": 500_i64}});
//! assert_eq!(task.laps.push(half).to_document()?, doc! {"$push": {"laps": 500_000_000_i64}});
//!
//! let error = task.took.eq(Duration::from_micros(1)).to_document().unwrap_err();
//! assert_eq!(error.path(), Some("took"));
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use super::bare::bare;
use super::instant::span;
use super::stored_as::{ConversionError, StoredAs};
use crate::model::Rule;

/// How these modules store a duration: the number of units of this many nanoseconds.
#[doc(hidden)]
#[derive(Debug)]
pub enum Count<const UNIT: u32, const TRUNCATES: bool> {}

/// Stores the durations of a crate as milliseconds in its own module, too.
#[cfg(any(feature = "chrono_0_4", feature = "jiff_0_2", feature = "time_0_3"))]
macro_rules! in_milliseconds {
    ($marker:ident: $duration:ty) => {
        impl<const TRUNCATES: bool> StoredAs<$duration> for $marker<TRUNCATES> {
            type Stored = i64;
            const RULES: &'static [$crate::model::Rule] =
                <Count<1_000_000, TRUNCATES> as StoredAs<$duration>>::RULES;

            fn to_stored(value: &$duration) -> Result<i64, ConversionError> {
                Count::<1_000_000, TRUNCATES>::to_stored(value)
            }

            fn from_stored(millis: i64) -> Result<$duration, ConversionError> {
                Count::<1_000_000, TRUNCATES>::from_stored(millis)
            }
        }
    };
}

#[cfg(any(feature = "chrono_0_4", feature = "jiff_0_2", feature = "time_0_3"))]
pub(super) use in_milliseconds;

serializer!(Count<1_000_000, false>);

/// Milliseconds; what is less than one is dropped. Values in filters and updates are truncated, too.
pub mod truncated {
    serializer!(super::Count<1_000_000, true>);
}

/// Seconds.
pub mod seconds {
    serializer!(super::Count<1_000_000_000, false>);
}

/// Microseconds.
pub mod micros {
    serializer!(super::Count<1_000, false>);
}

/// Nanoseconds.
pub mod nanos {
    serializer!(super::Count<1, false>);
}

bare! {
    [] Duration: Long, "std::time::Duration", "a document of seconds and nanoseconds", "milliseconds", "odm::duration";
}

impl<const UNIT: u32, const TRUNCATES: bool> StoredAs<Duration> for Count<UNIT, TRUNCATES> {
    type Stored = i64;
    const RULES: &'static [Rule] = &[Rule::at_least(0)];

    fn to_stored(value: &Duration) -> Result<i64, ConversionError> {
        // `Duration::MAX` has fewer than 2^94 nanoseconds.
        span::<UNIT, TRUNCATES>(i128::try_from(value.as_nanos()).unwrap_or(i128::MAX))
    }

    fn from_stored(count: i64) -> Result<Duration, ConversionError> {
        let Ok(count) = u64::try_from(count) else {
            return Err(ConversionError::new(format!(
                "{count} is negative, and a `std::time::Duration` is not"
            )));
        };
        let per_second = u64::from(1_000_000_000 / UNIT);
        let below = u32::try_from(count % per_second).unwrap_or_default() * UNIT;
        Ok(Duration::new(count / per_second, below))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_back<const UNIT: u32>(count: i64) {
        let span: Duration = Count::<UNIT, false>::from_stored(count).unwrap();
        assert_eq!(Count::<UNIT, false>::to_stored(&span), Ok(count));
    }

    proptest! {
        #[test]
        fn counts_are_read_back(count in 0..=i64::MAX) {
            read_back::<1>(count);
            read_back::<1_000>(count);
            read_back::<1_000_000>(count);
            read_back::<1_000_000_000>(count);
        }

        #[test]
        fn only_whole_units_are_stored(nanos: u64) {
            let span = Duration::from_nanos(nanos);
            prop_assert_eq!(Count::<1_000_000, false>::to_stored(&span).is_ok(), nanos % 1_000_000 == 0);
            let millis = i64::try_from(nanos / 1_000_000).unwrap();
            prop_assert_eq!(Count::<1_000_000, true>::to_stored(&span), Ok(millis));
        }
    }

    #[test]
    fn the_ends_of_the_ranges() {
        read_back::<1_000_000_000>(i64::MAX);
        assert!(Count::<1_000_000, true>::to_stored(&Duration::MAX).is_err());
        let negative: Result<Duration, _> = Count::<1_000_000, false>::from_stored(-1);
        assert!(negative.is_err());
    }
}
