//! Types for fields: generated ids.

mod id;

pub use self::id::{Id, ParseIdError};
