//! Databases on hostile engines.
#![cfg(feature = "memory")]

use std::ops::Range;
use std::time::Duration;

use bson::doc;
use odm_engine::{Context, Hostility};
use serde::{Deserialize, Serialize};

use crate::collection::{Collection, Db};
use crate::error::{Code, Error};
use crate::query::Filter;

const TRANSIENT: &str = "TransientTransactionError";
const RETRYABLE: &str = "RetryableWriteError";
const UNKNOWN_COMMIT: &str = "UnknownTransactionCommitResult";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, odm::Document)]
#[odm(collection = "counters")]
struct Counter {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
}

/// A collection with the counters 0 to 9, whose engine is hostile after they are there.
async fn counters(hostility: Hostility) -> (Db, Collection<Counter>) {
    let db = Db::memory_with(Context::system().with_hostility(hostility.clone()));
    hostility.pause();
    let counters = db.collection::<Counter>();
    let documents = (0..10).map(|id| Counter { id, n: 0 });
    counters.insert_many(documents).await.unwrap();
    hostility.resume();
    (db, counters)
}

/// The sum of all counters, read without faults.
async fn sum(counters: &Collection<Counter>, hostility: &Hostility) -> i32 {
    hostility.pause();
    let all = counters.find_all().all().await.unwrap();
    hostility.resume();
    all.iter().map(|counter| counter.n).sum()
}

