//! Trees: five patterns behind one API.
//!
//! `#[odm(tree(…))]` declares how the documents of a collection form a tree: each node stores its parent, its children,
//! its ancestors in an array or in a path, or two bounds that enclose those of its descendants. [`Db::tree`] returns the
//! [`Tree`], whose operations are the same for all patterns. Reads are queries; writes keep the declared fields in step,
//! in a transaction.
//!
//! ```
//! use odm::prelude::*;
//! use odm::tree::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "categories", tree(materialized_path, order = rank))]
//! struct Category {
//!     #[serde(rename = "_id")]
//!     id: String,
//!     path: Materialized<Category>,
//!     rank: Rank,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! # let db = Db::memory();
//! let new = |id: &str| Category { id: id.to_owned(), path: Materialized::default(), rank: Rank::default() };
//! let tree = db.tree::<Category>();
//! let books = tree.insert(new("Books"), Position::root()).await?.node;
//! let fiction = tree.insert(new("Fiction"), Position::child_of(&books)).await?.node;
//! let history = tree.insert(new("History"), Position::before(&fiction)).await?.node;
//! tree.insert(new("Rome"), Position::child_of(&history)).await?;
//!
//! let ids = tree.descendants(&books).pre_order().ids().await?;
//! assert_eq!(ids, ["History", "Rome", "Fiction"]);
//! # Ok(())
//! # }
//! ```

mod ask;
mod at_once;
mod branch;
mod changes;
mod check;
mod convert;
mod journal;
mod load;
mod names;
mod node;
mod nodes;
mod places;
mod position;
pub mod prelude;
mod propagate;
mod queue;
mod read;
mod tree_store;
mod write;

use std::fmt;
use std::marker::PhantomData;

pub use self::ask::AskTree;
pub use self::branch::{Branch, Branches};
pub use self::check::{CheckTree, DamageKind, TreeDamage, TreeReport};
pub(crate) use self::check::{check_tree, repair_tree};
pub use self::load::InsertBranches;
pub use self::names::{FindByNames, FindOrInsertByNames};
pub use self::nodes::Nodes;
use self::places::Ways;
pub use self::position::{NodeId, Position};
pub use self::propagate::{InsertBranchesPropagated, InsertNodePropagated};
use self::tree_store::TreeStore;
pub use self::tree_store::TreeWrite;
pub use self::write::{ChangeTree, DeleteNode, InsertNode, InsertedNode};
use crate::collection::{Collection, Db};
use crate::exec::Channel;
use crate::model::Document;
pub use crate::model::tree::{
    DeclaredTree, OrderedSiblings, PathId, Pattern, SeveralParents, SingleParent, TreeDelete,
};

/// The tree that the documents of a collection form: [`Db::tree`].
///
/// Reads of the whole collection ([`all`](Self::all), [`roots`](Self::roots), …) see the trees of all scopes; for one of
/// them, filter: `tree.roots().filter(|c| c.shop.eq(&shop))`.
///
/// The examples of its methods begin with this tree, where `node("Books")` is a [`Ref`](crate::prelude::Ref) to the node `Books`:
///
/// ```text
/// Books
///   Programming
///     Languages
///     Databases
///   Fiction
/// ```
pub struct Tree<D: DeclaredTree> {
    collection: Collection<D::Model>,
    of: PhantomData<fn() -> D>,
}

impl Db {
    /// The tree that a model declares, or one of its trees: `db.tree::<Category>()`, `db.tree::<ByRegion>()`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// let tree = db.tree::<Category>();
    /// assert_eq!(tree.children(node("Programming")).ids().await?, ["Languages", "Databases"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tree<D: DeclaredTree>(&self) -> Tree<D> {
        Tree {
            collection: self.collection(),
            of: PhantomData,
        }
    }
}

impl<D: DeclaredTree> Tree<D> {
    fn tree_store(&self) -> TreeStore<'static> {
        TreeStore {
            channel: Channel::new(self.collection.store.clone(), None),
            model: D::Model::model(),
            tree: D::TREE,
            ways: const { Ways::of(D::TREE) },
        }
    }

    /// The collection of the nodes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let fiction = tree.collection().get("Fiction").await?.ok_or("no node")?;
    /// assert_eq!(fiction.path.as_str(), Some(",Books,"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn collection(&self) -> &Collection<D::Model> {
        &self.collection
    }
}

impl<D: DeclaredTree> Clone for Tree<D> {
    fn clone(&self) -> Self {
        Self {
            collection: self.collection.clone(),
            of: PhantomData,
        }
    }
}

impl<D: DeclaredTree> fmt::Debug for Tree<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({:?}, {:?})", self.collection, D::TREE.pattern)
    }
}
