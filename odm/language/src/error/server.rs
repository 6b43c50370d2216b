//! The failure of one command, as MongoDB reports it.

use std::fmt;

use bson::Document;

use super::Code;

/// A command's failure: the server's code, message, labels and details.
///
/// The in-memory engine fails with the codes and messages of MongoDB 6.0, so code that branches on
/// them behaves the same on both stores.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerError {
    code: Code,
    message: String,
    labels: Vec<String>,
    details: Option<Box<Document>>,
}

impl ServerError {
    #[doc(hidden)]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            labels: Vec::new(),
            details: None,
        }
    }

    /// Adds an error label such as `TransientTransactionError`.
    #[doc(hidden)]
    #[must_use]
    pub fn with_label(mut self, label: &str) -> Self {
        self.labels.push(label.to_owned());
        self
    }

    /// Drops the labels.
    #[doc(hidden)]
    #[must_use]
    pub fn without_labels(mut self) -> Self {
        self.labels.clear();
        self
    }

    /// Adds the fields that errors with this code carry beside the message: `errInfo`, or `keyPattern` and `keyValue`.
    #[doc(hidden)]
    #[must_use]
    pub fn with_details(mut self, details: Document) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Prefixes the message with the operation that failed: `{what} :: caused by :: {message}`.
    #[doc(hidden)]
    #[must_use]
    pub fn within(mut self, what: &str) -> Self {
        self.message = format!("{what} :: caused by :: {}", self.message);
        self
    }

    /// The server's code for the failure, such as 11000.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The server's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error labels, such as `TransientTransactionError`.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The further fields of the error document: `errInfo`, `keyPattern`, `keyValue`.
    pub fn details(&self) -> Option<&Document> {
        self.details.as_deref()
    }

    /// The reply to a command that failed with this error: `{ok: 0, errmsg, code, codeName, …}`.
    #[doc(hidden)]
    pub fn to_reply(&self) -> Document {
        let mut reply = bson::doc! {
            "ok": 0.0,
            "errmsg": &self.message,
            "code": self.code.number(),
            "codeName": self.code.name(),
        };
        if let Some(details) = &self.details {
            reply.extend(
                details
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
        if !self.labels.is_empty() {
            reply.insert("errorLabels", self.labels.clone());
        }
        reply
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({} {})",
            self.message,
            self.code.name(),
            self.code.number()
        )
    }
}

impl std::error::Error for ServerError {}

/// An error with one of mongod's location codes.
pub(crate) fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}
