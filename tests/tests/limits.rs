//! Limits for clients: sizes, depths, connections, cursors and times.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that panics is a test that fails"
)]

#[path = "wire/client.rs"]
mod client;

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mongodb::bson::{Document, doc};
use odm::Db;
use odm::server::Server;

use client::{OP_MSG, Wire, both, frame, message, section, sequence};

#[test]
fn excess_and_idle_connections_are_closed() {
    let ping = doc! { "ping": 1, "$db": "admin" };
    let server = Server::options()
        .max_connections(1)
        .idle_timeout(Duration::from_secs(2))
        .bind(&Db::memory(), "127.0.0.1:0")
        .unwrap();
    let mut first = Wire::to(server.address());
    assert!(first.command(&ping).is_some());
    assert!(Wire::to(server.address()).command(&ping).is_none());
    assert_eq!(first.reply(), None);
    // The server accepts the next connection once the first is removed.
    answers(server.address());
    server.stop();
}

#[test]
fn incomplete_messages_do_not_block_other_clients() {
    let ping = doc! { "ping": 1, "$db": "admin" };
    let server = Server::options()
        .idle_timeout(Duration::from_secs(2))
        .bind(&Db::memory(), "127.0.0.1:0")
        .unwrap();
    let plain = frame(OP_MSG, &message(0, &[section(&ping)]));
    let mut largest = plain.clone();
    largest[..4].copy_from_slice(&48_000_000_i32.to_le_bytes());
    let beginnings = [&b""[..], &plain[..3], &plain[..16], &plain[..30], &largest];
    let mut slow: Vec<_> = beginnings
        .iter()
        .map(|beginning| {
            let mut wire = Wire::to(server.address());
            wire.0.write_all(beginning).unwrap();
            wire
        })
        .collect();
    assert!(Wire::to(server.address()).command(&ping).is_some());
    let began = Instant::now();
    for wire in &mut slow {
        assert_eq!(wire.reply(), None);
    }
    assert!(began.elapsed() < Duration::from_secs(10));
    // A client that closes its sending side is closed at once.
    let mut wire = Wire::to(server.address());
    wire.0.write_all(&plain[..20]).unwrap();
    wire.0.shutdown(Shutdown::Write).unwrap();
    let refused = wire.reply().unwrap();
    assert!(refused.get_str("errmsg").unwrap().contains("ends before"));
    assert_eq!(wire.reply(), None);
}

#[test]
fn clients_that_do_not_read_are_disconnected() {
    let server = Server::options()
        .idle_timeout(Duration::from_secs(2))
        .bind(&Db::memory(), "127.0.0.1:0")
        .unwrap();
    let mut wire = Wire::to(server.address());
    let row = doc! { "_id": 1, "text": "x".repeat(4_000_000) };
    let insert = doc! { "insert": "large", "documents": [row], "$db": "test" };
    wire.command(&insert).unwrap();
    let find = frame(
        OP_MSG,
        &message(0, &[section(&doc! { "find": "large", "$db": "test" })]),
    );
    // 4 GB of answers, had they all been made.
    let mut asked = 0;
    while asked < 1000 && wire.0.write_all(&find).is_ok() {
        asked += 1;
    }
    let mut other = Wire::to(server.address());
    settles(&mut other, 1);
    let status = doc! { "serverStatus": 1, "$db": "admin" };
    let status = other.command(&status).unwrap();
    let sent = status.get_document("network").unwrap();
    assert!(sent.get_i64("physicalBytesOut").unwrap() < 40_000_000);
}

#[test]
fn disconnected_waiters_leave_no_thread() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let open = |wire: &mut Wire| {
        let reply = wire
            .command(&doc! {
                "aggregate": "c", "pipeline": [{ "$changeStream": {} }], "cursor": {}, "$db": "test",
            })
            .unwrap();
        reply.get_document("cursor").unwrap().get_i64("id").unwrap()
    };
    let mut stream = Wire::to(server.address());
    let id = open(&mut stream);
    let more = doc! { "getMore": id, "collection": "c", "maxTimeMS": 600_000, "$db": "test" };
    stream.send(OP_MSG, &message(0, &[section(&more)]));
    let mut monitor = Wire::to(server.address());
    let hello = monitor
        .command(&doc! { "hello": 1, "$db": "admin" })
        .unwrap();
    let topology = hello.get_document("topologyVersion").unwrap();
    let watch = doc! {
        "hello": 1, "topologyVersion": topology.clone(), "maxAwaitTimeMS": 600_000, "$db": "admin",
    };
    monitor.send(OP_MSG, &message(1 << 16, &[section(&watch)]));
    let mut other = Wire::to(server.address());
    // The server keeps waiting for clients that stay connected.
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(connections(&mut other), 3);
    drop((stream, monitor));
    settles(&mut other, 1);
}

