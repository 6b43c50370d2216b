//! The responses to operations.

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use futures_core::future::BoxFuture;

use crate::error::{Error, Result};
use crate::store::cursor::{RawCursor, shown_reply};
use crate::store::reply::Written;

/// The future of an operation's response. Each path boxes a future type of its own: a single type for
/// all would be as large as the largest, and every call would allocate and copy that much.
pub(crate) type Answer<'s> = BoxFuture<'s, Result<Response<'s>>>;

/// The response to one operation; the operation determines the variant.
#[derive(Debug)]
pub(crate) enum Response<'s> {
    Written(Written),
    Cursor(RawCursor<'s>),
    /// The document that `findAndModify` returns.
    Document(Option<RawDocumentBuf>),
    Count(u64),
    Values(Vec<Bson>),
    Done,
}

impl<'s> Response<'s> {
    pub(crate) fn written(self) -> Result<Written> {
        match self {
            Self::Written(written) => Ok(written),
            _ => Err(Error::malformed_reply("counts")),
        }
    }

    pub(crate) fn cursor(self) -> Result<RawCursor<'s>> {
        match self {
            Self::Cursor(cursor) => Ok(cursor),
            _ => Err(Error::malformed_reply("a cursor")),
        }
    }

    pub(crate) fn document(self) -> Result<Option<RawDocumentBuf>> {
        match self {
            Self::Document(document) => Ok(document),
            _ => Err(Error::malformed_reply("a document")),
        }
    }

    pub(crate) fn count(self) -> Result<u64> {
        match self {
            Self::Count(count) => Ok(count),
            _ => Err(Error::malformed_reply("a count")),
        }
    }

    pub(crate) fn values(self) -> Result<Vec<Bson>> {
        match self {
            Self::Values(values) => Ok(values),
            _ => Err(Error::malformed_reply("values")),
        }
    }
}

impl Response<'_> {
    /// The reply for the monitor: only the fields that the operation reads.
    pub(crate) fn to_reply(&self, updates: bool) -> Document {
        let mut reply = match self {
            Self::Written(written) => {
                let mut reply = doc! { "n": small(written.n) };
                if updates {
                    reply.insert("nModified", small(written.modified));
                }
                if !written.upserted.is_empty() {
                    let upserted: Vec<Bson> = written
                        .upserted
                        .iter()
                        .map(|(index, id)| {
                            Bson::Document(
                                doc! { "index": small(*index as u64), "_id": id.clone() },
                            )
                        })
                        .collect();
                    reply.insert("upserted", upserted);
                }
                reply
            }
            Self::Cursor(cursor) => return shown_reply(&cursor.reply()),
            Self::Document(document) => doc! {
                "value": document
                    .as_ref()
                    .and_then(|document| Document::try_from(&**document).ok())
                    .map_or(Bson::Null, Bson::Document),
            },
            Self::Count(count) => doc! { "n": small(*count) },
            Self::Values(values) => doc! { "values": values.clone() },
            Self::Done => Document::new(),
        };
        reply.insert("ok", 1.0);
        reply
    }
}

fn small(number: u64) -> Bson {
    i32::try_from(number).map_or_else(
        |_| Bson::Int64(i64::try_from(number).unwrap_or(i64::MAX)),
        Bson::Int32,
    )
}
