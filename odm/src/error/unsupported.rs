//! Requests that the store does not support, which are refused instead of ignored.

use std::fmt;

use super::{Error, Kind};

/// What is not supported, by what, and what to do instead.
#[derive(Debug)]
pub(crate) struct UnsupportedError(String);

impl UnsupportedError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for UnsupportedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<UnsupportedError> for Kind {
    fn from(error: UnsupportedError) -> Self {
        Self::Unsupported(error)
    }
}

impl Error {
    /// Whether the store does not support the request, such as a read from a secondary on the
    /// in-memory store. Nothing was sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let find = books.find_all().read_preference(ReadPreference::secondary());
    /// assert!(find.all().await.unwrap_err().is_unsupported());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_unsupported(&self) -> bool {
        matches!(self.kind(), Kind::Unsupported(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_errors_have_their_own_kind() {
        let error = Error::unsupported("the in-memory store has no secondary").with_model("Book");
        assert!(error.is_unsupported() && !error.is_usage() && error.code().is_none());
        assert_eq!(
            error.to_string(),
            "Book: the in-memory store has no secondary"
        );
    }
}
