//! Replies to frames that no driver sends, and authentication.
//!
//! The conversations also run on the MongoDB 6.0.5 that `ODM_TEST_URI` names.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that panics is a test that fails"
)]

#[path = "wire/client.rs"]
mod client;

use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mongodb::bson::{self, Bson, Document, doc};
use odm::Db;
use odm::server::Server;

use client::{OP_MSG, Wire, both, frame, message, section, sequence};

const OP_QUERY: i32 = 2004;
const OP_COMPRESSED: i32 = 2012;

/// An `OP_QUERY` of one document.
fn query(namespace: &str, document: &Document) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(namespace.as_bytes());
    body.push(0);
    body.extend(0_i32.to_le_bytes());
    body.extend((-1_i32).to_le_bytes());
    body.extend(document.to_vec().unwrap());
    body
}

/// The result of a frame.
#[derive(Debug, PartialEq)]
enum Outcome {
    Fine,
    /// An error with this code, and the connection goes on.
    Refused(i32),
    /// The connection is closed, with or without a reply.
    Closed,
}

fn outcome(address: SocketAddr, opcode: i32, body: &[u8]) -> Outcome {
    let mut wire = Wire::to(address);
    let reply = wire.ask(opcode, body);
    let goes_on = wire.command(&doc! { "ping": 1, "$db": "admin" }).is_some();
    match reply {
        Some(reply) if goes_on => match reply.get_i32("code") {
            Ok(code) => Outcome::Refused(code),
            Err(_) => Outcome::Fine,
        },
        _ => Outcome::Closed,
    }
}

#[test]
fn frames_are_answered_as_by_mongod() {
    let ping = doc! { "ping": 1, "$db": "admin" };
    let insert = doc! { "insert": "wire", "$db": "odm_wire" };
    let with_documents = doc! { "insert": "wire", "documents": [], "$db": "odm_wire" };
    let one = [doc! { "a": 1 }];
    let plain = message(0, &[section(&ping)]);
    let mut cut = plain.clone();
    cut.truncate(plain.len() - 3);
    let mut short = plain.clone();
    short[5] = 3;
    let compressed = |opcode: i32, id: u8, size: usize, rest: &[u8]| {
        let mut body = opcode.to_le_bytes().to_vec();
        body.extend(i32::try_from(size).unwrap().to_le_bytes());
        body.push(id);
        body.extend(rest);
        body
    };
    let mut summed = message(1, &[section(&ping)]);
    summed.extend(b"abcd");
    let hello = doc! { "hello": 1 };
    let cases = [
        ("a message", OP_MSG, plain.clone(), Outcome::Fine),
        (
            "an optional flag",
            OP_MSG,
            message(1 << 20, &[section(&ping)]),
            Outcome::Fine,
        ),
        (
            "an unknown flag",
            OP_MSG,
            message(4, &[section(&ping)]),
            Outcome::Closed,
        ),
        ("a wrong checksum", OP_MSG, summed, Outcome::Closed),
        (
            "no body",
            OP_MSG,
            message(0, &[sequence("documents", &one)]),
            Outcome::Refused(40587),
        ),
        (
            "two bodies",
            OP_MSG,
            message(0, &[section(&ping), section(&ping)]),
            Outcome::Refused(40430),
        ),
        (
            "a sequence twice",
            OP_MSG,
            message(
                0,
                &[
                    section(&insert),
                    sequence("documents", &one),
                    sequence("documents", &one),
                ],
            ),
            Outcome::Refused(40431),
        ),
        (
            "a field and a sequence",
            OP_MSG,
            message(0, &[section(&with_documents), sequence("documents", &one)]),
            Outcome::Refused(40433),
        ),
        (
            "an unknown section",
            OP_MSG,
            message(0, &[vec![7], section(&ping)]),
            Outcome::Refused(40432),
        ),
        (
            "the sequence first",
            OP_MSG,
            message(0, &[sequence("documents", &one), section(&insert)]),
            Outcome::Fine,
        ),
        (
            "an empty sequence",
            OP_MSG,
            message(0, &[section(&insert), sequence("documents", &[])]),
            Outcome::Refused(16),
        ),
        ("a document that is cut", OP_MSG, cut, Outcome::Refused(22)),
        (
            "a document that is too short",
            OP_MSG,
            short,
            Outcome::Refused(22),
        ),
        (
            "no database",
            OP_MSG,
            message(0, &[section(&doc! { "ping": 1 })]),
            Outcome::Refused(40571),
        ),
        ("nothing", OP_MSG, Vec::new(), Outcome::Closed),
        (
            "an unknown operation",
            1234,
            b"abcd".to_vec(),
            Outcome::Closed,
        ),
        (
            "an old insert",
            2002,
            b"\0\0\0\0a.b\0".to_vec(),
            Outcome::Closed,
        ),
        (
            "an old handshake",
            OP_QUERY,
            query("admin.$cmd", &hello),
            Outcome::Fine,
        ),
        (
            "one that is wrapped",
            OP_QUERY,
            query("admin.$cmd", &doc! { "$query": { "ismaster": 1 } }),
            Outcome::Fine,
        ),
        (
            "an old command",
            OP_QUERY,
            query("admin.$cmd", &doc! { "ping": 1 }),
            Outcome::Refused(352),
        ),
        (
            "an old find",
            OP_QUERY,
            query("test.c", &doc! {}),
            Outcome::Refused(5_739_101),
        ),
        (
            "compression without agreement",
            OP_COMPRESSED,
            compressed(OP_MSG, 1, 10, b"xx"),
            Outcome::Closed,
        ),
        (
            "no compression without agreement",
            OP_COMPRESSED,
            compressed(OP_MSG, 0, plain.len(), &plain),
            Outcome::Closed,
        ),
    ];
    both(|address| {
        for (name, opcode, body, expected) in &cases {
            assert_eq!(&outcome(address, *opcode, body), expected, "{name}");
        }
        Wire::to(address).command(&doc! { "dropDatabase": 1, "$db": "odm_wire" });
    });
}

