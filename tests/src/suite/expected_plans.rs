//! Writes that run only if their plan still holds: every verb that has a plan, crossed with what another program changes.

mod changes;
mod verbs;

use std::collections::BTreeMap;
use std::time::Duration;

use odm::bson::Document as BsonDocument;
use odm::collection::Loaded;
use odm::prelude::*;

use self::changes::{CHANGES, Change, everything, picture, restore, set_up, state};
use self::verbs::{Host, How, NAMED, Named, Outcome, Plan, VERBS, Verb, write};
use super::relations::watched;
use crate::case::cases;
use crate::random::{Random, count};

cases![
    every_verb_refuses_an_outdated_plan,
    random_changes_are_noticed,
    an_error_lists_what_differs,
    a_plan_of_another_call_is_refused,
    what_is_said_beside_a_change_is_compared,
    without_a_transaction_nothing_is_sent,
    a_transaction_of_the_caller_compares,
    a_retried_transaction_compares_again,
    a_typed_change_shows_in_the_version,
];

async fn first(db: &Db) -> Option<Loaded<Host>> {
    db.collection::<Host>().load(&1).await.unwrap()
}

async fn planned(db: &Db, verb: Verb, loaded: &mut Loaded<Host>) -> Plan {
    let plan = write(db, verb, NAMED, loaded, How::Plan).await;
    plan.unwrap().plan()
}

fn text(result: odm::Result<Outcome>) -> Result<String, String> {
    match result {
        Ok(outcome) => Ok(outcome.done()),
        Err(error) => {
            assert!(!error.is_outdated_plan(), "{error}");
            Err(error.to_string())
        }
    }
}

/// The documents without the times of their writes.
async fn written(db: &Db) -> Vec<Vec<BsonDocument>> {
    let mut all = state(db).await;
    for document in all.iter_mut().flatten() {
        document.remove("created");
        document.remove("updated");
    }
    for documents in &mut all {
        documents.sort_by_key(|document| document.get_i32("_id").unwrap());
    }
    all
}

/// Plans, changes, and writes; returns whether the write was refused.
async fn is_refused(db: &Db, verb: Verb, changes: &[Change]) -> bool {
    let what = format!("{verb:?} {changes:?}");
    set_up(db).await;
    let mut loaded = first(db).await.unwrap();
    let plan = planned(db, verb, &mut loaded).await;
    let planned = picture(verb, &state(db).await);
    for change in changes {
        change.apply(db).await;
    }
    let stored = state(db).await;
    let now = picture(verb, &stored);
    let is_outdated = planned != now;
    let before = if is_outdated {
        everything(db).await
    } else {
        BTreeMap::new()
    };
    let result = write(db, verb, NAMED, &mut loaded, How::Expecting(&plan)).await;
    if is_outdated {
        let error = result.expect_err(&what);
        assert!(error.is_outdated_plan(), "{what}: {error}");
        let text = error.to_string();
        assert!(text.starts_with(verb.model()), "{what}: {text}");
        assert_eq!(everything(db).await, before, "{what}");
        return true;
    }
    let result = result.inspect_err(|error| {
        assert!(!error.is_outdated_plan(), "{what}: {error}");
    });
    let result = text(result);
    let after = written(db).await;
    restore(db, &stored).await;
    if let Some(again) = first(db).await {
        loaded = again;
    }
    let alone = write(db, verb, NAMED, &mut loaded, How::Alone).await;
    assert_eq!(result, text(alone), "{what}");
    assert_eq!(after, written(db).await, "{what}");
    false
}

async fn every_verb_refuses_an_outdated_plan(db: &Db) {
    let (mut refused, mut done) = (0, 0);
    for verb in VERBS {
        assert!(!is_refused(db, verb, &[]).await, "{verb:?}");
        for change in CHANGES {
            if is_refused(db, verb, &[change]).await {
                refused += 1;
            } else {
                done += 1;
            }
        }
    }
    assert!(refused > 100 && done > 100, "{refused} {done}");
}

