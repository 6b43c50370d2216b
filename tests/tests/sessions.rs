//! Transactions and cursors of killed sessions, and cursors that several connections use, in
//! commands that no driver sends.
//!
//! The conversations also run on the server of `ODM_TEST_URI`, except those that end other clients' sessions.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that panics is a test that fails"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mongodb::bson::{Binary, Bson, Document, Timestamp, Uuid, doc, spec::BinarySubtype};
use odm::Db;
use odm::server::Server;

struct Connection {
    stream: TcpStream,
    database: String,
}

impl Connection {
    /// A second connection to the same database.
    fn beside(&self) -> Self {
        Self {
            stream: TcpStream::connect(self.stream.peer_addr().unwrap()).unwrap(),
            database: self.database.clone(),
        }
    }

    fn to(address: SocketAddr) -> Self {
        let mut connection = Self {
            stream: TcpStream::connect(address).unwrap(),
            database: format!("odm_{}", Uuid::new().to_string().replace('-', "")),
        };
        let documents: Vec<_> = (0..9).map(|id| doc! { "_id": id, "n": 0 }).collect();
        connection.run(doc! { "insert": "c", "documents": documents });
        connection
    }

    fn send(&mut self, database: &str, mut command: Document) -> Document {
        command.insert("$db", database);
        let command = command.to_vec().unwrap();
        let mut frame = i32::try_from(command.len() + 21)
            .unwrap()
            .to_le_bytes()
            .to_vec();
        for field in [1_i32, 0, 2013, 0] {
            frame.extend(field.to_le_bytes());
        }
        frame.push(0);
        frame.extend(command);
        self.stream.write_all(&frame).unwrap();
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).unwrap();
        let mut rest = vec![0; usize::try_from(i32::from_le_bytes(length)).unwrap() - 4];
        self.stream.read_exact(&mut rest).unwrap();
        Document::from_reader(&rest[17..]).unwrap()
    }

    fn run(&mut self, command: Document) -> Document {
        self.send(&self.database.clone(), command)
    }

    fn admin(&mut self, command: Document) -> Document {
        self.send("admin", command)
    }

    /// A session with an open transaction that has incremented a counter, and the id of a cursor outside of it.
    fn session(&mut self, id: i32) -> (Document, i64, i32) {
        let session = doc! { "id": Uuid::new() };
        let cursor = self.run(doc! { "find": "c", "batchSize": 2, "lsid": &session });
        let cursor = cursor
            .get_document("cursor")
            .unwrap()
            .get_i64("id")
            .unwrap();
        let counted = self.run(count_up(&session, id, true));
        assert_eq!(counted.get("n"), Some(&Bson::Int32(1)), "{counted}");
        (session, cursor, id)
    }

    /// Whether the transaction and the cursor still exist: both or neither do.
    fn is_alive(&mut self, (session, cursor, id): (Document, i64, i32)) -> bool {
        let again = self.run(count_up(&session, id, false));
        let commit = doc! {
            "commitTransaction": 1, "lsid": &session, "txnNumber": 1_i64, "autocommit": false,
        };
        let commit = self.admin(commit);
        let more = self.run(doc! { "getMore": cursor, "collection": "c", "lsid": &session });
        let codes = [&again, &commit, &more].map(|reply| reply.get_i32("code").unwrap_or(0));
        let counted = self.run(doc! { "find": "c", "filter": { "_id": id } });
        let counted = counted
            .get_document("cursor")
            .unwrap()
            .get_array("firstBatch")
            .unwrap();
        let n = counted[0].as_document().unwrap().get_i32("n").unwrap();
        self.run(doc! {
            "update": "c", "updates": [{ "q": { "_id": id }, "u": { "$set": { "n": 0 } } }],
        });
        match codes {
            [0, 0, 0] => {
                assert_eq!(n, 2);
                true
            }
            [251, 251, 43] => {
                let labels = again.get_array("errorLabels").unwrap();
                assert_eq!(labels, &[Bson::from("TransientTransactionError")]);
                assert_eq!(n, 0);
                false
            }
            other => panic!("{other:?}"),
        }
    }
}

