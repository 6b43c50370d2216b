//! The driver's cursors, read a raw batch at a time.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use mongodb::raw_batch_cursor::{RawBatchCursor, SessionRawBatchCursor};

use super::error;
use super::lease::Holder;
use crate::error::{Error, Result};
use crate::store::batch::{Batch, Reply};
use crate::store::cursor::{RawCursor, Source};

/// A cursor, and the session in which it is read. Every fetch needs both, so they move into the fetch and come back with the
/// batch.
pub(crate) struct DriverCursor<'s>(State<'s>);

enum State<'s> {
    Idle(Box<SessionRawBatchCursor>, Holder<'s>),
    Fetching(BoxFuture<'s, Fetched<'s>>),
    Gone,
}

struct Fetched<'s> {
    cursor: Box<SessionRawBatchCursor>,
    session: Holder<'s>,
    batch: Option<Result<Batch>>,
}

impl<'s> DriverCursor<'s> {
    /// Takes the first batch, which is already here.
    pub(super) async fn open(
        cursor: SessionRawBatchCursor,
        mut session: Holder<'s>,
        batch_size: Option<u32>,
    ) -> Result<RawCursor<'s>> {
        let mut cursor = Box::new(cursor);
        let first = next(&mut cursor, &mut session).await;
        let first = first.unwrap_or_else(|| Err(no_batch()))?;
        let source = Source::Driver(Self(State::Idle(cursor, session)));
        Ok(RawCursor::new(first, source, batch_size))
    }

    pub(crate) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Batch>>> {
        let mut fetch = match std::mem::replace(&mut self.0, State::Gone) {
            State::Fetching(fetch) => fetch,
            State::Idle(mut cursor, mut session) => Box::pin(async move {
                let batch = next(&mut cursor, &mut session).await;
                Fetched {
                    cursor,
                    session,
                    batch,
                }
            }),
            State::Gone => return Poll::Ready(None),
        };
        match fetch.as_mut().poll(cx) {
            Poll::Pending => {
                self.0 = State::Fetching(fetch);
                Poll::Pending
            }
            Poll::Ready(fetched) => {
                self.0 = State::Idle(fetched.cursor, fetched.session);
                Poll::Ready(fetched.batch)
            }
        }
    }
}

/// The results of a query that asks for one batch. MongoDB closes its cursor.
pub(super) async fn of_one_batch<'s>(mut cursor: RawBatchCursor) -> Result<RawCursor<'s>> {
    let first = poll_fn(|cx| Pin::new(&mut cursor).poll_next(cx)).await;
    let first = first.ok_or_else(no_batch)?.map_err(error)?;
    let first = Batch::new(Reply::Driver(first))?;
    Ok(RawCursor::new(first, Source::Exhausted(PhantomData), None))
}

/// The next batch. If its future is dropped, so is the cursor, whose id the driver knows and kills.
async fn next(
    cursor: &mut SessionRawBatchCursor,
    session: &mut Holder<'_>,
) -> Option<Result<Batch>> {
    let session = match session.session() {
        Ok(session) => session,
        Err(error) => return Some(Err(error)),
    };
    let mut batches = cursor.stream(session);
    let batch = poll_fn(|cx| Pin::new(&mut batches).poll_next(cx)).await?;
    Some(
        batch
            .map_err(error)
            .and_then(|batch| Batch::new(Reply::Driver(batch))),
    )
}

fn no_batch() -> Error {
    Error::malformed_reply("a first batch")
}

impl fmt::Debug for DriverCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DriverCursor")
    }
}
