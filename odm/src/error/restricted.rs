//! Deletes of documents to which others refer.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// The document that refers to one that was to be deleted.
#[derive(Debug)]
pub(crate) struct RestrictedError {
    /// The relation that declares `on_delete = restrict`.
    relation: &'static str,
    /// The model of the document that refers, its reference, and its `_id`.
    model: &'static str,
    by: String,
    id: Bson,
}

impl RestrictedError {
    pub(crate) fn new(
        relation: &'static str,
        model: &'static str,
        by: &[&'static str],
        id: Bson,
    ) -> Self {
        let by = by.join(".");
        Self {
            relation,
            model,
            by,
            id,
        }
    }
}

impl fmt::Display for RestrictedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            relation,
            model,
            by,
            id,
        } = self;
        write!(
            f,
            "the `{model}` with _id {id} refers to a document that would be deleted (`{by}`), and `{relation}` declares \
             `on_delete = restrict`: delete it first, or let it refer to another document"
        )
    }
}

impl From<RestrictedError> for Kind {
    fn from(error: RestrictedError) -> Self {
        Self::Restricted(error)
    }
}

impl Error {
    /// Whether a [delete with dependents](crate::collection::Delete::with_dependents) failed because a document refers to
    /// one that would be deleted, and the relation declares `on_delete = restrict`. Nothing was written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let publishers = db.collection::<Publisher>();
    /// let error = publishers.delete_by_id(&1).with_dependents().await.unwrap_err();
    /// assert!(error.is_restricted());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_restricted(&self) -> bool {
        matches!(self.kind(), Kind::Restricted(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_that_refers_is_named() {
        let error = RestrictedError::new("books", "Book", &["author"], Bson::Int32(7));
        let error = Error::new(error).with_model("Author");
        assert!(error.is_restricted() && !error.is_stale());
        let text = error.to_string();
        assert!(
            text.starts_with("Author: the `Book` with _id 7 refers"),
            "{text}"
        );
    }
}
