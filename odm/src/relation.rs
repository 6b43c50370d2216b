//! References between collections: loads the documents that [`Ref`](crate::types::Ref)s point to with one
//! batched query.
//!
//! Nothing is lazy: a reference never loads by itself. [`Find::join`] loads it and returns rows of another
//! type.
//!
//! [`Find::join`]: crate::collection::Find::join

mod fetch;
mod join;
mod reference;
mod references;

pub use self::join::{Join, Joined};
pub use self::reference::{Reference, Resolved};
pub use self::references::{OneMore, References};
