//! [`Left`] and [`Right`]: the bounds of a nested set.

use super::numbers::number;

number! {
    /// Where a round trip through the tree first visits a node. The bounds of its descendants lie between this and
    /// [`Right`].
    ///
    /// The operations of a tree write the field. A document to insert has `Left::default()`.
    Left
}

number! {
    /// Where a round trip through the tree last visits a node.
    ///
    /// The operations of a tree write the field. A document to insert has `Right::default()`.
    Right
}
