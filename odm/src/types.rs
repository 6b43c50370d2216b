//! Types for fields, one file each: what the type stores, its operators and its conversions.

mod id;
pub mod money;
mod reference;
pub mod tree;

pub use self::id::{Id, ParseIdError};
pub use self::reference::{Ref, RefersTo};
