//! Invalid requests, which are refused before anything is sent.

use std::fmt;

use super::{Error, Kind};

/// What is wrong with the request, and what to write instead.
#[derive(Debug, Clone)]
pub(crate) struct UsageError(String);

impl UsageError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<UsageError> for Kind {
    fn from(error: UsageError) -> Self {
        Self::Usage(error)
    }
}

impl Error {
    /// Whether the request itself is invalid, such as an update that changes one field twice. Nothing
    /// was sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.find_all().page(0, 20).all().await.unwrap_err();
    /// assert!(error.is_usage());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_usage(&self) -> bool {
        matches!(self.kind(), Kind::Usage(_))
    }
}
