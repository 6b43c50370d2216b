//! Fields that every command accepts: transactions, concerns, cluster times and the API's version.
//!
//! The conversations are held with the server of `ODM_TEST_URI`, too.
#![expect(
    clippy::unwrap_used,
    reason = "a check that panics is a test that fails"
)]

#[path = "wire/client.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
#[expect(clippy::indexing_slicing, reason = "frames are taken apart")]
mod client;

use mongodb::bson::{Bson, Document, Timestamp, Uuid, doc};

use client::{Wire, both};

struct Client {
    wire: Wire,
    database: String,
}

impl Client {
    /// A client whose database has the collections `c`, with documents from 0 to 4, and `d`.
    fn to(address: std::net::SocketAddr) -> Self {
        let database = format!("odm_{}", Uuid::new().to_string().replace('-', ""));
        let wire = Wire::to(address);
        let mut client = Self { wire, database };
        let documents: Vec<_> = (0..5).map(|id| doc! { "_id": id, "n": 0 }).collect();
        client.run(doc! { "insert": "c", "documents": documents });
        client.run(doc! { "create": "d" });
        client
    }

    fn send(&mut self, database: &str, mut command: Document) -> Document {
        command.insert("$db", database);
        self.wire.command(&command).unwrap()
    }

    fn run(&mut self, command: Document) -> Document {
        self.send(&self.database.clone(), command)
    }

    fn admin(&mut self, command: Document) -> Document {
        self.send("admin", command)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let command = doc! { "dropDatabase": 1, "$db": &self.database };
        self.wire.command(&command);
    }
}

/// The command as a statement of a session's transaction.
fn within(session: &Document, number: i64, start: bool, mut command: Document) -> Document {
    command.extend(doc! { "lsid": session, "txnNumber": number, "autocommit": false });
    if start {
        command.insert("startTransaction", true);
    }
    command
}

fn session() -> Document {
    doc! { "id": Uuid::new() }
}

fn code(reply: &Document) -> i32 {
    reply.get_i32("code").unwrap_or(0)
}

fn is_transient(reply: &Document) -> bool {
    reply
        .get_array("errorLabels")
        .is_ok_and(|labels| labels.contains(&Bson::from("TransientTransactionError")))
}

fn count_up(id: i32) -> Document {
    doc! { "update": "c", "updates": [{ "q": { "_id": id }, "u": { "$inc": { "n": 1 } } }] }
}

fn remove(id: i32) -> Document {
    doc! { "delete": "c", "deletes": [{ "q": { "_id": id }, "limit": 1 }] }
}

fn insert(id: i32) -> Document {
    doc! { "insert": "c", "documents": [{ "_id": id }] }
}

#[test]
fn conflicting_transactions_fail() {
    both(|address| {
        let mut client = Client::to(address);
        let (one, other) = (session(), session());
        let commit = || doc! { "commitTransaction": 1 };
        let first = client.run(within(&one, 1, true, count_up(0)));
        assert_eq!(code(&first), 0, "{first}");
        let lost = client.run(within(&other, 1, true, count_up(0)));
        assert_eq!((code(&lost), is_transient(&lost)), (112, true), "{lost}");
        let gone = client.run(within(&other, 1, false, count_up(1)));
        assert_eq!((code(&gone), is_transient(&gone)), (251, true), "{gone}");
        // A document that one transaction deletes still exists for the other, as a duplicate and as a write conflict.
        client.run(within(&one, 1, false, remove(1)));
        let twice = client.run(within(&other, 2, true, insert(1)));
        let error = twice.get_array("writeErrors").unwrap().first().unwrap();
        assert_eq!(code(error.as_document().unwrap()), 11000, "{twice}");
        let command = doc! { "findAndModify": "c", "query": { "_id": 1 }, "remove": true };
        let lost = client.run(within(&other, 3, true, command));
        assert_eq!((code(&lost), is_transient(&lost)), (112, true), "{lost}");
        assert!(lost.get_str("errmsg").unwrap().contains("findAndModify"));
        for _ in 0..2 {
            assert_eq!(code(&client.admin(within(&one, 1, false, commit()))), 0);
        }
        // A newer transaction of the session ends the older one.
        client.run(within(&one, 2, true, insert(20)));
        client.run(within(&one, 3, true, insert(20)));
        let old = client.admin(within(&one, 2, false, commit()));
        assert_eq!((code(&old), is_transient(&old)), (225, false), "{old}");
        assert_eq!(code(&client.admin(within(&one, 3, false, commit()))), 0);
        let found = client.run(
            doc! { "find": "c", "filter": { "_id": { "$in": [0, 1, 20] } }, "sort": { "_id": 1 } },
        );
        let found = found
            .get_document("cursor")
            .unwrap()
            .get_array("firstBatch");
        let wanted = [doc! { "_id": 0, "n": 1 }, doc! { "_id": 20 }].map(Bson::from);
        assert_eq!(found.unwrap(), &wanted);
    });
}

