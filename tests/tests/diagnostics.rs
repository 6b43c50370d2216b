//! Diagnostics of the server: operations of its connections, and counters.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use odm::bson::{self, Bson, doc};
use odm::prelude::*;
use odm::server::Server;

async fn admin(server: &Server) -> Db {
    Db::connect(&server.uri_of("admin")).await.unwrap()
}

fn first(reply: &bson::Document) -> Option<&bson::Document> {
    let cursor = reply.get_document("cursor").unwrap();
    cursor
        .get_array("firstBatch")
        .unwrap()
        .first()?
        .as_document()
}

#[tokio::test]
async fn current_op_shows_operations_of_other_connections() {
    let server = Server::options().test_commands();
    let server = server.bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let (one, other) = (admin(&server).await, admin(&server).await);
    let block = doc! {
        "configureFailPoint": "failCommand",
        "mode": { "times": 1 },
        "data": { "failCommands": ["find"], "blockConnection": true, "blockTimeMS": 1500 },
    };
    one.run_command(block).await.unwrap();
    let waiting = tokio::spawn(async move {
        let command = doc! { "find": "slow", "filter": { "a": 1 }, "comment": "this one" };
        other.database("shop").run_command(command).await
    });
    let found = loop {
        let filter = doc! { "command.comment": "this one" };
        let stages = [doc! { "$currentOp": {} }, doc! { "$match": filter.clone() }];
        let stages: Vec<_> = stages.into_iter().map(Bson::from).collect();
        let command = doc! { "aggregate": 1, "pipeline": stages, "cursor": {} };
        let reply = one.run_command(command).await.unwrap();
        if let Some(found) = first(&reply) {
            let mut command = doc! { "currentOp": 1 };
            command.extend(filter);
            let reply = one.run_command(command).await.unwrap();
            assert_eq!(reply.get_array("inprog").unwrap().len(), 1);
            break found.clone();
        }
        assert!(!waiting.is_finished(), "it was never shown");
    };
    assert_eq!(found.get("op"), Some(&Bson::from("query")));
    assert_eq!(found.get("ns"), Some(&Bson::from("shop.slow")));
    assert_eq!(found.get("active"), Some(&Bson::from(true)));
    assert!(found.get_document("clientMetadata").is_ok());
    assert!(!found.contains_key("_id"), "{found}");
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn invalid_current_op_requests_are_refused() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let admin = admin(&server).await;
    let other = admin.database("other");
    let pipeline = |target: Bson, options: Bson| doc! { "aggregate": target, "pipeline": [{ "$currentOp": options }], "cursor": {} };
    let whole = || Bson::from(1);
    for (db, command, code) in [
        (&admin, pipeline(whole(), 1.into()), 14),
        (&admin, pipeline(whole(), doc! { "x": true }.into()), 9),
        (&admin, pipeline(whole(), doc! { "allUsers": 1 }.into()), 14),
        (
            &admin,
            pipeline(whole(), doc! { "idleCursors": true }.into()),
            115,
        ),
        (&admin, pipeline("c".into(), doc! {}.into()), 73),
        (&other, pipeline(whole(), doc! {}.into()), 73),
        (&other, pipeline(whole(), doc! { "allUsers": 1 }.into()), 14),
        (&other, doc! { "currentOp": 1 }, 13),
        (&other, doc! { "replSetGetStatus": 1 }, 13),
        (
            &admin,
            doc! { "setParameter": 1, "cursorTimeoutMillis": 1 },
            72,
        ),
        (&admin, doc! { "getParameter": 1, "nothing": 1 }, 72),
        (&other, doc! { "killOp": 1, "op": 1 }, 13),
        (&admin, doc! { "killOp": 1 }, 4),
        (&admin, doc! { "killOp": 1, "op": "x" }, 14),
        (&admin, doc! { "killOp": 1, "op": 1.5 }, 2),
        (&admin, doc! { "killOp": 1, "op": 1_i64 << 40 }, 26823),
        (&other, doc! { "top": 1 }, 13),
        (&other, doc! { "fsync": 1 }, 13),
        (&admin, doc! { "fsync": 1, "lock": true }, 115),
        (&admin, doc! { "fsyncUnlock": 1 }, 20),
        (&other, doc! { "reIndex": "c" }, 20),
        (&other, doc! { "reIndex": 1 }, 73),
        (&admin, doc! { "replSetInitiate": {} }, 23),
        (&other, doc! { "usersInfo": 2 }, 2),
        (&other, doc! { "usersInfo": 1, "x": 1 }, 40415),
        (&other, doc! { "rolesInfo": 2 }, 2),
        (&other, doc! { "planCacheClear": 1 }, 73),
        (&other, doc! { "planCacheClear": "" }, 73),
        (&other, doc! { "planCacheClear": "c", "query": 1 }, 2),
        (&other, doc! { "planCacheClear": "c", "sort": {} }, 2),
        (
            &other,
            doc! { "planCacheClear": "c", "query": { "a": { "$zz": 1 } } },
            2,
        ),
        (
            &other,
            doc! { "planCacheClear": "c", "query": {}, "sort": { "a": "x" } },
            15974,
        ),
        (&admin, doc! { "mapReduce": "c" }, 59),
        (&admin, doc! { "lockInfo": 1 }, 59),
        (&admin, doc! { "compact": "c" }, 125),
        (&admin, doc! { "compact": "none", "force": true }, 26),
        (&admin, doc! { "compact": 1, "force": true }, 73),
        (&admin, doc! { "compact": "", "force": true }, 73),
        (&other, doc! { "setFeatureCompatibilityVersion": "6.0" }, 13),
        (
            &admin,
            doc! { "setFeatureCompatibilityVersion": "4.0" },
            4_926_900,
        ),
        (
            &admin,
            doc! { "setFeatureCompatibilityVersion": "5.0" },
            115,
        ),
        (&admin, doc! { "setFeatureCompatibilityVersion": 6 }, 14),
        (
            &admin,
            doc! { "setFeatureCompatibilityVersion": "6.0", "x": 1 },
            40415,
        ),
        (&admin, doc! { "getCmdLineOpts": 1, "x": 1 }, 40415),
        (&other, doc! { "getCmdLineOpts": 1 }, 13),
    ] {
        let refused = db.run_command(command.clone()).await.unwrap_err();
        assert_eq!(refused.code().unwrap().number(), code, "{command}");
    }
}

