//! Sessions, cursors in them, and options that stores honour or refuse.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::TryStreamExt;
use odm::bson::{self, Bson, doc};
use odm::collection::{Acknowledgment, SessionOptions};
use odm::collection::{ReadConcern, ReadPreference, TransactionOptions, WriteConcern};
use odm::prelude::*;

use crate::case::cases;

cases![
    sessions_have_options,
    a_transaction_reads_from_the_primary,
    unsatisfiable_write_concerns_fail_the_commit,
    unsatisfiable_write_concerns_are_reported_after_the_write,
    snapshot_sessions_read_one_point_in_time,
    misuse_errors_give_advice,
    read_preferences_are_checked,
    a_cursor_of_a_session_crosses_batches,
    writes_wait_for_conflicting_transactions,
    raw_commands_wait_at_most_their_time_limit,
    creating_an_existing_index_does_not_wait,
    concerns_belong_to_the_whole_transaction,
    an_unacknowledged_write_is_refused,
    an_abandoned_transaction_leaves_nothing,
    transaction_bodies_may_abort,
    a_session_of_another_store_is_refused,
    command_monitoring_reports_commands_and_failures,
    a_pipeline_answers_any_type,
    dropping_a_missing_collection_succeeds,
    sessions_are_started_and_killed_by_name,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "counters")]
struct Counter {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

async fn counters(db: &Db, count: i32) -> Collection<Counter> {
    let counters = db.collection::<Counter>();
    let all = (0..count).map(|id| Counter { id, n: 0 });
    counters.insert_many(all).await.unwrap();
    counters
}

/// A session whose transaction has incremented the first counter.
async fn counting(db: &Db, counters: &Collection<Counter>) -> Session {
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    counters
        .update_one(|c| c.id.eq(0), |c| c.n.inc(1))
        .session(&mut session)
        .await
        .unwrap();
    session
}

async fn a_cursor_of_a_session_crosses_batches(db: &Db) {
    let counters = counters(db, 20).await;
    let mut session = db.start_session().await.unwrap();
    for in_transaction in [false, true] {
        if in_transaction {
            session.start_transaction().await.unwrap();
        }
        let cursor = counters
            .find_all()
            .sort(|c| c.id.asc())
            .batch_size(3)
            .session(&mut session)
            .await
            .unwrap();
        let ids: Vec<i32> = cursor.map_ok(|c| c.id).try_collect().await.unwrap();
        assert_eq!(ids, (0..20).collect::<Vec<_>>());
    }
    session.commit_transaction().await.unwrap();
}

async fn writes_wait_for_conflicting_transactions(db: &Db) {
    let counters = counters(db, 1).await;
    let mut session = counting(db, &counters).await;
    let other = counters.clone();
    let waiting = async move { other.update_one(|c| c.id.eq(0), |c| c.n.inc(10)).await };
    let committing = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        session.commit_transaction().await
    };
    let (written, committed) = futures::join!(waiting, committing);
    committed.unwrap();
    assert_eq!(written.unwrap().modified, 1);
    assert_eq!(counters.get(&0).await.unwrap().unwrap().n, 11);
}

async fn raw_commands_wait_at_most_their_time_limit(db: &Db) {
    let counters = counters(db, 1).await;
    let mut session = counting(db, &counters).await;
    let limits = [Bson::Int32(30), Bson::Int64(30), Bson::Double(30.0)];
    for limit in limits {
        let late = db
            .run_command(doc! {
                "update": "counters",
                "updates": [{ "q": { "_id": 0 }, "u": { "$inc": { "n": 1 } } }],
                "maxTimeMS": limit,
            })
            .await
            .unwrap_err();
        assert_eq!(late.code(), Some(50.into()), "{late}");
    }
    session.abort_transaction().await.unwrap();
}

