//! The one error type of the library.
//!
//! [`Error`] is opaque: callers inspect it through predicates ([`Error::is_duplicate_key`],
//! [`Error::code`], …), so that new kinds don't break them. Each kind lives in a file of its own with
//! its constructor, its message and its predicate.
//!
//! What a web service answers depends on a few predicates:
//!
//! | predicate | is true if | status |
//! | --- | --- | --- |
//! | [`is_duplicate_key`](Error::is_duplicate_key) | a unique index refused a value; [`path`](Error::path) names the field | 409 |
//! | [`is_stale`](Error::is_stale) | somebody else has changed or removed the document that is saved | 409 |
//! | [`is_restricted`](Error::is_restricted) | other documents refer to the one that is to be deleted | 409 |
//! | [`is_validation_failure`](Error::is_validation_failure) | the validator refused the document; [`validation_failure`](Error::validation_failure) lists fields and rules | 422 |
//! | [`is_dangling`](Error::is_dangling) | a reference leads to no document | 422 |
//! | [`is_page_token`](Error::is_page_token) | a page token is malformed, or belongs to another list | 400 |
//! | [`is_deadline`](Error::is_deadline), [`is_timeout`](Error::is_timeout) | MongoDB takes too long | 503 |
//! | [`is_retryable`](Error::is_retryable) | the same request may succeed later | 503 |
//! | all others | | 500 |
//!
//! A document that does not exist is no error: `get` and `find_one` return `None`, and an update matches nothing.
//!
//! The engine does not use this type. It returns [`ServerError`], the failure of one command as
//! MongoDB reports it; the store turns that into an [`Error`].

mod bulk;
mod config;
mod connection;
mod deadline;
mod declaration;
mod decode;
mod encode;
mod file;
mod gridfs;
mod kind;
mod other;
mod outdated_plan;
mod page_token;
mod position;
mod reference;
mod reply;
mod schema;
mod server;
mod stale;
mod summary;
mod tree;
mod unsupported;
mod usage;
mod validation;
mod withheld;

use std::fmt;

pub use odm_language::error::{Code, ServerError};

pub(crate) use self::bulk::BulkError;
pub use self::bulk::{BulkWriteResult, WriteError};
pub(crate) use self::config::ConfigError;
pub(crate) use self::connection::ConnectionError;
pub(crate) use self::deadline::DeadlineError;
pub(crate) use self::declaration::DeclarationError;
pub(crate) use self::decode::DecodeError;
pub(crate) use self::encode::EncodeError;
pub(crate) use self::file::FileError;
pub(crate) use self::gridfs::{ChunkDamage, GridFsError};
pub(crate) use self::kind::Kind;
pub(crate) use self::outdated_plan::OutdatedPlanError;
pub(crate) use self::position::PositionError;
pub(crate) use self::reference::ReferenceError;
pub(crate) use self::schema::SchemaError;
pub(crate) use self::stale::StaleError;
pub(crate) use self::summary::SummaryError;
pub(crate) use self::tree::TreeError;
pub use self::tree::TreeRefusal;
pub(crate) use self::unsupported::UnsupportedError;
pub(crate) use self::usage::UsageError;
pub use self::validation::{ValidationFailure, Violation};
pub(crate) use self::withheld::WithheldError;
pub use self::withheld::{Withheld, WithheldReason};

/// The result type of the library's fallible functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error type of every fallible function: the server refused a command, a value could not be
/// encoded or decoded, the request is invalid, or the connection broke.
///
/// The message names the model and the field path where they are known, and suggests a remedy. `{:?}` prints the message as
/// well, so that a `main` that returns an error can be read; `{:#?}` prints the parts of the error.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    model: Option<&'static str>,
    path: Option<String>,
    context: Vec<String>,
}

impl Error {
    pub(crate) fn new(kind: impl Into<Kind>) -> Self {
        Self(Box::new(Inner {
            kind: kind.into(),
            model: None,
            path: None,
            context: Vec::new(),
        }))
    }

    /// A value that a serializer could not encode.
    pub(crate) fn encode(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::new(EncodeError::from_source(source))
    }

    /// An invalid request.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(UsageError::new(message))
    }

    /// A document that is nested too deeply to be stored.
    pub(crate) fn too_deep() -> Self {
        Self::usage(
            "documents and arrays are nested on more than 180 levels, which MongoDB does not store: store a tree as documents that \
             refer to each other",
        )
    }

    /// A request that the store can't honour.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(UnsupportedError::new(message))
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    pub(crate) fn kind_mut(&mut self) -> &mut Kind {
        &mut self.0.kind
    }

    /// Names the model, unless an inner layer has named one already.
    #[must_use]
    pub(crate) fn with_model(mut self, model: &'static str) -> Self {
        self.0.model.get_or_insert(model);
        self
    }

    /// Names the field by its stored path, unless an inner layer has named one already.
    #[must_use]
    pub(crate) fn with_path(mut self, path: impl Into<String>) -> Self {
        if self.0.path.is_none() {
            self.0.path = Some(path.into());
        }
        self
    }

    /// Adds a description of the step that failed, from the innermost step to the outermost.
    #[must_use]
    pub(crate) fn context(mut self, doing: impl Into<String>) -> Self {
        self.0.context.push(doing.into());
        self
    }

    /// The Rust name of the model concerned, if there is one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.insert_one(book(1, "Emma", 1815)).await.unwrap_err();
    /// assert_eq!(error.model(), Some("Book"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn model(&self) -> Option<&str> {
        self.0.model
    }

    /// The stored path of the field concerned (`contacts.0.name`), if there is one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let error = books.insert_one(book(1, "Emma", 1815)).await.unwrap_err();
    /// assert_eq!(error.path(), Some("_id"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn path(&self) -> Option<&str> {
        let named = self.0.path.as_deref();
        named.or_else(|| server::duplicate_path(self.server()?))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for doing in self.0.context.iter().rev() {
            write!(f, "{doing}: ")?;
        }
        match (self.0.model, self.path()) {
            (Some(model), Some(path)) => write!(f, "{model}.{path}: ")?,
            (Some(model), None) => write!(f, "{model}: ")?,
            (None, Some(path)) => write!(f, "{path}: ")?,
            (None, None) => {}
        }
        fmt::Display::fmt(&self.0.kind, f)?;
        match self.remedy() {
            Some(remedy) => write!(f, ": {remedy}"),
            None => Ok(()),
        }
    }
}

/// `{:?}` prints the message and its causes, because a `main` that returns an error prints it so; `{:#?}` prints the parts.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            let message = self.to_string();
            f.write_str(&message)?;
            let mut cause = std::error::Error::source(self);
            while let Some(error) = cause {
                let text = error.to_string();
                // Many messages end with that of their cause.
                if !message.contains(&text) {
                    write!(f, "\n  caused by: {text}")?;
                }
                cause = error.source();
            }
            return Ok(());
        }
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("model", &self.0.model)
            .field("path", &self.0.path)
            .field("context", &self.0.context)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        Self::new(error)
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn debug_prints_the_message() {
        let error = Error::usage("two updates change `title`").with_model("Book");
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(format!("{error:#?}").contains("model: Some("));
    }

    #[test]
    fn debug_prints_a_cause_that_the_message_does_not_have() {
        #[derive(Debug)]
        struct Outer(std::fmt::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the page can't be written")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let shown = format!("{:?}", Error::other(Outer(std::fmt::Error)));
        let (message, cause) = shown.split_once("\n  caused by: ").unwrap();
        assert_eq!(message, "the page can't be written");
        assert_eq!(cause, std::fmt::Error.to_string());
    }
}
