//! An untyped collection: raw commands in an optional session, and their limits.
//!
//! Joins, trees and writes of several documents send their commands here.

mod channel;
pub(crate) mod explain;

pub use self::channel::Channel;
pub(crate) use self::channel::{Plans, counted, refused};