/// Like a program that ensures its indexes at start.
async fn creating_an_existing_index_does_not_wait(db: &Db) {
    let counters = counters(db, 1).await;
    // A call that waited for the transaction would use up its time.
    let (long, short) = (20_000, 200);
    let create = |key: &str, limit: i32| {
        doc! {
            "createIndexes": "counters",
            "indexes": [{ "key": { key: 1 }, "name": key }],
            "maxTimeMS": limit,
        }
    };
    db.run_command(create("n", long)).await.unwrap();
    let mut session = counting(db, &counters).await;
    let reply = db.run_command(create("n", long)).await.unwrap();
    assert_eq!(reply.get_str("note").unwrap(), "all indexes already exist");
    assert_eq!(reply.get_i32("numIndexesAfter").unwrap(), 2);
    let late = db.run_command(create("other", short)).await.unwrap_err();
    assert_eq!(late.code(), Some(50.into()), "{late}");
    let unknown = doc! { "dropIndexes": "counters", "index": { "q": 1 }, "maxTimeMS": long };
    let unknown = db.run_command(unknown).await.unwrap_err();
    assert_eq!(unknown.code(), Some(27.into()), "{unknown}");
    session.abort_transaction().await.unwrap();
}

async fn concerns_belong_to_the_whole_transaction(db: &Db) {
    let counters = counters(db, 1)
        .await
        .with_write_concern(WriteConcern::majority())
        .with_read_concern(ReadConcern::Majority);
    let mut session = db.start_session().await.unwrap();
    let options = TransactionOptions::new()
        .read_concern(ReadConcern::Snapshot)
        .write_concern(WriteConcern::majority());
    session.start_transaction_with(options).await.unwrap();
    // The transaction's concerns override those of the collection.
    assert!(
        counters
            .get(&0)
            .session(&mut session)
            .await
            .unwrap()
            .is_some()
    );
    let refused = counters
        .update_one(|c| c.id.eq(0), |c| c.n.inc(1))
        .write_concern(WriteConcern::majority())
        .session(&mut session)
        .await
        .unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    session.commit_transaction().await.unwrap();
    assert!(session.commit_transaction().await.is_ok());
    assert!(session.abort_transaction().await.unwrap_err().is_usage());
    assert!(counters.get(&0).await.unwrap().is_some());
}

async fn an_unacknowledged_write_is_refused(db: &Db) {
    let refused = db
        .collection::<Counter>()
        .insert_one(Counter { id: 1, n: 0 })
        .write_concern(WriteConcern::nodes(0))
        .await
        .unwrap_err();
    assert!(refused.is_usage(), "{refused}");
}

async fn an_abandoned_transaction_leaves_nothing(db: &Db) {
    let counters = counters(db, 1).await;
    let session = counting(db, &counters).await;
    drop(session);
    let written = counters.update_one(|c| c.id.eq(0), |c| c.n.inc(10)).await;
    assert_eq!(written.unwrap().modified, 1);
    assert_eq!(counters.get(&0).await.unwrap().unwrap().n, 10);
}

async fn transaction_bodies_may_abort(db: &Db) {
    let counters = counters(db, 1).await;
    let mut runs = 0;
    let refused = transaction!(db, |tx| -> odm::Result<_> {
        runs += 1;
        counters.delete_all().session(tx).await?;
        Err::<(), _>(odm::Error::other("not today"))
    })
    .await
    .unwrap_err();
    assert_eq!((refused.is_other(), runs), (true, 1));
    assert_eq!(refused.to_string(), "not today");
    assert_eq!(counters.estimated_document_count().await.unwrap(), 1);
}

async fn a_session_of_another_store_is_refused(db: &Db) {
    let counters = counters(db, 1).await;
    let mut foreign = Db::memory().start_session().await.unwrap();
    let refused = counters.get(&0).session(&mut foreign).await.unwrap_err();
    assert!(refused.is_usage(), "{refused}");
}