async fn random_changes_are_noticed(db: &Db) {
    let mut random = Random::unless_set("ODM_RANDOM_PLANS", 4711);
    let rounds = count("ODM_RANDOM_PLANS", 60);
    for _ in 0..rounds {
        let verb = *random.pick(&VERBS);
        let changes: Vec<_> = (0..2 + random.below(3))
            .map(|_| *random.pick(&CHANGES))
            .collect();
        is_refused(db, verb, &changes).await;
    }
}

async fn an_error_lists_what_differs(db: &Db) {
    use Change::{
        AnotherMatches, FirstMatchesNot, MessageMovesAway, MessageVersion, NewAnswer, NewHostNine,
        NewMessage, NewPart, NoHostOne,
    };
    let cases: [(Verb, &[Change], &str); 8] = [
        (
            Verb::UpdateMany,
            &[NewMessage],
            "messages (copy `host_name` by `host`): 3 documents planned, 4 now",
        ),
        (
            Verb::UpdateMany,
            &[FirstMatchesNot],
            "hosts (match the filter): 2 documents planned, 1 now; messages (copy `host_name` by `host`): 3 documents planned, \
             1 now",
        ),
        (
            Verb::UpdateMany,
            &[AnotherMatches, MessageMovesAway],
            "hosts (match the filter): other documents",
        ),
        (
            Verb::BulkDelete,
            &[MessageVersion],
            "messages (are deleted with others): the documents have changed",
        ),
        (
            Verb::UpsertOfNone,
            &[NewHostNine],
            "hosts (insert, as none matches): 1 document planned, 0 now; hosts (match the filter): 0 documents planned, 1 now",
        ),
        (
            Verb::DeleteById,
            &[NewAnswer],
            "answers (`Message.answers` declares `on_delete = cascade`): 3 documents planned, 4 now",
        ),
        (
            Verb::DeleteById,
            &[NewPart],
            "hosts (`Host.parts` declares `on_delete = cascade`): 1 document planned, 2 now",
        ),
        (
            Verb::Save,
            &[NoHostOne],
            "hosts (match the filter): 1 document planned, 0 now; messages (copy `host_name` by `host`): 2 documents planned, \
             0 now",
        ),
    ];
    for (verb, changes, expected) in cases {
        set_up(db).await;
        let mut loaded = first(db).await.unwrap();
        let plan = planned(db, verb, &mut loaded).await;
        for change in changes {
            change.apply(db).await;
        }
        let result = write(db, verb, NAMED, &mut loaded, How::Expecting(&plan)).await;
        let error = result.unwrap_err();
        assert_eq!(error.model(), Some("Host"));
        assert_eq!(
            error.to_string(),
            format!(
                "Host: the plan is outdated, and this call has written nothing: {expected}: make the plan again"
            )
        );
    }
}

async fn a_plan_of_another_call_is_refused(db: &Db) {
    set_up(db).await;
    let mut loaded = first(db).await.unwrap();
    let mut plans = Vec::new();
    for verb in VERBS {
        plans.push((verb, planned(db, verb, &mut loaded).await));
    }
    let before = everything(db).await;
    let mut refused = 0;
    for (planned, plan) in &plans {
        let others = VERBS
            .into_iter()
            .filter(|verb| verb.deletes() == planned.deletes() && verb.twin() != planned.twin());
        for verb in others {
            let what = format!("{planned:?} {verb:?}");
            let result = write(db, verb, NAMED, &mut loaded, How::Expecting(plan)).await;
            let error = result.expect_err(&what);
            assert!(error.is_outdated_plan(), "{what}: {error}");
            assert!(
                error.to_string().contains("another collection"),
                "{what}: {error}"
            );
            refused += 1;
        }
        // The same verb with other values.
        let named = [
            Named {
                name: "adam",
                ..NAMED
            },
            Named { rank: 0, ..NAMED },
            Named {
                number: 30,
                ..NAMED
            },
        ];
        let mut differs = 0;
        for named in named {
            // A write that is not refused is aborted.
            let mut session = db.start_session().await.unwrap();
            session.start_transaction().await.unwrap();
            let how = How::InSession(plan, &mut session);
            let result = write(db, *planned, named, &mut loaded, how).await;
            differs += i32::from(result.is_err_and(|error| error.is_outdated_plan()));
            session.abort_transaction().await.unwrap();
            if *planned == Verb::Save {
                loaded = first(db).await.unwrap();
            }
        }
        let names_nothing = matches!(
            planned,
            Verb::DeleteAll | Verb::DeleteById | Verb::BulkDelete
        );
        assert_eq!(differs > 0, !names_nothing, "{planned:?} {differs}");
    }
    assert!(refused > 200, "{refused}");
    // The same call on another collection.
    let other = db.with_collection_names(|name| format!("other_{name}"));
    for (verb, plan) in &plans {
        let result = write(&other, *verb, NAMED, &mut loaded, How::Expecting(plan)).await;
        assert!(result.unwrap_err().is_outdated_plan(), "{verb:?}");
    }
    assert_eq!(everything(db).await, before);
}

