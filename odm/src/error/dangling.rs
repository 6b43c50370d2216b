//! References to documents that do not exist.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// The reference, and the model that has no document with its key.
#[derive(Debug)]
pub(crate) struct DanglingError {
    target: &'static str,
    key: &'static str,
    value: Bson,
}

impl DanglingError {
    pub(crate) fn new(target: &'static str, key: &'static str, value: Bson) -> Self {
        Self { target, key, value }
    }
}

impl fmt::Display for DanglingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, key, value } = self;
        write!(
            f,
            "the reference leads to no `{target}`: none has the {key} {value}; insert that one first, or refer to another"
        )
    }
}

impl From<DanglingError> for Kind {
    fn from(error: DanglingError) -> Self {
        Self::Dangling(error)
    }
}

impl Error {
    /// Whether [`check_references`](crate::collection::InsertOne::check_references) found a reference that leads to no
    /// document. Nothing was inserted. [`path`](Self::path) is that of the reference.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let book = Book { id: 9, author: Ref::from(9) };
    /// let insert = db.collection::<Book>().insert_one(&book).check_references();
    /// let error = insert.await.unwrap_err();
    /// assert!(error.is_dangling());
    /// assert_eq!(error.path(), Some("author"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_dangling(&self) -> bool {
        matches!(self.kind(), Kind::Dangling(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_document_is_named() {
        let error = Error::new(DanglingError::new("Author", "_id", Bson::Int32(7)));
        assert!(error.is_dangling() && !error.is_restricted());
        let text = error.to_string();
        assert!(text.contains("no `Author`: none has the _id 7"), "{text}");
    }
}