#[test]
fn wrong_message_lengths_close_the_connection() {
    both(|address| {
        for length in [0, 15, -1, i32::MAX, 48_000_001] {
            let mut wire = Wire::to(address);
            let mut frame = frame(OP_MSG, b"abcd");
            frame[..4].copy_from_slice(&length.to_le_bytes());
            wire.0.write_all(&frame).unwrap();
            // The reply may name the reason.
            let _ = wire.reply();
            assert_eq!(wire.reply(), None, "{length}");
        }
    });
}

#[test]
fn unacknowledged_and_exhaust_messages() {
    both(|address| {
        let mut wire = Wire::to(address);
        let silent =
            doc! { "insert": "silent", "documents": [{ "_id": 1 }], "$db": "odm_wire_replies" };
        wire.send(OP_MSG, &message(2, &[section(&silent)]));
        let count = doc! { "count": "silent", "$db": "odm_wire_replies" };
        assert_eq!(wire.command(&count).unwrap().get_i32("n").unwrap(), 1);

        let rows: Vec<_> = (0..5).map(|id| doc! { "_id": id }).collect();
        let many = doc! { "insert": "many", "documents": rows, "$db": "odm_wire_replies" };
        wire.command(&many).unwrap();
        let find = doc! { "find": "many", "batchSize": 2, "$db": "odm_wire_replies" };
        let first = wire.command(&find).unwrap();
        let id = first.get_document("cursor").unwrap().get_i64("id").unwrap();
        let more =
            doc! { "getMore": id, "collection": "many", "batchSize": 2, "$db": "odm_wire_replies" };
        wire.send(OP_MSG, &message(1 << 16, &[section(&more)]));
        let mut left = 0;
        loop {
            let reply = wire.reply().unwrap();
            let cursor = reply.get_document("cursor").unwrap();
            left += cursor.get_array("nextBatch").unwrap().len();
            if cursor.get_i64("id").unwrap() == 0 {
                break;
            }
        }
        assert_eq!(left, 3);
        wire.command(&doc! { "dropDatabase": 1, "$db": "odm_wire_replies" });
    });
}

