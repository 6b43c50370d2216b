//! Reads the replies of commands.

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{BulkError, BulkWriteResult, Error, Result, ServerError, WriteError};

/// The counts of a write command.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Written {
    /// The number of inserted, deleted, or matched plus upserted documents.
    pub(crate) n: u64,
    pub(crate) modified: u64,
    /// The index of each upserting statement, and the `_id` that it upserted.
    pub(crate) upserted: Vec<(usize, Bson)>,
}

/// Reads a count, which may be any numeric type.
pub(crate) fn count(reply: &RawDocument, key: &'static str) -> Result<u64> {
    optional(reply, key)?
        .and_then(whole)
        .ok_or_else(|| Error::malformed_reply(format_args!("a count as `{key}`")))
}

fn whole(value: RawBsonRef<'_>) -> Option<u64> {
    match value {
        RawBsonRef::Int32(n) => u64::try_from(n).ok(),
        RawBsonRef::Int64(n) => u64::try_from(n).ok(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are whole; a cast saturates"
        )]
        RawBsonRef::Double(n) if n >= 0.0 => Some(n as u64),
        _ => None,
    }
}

/// The `values` of a `distinct`.
pub(crate) fn values(reply: &RawDocument) -> Result<Vec<Bson>> {
    let Some(RawBsonRef::Array(values)) = field(reply, "values") else {
        return Err(Error::malformed_reply("`values`"));
    };
    values
        .into_iter()
        .map(|value| {
            value
                .and_then(Bson::try_from)
                .map_err(|_| Error::malformed_reply("well-formed `values`"))
        })
        .collect()
}

/// The field, if it is present and well formed.
pub(crate) fn field<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    document.get(key).ok().flatten()
}

/// Reads the reply of a write command: its counts, or the errors of its statements.
pub(crate) fn written(reply: &RawDocument, kind: WriteKind, batch: bool) -> Result<Written> {
    let written = Written {
        n: count(reply, "n")?,
        modified: match kind {
            WriteKind::Update => count(reply, "nModified")?,
            WriteKind::Insert | WriteKind::Delete => 0,
        },
        upserted: upserted(reply)?,
    };
    let (errors, concern) = write_errors(reply)?;
    outcome(written, errors, concern, kind, batch)
}

/// The errors of single statements and of the write concern, in the reply of a command with `ok: 1`.
/// A malformed entry is an error: skipping it would report a failed write as successful.
pub(crate) fn write_errors(reply: &RawDocument) -> Result<(Vec<WriteError>, Option<ServerError>)> {
    let errors = match optional(reply, "writeErrors")? {
        None => Vec::new(),
        Some(RawBsonRef::Array(list)) => list
            .into_iter()
            .map(|entry| match entry {
                Ok(RawBsonRef::Document(entry)) => Ok(WriteError::new(
                    index(entry)?,
                    ServerError::of_document(entry),
                )),
                _ => Err(Error::malformed_reply("documents in `writeErrors`")),
            })
            .collect::<Result<_>>()?,
        Some(_) => return Err(Error::malformed_reply("an array as `writeErrors`")),
    };
    let concern = match optional(reply, "writeConcernError")? {
        None => None,
        Some(RawBsonRef::Document(error)) => Some(ServerError::of_document(error)),
        Some(_) => return Err(Error::malformed_reply("a document as `writeConcernError`")),
    };
    Ok((errors, concern))
}

fn index(entry: &RawDocument) -> Result<usize> {
    usize::try_from(count(entry, "index")?)
        .map_err(|_| Error::malformed_reply("the `index` of a statement"))
}

/// The field, or `None` if it is missing; a malformed document is an error.
fn optional<'a>(document: &'a RawDocument, key: &str) -> Result<Option<RawBsonRef<'a>>> {
    document
        .get(key)
        .map_err(|_| Error::malformed_reply("well-formed BSON"))
}

/// The kind of a write command: which count of a [`BulkWriteResult`] its `n` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteKind {
    Insert,
    Update,
    Delete,
}

