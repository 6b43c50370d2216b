//! `getMore` as a command: of a cursor that tells of what comes, it waits for something to come.

use std::future::poll_fn;
use std::time::{Duration, Instant};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use futures::future::{Either, select};

use crate::error::Result;
use crate::store::memory::{Listener, Memory};
use crate::store::session::Session;
use crate::value::raw;

/// How long a cursor waits for documents to come where the client does not say it.
pub(crate) const AWAIT: Duration = Duration::from_secs(1);

impl Memory {
    /// Runs a command as it is written. A `getMore` without documents waits for some, for as long as it says; outside
    /// of a Tokio runtime there is no timer to end that, and it answers at once.
    pub(crate) async fn run_written(
        &self,
        database: &str,
        command: RawDocumentBuf,
        mut session: Option<&mut Session>,
    ) -> Result<RawDocumentBuf> {
        let Some(cursor) = cursor(&command) else {
            return self.run_in(database, command, session, None).await;
        };
        let end = Instant::now() + max_time(&command).unwrap_or(AWAIT);
        let listener = Listener::new(self);
        loop {
            let seen = self.changes_seen();
            let again = command.clone();
            let reply = self
                .run_in(database, again, session.as_deref_mut(), None)
                .await?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_empty(&reply) || tokio::runtime::Handle::try_current().is_err()
            {
                return Ok(reply);
            }
            let Some(interest) = self.awaits(cursor) else {
                return Ok(reply);
            };
            // What was written before the log was kept has woken nobody: look once more.
            if self.log_changes() {
                continue;
            }
            let written = poll_fn(|context| listener.poll(&interest, seen, context));
            let time = std::pin::pin!(tokio::time::sleep(left));
            if let Either::Right(_) = select(written, time).await {
                return Ok(reply);
            }
        }
    }
}

/// The cursor of a `getMore`.
fn cursor(command: &RawDocument) -> Option<i64> {
    match raw::elements(command).next() {
        Some(("getMore", RawBsonRef::Int64(id))) => Some(id),
        _ => None,
    }
}

/// Whether a reply has no documents, and its cursor goes on.
pub(crate) fn is_empty(reply: &RawDocument) -> bool {
    let Some(RawBsonRef::Document(cursor)) = raw::get(reply, "cursor") else {
        return false;
    };
    let Some(RawBsonRef::Array(batch)) = raw::get(cursor, "nextBatch") else {
        return false;
    };
    raw::values(batch).next().is_none() && raw::get(cursor, "id") != Some(RawBsonRef::Int64(0))
}

/// `maxTimeMS`, where it says something.
pub(crate) fn max_time(command: &RawDocument) -> Option<Duration> {
    let millis = match raw::get(command, "maxTimeMS")? {
        RawBsonRef::Int32(millis) => i64::from(millis),
        RawBsonRef::Int64(millis) => millis,
        _ => return None,
    };
    u64::try_from(millis)
        .ok()
        .filter(|millis| *millis > 0)
        .map(Duration::from_millis)
}
