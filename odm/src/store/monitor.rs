//! Shows the commands that are sent, to a handler that belongs to one `Db`.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::Document;

use crate::error::Error;

/// One command and what came of it, as [`Db::on_command`](crate::collection::Db::on_command) shows
/// it.
#[derive(Debug)]
#[non_exhaustive]
pub struct CommandEvent<'a> {
    /// The database that it was sent to.
    pub database: &'a str,
    /// The command document, without what the driver adds for its session and the cluster's clock.
    pub command: &'a Document,
    /// What came back, reduced to what the operation reads.
    pub outcome: Result<&'a Document, &'a Error>,
    /// How long it took.
    pub duration: Duration,
}

/// What a handler is called with.
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
