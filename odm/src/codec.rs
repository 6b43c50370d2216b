//! Converts between serde values and raw BSON, faster than the `bson` crate and with the same results.

pub(crate) mod decode;
pub(crate) mod encode;
