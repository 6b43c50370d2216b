//! BSON values: their order, arithmetic, types, paths and keys. Pure functions: no state, no I/O.
//!
//! Start at [`order`], the one order that sorts, ranges, indexes and groups use.

pub mod bson_type;
pub mod collation;
pub mod decimal;
pub mod geo;
pub mod key;
pub mod number;
pub mod order;
pub mod path;
pub mod print;
pub mod raw;
pub mod raw_writer;
pub mod text;
mod u256;
