//! Retries of the driver and reports of broken connections, on servers that fail on demand: the
//! engine behind a port, and the one that `ODM_TEST_URI` names, started with `--setParameter enableTestCommands=1`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "faults/derived.rs"]
mod derived;

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use odm::bson::{self, doc, oid::ObjectId};
use odm::prelude::*;
use tokio::runtime::Builder;

use derived::{
    other_kinds_are_resumed_after_faults, propagations_are_resumed_after_faults,
    writers_are_in_step_after_faults,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "counters")]
struct Counter {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

/// A database for the test, and an application name to which faults are limited.
struct Server {
    db: Db,
    name: String,
}

impl Server {
    async fn open(uri: &str) -> Self {
        let name = format!("odm_{}", ObjectId::new());
        let (address, options) = uri.split_once('?').unwrap_or((uri, ""));
        let address = address.trim_end_matches('/');
        let uri = format!("{address}/{name}?{options}&appName={name}");
        let db = Db::connect(&uri).await.unwrap();
        let off = doc! {"configureFailPoint": "failCommand", "mode": "off"};
        db.database("admin")
            .run_command(off)
            .await
            .expect("a server started with --setParameter enableTestCommands=1");
        Self { db, name }
    }

    /// Turns off remaining faults.
    async fn heal(&self) {
        let off = doc! {"configureFailPoint": "failCommand", "mode": "off"};
        self.db.database("admin").run_command(off).await.unwrap();
    }

    /// Makes the command fail as `how` says, after it has succeeded this many times.
    async fn fail_after(&self, successes: i32, command: &str, how: bson::Document) {
        let mut data = doc! {"failCommands": [command], "appName": &self.name};
        data.extend(how);
        let fault = doc! {
            "configureFailPoint": "failCommand",
            "mode": {"skip": successes},
            "data": data,
        };
        self.db.database("admin").run_command(fault).await.unwrap();
    }

    /// Makes each of the commands fail as `how` says, with this probability.
    async fn fail_at_random(&self, probability: f64, commands: &[&str], how: bson::Document) {
        let mut data = doc! {"failCommands": commands, "appName": &self.name};
        data.extend(how);
        let fault = doc! {
            "configureFailPoint": "failCommand",
            "mode": {"activationProbability": probability},
            "data": data,
        };
        self.db.database("admin").run_command(fault).await.unwrap();
    }

