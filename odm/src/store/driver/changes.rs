//! The driver's change streams, which resume automatically.

use std::fmt;
use std::task::{Context, Poll};

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document};
use futures_core::future::BoxFuture;
use mongodb::change_stream::event::ResumeToken;
use mongodb::change_stream::session::SessionChangeStream;

use super::lease::{Holder, Lease};
use super::{Driver, error, lend, options};
use crate::error::{Error, Result};
use crate::store::changes::{RawChanges, Source, Step};
use crate::store::session::Session;
use crate::store::watch::{Scope, Watch};

/// An open stream, or its running step. The step's future owns the driver's stream, because the stream does not expose
/// its token while it is polled. If a caller drops its poll, the next poll continues the same step.
pub(crate) struct DriverChanges<'s>(State<'s>);

enum State<'s> {
    Idle(Stream<'s>),
    Stepping(BoxFuture<'s, Stepped<'s>>),
    Gone,
}

/// A stream of the driver, and the session in which it is read.
struct Stream<'s> {
    changes: Box<SessionChangeStream<RawDocumentBuf>>,
    session: Holder<'s>,
}

/// The result of a step, and the stream after it.
struct Stepped<'s> {
    stream: Stream<'s>,
    event: Result<Option<RawDocumentBuf>>,
    token: Option<ResumeToken>,
    is_alive: bool,
}

impl Driver {
    pub(crate) async fn watch<'s>(
        &self,
        watch: Watch,
        session: Option<&'s mut Session>,
    ) -> Result<RawChanges<'s>> {
        let options = options::change_stream(&watch)?;
        let lent = lend(session)?;
        /// Opens the stream of a scope. It is a macro because the action types share no trait.
        macro_rules! open {
            ($of:expr) => {{
                let action = $of.watch().pipeline(watch.pipeline).with_options(options);
                let (opened, session) = match lent {
                    Some((session, in_flight)) => {
                        in_flight.sent();
                        let opened = action.session(&mut *session).await;
                        in_flight.answered();
                        (opened, Holder::Lent(session))
                    }
                    None => {
                        let mut lease = Lease::for_cursor(self.database.client()).await?;
                        let (session, in_flight) = lease.lend()?;
                        in_flight.sent();
                        let opened = action.session(session).await;
                        in_flight.answered();
                        (opened, Holder::Own(Box::new(lease)))
                    }
                };
                Stream {
                    changes: Box::new(opened.map_err(error)?.with_type()),
                    session,
                }
            }};
        }
        let stream = match &watch.scope {
            Scope::Collection(name) => {
                let collection = self.collection(name);
                open!(collection)
            }
            Scope::Database => open!(self.database),
            Scope::Cluster => open!(self.database.client()),
        };
        let token = stream.token().map(document).transpose()?;
        let changes = DriverChanges(State::Idle(stream));
        Ok(RawChanges::new(Source::Driver(changes), token))
    }
}

impl<'s> Stream<'s> {
    fn token(&self) -> Option<ResumeToken> {
        self.changes.resume_token()
    }

    /// Reads one event, or at most one batch without events.
    async fn step(mut self) -> Stepped<'s> {
        let event = match self.session.session() {
            Ok(session) => self.changes.next_if_any(session).await.map_err(error),
            Err(error) => Err(error),
        };
        Stepped {
            token: self.token(),
            is_alive: self.changes.is_alive(),
            event,
            stream: self,
        }
    }
}

impl DriverChanges<'_> {
    /// Polls for the next event, or for a batch without events.
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step>> {
        let mut step = match std::mem::replace(&mut self.0, State::Gone) {
            State::Stepping(step) => step,
            State::Idle(stream) => Box::pin(stream.step()),
            State::Gone => return Poll::Ready(Ok(Step::Over)),
        };
        let Poll::Ready(stepped) = step.as_mut().poll(cx) else {
            self.0 = State::Stepping(step);
            return Poll::Pending;
        };
        self.0 = State::Idle(stepped.stream);
        Poll::Ready(match stepped.event {
            Ok(Some(event)) => Ok(Step::Event(event)),
            Ok(None) if stepped.is_alive => {
                stepped.token.map(document).transpose().map(Step::Token)
            }
            Ok(None) => Ok(Step::Over),
            Err(error) => Err(error),
        })
    }
}

/// The document of the driver's token.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map`")]
fn document(token: ResumeToken) -> Result<Document> {
    match bson::serialize_to_bson(&token) {
        Ok(Bson::Document(token)) => Ok(token),
        _ => Err(Error::malformed_reply("a resume token")),
    }
}

impl fmt::Debug for DriverChanges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DriverChanges")
    }
}
