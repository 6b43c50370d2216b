//! Who is woken by what.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::task::{Context as Task, Wake};

use bson::{DateTime, rawdoc};

use super::*;

#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether a task that waits for the collection is woken by what is done.
fn wakes(memory: &Memory, work: impl FnOnce()) -> bool {
    let counter = Arc::new(Counter::default());
    let (waker, listener) = (Arc::clone(&counter).into(), Listener::new(memory));
    let interest = Interest::of(&Namespace::new("x", "c"));
    let seen = memory.changes_seen();
    let polled = listener.poll(&interest, seen, &Task::from_waker(&waker));
    assert!(polled.is_pending());
    work();
    counter.0.load(Ordering::Relaxed) == 1
}

#[test]
fn who_waits_is_woken_by_what_a_reader_finds_expired() {
    static NOW: AtomicI64 = AtomicI64::new(1_700_000_000_000);
    let now = || DateTime::from_millis(NOW.load(Ordering::Relaxed));
    let memory = Memory::new(Context::system().with_clock(now), "x");
    let run = |command: RawDocumentBuf| memory.run("x", command).unwrap();
    let index = rawdoc! { "key": { "t": 1 }, "name": "t", "expireAfterSeconds": 1 };
    run(rawdoc! { "createIndexes": "c", "indexes": [index] });
    memory.log_changes();
    for _ in 0..2 {
        run(rawdoc! { "insert": "c", "documents": [{ "_id": 1, "t": now() }] });
        NOW.fetch_add(120_000, Ordering::Relaxed);
        let request = Request {
            collection: "c",
            operation: Operation::Find {
                filter: Condition::One("_id".into(), bson::Bson::Int32(7)),
                one: true,
            },
            options: Options::default().into(),
        };
        assert!(wakes(&memory, || assert!(
            memory.look_up("x", &request).is_some()
        )));
    }
}

#[test]
fn who_waits_is_woken_by_what_is_loaded() {
    let memory = Memory::new(Context::system(), "x");
    memory.log_changes();
    let fork = memory.fork();
    let context = memory.context();
    let insert = rawdoc! { "insert": "c", "documents": [{ "_id": 1 }], "$db": "x" };
    fork.run(&context, &insert);
    assert!(wakes(&memory, || fork.merge(&context).unwrap()));
}

#[tokio::test]
async fn a_write_is_not_made_after_its_future_is_dropped() {
    let memory = Memory::new(Context::system(), "x");
    let run = |command: RawDocumentBuf| memory.run("x", command).unwrap();
    let update = |by: i32| {
        let change = rawdoc! { "q": { "_id": 1 }, "u": { "$inc": { "n": by } } };
        rawdoc! { "update": "c", "updates": [change] }
    };
    let in_transaction = |mut command: RawDocumentBuf, starts: bool| {
        let id = bson::Binary::from(bson::Uuid::from_bytes([7; 16]));
        command.append(cstr!("lsid"), rawdoc! { "id": id });
        command.append(cstr!("txnNumber"), 1_i64);
        command.append(cstr!("autocommit"), false);
        if starts {
            command.append(cstr!("startTransaction"), true);
        }
        command
    };
    run(rawdoc! { "insert": "c", "documents": [{ "_id": 1, "n": 0 }] });
    run(in_transaction(update(1), true));
    let waiting = memory.run_waiting("x", update(10));
    let waited = tokio::time::timeout(Duration::from_millis(20), waiting).await;
    assert!(waited.is_err());
    let commit = in_transaction(rawdoc! { "commitTransaction": 1 }, false);
    memory.run("admin", commit).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let found = run(rawdoc! { "find": "c", "filter": { "n": 1 } });
    let batch = found.get_document("cursor").unwrap();
    let batch = batch.get_array("firstBatch").unwrap();
    assert!(batch.get_document(0).is_ok(), "{batch:?}");
}
