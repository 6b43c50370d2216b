//! Locking: which commands wait for each other, tested with a blocked write and under load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use bson::{Binary, Bson, Document, doc};

use super::run;
use crate::Context;
use crate::catalog::Edit;
use crate::catalog::changes::{Event, Read};
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::command::state::Engine;

/// Longer than any command that does not wait.
const PATIENCE: Duration = Duration::from_secs(30);

struct Server {
    engine: Engine,
    context: Context,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "commands are written where they are run"
)]
impl Server {
    fn new() -> Self {
        Self {
            engine: Engine::new(),
            context: Context::system(),
        }
    }

    fn run(&self, command: Document) -> Document {
        let db = if command.contains_key("renameCollection")
            || command.contains_key("commitTransaction")
        {
            "admin"
        } else {
            "x"
        };
        run(&self.engine, &self.context, db, &command)
    }

    fn ok(&self, command: Document) -> Document {
        let reply = self.run(command.clone());
        let good =
            reply.get_f64("ok").is_ok_and(|ok| ok > 0.0) || reply.get_i32("ok").ok() == Some(1);
        assert!(
            good && !reply.contains_key("writeErrors"),
            "{command}: {reply}"
        );
        reply
    }

    fn rows(&self, command: Document) -> Vec<Document> {
        let reply = self.ok(command);
        let cursor = reply.get_document("cursor").unwrap();
        let batch = cursor
            .get_array("firstBatch")
            .or_else(|_| cursor.get_array("nextBatch"))
            .unwrap();
        batch
            .iter()
            .map(|row| row.as_document().unwrap().clone())
            .collect()
    }

    /// Runs `meanwhile` while a write to the collection `a` is under way, which changes all of its documents.
    fn during_a_write<T: Send>(&self, meanwhile: impl FnOnce() -> T + Send) -> T {
        let (started, has_started) = channel();
        let (finish, may_finish) = channel();
        let (done, is_done) = channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                self.engine
                    .catalog
                    .edit(&Namespace::new("x", "a"), |collection, _| {
                        let all: Vec<_> = collection.all().map(|stored| stored.record).collect();
                        for record in all {
                            let change = collection
                                .change(record, collection.document(record), None)
                                .unwrap();
                            collection.apply(&change, None);
                        }
                        started.send(()).unwrap();
                        may_finish.recv().unwrap();
                        Edit::Publish((), Vec::new())
                    })
                    .unwrap();
            });
            has_started.recv_timeout(PATIENCE).unwrap();
            scope.spawn(move || done.send(meanwhile()));
            let outcome = is_done.recv_timeout(PATIENCE);
            // Released in any case, or the test would hang instead of failing.
            finish.send(()).unwrap();
            outcome.expect("it waited for the write")
        })
    }
}

fn insert(collection: &str, ids: std::ops::Range<i32>) -> Document {
    let rows: Vec<Bson> = ids.map(|id| doc! { "_id": id, "n": 0 }.into()).collect();
    doc! { "insert": collection, "documents": rows }
}

fn session(number: u8) -> Document {
    let id = Binary {
        subtype: bson::spec::BinarySubtype::Uuid,
        bytes: vec![number; 16],
    };
    doc! { "id": id }
}

fn statement(mut command: Document, lsid: &Document, number: i64, start: bool) -> Document {
    command.extend(doc! { "lsid": lsid.clone(), "txnNumber": number, "autocommit": false });
    if start {
        command.insert("startTransaction", true);
    }
    command
}

