//! The log of changes, in order: change streams read it.
//!
//! The log is off until the first change stream opens. It keeps a bounded number of bytes, and fewer while no stream
//! reads. A write becomes visible and is logged under one lock, so that a reader of its event also sees the write.
//!
//! This module does not depend on streams, filters or resume tokens.

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

/// One change, before the log gives it a time.
#[derive(Debug)]
pub(crate) struct LoggedChange {
    pub(crate) namespace: Namespace,
    /// The collection's UUID. Databases and views have none.
    pub(crate) uuid: Option<[u8; 16]>,
    pub(crate) what: ChangeKind,
}

#[derive(Debug)]
pub(crate) enum ChangeKind {
    Insert {
        document: RawDocumentBuf,
    },
    Update {
        /// `{_id}`
        key: RawDocumentBuf,
        description: RawDocumentBuf,
        /// The document before and after, if the collection has `changeStreamPreAndPostImages`.
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
        /// The UUID of the collection that the rename replaced.
        replaced: Option<[u8; 16]>,
    },
    /// Reported only with `showExpandedEvents`, like the drop of a view (which has no UUID).
    Define {
        kind: Definition,
        description: RawDocumentBuf,
        /// The earlier options of a modified collection, and of its index.
        before: Option<RawDocumentBuf>,
    },
    Drop,
    DropDatabase,
}

/// The transaction that the events belong to.
#[derive(Debug)]
pub(crate) struct Origin {
    /// `lsid`, as a client sent it.
    pub(crate) session: Vec<u8>,
    pub(crate) number: i64,
}

/// One logged change.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) time: Timestamp,
    /// Its number among the events of this time: the events of a transaction share one time.
    pub(crate) number: u32,
    pub(crate) wall: DateTime,
    pub(crate) change: LoggedChange,
    pub(crate) origin: Option<Arc<Origin>>,
}

/// A place in the log: a time, and 0 for the place before that time's first event, 1 for that event, and so on.
pub(crate) type Place = (Timestamp, u32);

/// The place of an event.
fn place(time: Timestamp, number: u32) -> Place {
    (time, number.saturating_add(1))
}

impl LoggedChange {
    /// Whether only streams with `showExpandedEvents` report it.
    pub(crate) fn is_expanded(&self) -> bool {
        match self.what {
            ChangeKind::Define { .. } => true,
            ChangeKind::Drop => self.uuid.is_none(),
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
    /// Whether writes that begin now are logged.
    is_on: AtomicBool,
    /// Whether every write is logged: the writes that began before `is_on` have ended.
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

    /// Whether writes are to be logged.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// Logs the writes that begin from now on. `None` if every write is logged already; concurrent callers wait until
    /// it is.
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

    /// Logs changes that were just published. The caller still holds the lock of the published state.
    pub(crate) fn append(&self, clock: &Clock, changes: Vec<LoggedChange>, origin: Option<Origin>) {
        if !self.is_on() {
            return;
        }
        // The profiler's entries are not replicated.
        let changes: Vec<LoggedChange> = changes
            .into_iter()
            .filter(|change| &*change.namespace.collection != Namespace::PROFILE)
            .collect();
        if changes.is_empty() {
            return;
        }
        let wall = self.now();
        let origin = origin.map(Arc::new);
        let mut log = self.log();
        // A woken waiter needs the log's lock to read, so it sees the events pushed below.
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

    /// The place after every event so far, and before every later one.
    pub(crate) fn end(&self, clock: &Clock) -> Place {
        let _log = self.log();
        let Timestamp { time, increment } = clock.now();
        let increment = increment.saturating_add(1);
        (Timestamp { time, increment }, 0)
    }

    /// The events after a place: at most `most`, and fewer if they are large.
    pub(crate) fn read(&self, behind: Place, most: usize) -> Read {
        let now = self.now();
        self.log().read(behind, most, now)
    }

    /// Frees the memory that is kept for readers, if the last read was long ago.
    pub(crate) fn trim(&self) {
        let now = self.now();
        self.log().trim(now);
    }

    /// The memory that the log uses, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.log().bytes()
    }
}

/// The start of the log, while some writes that began earlier may still be unlogged.
#[derive(Debug)]
pub(super) struct Start<'c> {
    changes: &'c Changes,
    _alone: MutexGuard<'c, ()>,
}

impl Start<'_> {
    /// Completes the start, after the unlogged writes have ended. Waiters were not woken for those, so all are woken
    /// now.
    pub(super) fn finish(self, clock: &Clock, now: DateTime) {
        let changes = self.changes;
        changes.log().start((clock.tick(now), 0));
        changes.is_complete.store(true, Ordering::Release);
        changes.signal.start();
    }
}

#[cfg(test)]
mod tests;
