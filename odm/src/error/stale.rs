//! Saves of documents that have changed since they were loaded.

use std::fmt;

use bson::Bson;

use super::{Error, Kind};

/// The document that was changed or removed since it was loaded, and the cause.
#[derive(Debug)]
pub(crate) struct StaleError {
    id: Bson,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// The loaded version is no longer the stored one.
    Version(Bson),
    /// The document had no version when it was loaded.
    Unversioned,
    Removed,
    /// A transaction loaded or saved the document; the text is how it ended.
    Transaction(&'static str),
}

impl StaleError {
    /// The document with this `_id` no longer exists or, if the model is `versioned`, no longer has the loaded
    /// `version`.
    pub(crate) fn new(id: Bson, version: Option<Bson>, versioned: bool) -> Self {
        let cause = match version {
            Some(version) => Cause::Version(version),
            None if versioned => Cause::Unversioned,
            None => Cause::Removed,
        };
        Self { id, cause }
    }

    /// A transaction loaded or saved the document with this `_id`; `ended` describes how it ended.
    pub(crate) fn of_transaction(id: Bson, ended: &'static str) -> Self {
        let cause = Cause::Transaction(ended);
        Self { id, cause }
    }
}

impl fmt::Display for StaleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Version(version) => write!(
                f,
                "the document with _id {} was changed or removed since version {version} was \
                 loaded; load it again, repeat the change, then save",
                self.id
            ),
            Cause::Unversioned => write!(
                f,
                "the document with _id {} was changed or removed since it was loaded; load it \
                 again, repeat the change, then save",
                self.id
            ),
            Cause::Transaction(ended) => write!(
                f,
                "the transaction that loaded or saved the document with _id {} {ended}, so what is \
                 stored is not known; load it again, repeat the change, then save",
                self.id
            ),
            Cause::Removed => write!(
                f,
                "the document with _id {} was removed since it was loaded; insert it to bring it \
                 back",
                self.id
            ),
        }
    }
}

impl From<StaleError> for Kind {
    fn from(error: StaleError) -> Self {
        Self::Stale(error)
    }
}

impl Error {
    /// Whether `save` failed because the document was removed or (if the model has a `version` field)
    /// changed since it was loaded, or because the end of a transaction left the stored state unknown.
    /// Nothing was written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut book = books.load(&1).await?.ok_or("no book")?;
    /// books.delete_one(|b| b.id.eq(1)).await?;
    /// book.year = 1816;
    /// assert!(books.save(&mut book).await.unwrap_err().is_stale());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_stale(&self) -> bool {
        matches!(self.kind(), Kind::Stale(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_errors_say_how_to_recover() {
        let error = Error::new(StaleError::new(Bson::Int32(7), Some(Bson::Int64(3)), true));
        assert!(error.is_stale() && !error.is_decode());
        assert_eq!(
            error.to_string(),
            "the document with _id 7 was changed or removed since version 3 was loaded; load it \
             again, repeat the change, then save"
        );
        let error = Error::new(StaleError::new(Bson::Int32(7), None, false));
        assert!(error.to_string().contains("was removed"), "{error}");
        let error = Error::new(StaleError::of_transaction(Bson::Int32(7), "was aborted"));
        assert!(error.is_stale() && error.to_string().contains("load it again"));
    }
}
