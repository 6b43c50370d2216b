//! `insert`.

use std::borrow::Cow;
use std::sync::Arc;

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::spec::ElementType;
use bson::{Bson, Timestamp};
use odm_language::clock::Clock;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;
use smallvec::SmallVec;

use crate::command::args::{Field, Kind, field, is_of_no_series, objects, required};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::modify::check_capped;
use crate::command::reply::Written;
use crate::command::retry::{Retry, STATEMENT_ID, STATEMENT_IDS};
use crate::command::statements::Progress;
use crate::txn::session::Statement;
use crate::txn::writer::Writer;
use crate::updater::{check_id, check_insert};

/// The maximum number of documents in one command.
const MAX_BATCH: usize = 100_000;

const FIELDS: &[Field] = &[
    required("documents", Kind::Objects),
    field("ordered", Kind::Bool),
    field("isTimeseriesNamespace", Kind::FindBool).checked(is_of_no_series),
    field("bypassDocumentValidation", Kind::SafeBool),
    STATEMENT_ID,
    STATEMENT_IDS,
];

pub(crate) const INSERT: Command = Command {
    name: "insert",
    idl: "insert",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: insert,
    explain: None,
};

/// Most batches hold one document.
type Batch<'a> = SmallVec<[&'a RawDocument; 1]>;

/// The documents or statements of a batch.
pub(crate) fn batch(array: &RawArray) -> Result<Batch<'_>, ServerError> {
    check_count(objects(array).collect())
}

/// The documents or statements, unless there are none or too many.
pub(crate) fn check_count(documents: Batch<'_>) -> Result<Batch<'_>, ServerError> {
    if documents.is_empty() || documents.len() > MAX_BATCH {
        return Err(ServerError::new(
            Code::INVALID_LENGTH,
            format!(
                "Write batch sizes must be between 1 and {MAX_BATCH}. Got {} operations.",
                documents.len()
            ),
        ));
    }
    Ok(documents)
}

/// A parsed `insert`.
#[derive(Debug)]
pub(crate) struct Insert<'a> {
    pub(crate) documents: Batch<'a>,
    /// Whether the first error ends the command, as every error does in a transaction.
    pub(crate) ordered: bool,
    pub(crate) bypass: bool,
    /// Whether the documents are restored: the engine stores them unchanged, except for a missing `_id`.
    pub(crate) restores: bool,
}

fn insert(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let array = call.args.array_or_empty("documents");
    let insert = Insert {
        documents: batch(array)?,
        ordered: call.args.bool("ordered").unwrap_or(true),
        bypass: call.args.flag("bypassDocumentValidation"),
        restores: false,
    };
    Retry::check(call.command, insert.documents.len())?;
    insert.run(call)?.to_reply()
}

impl Insert<'_> {
    pub(crate) fn run(&self, call: &mut Invocation<'_>) -> Result<Written, ServerError> {
        let namespace = call.namespace;
        namespace.check_write()?;
        let context = call.context;
        let (clock, now) = (Arc::clone(&call.engine.catalog.clock), call.now);
        let times = (!self.restores).then_some(Times { clock: &clock, now });
        let mut progress = Progress::new(call, self.ordered);
        let most = if progress.ends_at_error() {
            1
        } else {
            usize::MAX
        };
        let mut write = |writer: &mut Writer<'_, '_>| {
            progress.run(
                writer,
                &self.documents,
                |_, mut tally| tally.count(1),
                |writer, document, mut tally| {
                    check_capped(writer)?;
                    writer.insert(&prepare(document, || context.object_id(), times)?)?;
                    tally.count(1);
                    tally.remember(|| {
                        let id = raw::get(document, "_id").and_then(|id| Bson::try_from(id).ok());
                        Statement::Insert {
                            id: id.unwrap_or(Bson::Null),
                        }
                    });
                    Ok(())
                },
            )
        };
        if call.write(namespace, self.bypass, &mut write)?.is_some() {
            return Ok(progress.finish());
        }
        if let Err(error) = call.check_not_view(namespace) {
            return Ok(progress.refused(error));
        }
        // The trial must not consume an id or a cluster time of the engine.
        let new_id = || bson::oid::ObjectId::from_bytes([0; 12]);
        let apart = Clock::default();
        let trial = |document: &&RawDocument| {
            let times = Times { clock: &apart, now };
            prepare(document, new_id, Some(times)).map(drop)
        };
        // If no document can be stored, the collection is not created.
        if self
            .documents
            .iter()
            .take(most)
            .all(|document| trial(document).is_err())
        {
            progress.fail(self.documents.iter().map(trial));
            return Ok(progress.finish());
        }
        call.write_ensured(namespace, self.bypass, |writer| write(writer))?;
        Ok(progress.finish())
    }
}

/// The error for a document with two `_id` fields.
pub(crate) fn several_ids() -> ServerError {
    ServerError::new(
        Code::BAD_VALUE,
        "can't have multiple _id fields in one document",
    )
}

const TIMESTAMP: u8 = ElementType::Timestamp as u8;

/// The source of the values of empty timestamps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times<'t> {
    pub(crate) clock: &'t Clock,
    pub(crate) now: bson::DateTime,
}

/// The document as it is stored: with an `_id`, which comes first. With `times`, each empty top-level timestamp gets a
/// cluster time of its own.
pub(crate) fn prepare<'d>(
    document: &'d RawDocument,
    new_id: impl FnOnce() -> bson::oid::ObjectId,
    times: Option<Times<'_>>,
) -> Result<Cow<'d, RawDocument>, ServerError> {
    let unset = |value: RawBsonRef<'_>| {
        matches!(
            value,
            RawBsonRef::Timestamp(Timestamp {
                time: 0,
                increment: 0
            })
        )
    };
    let (mut id, mut id_first, mut nests, mut fills_in) = (None, false, false, false);
    let mut ids = 0;
    let mut elements = raw::walk(document);
    let mut is_first = true;
    while let Some(element) = elements.advance() {
        if element.key_bytes() == b"_id" {
            ids += 1;
            if id.is_none() {
                id = Some(element);
                id_first = is_first;
            }
        } else {
            fills_in |= element.tag() == TIMESTAMP && element.value().is_some_and(unset);
        }
        nests |= element.children().is_some();
        is_first = false;
    }
    check_insert(document, nests)?;
    // A replacement may leave two `_id` fields, and a restored document is stored unchanged.
    if ids > 1 && times.is_some() {
        return Err(several_ids());
    }
    let id = id.and_then(|id| id.value());
    if let Some(id) = id {
        check_id(id)?;
    }
    if id_first && !(fills_in && times.is_some()) {
        return Ok(Cow::Borrowed(document));
    }
    let mut stored = RawDocumentBuf::new();
    match id {
        Some(id) => stored.append(cstr!("_id"), id),
        None => stored.append(cstr!("_id"), new_id()),
    }
    for element in document {
        let (name, value) = element
            .map_err(|e| ServerError::new(Code::INVALID_BSON, format!("invalid BSON: {e}")))?;
        if name.as_str() == "_id" {
            continue;
        }
        match times {
            Some(times) if unset(value) => stored.append(name, times.clock.tick(times.now)),
            _ => stored.append(name, value),
        }
    }
    Ok(Cow::Owned(stored))
}
