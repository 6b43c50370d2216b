//! One batch of a cursor: a reply, read document by document without copying.

#[cfg(feature = "memory")]
use bson::raw::RawDocumentBuf;
use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{Error, Result};
use crate::store::response::field;

/// A `find`, `aggregate` or `getMore` reply, and how far it has been read.
pub(crate) struct Batch {
    reply: Reply,
    /// Where the next element starts in the reply's bytes, and where the array ends.
    next: usize,
    end: usize,
    /// Where the last document that was read starts.
    current: usize,
    pub(crate) cursor_id: i64,
}

/// The reply as its store hands it over.
pub(crate) enum Reply {
    #[cfg(feature = "memory")]
    Memory(RawDocumentBuf),
    #[cfg(feature = "mongodb")]
    Driver(mongodb::raw_batch_cursor::RawBatch),
}

impl Reply {
    pub(crate) fn document(&self) -> &RawDocument {
        match self {
            #[cfg(feature = "memory")]
            Self::Memory(reply) => reply,
            #[cfg(feature = "mongodb")]
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
            // Behind the array's own length, up to its closing NUL.
            next: start + 4,
            end: (start + length).saturating_sub(1),
            current: 0,
            cursor_id,
            reply,
        })
    }

    pub(crate) fn reply(&self) -> &RawDocument {
        self.reply.document()
    }

    pub(crate) fn is_read(&self) -> bool {
        self.next >= self.end
    }

    /// Steps to the next document and returns it, `None` behind the last.
    pub(crate) fn next(&mut self) -> Option<Result<&RawDocument>> {
        if self.is_read() {
            return None;
        }
        let found = element(self.reply.document().as_bytes(), self.next, self.end);
        let Some((start, length)) = found else {
            self.next = self.end;
            return Some(Err(Error::malformed_reply("documents in a batch")));
        };
        self.current = start;
        self.next = start + length;
        Some(
            self.current()
                .ok_or_else(|| Error::malformed_reply("well-formed documents in a batch")),
        )
    }

    /// The document that the last step found.
    pub(crate) fn current(&self) -> Option<&RawDocument> {
        let bytes = self.reply.document().as_bytes();
        RawDocument::from_bytes(bytes.get(self.current..self.next)?).ok()
    }
}

/// Where `part` starts in `whole`, which it is a slice of.
fn offset(whole: &[u8], part: &[u8]) -> Option<usize> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (start + part.len() <= whole.len()).then_some(start)
}

/// Start and length of the document that the array element at `at` holds.
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
