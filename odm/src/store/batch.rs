//! One batch of a cursor, whose documents are read one by one without copying.

use std::borrow::Cow;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{Error, Result};
use crate::store::reply::field;
use crate::store::{MemoryPage, RawBatch};

/// The batch of a `find`, an `aggregate` or a `getMore`, with a read position.
pub(crate) struct Batch {
    documents: Documents,
    pub(crate) cursor_id: i64,
}

enum Documents {
    /// Inside the reply.
    Reply(Reading),
    /// As the engine returns them without a reply.
    Page(MemoryPage),
}

/// A reply with a read position.
struct Reading {
    reply: Reply,
    /// The offsets in the reply's bytes where the next element starts and where the array ends.
    next: usize,
    end: usize,
    /// The offset of the last document that was read.
    current: usize,
}

/// The reply in the form that its store returns.
pub(crate) enum Reply {
    Memory(RawDocumentBuf),
    Driver(RawBatch),
}

impl Reply {
    pub(crate) fn document(&self) -> &RawDocument {
        match self {
            Self::Memory(reply) => reply,
            Self::Driver(batch) => batch.as_raw_document(),
        }
    }
}

impl Batch {
    pub(crate) fn new(reply: Reply) -> Result<Self> {
        let document = reply.document();
        let Some(RawBsonRef::Document(cursor)) = field(document, "cursor") else {
            return Err(Error::malformed_reply("`cursor`"));
        };
        let cursor_id = match field(cursor, "id") {
            Some(RawBsonRef::Int64(id)) => id,
            Some(RawBsonRef::Int32(id)) => id.into(),
            _ => return Err(Error::malformed_reply("`cursor.id`")),
        };
        let batch = field(cursor, "firstBatch").or_else(|| field(cursor, "nextBatch"));
        let Some(RawBsonRef::Array(array)) = batch else {
            return Err(Error::malformed_reply("`firstBatch` or `nextBatch`"));
        };
        let start = offset(document.as_bytes(), array.as_bytes())
            .ok_or_else(|| Error::malformed_reply("a batch inside of its reply"))?;
        let length = array.as_bytes().len();
        Ok(Self {
            documents: Documents::Reply(Reading {
                // The elements lie between the array's length and its closing NUL.
                next: start + 4,
                end: (start + length).saturating_sub(1),
                current: 0,
                reply,
            }),
            cursor_id,
        })
    }

    /// A batch that the engine returned without a reply.
    pub(crate) fn of_page(page: MemoryPage) -> Self {
        Self {
            cursor_id: page.cursor_id(),
            documents: Documents::Page(page),
        }
    }

    /// The reply that contained the batch, or an equivalent one.
    pub(crate) fn reply(&self) -> Cow<'_, RawDocument> {
        match &self.documents {
            Documents::Reply(reading) => Cow::Borrowed(reading.reply.document()),
            Documents::Page(page) => page.to_reply(),
        }
    }

    /// The collection that the cursor reads; empty if the reply does not name it.
    pub(crate) fn collection(&self) -> Cow<'_, str> {
        match &self.documents {
            Documents::Reply(reading) => {
                let cursor = field(reading.reply.document(), "cursor");
                let namespace = cursor
                    .and_then(|cursor| field(cursor.as_document()?, "ns")?.as_str())
                    .and_then(|namespace| namespace.split_once('.'));
                Cow::Borrowed(namespace.map_or("", |(_, collection)| collection))
            }
            Documents::Page(page) => Cow::Borrowed(page.collection()),
        }
    }

    /// The token that resumes a change stream after this batch.
    pub(crate) fn resume_token(&self) -> Option<Cow<'_, RawDocument>> {
        match &self.documents {
            Documents::Reply(reading) => {
                let cursor = field(reading.reply.document(), "cursor")?.as_document()?;
                let token = field(cursor, "postBatchResumeToken")?.as_document()?;
                Some(Cow::Borrowed(token))
            }
            Documents::Page(page) => page.resume_token().map(Cow::Borrowed),
        }
    }

    pub(crate) fn is_read(&self) -> bool {
        match &self.documents {
            Documents::Reply(reading) => reading.next >= reading.end,
            Documents::Page(page) => page.is_read(),
        }
    }

    /// How many unread documents the batch has, or 0 if counting them would require a scan.
    pub(crate) fn left(&self) -> usize {
        match &self.documents {
            Documents::Reply(_) => 0,
            Documents::Page(page) => page.left(),
        }
    }

    /// Advances to the next document and returns it, or `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Result<&RawDocument>> {
        if self.is_read() {
            return None;
        }
        let stepped = match &mut self.documents {
            Documents::Reply(reading) => reading.step(),
            Documents::Page(page) => page.step(),
        };
        if !stepped {
            return Some(Err(Error::malformed_reply("documents in a batch")));
        }
        Some(
            self.current()
                .ok_or_else(|| Error::malformed_reply("well-formed documents in a batch")),
        )
    }

    /// The document that the last call of [`next`](Self::next) returned.
    pub(crate) fn current(&self) -> Option<&RawDocument> {
        match &self.documents {
            Documents::Reply(reading) => reading.current(),
            Documents::Page(page) => page.current(),
        }
    }
}

impl Reading {
    /// Advances to the next document; returns false if the next element is not a document.
    fn step(&mut self) -> bool {
        let found = element(self.reply.document().as_bytes(), self.next, self.end);
        let Some((start, length)) = found else {
            self.next = self.end;
            return false;
        };
        self.current = start;
        self.next = start + length;
        true
    }

    fn current(&self) -> Option<&RawDocument> {
        let bytes = self.reply.document().as_bytes();
        RawDocument::from_bytes(bytes.get(self.current..self.next)?).ok()
    }
}

/// The offset of `part` in `whole`, if `part` is a slice of it.
fn offset(whole: &[u8], part: &[u8]) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start + part.len() <= whole.len()).then_some(start)
}

/// The start and length of the document in the array element at `at`.
fn element(bytes: &[u8], at: usize, end: usize) -> Option<(usize, usize)> {
    const DOCUMENT: u8 = 3;
    let element = bytes.get(at..end)?;
    let (&kind, rest) = element.split_first()?;
    let key = rest.iter().position(|byte| *byte == 0)?;
    let start = at + 1 + key + 1;
    let length = bytes.get(start..start + 4)?.try_into().ok()?;
    let length = usize::try_from(i32::from_le_bytes(length)).ok()?;
    (kind == DOCUMENT && length >= 5 && start + length <= end).then_some((start, length))
}