async fn what_is_said_beside_a_change_is_compared(db: &Db) {
    set_up(db).await;
    let hosts = db.collection::<Host>();
    let change = || hosts.update_by_id(&1, |h| h.name.set("eve"));
    let plans = [
        change().propagate().plan().await.unwrap(),
        change().in_background().plan().await.unwrap(),
        change()
            .propagate()
            .check_references()
            .plan()
            .await
            .unwrap(),
    ];
    for (place, plan) in plans.iter().enumerate() {
        let before = everything(db).await;
        let results = [
            change().propagate().expecting(plan).await.map(drop),
            change().in_background().expecting(plan).await.map(drop),
            change()
                .propagate()
                .check_references()
                .expecting(plan)
                .await
                .map(drop),
        ];
        for (other, result) in results.into_iter().enumerate() {
            match result {
                Ok(()) => assert_eq!(place, other),
                Err(error) => assert!(place != other && error.is_outdated_plan(), "{error}"),
            }
        }
        assert_ne!(everything(db).await, before);
    }
    // What says nothing of the documents may differ.
    let plan = change().comment("a plan").propagate().plan().await.unwrap();
    let commented = change().comment("approved").propagate();
    commented.expecting(&plan).await.unwrap();
}

async fn without_a_transaction_nothing_is_sent(db: &Db) {
    set_up(db).await;
    let mut loaded = first(db).await.unwrap();
    let (watched, sent) = watched(db);
    for verb in VERBS {
        let plan = planned(&watched, verb, &mut loaded).await;
        sent.lock().unwrap().clear();
        for how in [How::NonAtomicFirst(&plan), How::NonAtomicLast(&plan)] {
            let what = format!("{verb:?} {how:?}");
            let result = write(&watched, verb, NAMED, &mut loaded, how).await;
            let error = result.expect_err(&what);
            assert!(error.is_usage(), "{what}: {error}");
            assert!(
                error.to_string().contains("`non_atomic()`"),
                "{what}: {error}"
            );
        }
        assert!(sent.lock().unwrap().is_empty(), "{verb:?}");
    }
}

async fn a_transaction_of_the_caller_compares(db: &Db) {
    for verb in VERBS {
        set_up(db).await;
        let mut loaded = first(db).await.unwrap();
        let plan = planned(db, verb, &mut loaded).await;
        let hosts = db.collection::<Host>();
        // The transaction itself outdates the plan, and goes on.
        let before = written(db).await;
        let mut session = db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let number = hosts.update_many(|h| h.id.lte(3), |h| h.number.inc(100));
        number.session(&mut session).await.unwrap();
        let how = How::InSession(&plan, &mut session);
        let result = write(db, verb, NAMED, &mut loaded, how).await;
        // Inserts and upserts of none read nothing.
        match verb {
            verb if verb.inserts() => assert!(result.unwrap_err().is_dangling()),
            Verb::UpsertOfNone => drop(result.unwrap()),
            _ => assert!(result.unwrap_err().is_outdated_plan(), "{verb:?}"),
        }
        session.abort_transaction().await.unwrap();
        assert_eq!(written(db).await, before, "{verb:?}");

        loaded = first(db).await.unwrap();
        session.start_transaction().await.unwrap();
        let how = How::InSession(&plan, &mut session);
        let result = write(db, verb, NAMED, &mut loaded, how).await;
        result.unwrap().done();
        session.commit_transaction().await.unwrap();
        let done = written(db).await;
        set_up(db).await;
        loaded = first(db).await.unwrap();
        let alone = write(db, verb, NAMED, &mut loaded, How::Alone).await;
        alone.unwrap().done();
        assert_eq!(written(db).await, done, "{verb:?}");
    }
}

