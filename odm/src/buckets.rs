//! Buckets: many small documents in few larger ones.
//!
//! A sensor that sends a reading each second would fill a collection with millions of documents, each with its own overhead and
//! its own entries in the indexes. A bucket is one document with the readings of one sensor and one hour, and with what is asked for
//! most often: their number, the smallest and the largest value, a total. A struct with `#[odm(bucket(…))]` declares it, and
//! [`Buckets`] inserts and reads the items.

pub(crate) mod check;
mod computed;
mod delete;
mod handle;
mod insert;
mod interval;
mod items;
mod key;
mod model;
mod statement;
mod summary;

pub use self::delete::{DeleteItems, DeleteItemsResult};
pub use self::handle::Buckets;
pub use self::insert::{InsertItems, InsertItemsResult};
pub use self::items::{FindItems, ItemCursor};
pub use self::model::BucketModel;
pub use self::summary::{BucketSummary, Summarize};
