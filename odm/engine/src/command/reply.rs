//! Replies.

use bson::raw::{CStr, RawArrayBuf, RawDocument, RawDocumentBuf, cstr};
use bson::{Bson, Document, Timestamp, doc};
use odm_language::error::{Code, ServerError};
use smallvec::SmallVec;

use crate::catalog::namespace::Namespace;
use crate::cursor::open::Item;

/// The most that a batch may hold, in bytes.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// A successful reply: the fields, then `ok: 1`.
pub fn reply(mut fields: Document) -> Result<RawDocumentBuf, ServerError> {
    fields.insert("ok", 1.0);
    RawDocumentBuf::try_from(&fields)
        .map_err(|e| ServerError::new(Code::INTERNAL_ERROR, e.to_string()))
}

/// A reply with one more field before its `ok`.
pub fn with(reply: &RawDocument, name: &CStr, field: &Document) -> RawDocumentBuf {
    let mut fields = RawDocumentBuf::new();
    for (key, value) in reply.iter().flatten() {
        if key == cstr!("ok") {
            fields.append(name, raw(field));
        }
        fields.append(key, value);
    }
    fields
}

/// The reply of a command that failed.
pub fn failed(error: &ServerError) -> RawDocumentBuf {
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

/// Most batches are of one document.
type Items = SmallVec<[Item; 1]>;

/// A batch under way.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    documents: Items,
    bytes: usize,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    /// The last of its documents.
    pub(crate) fn last(&self) -> Option<&RawDocument> {
        self.documents.last().map(Item::document)
    }

    /// Whether a document still fits; the first always does.
    pub(crate) fn has_room(&self, item: &Item) -> bool {
        self.documents.is_empty() || self.bytes + item.size() <= BATCH_BYTES
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.bytes += item.size();
        self.documents.push(item);
    }

    /// The batch of a cursor, which goes on under `id` unless that is 0.
    pub(crate) fn of(self, id: i64, namespace: Namespace) -> Page {
        Page {
            documents: self.documents,
            id,
            namespace,
            time: None,
            token: None,
        }
    }
}

/// A batch of a cursor, and under which id the next is to be had.
#[derive(Debug)]
pub struct Page {
    pub documents: Items,
    /// Zero behind the last batch.
    pub id: i64,
    pub namespace: Namespace,
    /// The moment that the cursor is of, where the client asked for one.
    pub(crate) time: Option<Timestamp>,
    /// Where a change stream can be resumed.
    pub token: Option<RawDocumentBuf>,
}

impl Page {
    /// The batch of a change stream, and where it can be resumed.
    pub(crate) fn with_token(mut self, token: Option<RawDocumentBuf>) -> Self {
        self.token = token;
        self
    }

    /// The batch of a cursor over one moment.
    pub(crate) fn at(mut self, time: Option<Timestamp>) -> Self {
        self.time = time;
        self
    }

    /// `{cursor: {firstBatch, id, ns}, ok: 1}`.
    pub fn to_reply(&self, name: &CStr) -> RawDocumentBuf {
        let mut documents = RawArrayBuf::new();
        for item in &self.documents {
            documents.push(item.document());
        }
        let mut cursor = RawDocumentBuf::new();
        cursor.append(name, documents);
        if let Some(token) = &self.token {
            cursor.append(cstr!("postBatchResumeToken"), &**token);
        }
        cursor.append(cstr!("id"), self.id);
        cursor.append(cstr!("ns"), self.namespace.to_string());
        if let Some(time) = self.time {
            cursor.append(cstr!("atClusterTime"), time);
        }
        let mut reply = RawDocumentBuf::new();
        reply.append(cstr!("cursor"), cursor);
        reply.append(cstr!("ok"), 1.0);
        reply
    }
}

/// What a write command did.
#[derive(Debug, Default)]
pub struct Written {
    /// Inserted, deleted, or matched and upserted.
    pub n: i64,
    /// Of an update alone.
    pub modified: Option<i64>,
    /// The statement, and the `_id` that it upserted.
    pub upserted: Vec<(usize, Bson)>,
    /// The statements that failed.
    pub errors: Vec<(usize, ServerError)>,
    /// The statements that had been executed before.
    pub(crate) retried: Vec<i32>,
}

impl Written {
    /// Adds what one update did.
    pub(crate) fn update(&mut self, index: usize, n: i64, modified: i64, upserted: Option<Bson>) {
        self.n += n;
        self.modified = self.modified.map(|sum| sum + modified);
        self.upserted.extend(upserted.map(|id| (index, id)));
    }

    /// Fails the statements that could not be prepared, where there was nothing to run them on.
    pub(crate) fn fail<T>(
        &mut self,
        prepared: impl IntoIterator<Item = Result<T, ServerError>>,
        ordered: bool,
    ) {
        let failed = prepared
            .into_iter()
            .enumerate()
            .filter_map(|(index, prepared)| Some((index, prepared.err()?)));
        self.errors
            .extend(failed.take(if ordered { 1 } else { usize::MAX }));
    }

    /// `{n, writeErrors, upserted, nModified, retriedStmtIds, ok: 1}`, as far as there is something to say.
    pub fn to_reply(&self) -> Result<RawDocumentBuf, ServerError> {
        let mut fields = doc! { "n": int(self.n) };
        if !self.errors.is_empty() {
            let errors = self.errors.iter();
            let errors: Vec<Bson> = errors.map(|(at, error)| write_error(*at, error)).collect();
            fields.insert("writeErrors", errors);
        }
        if !self.upserted.is_empty() {
            let upserted = self.upserted.iter();
            let upserted: Vec<Bson> = upserted
                .map(|(at, id)| doc! { "index": index(*at), "_id": id.clone() }.into())
                .collect();
            fields.insert("upserted", upserted);
        }
        if let Some(modified) = self.modified {
            fields.insert("nModified", int(modified));
        }
        if !self.retried.is_empty() {
            fields.insert("retriedStmtIds", self.retried.clone());
        }
        reply(fields)
    }
}

/// Counts are 32 bits in replies, unless they don't fit.
pub(crate) fn int(count: i64) -> Bson {
    i32::try_from(count).map_or(Bson::Int64(count), Bson::Int32)
}

fn index(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}

/// One element of `writeErrors`.
fn write_error(at: usize, error: &ServerError) -> Bson {
    let mut document = doc! {
        "index": index(at),
        "code": error.code().number(),
        "errmsg": error.message(),
    };
    if let Some(details) = error.details() {
        document.extend(details.clone());
    }
    Bson::Document(document)
}