#[test]
fn fail_points_apply_to_hello_and_is_master() {
    both(|address| {
        let mut wire = Wire::to(address);
        let fail = |mode: Bson, effect: Document| {
            let client = format!("odm_wire_{}", effect.keys().next().unwrap());
            let mut data = doc! { "failCommands": ["isMaster"], "appName": &client };
            data.extend(effect);
            let fail = doc! {
                "configureFailPoint": "failCommand", "mode": mode, "data": data, "$db": "admin",
            };
            let driver = doc! { "name": "wire", "version": "1" };
            let about = doc! {
                "application": { "name": client }, "driver": driver, "os": { "type": "any" },
            };
            (fail, about)
        };
        let (errors, about) = fail("alwaysOn".into(), doc! { "errorCode": 91 });
        wire.command(&errors).unwrap();
        let mut other = Wire::to(address);
        other
            .command(&doc! { "hello": 1, "client": about, "$db": "admin" })
            .unwrap();
        for name in ["isMaster", "ismaster"] {
            let mut hello = Document::new();
            hello.insert(name, 1);
            let reply = other.ask(OP_QUERY, &query("admin.$cmd", &hello)).unwrap();
            assert_eq!(reply.get_i32("code").unwrap(), 91, "{name}: {reply}");
            hello.insert("$db", "admin");
            let reply = other.command(&hello).unwrap();
            assert_eq!(reply.get_i32("code").unwrap(), 91, "{name}: {reply}");
        }
        let (closes, about) = fail("alwaysOn".into(), doc! { "closeConnection": true });
        wire.command(&closes).unwrap();
        let mut other = Wire::to(address);
        other
            .command(&doc! { "hello": 1, "client": about, "$db": "admin" })
            .unwrap();
        let reply = other.ask(OP_QUERY, &query("admin.$cmd", &doc! { "isMaster": 1 }));
        assert_eq!(reply, None);
        wire.command(&fail("off".into(), doc! { "errorCode": 0 }).0)
            .unwrap();
    });
}

#[test]
fn only_the_first_hello_names_the_client() {
    both(|address| {
        let about = doc! {
            "driver": { "name": "wire", "version": "1" }, "os": { "type": "any" },
        };
        let named = doc! { "hello": 1, "client": about, "$db": "admin" };
        let mut wire = Wire::to(address);
        wire.command(&doc! { "hello": 1, "$db": "admin" }).unwrap();
        let late = wire.command(&named).unwrap();
        assert_eq!(late.get_i32("code").unwrap(), 186, "{late}");
        let mut wire = Wire::to(address);
        wire.command(&doc! { "ping": 1, "$db": "admin" }).unwrap();
        assert!(wire.command(&named).unwrap().get_i32("code").is_err());
        let again = wire.command(&named).unwrap();
        assert_eq!(again.get_i32("code").unwrap(), 186, "{again}");
    });
}

/// What follows the first error of an ordered command is not tried.
#[test]
fn writes_are_counted_if_they_are_tried() {
    both(|address| {
        let database = "odm_wire_counted";
        let mut wire = Wire::to(address);
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
        let count = |wire: &mut Wire, name: &str| {
            let status = doc! { "serverStatus": 1, "$db": "admin" };
            let status = wire.command(&status).unwrap();
            let counters = status.get_document("opcounters").unwrap();
            counters.get_i64(name).unwrap()
        };
        let mut counted = |name: &str, mut command: Document| {
            let before = count(&mut wire, name);
            command.insert("$db", database);
            wire.command(&command).unwrap();
            count(&mut wire, name) - before
        };
        let insert = |ids: [i32; 3]| {
            let documents: Vec<_> = ids.into_iter().map(|id| doc! { "_id": id }).collect();
            doc! { "insert": "c", "documents": documents }
        };
        assert_eq!(counted("insert", insert([3, 3, 4])), 2);
        let mut unordered = insert([5, 5, 6]);
        unordered.insert("ordered", false);
        assert_eq!(counted("insert", unordered), 3);
        let updates = [
            doc! { "q": {}, "u": { "$bad": 1 } },
            doc! { "q": {}, "u": { "$set": { "x": 1 } } },
        ];
        let update = doc! { "update": "c", "updates": updates.to_vec() };
        assert_eq!(counted("update", update), 1);
        let deletes = [
            doc! { "q": { "_id": 3 }, "limit": 1 },
            doc! { "q": {}, "limit": 1 },
        ];
        let delete = doc! { "delete": "c", "deletes": deletes.to_vec() };
        assert_eq!(counted("delete", delete), 2);
        counted("command", doc! { "dropDatabase": 1 });
    });
}

