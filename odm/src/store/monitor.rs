//! Reports sent commands to the handler of a `Db`.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::Document;

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
    /// The reply, reduced to the fields that the operation reads, or the error.
    pub outcome: Result<&'a Document, &'a Error>,
    /// How long the command took.
    pub duration: Duration,
}

/// The type of handlers.
type Handler = dyn Fn(&CommandEvent<'_>) + Send + Sync;

/// The handler, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Monitor(Option<Arc<Handler>>);

impl Monitor {
    pub(crate) fn new(handler: impl Fn(&CommandEvent<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(handler)))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn report(
        &self,
        database: &str,
        command: &Document,
        outcome: Result<&Document, &Error>,
        started: Instant,
    ) {
        if let Some(handler) = &self.0 {
            handler(&CommandEvent {
                database,
                command,
                outcome,
                duration: started.elapsed(),
            });
        }
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