/// Returns the counts if nothing failed. Otherwise returns the single error or, for a batch, all
/// errors with the counts.
pub(crate) fn outcome(
    written: Written,
    mut errors: Vec<WriteError>,
    concern: Option<ServerError>,
    kind: WriteKind,
    batch: bool,
) -> Result<Written> {
    if errors.is_empty() && concern.is_none() {
        return Ok(written);
    }
    if !batch {
        if !errors.is_empty() {
            return Err(errors.swap_remove(0).into_error().into());
        }
        if let Some(concern) = concern {
            return Err(concern.into());
        }
    }
    Err(Error::new(BulkError::new(
        written.into_result(kind),
        errors,
        concern,
    )))
}

impl Written {
    /// Converts these counts into those of a bulk write.
    pub(crate) fn into_result(self, kind: WriteKind) -> BulkWriteResult {
        let mut result = BulkWriteResult::default();
        match kind {
            WriteKind::Insert => result.inserted = self.n,
            WriteKind::Update => {
                result.matched = self.n.saturating_sub(self.upserted.len() as u64);
                result.modified = self.modified;
                result.upserted_ids = self.upserted.into_iter().collect();
            }
            WriteKind::Delete => result.deleted = self.n,
        }
        result
    }

    /// How many documents the filter matched.
    pub(crate) fn matched(&self) -> u64 {
        self.n.saturating_sub(self.upserted.len() as u64)
    }
}

fn upserted(reply: &RawDocument) -> Result<Vec<(usize, Bson)>> {
    match optional(reply, "upserted")? {
        None => Ok(Vec::new()),
        Some(RawBsonRef::Array(list)) => list
            .into_iter()
            .map(|entry| {
                let Ok(RawBsonRef::Document(entry)) = entry else {
                    return Err(Error::malformed_reply("documents in `upserted`"));
                };
                let id = optional(entry, "_id")?.and_then(|id| Bson::try_from(id).ok());
                let id = id.ok_or_else(|| Error::malformed_reply("the `_id` of an upsert"))?;
                Ok((index(entry)?, id))
            })
            .collect(),
        Some(_) => Err(Error::malformed_reply("an array as `upserted`")),
    }
}

#[cfg(test)]
mod tests {
    use bson::raw::RawDocumentBuf;
    use bson::rawdoc;

    use super::*;

    #[test]
    fn malformed_replies_keep_failures() {
        let refused = |reply: RawDocumentBuf| {
            let read = written(&reply, WriteKind::Insert, true);
            read.unwrap_err().to_string()
        };
        for (reply, wanted) in [
            (rawdoc! { "ok": 1 }, "`n`"),
            (rawdoc! { "n": "1" }, "`n`"),
            (rawdoc! { "n": -1 }, "`n`"),
            (rawdoc! { "n": 1, "writeErrors": 7 }, "`writeErrors`"),
            (rawdoc! { "n": 1, "writeErrors": [7] }, "`writeErrors`"),
            (
                rawdoc! { "n": 1, "writeErrors": [{ "code": 11000 }] },
                "`index`",
            ),
            (rawdoc! { "n": 1, "upserted": [{ "index": 0 }] }, "`_id`"),
            (
                rawdoc! { "n": 1, "writeConcernError": true },
                "`writeConcernError`",
            ),
        ] {
            let message = refused(reply);
            assert!(message.contains(wanted), "{message}");
        }
        let update = rawdoc! { "n": 1 };
        let read = written(&update, WriteKind::Update, false).unwrap_err();
        assert!(read.to_string().contains("`nModified`"), "{read}");
        // With an element of an unknown type, the reply may contain errors that can't be read.
        let mut bytes = rawdoc! { "n": 1, "x": 1 }.into_bytes();
        bytes[11] = 0x66;
        let broken = RawDocumentBuf::from_bytes(bytes).unwrap();
        assert!(written(&broken, WriteKind::Delete, false).is_err());
    }
}
