//! The storage of events: a queue of segments. The oldest segments are dropped when the log has too many bytes.
//!
//! Events live far longer than other allocations. Millions of small ones would fragment the heap, so that the memory of
//! freed documents between them could not be returned.

use std::collections::VecDeque;
use std::sync::Arc;

use bson::raw::RawDocumentBuf;
use bson::{DateTime, Timestamp};

use super::{ChangeKind, Definition, Event, LoggedChange, Origin, Place};
use crate::catalog::namespace::Namespace;

/// How many bytes are kept while the log is read.
pub(super) const MAX_WATCHED: usize = 64 * 1024 * 1024;

/// How many bytes are kept while the log is not read.
pub(super) const MAX_UNWATCHED: usize = 8 * 1024 * 1024;

/// How long after the last read the log still counts as watched, in milliseconds.
const RETURN: i64 = 10 * 60_000;

/// How many bytes a segment has, unless one event needs more.
const SEGMENT: usize = 128 * 1024;

/// A segment grows by this many bytes of documents, and by this many events.
const STEP: (usize, usize) = (16 * 1024, 128);

/// A read ends after the event that passes this many bytes of documents.
const READ_AT_ONCE: usize = 1024 * 1024;

/// The log.
#[derive(Debug, Default)]
pub(super) struct Log {
    segments: VecDeque<Segment>,
    bytes: usize,
    /// Events before this place were never logged or have been dropped.
    lost: Option<Place>,
    /// When it was read last.
    watched: Option<DateTime>,
}

/// The result of reading the log.
#[derive(Debug)]
pub(crate) enum Read {
    /// Events after the place.
    Events(Vec<Event>),
    /// Some events after the place are lost.
    Lost,
}

/// Events in order, with their documents in one buffer.
#[derive(Debug, Default)]
struct Segment {
    entries: Vec<Entry>,
    documents: Vec<u8>,
    /// The bytes allocated outside of the segment: session ids.
    beside: usize,
}

/// An event without its documents.
#[derive(Debug)]
struct Entry {
    time: Timestamp,
    number: u32,
    wall: DateTime,
    namespace: Namespace,
    uuid: Option<[u8; 16]>,
    origin: Option<Arc<Origin>>,
    kind: Kind,
    /// Where its documents end.
    end: usize,
}

/// The kind of an event, with its documents in the order of their bytes.
#[derive(Debug)]
enum Kind {
    /// The document.
    Insert,
    /// The key, the description, and perhaps the document before and after.
    Update {
        has_images: bool,
    },
    /// The document, and perhaps the one before.
    Replace {
        has_image: bool,
    },
    /// The key, and perhaps the document.
    Delete {
        has_image: bool,
    },
    /// The new name, and the UUID of the replaced collection. Boxed, to keep the common kinds small.
    Rename(Box<(Namespace, Option<[u8; 16]>)>),
    /// The description, and perhaps the state before.
    Define {
        kind: Definition,
        has_before: bool,
    },
    Drop,
    DropDatabase,
}

impl Log {
    /// Marks everything before this place as lost.
    pub(super) fn start(&mut self, from: Place) {
        self.lost = Some(from);
    }

    /// The memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The place before which events are lost.
    #[cfg(test)]
    pub(super) fn lost(&self) -> Option<Place> {
        self.lost
    }

    /// How many bytes may be kept.
    fn max_bytes(&self, now: DateTime) -> usize {
        let is_watched = self.watched.is_some_and(|watched| {
            let since = now
                .timestamp_millis()
                .saturating_sub(watched.timestamp_millis());
            since <= RETURN
        });
        if is_watched {
            MAX_WATCHED
        } else {
            MAX_UNWATCHED
        }
    }