async fn command_monitoring_reports_commands_and_failures(db: &Db) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let watched = db.on_command(move |event| {
        let outcome = match event.outcome {
            Ok(reply) => reply.to_string(),
            Err(error) => error.code().map_or_else(String::new, odm::Code::name),
        };
        let name = event.command.keys().next().cloned().unwrap_or_default();
        log.lock().unwrap().push((name, outcome));
    });
    let counters = watched.collection::<Counter>();
    counters.insert_one(Counter { id: 1, n: 0 }).await.unwrap();
    counters
        .insert_one(Counter { id: 1, n: 0 })
        .await
        .unwrap_err();
    counters
        .update_one(|c| c.id.eq(1), |c| c.n.inc(1))
        .await
        .unwrap();
    counters
        .insert_many([2, 3].map(|id| Counter { id, n: 0 }))
        .await
        .unwrap();
    counters.find_all().batch_size(2).all().await.unwrap();
    // The handler belongs to one handle.
    db.collection::<Counter>().delete_all().await.unwrap();
    let names: Vec<(String, String)> = seen.lock().unwrap().clone();
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["insert", "insert", "update", "insert", "find", "getMore"]
    );
    let outcomes = seen.lock().unwrap();
    assert_eq!(outcomes[0].1, doc! {"n": 1, "ok": 1.0}.to_string());
    assert_eq!(outcomes[1].1, "DuplicateKey");
    assert_eq!(
        outcomes[2].1,
        doc! {"n": 1, "nModified": 1, "ok": 1.0}.to_string()
    );
}

async fn a_pipeline_answers_any_type(db: &Db) {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Sum {
        total: i32,
    }
    let counters = counters(db, 5).await;
    counters.update_all(|c| c.n.inc(2)).await.unwrap();
    let pipeline = [
        doc! {"$match": {"_id": {"$lt": 4}}},
        doc! {"$group": {"_id": null, "total": {"$sum": "$n"}}},
    ];
    let sums = counters.aggregate(pipeline).with_type::<Sum>().all().await;
    assert_eq!(sums.unwrap(), [Sum { total: 8 }]);
    let refused = counters.aggregate([doc! {"$nonsense": 1}]).all().await;
    assert_eq!(refused.unwrap_err().code().unwrap().number(), 40324);
}

async fn dropping_a_missing_collection_succeeds(db: &Db) {
    let counters = counters(db, 1).await;
    counters.drop().await.unwrap();
    counters.drop().await.unwrap();
    assert!(counters.find_all().all().await.unwrap().is_empty());
}

async fn a_transaction_reads_from_the_primary(db: &Db) {
    let counters = db.collection::<Counter>();
    let told = "a transaction reads from the primary: leave the read preference out";
    let options = TransactionOptions::new().read_preference(ReadPreference::nearest());
    let refused = transaction!(db, options, |tx| {
        counters.find_all().session(tx).all().await
    });
    let refused = refused.await.unwrap_err();
    assert!(refused.to_string().contains(told), "{refused}");
    let refused = transaction!(db, |tx| -> odm::Result<_> {
        let find = counters.find_all().session(tx);
        find.read_preference(ReadPreference::secondary_preferred())
            .all()
            .await
    });
    let refused = refused.await.unwrap_err();
    assert!(refused.to_string().contains(told), "{refused}");
    let options = TransactionOptions::new().read_preference(ReadPreference::primary());
    let read = transaction!(db, options, |tx| {
        counters.find_all().session(tx).all().await
    });
    assert!(read.await.unwrap().is_empty());
}

async fn unsatisfiable_write_concerns_fail_the_commit(db: &Db) {
    let counters = db.collection::<Counter>();
    counters.insert_one(Counter { id: 1, n: 0 }).await.unwrap();
    for concern in [
        WriteConcern::nodes(50),
        WriteConcern::acknowledged_by(Acknowledgment::Custom("nowhere".to_owned())),
    ] {
        let options = TransactionOptions::new().write_concern(concern);
        let refused = transaction!(db, options, |tx| {
            let change = counters.update_one(|c| c.id.eq(1), |c| c.n.inc(1));
            change.session(tx).await
        });
        assert!(refused.await.is_err());
    }
}

