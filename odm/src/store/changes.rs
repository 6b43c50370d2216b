//! Open change streams over raw events of either store.

use std::fmt;
use std::task::{Context, Poll};

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::value::raw;

use crate::error::{Error, Result};
use crate::store::{Deadline, DriverChanges, MemoryChanges, Timer};

/// A stream of raw change events; `'s` is the session's borrow.
pub(crate) struct RawChanges<'s> {
    source: Source<'s>,
    token: Option<Document>,
    /// The deadline of the handle or the session.
    timer: Option<Box<Timer>>,
}

/// The source of the events.
pub(crate) enum Source<'s> {
    Memory(Box<MemoryChanges>),
    Driver(DriverChanges<'s>),
    /// The stream has ended.
    Over(std::marker::PhantomData<&'s ()>),
}

/// The result of one step of a stream.
pub(crate) enum Step {
    Event(RawDocumentBuf),
    /// No event, but a newer resume token.
    Token(Option<Document>),
    Over,
}

impl<'s> RawChanges<'s> {
    pub(crate) fn new(source: Source<'s>, token: Option<Document>) -> Self {
        Self {
            source,
            token,
            timer: None,
        }
    }

    /// Ends the stream at the deadline.
    pub(crate) fn within(&mut self, deadline: Deadline) {
        self.timer = Some(Box::new(Timer::new(deadline)));
    }

    /// The token that resumes after the last event, or after the last batch that had no events.
    pub(crate) fn token(&self) -> Option<&Document> {
        self.token.as_ref()
    }

    /// Polls for the next event. An error ends the stream; the store handles recoverable errors itself.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<RawDocumentBuf>>> {
        loop {
            let mut poll = |cx: &mut Context<'_>| match &mut self.source {
                Source::Memory(changes) => changes.poll_step(cx),
                Source::Driver(changes) => changes.poll_step(cx),
                Source::Over(_) => Poll::Ready(Ok(Step::Over)),
            };
            let step = match &mut self.timer {
                None => poll(cx),
                Some(timer) => timer.poll_before(cx, poll).map(|step| step?),
            };
            match std::task::ready!(step) {
                Ok(Step::Event(event)) => {
                    self.token = token(&event);
                    return Poll::Ready(Some(Ok(event)));
                }
                Ok(Step::Token(token)) => {
                    if token.is_some() {
                        self.token = token;
                    }
                }
                Ok(Step::Over) => {
                    self.end();
                    return Poll::Ready(None);
                }
                Err(error) => {
                    self.end();
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    fn end(&mut self) {
        self.source = Source::Over(std::marker::PhantomData);
    }
}

/// The token of an event: its `_id`.
pub(crate) fn token(event: &RawDocument) -> Option<Document> {
    match raw::get(event, "_id")? {
        RawBsonRef::Document(token) => Document::try_from(token).ok(),
        _ => None,
    }
}

/// Converts the resume token of a reply.
pub(crate) fn document(token: &RawDocument) -> Result<Document> {
    Document::try_from(token).map_err(|_| Error::malformed_reply("a resume token"))
}

impl fmt::Debug for RawChanges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawChanges")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
