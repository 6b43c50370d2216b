//! The errors of decoding: a zero-sized one for speed, and bson's for messages.

use std::fmt;

use bson::error::Error as BsonError;
use serde::de::{Error, Expected, Unexpected};

/// An error type of the deserializer.
pub(crate) trait Fault: Error {
    /// Whether field names are passed as text, so that `serde_path_to_error` can record them.
    const TRACED: bool;

    /// Converts an error of bson's deserializer.
    fn theirs<E: Error>(failure: E) -> Self;
}

/// The document can't be decoded; [`trace`](super::trace) finds the path and the reason.
///
/// It is zero-sized and never formats a message, because every visit returns a `Result` with it, and untagged enums
/// fail once for each variant that they try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the document can't be read")
    }
}

impl std::error::Error for Failed {}

impl Error for Failed {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }
}

impl Fault for Failed {
    const TRACED: bool = false;

    fn theirs<E: Error>(_: E) -> Self {
        Self
    }
}

impl Fault for BsonError {
    const TRACED: bool = true;

    fn theirs<E: Error>(failure: E) -> Self {
        // bson puts a description of the kind before its message, and a full stop after it.
        let text = failure.to_string();
        let message = text.split_once(". Message: ");
        let message = message.and_then(|(_, message)| message.strip_suffix('.'));
        Self::custom(message.unwrap_or(&text))
    }
}
