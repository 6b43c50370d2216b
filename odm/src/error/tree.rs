//! Changes of a tree that are refused.

use std::fmt;

use super::{Error, Kind};

/// Why a change of a tree is refused: [`Error::tree_refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TreeRefusal {
    /// There is no node with this id.
    NotFound,
    /// The node has children, and the tree declares `on_delete = restrict`.
    HasChildren,
    /// The place is in the node's own subtree.
    OwnSubtree,
    /// The node, or a node below it, would have more ancestors than `max_depth`.
    TooDeep,
    /// The node and the place are in different trees: their scopes differ.
    OtherTree,
    /// The place exists only where siblings have an order.
    Unordered,
    /// The pattern can't store the id.
    Id,
    /// The place has a node with the same values in a unique index, such as that of `unique_among_siblings`.
    /// [`is_duplicate_key`](Error::is_duplicate_key) holds, too.
    Taken,
    /// The stored tree is damaged at this place; `check` lists the damage.
    Damaged,
    /// The nodes that the change writes do not fit one command.
    TooLarge,
    /// Another change came between the reads and the writes of this one, which has no transaction. Nothing was written: run
    /// it again.
    Conflict,
    /// An earlier change without a transaction has not ended: it still runs, or it failed. `check` reports it, and
    /// `repair` completes it.
    Unfinished,
}

/// The reason, and what to do.
#[derive(Debug)]
pub(crate) struct TreeError {
    refusal: TreeRefusal,
    message: String,
}

impl TreeError {
    pub(crate) fn new(refusal: TreeRefusal, message: impl Into<String>) -> Self {
        Self {
            refusal,
            message: message.into(),
        }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<TreeError> for Kind {
    fn from(error: TreeError) -> Self {
        Self::Tree(error)
    }
}

impl Error {
    /// Why a change of a tree was refused. Nothing was written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// use odm::error::TreeRefusal;
    ///
    /// let error = tree.delete(node("Programming")).await.unwrap_err();
    /// assert_eq!(error.tree_refusal(), Some(TreeRefusal::HasChildren));
    /// # Ok(())
    /// # }
    /// ```
    pub fn tree_refusal(&self) -> Option<TreeRefusal> {
        match self.kind() {
            Kind::Tree(error) => Some(error.refusal),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_a_reason() {
        let error = Error::new(TreeError::new(TreeRefusal::TooDeep, "it is too deep"));
        assert_eq!(error.tree_refusal(), Some(TreeRefusal::TooDeep));
        assert_eq!(Error::usage("wrong").tree_refusal(), None);
        assert_eq!(error.to_string(), "it is too deep");
    }
}
