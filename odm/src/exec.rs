//! An untyped collection: raw commands in an optional session, and their limits.
//!
//! Joins, trees and writes of several documents send their commands here. Filters and sorts by related documents become
//! part of a request here.

mod channel;
pub(crate) mod declared;
pub(crate) mod explain;
pub(crate) mod explained;
mod images;
mod keys;
mod related;
mod stored_path;
pub(crate) mod together;

pub use self::channel::Channel;
pub(crate) use self::channel::{Plans, counted, refused};
pub(crate) use self::images::{Image, Images};
pub(crate) use self::keys::Keys;
pub use self::related::Link;
pub(crate) use self::related::{Quantifier, Related, Side};
pub(crate) use self::stored_path::StoredPath;
