//! Fail points: commands that fail on demand.
//!
//! The conversations also run on the MongoDB 6.0.5 with test commands that `ODM_TEST_URI` names.
#![expect(
    clippy::unwrap_used,
    reason = "a check that panics is a test that fails"
)]

#[path = "wire/client.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
#[expect(clippy::indexing_slicing, reason = "frames are taken apart")]
mod client;

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mongodb::bson::{self, Bson, Document, doc};
use odm::Db;
use odm::error::TreeRefusal;
use odm::prelude::{Allow, models};
use odm::server::Server;
use odm::tree::Branch;
use odm::tree::prelude::Ancestors;
use serde::{Deserialize, Serialize};

use client::Wire;

/// Runs the conversations one after the other: a mongod has one fail point of each name, which any client may meet.
fn both(check: impl Fn(SocketAddr)) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    client::both(check);
}

#[test]
fn commands_fail_on_demand() {
    let set = |mode: Bson, data: Document| {
        doc! { "configureFailPoint": "failCommand", "mode": mode, "data": data, "$db": "admin" }
    };
    let off = set("off".into(), doc! {});
    let once = || Bson::from(doc! { "times": 1 });
    let named = |data: Document| {
        let mut named = doc! { "failCommands": ["count"], "appName": "odm_wire" };
        named.extend(data);
        named
    };
    let failing = |mode: Bson| set(mode, named(doc! { "errorCode": 11601 }));
    both(|address| {
        let mut wire = Wire::to(address);
        let client = doc! {
            "application": { "name": "odm_wire" },
            "driver": { "name": "wire", "version": "1" },
            "os": { "type": "any" },
        };
        wire.command(&doc! { "hello": 1, "client": client, "$db": "admin" })
            .unwrap();
        let count = doc! { "count": "faults", "$db": "odm_wire_faults" };
        let code = |wire: &mut Wire| {
            let reply = wire.command(&count).unwrap();
            reply.get_i32("code").unwrap_or_default()
        };
        let configured = |wire: &mut Wire, command: &Document| {
            let reply = wire.command(command).unwrap();
            assert!(reply.get_i32("code").is_err(), "{command}: {reply}");
        };
        for (command, expected) in [
            (failing(doc! { "times": 2 }.into()), [11601, 11601, 0]),
            (failing(doc! { "skip": 1 }.into()), [0, 11601, 11601]),
            (
                failing(doc! { "activationProbability": 1.0 }.into()),
                [11601; 3],
            ),
            (failing("alwaysOn".into()), [11601; 3]),
            (failing("off".into()), [0; 3]),
            (
                set("alwaysOn".into(), named(doc! { "errorCode": 0 })),
                [0; 3],
            ),
            (
                set("alwaysOn".into(), named(doc! { "errorCode": "1" })),
                [0; 3],
            ),
            (
                set(
                    "alwaysOn".into(),
                    named(doc! { "errorCode": 5, "namespace": "odm_wire_faults.other" }),
                ),
                [0; 3],
            ),
            (
                set(
                    "alwaysOn".into(),
                    named(doc! { "errorCode": 5, "namespace": "odm_wire_faults.faults" }),
                ),
                [5; 3],
            ),
            (
                set(
                    "alwaysOn".into(),
                    doc! { "failCommands": ["count"], "errorCode": 5, "appName": "x" },
                ),
                [0; 3],
            ),
            (
                set("alwaysOn".into(), named(doc! { "blockConnection": true })),
                [72; 3],
            ),
        ] {
            configured(&mut wire, &command);
            assert_eq!([(); 3].map(|()| code(&mut wire)), expected, "{command}");
        }
        configured(&mut wire, &off);

        for (mode, code) in [
            ("sometimes".into(), 2),
            (doc! { "times": -1 }.into(), 2),
            (doc! { "nope": 1 }.into(), 2),
            (Bson::Int32(1), 14),
        ] {
            let reply = wire.command(&failing(mode)).unwrap();
            assert_eq!(reply.get_i32("code").unwrap(), code, "{reply}");
        }
        let unknown = doc! { "configureFailPoint": "nope", "mode": "off", "$db": "admin" };
        assert_eq!(
            wire.command(&unknown).unwrap().get_i32("code").unwrap(),
            266
        );

        // The command runs, and its reply has a write concern error.
        let insert = |extra: Document| {
            let mut insert = doc! {
                "insert": "faults", "documents": [{ "a": 1 }], "$db": "odm_wire_faults",
            };
            insert.extend(extra);
            insert
        };
        let concern = doc! {
            "failCommands": ["insert"],
            "appName": "odm_wire",
            "writeConcernError": { "code": 91, "errmsg": "x" },
        };
        configured(&mut wire, &set(once(), concern.clone()));
        let reply = wire.command(&insert(doc! {})).unwrap();
        assert_eq!(reply.get_i32("n").unwrap(), 1);
        let error = reply.get_document("writeConcernError").unwrap();
        assert_eq!(error.get_i32("code").unwrap(), 91);
        assert!(reply.get("errorLabels").is_none());

        // A retryable write has the label.
        let session = bson::Uuid::new();
        let retryable = doc! { "lsid": { "id": session }, "txnNumber": 1_i64 };
        let errors = doc! { "failCommands": ["insert"], "appName": "odm_wire", "errorCode": 91 };
        for (data, labels) in [
            (concern, vec!["RetryableWriteError"]),
            (errors.clone(), vec!["RetryableWriteError"]),
            (
                {
                    let mut told = errors;
                    told.insert("errorLabels", ["Mine"].map(Bson::from).to_vec());
                    told
                },
                vec!["Mine"],
            ),
        ] {
            configured(&mut wire, &set(once(), data));
            let reply = wire.command(&insert(retryable.clone())).unwrap();
            let found = reply.get_array("errorLabels").unwrap().iter();
            assert_eq!(found.filter_map(Bson::as_str).collect::<Vec<_>>(), labels);
        }

        let block = named(doc! { "blockConnection": true, "blockTimeMS": 60 });
        configured(&mut wire, &set(once(), block));
        let began = Instant::now();
        assert_eq!(code(&mut wire), 0);
        assert!(began.elapsed() >= Duration::from_millis(60));
        configured(
            &mut wire,
            &set(once(), named(doc! { "closeConnection": true })),
        );
        assert!(wire.command(&count).is_none());
        let mut wire = Wire::to(address);
        configured(&mut wire, &off);
        wire.command(&doc! { "dropDatabase": 1, "$db": "odm_wire_faults" });
    });
}