/// Another transaction holds the host while the plan is compared, so that the write conflicts with it.
async fn a_retried_transaction_compares_again(db: &Db) {
    for verb in VERBS {
        if verb.inserts() || verb == Verb::UpsertOfNone {
            continue;
        }
        set_up(db).await;
        let mut loaded = first(db).await.unwrap();
        let plan = planned(db, verb, &mut loaded).await;
        let (watched, sent) = watched(db);
        let mut session = db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        let hosts = db.collection::<Host>();
        let number = hosts.update_many(|h| h.id.lte(3), |h| h.number.inc(100));
        number.session(&mut session).await.unwrap();
        let write = write(&watched, verb, NAMED, &mut loaded, How::Expecting(&plan));
        let writes = ["update", "delete", "findAndModify"];
        let is_write = |it: &BsonDocument| writes.iter().any(|name| it.contains_key(name));
        let commit = async {
            // A busy machine takes its time until the write has met the other transaction.
            for _ in 0..1_000 {
                if sent.lock().unwrap().iter().any(is_write) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            session.commit_transaction().await.unwrap();
        };
        let (result, ()) = tokio::join!(write, commit);
        assert!(result.unwrap_err().is_outdated_plan(), "{verb:?}");
        // It has tried to write, and then read again.
        let sent = sent.lock().unwrap();
        let read = |it: &BsonDocument| it.contains_key("find");
        let written = sent.iter().position(is_write);
        assert!(written < sent.iter().rposition(read), "{verb:?}: {sent:?}");
        assert!(written.is_some(), "{verb:?}: {sent:?}");
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "topics",
    has_many(posts: Post, by = topic, on_delete = set_null)
)]
struct Topic {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    views: i32,
    #[odm(version)]
    version: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    topic: Option<Ref<Topic>>,
    #[odm(copy_of(topic.title))]
    title: Option<String>,
}

async fn a_typed_change_shows_in_the_version(db: &Db) {
    let topics = db.collection::<Topic>();
    let topic = Topic {
        id: 1,
        title: "one".to_owned(),
        views: 0,
        version: 0,
    };
    topics.insert_one(&topic).await.unwrap();
    let change = || topics.update_by_id(&1, |t| t.title.set("two")).propagate();
    let delete = || topics.delete_by_id(&1).with_dependents();
    let (update_plan, delete_plan) = (change().plan().await, delete().plan().await);
    let (update_plan, delete_plan) = (update_plan.unwrap(), delete_plan.unwrap());
    topics.update_by_id(&1, |t| t.views.inc(1)).await.unwrap();
    let errors = [
        change().expecting(&update_plan).await.unwrap_err(),
        delete().expecting(&delete_plan).await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_outdated_plan());
        let text = error.to_string();
        let expected = "topics (match the filter): the documents have changed";
        assert!(text.contains(expected), "{text}");
    }
    let plan = change().plan().await.unwrap();
    assert_eq!(change().expecting(&plan).await.unwrap().update.modified, 1);
    let error = change().expecting(&plan).await.unwrap_err();
    assert!(
        error.is_outdated_plan(),
        "the write itself outdates its plan"
    );
    let plan = delete().plan().await.unwrap();
    assert_eq!(delete().expecting(&plan).await.unwrap().deleted, 1);
}