#[test]
fn server_commands_are_refused_in_transactions() {
    both(|address| {
        let mut client = Client::to(address);
        for (name, admin) in [
            ("hello", false),
            ("connectionStatus", false),
            ("serverStatus", false),
            ("getParameter", true),
            ("getCmdLineOpts", true),
            ("replSetGetStatus", true),
            ("top", true),
            ("currentOp", true),
        ] {
            let mut ask = |command: Document| {
                if admin {
                    client.admin(command)
                } else {
                    client.run(command)
                }
            };
            let command = || doc! { name: 1 };
            let refused = ask(within(&session(), 1, true, command()));
            assert_eq!(code(&refused), 263, "{name}: {refused}");
            let mut numbered = command();
            numbered.extend(doc! { "lsid": session(), "txnNumber": 1_i64 });
            let refused = ask(numbered);
            assert!(matches!(code(&refused), 50768 | 50889), "{name}: {refused}");
            for (field, value, wanted) in [
                ("readConcern", Bson::from(doc! { "level": "majority" }), 72),
                ("writeConcern", Bson::from(doc! { "w": 1 }), 72),
                ("apiVersion", Bson::from("2"), 322),
                ("apiStrict", Bson::from(true), 4_886_600),
                ("maxTimeMS", Bson::from(-1), 2),
            ] {
                let mut command = command();
                command.insert(field, value);
                let refused = ask(command);
                assert_eq!(code(&refused), wanted, "{name} {field}: {refused}");
            }
            let mut strict = command();
            strict.extend(doc! { "apiVersion": "1", "apiStrict": true });
            let reply = ask(strict);
            let wanted = if name == "hello" { 0 } else { 323 };
            assert_eq!(code(&reply), wanted, "{name}: {reply}");
        }
        let stages = [doc! { "$currentOp": {} }].map(Bson::from).to_vec();
        let command = doc! { "aggregate": 1, "pipeline": stages, "cursor": {} };
        let refused = client.admin(within(&session(), 1, true, command.clone()));
        assert_eq!(code(&refused), 263, "{refused}");
        let mut strict = command;
        strict.extend(doc! { "apiVersion": "1", "apiStrict": true });
        assert_eq!(code(&client.admin(strict)), 323);
    });
}

