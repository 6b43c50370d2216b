//! Replies.

use bson::raw::{CStr, RawArrayBuf, RawBson, RawDocumentBuf, cstr};
use bson::{Bson, Document};

use crate::engine::catalog::namespace::Namespace;
use crate::error::{Code, ServerError};

/// The most that a batch may hold, in bytes.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// A successful reply: the fields, then `ok: 1`.
pub(crate) fn reply(mut fields: Document) -> Result<RawDocumentBuf, ServerError> {
    fields.insert("ok", 1.0);
    RawDocumentBuf::try_from(&fields)
        .map_err(|e| ServerError::new(Code::INTERNAL_ERROR, e.to_string()))
}

/// The reply of a command that failed.
pub(crate) fn failed(error: &ServerError) -> RawDocumentBuf {
    raw(&error.to_reply())
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap_or_else(|e| {
        // Only a key with a NUL byte could fail.
        let mut reply = RawDocumentBuf::new();
        reply.append(cstr!("ok"), 0.0);
        reply.append(cstr!("errmsg"), e.to_string());
        reply.append(cstr!("code"), Code::INTERNAL_ERROR.number());
        reply
    })
}

/// A batch under way.
#[derive(Debug)]
pub(crate) struct Batch {
    documents: RawArrayBuf,
    len: usize,
    bytes: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            documents: RawArrayBuf::new(),
            len: 0,
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether a document of this size still fits; the first always does.
    pub(crate) fn has_room(&self, document: &RawDocumentBuf) -> bool {
        self.len == 0 || self.bytes + document.as_bytes().len() <= BATCH_BYTES
    }

    pub(crate) fn push(&mut self, document: RawDocumentBuf) {
        self.len += 1;
        self.bytes += document.as_bytes().len();
        self.documents.push(RawBson::Document(document));
    }

    /// `{cursor: {firstBatch, id, ns}, ok: 1}`.
    pub(crate) fn into_reply(self, name: &CStr, id: i64, namespace: &Namespace) -> RawDocumentBuf {
        let mut cursor = RawDocumentBuf::new();
        cursor.append(name, self.documents);
        cursor.append(cstr!("id"), id);
        cursor.append(cstr!("ns"), namespace.to_string());
        let mut reply = RawDocumentBuf::new();
        reply.append(cstr!("cursor"), cursor);
        reply.append(cstr!("ok"), 1.0);
        reply
    }
}

/// One element of `writeErrors`.
pub(crate) fn write_error(index: usize, error: &ServerError) -> Bson {
    let mut document = bson::doc! {
        "index": i32::try_from(index).unwrap_or(i32::MAX),
        "code": error.code().number(),
        "errmsg": error.message(),
    };
    if let Some(details) = error.details() {
        document.extend(details.clone());
    }
    Bson::Document(document)
}
