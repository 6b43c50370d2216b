//! The errors of a read: one without a size for speed, and bson's where somebody reads the message.

use std::fmt;

use bson::error::Error as BsonError;
use serde::de::{Error, Expected, Unexpected};

/// The error type of a read.
pub(crate) trait Fault: Error {
    /// Whether field names are shown as text, for `serde_path_to_error` to record.
    const TRACED: bool;

    /// Converts an error of bson's deserializer.
    fn theirs<E: Error>(failure: E) -> Self;
}

/// The document can't be read; [`trace`](super::trace) finds out where and why.
///
/// It has no size and its messages are never formatted: every visit of a value returns a `Result` with it, and
/// untagged enums fail once for each variant that they try.
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
        // bson shows its message behind a description of the kind, and ends with a full stop.
        let text = failure.to_string();
        let message = text.split_once(". Message: ");
        let message = message.and_then(|(_, message)| message.strip_suffix('.'));
        Self::custom(message.unwrap_or(&text))
    }
}