    /// Adds an event. Returns whether it begins a segment: then the oldest one may soon be dropped.
    pub(super) fn push(&mut self, event: Event) -> bool {
        let now = event.wall;
        let length = length(&event.change.what);
        let has_room = |last: &Segment| last.has_room(length);
        let begins = !self.segments.back().is_some_and(has_room);
        if begins {
            let spare = self.trim_to(self.max_bytes(now).saturating_sub(SEGMENT.max(length)));
            let segment = spare.unwrap_or_default();
            self.bytes += segment.bytes();
            self.segments.push_back(segment);
        }
        if let Some(last) = self.segments.back_mut() {
            let before = last.bytes();
            last.push(event);
            self.bytes += last.bytes() - before;
        }
        begins
    }

    /// Drops segments until the log is within its limit.
    pub(super) fn trim(&mut self, now: DateTime) {
        let most = self.max_bytes(now);
        if self.bytes > most {
            drop(self.trim_to(most));
            self.segments.shrink_to_fit();
        }
    }

    /// Drops the oldest segments until at most `most` bytes are left. Returns a cleared segment for reuse.
    fn trim_to(&mut self, most: usize) -> Option<Segment> {
        let mut spare = None;
        while self.bytes > most {
            let mut oldest = self.segments.pop_front()?;
            self.bytes -= oldest.bytes();
            self.lost = oldest.place().or(self.lost);
            if oldest.documents.capacity() <= SEGMENT {
                oldest.clear();
                spare = Some(oldest);
            }
        }
        spare
    }

    /// The events after a place: at most `most`, and fewer if they are large.
    pub(super) fn read(&mut self, behind: Place, most: usize, now: DateTime) -> Read {
        self.watched = Some(now);
        if self.lost.is_some_and(|lost| behind < lost) {
            return Read::Lost;
        }
        let mut events = Vec::new();
        let mut bytes = 0;
        let is_older = |segment: &Segment| segment.place().is_some_and(|place| place <= behind);
        let first = self.segments.partition_point(is_older);
        for segment in self.segments.iter().skip(first) {
            let from = segment
                .entries
                .partition_point(|entry| entry.place() <= behind);
            for at in from..segment.entries.len() {
                if events.len() == most || bytes > READ_AT_ONCE {
                    return Read::Events(events);
                }
                let Some((event, length)) = segment.event(at) else {
                    return Read::Lost;
                };
                events.push(event);
                bytes += length;
            }
        }
        Read::Events(events)
    }
}

impl Segment {
    fn clear(&mut self) {
        self.entries.clear();
        self.documents.clear();
        self.beside = 0;
    }

    /// The memory in use, in bytes.
    fn bytes(&self) -> usize {
        let entries = self.entries.capacity() * size_of::<Entry>();
        entries + self.documents.capacity() + self.beside
    }

    /// Whether another event with `length` bytes of documents fits.
    fn has_room(&self, length: usize) -> bool {
        let entries = (self.entries.len() + 1) * size_of::<Entry>();
        self.entries.is_empty() || entries + self.documents.len() + length <= SEGMENT
    }

    /// The place of its last event.
    fn place(&self) -> Option<Place> {
        self.entries.last().map(Entry::place)
    }

