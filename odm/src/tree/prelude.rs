//! The types of models with trees, in one import beside [`odm::prelude`](crate::prelude).
//!
//! ```
//! use odm::prelude::*;
//! use odm::tree::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "categories", tree(parent_references, order = rank))]
//! struct Category {
//!     #[serde(rename = "_id")]
//!     id: String,
//!     parent: Parent<Category>,
//!     rank: Rank,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> odm::Result<()> {
//! let tree: Tree<Category> = Db::memory().tree();
//! let books = Category { id: "Books".into(), parent: Parent::default(), rank: Rank::default() };
//! tree.insert(books, Position::root()).await?;
//! # Ok(())
//! # }
//! ```

pub use crate::tree::{Position, Tree};
pub use crate::types::tree::{
    Ancestors, Children, Depth, Left, Materialized, NodeCount, Parent, Rank, Right, ZeroRoot,
};
