//! Replies.

use bson::raw::{CStr, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::spec::ElementType;
use bson::{Bson, Document, Timestamp, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw::DocumentWriter;
use smallvec::SmallVec;

use crate::catalog::namespace::Namespace;
use crate::cursor::registry::Item;

/// The maximum size of a batch in bytes.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Room for the type and the name of an element of a batch.
const NAME_ROOM: usize = 8;

/// Room for the fields of a reply beside its documents; others may be added to it.
const REPLY_ROOM: usize = 1024;

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

/// Most batches hold one document.
type Items = SmallVec<[Item; 1]>;

/// A batch that is being filled.
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

    /// The batch of what `map` makes of each document.
    pub(crate) fn map<E>(self, map: impl Fn(Item) -> Result<Item, E>) -> Result<Self, E> {
        let mut batch = Self::default();
        for item in self.documents {
            batch.push(map(item)?);
        }
        Ok(batch)
    }

    /// The batch as a page of the cursor `id`; 0 means that the cursor is closed.
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

/// A batch of a cursor, and the cursor id that returns the next one.
#[derive(Debug)]
pub struct Page {
    pub documents: Items,
    /// 0 in the last batch.
    pub id: i64,
    pub namespace: Namespace,
    /// The cluster time of the snapshot that the cursor reads, if the client requested one.
    pub(crate) time: Option<Timestamp>,
    /// The resume token of a change stream.
    pub token: Option<RawDocumentBuf>,
}

impl Page {
    /// Adds the resume token of a change stream.
    pub(crate) fn with_token(mut self, token: Option<RawDocumentBuf>) -> Self {
        self.token = token;
        self
    }

    /// Adds the cluster time of the snapshot that the cursor reads.
    pub(crate) fn at(mut self, time: Option<Timestamp>) -> Self {
        self.time = time;
        self
    }

    /// `{cursor: {firstBatch, id, ns}, ok: 1}`.
    pub fn to_reply(&self, name: &CStr) -> RawDocumentBuf {
        let documents: usize = self.documents.iter().map(Item::size).sum();
        let room = documents + NAME_ROOM * self.documents.len() + REPLY_ROOM;
        let mut reply = DocumentWriter::with_capacity(room);
        reply.nest("cursor", ElementType::EmbeddedDocument, |cursor| {
            cursor.nest(name.as_str(), ElementType::Array, |array| {
                for (at, item) in self.documents.iter().enumerate() {
                    array.append_item(at, item.document());
                }
            });
            if let Some(token) = &self.token {
                cursor.append("postBatchResumeToken", RawBsonRef::Document(token));
            }
            cursor.append("id", RawBsonRef::Int64(self.id));
            cursor.append("ns", RawBsonRef::String(&self.namespace.to_string()));
            if let Some(time) = self.time {
                cursor.append("atClusterTime", RawBsonRef::Timestamp(time));
            }
        });
        reply.append("ok", RawBsonRef::Double(1.0));
        reply.finish()
    }
}

/// The results of a write command.
#[derive(Debug, Default)]
pub struct Written {
    /// The number of documents inserted, deleted, or matched and upserted.
    pub n: i64,
    /// The number of modified documents; `None` unless the command is an update.
    pub modified: Option<i64>,
    /// The index of each upserting statement, and the `_id` that it inserted.
    pub upserted: Vec<(usize, Bson)>,
    /// The index and the error of each statement that failed.
    pub errors: Vec<(usize, ServerError)>,
    /// The ids of the statements that had been executed before.
    pub(crate) retried: Vec<i32>,
}

impl Written {
    /// `{n, writeErrors, upserted, nModified, retriedStmtIds, ok: 1}`, without the fields that are empty.
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