/// Adds 1 to some counters in one transaction.
async fn add_to_each(db: &Db, counters: &Collection<Counter>, ids: Range<i32>) -> odm::Result<()> {
    odm::transaction!(db, |tx| {
        for id in ids.clone() {
            let add = counters.update_one(|c| c.id.eq(id), |c| c.n.inc(1));
            add.session(tx).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn retryable_writes_are_executed_once() {
    let (mut lost, mut written) = (0, 0);
    for seed in 0..100 {
        let hostility = Hostility::new(seed).breaking_connections();
        let (_db, counters) = counters(hostility.clone()).await;
        for calls in 0..10 {
            let before = sum(&counters, &hostility).await;
            let updated = counters.update_one(|c| c.id.eq(1), |c| c.n.inc(1)).await;
            let after = sum(&counters, &hostility).await;
            match updated {
                Ok(result) => {
                    assert_eq!(result.modified, 1, "seed {seed}, call {calls}");
                    assert_eq!(after, before + 1, "seed {seed}, call {calls}");
                }
                Err(error) => {
                    assert!(error.is_connection() && error.is_retryable(), "{error}");
                    assert_eq!(error.labels(), [RETRYABLE]);
                    let origin = format!("`Hostility`, seed {seed}");
                    assert!(error.to_string().contains(&origin), "{error}");
                    lost += i32::from(after == before);
                    written += i32::from(after == before + 1);
                    assert!((before..=before + 1).contains(&after));
                }
            }
        }
    }
    assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
}

#[tokio::test]
async fn recoverable_faults_are_not_seen() {
    for seed in 0..50 {
        let hostility = Hostility::new(seed).all().recoverable();
        let (db, counters) = counters(hostility.clone()).await;
        for _ in 0..5 {
            counters
                .update_one(|c| c.id.eq(1), |c| c.n.inc(1))
                .await
                .unwrap();
            let found = counters.find_one_and_update(|c| c.id.eq(2), |c| c.n.inc(1));
            assert_eq!(found.await.unwrap().unwrap().id, 2);
            add_to_each(&db, &counters, 3..6).await.unwrap();
            counters.update_all(|c| c.n.inc(1)).await.unwrap();
            assert_eq!(
                counters.count_documents(|_| Filter::all()).await.unwrap(),
                10
            );
        }
        assert_eq!(sum(&counters, &hostility).await, 5 * (1 + 1 + 3 + 10));
    }
}

#[tokio::test]
async fn writes_of_several_documents_report_broken_connections() {
    let (mut lost, mut written) = (0, 0);
    for seed in 0..100 {
        let hostility = Hostility::new(seed).breaking_connections();
        let (_db, counters) = counters(hostility.clone()).await;
        let updated = counters.update_all(|c| c.n.inc(1)).await;
        let sum = sum(&counters, &hostility).await;
        match updated {
            Ok(_) => assert_eq!(sum, 10),
            Err(error) => {
                assert!(
                    error.is_connection() && error.labels().is_empty(),
                    "{error}"
                );
                lost += i32::from(sum == 0);
                written += i32::from(sum == 10);
            }
        }
    }
    assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
}

#[tokio::test]
async fn commands_meet_a_member_that_is_not_the_primary() {
    let (mut reads, mut writes, mut batches) = (0, 0, 0);
    for seed in 0..200 {
        let (_db, counters) = counters(Hostility::new(seed).stepping_down()).await;
        let code = |error: &Error| error.code().unwrap();
        if let Err(error) = counters.get(&1).await {
            assert_eq!(code(&error), Code::NOT_PRIMARY_NO_SECONDARY_OK);
            assert!(error.labels().is_empty());
            reads += 1;
        }
        if let Err(error) = counters.delete_one(|c| c.id.eq(1)).await {
            assert_eq!(code(&error), Code::NOT_WRITABLE_PRIMARY);
            assert_eq!(error.labels(), [RETRYABLE]);
            writes += 1;
        }
        if let Err(error) = counters.delete_many(|c| c.id.gt(5)).await {
            assert_eq!(code(&error), Code::NOT_WRITABLE_PRIMARY);
            assert!(error.labels().is_empty());
            batches += 1;
        }
    }
    assert!(reads > 0 && writes > 0 && batches > 0);
}

#[tokio::test]
async fn conflicts_abort_transactions() {
    let (mut conflicts, mut calm) = (0, 0);
    for seed in 0..100 {
        let hostility = Hostility::new(seed).conflicting_writes();
        let (db, counters) = counters(hostility.clone()).await;
        // Outside of transactions, mongod itself tries again.
        counters.update_all(|c| c.n.inc(1)).await.unwrap();
        let mut session = db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let mut failed = None;
        for id in 0..10 {
            let add = counters.update_one(|c| c.id.eq(id), |c| c.n.inc(1));
            if let Err(error) = add.session(&mut session).await {
                failed = Some(error);
                break;
            }
        }
        let committed = session.commit_transaction().await;
        if let Some(error) = failed {
            assert_eq!(error.code(), Some(Code::WRITE_CONFLICT));
            assert_eq!(error.labels(), [TRANSIENT]);
            let refused = committed.unwrap_err();
            assert_eq!(refused.code(), Some(Code::NO_SUCH_TRANSACTION));
            assert_eq!(sum(&counters, &hostility).await, 10);
            conflicts += 1;
        } else {
            committed.unwrap();
            assert_eq!(sum(&counters, &hostility).await, 20);
            calm += 1;
        }
    }
    assert!(conflicts > 0 && calm > 0, "{conflicts} of {calm}");
}

#[tokio::test]
async fn transactions_of_the_macro_survive_everything() {
    for seed in 0..100 {
        let hostility = Hostility::new(seed).all();
        let (db, counters) = counters(hostility.clone()).await;
        for _ in 0..3 {
            add_to_each(&db, &counters, 0..5).await.unwrap();
        }
        assert_eq!(sum(&counters, &hostility).await, 15);
    }
}

#[tokio::test]
async fn a_commit_with_an_unknown_result_may_be_sent_again() {
    let mut unknown = 0;
    for seed in 0..300 {
        let hostility = Hostility::new(seed).breaking_connections().stepping_down();
        let (db, counters) = counters(hostility.clone()).await;
        let mut session = db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        hostility.pause();
        let add = counters.update_one(|c| c.id.eq(1), |c| c.n.inc(1));
        add.session(&mut session).await.unwrap();
        hostility.resume();
        while let Err(error) = session.commit_transaction().await {
            assert_eq!(error.labels(), [RETRYABLE, UNKNOWN_COMMIT], "{error}");
            unknown += 1;
        }
        assert_eq!(sum(&counters, &hostility).await, 1);
    }
    assert!(unknown > 0);
}

/// Such a transaction would block other writers until it expires.
#[tokio::test]
async fn a_dropped_commit_leaves_no_open_transaction() {
    for seed in 0..20 {
        let hostility = Hostility::new(seed).delaying_replies(Duration::from_millis(20));
        let (db, counters) = counters(hostility.clone()).await;
        let mut session = db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        hostility.pause();
        let add = counters.update_one(|c| c.id.eq(1), |c| c.n.inc(1));
        add.session(&mut session).await.unwrap();
        hostility.resume();
        let commit = tokio::time::timeout(Duration::ZERO, session.commit_transaction());
        let _ = commit.await;
        drop(session);
        hostility.pause();
        let add = counters
            .update_one(|c| c.id.eq(1), |c| c.n.inc(1))
            .into_future();
        tokio::time::timeout(Duration::from_secs(10), add)
            .await
            .unwrap()
            .unwrap();
    }
}

#[tokio::test]
async fn change_streams_resume_after_broken_connections() {
    for seed in 0..50 {
        let hostility = Hostility::new(seed).all().recoverable();
        let (_db, counters) = counters(hostility.clone()).await;
        let mut changes = counters.watch().await.unwrap();
        for id in 100..120 {
            counters.insert_one(&Counter { id, n: 0 }).await.unwrap();
            let change = changes.next().await.unwrap().unwrap();
            assert_eq!(change.id(), Some(&id));
        }
    }
}

/// A cursor that took an empty batch for the end of a tail would wait for a write.
#[tokio::test]
async fn empty_batches_do_not_end_results() {
    for seed in 0..50 {
        let (db, counters) = counters(Hostility::new(seed).splitting_batches()).await;
        assert_eq!(counters.find_all().all().await.unwrap().len(), 10);
        let some = counters.find(|c| c.n.eq(0)).batch_size(3).all();
        let some = tokio::time::timeout(Duration::from_secs(10), some).await;
        assert_eq!(some.unwrap().unwrap().len(), 10);
        assert_eq!(counters.count_documents(|c| c.id.lt(4)).await.unwrap(), 4);
        let listed = db.run_command(doc! { "listCollections": 1 }).all();
        assert_eq!(listed.await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_seed_leads_to_the_same_faults() {
    let outcomes = async |seed| {
        let db = Db::memory_hostile(seed);
        let mut outcomes = Vec::new();
        for n in 0..100 {
            let insert = doc! { "insert": "c", "documents": [{ "_id": n % 7 }] };
            let outcome = db.run_command(insert).await;
            outcomes.push(outcome.map_err(|error| error.to_string()));
        }
        outcomes
    };
    assert_eq!(outcomes(7).await, outcomes(7).await);
    assert_ne!(outcomes(7).await, outcomes(8).await);
}

#[tokio::test]
async fn an_engine_has_one_of_three_versions() {
    for (major, minor, version) in [(6, 0, "6.0.5"), (7, 0, "7.0.0"), (8, 0, "8.0.0")] {
        let db = Db::memory_as(major, minor).unwrap();
        let info = db.run_command(bson::doc! { "buildInfo": 1 }).await.unwrap();
        assert_eq!(info.get_str("version").unwrap(), version);
    }
    for (major, minor) in [(5, 0), (6, 1), (8, 1), (9, 0)] {
        let error = Db::memory_as(major, minor).unwrap_err();
        assert!(error.is_config(), "{error}");
        let expected = format!("no version {major}.{minor}, only 6.0, 7.0 and 8.0");
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
}
