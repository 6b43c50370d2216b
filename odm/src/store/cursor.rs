//! Cursors over raw documents, fetched a batch at a time from either store.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Document, doc};

use crate::error::Result;
use crate::store::batch::Batch;
use crate::store::monitor::{Monitor, Sent};
use crate::store::session::Attempt;
use crate::store::{Deadline, DriverCursor, MemoryCursor, Part, Timer};

/// The results of a `find` or an `aggregate`; `'s` is the session's borrow.
pub(crate) struct RawCursor<'s> {
    batch: Batch,
    source: Source<'s>,
    batch_size: Option<u32>,
    watch: Option<Box<Watch>>,
    /// The transaction that the cursor belongs to.
    attempt: Option<Attempt>,
    part: Option<Box<PartOf>>,
    /// The deadline of the handle or the session.
    timer: Option<Box<Timer>>,
}

/// The part of a collection that a cursor reads.
struct PartOf {
    part: Arc<Part>,
    /// The current document, without the tag of the part.
    current: RawDocumentBuf,
}

/// The source of further batches.
pub(crate) enum Source<'s> {
    Memory(Box<MemoryCursor>),
    Driver(DriverCursor<'s>),
    /// There are no further batches, or a fetch failed.
    Exhausted(std::marker::PhantomData<&'s ()>),
}

/// The monitor of a cursor, which reports each `getMore` to it.
struct Watch {
    monitor: Monitor,
    database: Arc<str>,
    in_transaction: bool,
    started: Option<(Sent, Document)>,
}

impl<'s> RawCursor<'s> {
    pub(crate) fn new(batch: Batch, source: Source<'s>, batch_size: Option<u32>) -> Self {
        let source = if batch.cursor_id == 0 {
            Source::Exhausted(std::marker::PhantomData)
        } else {
            source
        };
        Self {
            batch,
            source,
            batch_size,
            watch: None,
            attempt: None,
            part: None,
            timer: None,
        }
    }

    /// Ends the cursor at the deadline.
    pub(crate) fn within(&mut self, deadline: Deadline) {
        self.timer = Some(Box::new(Timer::new(deadline)));
    }

    /// Records the result of every `getMore` in the transaction.
    pub(crate) fn belongs_to(&mut self, attempt: Attempt) {
        self.attempt = Some(attempt);
    }

    /// Returns the documents without the tag of the part.
    pub(crate) fn of_part(&mut self, part: Arc<Part>) {
        self.part = Some(Box::new(PartOf {
            part,
            current: RawDocumentBuf::new(),
        }));
    }

    /// Reports every later `getMore` to the monitor.
    pub(crate) fn watch(&mut self, monitor: &Monitor, database: &Arc<str>, in_transaction: bool) {
        self.watch = Some(Box::new(Watch {
            monitor: monitor.clone(),
            database: Arc::clone(database),
            in_transaction,
            started: None,
        }));
    }

    /// The reply that contains the current batch.
    pub(crate) fn reply(&self) -> Cow<'_, RawDocument> {
        self.batch.reply()
    }

    /// The minimum number of documents left in the current batch.
    pub(crate) fn left(&self) -> usize {
        self.batch.left()
    }

    /// Polls for the next document and fetches a batch if necessary. An error that concerns the cursor
    /// as a whole ends it.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<&RawDocument>>> {
        while self.batch.is_read() {
            match self.poll_batch(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Ok(batch))) => {
                    if batch.cursor_id == 0 {
                        self.source = Source::Exhausted(std::marker::PhantomData);
                    }
                    self.batch = batch;
                }
                Poll::Ready(Some(Err(error))) => {
                    self.source = Source::Exhausted(std::marker::PhantomData);
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        let document = self.batch.next();
        let Some(of) = &mut self.part else {
            return Poll::Ready(document);
        };
        Poll::Ready(document.map(|document| {
            of.part.untag(document?, &mut of.current)?;
            Ok(&*of.current)
        }))
    }

    /// Polls for the next document, which [`current`](Self::current) returns then; `false` after a batch without documents, with
    /// which a tailable cursor reports that it is at the end.
    pub(crate) fn poll_advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<bool>>> {
        if self.batch.is_read() {
            match std::task::ready!(self.poll_batch(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    self.source = Source::Exhausted(std::marker::PhantomData);
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Ok(batch)) => {
                    if batch.cursor_id == 0 {
                        self.source = Source::Exhausted(std::marker::PhantomData);
                    }
                    self.batch = batch;
                    if self.batch.is_read() {
                        return Poll::Ready(Some(Ok(false)));
                    }
                }
            }
        }
        let document = self.batch.next();
        Poll::Ready(document.map(|document| {
            let document = document?;
            if let Some(of) = &mut self.part {
                of.part.untag(document, &mut of.current)?;
            }
            Ok(true)
        }))
    }

    /// The document that was read last.
    pub(crate) fn current(&self) -> Option<&RawDocument> {
        match &self.part {
            None => self.batch.current(),
            Some(of) => self.batch.current().map(|_| &*of.current),
        }
    }

    /// [`poll_next`](Self::poll_next) as a future.
    pub(crate) async fn next(&mut self) -> Option<Result<&RawDocument>> {
        // Fetches first and borrows afterwards: `poll_fn` can't return a borrow of the document.
        let fetched = std::future::poll_fn(|cx| match self.poll_next(cx) {
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error))),
            Poll::Ready(Some(Ok(_))) => Poll::Ready(Some(Ok(()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await;
        match fetched {
            None => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok(())) => self.current().map(Ok),
        }
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Batch>>> {
        if let Source::Exhausted(_) = self.source {
            return Poll::Ready(None);
        }
        self.start_watch();
        let source = &mut self.source;
        let mut poll = |cx: &mut Context<'_>| match source {
            Source::Memory(cursor) => cursor.poll_batch(cx).map(Some),
            Source::Driver(cursor) => cursor.poll_batch(cx),
            Source::Exhausted(_) => Poll::Ready(None),
        };
        let polled = match &mut self.timer {
            None => poll(cx),
            Some(timer) => timer
                .poll_before(cx, poll)
                .map(|polled| polled.unwrap_or_else(|error| Some(Err(error)))),
        };
        let Poll::Ready(Some(outcome)) = polled else {
            return polled;
        };
        self.report(&outcome);
        Poll::Ready(Some(match &self.attempt {
            Some(attempt) => attempt.note(outcome),
            None => outcome,
        }))
    }

    fn start_watch(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        if watch.started.is_none() {
            let collection = self.batch.collection();
            let mut command = doc! { "getMore": self.batch.cursor_id, "collection": &*collection };
            if let Some(size) = self.batch_size {
                command.insert("batchSize", i64::from(size));
            }
            let sent = watch
                .monitor
                .begin(&watch.database, &command, watch.in_transaction);
            watch.started = Some((sent, command));
        }
    }

    fn report(&mut self, outcome: &Result<Batch>) {
        let Some(watch) = &mut self.watch else { return };
        let Some((sent, command)) = watch.started.take() else {
            return;
        };
        let reply = outcome.as_ref().map(|batch| shown_reply(&batch.reply()));
        watch.monitor.report(
            &watch.database,
            &command,
            reply.as_ref().map_err(|error| *error),
            &sent,
        );
    }
}

/// A cursor's reply for the monitor: only `cursor` and `ok`.
pub(crate) fn shown_reply(reply: &RawDocument) -> Document {
    let mut shown = Document::new();
    for (key, value) in reply.iter().flatten() {
        if matches!(key.as_str(), "cursor" | "ok")
            && let Ok(value) = bson::Bson::try_from(value)
        {
            shown.insert(key.as_str(), value);
        }
    }
    shown
}

impl fmt::Debug for RawCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCursor")
            .field("id", &self.batch.cursor_id)
            .finish_non_exhaustive()
    }
}
