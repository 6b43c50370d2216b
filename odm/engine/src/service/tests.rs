//! Writes wake the tasks that wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::task::{Context as Task, Wake};

use bson::raw::cstr;
use bson::{DateTime, rawdoc};

use super::*;
use crate::Filter;

#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether the action wakes a task that waits for the collection.
fn wakes(service: &Arc<Service>, work: impl FnOnce()) -> bool {
    let counter = Arc::new(Counter::default());
    let (waker, listener) = (Arc::clone(&counter).into(), Listener::new(service));
    let interest = Interest::of(&Namespace::new("x", "c"));
    let seen = service.changes_seen();
    let polled = listener.poll(&interest, seen, &Task::from_waker(&waker));
    assert!(polled.is_pending());
    work();
    counter.0.load(Ordering::Relaxed) == 1
}

#[test]
fn expired_documents_wake_the_ttl_task() {
    static NOW: AtomicI64 = AtomicI64::new(1_700_000_000_000);
    let now = || DateTime::from_millis(NOW.load(Ordering::Relaxed));
    let service = Arc::new(Service::new(Context::system().with_clock(now)));
    let run = |command: RawDocumentBuf| service.try_run(&command).unwrap();
    let index = rawdoc! { "key": { "t": 1 }, "name": "t", "expireAfterSeconds": 1 };
    run(rawdoc! { "createIndexes": "c", "indexes": [index], "$db": "x" });
    service.log_changes();
    for _ in 0..2 {
        run(rawdoc! { "insert": "c", "documents": [{ "_id": 1, "t": now() }], "$db": "x" });
        NOW.fetch_add(120_000, Ordering::Relaxed);
        let namespace = Namespace::new("x", "c");
        assert!(wakes(&service, || {
            let (path, value) = (cstr!("_id"), RawBsonRef::Int32(7));
            let filter = Filter::Equality { path, value };
            let found = service.answer(&namespace, Request::Find { filter, one: true });
            assert!(matches!(found, Ok(Answer::Page(page)) if page.documents.is_empty()));
        }));
    }
}

#[test]
fn a_merged_fork_wakes_waiting_tasks() {
    let service = Arc::new(Service::new(Context::system()));
    service.log_changes();
    let fork = service.fork();
    let insert = rawdoc! { "insert": "c", "documents": [{ "_id": 1 }], "$db": "x" };
    fork.run(service.context(), &insert);
    assert!(wakes(&service, || fork.merge(service.context()).unwrap()));
}
