//! What was written, in order, for those who watch: the log that change streams read.
//!
//! Nothing is kept until somebody asks for it, and then as much as fits: less while nobody watches. What is written becomes
//! visible and is logged under one lock, so that whoever has read of a write also sees it.
//!
//! What this module is not: it knows no streams, no filters and no tokens.

pub(crate) mod definition;
mod log;
mod signal;

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::RawDocumentBuf;
use bson::{DateTime, Timestamp};
use odm_language::clock::Clock;

use crate::catalog::namespace::Namespace;

use self::definition::Definition;
use self::log::Log;
pub(crate) use self::log::Read;
pub use self::signal::Interest;
pub(crate) use self::signal::Signal;

/// One thing that was written, before it has its time.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) namespace: Namespace,
    /// The collection's; of a database there is none.
    pub(crate) uuid: Option<[u8; 16]>,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    Insert {
        document: RawDocumentBuf,
    },
    Update {
        /// `{_id}`
        key: RawDocumentBuf,
        description: RawDocumentBuf,
        /// As it was and as it is, where the collection says that it keeps them.
        images: Option<(RawDocumentBuf, RawDocumentBuf)>,
    },
    Replace {
        document: RawDocumentBuf,
        before: Option<RawDocumentBuf>,
    },
    Delete {
        key: RawDocumentBuf,
        before: Option<RawDocumentBuf>,
    },
    Rename {
        to: Namespace,
        /// Whose place it took.
        replaced: Option<[u8; 16]>,
    },
    /// Only told where all events are asked for. So is the drop of what has no UUID: a view.
    Define {
        kind: Definition,
        description: RawDocumentBuf,
        /// How a modified collection, and its index, was.
        before: Option<RawDocumentBuf>,
    },
    Drop,
    DropDatabase,
}

/// The transaction that events are of.
#[derive(Debug)]
pub(crate) struct Origin {
    /// `lsid`, as a client sent it.
    pub(crate) session: Vec<u8>,
    pub(crate) number: i64,
}

/// One thing that was written.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) time: Timestamp,
    /// Its number among the events of this time, which are those of one transaction.
    pub(crate) number: u32,
    pub(crate) wall: DateTime,
    pub(crate) change: Change,
    pub(crate) origin: Option<Arc<Origin>>,
}

/// A place in the log: of a time, 0 is before its first event, 1 is that event, and so on.
pub(crate) type Place = (Timestamp, u32);

/// The place of an event.
fn place(time: Timestamp, number: u32) -> Place {
    (time, number.saturating_add(1))
}

impl Change {
    /// Whether only those are told who ask for all events.
    pub(crate) fn is_expanded(&self) -> bool {
        match self.what {
            What::Define { .. } => true,
            What::Drop => self.uuid.is_none(),
            _ => false,
        }
    }
}

impl Event {
    pub(crate) fn place(&self) -> Place {
        place(self.time, self.number)
    }
}

/// The log.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Whoever begins to write from now on logs it.
    is_on: AtomicBool,
    /// All who write do.
    is_complete: AtomicBool,
    starting: Mutex<()>,
    /// The engine's time, in milliseconds, as the last command had it.
    now: AtomicI64,
    log: Mutex<Log>,
    pub(crate) signal: Signal,
}

impl Changes {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is written is to be logged.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// From now on, whoever begins to write logs it. None if all do so; who else starts it waits until they do.
    pub(super) fn start(&self, now: DateTime) -> Option<Start<'_>> {
        if self.is_complete.load(Ordering::Acquire) {
            return None;
        }
        let alone = self.starting.lock();
        let alone = alone.unwrap_or_else(PoisonError::into_inner);
        if self.is_complete.load(Ordering::Acquire) {
            return None;
        }
        self.set_now(now);
        self.is_on.store(true, Ordering::Release);
        Some(Start {
            changes: self,
            _alone: alone,
        })
    }

    fn now(&self) -> DateTime {
        DateTime::from_millis(self.now.load(Ordering::Relaxed))
    }

    /// The time that events get from now on.
    pub(crate) fn set_now(&self, now: DateTime) {
        self.now.store(now.timestamp_millis(), Ordering::Relaxed);
    }

    /// Logs what was just made visible: the caller still holds the lock under which it was.
    pub(crate) fn append(&self, clock: &Clock, changes: Vec<Change>, origin: Option<Origin>) {
        if !self.is_on() {
            return;
        }
        // The profiler's entries are not replicated.
        let changes: Vec<Change> = changes
            .into_iter()
            .filter(|change| &*change.namespace.collection != Namespace::PROFILE)
            .collect();
        if changes.is_empty() {
            return;
        }
        let wall = self.now();
        let origin = origin.map(Arc::new);
        let mut log = self.log();
        // Whoever is woken now looks when the log is his.
        self.signal.raise(&changes);
        let mut has_begun = false;
        let together = origin.is_some().then(|| clock.tick(wall));
        for (number, change) in changes.into_iter().enumerate() {
            let number = if together.is_some() {
                u32::try_from(number).unwrap_or(u32::MAX)
            } else {
                0
            };
            has_begun |= log.push(Event {
                time: together.unwrap_or_else(|| clock.tick(wall)),
                number,
                wall,
                change,
                origin: origin.clone(),
            });
        }
        drop(log);
        if has_begun {
            self.signal.raise_for_all();
        }
    }

    /// The place before all that is not yet written.
    pub(crate) fn end(&self, clock: &Clock) -> Place {
        let _log = self.log();
        let Timestamp { time, increment } = clock.now();
        let increment = increment.saturating_add(1);
        (Timestamp { time, increment }, 0)
    }

    /// The events behind a place, `most` at most: fewer where they are large.
    pub(crate) fn read(&self, behind: Place, most: usize) -> Read {
        let now = self.now();
        self.log().read(behind, most, now)
    }

    /// Gives back what is kept for those who watched, if they have been gone for long.
    pub(crate) fn trim(&self) {
        let now = self.now();
        self.log().trim(now);
    }

    /// The memory that the log has.
    pub(crate) fn bytes(&self) -> usize {
        self.log().bytes()
    }
}

/// The log, where some may still be writing who do not log it.
#[derive(Debug)]
pub(super) struct Start<'c> {
    changes: &'c Changes,
    _alone: MutexGuard<'c, ()>,
}

impl Start<'_> {
    /// They have ended. What was written before is not known, and whoever waits has not been told of it: he looks again.
    pub(super) fn finish(self, clock: &Clock, now: DateTime) {
        let changes = self.changes;
        changes.log().start((clock.tick(now), 0));
        changes.is_complete.store(true, Ordering::Release);
        changes.signal.start();
    }
}

#[cfg(test)]
mod tests;