/// Error labels and topology versions that drivers use.
#[test]
fn failed_commands_carry_error_labels() {
    let transient = || vec!["TransientTransactionError"];
    let retryable = || vec!["RetryableWriteError"];
    both(|address| {
        let mut wire = Wire::to(address);
        let fail = |wire: &mut Wire, command: &str, code: i32| {
            let data = doc! { "failCommands": [command], "errorCode": code };
            let fail = doc! {
                "configureFailPoint": "failCommand", "mode": { "times": 1 }, "data": data, "$db": "admin",
            };
            let reply = wire.command(&fail).unwrap();
            assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)));
        };
        let labels = |reply: &Document| -> Vec<String> {
            let labels = reply.get_array("errorLabels").cloned().unwrap_or_default();
            let labels = labels.iter().filter_map(Bson::as_str);
            labels.map(str::to_owned).collect()
        };
        for (code, name, statement, end) in [
            (24, "LockTimeout", transient(), transient()),
            (112, "WriteConflict", transient(), transient()),
            (251, "NoSuchTransaction", transient(), transient()),
            (
                267,
                "PreparedTransactionInProgress",
                transient(),
                transient(),
            ),
            (6, "HostUnreachable", transient(), retryable()),
            (10107, "NotWritablePrimary", transient(), retryable()),
            (11000, "DuplicateKey", vec![], vec![]),
        ] {
            let within = |mut command: Document, starts: bool| {
                command.extend(doc! {
                    "lsid": { "id": bson::Uuid::new() }, "txnNumber": 1_i64, "autocommit": false,
                    "$db": "admin",
                });
                if starts {
                    command.insert("startTransaction", true);
                }
                command
            };
            fail(&mut wire, "find", code);
            let reply = wire.command(&within(doc! { "find": "c" }, true)).unwrap();
            assert_eq!(labels(&reply), statement, "{reply}");
            if code != 11000 {
                assert_eq!(reply.get_str("codeName").unwrap(), name);
            }
            assert_eq!(reply.get("topologyVersion").is_some(), code == 10107);
            for command in ["commitTransaction", "abortTransaction"] {
                fail(&mut wire, command, code);
                let reply = wire.command(&within(doc! { command: 1 }, false)).unwrap();
                assert_eq!(labels(&reply), end, "{reply}");
            }
        }
    });
}