#[tokio::test]
async fn commands_without_effect_succeed() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let admin = admin(&server).await;
    let shop = admin.database("shop");
    let insert = doc! { "insert": "c", "documents": [{ "_id": 1 }] };
    shop.run_command(insert).await.unwrap();
    let compact = doc! { "compact": "c", "force": true };
    let reply = shop.run_command(compact).await.unwrap();
    assert_eq!(reply.get_i32("bytesFreed").unwrap(), 0);
    let version = doc! { "setFeatureCompatibilityVersion": "6.0" };
    admin.run_command(version).await.unwrap();
    let pools = admin
        .run_command(doc! { "connPoolStats": 1 })
        .await
        .unwrap();
    assert_eq!(pools.get_i32("totalCreated").unwrap(), 0);
    // Help on a command does not count as the command.
    let help = doc! { "dropDatabase": 1, "help": true };
    let reply = shop.run_command(help).await.unwrap();
    assert!(reply.get_str("help").unwrap().contains("dropDatabase"));
    let count = shop.run_command(doc! { "count": "c" }).await.unwrap();
    assert_eq!(count.get_i32("n").unwrap(), 1);
}

#[tokio::test]
async fn commands_and_bytes_are_counted() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let admin = admin(&server).await;
    let status = || async { admin.run_command(doc! { "serverStatus": 1 }).await.unwrap() };
    let of = |status: &bson::Document, section: &str, name: &str| {
        status.get_document(section).unwrap().get_i64(name).unwrap()
    };
    let before = status().await;
    let documents: Vec<_> = (0..7).map(|id| Bson::from(doc! { "_id": id })).collect();
    let insert = doc! { "insert": "c", "documents": documents };
    admin.database("shop").run_command(insert).await.unwrap();
    let delete = doc! { "delete": "c", "deletes": [{ "q": {}, "limit": 0 }] };
    admin.database("shop").run_command(delete).await.unwrap();
    let after = status().await;
    let grown = |section, name| of(&after, section, name) - of(&before, section, name);
    assert_eq!(grown("opcounters", "insert"), 7);
    assert_eq!(grown("opcounters", "delete"), 1);
    assert_eq!(grown("opcounters", "query"), 0);
    assert!(grown("opcounters", "command") >= 1);
    assert!(grown("network", "numRequests") >= 3);
    assert!(grown("network", "physicalBytesIn") > 200);
    assert!(grown("network", "physicalBytesOut") > 100);
}