/// A driver that waits for changes may send any number.
#[test]
fn awaitable_hello_needs_a_maximal_time() {
    both(|address| {
        let mut wire = Wire::to(address);
        let hello = wire.command(&doc! { "hello": 1, "$db": "admin" }).unwrap();
        let known = hello.get_document("topologyVersion").unwrap();
        let mut code = |fields: Document| {
            let mut hello = doc! { "hello": 1, "$db": "admin" };
            hello.extend(fields);
            let reply = wire.command(&hello).unwrap();
            reply.get_i32("code").unwrap_or_default()
        };
        let began = Instant::now();
        for millis in [Bson::Int32(20), Bson::Int64(20), Bson::Double(20.0)] {
            let fields = doc! { "topologyVersion": known, "maxAwaitTimeMS": millis };
            assert_eq!(code(fields), 0);
        }
        assert!(began.elapsed() >= Duration::from_millis(60));
        let fresh = doc! { "processId": bson::oid::ObjectId::new(), "counter": 0_i64 };
        for (fields, expected) in [
            (doc! { "topologyVersion": fresh, "maxAwaitTimeMS": 20 }, 0),
            (doc! { "topologyVersion": known }, 31368),
            (doc! { "maxAwaitTimeMS": 20 }, 31368),
            (
                doc! { "topologyVersion": known, "maxAwaitTimeMS": -1 },
                51024,
            ),
            (doc! { "topologyVersion": known, "maxAwaitTimeMS": "1" }, 14),
            (doc! { "topologyVersion": 1, "maxAwaitTimeMS": 20 }, 14),
        ] {
            assert_eq!(code(fields.clone()), expected, "{fields}");
        }
    });
}

#[tokio::test]
async fn users_authenticate_with_their_password() {
    let db = Db::memory();
    let server = Server::options()
        .user("ann", "pencil")
        .unwrap()
        .bind(&db, "127.0.0.1:0")
        .unwrap();
    let uri = |who: &str| {
        let address = server.address();
        format!(
            "mongodb://{who}{address}/test?replicaSet=odm&authSource=admin&serverSelectionTimeoutMS=2000"
        )
    };
    let list = doc! { "listCollections": 1 };
    let ann = Db::connect(&uri("ann:pencil@")).await.unwrap();
    ann.run_command(list.clone()).await.unwrap();
    let status = ann
        .run_command(doc! { "connectionStatus": 1 })
        .await
        .unwrap();
    let users = status
        .get_document("authInfo")
        .unwrap()
        .get_array("authenticatedUsers");
    assert_eq!(
        users.unwrap()[0],
        doc! { "user": "ann", "db": "admin" }.into()
    );

    let nobody = Db::connect(&uri("")).await.unwrap();
    let refused = nobody.run_command(list.clone()).await.unwrap_err();
    assert_eq!(refused.code().map(odm::Code::number), Some(13));
    for who in ["ann:pen@", "bob:pencil@"] {
        let stranger = Db::connect(&uri(who)).await.unwrap();
        let refused = stranger.run_command(list.clone()).await.unwrap_err();
        assert!(refused.to_string().contains("uthentication"), "{refused}");
    }
}

#[test]
fn remote_connections_need_a_user() {
    let refused = Server::bind(&Db::memory(), "0.0.0.0:0").unwrap_err();
    assert!(refused.is_config(), "{refused}");
    let refused = Server::options()
        .bind_all()
        .bind(&Db::memory(), "0.0.0.0:0");
    assert!(refused.unwrap_err().to_string().contains("bind_all"));
    let options = Server::options().bind_all().user("ann", "pencil").unwrap();
    assert!(!format!("{options:?}").contains("pencil"));
    let server = options.bind(&Db::memory(), "0.0.0.0:0").unwrap();
    assert!(!server.uri().contains("ann"));
    assert!(
        Server::options()
            .user("ann", "a\nb")
            .unwrap_err()
            .is_config()
    );
}

#[test]
fn stopping_the_server_closes_waiting_connections() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let mut wire = Wire::to(server.address());
    let hello = wire.command(&doc! { "hello": 1, "$db": "admin" }).unwrap();
    let topology = hello.get_document("topologyVersion").unwrap();
    let watch = doc! {
        "hello": 1, "topologyVersion": topology.clone(), "maxAwaitTimeMS": 60_000, "$db": "admin",
    };
    wire.send(OP_MSG, &message(1 << 16, &[section(&watch)]));
    std::thread::sleep(Duration::from_millis(50));
    let began = Instant::now();
    server.stop();
    assert!(began.elapsed() < Duration::from_secs(4));
    while wire.reply().is_some() {}
}
