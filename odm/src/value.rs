//! BSON values: their order, arithmetic, types, paths and keys. Pure functions: no state, no I/O.
//!
//! Start at [`order`], the one order that sorts, ranges, indexes and groups use.

pub(crate) mod collation;
pub(crate) mod decimal;
pub(crate) mod geo;
pub(crate) mod key;
pub(crate) mod kind;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod path;
pub(crate) mod print;
pub(crate) mod raw;
#[cfg(feature = "memory")]
pub(crate) mod text;
mod wide;
pub(crate) mod write;