fn count_up(session: &Document, id: i32, start: bool) -> Document {
    let mut command = doc! {
        "update": "c", "updates": [{ "q": { "_id": id }, "u": { "$inc": { "n": 1 } } }],
        "lsid": session, "txnNumber": 1_i64, "autocommit": false,
    };
    if start {
        command.insert("startTransaction", true);
    }
    command
}

fn digest(bytes: Vec<u8>) -> Binary {
    Binary {
        subtype: BinarySubtype::Generic,
        bytes,
    }
}

/// The digest of the user of an unauthenticated client.
fn nobody() -> Binary {
    let digits = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let pairs = digits.as_bytes().chunks(2);
    digest(
        pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect(),
    )
}

fn engine() -> Server {
    Server::bind(&Db::memory(), "127.0.0.1:0").unwrap()
}

fn both(check: impl Fn(&mut Connection)) {
    check(&mut Connection::to(engine().address()));
    if let Ok(uri) = std::env::var("ODM_TEST_URI") {
        let host = uri.split("://").nth(1).unwrap().split('/').next().unwrap();
        let mut connection = Connection::to(host.parse().unwrap());
        check(&mut connection);
        connection.run(doc! { "dropDatabase": 1 });
    }
}

#[test]
fn killing_a_session_ends_its_transaction_and_cursors() {
    both(|connection| {
        let (one, other) = (connection.session(0), connection.session(1));
        let reply = connection.admin(doc! { "killSessions": [&one.0] });
        assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
        assert!(!connection.is_alive(one));
        assert!(connection.is_alive(other));

        let mut one = connection.session(0);
        let of = |session: &Document, user| doc! { "id": session.get("id"), "uid": user };
        let stranger = of(&one.0, digest(vec![7; 32]));
        for command in [
            doc! { "refreshSessions": [&one.0] },
            doc! { "killSessions": [&stranger] },
            doc! { "killAllSessionsByPattern": [{ "lsid": &stranger }] },
            doc! { "killAllSessionsByPattern": [{ "uid": digest(vec![7; 32]) }] },
        ] {
            assert_eq!(
                connection.admin(command).get("ok"),
                Some(&Bson::Double(1.0))
            );
            assert!(connection.is_alive(one));
            one = connection.session(0);
        }
        let user = of(&one.0, nobody());
        connection.admin(doc! { "killAllSessionsByPattern": [{ "lsid": &user }] });
        assert!(!connection.is_alive(one));
        let one = connection.session(0);
        let user = of(&one.0, nobody());
        connection.admin(doc! { "killSessions": [&user] });
        assert!(!connection.is_alive(one));
    });
}

#[test]
fn a_session_can_kill_itself_in_its_transaction() {
    both(|connection| {
        let one = connection.session(0);
        let reply = connection.admin(doc! {
            "killSessions": [&one.0],
            "lsid": &one.0, "txnNumber": 1_i64, "autocommit": false,
        });
        assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
        assert!(!connection.is_alive(one));
    });
}

#[test]
fn retried_writes_are_recognized_after_a_kill() {
    both(|connection| {
        let session = doc! { "id": Uuid::new() };
        let write = doc! {
            "update": "c", "updates": [{ "q": { "_id": 1 }, "u": { "$inc": { "n": 1 } } }],
            "lsid": &session, "txnNumber": 1_i64,
        };
        connection.run(write.clone());
        connection.admin(doc! { "killSessions": [&session] });
        connection.run(write);
        let found = connection.run(doc! { "count": "c", "query": { "_id": 1, "n": 1 } });
        assert_eq!(found.get("n"), Some(&Bson::Int32(1)));
    });
}

/// Only the engine is asked: on a server these would end the sessions of other tests.
#[test]
fn kill_sessions_without_names_kills_all() {
    let server = engine();
    let connection = &mut Connection::to(server.address());
    for command in [
        doc! { "killSessions": [] },
        doc! { "killAllSessions": [] },
        doc! { "killAllSessionsByPattern": [] },
        doc! { "killAllSessionsByPattern": [{}] },
        doc! { "killAllSessionsByPattern": [{ "uid": nobody() }] },
        doc! { "killAllSessionsByPattern": [{ "users": [{ "user": "a", "db": "b" }] }] },
    ] {
        let one = connection.session(0);
        let reply = connection.admin(command.clone());
        assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
        assert!(!connection.is_alive(one), "{command}");
    }
}

