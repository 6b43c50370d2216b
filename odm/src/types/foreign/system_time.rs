//! `std::time::SystemTime` as a date, for `#[serde(with = "odm::system_time")]`.
//!
//! Dates have milliseconds. A time with a fraction of one, such as `SystemTime::now()` on most systems, is refused, by an error that
//! names the field; the module [`truncated`] drops the fraction.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "logins", ttl(at, after = "90d"))]
//! struct Login {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::system_time::truncated")]
//!     at: SystemTime,
//! }
//!
//! # fn main() -> odm::Result<()> {
//! let login = odm::query::fields::<Login>();
//! let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_234_567);
//! let date = bson::DateTime::from_millis(1_234);
//! assert_eq!(login.at.gte(at).to_document()?, doc! {"at": {"$gte": date}});
//! assert_eq!(login.at.current_date().to_document()?, doc! {"$currentDate": {"at": true}});
//! # Ok(())
//! # }
//! ```

use std::time::{Duration, SystemTime};

use bson::DateTime;

use super::bare::bare;
use super::instant;
use super::stored_as::{ConversionError, StoredAs};

/// How this module stores a time.
#[doc(hidden)]
#[derive(Debug)]
pub enum System<const TRUNCATES: bool> {}

serializer!(System<false>);

/// Like [the module above](super::system_time), but rounds down to the earlier millisecond. Values in filters and updates are
/// truncated, too.
pub mod truncated {
    serializer!(super::System<true>);
}

bare! {
    [] SystemTime: Date, "std::time::SystemTime", "a document of seconds and nanoseconds", "a date", "odm::system_time";
}

impl<const TRUNCATES: bool> StoredAs<SystemTime> for System<TRUNCATES> {
    type Stored = DateTime;

    fn to_stored(value: &SystemTime) -> Result<DateTime, ConversionError> {
        let nanos = |span: Duration| i128::try_from(span.as_nanos()).unwrap_or(i128::MAX);
        let nanos = match value.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => nanos(after),
            Err(before) => -nanos(before.duration()),
        };
        instant::date::<TRUNCATES>(nanos, "system_time")
    }

    fn from_stored(date: DateTime) -> Result<SystemTime, ConversionError> {
        let millis = date.timestamp_millis();
        let span = Duration::from_millis(millis.unsigned_abs());
        let time = if millis < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(span)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(span)
        };
        time.ok_or_else(|| instant::out_of_range(date, "std::time::SystemTime"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn dates_are_read_back(millis: i64) {
            let date = DateTime::from_millis(millis);
            if let Ok(time) = <System<false> as StoredAs<SystemTime>>::from_stored(date) {
                prop_assert_eq!(System::<false>::to_stored(&time), Ok(date));
            }
        }
    }

    #[test]
    fn times_are_rounded_down() {
        let time = SystemTime::UNIX_EPOCH - Duration::from_micros(1);
        assert!(System::<false>::to_stored(&time).is_err());
        assert_eq!(
            System::<true>::to_stored(&time),
            Ok(DateTime::from_millis(-1))
        );
    }
}
