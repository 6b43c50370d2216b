#![cfg(feature = "memory")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::task::{Context as Task, Poll, Wake};
use std::thread;
use std::time::Duration;

use bson::{DateTime, doc};
use futures::executor::block_on;
use futures::{FutureExt, StreamExt};
use odm_engine::Context;
use serde::{Deserialize, Serialize};

use crate::collection::{Db, ResumeToken};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, odm::Document)]
#[odm(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
}

fn open_cursors(db: &Db) -> usize {
    db.store.engine().unwrap().service().open_cursors()
}

// None of these runs on a runtime: a stream needs none.

#[test]
fn a_write_on_another_thread_wakes_the_stream() {
    let db = Db::memory();
    let things = db.collection::<Thing>();
    let mut changes = block_on(things.watch().into_future()).unwrap();
    for id in 0..50 {
        let things = things.clone();
        let writer = thread::spawn(move || {
            if id % 2 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
            block_on(things.insert_one(&Thing { id }).into_future()).unwrap();
        });
        let change = block_on(changes.next()).unwrap().unwrap();
        assert_eq!(change.id(), Some(&id));
        writer.join().unwrap();
    }
}

#[test]
fn dropping_the_stream_frees_its_cursor() {
    let db = Db::memory();
    let things = db.collection::<Thing>();
    let mut changes = block_on(things.watch().into_future()).unwrap();
    let idle = block_on(db.watch().into_future()).unwrap();
    assert_eq!(open_cursors(&db), 2);
    assert!(changes.next().now_or_never().is_none());
    drop(changes);
    assert_eq!(open_cursors(&db), 1);
    drop(idle);
    assert_eq!(open_cursors(&db), 0);

    // One that is over has none.
    let mut changes = block_on(things.watch().into_future()).unwrap();
    block_on(things.insert_one(&Thing { id: 1 }).into_future()).unwrap();
    block_on(things.drop().into_future()).unwrap();
    for _ in 0..3 {
        block_on(changes.next()).unwrap().unwrap();
    }
    assert!(block_on(changes.next()).is_none());
    assert_eq!(open_cursors(&db), 0);
}

#[test]
fn a_stream_reopens_its_lost_cursor() {
    let now = Arc::new(AtomicI64::new(1_700_000_000_000));
    let clock = Arc::clone(&now);
    let clock = move || DateTime::from_millis(clock.load(Ordering::Relaxed));
    let db = Db::memory_with(Context::system().with_clock(clock));
    let things = db.collection::<Thing>();
    let insert = |id| block_on(things.insert_one(&Thing { id }).into_future()).unwrap();
    insert(0);
    let mut changes = block_on(things.watch().into_future()).unwrap();
    let mut session = block_on(db.start_session()).unwrap();
    let of_session = things.watch().session(&mut session).into_future();
    let mut of_session = block_on(of_session).unwrap();
    insert(1);
    assert_eq!(block_on(changes.next()).unwrap().unwrap().id(), Some(&1));
    // While it waits, too.
    assert!(changes.next().now_or_never().is_none());
    // Longer than a cursor is kept, and a session.
    now.fetch_add(60 * 60_000, Ordering::Relaxed);
    insert(2);
    insert(3);
    assert_eq!(open_cursors(&db), 0);
    for id in [2, 3] {
        assert_eq!(block_on(changes.next()).unwrap().unwrap().id(), Some(&id));
    }
    for id in [1, 2, 3] {
        let change = block_on(of_session.next()).unwrap().unwrap();
        assert_eq!(change.id(), Some(&id));
    }
    assert_eq!(open_cursors(&db), 2);
}

#[test]
fn unwatched_collections_are_not_logged() {
    let db = Db::memory();
    let things = db.collection::<Thing>();
    block_on(things.insert_one(&Thing { id: 1 }).into_future()).unwrap();
    let memory = db.store.engine().unwrap();
    assert_eq!(memory.service().changes_seen(), 0);
    let _changes = block_on(things.watch().into_future()).unwrap();
    let seen = memory.service().changes_seen();
    block_on(things.insert_one(&Thing { id: 2 }).into_future()).unwrap();
    assert_eq!(memory.service().changes_seen(), seen + 1);
}

#[test]
fn get_more_outside_a_runtime_returns_at_once() {
    let db = Db::memory();
    let open = doc! { "aggregate": "things", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
    let reply = block_on(db.run_command(open).into_future()).unwrap();
    let id = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
    let more = doc! { "getMore": id, "collection": "things", "maxTimeMS": 60_000 };
    assert!(db.run_command(more).into_future().now_or_never().is_some());
}

#[test]
fn resume_tokens_serialize_as_json_objects() {
    let token = ResumeToken::from(doc! { "_data": "8263" });
    let json = serde_json::to_string(&token).unwrap();
    assert_eq!(json, r#"{"_data":"8263"}"#);
    assert_eq!(serde_json::from_str::<ResumeToken>(&json).unwrap(), token);
}

/// Counts how often a task is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_stream_is_woken_only_for_its_own_events() {
    let db = Db::memory();
    let things = db.collection::<Thing>();
    let mut changes = block_on(things.watch().into_future()).unwrap();
    let woken = Arc::new(Woken::default());
    let waker = Arc::clone(&woken).into();
    let mut task = Task::from_waker(&waker);
    let mut poll = || match changes.poll_next_unpin(&mut task) {
        Poll::Ready(next) => Some(next.unwrap().unwrap()),
        Poll::Pending => None,
    };
    assert!(poll().is_none());
    let write = |size: usize| {
        let insert = doc! { "insert": "others", "documents": [{ "text": "x".repeat(size) }] };
        block_on(db.run_command(insert).into_future()).unwrap();
    };
    // Where a part of the log begins, everybody looks.
    write(10);
    woken.0.store(0, Ordering::Relaxed);
    assert!(poll().is_none());
    for _ in 0..100 {
        write(10);
    }
    assert_eq!(woken.0.swap(0, Ordering::Relaxed), 0);
    // More than is kept.
    let mut looked = 0;
    for _ in 0..100 {
        write(1024 * 1024);
        if woken.0.swap(0, Ordering::Relaxed) > 0 {
            looked += 1;
            assert!(poll().is_none());
        }
    }
    assert!(looked > 10, "{looked}");
    block_on(things.insert_one(&Thing { id: 1 }).into_future()).unwrap();
    assert_eq!(woken.0.swap(0, Ordering::Relaxed), 1);
    assert_eq!(poll().unwrap().id(), Some(&1));
}