#[test]
fn readers_do_not_wait_for_a_writer() {
    let server = Server::new();
    server.ok(insert("a", 0..300));
    server.ok(insert("b", 0..3));
    server.ok(doc! { "create": "v", "viewOn": "a", "pipeline": [{ "$match": { "n": 0 } }] });
    let opened = server.ok(doc! { "find": "a", "batchSize": 1 });
    let cursor = opened
        .get_document("cursor")
        .unwrap()
        .get_i64("id")
        .unwrap();
    server.during_a_write(|| {
        let count = |command: Document| server.rows(command).len();
        assert_eq!(count(doc! { "find": "a", "batchSize": 1000 }), 300);
        assert_eq!(count(doc! { "find": "v", "batchSize": 1000 }), 300);
        assert_eq!(count(doc! { "find": "a", "filter": { "_id": 7 } }), 1);
        assert_eq!(
            count(doc! { "getMore": cursor, "collection": "a", "batchSize": 1000 }),
            299
        );
        assert_eq!(server.ok(doc! { "count": "a" }).get_i32("n").unwrap(), 300);
        server.ok(doc! { "distinct": "a", "key": "n" });
        let lookup = doc! { "from": "a", "localField": "_id", "foreignField": "_id", "as": "a" };
        assert_eq!(
            count(doc! { "aggregate": "b", "pipeline": [{ "$lookup": lookup }], "cursor": {} }),
            3
        );
        for command in ["listCollections", "dbStats"] {
            server.ok(doc! { command: 1 });
        }
        for command in ["listIndexes", "collStats", "validate"] {
            server.ok(doc! { command: "a" });
        }
        let reader = session(1);
        let find = doc! { "find": "a", "batchSize": 1000 };
        assert_eq!(count(statement(find, &reader, 1, true)), 300);
        server.ok(statement(
            doc! { "commitTransaction": 1 },
            &reader,
            1,
            false,
        ));
    });
    // The whole update becomes visible at once.
    assert_eq!(server.ok(doc! { "count": "a" }).get_i32("n").unwrap(), 0);
}

#[test]
fn writers_to_other_collections_do_not_wait() {
    let server = Server::new();
    server.ok(insert("a", 0..300));
    server.ok(insert("b", 0..3));
    server.ok(insert("e", 0..3));
    server.during_a_write(|| {
        server.ok(insert("b", 3..6));
        server.ok(doc! { "update": "b", "updates": [{ "q": {}, "u": { "$inc": { "n": 1 } }, "multi": true }] });
        server.ok(doc! { "createIndexes": "b", "indexes": [{ "key": { "n": 1 }, "name": "n" }] });
        server.ok(doc! { "delete": "b", "deletes": [{ "q": { "_id": 1 }, "limit": 1 }] });
        server.ok(doc! { "create": "new" });
        server.ok(doc! { "create": "v", "viewOn": "a", "pipeline": [] });
        server.ok(doc! { "renameCollection": "x.e", "to": "x.f" });
        server.ok(doc! { "drop": "f" });
        let writer = session(1);
        server.ok(statement(insert("b", 10..11), &writer, 1, true));
        server.ok(statement(doc! { "commitTransaction": 1 }, &writer, 1, false));
        assert_eq!(server.ok(doc! { "count": "b" }).get_i32("n").unwrap(), 6);
    });
}

#[test]
fn a_second_writer_waits_for_the_first() {
    let server = Server::new();
    server.ok(insert("a", 0..3));
    let written = AtomicBool::new(false);
    thread::scope(|scope| {
        let (server, written) = (&server, &written);
        server.during_a_write(|| {
            scope.spawn(move || {
                server.ok(insert("a", 100..101));
                written.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(50));
            assert!(!written.load(Ordering::SeqCst));
        });
    });
    // The second writer added to the result of the first.
    assert_eq!(
        server.rows(doc! { "find": "a" }),
        [doc! { "_id": 100, "n": 0 }]
    );
}

#[test]
fn a_database_is_dropped_at_once() {
    let server = Server::new();
    server.ok(insert("0", 0..3));
    server.ok(insert("a", 0..3));
    let counts = || ["0", "a"].map(|name| server.ok(doc! { "count": name }).get_i32("n").unwrap());
    thread::scope(|scope| {
        let server = &server;
        server.during_a_write(|| {
            scope.spawn(move || server.ok(doc! { "dropDatabase": 1 }));
            thread::sleep(Duration::from_millis(50));
            assert_eq!(counts(), [3, 3]);
        });
    });
    assert_eq!(counts(), [0, 0]);
    // A conflict with one collection blocks the whole drop.
    server.ok(insert("0", 0..3));
    server.ok(insert("a", 0..3));
    server.ok(statement(insert("a", 9..10), &session(1), 1, true));
    let refused = server.run(doc! { "dropDatabase": 1 });
    assert_eq!(refused.get_i32("code").ok(), Some(112));
    assert_eq!(counts(), [3, 3]);
}

#[test]
fn ttl_deletion_does_not_wait_for_locks() {
    static NOW: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1_000_000_000_000);
    let mut server = Server::new();
    server.context =
        Context::system().with_clock(|| bson::DateTime::from_millis(NOW.load(Ordering::SeqCst)));
    server.ok(doc! { "createIndexes": "a", "indexes": [
        { "key": { "t": 1 }, "name": "t", "expireAfterSeconds": 10 },
    ] });
    let old = bson::DateTime::from_millis(1_000_000_000_000);
    server.ok(doc! { "insert": "a", "documents": [{ "_id": 1, "t": old }] });
    let writer = session(1);
    server.ok(statement(insert("a", 2..3), &writer, 1, true));
    server.during_a_write(|| {
        NOW.fetch_add(120_000, Ordering::SeqCst);
        assert_eq!(server.ok(doc! { "count": "a" }).get_i32("n").unwrap(), 1);
    });
}

