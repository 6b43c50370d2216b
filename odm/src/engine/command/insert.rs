//! `insert`.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::{Bson, Timestamp, doc};

use crate::engine::command::args::{Field, Kind, field, required, type_name};
use crate::engine::command::call::Call;
use crate::engine::command::reply::{reply, write_error};
use crate::engine::command::retry::{Retry, STATEMENT_ID, STATEMENT_IDS};
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::engine::txn::session::Statement;
use crate::engine::txn::writer::Writer;
use crate::engine::updater::{check_id, check_insert};
use crate::error::{Code, ServerError};
use crate::value::raw;

/// The most documents of one command.
const MOST: usize = 100_000;

const FIELDS: &[Field] = &[
    required("documents", Kind::Array),
    field("ordered", Kind::Bool),
    field("bypassDocumentValidation", Kind::SafeBool),
    STATEMENT_ID,
    STATEMENT_IDS,
];

pub(crate) const INSERT: Command = Command {
    name: "insert",
    idl: "insert",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: insert,
};

/// The documents or statements of a batch, each a document.
pub(crate) fn batch<'a>(
    array: &'a RawArray,
    name: &str,
) -> Result<Vec<&'a RawDocument>, ServerError> {
    let mut documents = Vec::new();
    for (at, value) in raw::values(array).enumerate() {
        let RawBsonRef::Document(document) = value else {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "BSON field '{name}.{at}' is the wrong type '{}', expected type 'object'",
                    type_name(value.element_type())
                ),
            ));
        };
        documents.push(document);
    }
    if documents.is_empty() || documents.len() > MOST {
        return Err(ServerError::new(
            Code::INVALID_LENGTH,
            format!(
                "Write batch sizes must be between 1 and {MOST}. Got {} operations.",
                documents.len()
            ),
        ));
    }
    Ok(documents)
}

/// What stops the whole command, whatever `ordered` says.
pub(crate) fn is_fatal(error: &ServerError) -> bool {
    matches!(
        error.code(),
        Code::WRITE_CONFLICT | Code::SNAPSHOT_UNAVAILABLE | Code::MAX_TIME_MS_EXPIRED
    )
}

/// Inside a transaction, a capped collection takes no writes.
pub(crate) fn check_capped(writer: &mut Writer<'_>) -> Result<(), ServerError> {
    if writer.inside.is_some() && writer.collection().options.capped.is_some() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!(
                "Collection '{}' is a capped collection. Writes in transactions are not allowed on capped collections.",
                writer.collection().namespace
            ),
        ));
    }
    Ok(())
}

fn insert(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let array = call.args.array_or_empty("documents");
    let documents = batch(array, "insert.documents")?;
    let ordered = call.args.bool("ordered").unwrap_or(true);
    let bypass = call.args.flag("bypassDocumentValidation");
    namespace.check_write()?;
    if let Err(error) = call.check_not_view(&namespace) {
        return reply(doc! { "n": 0, "writeErrors": [write_error(0, &error)] });
    }
    let now = call.now;
    let context = call.context.clone();
    let mut retry = Retry::new(call.statements.take(), call.command);
    let mut n = 0;
    let mut errors: Vec<Bson> = Vec::new();
    let mut done = Vec::new();
    call.write_ensured(&namespace, bypass, |writer| {
        check_capped(writer)?;
        for (index, document) in documents.iter().enumerate() {
            if retry.before(index).is_some() {
                n += 1;
                continue;
            }
            let outcome = prepare(document, || context.object_id(), now)
                .and_then(|document| writer.insert(document));
            match outcome {
                Ok(_) => {
                    n += 1;
                    done.push((index, Statement::Insert));
                }
                Err(e) if is_fatal(&e) => return Err(e),
                Err(e) => {
                    errors.push(write_error(index, &e));
                    if ordered {
                        break;
                    }
                }
            }
        }
        Ok(())
    })?;
    retry.remember(done);
    let mut fields = doc! { "n": n };
    if !errors.is_empty() {
        fields.insert("writeErrors", errors);
    }
    retry.report(&mut fields);
    reply(fields)
}

/// The document as it is stored: with an `_id`, which comes first.
fn prepare(
    document: &RawDocument,
    new_id: impl FnOnce() -> bson::oid::ObjectId,
    now: bson::DateTime,
) -> Result<RawDocumentBuf, ServerError> {
    check_insert(document)?;
    let id = raw::get(document, "_id");
    if let Some(id) = id {
        check_id(id)?;
    }
    let unset = |value: RawBsonRef<'_>| {
        matches!(
            value,
            RawBsonRef::Timestamp(Timestamp {
                time: 0,
                increment: 0
            })
        )
    };
    let id_first = raw::elements(document)
        .next()
        .is_some_and(|(name, _)| name == "_id");
    if id_first && !raw::elements(document).any(|(name, value)| name != "_id" && unset(value)) {
        return Ok(document.to_owned());
    }
    let mut stored = RawDocumentBuf::new();
    match id {
        Some(id) => stored.append(cstr!("_id"), id),
        None => stored.append(cstr!("_id"), new_id()),
    }
    let seconds = u32::try_from(now.timestamp_millis() / 1000).unwrap_or(0);
    for element in document {
        let (name, value) = element
            .map_err(|e| ServerError::new(Code::INVALID_BSON, format!("invalid BSON: {e}")))?;
        if name.as_str() == "_id" {
            continue;
        }
        if unset(value) {
            // The server fills in its own clock.
            let value = Timestamp {
                time: seconds,
                increment: 1,
            };
            stored.append(name, value);
        } else {
            stored.append(name, value);
        }
    }
    Ok(stored)
}

/// The document with an `_id`, a new one if it has none.
pub(crate) fn with_id(
    document: RawDocumentBuf,
    new_id: impl FnOnce() -> bson::oid::ObjectId,
) -> RawDocumentBuf {
    if raw::get(&document, "_id").is_some() {
        return document;
    }
    let mut stored = RawDocumentBuf::new();
    stored.append(cstr!("_id"), new_id());
    for (name, value) in document.iter().flatten() {
        stored.append(name, value);
    }
    stored
}
