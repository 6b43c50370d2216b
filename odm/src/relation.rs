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
mod lookup;
mod projected;
mod reference;
mod reference_join;
mod related;
mod row;
mod scope;
mod subset;
mod with;

pub use self::count::Counted;
pub use self::each::Each;
pub use self::inverse::Inverse;
pub use self::join::Rows;
pub use self::reference::Resolved;
pub use self::reference_join::ReferenceJoin;
pub use self::row::{Has, Joined};
pub use self::subset::{
    DeleteWithRest, DeleteWithRestResult, InsertWithRest, InsertWithRestPropagated,
    InsertWithRestResult,
};
pub use self::with::With;
#[doc(hidden)]
pub use crate::exec::{Channel, Link};

/// The types and traits that inference names: the parts of joins, and what the closures of joins and filters may return.
pub mod typing {
    pub use super::branch::{Also, Branch, Branches, IntoBranch};
    pub use super::inverse::{Exists, InverseValue, Many, One, Rest};
    pub use super::link::IntoLink;
    pub use super::reference::{
        AtMostOneKey, ById, KeyOf, KeyReference, ManyKeys, OneKey, Reference, ReferenceArity,
        RefersBy,
    };
    pub use super::row::{
        And, Behind, First, FirstOrRest, HasEmbeddedRelation, IntoParts, NamedRelation, OfDocument,
        OfEmbedded, RelationName, RowOf, SerializeRelations,
    };
}
