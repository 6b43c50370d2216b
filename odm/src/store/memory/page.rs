//! A batch as the engine returns it without a reply, with a read position.

use std::borrow::Cow;

use bson::raw::{CStr, RawDocument};
use odm_engine::reply::Page;

/// The engine's page, of which `read` documents have been read.
pub(crate) struct MemoryPage {
    page: Page,
    /// The batch's field name in a reply: `firstBatch` or `nextBatch`.
    name: &'static CStr,
    read: usize,
}

impl MemoryPage {
    pub(crate) fn new(page: Page, name: &'static CStr) -> Self {
        Self {
            page,
            name,
            read: 0,
        }
    }

    pub(crate) fn cursor_id(&self) -> i64 {
        self.page.id
    }

    /// The equivalent reply.
    pub(crate) fn to_reply(&self) -> Cow<'_, RawDocument> {
        Cow::Owned(self.page.to_reply(self.name))
    }

    pub(crate) fn collection(&self) -> &str {
        &self.page.namespace.collection
    }

    pub(crate) fn resume_token(&self) -> Option<&RawDocument> {
        self.page.token.as_deref()
    }

    pub(crate) fn is_read(&self) -> bool {
        self.read >= self.page.documents.len()
    }

    /// How many documents are unread.
    pub(crate) fn left(&self) -> usize {
        self.page.documents.len().saturating_sub(self.read)
    }

    /// Advances to the next document; returns false after the last.
    pub(crate) fn step(&mut self) -> bool {
        let has_more = !self.is_read();
        self.read += usize::from(has_more);
        has_more
    }

    /// The document that the last step reached.
    pub(crate) fn current(&self) -> Option<&RawDocument> {
        let item = self.page.documents.get(self.read.checked_sub(1)?)?;
        Some(item.document())
    }
}
