//! Reports sent commands to the handler of a `Db`.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::Document;
use futures_core::future::BoxFuture;

#[cfg(feature = "tracing")]
use super::trace::TracedValues;
use crate::error::Error;

/// One command and its outcome, for handlers set by
/// [`Db::on_command`](crate::collection::Db::on_command).
#[derive(Debug)]
#[non_exhaustive]
pub struct CommandEvent<'a> {
    /// The database that the command was sent to.
    pub database: &'a str,
    /// The command document, without the session and cluster time fields that the driver adds.
    pub command: &'a Document,
    /// Whether the command was sent in a transaction, which may undo it later.
    pub in_transaction: bool,
    /// The reply, reduced to the fields that the operation reads, or the error.
    pub outcome: Result<&'a Document, &'a Error>,
    /// How long the command took.
    pub duration: Duration,
}

/// Runs a command that nothing observes.
pub(crate) type RunCommand<'a> =
    dyn Fn(Document) -> BoxFuture<'a, Result<Document, Error>> + Send + Sync + 'a;

/// Looks at the commands of a handle, and at their plans.
pub(crate) trait Observe: Send + Sync {
    /// Notes a command that is about to be sent; returns its number.
    fn sending(&self, database: &str, command: &Document) -> usize;

    /// Looks at a command after it was executed, by other commands.
    fn executed<'a>(&'a self, number: usize, run: &'a RunCommand<'a>) -> BoxFuture<'a, ()>;
}

/// The type of handlers.
type Handler = dyn Fn(&CommandEvent<'_>) + Send + Sync;

/// Reports each command to the handler, if there is one, and to `tracing`.
#[derive(Clone, Default)]
pub(crate) struct Monitor {
    handler: Option<Arc<Handler>>,
    observer: Option<Arc<dyn Observe>>,
    #[cfg(feature = "tracing")]
    traces: Option<TracedValues>,
}

impl Monitor {
    /// Adds a handler, which is called after those before it.
    pub(crate) fn with(
        mut self,
        handler: impl Fn(&CommandEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.handler = Some(match self.handler.take() {
            None => Arc::new(handler),
            Some(before) => Arc::new(move |event: &CommandEvent<'_>| {
                before(event);
                handler(event);
            }),
        });
        self
    }

    /// Replaces the observer.
    pub(crate) fn observed_by(mut self, observer: Arc<dyn Observe>) -> Self {
        self.observer = Some(observer);
        self
    }

    pub(crate) fn observer(&self) -> Option<&dyn Observe> {
        self.observer.as_deref()
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn tracing(mut self, values: TracedValues) -> Self {
        self.traces = Some(values);
        self
    }

    pub(crate) fn is_on(&self) -> bool {
        #[cfg(feature = "tracing")]
        if self.traces.is_some() {
            return true;
        }
        self.handler.is_some() || self.observer.is_some()
    }

    /// Notes that a command is about to be sent.
    pub(crate) fn begin(&self, database: &str, command: &Document, in_transaction: bool) -> Sent {
        let observer = self.observer.as_ref();
        Sent {
            started: Instant::now(),
            in_transaction,
            number: observer.map(|it| it.sending(database, command)),
            #[cfg(feature = "tracing")]
            span: self.traces.map_or_else(tracing::Span::none, |values| {
                super::trace::span(database, command, values)
            }),
        }
    }

    pub(crate) fn report(
        &self,
        database: &str,
        command: &Document,
        outcome: Result<&Document, &Error>,
        sent: &Sent,
    ) {
        #[cfg(feature = "tracing")]
        super::trace::finish(&sent.span, outcome, sent.started.elapsed());
        if let Some(handler) = &self.handler {
            handler(&CommandEvent {
                database,
                command,
                in_transaction: sent.in_transaction,
                outcome,
                duration: sent.started.elapsed(),
            });
        }
    }
}

/// A command that was sent.
pub(crate) struct Sent {
    started: Instant,
    in_transaction: bool,
    /// Its number for the observer.
    pub(super) number: Option<usize>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl Sent {
    /// Polls the future inside the span of the command.
    #[cfg_attr(
        not(feature = "tracing"),
        expect(clippy::unused_self, reason = "only `tracing` opens spans")
    )]
    pub(crate) fn of<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        #[cfg(feature = "tracing")]
        let future = tracing::Instrument::instrument(future, self.span.clone());
        future
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_on() {
            "Monitor(on)"
        } else {
            "Monitor(off)"
        })
    }
}
