//! The fields that a tree keeps: each has what its pattern stores, and no way to edit it by hand.
//!
//! The operations of [`Tree`](crate::tree::Tree) write these fields; a document to insert has their defaults.

mod ancestors;
mod bounds;
mod children;
mod counts;
mod ids;
mod numbers;
mod parent;
mod path;
mod rank;

use crate::model::Document;
use crate::model::tree::RootParent;

pub use self::ancestors::Ancestors;
pub use self::bounds::{Left, Right};
pub use self::children::Children;
pub use self::counts::{Depth, NodeCount};
pub use self::parent::{NullRoot, Parent, Root, ZeroRoot};
pub use self::path::Materialized;
pub use self::rank::Rank;
pub(crate) use self::rank::{between, ranks_between};

/// A type of a field that can keep what `T` keeps.
#[diagnostic::on_unimplemented(
    message = "the tree keeps `{T}` in this field, which is declared as `{Self}`",
    label = "declare it as `{T}`",
    note = "only the operations of a tree write this field"
)]
pub trait KeptAs<T> {
    /// The parent value of a root.
    #[doc(hidden)]
    const ROOT: RootParent = RootParent::Null;
}

#[diagnostic::do_not_recommend]
impl<T: Document, R: Root> KeptAs<Parent<T>> for Parent<T, R> {
    const ROOT: RootParent = R::VALUE;
}

#[diagnostic::do_not_recommend]
impl<T: Document> KeptAs<Self> for Materialized<T> {}

#[diagnostic::do_not_recommend]
impl<T: Document> KeptAs<Self> for Children<T> {}
#[diagnostic::do_not_recommend]
impl<T: Document> KeptAs<Self> for Ancestors<T> {}
#[diagnostic::do_not_recommend]
impl KeptAs<Self> for Left {}
#[diagnostic::do_not_recommend]
impl KeptAs<Self> for Right {}
#[diagnostic::do_not_recommend]
impl KeptAs<Self> for Depth {}
#[diagnostic::do_not_recommend]
impl KeptAs<Self> for Rank {}
#[diagnostic::do_not_recommend]
impl KeptAs<Self> for NodeCount {}

/// Implemented by no type: its message is the point.
#[diagnostic::on_unimplemented(
    message = "only the tree writes values of `{T}`",
    label = "no value of `{T}` is made of this",
    note = "write `default()`, such as `Parent::default()`, and name the place in the operation: `tree.insert(node, Position::child_of(Ref::from(id)))`"
)]
pub trait KeptFrom<T> {}

/// The constructors that users look for.
macro_rules! kept_from {
    ([$($of:tt)*] $name:ty: $($constructor:ident),*) => {
        impl<$($of)*> $name {$(
            #[doc(hidden)]
            pub fn $constructor<V: KeptFrom<Self>>(_: V) -> Self {
                Self::default()
            }
        )*}
    };
}

kept_from!([T: Document, R: Root] Parent<T, R>: from, of);
kept_from!([T: Document] Materialized<T>: from, of);
kept_from!([T: Document] Children<T>: from, of);
kept_from!([T: Document] Ancestors<T>: from, of);
kept_from!([] Rank: from, new, of);