#[tokio::test]
async fn top_reports_times_by_collection() {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let (one, other) = (admin(&server).await, admin(&server).await);
    let shop = one.database("shop");
    for command in [
        doc! { "insert": "c", "documents": [{ "_id": 1 }, { "_id": 2 }] },
        doc! { "find": "c", "batchSize": 1 },
        doc! { "find": "nothing" },
        doc! { "count": "c" },
        doc! { "findAndModify": "c", "remove": true, "query": { "_id": 2 } },
        doc! { "createIndexes": "c", "indexes": [{ "key": { "a": 1 }, "name": "a" }] },
    ] {
        shop.run_command(command).await.unwrap();
    }
    let find = doc! { "find": "c" };
    other.database("shop").run_command(find).await.unwrap();
    let stage = doc! { "$collStats": { "latencyStats": { "histograms": true } } };
    let command = doc! { "aggregate": "c", "pipeline": [stage], "cursor": {} };
    let reply = shop.run_command(command).await.unwrap();
    let told = first(&reply).unwrap();
    assert_eq!(told.get_str("host").unwrap(), server.address().to_string());
    let told = told.get_document("latencyStats").unwrap();
    for (kind, count) in [
        ("reads", 3),
        ("writes", 2),
        ("commands", 1),
        ("transactions", 0),
    ] {
        let told = told.get_document(kind).unwrap();
        assert_eq!(told.get_i64("ops").unwrap(), count, "{kind}");
        assert_eq!(told.get_i64("latency").unwrap() > 0, count > 0, "{kind}");
        let buckets = told.get_array("histogram").unwrap().iter();
        let counted: i64 = buckets
            .map(|bucket| bucket.as_document().unwrap().get_i64("count").unwrap())
            .sum();
        assert_eq!(counted, count, "{kind}");
    }
    let top = || async {
        let reply = one.run_command(doc! { "top": 1 }).await.unwrap();
        reply.get_document("totals").unwrap().clone()
    };
    let totals = top().await;
    assert!(!totals.contains_key("shop.nothing"), "{totals}");
    let told = totals.get_document("shop.c").unwrap();
    // The aggregation itself is the fourth that reads.
    for (kind, count) in [
        ("total", 7),
        ("readLock", 4),
        ("writeLock", 2),
        ("queries", 2),
        ("getmore", 0),
        ("insert", 1),
        ("update", 0),
        ("remove", 0),
        ("commands", 4),
    ] {
        let told = told.get_document(kind).unwrap();
        assert_eq!(told.get_i64("count").unwrap(), count, "{kind}");
    }
    shop.run_command(doc! { "drop": "c" }).await.unwrap();
    assert!(!top().await.contains_key("shop.c"));
    // The engine in the process does not measure times.
    let db = Db::memory();
    let stage = doc! { "$collStats": { "latencyStats": {} } };
    let command = doc! { "aggregate": "c", "pipeline": [stage], "cursor": {} };
    let refused = db.run_command(command).await.unwrap_err();
    assert_eq!(refused.code().unwrap().number(), 115);
}

