//! Relations between collections, joined with few commands.
//!
//! Nothing is lazy: a [`Ref`](crate::types::Ref) never loads by itself. [`Find::join`] loads a relation of all rows with
//! one query and returns rows of another type, whose relations are read by name.
//!
//! - [`ReferenceJoin`]: from a reference to the document that it names.
//! - [`Inverse`]: from a document to those that refer to it.
//! - [`Each`]: references in a list of subdocuments.
//!
//! [`Find::join`]: crate::collection::Find::join

mod branch;
mod count;
mod dbref;
mod each;
mod inverse;
mod inverse_join;
mod join;
mod link;
mod projected;
mod recent;
mod reference;
mod reference_join;
mod related;
mod row;
mod scope;
mod subset;
mod with;

pub use self::branch::{Also, Branch, Branches, IntoBranch};
pub use self::count::Counted;
pub use self::each::Each;
pub use self::inverse::{Exists, Inverse, InverseValue, Many, One, Rest};
pub use self::join::Rows;
pub use self::link::IntoLink;
pub use self::recent::{InRecentLists, InsertWithRecent, InsertWithRecentResult};
pub use self::reference::{
    AtMostOneKey, ById, KeyOf, KeyReference, ManyKeys, OneKey, Reference, ReferenceArity, RefersBy,
    Resolved,
};
pub use self::reference_join::ReferenceJoin;
pub use self::row::{And, Behind, First, Has, Joined, RowOf};
pub use self::subset::{
    DeleteWithRest, DeleteWithRestResult, InsertWithRest, InsertWithRestResult,
};
pub use self::with::With;
#[doc(hidden)]
pub use crate::exec::{Channel, Link};