fn code(reply: &Document) -> i32 {
    reply.get_i32("code").unwrap_or(0)
}

#[test]
fn cursors_belong_to_their_session_and_transaction() {
    both(|connection| {
        let session = || doc! { "id": Uuid::new() };
        let (own, other) = (session(), session());
        let open = |connection: &mut Connection, mut command: Document, more: &Document| {
            command.extend(more.clone());
            let reply = connection.run(command);
            let cursor = reply.get_document("cursor").unwrap();
            let (_, name) = cursor.get_str("ns").unwrap().split_once('.').unwrap();
            (cursor.get_i64("id").unwrap(), name.to_owned())
        };
        let more = |connection: &mut Connection, (id, name): &(i64, String), more: &Document| {
            let mut command = doc! { "getMore": *id, "collection": name, "batchSize": 1 };
            command.extend(more.clone());
            let reply = connection.run(command);
            let message = reply.get_str("errmsg").unwrap_or_default().to_owned();
            (code(&reply), message.replace(&id.to_string(), "ID"))
        };
        let shown = |session: &Document| {
            let id = session.get("id").unwrap();
            let Bson::Binary(id) = id else { panic!("{id}") };
            let id = id.to_uuid().unwrap();
            format!("{id} - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - ")
        };
        let of = |session: &Document| doc! { "lsid": session };
        for command in [
            doc! { "find": "c", "batchSize": 2 },
            doc! { "aggregate": "c", "pipeline": [], "cursor": { "batchSize": 2 } },
            doc! { "listIndexes": "c", "cursor": { "batchSize": 0 } },
            doc! { "listCollections": 1, "cursor": { "batchSize": 0 } },
        ] {
            let cursor = open(connection, command.clone(), &of(&own));
            assert_eq!(
                more(connection, &cursor, &of(&other)),
                (
                    50738,
                    format!(
                        "Cannot run getMore on cursor ID, which was created in session {}, in session {}",
                        shown(&own),
                        shown(&other)
                    )
                )
            );
            assert_eq!(
                more(connection, &cursor, &doc! {}),
                (
                    50737,
                    format!(
                        "Cannot run getMore on cursor ID, which was created in session {}, without an lsid",
                        shown(&own)
                    )
                )
            );
            assert_eq!(more(connection, &cursor, &of(&own)).0, 0, "{command}");
        }
        let cursor = open(connection, doc! { "find": "c", "batchSize": 2 }, &doc! {});
        let (refused, message) = more(connection, &cursor, &of(&own));
        assert_eq!(refused, 50736);
        assert!(message.ends_with(&format!(
            "not created in a session, in session {}",
            shown(&own)
        )));
        assert_eq!(more(connection, &cursor, &doc! {}).0, 0);

        // Transactions.
        let within = |session: &Document, number: i64| doc! { "lsid": session, "txnNumber": number, "autocommit": false };
        let find = doc! { "find": "c", "batchSize": 2 };
        let plain = open(connection, find.clone(), &of(&own));
        let start = doc! { "find": "c", "batchSize": 2, "startTransaction": true };
        let cursor = open(connection, start.clone(), &within(&own, 1));
        let outside = more(connection, &cursor, &of(&own));
        let message = "Cannot run getMore on cursor ID, which was created in transaction 1, without a txnNumber";
        assert_eq!(outside, (50740, message.to_owned()));
        assert_eq!(more(connection, &cursor, &of(&other)).0, 50738);
        assert_eq!(more(connection, &cursor, &within(&own, 1)).0, 0);
        let within_it = more(connection, &plain, &within(&own, 1));
        let message = "Cannot run getMore on cursor ID, which was not created in a transaction, in transaction 1";
        assert_eq!(within_it, (50739, message.to_owned()));
        // Like any failure, this aborted the transaction.
        assert_eq!(more(connection, &cursor, &within(&own, 1)).0, 251);
    });
}