#[test]
fn stages_after_current_op_read_and_write_collections() {
    both(|address| {
        let mut client = Client::to(address);
        let database = client.database.clone();
        let run = |client: &mut Client, first: Document, rest: &[Document]| {
            let admin = first.contains_key("$currentOp");
            // mongod moves the sessions from memory into a collection every five minutes.
            client.run(doc! { "find": "c", "lsid": session() });
            let mut stages = vec![first, doc! { "$limit": 1 }];
            stages.extend_from_slice(rest);
            let command =
                doc! { "aggregate": 1, "pipeline": stages, "cursor": {}, "let": { "v": 7 } };
            if admin {
                client.admin(command)
            } else {
                client.run(command)
            }
        };
        let sessions = || doc! { "$listLocalSessions": {} };
        let operations = || doc! { "$currentOp": {} };
        let n = doc! { "$project": { "_id": 0, "n": "$$v" } };
        let into = |name: &str| doc! { "db": &database, "coll": name };
        for (first, last, name) in [
            (
                operations(),
                doc! { "$merge": { "into": into("a1") } },
                "a1",
            ),
            (operations(), doc! { "$out": into("a2") }, "a2"),
            (sessions(), doc! { "$merge": "a3" }, "a3"),
            (sessions(), doc! { "$out": "a4" }, "a4"),
        ] {
            let reply = run(&mut client, first, &[n.clone(), last]);
            assert_eq!(code(&reply), 0, "{name}: {reply}");
            let found = client.run(doc! { "find": name });
            let batch = found.get_document("cursor").unwrap();
            let batch = batch.get_array("firstBatch").unwrap();
            let stored = batch.first().and_then(Bson::as_document);
            assert_eq!(
                stored.map(|it| it.get_i32("n").unwrap()),
                Some(7),
                "{name}: {found}"
            );
        }
        for rest in [
            doc! { "$lookup": { "from": "c", "as": "x", "pipeline": [] } },
            doc! { "$unionWith": "c" },
        ] {
            let reply = run(&mut client, sessions(), &[n.clone(), rest.clone()]);
            let shown = reply.to_string();
            assert!(shown.contains("\"_id\": 4"), "{rest}: {reply}");
        }
        for (first, last, wanted) in [
            (operations(), doc! { "$out": "x" }, 31321),
            (operations(), doc! { "$merge": "x" }, 31320),
            (
                sessions(),
                doc! { "$merge": { "into": "c", "on": "n" } },
                51183,
            ),
            (sessions(), doc! { "$collStats": {} }, 40602),
        ] {
            let refused = run(&mut client, first, std::slice::from_ref(&last));
            assert_eq!(code(&refused), wanted, "{last}: {refused}");
        }
        // Batch sizes and required fields.
        let command =
            doc! { "aggregate": 1, "pipeline": [operations()], "cursor": { "batchSize": 0 } };
        let reply = client.admin(command);
        let cursor = reply.get_document("cursor").unwrap();
        assert!(
            cursor.get_array("firstBatch").unwrap().is_empty(),
            "{reply}"
        );
        let more =
            doc! { "getMore": cursor.get_i64("id").unwrap(), "collection": "$cmd.aggregate" };
        let reply = client.admin(more);
        assert_eq!(code(&reply), 0, "{reply}");
        let refused = client.admin(doc! { "aggregate": 1, "pipeline": [operations()] });
        assert_eq!(code(&refused), 9, "{refused}");
    });
}

#[test]
fn future_cluster_times_are_refused() {
    both(|address| {
        let mut client = Client::to(address);
        let after = doc! { "afterClusterTime": Timestamp { time: 4_000_000_000, increment: 1 } };
        for command in [
            doc! { "hello": 1 },
            doc! { "find": "c" },
            doc! { "aggregate": "c", "pipeline": [], "cursor": {} },
        ] {
            let mut command = command;
            command.insert("readConcern", after.clone());
            let refused = client.run(command);
            assert_eq!(code(&refused), 72, "{refused}");
            let message = refused.get_str("errmsg").unwrap();
            assert!(message.contains("must not be greater"), "{message}");
        }
    });
}

/// Two clients that exchange operation times read each other's writes.
#[test]
fn after_cluster_time_reads_earlier_writes() {
    both(|address| {
        let (mut one, mut other) = (Client::to(address), Client::to(address));
        other.database = one.database.clone();
        for round in 0..20 {
            let written = one.run(insert(100 + round));
            let time = written.get_timestamp("operationTime").unwrap();
            for level in ["local", "majority", "snapshot"] {
                let found = other.run(doc! {
                    "find": "c", "filter": { "_id": 100 + round },
                    "readConcern": { "level": level, "afterClusterTime": time },
                    "$clusterTime": written.get_document("$clusterTime").unwrap(),
                });
                let cursor = found.get_document("cursor").unwrap();
                assert_eq!(cursor.get_array("firstBatch").unwrap().len(), 1, "{found}");
                assert!(found.get_timestamp("operationTime").unwrap() >= time);
            }
            std::mem::swap(&mut one, &mut other);
        }
    });
}

