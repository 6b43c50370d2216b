//! Errors of the program itself, returned from a transaction's body.

use std::fmt;

use super::{Error, Kind};

/// A foreign error, wrapped unchanged.
#[derive(Debug)]
pub(crate) struct OtherError(Box<dyn std::error::Error + Send + Sync>);

impl OtherError {
    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl fmt::Display for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<OtherError> for Kind {
    fn from(error: OtherError) -> Self {
        Self::Other(error)
    }
}

impl Error {
    /// Wraps an error of your own. The body of a transaction can return it to give up for a reason of
    /// its own.
    ///
    /// ```
    /// use odm::Error;
    /// let error = Error::other("nothing left in stock");
    /// assert_eq!(error.to_string(), "nothing left in stock");
    /// assert!(error.is_other());
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(OtherError(error.into()))
    }

    /// Whether this wraps an error that was passed to [`Error::other`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let deletion = transaction!(db, |tx| -> odm::Result<()> {
    ///     books.delete_all().session(tx).await?;
    ///     Err(odm::Error::other("not today"))
    /// });
    /// assert!(deletion.await.unwrap_err().is_other());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_other(&self) -> bool {
        matches!(self.kind(), Kind::Other(_))
    }

    /// The error that was passed to [`Error::other`], if it is an `E`.
    ///
    /// ```
    /// use std::num::ParseIntError;
    ///
    /// let error = odm::Error::other("five".parse::<i32>().unwrap_err());
    /// assert!(error.downcast_ref::<ParseIntError>().is_some());
    /// assert!(error.downcast_ref::<std::io::Error>().is_none());
    /// ```
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self.kind() {
            Kind::Other(error) => error.0.downcast_ref(),
            _ => None,
        }
    }
}
