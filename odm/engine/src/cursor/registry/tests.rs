use bson::{DateTime, rawdoc};
use odm_language::error::{Code, ServerError};

use super::{Cursor, Cursors, Ready, Tail};
use crate::catalog::namespace::Namespace;

const NOW: i64 = 1_700_000_000_000;

fn cursor(tail: Tail) -> Cursor {
    let documents = vec![rawdoc! { "a": 1 }, rawdoc! { "a": 2 }];
    Cursor {
        namespace: Namespace::new("d", "c"),
        results: Box::new(Ready(documents.into_iter())),
        held: None,
        collection: None,
        base: None,
        session: Some(vec![1]),
        transaction: None,
        time: None,
        no_timeout: false,
        limited: false,
        tail,
        used: NOW,
        tally: None,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a check may refuse")]
fn anybody(_: &Cursor) -> Result<(), ServerError> {
    Ok(())
}

/// The error code of an attempt to read, if it is refused.
fn refused(cursors: &Cursors, id: i64, hold: Option<u64>) -> Option<Code> {
    let outcome = cursors
        .pin(id, hold, anybody)
        .map(|(pin, cursor)| pin.keep(cursor));
    match outcome {
        Ok(kept) => kept.err(),
        Err(refused) => Some(refused),
    }
    .map(|error| error.code())
}

#[test]
fn a_cursor_in_use_is_open_and_exclusive() {
    let cursors = Cursors::default();
    let id = cursors.keep(cursor(Tail::No), || 7);
    let (pin, taken) = cursors.pin(id, None, anybody).unwrap();
    assert_eq!((cursors.count(), cursors.count_in_use()), (1, 1));
    assert_eq!(refused(&cursors, id, None), Some(Code::CURSOR_IN_USE));
    // Meanwhile its id stays reserved, and it does not expire.
    assert_ne!(cursors.keep(cursor(Tail::No), || 7), id);
    cursors.expire(DateTime::from_millis(NOW + 3_600_000));
    assert_eq!(cursors.count(), 1);
    pin.keep(taken).unwrap();
    assert_eq!(refused(&cursors, id, None), None);
    assert_eq!((cursors.count(), cursors.count_in_use()), (1, 0));
}

#[test]
fn refused_requests_leave_cursors_unchanged() {
    let cursors = Cursors::default();
    let id = cursors.keep(cursor(Tail::No), || 7);
    let refusal = |_: &Cursor| {
        // The map is locked: other requests wait, and find the cursor unchanged.
        assert!(cursors.open.try_lock().is_err());
        Err(ServerError::new(Code::UNAUTHORIZED, "not yours"))
    };
    let refused = cursors.pin(id, None, refusal).map(drop).unwrap_err();
    assert_eq!(refused.code(), Code::UNAUTHORIZED);
    assert_eq!((cursors.count(), cursors.count_in_use()), (1, 0));
}

#[test]
fn a_cursor_killed_while_in_use_is_removed() {
    for (is_killed, code) in [(true, Code::CURSOR_KILLED), (false, Code::INTERRUPTED)] {
        let cursors = Cursors::default();
        let id = cursors.keep(cursor(Tail::No), || 7);
        let (pin, taken) = cursors.pin(id, None, anybody).unwrap();
        if is_killed {
            assert!(cursors.kill(id));
        } else {
            cursors.close_of(|session| *session == [1]);
        }
        assert_eq!(refused(&cursors, id, None), Some(Code::CURSOR_IN_USE));
        assert_eq!(pin.keep(taken).unwrap_err().code(), code);
        assert_eq!(refused(&cursors, id, None), Some(Code::CURSOR_NOT_FOUND));
        assert!(!cursors.kill(id));
    }
}

#[test]
fn exhausted_and_failed_cursors_are_removed() {
    let cursors = Cursors::default();
    let id = cursors.keep(cursor(Tail::No), || 7);
    drop(cursors.pin(id, None, anybody).unwrap());
    assert_eq!(cursors.count(), 0);
}

#[test]
fn a_waiting_cursor_stays_in_use() {
    let cursors = Cursors::default();
    let id = cursors.keep(cursor(Tail::Tailable), || 7);
    assert!(cursors.hold(id).is_none(), "it does not wait");
    let id = cursors.keep(cursor(Tail::AwaitData), || 8);
    let (hold, _) = cursors.hold(id).unwrap();
    assert!(cursors.hold(id).is_none());
    assert_eq!((cursors.count(), cursors.count_in_use()), (2, 1));
    for other in [None, Some(hold.key() + 1)] {
        assert_eq!(refused(&cursors, id, other), Some(Code::CURSOR_IN_USE));
    }
    assert_eq!(refused(&cursors, id, Some(hold.key())), None);
    hold.end().unwrap();
    assert_eq!(refused(&cursors, id, None), None);

    // It is killed while its reader waits.
    let (hold, _) = cursors.hold(id).unwrap();
    assert!(cursors.kill(id));
    let key = hold.key();
    assert_eq!(refused(&cursors, id, Some(key)), Some(Code::CURSOR_KILLED));
    assert_eq!(hold.end().unwrap_err().code(), Code::CURSOR_KILLED);
    assert_eq!(
        refused(&cursors, id, Some(key)),
        Some(Code::CURSOR_NOT_FOUND)
    );
}
