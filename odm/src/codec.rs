//! Serializable values to raw BSON and back, with the bytes and the values that bson makes, in fewer steps.

pub(crate) mod decode;
pub(crate) mod encode;
