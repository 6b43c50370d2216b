//! Field types of other crates and of std: what they are stored as, and how a field says so.
//!
//! serde decides what a field stores, and a derive can't change that. Many types of other crates write themselves for text
//! formats: a `chrono::DateTime` as a string, a `std::time::Duration` as a document of two numbers. This crate has a module
//! for each of them, which serde's `with` names; the derives then take the field for what the module stores:
//!
//! ```
//! use std::time::Duration;
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "tasks", index(took))]
//! struct Task {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::duration")]
//!     took: Duration,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let tasks = db.collection::<Task>();
//! tasks.insert_one(&Task { id: 1, took: Duration::from_millis(1_500) }).await?;
//! // {_id: 1, took: NumberLong(1500)}
//!
//! let slow = tasks.find(|t| t.took.gt(Duration::from_secs(1))).all().await?;
//! assert_eq!(slow.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! | module | feature | types |
//! | --- | --- | --- |
//! | `odm::chrono_0_4` | `chrono_0_4` | `DateTime<Utc>`, `NaiveDate`, `NaiveTime`, `NaiveDateTime`, `TimeDelta` |
//! | `odm::jiff_0_2` | `jiff_0_2` | `Timestamp`, `civil::Date`, `civil::Time`, `civil::DateTime`, `SignedDuration` |
//! | `odm::time_0_3` | `time_0_3` | `OffsetDateTime`, `UtcDateTime`, `Date`, `Time`, `PrimitiveDateTime`, `Duration` |
//! | `odm::uuid_1` | `uuid_1` | `Uuid` |
//! | `odm::rust_decimal_1` | `rust_decimal_1` | `Decimal` |
//! | `odm::url_2` | `url_2` | `Url` |
//! | `odm::serde_json_1` | `serde_json_1` | `Value` |
//! | [`odm::duration`](crate::duration) | | `std::time::Duration` |
//! | [`odm::system_time`](crate::system_time) | | `std::time::SystemTime` |
//! | [`odm::ip`](crate::ip) | | `IpAddr`, `Ipv4Addr`, `Ipv6Addr`, `SocketAddr`, `SocketAddrV4`, `SocketAddrV6` |
//! | [`odm::bytes`](crate::bytes) | | `Vec<u8>`, `Box<[u8]>` |
//! | [`odm::int128`](crate::int128) | | `u128`, `i128` |
//! | [`odm::double_option`](crate::double_option) | | `Option<Option<T>>` of a PATCH request |
//! | [`odm::map_keys`](crate::map_keys) | | `BTreeMap` and `HashMap` whose keys are integers, ids or references |
//!
//! A module also takes an `Option`, a `Box`, a list, a set or a map of its types. `PathBuf` and `url::Url` write themselves
//! as text, so they need no module.
//!
//! # A module of your own
//! [`StoredAs`] says what a type is stored as, and [`serializer!`](crate::serializer) makes a module of it:
//!
//! ```
//! use odm::prelude::*;
//! # mod theirs {
//! #     #[derive(Debug, Clone, PartialEq)]
//! #     pub struct Celsius { pub degrees: f64 }
//! # }
//! use theirs::Celsius;
//!
//! mod tenths {
//!     use odm::foreign::{ConversionError, StoredAs};
//!     use super::theirs::Celsius;
//!
//!     /// A temperature as the number of tenths of a degree.
//!     pub enum Tenths {}
//!
//!     impl StoredAs<Celsius> for Tenths {
//!         type Stored = i32;
//!
//!         fn to_stored(value: &Celsius) -> Result<i32, ConversionError> {
//!             let tenths = value.degrees * 10.0;
//!             if tenths.fract() != 0.0 || tenths.abs() > 100_000.0 {
//!                 return Err(ConversionError::new("a temperature has one digit after the point"));
//!             }
//!             Ok(tenths as i32)
//!         }
//!
//!         fn from_stored(tenths: i32) -> Result<Celsius, ConversionError> {
//!             Ok(Celsius { degrees: f64::from(tenths) / 10.0 })
//!         }
//!     }
//!
//!     odm::serializer!(Tenths);
//! }
//!
//! #[derive(Serialize, Deserialize, Document)]
//! #[odm(collection = "readings", index(inside))]
//! struct Reading {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "tenths")]
//!     inside: Celsius,
//!     #[serde(with = "tenths")]
//!     outside: Vec<Celsius>,
//! }
//!
//! # fn main() -> odm::Result<()> {
//! let reading = odm::query::fields::<Reading>();
//! let degrees = |degrees| Celsius { degrees };
//! assert_eq!(reading.inside.gt(degrees(21.5)).to_document()?, doc! {"inside": {"$gt": 215}});
//! assert_eq!(reading.inside.inc(degrees(0.5)).to_document()?, doc! {"$inc": {"inside": 5}});
//! assert_eq!(reading.outside.push(degrees(-3.0)).to_document()?, doc! {"$push": {"outside": -30}});
//!
//! let error = reading.inside.eq(degrees(21.55)).to_document().unwrap_err();
//! assert_eq!(error.path(), Some("inside"));
//! # Ok(())
//! # }
//! ```

mod bare;
#[cfg(any(feature = "chrono_0_4", feature = "jiff_0_2", feature = "time_0_3"))]
mod civil;
mod containers;
mod decimal;
mod form;
mod instant;
#[macro_use]
mod stored_as;

pub mod bytes;
#[cfg(feature = "chrono_0_4")]
pub mod chrono_0_4;
pub mod double_option;
pub mod duration;
pub mod int128;
pub mod ip;
#[cfg(feature = "jiff_0_2")]
pub mod jiff_0_2;
pub mod map_keys;
#[cfg(feature = "rust_decimal_1")]
pub mod rust_decimal_1;
#[cfg(feature = "serde_json_1")]
pub mod serde_json_1;
pub mod system_time;
#[cfg(feature = "time_0_3")]
pub mod time_0_3;
#[cfg(feature = "url_2")]
pub mod url_2;
#[cfg(feature = "uuid_1")]
pub mod uuid_1;

#[doc(hidden)]
pub use self::form::{AsItself, Form, Undeclared, defaults, form, undeclared};
pub use self::stored_as::{By, ConversionError, StoredAs};
#[doc(hidden)]
pub use self::stored_as::{deserialize, serialize};