    /// Makes the next `times` runs of `command` fail as `how` says.
    async fn fail(&self, times: i32, command: &str, how: bson::Document) {
        let mut data = doc! {"failCommands": [command], "appName": &self.name};
        data.extend(how);
        let fault = doc! {
            "configureFailPoint": "failCommand",
            "mode": {"times": times},
            "data": data,
        };
        self.db.database("admin").run_command(fault).await.unwrap();
    }
}

fn main() -> ExitCode {
    let uri = std::env::var("ODM_TEST_URI").ok();
    let is_missing = uri.is_none();
    // One test for each, because a server has one failpoint of this name.
    let trial = |name: &str, uri: Option<String>| {
        Trial::test(name.to_owned(), move || {
            let served = odm::server::Server::options()
                .test_commands()
                .bind(&Db::memory(), "127.0.0.1:0")?;
            let uri = uri.unwrap_or_else(|| served.uri());
            Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(faults_are_retried_or_told(&uri));
            Ok(())
        })
    };
    let trials = vec![
        trial("faults_of_the_engine_are_retried_or_told", None),
        trial("faults_of_a_server_are_retried_or_told", uri).with_ignored_flag(is_missing),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

async fn faults_are_retried_or_told(uri: &str) {
    let server = Server::open(uri).await;
    let counters = server.db.collection::<Counter>();
    let counter = |id| Counter { id, n: 0 };
    counters.insert_one(counter(1)).await.unwrap();
    let broken = doc! {"closeConnection": true};

    // The driver retries once.
    server.fail(1, "insert", broken.clone()).await;
    counters.insert_one(counter(2)).await.unwrap();
    server.fail(1, "find", broken.clone()).await;
    assert!(counters.get(&2).await.unwrap().is_some());

    // But at most once.
    server.fail(2, "insert", broken.clone()).await;
    let failed = counters.insert_one(counter(3)).await.unwrap_err();
    assert!(failed.is_connection() && failed.is_retryable(), "{failed}");
    assert!(failed.has_label("RetryableWriteError"), "{failed:?}");
    assert_eq!(failed.model(), Some("Counter"));

    server.fail(1, "find", doc! {"errorCode": 50}).await;
    let failed = counters.get(&1).await.unwrap_err();
    assert!(failed.is_timeout() && !failed.is_connection(), "{failed}");

    writes_of_several_documents_are_not_retried(&server, &counters).await;

    // Written, but not acknowledged.
    let concern = doc! {"writeConcernError": {"code": 100, "errmsg": "too few nodes"}};
    server.fail(1, "update", concern.clone()).await;
    let failed = counters.update_one(|c| c.id.eq(1), |c| c.n.set(5)).await;
    assert_eq!(failed.unwrap_err().code().unwrap().number(), 100);
    assert_eq!(counters.get(&1).await.unwrap().unwrap().n, 5);
    server.fail(1, "insert", concern).await;
    let failed = counters.insert_many([counter(4)]).await.unwrap_err();
    assert_eq!(failed.partial_result().unwrap().inserted, 1);
    assert!(failed.write_errors().is_empty());

    // A commit whose result is unknown is sent again, without the body.
    server.fail(2, "commitTransaction", broken).await;
    let mut runs = 0;
    let mut add = async || {
        transaction!(server.db, |tx| -> odm::Result<_> {
            runs += 1;
            counters
                .update_one(|c| c.id.eq(1), |c| c.n.inc(1))
                .session(tx)
                .await?;
            Ok(runs)
        })
        .await
    };
    assert_eq!(add().await.unwrap(), 1);
    // A transient failure runs the body again.
    let transient = doc! {"errorCode": 112, "errorLabels": ["TransientTransactionError"]};
    server.fail(1, "update", transient).await;
    assert_eq!(add().await.unwrap(), 3);
    assert_eq!(counters.get(&1).await.unwrap().unwrap().n, 7);

    server.heal().await;
    transactions_end_in_other_ways(&server, &counters).await;
    late_commits_are_named(&server, &counters).await;

    // A cursor that loses its server reports it once, and ends.
    let more = (100..150).map(counter);
    counters.insert_many(more).await.unwrap();
    server.fail(5, "getMore", doc! {"errorCode": 11601}).await;
    let mut cursor = counters.find_all().batch_size(10).await.unwrap();
    let (mut read, mut failed) = (0, 0);
    while let Some(next) = cursor.next().await {
        match next {
            Ok(_) => read += 1,
            Err(_) => failed += 1,
        }
    }
    assert_eq!((read, failed), (10, 1));

    server.heal().await;
    streams_survive_faults(&server, &counters).await;

    server.heal().await;
    propagations_are_resumed_after_faults(&server).await;
    other_kinds_are_resumed_after_faults(&server).await;
    writers_are_in_step_after_faults(&server).await;

    server.heal().await;
    server.db.drop().await.unwrap();
}

/// The in-memory store does the same with the faults of a `Hostility`.
async fn writes_of_several_documents_are_not_retried(
    server: &Server,
    counters: &Collection<Counter>,
) {
    for (code, command) in [(10107, "update"), (13435, "find")] {
        server.fail(1, command, doc! {"errorCode": code}).await;
        let updated = counters.update_one(|c| c.id.eq(1), |c| c.n.set(0)).await;
        assert_eq!(updated.unwrap().matched, 1);
        assert!(counters.get(&1).await.unwrap().is_some());
        server.heal().await;
    }
    server.fail(1, "update", doc! {"errorCode": 10107}).await;
    let failed = counters.update_all(|c| c.n.set(0)).await.unwrap_err();
    assert_eq!(failed.code(), Some(odm::Code::NOT_WRITABLE_PRIMARY));
    assert!(failed.labels().is_empty(), "{failed:?}");
    server
        .fail(1, "update", doc! {"closeConnection": true})
        .await;
    let failed = counters.update_all(|c| c.n.set(0)).await.unwrap_err();
    assert!(failed.is_connection(), "{failed:?}");
    assert!(failed.labels().is_empty(), "{failed:?}");

    let mut session = server.db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    server
        .fail(1, "update", doc! {"closeConnection": true})
        .await;
    let update = counters.update_one(|c| c.id.eq(1), |c| c.n.set(0));
    let failed = update.session(&mut session).await.unwrap_err();
    assert!(failed.is_connection(), "{failed:?}");
    assert_eq!(failed.labels(), ["TransientTransactionError"]);
    session.abort_transaction().await.unwrap();
    session.start_transaction().await.unwrap();
    server.fail(1, "update", doc! {"errorCode": 10107}).await;
    let update = counters.update_one(|c| c.id.eq(1), |c| c.n.set(0));
    let failed = update.session(&mut session).await.unwrap_err();
    assert_eq!(failed.labels(), ["TransientTransactionError"]);
    session.abort_transaction().await.unwrap();

    session.start_transaction().await.unwrap();
    let update = counters.update_one(|c| c.id.eq(1), |c| c.n.set(0));
    update.session(&mut session).await.unwrap();
    server
        .fail(2, "commitTransaction", doc! {"closeConnection": true})
        .await;
    let failed = session.commit_transaction().await.unwrap_err();
    let labels = ["RetryableWriteError", "UnknownTransactionCommitResult"];
    assert_eq!(failed.labels(), labels, "{failed:?}");
    session.commit_transaction().await.unwrap();
}

/// An error of a program that does not keep its cause.
#[derive(Debug)]
struct NotRead;

impl From<odm::Error> for NotRead {
    fn from(_: odm::Error) -> Self {
        Self
    }
}

/// A save whose commit has an unknown result, and a body whose `getMore` fails.
async fn transactions_end_in_other_ways(server: &Server, counters: &Collection<Counter>) {
    let mut counter = counters.load(&1).await.unwrap().unwrap();
    let mut session = server.db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    counter.n = 20;
    let save = counters.save(&mut counter).session(&mut session);
    assert!(save.await.unwrap());
    let label = "UnknownTransactionCommitResult";
    let unknown = doc! {"errorCode": 50, "errorLabels": [label]};
    server.fail(1, "commitTransaction", unknown).await;
    let failed = session.commit_transaction().await.unwrap_err();
    assert!(failed.has_label(label), "{failed:?}");
    counter.n = 21;
    let refused = counters.save(&mut counter).await.unwrap_err();
    assert!(refused.is_stale(), "{refused}");
    assert!(refused.to_string().contains("unknown result"), "{refused}");
    session.commit_transaction().await.unwrap();
    assert_eq!(counters.get(&1).await.unwrap().unwrap().n, 20);
    assert!(counters.save(&mut counter).await.unwrap());
    assert_eq!(counters.get(&1).await.unwrap().unwrap().n, 21);

    // The body's own error has no label; the session remembers that of the cursor.
    let mut runs = 0;
    let read = transaction!(server.db, |tx| -> Result<u64, NotRead> {
        runs += 1;
        if runs == 1 {
            let label = "TransientTransactionError";
            let transient = doc! {"errorCode": 112, "errorLabels": [label]};
            server.fail(1, "getMore", transient).await;
        }
        let find = counters.find_all().batch_size(1).session(tx);
        let mut cursor = find.await?;
        let mut read = 0;
        while let Some(next) = cursor.next().await {
            next?;
            read += 1;
        }
        Ok(read)
    });
    let read = read.await.unwrap();
    assert_eq!(read, counters.estimated_document_count().await.unwrap());
    assert_eq!(runs, 2);
}

/// A change stream resumes after recoverable errors without losing events; it reports other errors and ends.
/// The error of a deadline names a commit that may still succeed.
async fn late_commits_are_named(server: &Server, counters: &Collection<Counter>) {
    let slow = doc! {"blockConnection": true, "blockTimeMS": 4_000};
    server.fail(1, "commitTransaction", slow).await;
    let write = transaction!(&server.db, |tx| {
        counters.update_by_id(&1, |c| c.n.inc(1)).session(tx).await
    });
    let late = write.within(Duration::from_secs(2)).await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
    let text = late.to_string();
    let end = "had answered update on counters; it may still complete commitTransaction";
    assert!(text.ends_with(end), "{text}");
    server.heal().await;
}

async fn streams_survive_faults(server: &Server, counters: &Collection<Counter>) {
    let wait = Duration::from_millis(100);
    let mut changes = counters.watch().max_await_time(wait).await.unwrap();
    let mut id = 200;
    for fault in [
        doc! {"closeConnection": true},
        doc! {"errorCode": 43},
        doc! {"errorCode": 91, "errorLabels": ["ResumableChangeStreamError"]},
    ] {
        for fails in [false, true] {
            id += 1;
            counters.insert_one(Counter { id, n: 0 }).await.unwrap();
            if fails {
                server.fail(1, "getMore", fault.clone()).await;
            }
            let change = changes.next().await.unwrap().unwrap();
            assert_eq!(change.id(), Some(&id), "{fault}");
        }
    }
    let token = changes.resume_token();
    counters
        .insert_one(Counter { id: 300, n: 0 })
        .await
        .unwrap();
    server.fail(1, "getMore", doc! {"errorCode": 286}).await;
    let failed = changes.next().await.unwrap().unwrap_err();
    assert_eq!(failed.code().unwrap().number(), 286, "{failed}");
    assert!(changes.next().await.is_none());
    assert_eq!(changes.resume_token(), token);
    let mut changes = counters.watch().resume_after(token).await.unwrap();
    let change = changes.next().await.unwrap().unwrap();
    assert_eq!(change.id(), Some(&300));
}
