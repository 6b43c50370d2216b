//! The documents that change events contain.

/// The document in update events: [`Watch::full_document`](crate::collection::Watch::full_document).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FullDocument {
    /// The document at the time when the event is read. It may have changed again, or may no longer exist.
    UpdateLookup,
    /// The document directly after the update, if the collection stores post-images.
    WhenAvailable,
    /// Like [`WhenAvailable`](Self::WhenAvailable), but an event without it ends the stream with an error.
    Required,
}

/// The document before the change in events:
/// [`Watch::full_document_before_change`](crate::collection::Watch::full_document_before_change).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FullDocumentBeforeChange {
    /// The document before the change, if the collection stores pre-images.
    WhenAvailable,
    /// Like [`WhenAvailable`](Self::WhenAvailable), but an event without it ends the stream with an error.
    Required,
}

impl FullDocument {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::UpdateLookup => "updateLookup",
            Self::WhenAvailable => "whenAvailable",
            Self::Required => "required",
        }
    }
}

impl FullDocumentBeforeChange {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::WhenAvailable => "whenAvailable",
            Self::Required => "required",
        }
    }
}
