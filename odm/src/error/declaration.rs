//! Invalid declarations that the derive macro can't detect; they are found before anything is sent.

use std::fmt;

use super::{Error, Kind};

/// What is wrong with the declaration, and what to write instead.
#[derive(Debug, Clone)]
pub(crate) struct DeclarationError(String);

impl DeclarationError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<DeclarationError> for Kind {
    fn from(error: DeclarationError) -> Self {
        Self::Declaration(error)
    }
}

impl Error {
    /// Whether a model's declaration is invalid, such as a length for a number, a TTL index on a field
    /// that is not a date, or two models with the same collection. Nothing was sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Journal { #[serde(rename = "_id")] id: i32 }
    /// // Both models declare the collection `books`.
    /// let error = db.sync(models![Book, Journal]).plan().await.unwrap_err();
    /// assert!(error.is_declaration());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_declaration(&self) -> bool {
        matches!(self.kind(), Kind::Declaration(_))
    }
}