#[test]
fn writes_cursors_and_times_fail_on_demand() {
    both(|address| {
        let database = "odm_wire_fail_points";
        let mut wire = Wire::to(address);
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
        let set = |wire: &mut Wire, name: &str, mode: Bson, data: Document| {
            let set =
                doc! { "configureFailPoint": name, "mode": mode, "data": data, "$db": "admin" };
            let reply = wire.command(&set).unwrap();
            assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
        };
        let once = || Bson::from(doc! { "times": 1 });
        let code = |reply: &Document| reply.get_i32("code").unwrap_or_default();
        let insert = |id: i32| {
            doc! {
                "insert": "c", "documents": [{ "_id": id }], "$db": database,
                "lsid": { "id": bson::Uuid::new() }, "txnNumber": 1_i64,
            }
        };
        let count = |wire: &mut Wire| {
            let count = doc! { "count": "c", "$db": database };
            wire.command(&count).unwrap().get_i32("n").unwrap()
        };
        // The write succeeds, but the reply is lost.
        set(&mut wire, "onPrimaryTransactionalWrite", once(), doc! {});
        let first = insert(1);
        assert_eq!(wire.command(&first), None);
        let mut wire = Wire::to(address);
        assert_eq!(count(&mut wire), 1);
        assert_eq!(wire.command(&first).unwrap().get_i32("n").unwrap(), 1);
        // The write fails.
        let data = doc! { "closeConnection": false, "failBeforeCommitExceptionCode": 11600 };
        set(&mut wire, "onPrimaryTransactionalWrite", once(), data);
        let second = insert(2);
        let refused = wire.command(&second).unwrap();
        assert_eq!(code(&refused), 11600, "{refused}");
        assert!(refused.get_array("errorLabels").is_ok(), "{refused}");
        assert_eq!(count(&mut wire), 1);
        assert_eq!(code(&wire.command(&second).unwrap()), 0);
        assert_eq!(count(&mut wire), 2);

        let find = doc! { "find": "c", "batchSize": 1, "$db": database };
        let found = wire.command(&find).unwrap();
        let id = found.get_document("cursor").unwrap().get_i64("id").unwrap();
        let more = doc! { "getMore": id, "collection": "c", "$db": database };
        let data = doc! { "errorCode": 6 };
        set(&mut wire, "failGetMoreAfterCursorCheckout", once(), data);
        assert_eq!(code(&wire.command(&more).unwrap()), 6);
        assert_eq!(code(&wire.command(&more).unwrap()), 43);

        set(&mut wire, "maxTimeAlwaysTimeOut", once(), doc! {});
        let mut limited = doc! { "find": "c", "$db": database };
        assert_eq!(code(&wire.command(&limited).unwrap()), 0);
        limited.insert("maxTimeMS", 10_000.0);
        assert_eq!(code(&wire.command(&limited).unwrap()), 50);
        assert_eq!(code(&wire.command(&limited).unwrap()), 0);
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
    });
}