#[tokio::test]
async fn operations_are_killed() {
    let server = Server::options().test_commands();
    let server = server.bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let (one, other) = (admin(&server).await, admin(&server).await);
    let shop = other.database("shop");
    let documents: Vec<_> = (0..3000).map(|id| Bson::from(doc! { "_id": id })).collect();
    shop.run_command(doc! { "insert": "c", "documents": documents })
        .await
        .unwrap();
    let block = doc! {
        "configureFailPoint": "failCommand",
        "mode": { "times": 1 },
        "data": { "failCommands": ["count"], "blockConnection": true, "blockTimeMS": 60_000 },
    };
    one.run_command(block).await.unwrap();
    // One that waits, and one that works: each document is compared with all of them, three times over.
    let lookup = |name: &str| doc! { "$lookup": { "from": "c", "pipeline": [{ "$match": { "$expr": { "$lt": ["$_id", -1] } } }], "let": { "id": "$_id" }, "as": name } };
    let stages: Vec<_> = ["x", "y", "z"].map(lookup).map(Bson::from).into();
    for command in [
        doc! { "count": "c", "comment": "killed" },
        doc! { "aggregate": "c", "pipeline": stages, "cursor": {}, "comment": "killed" },
    ] {
        let shop = shop.clone();
        let waiting = tokio::spawn(async move { shop.run_command(command).await });
        let number = loop {
            let command = doc! { "currentOp": 1, "command.comment": "killed" };
            let reply = one.run_command(command).await.unwrap();
            if let Some(found) = reply.get_array("inprog").unwrap().first() {
                break found.as_document().unwrap().get_i64("opid").unwrap();
            }
            assert!(!waiting.is_finished(), "it was never shown");
        };
        let kill = doc! { "killOp": 1, "op": number };
        let reply = one.run_command(kill.clone()).await.unwrap();
        assert_eq!(reply.get_str("info").unwrap(), "attempting to kill op");
        let killed = waiting.await.unwrap().unwrap_err();
        assert_eq!(killed.code().unwrap().number(), 11601);
        // The operation ended, and no other operation was killed.
        one.run_command(kill).await.unwrap();
        let found = doc! { "find": "c", "limit": 1 };
        other.database("shop").run_command(found).await.unwrap();
    }
}

#[tokio::test]
async fn connection_status_reports_users_and_roles() {
    let server = Server::options()
        .user("ann", "secret")
        .unwrap()
        .user("bob", "secret")
        .unwrap()
        .bind(&Db::memory(), "127.0.0.1:0")
        .unwrap();
    let uri = server.uri_of("admin").replace("//", "//ann:secret@");
    let admin = Db::connect(&uri).await.unwrap();
    let other = admin.database("other");
    for (db, asked, names) in [
        (&admin, Bson::from(1), &["ann", "bob"][..]),
        (&admin, "bob".into(), &["bob"]),
        (&admin, vec!["bob", "eve"].into(), &["bob"]),
        (&other, 1.into(), &[]),
        (&other, "ann".into(), &[]),
        (
            &other,
            doc! { "user": "ann", "db": "admin" }.into(),
            &["ann"],
        ),
        (&other, doc! { "forAllDBs": true }.into(), &["ann", "bob"]),
    ] {
        let reply = db.run_command(doc! { "usersInfo": asked }).await.unwrap();
        let users: Vec<_> = reply
            .get_array("users")
            .unwrap()
            .iter()
            .map(|user| user.as_document().unwrap())
            .collect();
        let told: Vec<_> = users
            .iter()
            .map(|user| user.get_str("user").unwrap())
            .collect();
        assert_eq!(told, names);
        for user in users {
            let roles = user.get_array("roles").unwrap();
            assert_eq!(roles, &[Bson::from(doc! { "role": "root", "db": "admin" })]);
        }
    }
    for (asked, count) in [
        (doc! { "rolesInfo": 1 }, 0),
        (doc! { "rolesInfo": 1, "showBuiltinRoles": true }, 1),
        (doc! { "rolesInfo": "root" }, 1),
        (doc! { "rolesInfo": "other" }, 0),
    ] {
        let reply = admin.run_command(asked.clone()).await.unwrap();
        assert_eq!(reply.get_array("roles").unwrap().len(), count, "{asked}");
    }
}