/// The command that closes the cursor of this id.
type Close<'c> = &'c dyn Fn(&mut Connection, i64) -> Document;

/// A waiting `getMore` owns its cursor until the reply, and fails when the cursor is killed.
#[test]
fn a_waiting_cursor_is_exclusive_and_can_be_killed() {
    both(|connection| {
        connection.run(doc! { "create": "tail", "capped": true, "size": 4096 });
        connection.run(doc! { "insert": "tail", "documents": [{ "_id": 1 }] });
        let tail = || doc! { "find": "tail", "tailable": true, "awaitData": true };
        let stream =
            || doc! { "aggregate": "c", "pipeline": [{ "$changeStream": {} }], "cursor": {} };
        let session = doc! { "id": Uuid::new() };
        let kill_cursor =
            |_: &mut Connection, id: i64| doc! { "killCursors": "any", "cursors": [id] };
        let kill_session = |_: &mut Connection, _: i64| doc! { "killSessions": [&session] };
        let kill_operation = |other: &mut Connection, id: i64| {
            let running = other.admin(doc! { "currentOp": 1, "command.getMore": id });
            let running = running.get_array("inprog").unwrap();
            let running = running[0].as_document().unwrap();
            doc! { "killOp": 1, "op": running.get("opid") }
        };
        let ways: [(Close<'_>, i32); 3] = [
            (&kill_cursor, 237),
            (&kill_session, 11601),
            (&kill_operation, 11601),
        ];
        for (open, name) in [(&tail as &dyn Fn() -> Document, "tail"), (&stream, "c")] {
            for (close, code) in ways {
                let mut open = open();
                open.insert("lsid", &session);
                let opened = connection.run(open);
                let id = opened
                    .get_document("cursor")
                    .unwrap()
                    .get_i64("id")
                    .unwrap();
                let more = doc! {
                    "getMore": id, "collection": name, "maxTimeMS": 5_000, "lsid": &session,
                };
                let (mut waiting, first) = (connection.beside(), more.clone());
                let first = std::thread::spawn(move || waiting.run(first));
                let running = doc! { "currentOp": 1, "command.getMore": id };
                while connection
                    .admin(running.clone())
                    .get_array("inprog")
                    .unwrap()
                    .is_empty()
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                std::thread::sleep(Duration::from_millis(300));
                for (field, value) in [
                    ("collection", Bson::from("other")),
                    ("lsid", doc! { "id": Uuid::new() }.into()),
                    ("maxTimeMS", Bson::from(1)),
                ] {
                    let mut more = more.clone();
                    more.insert(field, value);
                    let refused = connection.run(more);
                    let message = format!("cursor id {id} is already in use");
                    assert_eq!(refused.get_str("errmsg").ok(), Some(&*message));
                    assert_eq!(self::code(&refused), 143);
                }
                let close = close(connection, id);
                let closed = if close.contains_key("killCursors") {
                    connection.run(close)
                } else {
                    connection.admin(close)
                };
                assert_eq!(closed.get("ok"), Some(&Bson::Double(1.0)), "{closed}");
                if let Ok(killed) = closed.get_array("cursorsKilled") {
                    assert_eq!(killed, &[Bson::from(id)]);
                }
                let told = first.join().unwrap();
                let message =
                    "Executor error during getMore :: caused by :: operation was interrupted";
                assert_eq!(told.get_str("errmsg").ok(), Some(message), "{told}");
                assert_eq!(self::code(&told), code);
                assert_eq!(self::code(&connection.run(more)), 43);
            }
        }
    });
}

#[test]
fn an_ended_session_ends_no_transaction() {
    both(|connection| {
        let one = connection.session(0);
        let reply = connection.admin(doc! { "endSessions": [&one.0] });
        assert_eq!(code(&reply), 0, "{reply}");
        assert!(connection.is_alive(one));
    });
}

#[test]
fn malformed_sessions_are_refused() {
    both(|connection| {
        let uuid = || Binary::from_uuid(Uuid::new());
        let id = |subtype, bytes| doc! { "id": Binary { subtype, bytes } };
        for (session, refused) in [
            (doc! {}, 40414),
            (doc! { "id": 1 }, 14),
            (doc! { "id": uuid(), "x": 1 }, 40415),
            (id(BinarySubtype::Uuid, vec![1, 2, 3]), 207),
            (id(BinarySubtype::Generic, vec![1; 16]), 14),
            (doc! { "id": uuid(), "uid": digest(vec![1]) }, 12),
            (doc! { "id": uuid(), "uid": digest(vec![1; 32]) }, 0),
            (doc! { "id": uuid() }, 0),
        ] {
            let reply = connection.run(doc! { "ping": 1, "lsid": &session });
            assert_eq!(code(&reply), refused, "{session}: {reply}");
        }
        // These commands ignore unknown fields, others do not.
        let named = || doc! { "id": uuid() };
        for (command, refused) in [
            (doc! { "startSession": 1, "x": 1 }, 0),
            (doc! { "killSessions": [named()], "x": 1 }, 0),
            (doc! { "endSessions": [], "x": 1 }, 40415),
            (doc! { "refreshSessions": [], "x": 1 }, 40415),
        ] {
            let reply = connection.admin(command.clone());
            assert_eq!(code(&reply), refused, "{command}: {reply}");
        }
    });
}

#[test]
fn malformed_cluster_times_are_refused() {
    both(|connection| {
        let written = connection.run(doc! { "insert": "c", "documents": [{}] });
        let now = written.get_timestamp("operationTime").unwrap();
        let signature = |hash: usize| doc! { "hash": digest(vec![0; hash]), "keyId": 0_i64 };
        let of = |time: Bson, signature: Bson| {
            Bson::from(doc! { "clusterTime": time, "signature": signature })
        };
        let far = Timestamp {
            time: now.time + 400 * 24 * 3600,
            increment: 1,
        };
        for (told, refused) in [
            (Bson::from(1), 10065),
            (doc! {}.into(), 4),
            (doc! { "clusterTime": 1 }.into(), 14),
            (doc! { "clusterTime": now }.into(), 4),
            (of(now.into(), 1.into()), 14),
            (of(now.into(), doc! {}.into()), 4),
            (of(now.into(), signature(0).into()), 12),
            (of(far.into(), signature(20).into()), 205),
            (of(now.into(), signature(20).into()), 0),
        ] {
            let reply = connection.run(doc! { "ping": 1, "$clusterTime": told.clone() });
            assert_eq!(code(&reply), refused, "{told}: {reply}");
            // Every reply has the cluster time.
            let time = reply.get_timestamp("operationTime").unwrap();
            let cluster = reply.get_document("$clusterTime").unwrap();
            assert!(cluster.get_timestamp("clusterTime").unwrap() >= time);
        }
        for (command, refused) in [
            (doc! { "find": "c" }, 0),
            (doc! { "getMore": 1_i64, "collection": "c" }, 72),
            (doc! { "ping": 1 }, 72),
        ] {
            let mut command = command;
            command.insert("readConcern", doc! { "afterClusterTime": now });
            assert_eq!(code(&connection.run(command.clone())), refused, "{command}");
        }
    });
}

/// Only the engine is asked: a server's clock would be set for all others.
#[test]
fn cluster_times_of_other_members_are_adopted() {
    let server = engine();
    let connection = &mut Connection::to(server.address());
    let written = connection.run(doc! { "insert": "c", "documents": [{}] });
    let now = written.get_timestamp("operationTime").unwrap();
    let later = Timestamp {
        time: now.time + 100,
        increment: 7,
    };
    let find = doc! { "find": "c", "readConcern": { "afterClusterTime": later } };
    assert_eq!(code(&connection.run(find.clone())), 72);
    let mut told = find;
    told.insert(
        "$clusterTime",
        doc! {
            "clusterTime": later,
            "signature": { "hash": digest(vec![0; 20]), "keyId": 0_i64 },
        },
    );
    let found = connection.run(told);
    assert_eq!(code(&found), 0, "{found}");
    let written = connection.run(doc! { "insert": "c", "documents": [{}] });
    assert!(written.get_timestamp("operationTime").unwrap() > later);
}