#[test]
fn the_hello_that_names_a_client_fails_by_that_name() {
    both(|address| {
        let named = |name: &str| {
            doc! {
                "hello": 1, "$db": "admin",
                "client": {
                    "application": { "name": name },
                    "driver": { "name": "wire", "version": "1" },
                    "os": { "type": "any" },
                },
            }
        };
        let set = |mode: &str| {
            let data = doc! {
                "failCommands": ["hello"], "closeConnection": true, "appName": "odm_greets",
            };
            let set = doc! { "configureFailPoint": "failCommand", "mode": mode, "data": data, "$db": "admin" };
            Wire::to(address).command(&set).unwrap();
        };
        set("alwaysOn");
        let met = Wire::to(address).command(&named("odm_greets"));
        let other = Wire::to(address).command(&named("odm_other"));
        set("off");
        assert_eq!(met, None);
        assert!(other.is_some());
    });
}

#[test]
fn writes_that_are_lost_are_found_done_by_their_retries() {
    both(|address| {
        let database = "odm_wire_lost_writes";
        let set = |mode: Bson, data: Document| {
            let name = "onPrimaryTransactionalWrite";
            let set =
                doc! { "configureFailPoint": name, "mode": mode, "data": data, "$db": "admin" };
            Wire::to(address).command(&set).unwrap();
        };
        let ask = |command: &Document| Wire::to(address).command(command);
        ask(&doc! { "dropDatabase": 1, "$db": database });
        ask(&doc! { "insert": "c", "documents": [{ "_id": 0 }], "$db": database });
        let session = bson::Uuid::new();
        let numbered = |number: i64, command: Document| {
            let mut numbered = command;
            numbered.extend(doc! {
                "$db": database, "lsid": { "id": session }, "txnNumber": number,
            });
            numbered
        };
        let writes = [
            doc! { "insert": "c", "documents": [{ "_id": 1 }, { "_id": 2 }] },
            doc! { "update": "c", "updates": [{ "q": { "_id": 0 }, "u": { "$inc": { "n": 1 } } }] },
            doc! { "findAndModify": "c", "query": { "_id": 0 }, "update": { "$inc": { "n": 1 } } },
            doc! { "delete": "c", "deletes": [{ "q": { "_id": 0 }, "limit": 1 }] },
            doc! { "findAndModify": "c", "query": { "_id": 1 }, "remove": true },
        ];
        let idle = [
            doc! { "insert": "c", "documents": [{ "_id": 2 }] },
            doc! { "update": "c", "updates": [{ "q": { "_id": 9 }, "u": { "$inc": { "n": 1 } } }] },
            doc! { "update": "c", "updates": [{ "q": { "_id": 2 }, "u": { "$set": { "_id": 2 } } }] },
            doc! { "delete": "c", "deletes": [{ "q": { "_id": 9 }, "limit": 1 }] },
            doc! { "findAndModify": "c", "query": { "_id": 9 }, "remove": true },
        ];
        // Each write is done once, and its retry finds it done.
        set("alwaysOn".into(), doc! {});
        let mut number = 0;
        for write in &writes {
            number += 1;
            let write = numbered(number, write.clone());
            assert_eq!(ask(&write), None, "{write}");
            let again = ask(&write).unwrap();
            assert_eq!(
                again.get("ok"),
                Some(&Bson::Double(1.0)),
                "{write}: {again}"
            );
        }
        // Commands that write nothing are not meant, and `skip` does not count them.
        set(doc! { "skip": 1 }.into(), doc! {});
        for nothing in &idle {
            number += 1;
            let nothing = numbered(number, nothing.clone());
            assert!(ask(&nothing).is_some(), "{nothing}");
        }
        let insert = |id: i32| doc! { "insert": "c", "documents": [{ "_id": id }] };
        assert!(ask(&numbered(number + 1, insert(5))).is_some());
        assert_eq!(ask(&numbered(number + 2, insert(6))), None);
        // Nothing is left of a write that fails before its end.
        let fails = doc! { "closeConnection": false, "failBeforeCommitExceptionCode": 11600 };
        set("alwaysOn".into(), fails);
        let refused = ask(&numbered(number + 3, insert(7))).unwrap();
        let found = ask(&doc! { "count": "c", "query": { "_id": 7 }, "$db": database }).unwrap();
        set("off".into(), doc! {});
        assert_eq!(refused.get_i32("code").unwrap(), 11600, "{refused}");
        assert_eq!(found.get_i32("n").unwrap(), 0);
        ask(&doc! { "dropDatabase": 1, "$db": database });
    });
}

