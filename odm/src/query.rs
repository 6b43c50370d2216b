//! Typed fields, filters, sorts and projections: they end as the documents a shell user would type.

pub mod encode;
pub mod field;
mod scalars;

pub use self::encode::{BySerde, Encode};
pub use self::field::{Descend, Field};
