//! The language of MongoDB: BSON values and their order, filters, expressions, regular expressions and JSON Schema.
//!
//! The in-memory engine runs it, and `mongodb-odm` validates documents with it before it sends them. Programs depend on
//! `mongodb-odm`: the items of this crate change without notice.
//!
//! Everything here is pure: no state, no I/O and no clock but the one that a caller passes.

#[cfg(test)]
pub(crate) mod cases;

pub mod clock;
pub mod error;
pub mod expression;
pub mod matcher;
pub mod refusal;
pub mod regex;
pub mod value;
