//! Types for fields, one file each: what the type stores, its operators and its conversions.

mod compared;
mod compound;
pub mod dbref;
pub mod foreign;
pub mod geo;
mod id;
mod into_id;
pub mod json;
pub mod money;
mod reference;
pub mod time;
pub mod tree;
mod uuid_id;

pub use self::id::{Id, ParseIdError};
pub use self::into_id::IntoId;
pub use self::reference::{Ref, RefersTo};
pub use self::uuid_id::{ParseUuidIdError, UuidId};
