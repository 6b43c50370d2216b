//! Types for fields, one file each: what the type stores, its operators and its conversions.

mod id;
mod reference;
pub mod tree;

pub use self::id::{Id, ParseIdError};
pub use self::reference::{Ref, RefersTo};
