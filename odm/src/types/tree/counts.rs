//! [`Depth`] and [`NodeCount`].

use super::numbers::number;

number! {
    /// The number of a node's ancestors: 0 at a root.
    ///
    /// The operations of a tree write the field. A document to insert has `Depth::default()`.
    Depth
}

number! {
    /// The number of a node's children, or of its descendants.
    ///
    /// The operations of a tree write the field. A document to insert has `NodeCount::default()`.
    NodeCount
}