async fn unsatisfiable_write_concerns_are_reported_after_the_write(db: &Db) {
    for (id, w, code) in [(1, Bson::from(50), 100), (2, "nowhere".into(), 79)] {
        let reply = db
            .run_command(doc! {
                "insert": "counters",
                "documents": [{ "_id": id, "n": 0 }],
                "writeConcern": { "w": w.clone() },
            })
            .await
            .unwrap();
        let error = reply.get_document("writeConcernError").unwrap();
        assert_eq!(error.get_i32("code").unwrap(), code);
        let asked = doc! { "w": w, "wtimeout": 0, "provenance": "clientSupplied" };
        assert_eq!(
            error.get_document("errInfo").unwrap(),
            &doc! { "writeConcern": asked }
        );
    }
    let counters = db.collection::<Counter>();
    assert_eq!(counters.estimated_document_count().await.unwrap(), 2);
}

async fn snapshot_sessions_read_one_point_in_time(db: &Db) {
    let counters = counters(db, 5).await;
    let snapshot = doc! { "level": "snapshot" };
    let read = |concern: &bson::Document| {
        doc! { "find": "counters", "batchSize": 2, "readConcern": concern.clone() }
    };
    let page = |reply: &bson::Document, batch: &str| {
        let cursor = reply.get_document("cursor").unwrap();
        let ids = cursor.get_array(batch).unwrap().iter();
        let ids: Vec<i32> = ids
            .map(|row| row.as_document().unwrap().get_i32("n").unwrap())
            .collect();
        (ids, cursor.get_timestamp("atClusterTime").ok())
    };
    let reply = db.run_command(read(&snapshot)).await.unwrap();
    let (first, at) = page(&reply, "firstBatch");
    assert_eq!(first, [0, 0]);
    let at = at.unwrap();
    counters.update_all(|c| c.n.set(1)).await.unwrap();
    counters.delete_many(|c| c.id.gt(2)).await.unwrap();

    let id = reply.get_document("cursor").unwrap().get_i64("id").unwrap();
    let more = doc! { "getMore": id, "collection": "counters" };
    let more = db.run_command(more).await.unwrap();
    assert_eq!(page(&more, "nextBatch"), (vec![0, 0, 0], Some(at)));
    let again = doc! { "level": "snapshot", "atClusterTime": at };
    let reply = db.run_command(read(&again)).await.unwrap();
    assert_eq!(page(&reply, "firstBatch"), (vec![0, 0], Some(at)));
    let values = doc! { "distinct": "counters", "key": "n", "readConcern": again.clone() };
    let values = db.run_command(values).await.unwrap();
    assert_eq!(values.get_array("values").unwrap(), &[Bson::Int32(0)]);
    assert_eq!(values.get_timestamp("atClusterTime").unwrap(), at);
    let count = doc! {
        "aggregate": "counters",
        "pipeline": [{ "$count": "n" }],
        "cursor": {},
        "readConcern": again.clone(),
    };
    let count = db.run_command(count).await.unwrap();
    assert_eq!(page(&count, "firstBatch"), (vec![5], Some(at)));

    // The definition is current, the documents are those of the snapshot.
    counters.drop().await.unwrap();
    let reply = db.run_command(read(&again)).await.unwrap();
    assert_eq!(page(&reply, "firstBatch").0, [0; 0]);
    counters.insert_one(Counter { id: 9, n: 9 }).await.unwrap();
    for (concern, code) in [
        (again, 246),
        (doc! { "level": "majority", "atClusterTime": at }, 72),
        (doc! { "level": "snapshot", "atClusterTime": 1 }, 14),
        (
            doc! { "level": "snapshot", "atClusterTime": at, "afterClusterTime": at },
            72,
        ),
    ] {
        let refused = db.run_command(read(&concern)).await.unwrap_err();
        assert_eq!(refused.code().unwrap().number(), code, "{concern}");
    }
}

async fn misuse_errors_give_advice(db: &Db) {
    let mut session = db.start_session().await.unwrap();
    let said = |result: odm::Result<()>| result.unwrap_err().to_string();
    let nothing = "no transaction is under way: call `start_transaction` first";
    assert_eq!(said(session.commit_transaction().await), nothing);
    assert_eq!(said(session.abort_transaction().await), nothing);
    session.start_transaction().await.unwrap();
    assert_eq!(
        said(session.start_transaction().await),
        "a transaction is already under way: commit or abort it first"
    );
    session.commit_transaction().await.unwrap();
    assert_eq!(
        said(session.abort_transaction().await),
        "the transaction is committed: it can't be aborted"
    );
    session.start_transaction().await.unwrap();
    session.abort_transaction().await.unwrap();
    assert_eq!(
        said(session.abort_transaction().await),
        "the transaction is already aborted"
    );
    assert_eq!(
        said(session.commit_transaction().await),
        "the transaction was aborted: there is nothing to commit"
    );
}