#[derive(Debug, Serialize, Deserialize, odm::prelude::Document)]
#[odm(collection = "nodes", tree(array_of_ancestors))]
struct Node {
    #[serde(rename = "_id")]
    id: i32,
    ancestors: Ancestors<Node>,
}

#[test]
fn loads_beyond_the_cache_say_what_to_do() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    both(|address| {
        let database = "odm_wire_cache";
        let mut wire = Wire::to(address);
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
        let data = doc! {
            "failCommands": ["insert"], "errorCode": 388, "namespace": format!("{database}.nodes"),
        };
        let set = doc! {
            "configureFailPoint": "failCommand", "mode": { "times": 1 }, "data": data, "$db": "admin",
        };
        let error = runtime.block_on(async {
            let uri = format!("mongodb://{address}/{database}?directConnection=true");
            let db = Db::connect(&uri).await.unwrap();
            let plan = db.sync(models![Node]).plan().await.unwrap();
            plan.apply(Allow::CREATE).await.unwrap();
            wire.command(&set).unwrap();
            let root = || {
                Branch::leaf(Node {
                    id: 1,
                    ancestors: Ancestors::default(),
                })
            };
            let tree = db.tree::<Node>();
            let error = tree.insert_branches([root()]).await.unwrap_err();
            // Nothing was loaded, so the same node is not a duplicate.
            assert_eq!(tree.insert_branches([root()]).await.unwrap().inserted, 1);
            error
        });
        assert_eq!(error.tree_refusal(), Some(TreeRefusal::TooLarge));
        assert!(
            error.to_string().contains("`non_atomic()`, or in parts"),
            "{error}"
        );
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
    });
}

#[test]
fn failing_change_streams_have_the_labels_that_drivers_resume_by() {
    both(|address| {
        let database = "odm_wire_streams";
        let mut wire = Wire::to(address);
        wire.command(&doc! { "create": "c", "$db": database });
        let set = |wire: &mut Wire, name: &str, data: Document| {
            let mode = doc! { "times": 1 };
            let set =
                doc! { "configureFailPoint": name, "mode": mode, "data": data, "$db": "admin" };
            let reply = wire.command(&set).unwrap();
            assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)), "{reply}");
        };
        let labels = |reply: &Document| {
            let labels = reply.get_array("errorLabels").cloned().unwrap_or_default();
            let names: Vec<&str> = labels.iter().filter_map(Bson::as_str).collect();
            names.join(" ")
        };
        let watch = doc! {
            "aggregate": "c", "pipeline": [{ "$changeStream": {} }], "cursor": {}, "$db": database,
        };
        for (code, label) in [
            (6, "ResumableChangeStreamError"),
            (63, "ResumableChangeStreamError"),
            (133, "ResumableChangeStreamError"),
            (150, "ResumableChangeStreamError"),
            (234, "ResumableChangeStreamError"),
            (262, "ResumableChangeStreamError"),
            (9001, "ResumableChangeStreamError"),
            (11600, "ResumableChangeStreamError"),
            (13436, "ResumableChangeStreamError"),
            (43, ""),
            (136, ""),
            (280, "NonResumableChangeStreamError"),
            (286, "NonResumableChangeStreamError"),
        ] {
            let opened = wire.command(&watch).unwrap();
            let id = opened
                .get_document("cursor")
                .unwrap()
                .get_i64("id")
                .unwrap();
            let more = doc! { "getMore": id, "collection": "c", "maxTimeMS": 1, "$db": database };
            let point = "failGetMoreAfterCursorCheckout";
            set(&mut wire, point, doc! { "errorCode": code });
            let failed = wire.command(&more).unwrap();
            assert_eq!(failed.get_i32("code").unwrap(), code);
            assert_eq!(labels(&failed), label, "{code}");
            // The stream does not open.
            let data = doc! { "failCommands": ["aggregate"], "errorCode": code };
            set(&mut wire, "failCommand", data);
            assert_eq!(labels(&wire.command(&watch).unwrap()), label, "{code}");
        }
        // Other cursors and pipelines have no such label.
        let documents = doc! { "insert": "c", "documents": [{}, {}, {}], "$db": database };
        wire.command(&documents).unwrap();
        let find = doc! { "find": "c", "batchSize": 1, "$db": database };
        let found = wire.command(&find).unwrap();
        let id = found.get_document("cursor").unwrap().get_i64("id").unwrap();
        let more = doc! { "getMore": id, "collection": "c", "$db": database };
        set(
            &mut wire,
            "failGetMoreAfterCursorCheckout",
            doc! { "errorCode": 262 },
        );
        assert_eq!(labels(&wire.command(&more).unwrap()), "");
        let plain = doc! { "aggregate": "c", "pipeline": [], "cursor": {}, "$db": database };
        let data = doc! { "failCommands": ["aggregate"], "errorCode": 262 };
        set(&mut wire, "failCommand", data);
        assert_eq!(labels(&wire.command(&plain).unwrap()), "");
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
    });
}

