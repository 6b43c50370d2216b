//! Errors from building a filter, a sort or an update, kept until it is used.
//!
//! Builder expressions such as `a.eq(x) & b.gt(y)` never fail; the first error surfaces when the document is
//! made.

use crate::error::{EncodeError, Error, Kind, UsageError};

/// A failure to report later; the field is named by its stored path.
///
/// Boxed, because the builders that carry it move often and fail seldom.
#[derive(Debug, Clone)]
pub(crate) struct Deferred(Box<Failure>);

#[derive(Debug, Clone)]
struct Failure {
    path: String,
    cause: Cause,
}

#[derive(Debug, Clone)]
enum Cause {
    Encode(EncodeError),
    Usage(UsageError),
}

impl Deferred {
    pub(crate) fn usage(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(path.into(), Cause::Usage(UsageError::new(message)))
    }

    #[cold]
    fn new(path: String, cause: Cause) -> Self {
        Self(Box::new(Failure { path, cause }))
    }

    /// A failure of an encoder, which the user may have written.
    pub(crate) fn encode(path: impl Into<String>, error: &Error) -> Self {
        let outer = path.into();
        let cause = match error.kind() {
            Kind::Encode(error) => Cause::Encode(error.clone()),
            other => Cause::Usage(UsageError::new(other.to_string())),
        };
        let path = match error.path() {
            Some(inner) if outer.is_empty() => inner.to_owned(),
            Some(inner) => format!("{outer}.{inner}"),
            None => outer,
        };
        Self::new(path, cause)
    }

    /// The same failure, seen from the array or document at `path`.
    #[must_use]
    pub(crate) fn under(mut self, path: &str) -> Self {
        if self.0.path.is_empty() {
            path.clone_into(&mut self.0.path);
        } else if !path.is_empty() {
            self.0.path = format!("{path}.{}", self.0.path);
        }
        self
    }

    pub(crate) fn to_error(&self) -> Error {
        let error = match &self.0.cause {
            Cause::Encode(error) => Error::new(error.clone()),
            Cause::Usage(error) => Error::new(error.clone()),
        };
        if self.0.path.is_empty() {
            error
        } else {
            error.with_path(self.0.path.clone())
        }
    }
}
