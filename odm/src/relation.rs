//! References between collections: what a [`Ref`](crate::model::Ref) points to, in one batched query.
//!
//! What this module is not: lazy. A reference never loads by itself; [`Find::join`] says that it is
//! loaded, and gives rows of another type.
//!
//! [`Find::join`]: crate::collection::Find::join

mod fetch;
mod join;
mod reference;
mod references;

pub use self::join::{Join, Joined};
pub use self::reference::{Reference, Resolved};
pub use self::references::{OneMore, References};
