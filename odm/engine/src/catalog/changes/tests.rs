use std::sync::atomic::Ordering;

use bson::{DateTime, RawDocumentBuf, Timestamp, rawdoc};
use odm_language::clock::Clock;

use super::log::{MAX_UNWATCHED, MAX_WATCHED};
use super::{ChangeKind, Changes, LoggedChange, Origin, Place, Read};
use crate::catalog::namespace::Namespace;

fn change(what: ChangeKind) -> LoggedChange {
    LoggedChange {
        namespace: Namespace::new("test", "c"),
        uuid: Some([3; 16]),
        what,
    }
}

fn document(size: usize) -> RawDocumentBuf {
    rawdoc! { "_id": "x".repeat(size) }
}

fn insert(size: usize) -> LoggedChange {
    change(ChangeKind::Insert {
        document: document(size),
    })
}

fn count(read: &Read) -> Option<usize> {
    match read {
        Read::Events(events) => Some(events.len()),
        Read::Lost => None,
    }
}

fn started() -> (Changes, Clock) {
    let (changes, clock) = (Changes::default(), Clock::default());
    let now = DateTime::from_millis(1_000_000);
    changes.start(now).unwrap().finish(&clock, now);
    (changes, clock)
}

/// All events after a position, read in batches.
fn all(changes: &Changes, mut behind: Place) -> Option<usize> {
    let mut sum = 0;
    loop {
        match changes.read(behind, 100) {
            Read::Lost => return None,
            Read::Events(events) => match events.last() {
                Some(last) => behind = last.place(),
                None => return Some(sum),
            },
        }
        sum += 1;
    }
}

#[test]
fn events_are_kept_only_while_watched_up_to_the_limit() {
    let (changes, clock) = (Changes::default(), Clock::default());
    let now = DateTime::from_millis(1_000_000);
    changes.append(&clock, vec![insert(1)], None);
    assert_eq!(clock.now().time, 0);

    changes.start(now).unwrap().finish(&clock, now);
    assert!(changes.start(now).is_none());
    let before = Timestamp {
        time: 999,
        increment: 1,
    };
    assert_eq!(count(&changes.read((before, 0), 10)), None);
    // The operation time of replies before the first write.
    assert_eq!(count(&changes.read((clock.now(), 0), 10)), Some(0));
    let start = changes.end(&clock);
    changes.append(&clock, vec![insert(1), insert(1)], None);
    assert_eq!(count(&changes.read(start, 10)), Some(2));
    assert_eq!(count(&changes.read(start, 1)), Some(1));

    let large = MAX_WATCHED / 2;
    changes.append(&clock, vec![insert(large), insert(large)], None);
    assert_eq!(count(&changes.read(start, 10)), None);
    let lost = changes.log().lost().unwrap();
    let Read::Events(rest) = changes.read(lost, 10) else {
        panic!("what is left is known");
    };
    assert_eq!(rest.len(), 1);
}

#[test]
fn events_are_read_as_they_were_written() {
    let (changes, clock) = started();
    let start = changes.end(&clock);
    let images = || (document(4), document(5));
    let whats = || {
        vec![
            ChangeKind::Insert {
                document: document(1),
            },
            ChangeKind::Update {
                key: document(2),
                description: document(3),
                images: None,
            },
            ChangeKind::Update {
                key: document(2),
                description: document(3),
                images: Some(images()),
            },
            ChangeKind::Replace {
                document: document(6),
                before: None,
            },
            ChangeKind::Replace {
                document: document(6),
                before: Some(document(7)),
            },
            ChangeKind::Delete {
                key: document(8),
                before: None,
            },
            ChangeKind::Delete {
                key: document(8),
                before: Some(document(9)),
            },
            ChangeKind::Rename {
                replaced: Some([7; 16]),
                to: Namespace::new("test", "d"),
            },
            ChangeKind::Drop,
            ChangeKind::DropDatabase,
        ]
    };
    let written = || whats().into_iter().map(change).collect::<Vec<_>>();
    changes.append(&clock, written(), None);
    let origin = Origin {
        session: document(16).into_bytes(),
        number: 7,
    };
    changes.append(&clock, written(), Some(origin));
    let Read::Events(events) = changes.read(start, 100) else {
        panic!("nothing is lost");
    };
    let read: Vec<_> = events
        .iter()
        .map(|event| format!("{:?}", event.change))
        .collect();
    let expected: Vec<_> = written()
        .iter()
        .chain(&written())
        .map(|change| format!("{change:?}"))
        .collect();
    assert_eq!(read, expected);
    let numbers: Vec<_> = events.iter().map(|event| event.number).collect();
    assert_eq!(numbers[..10], [0; 10]);
    assert_eq!(numbers[10..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let of = |at: usize| events[at].origin.as_ref().map(|origin| origin.number);
    assert_eq!((of(9), of(10), of(19)), (None, Some(7), Some(7)));
    assert!(events.is_sorted_by_key(super::Event::place));
}

#[test]
fn events_shrink_without_watchers_and_late_readers_fail() {
    let (changes, clock) = started();
    let start = changes.end(&clock);
    let write = |bytes: usize| {
        for _ in 0..bytes / 1000 {
            changes.append(&clock, vec![insert(1000)], None);
        }
    };
    write(2 * MAX_UNWATCHED);
    assert!(changes.bytes() <= MAX_UNWATCHED, "{}", changes.bytes());
    assert!(changes.bytes() > MAX_UNWATCHED * 9 / 10);
    assert_eq!(count(&changes.read(start, 1)), None);

    // A reader exists now, so more events are kept.
    let start = changes.end(&clock);
    assert_eq!(count(&changes.read(start, 1)), Some(0));
    write(4 * MAX_UNWATCHED);
    assert!(changes.bytes() > 4 * MAX_UNWATCHED);
    assert!(
        all(&changes, start).is_some(),
        "{start:?} {:?}",
        changes.log().lost()
    );
    write(MAX_WATCHED);
    assert!(changes.bytes() <= MAX_WATCHED);

    let later = |minutes: i64| DateTime::from_millis(1_000_000 + minutes * 60_000);
    changes.set_now(later(10));
    changes.trim();
    assert!(changes.bytes() > MAX_UNWATCHED);
    let lost = changes.log().lost().unwrap();
    changes
        .now
        .store(later(11).timestamp_millis(), Ordering::Relaxed);
    changes.trim();
    assert!(changes.bytes() <= MAX_UNWATCHED, "{}", changes.bytes());
    assert_eq!(count(&changes.read(lost, 1)), None);
    let lost = changes.log().lost().unwrap();
    assert!(all(&changes, lost).is_some());
}

#[test]
fn the_log_is_limited_by_bytes() {
    let (changes, clock) = started();
    for _ in 0..100_000 {
        changes.append(&clock, vec![change(ChangeKind::Drop)], None);
    }
    assert!(changes.bytes() <= MAX_UNWATCHED, "{}", changes.bytes());
    changes.append(&clock, vec![insert(2 * MAX_UNWATCHED)], None);
    let lost = changes.log().lost().unwrap();
    assert_eq!(count(&changes.read(lost, 10)), Some(1));
    changes.append(&clock, vec![insert(1)], None);
    // The large one was older.
    assert!(changes.bytes() <= MAX_WATCHED);
}
