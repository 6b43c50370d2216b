//! Predicates for errors that MongoDB reported: the code, the labels, the unique index.

use odm_language::error::{Code, ServerError};

use super::{Error, TreeRefusal};

impl Error {
    /// The error code that MongoDB or the in-memory engine returned: `11000`, `121`, …
    ///
    /// Both stores use the codes of MongoDB 6.0. If several writes failed, this is the first one's code.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.insert_one(book(1, "Emma", 1815)).await.unwrap_err();
    /// assert_eq!(error.code().map(odm::Code::number), Some(11000));
    /// # Ok(())
    /// # }
    /// ```
    pub fn code(&self) -> Option<Code> {
        self.kind().server().map(ServerError::code)
    }

    /// The complete error that the server reported, if it reported one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.insert_one(book(1, "Emma", 1815)).await.unwrap_err();
    /// let refusal = error.server().ok_or("an error of the client")?;
    /// assert!(refusal.message().contains("E11000"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn server(&self) -> Option<&ServerError> {
        self.kind().server()
    }

    /// Whether a unique index refused a value that another document already has (code 11000).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.insert_one(book(1, "Emma", 1815)).await.unwrap_err();
    /// assert!(error.is_duplicate_key());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_duplicate_key(&self) -> bool {
        self.code() == Some(Code::DUPLICATE_KEY) || self.tree_refusal() == Some(TreeRefusal::Taken)
    }

    /// The name of the unique index that refused the value, if [`Error::is_duplicate_key`].
    ///
    /// It is parsed from the message, because the driver drops `keyPattern` and `keyValue` for
    /// inserts. If they are available, [`ServerError::details`] returns them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.insert_one(book(1, "Emma", 1815)).await.unwrap_err();
    /// assert_eq!(error.duplicate_index(), Some("_id_"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate_index(&self) -> Option<&str> {
        let error = self.server().filter(|_| self.is_duplicate_key())?;
        let (_, rest) = error.message().split_once(" index: ")?;
        rest.split_once(" dup key: ").map(|(name, _)| name)
    }

    /// The remedy for codes that always have the same one.
    pub(super) fn remedy(&self) -> Option<&'static str> {
        match self.code()?.number() {
            11000 if self.server()?.message().starts_with("Index build failed") => {
                Some("several documents have this value: give them different ones first")
            }
            11000 => Some("another document has this value: change that one, or use another value"),
            50 => Some("allow it more time with `max_time`, or an index that serves it"),
            251 if self.has_label("TransientTransactionError") => {
                Some("run the whole transaction again, as `odm::transaction!` does")
            }
            20 if self.server()?.message().starts_with("Transaction numbers") => {
                Some("transactions need a replica set: start the server with `--replSet`")
            }
            _ => None,
        }
    }

    /// The labels of the server or the driver, such as `TransientTransactionError`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # let (mut first, mut second) = (db.start_session().await?, db.start_session().await?);
    /// # first.start_transaction().await?;
    /// # second.start_transaction().await?;
    /// // Two transactions change the same book.
    /// let update = || books.update_one(|b| b.id.eq(1), |b| b.year.inc(1));
    /// update().session(&mut first).await?;
    /// let error = update().session(&mut second).await.unwrap_err();
    /// assert_eq!(error.labels(), ["TransientTransactionError"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn labels(&self) -> &[String] {
        self.kind().labels()
    }

    /// Whether the error has this label, such as `TransientTransactionError`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # let (mut first, mut second) = (db.start_session().await?, db.start_session().await?);
    /// # first.start_transaction().await?;
    /// # second.start_transaction().await?;
    /// // Two transactions change the same book.
    /// let update = || books.update_one(|b| b.id.eq(1), |b| b.year.inc(1));
    /// update().session(&mut first).await?;
    /// let error = update().session(&mut second).await.unwrap_err();
    /// assert!(error.has_label("TransientTransactionError"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn has_label(&self, label: &str) -> bool {
        self.kind().labels().iter().any(|given| given == label)
    }

    /// Whether the same request may succeed on a retry: after a write conflict, after another error
    /// that the server marks as transient or retryable, or after a broken connection.
    ///
    /// The driver has already retried once if that is safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # let (mut first, mut second) = (db.start_session().await?, db.start_session().await?);
    /// # first.start_transaction().await?;
    /// # second.start_transaction().await?;
    /// // Two transactions change the same book.
    /// let update = || books.update_one(|b| b.id.eq(1), |b| b.year.inc(1));
    /// update().session(&mut first).await?;
    /// let error = update().session(&mut second).await.unwrap_err();
    /// assert!(error.is_retryable());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_retryable(&self) -> bool {
        self.code() == Some(Code::WRITE_CONFLICT)
            || self.is_connection()
            || [
                "TransientTransactionError",
                "RetryableWriteError",
                "RetryableError",
            ]
            .iter()
            .any(|label| self.has_label(label))
    }
}