#[test]
fn ten_thousand_connections_come_and_go() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let address = server.address();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..2500 {
                    let mut stream = TcpStream::connect(address).unwrap();
                    if number % 25 == 0 {
                        // An answer shows that the server has accepted the earlier connections: a full queue
                        // delays further ones by a second. A server that has not yet noticed that a thousand
                        // clients disconnected refuses this one.
                        answers(address);
                    }
                    if number % 4 == thread {
                        // Some disconnect in the middle of a message.
                        let _ = stream.write_all(&[1, 2, 3]);
                    }
                }
            });
        }
    });
    let mut wire = Wire::to(address);
    settles(&mut wire, 1);
}

/// Connects until the server accepts.
fn answers(address: SocketAddr) {
    let ping = doc! { "ping": 1, "$db": "admin" };
    let began = Instant::now();
    while Wire::to(address).command(&ping).is_none() {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The number of connections.
fn connections(wire: &mut Wire) -> i32 {
    let status = wire.command(&doc! { "serverStatus": 1, "$db": "admin" });
    let status = status.unwrap();
    let connections = status.get_document("connections").unwrap();
    connections.get_i32("current").unwrap()
}

fn settles(wire: &mut Wire, expected: i32) {
    let began = Instant::now();
    while connections(wire) != expected {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A filter of this depth.
fn deep(levels: usize) -> Document {
    let mut filter = doc! { "a": 1 };
    for _ in 0..levels / 2 {
        filter = doc! { "$and": [filter] };
    }
    doc! { "find": "c", "filter": filter, "$db": "odm_wire_depth" }
}

#[test]
fn the_depth_limit_of_documents_is_enforced() {
    both(|address| {
        let mut wire = Wire::to(address);
        let mut code = |command: &Document| {
            let reply = wire.command(command).unwrap();
            reply.get_i32("code").unwrap_or_default()
        };
        assert_eq!(code(&deep(198)), 0);
        assert_eq!(code(&deep(200)), 15);
        assert_eq!(code(&doc! { "ping": 1, "$db": "admin" }), 0);
    });
}

#[test]
fn the_largest_message_is_taken() {
    both(|address| {
        let mut wire = Wire::to(address);
        let insert = doc! { "insert": "large", "$db": "odm_wire_large" };
        let row = |id: i32| doc! { "_id": id, "text": "x".repeat(15_900_000) };
        let rows: Vec<_> = (0..3).map(row).collect();
        let body = message(0, &[section(&insert), sequence("documents", &rows)]);
        let reply = wire.ask(OP_MSG, &body).unwrap();
        assert_eq!(reply.get_i32("n").unwrap(), 3, "{reply}");
        wire.command(&doc! { "dropDatabase": 1, "$db": "odm_wire_large" });
    });
}

#[test]
fn client_metadata_is_limited() {
    both(|address| {
        let of = |length: usize| {
            let client = doc! {
                "driver": { "name": "wire", "version": "1" },
                "os": { "type": "x".repeat(length) },
            };
            let hello = doc! { "hello": 1, "client": client, "$db": "admin" };
            let reply = Wire::to(address).command(&hello).unwrap();
            reply.get_i32("code").unwrap_or_default()
        };
        assert_eq!((of(900), of(1100)), (0, 185));
    });
}

#[test]
fn the_number_of_cursors_is_limited() {
    let options = Server::options().max_cursors(2);
    let server = options.bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let mut wire = Wire::to(server.address());
    let rows: Vec<_> = (0..5).map(|id| doc! { "_id": id }).collect();
    let many = doc! { "insert": "many", "documents": rows, "$db": "test" };
    wire.command(&many).unwrap();
    let find = doc! { "find": "many", "batchSize": 2, "$db": "test" };
    let mut id = || {
        let reply = wire.command(&find).unwrap();
        let cursor = reply.get_document("cursor").ok().cloned();
        cursor.map_or_else(
            || Err(reply.get_i32("code").unwrap()),
            |cursor| Ok(cursor.get_i64("id").unwrap()),
        )
    };
    let ids = [id().unwrap(), id().unwrap()];
    assert_eq!(id(), Err(146));
    let kill = doc! { "killCursors": "many", "cursors": ids.to_vec(), "$db": "test" };
    Wire::to(server.address()).command(&kill).unwrap();
    assert!(id().is_ok());
}

/// Errors truncate values of many megabytes, and omit details that do not fit.
#[test]
fn replies_fit_into_a_message() {
    both(|address| {
        let mut wire = Wire::to(address);
        let mut run = |mut command: Document| {
            command.insert("$db", "odm_wire_replies");
            let reply = wire.command(&command).expect("the connection holds");
            let size = reply.to_vec().unwrap().len();
            assert!(size <= 16 * 1024 * 1024 + 16 * 1024, "{size} bytes");
            (reply, size)
        };
        run(doc! { "dropDatabase": 1 });
        let text = "x".repeat(9_000_000);
        run(doc! { "insert": "large", "documents": [{ "_id": 1, "s": &text }] });
        let index = doc! { "key": { "s": 1 }, "name": "s" };
        run(doc! { "createIndexes": "small", "indexes": [index] });
        let seven = vec!["$s"; 7];
        for made in [
            doc! { "_id": 0, "a": &seven },
            doc! { "_id": 0, "a": { "b": seven } },
        ] {
            let project = doc! { "$project": made };
            let command = doc! { "aggregate": "large", "pipeline": [project], "cursor": {} };
            let (reply, size) = run(command);
            assert_eq!(reply.get_i32("code").unwrap(), 10334);
            assert!(size < 3000, "{size} bytes");
        }
        let sorted = doc! { "find": "large", "sort": { "a": &text } };
        assert!(run(sorted).1 < 1000);
        let increment = doc! { "q": {}, "u": { "$inc": { "a": &text } } };
        assert!(run(doc! { "update": "large", "updates": [increment] }).1 < 1000);
        let find = doc! { "find": "small", "filter": { "s": &text } };
        let (reply, _) = run(doc! { "explain": find });
        let warning = "'command' has been omitted due to BSON size limit";
        assert_eq!(reply.get_str("warning").unwrap(), warning);
        let shown = format!("{}...\"", "x".repeat(150));
        let bounds = format!("[\"{shown}, \"{shown}]");
        let plan = reply.get_document("queryPlanner").unwrap();
        let plan = plan.get_document("winningPlan").unwrap();
        let plan = plan.get_document("inputStage").unwrap();
        let found = plan.get_document("indexBounds").unwrap();
        assert_eq!(found.get_array("s").unwrap(), &[bounds.into()]);
        // Many short bounds are omitted together.
        let many: Vec<_> = (0..200_000).map(|n| format!("{n:030}")).collect();
        let find = doc! { "find": "small", "filter": { "s": { "$in": many } } };
        let (reply, _) = run(doc! { "explain": find, "verbosity": "queryPlanner" });
        let plan = reply.get_document("queryPlanner").unwrap();
        let plan = plan.get_document("winningPlan").unwrap();
        let plan = plan.get_document("inputStage").unwrap();
        let warning = "index bounds omitted due to BSON size limit for explain";
        assert_eq!(plan.get_str("warning").unwrap(), warning);
        run(doc! { "dropDatabase": 1 });
    });
}

/// The time limit covers all reads of one command together.
#[test]
fn a_time_limit_ends_pipelines_within_pipelines() {
    both(|address| {
        let mut wire = Wire::to(address);
        let mut run = |mut command: Document| {
            command.insert("$db", "odm_wire_nested");
            wire.command(&command).unwrap()
        };
        let rows: Vec<_> = (0..10).map(|id| doc! { "_id": id }).collect();
        run(doc! { "insert": "c", "documents": rows });
        let mut stages = vec![
            doc! { "$match": { "$expr": { "$gte": ["$$id", 0] } } },
            doc! { "$count": "n" },
        ];
        for _ in 0..8 {
            let lookup =
                doc! { "from": "c", "let": { "id": "$_id" }, "pipeline": stages, "as": "n" };
            let each = doc! { "$match": { "$expr": { "$gte": ["$$id", 0] } } };
            stages = vec![each, doc! { "$lookup": lookup }, doc! { "$count": "n" }];
        }
        let began = Instant::now();
        let reply = run(
            doc! { "aggregate": "c", "pipeline": stages.get(1..).unwrap(), "cursor": {}, "maxTimeMS": 200.0 },
        );
        assert_eq!(reply.get_i32("code").unwrap(), 50, "{reply}");
        assert!(began.elapsed() < Duration::from_secs(5));
        run(doc! { "dropDatabase": 1 });
    });
}
