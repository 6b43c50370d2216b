//! Differences that are known: each has its reason in the book's chapter on limits.

use odm::bson::Document;

/// The name of the exception that covers this difference.
pub(crate) fn name(
    _command: &Document,
    _memory: &Document,
    _server: &Document,
) -> Option<&'static str> {
    None
}