#[test]
fn cursors_expire_unless_no_cursor_timeout_is_set() {
    static NOW: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1_000_000_000_000);
    let mut server = Server::new();
    server.context =
        Context::system().with_clock(|| bson::DateTime::from_millis(NOW.load(Ordering::SeqCst)));
    server.ok(insert("a", 0..3));
    let open = |options: Document| {
        let mut find = doc! { "find": "a", "batchSize": 1 };
        find.extend(options);
        server
            .ok(find)
            .get_document("cursor")
            .unwrap()
            .get_i64("id")
            .unwrap()
    };
    let (short, long) = (open(doc! {}), open(doc! { "noCursorTimeout": true }));
    let more = |id: i64| server.run(doc! { "getMore": id, "collection": "a", "batchSize": 1 });
    NOW.fetch_add(9 * 60_000, Ordering::SeqCst);
    assert_eq!(more(short).get("ok"), Some(&Bson::Double(1.0)));
    NOW.fetch_add(11 * 60_000, Ordering::SeqCst);
    assert_eq!(more(short).get_i32("code").ok(), Some(43));
    assert_eq!(more(long).get("ok"), Some(&Bson::Double(1.0)));
}

#[test]
fn writes_of_one_command_become_visible_together() {
    let server = Server::new();
    server.ok(insert("a", 0..50));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..60 {
                    let u = doc! { "$inc": { "n": 1, "m": 1 } };
                    server.ok(
                        doc! { "update": "a", "updates": [{ "q": {}, "u": u, "multi": true }] },
                    );
                }
                stop.store(true, Ordering::SeqCst);
            });
        }
        for _ in 0..5 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let rows = server.rows(doc! { "find": "a" });
                    let numbers: Vec<_> =
                        rows.iter().map(|row| row.get_i32("n").unwrap()).collect();
                    let others: Vec<_> = rows
                        .iter()
                        .map(|row| row.get_i32("m").unwrap_or(0))
                        .collect();
                    assert_eq!(numbers, others);
                    assert!(
                        numbers.windows(2).all(|pair| pair.first() == pair.last()),
                        "{numbers:?}"
                    );
                }
            });
        }
    });
}

#[test]
fn no_insert_is_lost_to_a_drop() {
    let server = Server::new();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || {
                for round in 0..400 {
                    let id = thread * 1000 + round;
                    let reply = server.run(doc! { "insert": "a", "documents": [{ "_id": id }] });
                    assert_eq!(reply.get_i32("n").ok(), Some(1), "{reply}");
                    let u = doc! { "q": { "_id": -id - 1 }, "u": { "$set": { "a": 1 } }, "upsert": true };
                    let reply = server.run(doc! { "update": "a", "updates": [u] });
                    assert_eq!(reply.get_i32("n").ok(), Some(1), "{reply}");
                }
                stop.store(true, Ordering::SeqCst);
            });
        }
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    server.run(doc! { "drop": "a" });
                }
            });
        }
    });
}