/// Commands that wait for a transaction.
fn waiting_commands() -> [Document; 6] {
    [
        doc! { "insert": "c", "documents": [{ "_id": 50 }] },
        count_up(0),
        remove(0),
        doc! { "findAndModify": "c", "query": { "_id": 0 }, "remove": true },
        doc! { "createIndexes": "c", "indexes": [{ "key": { "n": 1 }, "name": "n" }] },
        doc! { "drop": "c" },
    ]
}

/// Drivers and shells send doubles, and decimals are accepted.
#[test]
fn max_time_ms_accepts_any_number() {
    both(|address| {
        let mut client = Client::to(address);
        let one = session();
        client.run(within(&one, 1, true, insert(50)));
        client.run(within(&one, 1, false, count_up(0)));
        let limits = [
            Bson::Int32(30),
            Bson::Int64(30),
            Bson::Double(30.0),
            Bson::Decimal128("30".parse().unwrap()),
        ];
        for limit in limits {
            for mut command in waiting_commands() {
                command.insert("maxTimeMS", limit.clone());
                let late = client.run(command.clone());
                assert_eq!(code(&late), 50, "{command}: {late}");
            }
        }
        client.admin(within(&one, 1, false, doc! { "abortTransaction": 1 }));
    });
}

#[test]
fn sessions_are_listed() {
    both(|address| {
        let mut client = Client::to(address);
        let used = session();
        let id = used.get("id").unwrap().clone();
        let mut list = |options: Document, id: &Bson| {
            // mongod moves the sessions from memory into a collection every five minutes.
            client.run(doc! { "find": "c", "limit": 1, "lsid": &used });
            let stages = [
                doc! { "$listLocalSessions": options },
                doc! { "$match": { "_id.id": id } },
            ];
            let stages = stages.map(Bson::from).to_vec();
            let reply = client.admin(doc! { "aggregate": 1, "pipeline": stages, "cursor": {} });
            let cursor = reply.get_document("cursor").unwrap();
            cursor.get_array("firstBatch").unwrap().clone()
        };
        for options in [doc! {}, doc! { "allUsers": true }, doc! { "users": [] }] {
            let listed = list(options, &id);
            let listed = listed.first().and_then(Bson::as_document).unwrap();
            assert!(listed.get_datetime("lastUse").is_ok(), "{listed}");
            assert_eq!(listed.get_document("_id").unwrap().get("id"), Some(&id));
            assert_eq!(listed.len(), 2, "{listed}");
        }
        let somebody = doc! { "users": [{ "user": "ann", "db": "admin" }] };
        assert!(list(somebody, &id).is_empty());
        let another = session();
        assert!(list(doc! {}, another.get("id").unwrap()).is_empty());
        let whole = || Bson::from(1);
        for (target, stage, wanted) in [
            (whole(), doc! { "$listLocalSessions": 5 }, 14),
            (whole(), doc! { "$listLocalSessions": { "x": 1 } }, 40415),
            (
                whole(),
                doc! { "$listLocalSessions": { "allUsers": 1 } },
                14,
            ),
            ("c".into(), doc! { "$listLocalSessions": {} }, 73),
            (whole(), doc! { "$listSessions": {} }, 73),
            ("c".into(), doc! { "$listSessions": {} }, 73),
        ] {
            let command = doc! { "aggregate": target, "pipeline": [stage], "cursor": {} };
            let refused = client.admin(command.clone());
            assert_eq!(code(&refused), wanted, "{command}: {refused}");
        }
        let stages = [doc! { "$listSessions": {} }].map(Bson::from).to_vec();
        let command = doc! { "aggregate": "system.sessions", "pipeline": stages, "cursor": {} };
        assert_eq!(code(&client.send("config", command)), 0);
    });
}
