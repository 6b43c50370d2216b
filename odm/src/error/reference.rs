//! References that are in the way of a write, or that lead to no document.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// A reference that is in the way of a write, or that leads to no document.
#[derive(Debug)]
pub(crate) enum ReferenceError {
    /// A document refers to one that was to be deleted.
    Restricted {
        /// The relation that declares `on_delete = restrict`.
        relation: &'static str,
        /// The model of the document that refers, its reference, and its `_id`.
        model: &'static str,
        by: String,
        id: Bson,
    },
    /// No document has the key.
    Dangling {
        target: &'static str,
        /// The stored path of the field to which it refers.
        key: String,
        value: Bson,
    },
    /// A document would lose a reference that it must have, by a write of the other side of `two_way`.
    Needed { model: &'static str, id: Bson },
    /// The document that a reference leads to lacks a field that is copied, and the copy can't be none.
    NothingToCopy {
        target: &'static str,
        key: String,
        value: Bson,
        /// The stored path of the field, and of the copy.
        field: String,
        copy: String,
    },
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restricted {
                relation,
                model,
                by,
                id,
            } => write!(
                f,
                "the `{model}` with _id {id} refers to a document that would be deleted (`{by}`), and `{relation}` declares \
                 `on_delete = restrict`: delete it first, or let it refer to another document"
            ),
            Self::Dangling { target, key, value } => write!(
                f,
                "the reference leads to no `{target}`: none has the {key} {value}; insert that one first, or refer to another"
            ),
            Self::Needed { model, id } => write!(
                f,
                "the `{model}` with _id {id} would refer to no document, and must refer to one: let it refer to another document, \
                 or declare the reference as an `Option`"
            ),
            Self::NothingToCopy {
                target,
                key,
                value,
                field,
                copy,
            } => write!(
                f,
                "the `{target}` with the {key} {value} has no value of `{field}`, and `{copy}` can't be none: write the field \
                 there, or declare the copy as an `Option`"
            ),
        }
    }
}

impl From<ReferenceError> for Kind {
    fn from(error: ReferenceError) -> Self {
        Self::Reference(error)
    }
}

impl Error {
    /// Whether a [delete with dependents](crate::collection::Delete::with_dependents) failed because a document refers to
    /// one that would be deleted, and the relation declares `on_delete = restrict`; or a write that
    /// [propagates](crate::collection::UpdateDocuments::propagate), because a document would lose the reference of a `two_way`
    /// relation that it must have. Nothing was written.
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
        matches!(
            self.kind(),
            Kind::Reference(ReferenceError::Restricted { .. } | ReferenceError::Needed { .. })
        )
    }

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
        matches!(
            self.kind(),
            Kind::Reference(ReferenceError::Dangling { .. })
        )
    }

    /// Whether [`propagate`](crate::collection::InsertOne::propagate) found a document without the field that it had to
    /// copy, and the copy can't be none. Nothing was written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// // An older program wrote a host without an address.
    /// let old = doc! {"insert": "hosts", "documents": [{"_id": 7, "name": "goofy"}], "bypassDocumentValidation": true};
    /// db.run_command(old).await?;
    ///
    /// let error = db.collection::<LogMessage>().insert_one(&message(1, 7)).propagate().await.unwrap_err();
    /// assert!(error.is_nothing_to_copy());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_nothing_to_copy(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Reference(ReferenceError::NothingToCopy { .. })
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_that_refers_is_named() {
        let error = Error::new(ReferenceError::Restricted {
            relation: "books",
            model: "Book",
            by: "author".to_owned(),
            id: Bson::Int32(7),
        });
        let error = error.with_model("Author");
        assert!(error.is_restricted() && !error.is_dangling());
        let text = error.to_string();
        assert!(
            text.starts_with("Author: the `Book` with _id 7 refers"),
            "{text}"
        );
    }

    #[test]
    fn the_missing_document_is_named() {
        let error = Error::new(ReferenceError::Dangling {
            target: "Author",
            key: "_id".to_owned(),
            value: Bson::Int32(7),
        });
        assert!(error.is_dangling() && !error.is_restricted());
        let text = error.to_string();
        assert!(text.contains("no `Author`: none has the _id 7"), "{text}");
    }
}