/// A stream that starts at a snapshot's time reports exactly the writes that the snapshot lacks.
#[test]
fn a_snapshot_holds_the_writes_up_to_its_time() {
    const WRITERS: i32 = 4;
    const EACH: i32 = 400;
    let server = Server::new();
    server.ok(doc! { "create": "a" });
    let catalog = &server.engine.catalog;
    catalog.log_changes(server.context.now());
    let start = catalog.changes.end(&catalog.clock);
    let mut seen = Vec::new();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let server = &server;
                scope.spawn(move || {
                    for i in 0..EACH {
                        server.ok(
                            doc! { "insert": "a", "documents": [{ "_id": writer * EACH + i }] },
                        );
                    }
                })
            })
            .collect();
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let reply = server.ok(doc! {
                "find": "a", "batchSize": 100_000, "readConcern": { "level": "snapshot" },
            });
            let cursor = reply.get_document("cursor").unwrap();
            let time = cursor.get_timestamp("atClusterTime").unwrap();
            seen.push((time, cursor.get_array("firstBatch").unwrap().len()));
        }
    });
    let Read::Events(events) = catalog.changes.read(start, usize::MAX) else {
        panic!("the log has forgotten something");
    };
    assert_eq!(events.len(), usize::try_from(WRITERS * EACH).unwrap());
    for (time, documents) in seen {
        let until =
            |event: &&Event| (event.time.time, event.time.increment) <= (time.time, time.increment);
        assert_eq!(events.iter().filter(until).count(), documents);
    }
}

/// A read after the operation time of a write sees the write.
#[test]
fn operation_time_covers_all_earlier_writes() {
    let server = Server::new();
    server.ok(doc! { "create": "a" });
    let clock = &server.engine.catalog.clock;
    server.engine.catalog.log_changes(server.context.now());
    let (told, heard) = channel();
    let server = &server;
    thread::scope(|scope| {
        for writer in 0..3 {
            let told = told.clone();
            scope.spawn(move || {
                for i in 0..200 {
                    let id = writer * 1_000 + i;
                    server.ok(doc! { "insert": "a", "documents": [{ "_id": id }] });
                    told.send((id, clock.now())).unwrap();
                }
            });
        }
        drop(told);
        for (id, time) in heard {
            for level in ["local", "majority", "snapshot"] {
                let found = server.rows(doc! {
                    "find": "a", "filter": { "_id": id },
                    "readConcern": { "level": level, "afterClusterTime": time },
                });
                assert_eq!(found.len(), 1, "{id} at {time:?} by {level}");
            }
        }
    });
}

/// A write that begins before the first stream is not logged, but a later reader sees it.
#[test]
fn change_streams_report_every_write_after_their_start() {
    let server = Server::new();
    server.ok(doc! { "create": "a" });
    let (started, has_started) = channel();
    let (finish, may_finish) = channel();
    let server = &server;
    let watch = || {
        let stage = doc! { "$changeStream": {} };
        let opened = server.ok(doc! { "aggregate": "a", "pipeline": [stage], "cursor": {} });
        let cursor = opened.get_document("cursor").unwrap();
        let found = server.rows(doc! { "find": "a" }).len();
        (cursor.get_i64("id").unwrap(), found)
    };
    let opened = thread::scope(|scope| {
        scope.spawn(move || {
            let namespace = Namespace::new("x", "a");
            let write = server.engine.write(&namespace, true, |writer| {
                started.send(()).unwrap();
                may_finish.recv_timeout(PATIENCE).unwrap();
                writer.insert(&bson::rawdoc! { "_id": 1 })
            });
            write.unwrap();
        });
        has_started.recv_timeout(PATIENCE).unwrap();
        let first = scope.spawn(watch);
        while !server.engine.catalog.changes.is_on() {
            thread::yield_now();
        }
        let second = scope.spawn(watch);
        thread::sleep(Duration::from_millis(50));
        finish.send(()).unwrap();
        [first, second].map(|watching| watching.join().unwrap())
    });
    for (id, found) in opened {
        let told = server.rows(doc! { "getMore": id, "collection": "a" }).len();
        assert_eq!(found + told, 1);
    }
}

/// A command uses the collation of the collection that it has locked, not of the one it found before.
#[test]
fn writes_use_the_collation_of_the_recreated_collection() {
    let target = doc! { "k": "X" };
    for command in [
        doc! { "update": "a", "updates": [{ "q": &target, "u": { "$set": { "n": 1 } } }] },
        doc! { "delete": "a", "deletes": [{ "q": &target, "limit": 1 }] },
        doc! { "findAndModify": "a", "query": &target, "remove": true },
    ] {
        let server = Server::new();
        let any_case = doc! { "locale": "en", "strength": 2 };
        server.ok(doc! { "create": "a", "collation": any_case });
        let namespace = Namespace::new("x", "a");
        let row = doc! { "_id": 1, "k": "x" };
        let catalog = &server.engine.catalog;
        let first = std::sync::Arc::clone(&catalog.collection(&namespace).unwrap().shared);
        let held = first.lock();
        thread::scope(|scope| {
            scope.spawn(|| server.run(command));
            thread::sleep(Duration::from_millis(50));
            // The lock holder drops the collection.
            catalog.publish().remove(&namespace);
            server.ok(doc! { "insert": "a", "documents": [&row] });
            drop(held);
        });
        // A command that found the old collection conflicts, a later one finds nothing.
        assert_eq!(server.rows(doc! { "find": "a" }), [row]);
    }
}

