//! What becomes of transactions and cursors whose sessions are killed, in commands as no driver lets one send them.
//!
//! The conversations are held with the server of `ODM_TEST_URI`, too, but for those that end other people's sessions.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that panics is a test that fails"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use mongodb::bson::{Binary, Bson, Document, Uuid, doc, spec::BinarySubtype};
use odm::Db;
use odm::server::Server;

struct Connection {
    stream: TcpStream,
    database: String,
}

impl Connection {
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

    /// A session with an open transaction that has counted up, and the id of a cursor outside of it.
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

    /// Whether the transaction and the cursor are there still: both or none are.
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

/// The digest of the user that a client is who has not said who he is.
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
fn a_killed_session_has_no_transaction_and_no_cursors() {
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
fn what_was_done_once_is_done_no_second_time_after_a_kill() {
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
fn whoever_names_no_session_kills_all() {
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
