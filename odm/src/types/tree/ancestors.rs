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
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::tree::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "categories", tree(array_of_ancestors))]
    /// # struct Category { #[serde(rename = "_id")] id: String, ancestors: Ancestors<Category> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let tree = Db::memory().tree::<Category>();
    /// # let new = |id: &str| Category { id: id.to_owned(), ancestors: Ancestors::default() };
    /// let books = tree.insert(new("Books"), Position::root()).await?.node;
    /// let fiction = tree.insert(new("Fiction"), Position::child_of(&books)).await?.node;
    /// assert_eq!((books.ancestors.depth(), fiction.ancestors.depth()), (0, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn depth(&self) -> usize {
        self.ids().len()
    }
}
