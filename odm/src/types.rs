//! What users put in fields: ids.

mod id;

pub use self::id::{Id, ParseIdError};
