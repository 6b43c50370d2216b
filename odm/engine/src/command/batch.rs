//! Batches of cursors.

use std::sync::Arc;

use odm_language::error::ServerError;
use odm_language::value::raw;

use crate::command::invocation::Invocation;
use crate::command::reply::{Batch, Page};
use crate::cursor::registry::{Cursor, Tail};
use crate::txn::session::{Mode, SessionId};

/// The session that a cursor is bound to.
pub(crate) fn session_of(call: &Invocation<'_>) -> Option<SessionId> {
    let lsid = raw::get(call.command, "lsid")?.as_document()?;
    Some(lsid.as_bytes().to_vec())
}

/// The transaction that a cursor is bound to.
pub(crate) fn transaction_of(mode: &Mode) -> Option<(Vec<u8>, i64)> {
    match mode {
        Mode::Transaction {
            session, number, ..
        } => Some((session.clone(), *number)),
        Mode::Plain | Mode::Retryable { .. } => None,
    }
}

/// The first batch of a new cursor. The engine keeps the cursor if more documents may follow.
pub(crate) fn first_batch(
    call: &Invocation<'_>,
    mut cursor: Cursor,
    batch_size: Option<u64>,
    single: bool,
) -> Result<Page, ServerError> {
    cursor.tally = call.profile.map(|profile| Arc::clone(&profile.tally));
    let batch_size = if single {
        batch_size
    } else {
        split(call, &cursor, batch_size)
    };
    catch_up(call, &mut cursor, batch_size);
    let (batch, more) = fill(&mut cursor, batch_size)?;
    let token = cursor
        .results
        .resume_token(batch.last(), cursor.held.is_some());
    let (namespace, time) = (cursor.namespace.clone(), cursor.time);
    let id = if more && !single {
        call.engine.cursors.keep(cursor, || call.context.random())
    } else {
        0
    };
    Ok(batch.of(id, namespace).at(time).with_token(token))
}

/// The size of the next batch, which a hostile engine draws. A reader waits for a write after an empty batch of a cursor
/// that awaits documents, so such a batch is never made.
pub(crate) fn split(
    call: &Invocation<'_>,
    cursor: &Cursor,
    batch_size: Option<u64>,
) -> Option<u64> {
    let least = u64::from(cursor.tail != Tail::No);
    call.context.batch_size(batch_size, least)
}

/// How many documents a change stream reads ahead for a batch without a size.
const READ_AHEAD: u64 = 1000;

/// Lets a change stream read the events that a batch needs.
pub(crate) fn catch_up(call: &Invocation<'_>, cursor: &mut Cursor, batch_size: Option<u64>) {
    let wanted = batch_size.unwrap_or(READ_AHEAD).min(READ_AHEAD);
    cursor
        .results
        .catch_up(&call.engine.catalog, usize::try_from(wanted).unwrap_or(0));
}

/// Fills one batch. The flag is true if the cursor stays open.
pub(crate) fn fill(
    cursor: &mut Cursor,
    batch_size: Option<u64>,
) -> Result<(Batch, bool), ServerError> {
    let most = batch_size.map_or(usize::MAX, |size| {
        usize::try_from(size).unwrap_or(usize::MAX)
    });
    let mut batch = Batch::default();
    while batch.len() < most {
        let Some(item) = cursor.held.take().map(Ok).or_else(|| cursor.results.next()) else {
            let more = cursor.tail != Tail::No && cursor.results.has_place();
            return Ok((batch, more));
        };
        let item = item?;
        if !batch.has_room(&item) {
            cursor.held = Some(item);
            return Ok((batch, true));
        }
        batch.push(item);
    }
    let more = cursor.held.is_some() || !cursor.results.is_at_end();
    Ok((batch, more))
}