async fn read_preferences_are_checked(db: &Db) {
    let counters = db.collection::<Counter>();
    let near = ReadPreference::nearest()
        .tags([("region", "nowhere")])
        .tags([("", ""); 0])
        .max_staleness(Duration::from_secs(90));
    let find = counters.find_all().read_preference(near.clone());
    assert_eq!(
        find.command()
            .unwrap()
            .get_document("$readPreference")
            .unwrap(),
        &doc! {
            "mode": "nearest", "tags": [{"region": "nowhere"}, {}], "maxStalenessSeconds": 90_i64,
        }
    );
    assert!(
        counters
            .find_all()
            .read_preference(near)
            .all()
            .await
            .unwrap()
            .is_empty()
    );
    for wrong in [
        ReadPreference::primary().tags([("region", "eu")]),
        ReadPreference::secondary().max_staleness(Duration::from_secs(89)),
    ] {
        let refused = counters.find_all().read_preference(wrong).all().await;
        assert_eq!(refused.unwrap_err().model(), Some("Counter"));
    }
}

async fn sessions_have_options(db: &Db) {
    let counters = counters(db, 3).await;
    let told = SessionOptions::new().causal_consistency(true);
    // Transactions use the session's defaults unless they have own options.
    let by = |concern| TransactionOptions::new().write_concern(concern);
    let mut session = db
        .start_session_with(told.clone().transactions(by(WriteConcern::nodes(0))))
        .await
        .unwrap();
    let refused = session.start_transaction().await.unwrap_err();
    assert!(
        refused.to_string().contains("nobody acknowledges"),
        "{refused}"
    );
    // A snapshot reads majority-committed data.
    let majority = by(WriteConcern::majority());
    session.start_transaction_with(majority).await.unwrap();
    let change = counters.update_one(|c| c.id.eq(1), |c| c.n.inc(1));
    change.session(&mut session).await.unwrap();
    session.commit_transaction().await.unwrap();

    let both = db
        .start_session_with(told.snapshot(true))
        .await
        .unwrap_err();
    assert!(both.to_string().contains("leave one of them out"), "{both}");
    match db
        .start_session_with(SessionOptions::new().snapshot(true))
        .await
    {
        Ok(mut session) => {
            let count = counters.count_documents(|c| c.n.eq(1));
            assert_eq!(count.session(&mut session).await.unwrap(), 1);
            counters.update_all(|c| c.n.set(1)).await.unwrap();
            let count = counters.count_documents(|c| c.n.eq(1));
            assert_eq!(count.session(&mut session).await.unwrap(), 1);
        }
        Err(refused) => assert!(
            !db.capability().await.unwrap().durable
                && refused.to_string().contains("snapshot sessions"),
            "{refused}"
        ),
    }
}

async fn sessions_are_started_and_killed_by_name(db: &Db) {
    let started = db.run_command(doc! { "startSession": 1 }).await.unwrap();
    assert_eq!(started.get_i32("timeoutMinutes").unwrap(), 30);
    let session = started.get_document("id").unwrap();
    let id = session.get("id").unwrap();
    assert!(
        matches!(id, Bson::Binary(id) if id.bytes.len() == 16),
        "{id}"
    );
    for command in ["refreshSessions", "killSessions", "endSessions"] {
        let reply = db.run_command(doc! { command: [session] }).await.unwrap();
        assert_eq!(reply.get("ok"), Some(&Bson::Double(1.0)));
        let refused = db.run_command(doc! { command: [{ "id": 1 }] }).await;
        assert_eq!(refused.unwrap_err().code().unwrap().number(), 14);
    }
}
