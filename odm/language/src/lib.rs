//! The language of MongoDB: BSON values and their order, filters, expressions, regular expressions and JSON Schema.
//!
//! The in-memory engine runs it, and `mongodb-odm` validates documents with it before it sends them. Programs should
//! depend on `mongodb-odm` instead: this crate's API changes without notice.
//!
//! Everything here is pure: no state and no I/O, and the caller passes the only clock.

#[cfg(test)]
pub(crate) mod cases;

pub mod clock;
pub mod error;
pub mod expression;
pub mod matcher;
pub mod refusal;
pub mod regex;
pub mod shuffle;
pub mod value;
pub mod version;
