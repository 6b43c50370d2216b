//! Stored documents that don't fit the struct.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// The document that can't be decoded, and the reason.
#[derive(Debug)]
pub(crate) struct DecodeError {
    id: Option<Bson>,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl DecodeError {
    /// An error that a deserializer reported for the document with this `_id`.
    pub(crate) fn new(
        id: Option<Bson>,
        message: impl Into<String>,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            id,
            message: message.into(),
            source,
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "the document with _id {id} can't be read: ")?,
            None => f.write_str("the document can't be read: ")?,
        }
        f.write_str(&self.message)
    }
}

impl From<DecodeError> for Kind {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl Error {
    /// Whether a stored document does not fit the struct that it should be read into.
    ///
    /// [`Error::model`], [`Error::path`] and [`Error::document_id`] return where. A cursor yields this
    /// error for one document and continues with the next.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// db.run_command(doc! {"insert": "books", "documents": [{"_id": 4, "title": "No year"}]}).await?;
    /// let error = books.get(&4).await.unwrap_err();
    /// assert!(error.is_decode());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_decode(&self) -> bool {
        matches!(self.kind(), Kind::Decode(_))
    }

    /// The `_id` of the stored document that could not be decoded, or made one of the version that the program reads, if it has
    /// one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// db.run_command(doc! {"insert": "books", "documents": [{"_id": 4, "title": "No year"}]}).await?;
    /// let error = books.find_all().all().await.unwrap_err();
    /// assert_eq!(error.document_id(), Some(&odm::bson::Bson::Int32(4)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn document_id(&self) -> Option<&Bson> {
        match self.kind() {
            Kind::Decode(error) => error.id.as_ref(),
            Kind::Schema(error) => error.id(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_errors_name_the_document_and_the_field() {
        let error = Error::new(DecodeError::new(
            Some(Bson::Int32(7)),
            "invalid type: string \"x\", expected i32",
            None,
        ))
        .with_model("Book")
        .with_path("checkout.0.date");
        assert!(error.is_decode());
        assert_eq!(error.document_id(), Some(&Bson::Int32(7)));
        assert_eq!(
            error.to_string(),
            "Book.checkout.0.date: the document with _id 7 can't be read: \
             invalid type: string \"x\", expected i32"
        );
    }
}
