//! [`Children`]: the ids of the children.

use super::ids::ids;

ids! {
    /// The ids of a node's children, in their order; stored as an array.
    ///
    /// The operations of a tree write the field. A document to insert has `Children::default()`.
    Children
}