#[test]
fn the_time_limit_of_a_cursor_holds_for_its_later_batches() {
    both(|address| {
        let database = "odm_wire_limited_cursors";
        let mut wire = Wire::to(address);
        let documents = doc! { "insert": "c", "documents": [{}, {}, {}], "$db": database };
        wire.command(&documents).unwrap();
        let set = |wire: &mut Wire, mode: &str| {
            let set =
                doc! { "configureFailPoint": "maxTimeAlwaysTimeOut", "mode": mode, "$db": "admin" };
            wire.command(&set).unwrap();
        };
        let limited = [
            (
                doc! { "find": "c", "batchSize": 1, "maxTimeMS": 60_000 },
                50,
            ),
            (doc! { "find": "c", "batchSize": 1 }, 0),
            (
                doc! { "aggregate": "c", "pipeline": [], "cursor": { "batchSize": 1 }, "maxTimeMS": 60_000 },
                50,
            ),
            (
                doc! { "aggregate": "c", "pipeline": [{ "$changeStream": {} }], "cursor": {}, "maxTimeMS": 60_000 },
                0,
            ),
        ];
        for (mut command, code) in limited {
            command.insert("$db", database);
            let opened = wire.command(&command).unwrap();
            let id = opened
                .get_document("cursor")
                .unwrap()
                .get_i64("id")
                .unwrap();
            let mut more = doc! { "getMore": id, "collection": "c", "$db": database };
            if command.to_string().contains("changeStream") {
                more.insert("maxTimeMS", 1);
            }
            set(&mut wire, "alwaysOn");
            let reply = wire.command(&more).unwrap();
            set(&mut wire, "off");
            assert_eq!(
                reply.get_i32("code").unwrap_or_default(),
                code,
                "{command}: {reply}"
            );
            if code != 0 {
                let gone = wire.command(&more).unwrap();
                assert_eq!(gone.get_i32("code").unwrap(), 43, "{gone}");
            }
        }
        wire.command(&doc! { "dropDatabase": 1, "$db": database });
    });
}

#[test]
fn test_commands_are_reported_as_enabled() {
    both(|address| {
        let mut wire = Wire::to(address);
        let mut all = doc! { "getParameter": "*", "$db": "admin" };
        let found = wire.command(&all).unwrap();
        assert!(found.get_bool("enableTestCommands").unwrap());
        assert!(!found.get_bool("requireApiVersion").unwrap());
        assert!(!found.get_bool("acceptApiVersion2").unwrap());
        all = doc! { "getCmdLineOpts": 1, "$db": "admin" };
        let found = wire.command(&all).unwrap();
        let parsed = found.get_document("parsed").unwrap();
        let parameters = parsed.get_document("setParameter").unwrap();
        assert!(parameters.contains_key("enableTestCommands"));
    });
}

#[test]
fn fail_points_need_test_commands() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let off = doc! { "configureFailPoint": "failCommand", "mode": "off", "$db": "admin" };
    let reply = Wire::to(server.address()).command(&off).unwrap();
    assert_eq!(reply.get_i32("code").unwrap(), 59);
}
