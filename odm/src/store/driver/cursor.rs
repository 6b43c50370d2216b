//! The driver's cursors, read a raw batch at a time.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use mongodb::ClientSession;
use mongodb::raw_batch_cursor::{RawBatch, RawBatchCursor, SessionRawBatchCursor};

use super::error;
use crate::error::{Error, Result};
use crate::store::batch::{Batch, Reply};
use crate::store::cursor::{RawCursor, Source};

/// A cursor outside of sessions.
pub(crate) struct ImplicitCursor(RawBatchCursor);

impl ImplicitCursor {
    /// Takes the first batch, which is already here.
    pub(crate) async fn open<'s>(
        mut cursor: RawBatchCursor,
        batch_size: Option<u32>,
    ) -> Result<RawCursor<'s>> {
        let first = batch(next(&mut cursor).await).unwrap_or_else(|| Err(no_batch()))?;
        let source = Source::Driver(Box::new(Self(cursor)));
        Ok(RawCursor::new(first, source, batch_size))
    }

    pub(crate) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Batch>>> {
        Pin::new(&mut self.0).poll_next(cx).map(batch)
    }
}

/// A cursor in a session. Every fetch needs both, so cursor and session move into the fetch and come
/// back with the batch.
pub(crate) struct SessionCursor<'s>(State<'s>);

enum State<'s> {
    Idle(Box<SessionRawBatchCursor>, &'s mut ClientSession),
    Fetching(BoxFuture<'s, Fetched<'s>>),
    Gone,
}

struct Fetched<'s> {
    cursor: Box<SessionRawBatchCursor>,
    session: &'s mut ClientSession,
    batch: Option<mongodb::error::Result<RawBatch>>,
}

impl<'s> SessionCursor<'s> {
    /// Takes the first batch, which is already here.
    pub(crate) async fn open(
        cursor: SessionRawBatchCursor,
        session: &'s mut ClientSession,
        batch_size: Option<u32>,
    ) -> Result<RawCursor<'s>> {
        let mut cursor = Box::new(cursor);
        let first = next(&mut cursor.stream(session)).await;
        let first = batch(first).unwrap_or_else(|| Err(no_batch()))?;
        let source = Source::DriverSession(Self(State::Idle(cursor, session)));
        Ok(RawCursor::new(first, source, batch_size))
    }

    pub(crate) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Batch>>> {
        let mut fetch = match std::mem::replace(&mut self.0, State::Gone) {
            State::Fetching(fetch) => fetch,
            State::Idle(mut cursor, session) => Box::pin(async move {
                let batch = next(&mut cursor.stream(session)).await;
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
                Poll::Ready(batch(fetched.batch))
            }
        }
    }
}

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}

fn batch(fetched: Option<mongodb::error::Result<RawBatch>>) -> Option<Result<Batch>> {
    fetched.map(|fetched| Batch::new(Reply::Driver(fetched.map_err(error)?)))
}

fn no_batch() -> Error {
    Error::malformed_reply("a first batch")
}

impl fmt::Debug for ImplicitCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImplicitCursor")
    }
}

impl fmt::Debug for SessionCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionCursor")
    }
}
