//! Which documents the events of a change stream tell.

/// Whether the event of an update tells the document: [`Watch::full_document`](crate::collection::Watch::full_document).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FullDocument {
    /// As it is when the event is read: it may have changed again, or be gone.
    UpdateLookup,
    /// As the update left it, where the collection keeps images.
    WhenAvailable,
    /// The same; an event without it ends the stream.
    Required,
}

/// Whether events tell the document as it was before:
/// [`Watch::full_document_before_change`](crate::collection::Watch::full_document_before_change).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FullDocumentBeforeChange {
    /// Where the collection keeps images.
    WhenAvailable,
    /// The same; an event without it ends the stream.
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
