//! What was written, in order, for those who watch: the log that change streams read.
//!
//! Nothing is kept until somebody asks for it, and then as much as fits. What is written becomes visible and is logged
//! under one lock, so that whoever has read of a write also sees it.
//!
//! What this module is not: it knows no streams, no filters and no tokens.

mod signal;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::RawDocumentBuf;
use bson::{DateTime, Timestamp};

use crate::engine::catalog::namespace::Namespace;
use crate::engine::clock::Clock;

pub(crate) use self::signal::Signal;

/// How many bytes of events are kept.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What an event takes beside its documents.
const OVERHEAD: usize = 200;

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

impl Event {
    pub(crate) fn place(&self) -> Place {
        (self.time, self.number.saturating_add(1))
    }

    fn size(&self) -> usize {
        let of = |document: &RawDocumentBuf| document.as_bytes().len();
        let documents = match &self.change.what {
            What::Insert { document } => of(document),
            What::Update {
                key,
                description,
                images,
            } => {
                let images = images.as_ref();
                of(key)
                    + of(description)
                    + images.map_or(0, |(before, after)| of(before) + of(after))
            }
            What::Replace { document, before } => of(document) + before.as_ref().map_or(0, of),
            What::Delete { key, before } => of(key) + before.as_ref().map_or(0, of),
            What::Rename { .. } | What::Drop | What::DropDatabase => 0,
        };
        documents + OVERHEAD
    }
}

/// The log.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    is_on: AtomicBool,
    /// The engine's time, in milliseconds, as the last command had it.
    now: AtomicI64,
    log: Mutex<Log>,
    pub(crate) signal: Signal,
}

#[derive(Debug, Default)]
struct Log {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
    /// What was written before this place is not known, or not any more.
    lost: Option<Place>,
}

/// What was read of the log.
#[derive(Debug)]
pub(crate) enum Read {
    /// The events behind a place, as many as were asked for.
    Events(Vec<Arc<Event>>),
    /// Some of them are not known.
    Lost,
}

impl Changes {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is written is to be logged.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// From now on, what is written is logged. False if it was so before.
    pub(super) fn start(&self, clock: &Clock, now: DateTime) -> bool {
        let mut log = self.log();
        if self.is_on() {
            return false;
        }
        self.set_now(now);
        log.lost = Some((clock.tick(now), 0));
        self.is_on.store(true, Ordering::Release);
        true
    }

    /// The time that events get from now on.
    pub(crate) fn set_now(&self, now: DateTime) {
        self.now.store(now.timestamp_millis(), Ordering::Relaxed);
    }

    /// Logs what was just made visible: the caller still holds the lock under which it was.
    pub(crate) fn append(&self, clock: &Clock, changes: Vec<Change>, origin: Option<Origin>) {
        if changes.is_empty() || !self.is_on() {
            return;
        }
        let wall = DateTime::from_millis(self.now.load(Ordering::Relaxed));
        let origin = origin.map(Arc::new);
        let mut log = self.log();
        let together = origin.is_some().then(|| clock.tick(wall));
        for (number, change) in changes.into_iter().enumerate() {
            let number = if together.is_some() {
                u32::try_from(number).unwrap_or(u32::MAX)
            } else {
                0
            };
            log.push(Event {
                time: together.unwrap_or_else(|| clock.tick(wall)),
                number,
                wall,
                change,
                origin: origin.clone(),
            });
        }
        drop(log);
        self.signal.raise();
    }

    /// The place before all that is not yet written.
    pub(crate) fn end(&self, clock: &Clock) -> Place {
        let _log = self.log();
        let Timestamp { time, increment } = clock.now();
        let increment = increment.saturating_add(1);
        (Timestamp { time, increment }, 0)
    }

    /// The events behind a place, `most` at most.
    pub(crate) fn read(&self, behind: Place, most: usize) -> Read {
        let log = self.log();
        if log.lost.is_some_and(|lost| behind < lost) {
            return Read::Lost;
        }
        let from = log.events.partition_point(|event| event.place() <= behind);
        Read::Events(log.events.iter().skip(from).take(most).cloned().collect())
    }
}

impl Log {
    fn push(&mut self, event: Event) {
        self.bytes += event.size();
        self.events.push_back(Arc::new(event));
        while self.bytes > MOST_BYTES && self.events.len() > 1 {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.size();
            self.lost = Some(oldest.place());
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, Timestamp, rawdoc};

    use super::{Change, Changes, MOST_BYTES, Read, What};
    use crate::engine::catalog::namespace::Namespace;
    use crate::engine::clock::Clock;

    fn insert(size: usize) -> Change {
        Change {
            namespace: Namespace::new("test", "c"),
            uuid: None,
            what: What::Insert {
                document: rawdoc! { "_id": "x".repeat(size) },
            },
        }
    }

    fn count(read: &Read) -> Option<usize> {
        match read {
            Read::Events(events) => Some(events.len()),
            Read::Lost => None,
        }
    }

    #[test]
    fn nothing_is_kept_until_it_is_asked_for_and_then_as_much_as_fits() {
        let (changes, clock) = (Changes::default(), Clock::default());
        let now = DateTime::from_millis(1_000_000);
        changes.append(&clock, vec![insert(1)], None);
        assert_eq!(clock.now().time, 0);

        assert!(changes.start(&clock, now));
        assert!(!changes.start(&clock, now));
        let before = Timestamp {
            time: 999,
            increment: 1,
        };
        assert_eq!(count(&changes.read((before, 0), 10)), None);
        // The time that replies told before the first write.
        assert_eq!(count(&changes.read((clock.now(), 0), 10)), Some(0));
        let start = changes.end(&clock);
        changes.append(&clock, vec![insert(1), insert(1)], None);
        assert_eq!(count(&changes.read(start, 10)), Some(2));
        assert_eq!(count(&changes.read(start, 1)), Some(1));

        let large = MOST_BYTES / 2;
        changes.append(&clock, vec![insert(large), insert(large)], None);
        assert_eq!(count(&changes.read(start, 10)), None);
        let lost = changes.log().lost.unwrap();
        let Read::Events(rest) = changes.read(lost, 10) else {
            panic!("what is left is known");
        };
        assert_eq!(rest.len(), 1);
    }
}
