//! Page tokens that a client did not get from the list that it asks for.

use std::fmt;

use super::{Error, Kind};

/// The reason why a page token is refused.
#[derive(Debug, Clone)]
pub(crate) struct PageTokenError(String);

impl fmt::Display for PageTokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<PageTokenError> for Kind {
    fn from(error: PageTokenError) -> Self {
        Self::PageToken(error)
    }
}

impl Error {
    /// A page token that can't be used.
    pub(crate) fn page_token(message: impl Into<String>) -> Self {
        Self::new(PageTokenError(message.into()))
    }

    /// Whether a [`PageToken`](crate::collection::PageToken) is at fault: its text is malformed, it belongs to a query with
    /// another sort, or it was tampered with. Nothing was sent. As tokens come from clients, a web service answers 400.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use odm::collection::PageToken;
    ///
    /// let error = "2".parse::<PageToken>().unwrap_err();
    /// assert!(error.is_page_token());
    ///
    /// let by_year = books.find_all().sort(|b| b.year.asc()).page_after(None, 1).await?;
    /// let by_title = books.find_all().sort(|b| b.title.asc());
    /// let error = by_title.page_after(by_year.next.as_ref(), 1).await.unwrap_err();
    /// assert!(error.is_page_token());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_page_token(&self) -> bool {
        matches!(self.kind(), Kind::PageToken(_))
    }
}
