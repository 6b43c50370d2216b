//! Local times: an instant together with the offset from UTC of the clock that showed it; and days as ranges of instants.
//!
//! MongoDB stores instants, as dates in UTC. MongoDB's guide stores the offset of the writer beside the instant where a
//! program must know what the writer's clock showed: [`LocalTime`] is that document, `{date, offset}`. The type says which
//! sign the stored offset has: [`Iso`] offsets are positive east of Greenwich, as in `+02:00`, and [`JavaScript`] ones are
//! positive west of it, as `getTimezoneOffset()` returns them.
//!
//! ```
//! use odm::prelude::*;
//! use odm::time::{Iso, LocalTime, day};
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "sales", index(at))]
//! struct Sale {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     at: LocalTime<Iso>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let sales = db.collection::<Sale>();
//! sales.insert_one(&Sale { id: 1, at: "2026-03-29T10:30:00+02:00".parse()? }).await?;
//!
//! let sunday = day("2026-03-29")?.in_utc();
//! let sale = sales.find_one(|s| s.at.within(sunday)).await?.ok_or("no sale")?;
//! assert_eq!((sale.at.hour(), sale.at.minute()), (10, 30));
//! assert_eq!(sale.at.to_string(), "2026-03-29T10:30:00+02:00");
//! # Ok(())
//! # }
//! ```

mod civil;
mod day;
mod error;
mod fields;
mod form;
mod local;
mod range;
mod text;
#[cfg(feature = "jiff_0_2")]
mod zone;
#[cfg(feature = "jiff_0_2")]
mod zoned;

pub use self::civil::Weekday;
pub use self::day::{CivilDay, day};
pub use self::error::TimeError;
pub use self::fields::{IntoInstant, LocalTimeFields};
pub use self::form::{Iso, JavaScript, Offset, OffsetForm, Sign};
pub use self::local::LocalTime;
pub use self::range::{Dated, InstantRange};
#[cfg(feature = "jiff_0_2")]
pub use self::zoned::{ZonedTime, ZonedTimeFields};
