//! Spans and events of `tracing` for the commands of a handle.

use std::time::Duration;

use bson::{Bson, Document};
use tracing::field::Empty;
use tracing::{Span, debug, debug_span, warn};

use crate::error::Error;

/// Whether the commands in spans have their values, for [`Db::with_tracing`](crate::Db::with_tracing).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracedValues {
    /// Spans have the names of commands and collections, and no values.
    Hidden,
    /// Spans also have the whole command, as the field `db.query.text`. It holds what the program stores and asks for, such as
    /// names and passwords.
    Shown,
}

/// The span of a command that is about to be sent.
pub(super) fn span(database: &str, command: &Document, values: TracedValues) -> Span {
    let Some((name, operand)) = command.iter().next() else {
        return Span::none();
    };
    let span = debug_span!(
        target: "odm::command",
        "command",
        db.system.name = "mongodb",
        db.namespace = database,
        db.operation.name = name.as_str(),
        db.collection.name = Empty,
        db.query.text = Empty,
        db.response.returned_rows = Empty,
        db.response.status_code = Empty,
    );
    let collection = match operand {
        Bson::String(collection) => Some(collection.as_str()),
        _ => command.get_str("collection").ok(),
    };
    if let Some(collection) = collection {
        span.record("db.collection.name", collection);
    }
    if values == TracedValues::Shown {
        span.record("db.query.text", tracing::field::display(command));
    }
    span
}

/// Records the outcome in the span, and logs it as an event inside.
pub(super) fn finish(span: &Span, outcome: Result<&Document, &Error>, duration: Duration) {
    let _entered = span.enter();
    let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    match outcome {
        Ok(reply) => {
            let rows = rows(reply);
            if let Some(rows) = rows {
                span.record("db.response.returned_rows", rows);
            }
            debug!(target: "odm::command", duration_us, rows, "succeeded");
        }
        Err(error) => {
            let code = error.code().map(crate::error::Code::number);
            if let Some(code) = code {
                span.record("db.response.status_code", code);
            }
            // The message of an error can name values.
            warn!(target: "odm::command", duration_us, code, "failed");
        }
    }
}

/// The number of documents in a reply, or that a write affected.
fn rows(reply: &Document) -> Option<i64> {
    if let Ok(cursor) = reply.get_document("cursor") {
        let batch = cursor
            .get_array("firstBatch")
            .or_else(|_| cursor.get_array("nextBatch"));
        return batch.ok().and_then(|batch| i64::try_from(batch.len()).ok());
    }
    match reply.get("n") {
        Some(Bson::Int32(rows)) => Some(i64::from(*rows)),
        Some(Bson::Int64(rows)) => Some(*rows),
        _ => None,
    }
}