    fn push(&mut self, event: Event) {
        let LoggedChange {
            namespace,
            uuid,
            what,
        } = event.change;
        // Doubling would leave about a third of the capacity unused.
        let (bytes, events) = STEP;
        let length = length(&what);
        if self.documents.capacity() - self.documents.len() < length {
            self.documents.reserve_exact(length.max(bytes));
        }
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(events);
        }
        for document in documents(&what).into_iter().flatten() {
            self.documents.extend_from_slice(document.as_bytes());
        }
        if let Some(origin) = &event.origin
            && event.number == 0
        {
            self.beside += origin.session.len();
        }
        let kind = match what {
            ChangeKind::Insert { .. } => Kind::Insert,
            ChangeKind::Update { images, .. } => Kind::Update {
                has_images: images.is_some(),
            },
            ChangeKind::Replace { before, .. } => Kind::Replace {
                has_image: before.is_some(),
            },
            ChangeKind::Delete { before, .. } => Kind::Delete {
                has_image: before.is_some(),
            },
            ChangeKind::Rename { to, replaced } => Kind::Rename(Box::new((to, replaced))),
            ChangeKind::Define { kind, before, .. } => Kind::Define {
                kind,
                has_before: before.is_some(),
            },
            ChangeKind::Drop => Kind::Drop,
            ChangeKind::DropDatabase => Kind::DropDatabase,
        };
        self.entries.push(Entry {
            time: event.time,
            number: event.number,
            wall: event.wall,
            namespace,
            uuid,
            origin: event.origin,
            kind,
            end: self.documents.len(),
        });
    }

    /// An event and the length of its documents. `None` if the bytes are not valid BSON documents.
    fn event(&self, at: usize) -> Option<(Event, usize)> {
        let entry = self.entries.get(at)?;
        let before = at
            .checked_sub(1)
            .and_then(|before| self.entries.get(before));
        let start = before.map_or(0, |before| before.end);
        let mut documents = Documents(self.documents.get(start..entry.end)?);
        let what = match &entry.kind {
            Kind::Insert => ChangeKind::Insert {
                document: documents.next()?,
            },
            Kind::Update { has_images } => ChangeKind::Update {
                key: documents.next()?,
                description: documents.next()?,
                images: if *has_images {
                    Some((documents.next()?, documents.next()?))
                } else {
                    None
                },
            },
            Kind::Replace { has_image } => ChangeKind::Replace {
                document: documents.next()?,
                before: documents.next_if(*has_image)?,
            },
            Kind::Delete { has_image } => ChangeKind::Delete {
                key: documents.next()?,
                before: documents.next_if(*has_image)?,
            },
            Kind::Rename(renamed) => {
                let (to, replaced) = &**renamed;
                ChangeKind::Rename {
                    to: to.clone(),
                    replaced: *replaced,
                }
            }
            Kind::Define { kind, has_before } => ChangeKind::Define {
                kind: *kind,
                description: documents.next()?,
                before: documents.next_if(*has_before)?,
            },
            Kind::Drop => ChangeKind::Drop,
            Kind::DropDatabase => ChangeKind::DropDatabase,
        };
        let event = Event {
            time: entry.time,
            number: entry.number,
            wall: entry.wall,
            change: LoggedChange {
                namespace: entry.namespace.clone(),
                uuid: entry.uuid,
                what,
            },
            origin: entry.origin.clone(),
        };
        Some((event, entry.end - start))
    }
}

impl Entry {
    fn place(&self) -> Place {
        super::place(self.time, self.number)
    }
}

/// The bytes of one event's documents: each document begins with its length.
struct Documents<'a>(&'a [u8]);

impl Documents<'_> {
    fn next(&mut self) -> Option<RawDocumentBuf> {
        let length = i32::from_le_bytes(*self.0.first_chunk()?);
        let (document, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        RawDocumentBuf::from_bytes(document.to_vec()).ok()
    }

    /// The next document, if `is_there`.
    #[expect(clippy::option_option, reason = "the outer one is that of `next`")]
    fn next_if(&mut self, is_there: bool) -> Option<Option<RawDocumentBuf>> {
        if is_there {
            self.next().map(Some)
        } else {
            Some(None)
        }
    }
}

/// The documents of a change, in the order of [`Kind`].
fn documents(what: &ChangeKind) -> [Option<&RawDocumentBuf>; 4] {
    match what {
        ChangeKind::Insert { document } => [Some(document), None, None, None],
        ChangeKind::Update {
            key,
            description,
            images,
        } => {
            let before = images.as_ref().map(|(before, _)| before);
            let after = images.as_ref().map(|(_, after)| after);
            [Some(key), Some(description), before, after]
        }
        ChangeKind::Replace { document, before } => [Some(document), before.as_ref(), None, None],
        ChangeKind::Delete { key, before } => [Some(key), before.as_ref(), None, None],
        ChangeKind::Define {
            description,
            before,
            ..
        } => [Some(description), before.as_ref(), None, None],
        ChangeKind::Rename { .. } | ChangeKind::Drop | ChangeKind::DropDatabase => [None; 4],
    }
}

fn length(what: &ChangeKind) -> usize {
    let documents = documents(what).into_iter().flatten();
    documents.map(|document| document.as_bytes().len()).sum()
}