/// Names may have changed when a rename gets the locks of its collections.
#[test]
fn renames_do_not_deadlock() {
    for _ in 0..8 {
        let server = std::sync::Arc::new(Server::new());
        server.ok(insert("b", 0..1));
        server.ok(insert("c", 0..1));
        let (done, is_done) = channel();
        let rename = |from: &str, to: &str| {
            let (from, to) = (format!("x.{from}"), format!("x.{to}"));
            let (server, done) = (std::sync::Arc::clone(&server), done.clone());
            let rename = doc! { "renameCollection": from, "to": to, "dropTarget": true };
            // Not joined, or the test would hang instead of failing.
            thread::spawn(move || {
                server.run(rename);
                done.send(()).unwrap();
            });
            thread::sleep(Duration::from_millis(10));
        };
        let first = server.engine.catalog.collection(&Namespace::new("x", "b"));
        let first = std::sync::Arc::clone(&first.unwrap().shared);
        let held = first.lock();
        rename("b", "c");
        rename("c", "a");
        rename("b", "a");
        drop(held);
        for _ in 0..3 {
            let ended = is_done.recv_timeout(PATIENCE);
            ended.expect("they wait for each other");
        }
    }
}

/// A waiting writer must not hold a reference to the collection: the write would copy it.
#[test]
fn contended_writes_are_made_in_place() {
    let server = Server::new();
    server.ok(insert("a", 0..3));
    let namespace = Namespace::new("x", "a");
    let place = || {
        let address = |collection: &Collection| std::ptr::from_ref(collection).addr();
        server.engine.catalog.look(&namespace, address)
    };
    let before = place();
    let waiters = [
        doc! { "insert": "a", "documents": [{ "_id": 7 }] },
        doc! { "update": "a", "updates": [{ "q": { "_id": 1 }, "u": { "$inc": { "n": 1 } } }] },
        doc! { "delete": "a", "deletes": [{ "q": { "_id": 2 }, "limit": 1 }] },
        doc! { "findAndModify": "a", "query": { "_id": 0 }, "update": { "$inc": { "n": 1 } } },
    ];
    thread::scope(|scope| {
        let (started, has_started) = channel();
        let (finish, may_finish) = channel();
        let (server, namespace) = (&server, &namespace);
        scope.spawn(move || {
            let write = server.engine.write(namespace, true, |writer| {
                started.send(()).unwrap();
                may_finish.recv_timeout(PATIENCE).unwrap();
                writer.insert(&bson::rawdoc! { "_id": 3 })
            });
            write.unwrap();
        });
        has_started.recv_timeout(PATIENCE).unwrap();
        for command in waiters {
            scope.spawn(move || server.ok(command));
        }
        // Usually long enough for all of them to wait; the test also passes otherwise.
        thread::sleep(Duration::from_millis(100));
        finish.send(()).unwrap();
    });
    assert_eq!(server.ok(doc! { "count": "a" }).get_i32("n").unwrap(), 4);
    assert_eq!(place(), before);
}

/// A transaction begins with its first statement: collections created or dropped before it do not conflict.
#[test]
fn a_first_statement_reads_collections_created_meanwhile() {
    let server = Server::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for name in ["one", "other"] {
            let (server, done) = (&server, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let index = doc! { "key": { "a": 1 }, "name": name };
                    server.run(doc! { "createIndexes": "made", "indexes": [index] });
                    server.run(doc! { "drop": "made" });
                }
            });
        }
        let found: Vec<Document> = (0..8_000_i64)
            .map(|number| {
                let session = doc! { "id": Binary::from(bson::Uuid::from_bytes([7; 16])) };
                server.run(doc! {
                    "find": "made", "lsid": session, "txnNumber": number, "autocommit": false,
                    "startTransaction": true,
                })
            })
            .filter(|reply| !reply.contains_key("cursor"))
            .collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(found, Vec::<Document>::new());
    });
}