/// The path of the field whose value a unique index refused; `None` for other errors and for compound indexes, where no
/// single field is responsible.
pub(super) fn duplicate_path(error: &ServerError) -> Option<&str> {
    if error.code() != Code::DUPLICATE_KEY {
        return None;
    }
    let pattern = error
        .details()
        .and_then(|details| details.get("keyPattern"));
    if let Some(pattern) = pattern.and_then(bson::Bson::as_document) {
        let mut keys = pattern.keys();
        return keys
            .next()
            .filter(|_| keys.next().is_none())
            .map(String::as_str);
    }
    // `… dup key: { isbn: "x" }`. Only a plain value can be distinguished from several keys.
    let (_, key) = error.message().rsplit_once(" dup key: { ")?;
    let (path, value) = key.strip_suffix(" }")?.split_once(": ")?;
    let quoted = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    let plain = match quoted {
        Some(text) => !text.contains('"'),
        None => !value.contains(", ") && !value.contains('{'),
    };
    plain.then_some(path)
}

#[cfg(test)]
mod tests {
    use bson::Document;

    use super::*;

    #[test]
    fn server_errors_expose_code_index_and_labels() {
        let error = Error::from(ServerError::new(
            Code::DUPLICATE_KEY,
            "E11000 duplicate key error collection: test.books index: isbn_1 dup key: { isbn: \"x\" }",
        ));
        assert!(error.is_duplicate_key() && !error.is_retryable());
        assert_eq!(error.duplicate_index(), Some("isbn_1"));
        assert_eq!(
            error.to_string(),
            "isbn: E11000 duplicate key error collection: test.books index: isbn_1 dup key: \
             { isbn: \"x\" } (DuplicateKey 11000): another document has this value: change that \
             one, or use another value",
        );

        let error = Error::from(
            ServerError::new(Code::WRITE_CONFLICT, "conflict")
                .with_label("TransientTransactionError"),
        );
        assert!(error.is_retryable() && error.has_label("TransientTransactionError"));
        assert_eq!(error.duplicate_index(), None);
        assert_eq!(error.labels(), ["TransientTransactionError"]);
    }

    #[test]
    fn duplicate_key_errors_name_the_field() {
        let path = |details: Option<Document>, key: &str| {
            let message = format!("E11000 duplicate key error index: i dup key: {key}");
            let error = ServerError::new(Code::DUPLICATE_KEY, message);
            let error = match details {
                Some(details) => error.with_details(details),
                None => error,
            };
            Error::from(error).path().map(str::to_owned)
        };
        let pattern = |keys| Some(bson::doc! { "keyPattern": keys });
        assert_eq!(
            path(pattern(bson::doc! { "a.b": 1 }), ""),
            Some("a.b".into())
        );
        assert_eq!(
            path(pattern(bson::doc! { "a": 1, "b": 1 }), "{ a: 1 }"),
            None
        );
        assert_eq!(path(None, "{ a.b: 1 }"), Some("a.b".into()));
        assert_eq!(path(None, "{ a: \"x, b: y\" }"), Some("a".into()));
        for unclear in [
            "{ a: 1, b: 2 }",
            "{ a: \"x\", b: \"y\" }",
            "{ a: { x: 1 } }",
            "?",
            "",
        ] {
            assert_eq!(path(None, unclear), None, "{unclear}");
        }
    }
}
