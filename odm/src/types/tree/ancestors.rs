//! [`Ancestors`]: the ids of the ancestors.

use super::ids::ids;

ids! {
    /// The ids of a node's ancestors, the root first; stored as an array.
    ///
    /// The operations of a tree write the field. A document to insert has `Ancestors::default()`.
    Ancestors
}

impl<T: crate::model::Document> Ancestors<T> {
    /// The number of ancestors: 0 at a root.
    pub fn depth(&self) -> usize {
        self.ids().len()
    }
}
