//! Deadlines: of calls, of blocks, of transactions, of handles and of sessions.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use futures::future::BoxFuture;
use odm::bson;
use odm::prelude::*;

use crate::case::cases;

cases![
    calls_that_are_done_in_time_return_their_results,
    nothing_is_sent_after_a_deadline,
    commands_have_what_is_left,
    shorter_limits_of_a_call_hold,
    a_write_waits_until_its_deadline,
    a_find_and_update_waits_until_its_deadline,
    a_transaction_ends_at_its_deadline,
    a_block_has_one_deadline,
    errors_list_what_was_done,
    errors_list_the_last_of_many_commands,
    errors_list_commands_of_every_deadline,
    the_earlier_of_two_deadlines_counts,
    a_handle_has_a_deadline,
    a_session_has_a_deadline,
    errors_of_a_program_come_from_deadlines,
];

const LONG: Duration = Duration::from_secs(60);
/// Long enough for a few commands on a busy machine.
const SHORT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    n: i32,
    before: Option<Ref<Self>>,
}

fn note(id: i32) -> Note {
    Note {
        id,
        n: 0,
        before: (id > 0).then(|| Ref::from(id - 1)),
    }
}

async fn notes(db: &Db) -> Collection<Note> {
    let notes = db.collection::<Note>();
    notes.insert_many((0..300).map(note)).await.unwrap();
    notes
}

/// Calls of a collection of 300 notes, each of one command or more.
type Run = fn(Collection<Note>, Duration) -> BoxFuture<'static, odm::Result<()>>;

macro_rules! calls {
    ($($name:literal: |$notes:ident| $call:expr;)*) => {
        const CALLS: &[(&str, Run)] = &[$(($name, |$notes, limit| {
            Box::pin(async move { $call.within(limit).await.map(drop) })
        })),*];
    };
}

calls! {
    "find": |notes| notes.find(|n| n.id.gt(3)).all();
    "stream": |notes| notes.find_all();
    "find_one": |notes| notes.find_one(|n| n.id.eq(3));
    "get": |notes| notes.get(&3);
    "count": |notes| notes.find_all().count();
    "estimated count": |notes| notes.estimated_document_count();
    "distinct": |notes| notes.distinct(|n| n.n, |_| Filter::all());
    "aggregate": |notes| notes.aggregate([doc! {"$match": {"n": 0}}]).all();
    "join": |notes| notes.find_all().join(|n| n.before).all();
    "insert_one": |notes| notes.insert_one(note(1_000));
    "insert_many": |notes| notes.insert_many((2_000..2_003).map(note));
    "update_one": |notes| notes.update_one(|n| n.id.eq(1), |n| n.n.inc(1));
    "update_many": |notes| notes.update_many(|n| n.id.lt(9), |n| n.n.inc(1));
    "replace_one": |notes| notes.replace_one(|n| n.id.eq(2), note(2));
    "find_one_and_update": |notes| notes.find_one_and_update(|n| n.id.eq(4), |n| n.n.inc(1));
    "delete_one": |notes| notes.delete_one(|n| n.id.eq(299));
    "delete_many": |notes| notes.delete_many(|n| n.id.gt(290));
}

/// A handle that lists its commands.
fn listed(db: &Db) -> (Db, Arc<Mutex<Vec<bson::Document>>>) {
    let commands = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&commands);
    let db = db.on_command(move |event| list.lock().unwrap().push(event.command.clone()));
    (db, commands)
}

async fn calls_that_are_done_in_time_return_their_results(db: &Db) {
    let notes = notes(db).await;
    for (name, run) in CALLS {
        let done = run(notes.clone(), LONG).await;
        done.unwrap_or_else(|error| panic!("{name}: {error}"));
        // A limit that no clock reaches.
        let done = run(notes.clone(), Duration::MAX).await;
        let repeated = done.is_err_and(|error| !error.is_duplicate_key());
        assert!(!repeated, "{name}");
    }
    let read = notes.find(|n| n.id.lt(3)).all().within(LONG).await.unwrap();
    assert_eq!(read.len(), 3);
}

async fn nothing_is_sent_after_a_deadline(db: &Db) {
    notes(db).await;
    let (db, commands) = listed(db);
    let notes = db.collection::<Note>();
    for (name, run) in CALLS {
        let late = run(notes.clone(), Duration::ZERO).await.unwrap_err();
        assert!(late.is_deadline() && late.is_timeout(), "{name}: {late}");
        assert!(late.to_string().ends_with("nothing was sent"), "{late}");
        assert!(!late.is_retryable(), "{name}");
    }
    assert_eq!(*commands.lock().unwrap(), []);
}

/// The limits of the commands that were sent.
fn limits(commands: &Mutex<Vec<bson::Document>>) -> Vec<i64> {
    let limit = |command: &bson::Document| match command.get("maxTimeMS") {
        None => None,
        Some(bson::Bson::Int32(limit)) => Some((*limit).into()),
        Some(bson::Bson::Int64(limit)) => Some(*limit),
        other => panic!("{other:?}"),
    };
    commands
        .lock()
        .unwrap()
        .drain(..)
        .filter_map(|it| limit(&it))
        .collect()
}

async fn commands_have_what_is_left(db: &Db) {
    notes(db).await;
    let (db, commands) = listed(db);
    let notes = db.collection::<Note>();
    let joined = notes.find(|n| n.id.lt(9)).join(|n| n.before).all();
    joined.within(LONG).await.unwrap();
    let of_join = limits(&commands);
    assert_eq!(of_join.len(), 2);
    let block = async {
        notes.find_one(|n| n.id.eq(1)).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
        notes.find_all().count().await?;
        db.run_command(doc! {"ping": 1}).await
    };
    block.within(LONG).await.unwrap();
    let of_block = limits(&commands);
    assert_eq!(of_block.len(), 3);
    assert!(of_block[1] + 15 <= of_block[0], "{of_block:?}");
    for limits in [of_join, of_block] {
        assert!(limits.is_sorted_by(|one, next| one >= next), "{limits:?}");
        assert!(limits.iter().all(|limit| (1..=60_000).contains(limit)));
    }
    notes.find_one(|n| n.id.eq(1)).await.unwrap();
    assert!(limits(&commands).is_empty());
}

async fn shorter_limits_of_a_call_hold(db: &Db) {
    notes(db).await;
    let (db, commands) = listed(db);
    let notes = db.collection::<Note>();
    let short = Duration::from_secs(9);
    let found = notes.find_all().max_time(short).all();
    found.within(LONG).await.unwrap();
    assert_eq!(limits(&commands), [9_000]);
    let command = doc! {"count": "notes", "maxTimeMS": 7_000};
    db.run_command(command).within(LONG).await.unwrap();
    assert_eq!(limits(&commands), [7_000]);
}

/// A transaction that holds the first note.
async fn holding(db: &Db) -> Session {
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    db.collection::<Note>()
        .update_one(|n| n.id.eq(0), |n| n.n.inc(1))
        .session(&mut session)
        .await
        .unwrap();
    session
}

async fn a_write_waits_until_its_deadline(db: &Db) {
    let notes = notes(db).await;
    let mut session = holding(db).await;
    let start = Instant::now();
    let write = notes.update_one(|n| n.id.eq(0), |n| n.n.inc(10));
    let late = write.within(SHORT).await.unwrap_err();
    assert!(start.elapsed() >= SHORT);
    assert!(late.is_deadline(), "{late}");
    assert!(
        late.to_string()
            .ends_with("it may still complete update on notes"),
        "{late}"
    );
    session.abort_transaction().await.unwrap();
    // MongoDB completes it or does not.
    let write = notes.update_one(|n| n.id.eq(0), |n| n.n.inc(100));
    write.within(LONG).await.unwrap();
    let n = notes.get(&0).await.unwrap().unwrap().n;
    assert!(n == 100 || n == 110, "{n}");
}

async fn a_find_and_update_waits_until_its_deadline(db: &Db) {
    let notes = notes(db).await;
    let mut session = holding(db).await;
    let write = notes.find_one_and_update(|n| n.id.eq(0), |n| n.n.inc(10));
    let late = write.within(SHORT).await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
    // MongoDB stops the command a little later than the client.
    tokio::time::sleep(Duration::from_millis(500)).await;
    session.abort_transaction().await.unwrap();
    assert_eq!(notes.get(&0).await.unwrap().unwrap().n, 0);
}

async fn a_transaction_ends_at_its_deadline(db: &Db) {
    let notes = notes(db).await;
    let stuck = transaction!(db, |tx| -> odm::Result<()> {
        let write = notes.update_one(|n| n.id.eq(0), |n| n.n.inc(1));
        write.session(tx).await?;
        std::future::pending().await
    });
    let late = stuck.within(SHORT).await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
    assert!(
        late.to_string().contains("answered update on notes"),
        "{late}"
    );
    let write = notes.find_one_and_update(|n| n.id.eq(0), |n| n.n.inc(1));
    assert_eq!(write.within(LONG).await.unwrap().unwrap().n, 0);

    // One that conflicts until its deadline.
    let mut session = holding(db).await;
    let conflicting = transaction!(db, |tx| {
        let write = notes.update_one(|n| n.id.eq(0), |n| n.n.inc(1));
        write.session(tx).await
    });
    let late = conflicting.within(SHORT).await;
    assert!(late.unwrap_err().is_deadline());
    session.abort_transaction().await.unwrap();
}

async fn a_block_has_one_deadline(db: &Db) {
    let notes = notes(db).await;
    let block = async {
        for id in 1_000.. {
            notes.insert_one(note(id)).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, odm::Error>(())
    };
    let start = Instant::now();
    let late = block.within(SHORT).await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(notes.find(|n| n.id.gte(1_000)).count().await.unwrap() > 0);
}

async fn errors_list_what_was_done(db: &Db) {
    let notes = notes(db).await;
    let block = async {
        for id in 1_000..1_003 {
            notes.insert_one(note(id)).await?;
        }
        notes.find_all().count().await?;
        std::future::pending::<odm::Result<()>>().await
    };
    let late = block.within(Duration::from_secs(2)).await.unwrap_err();
    assert_eq!(
        late.to_string(),
        "the call was not done within 2s: MongoDB had answered 3 times insert on notes, aggregate on notes"
    );
}

async fn errors_list_the_last_of_many_commands(db: &Db) {
    let notes = notes(db).await;
    let block = async {
        for id in 0..100 {
            notes.get(&id).await?;
            notes.find_all().count().await?;
        }
        notes.insert_one(note(1_000)).await?;
        std::future::pending::<odm::Result<()>>().await
    };
    let late = block.within(Duration::from_secs(8)).await.unwrap_err();
    let text = late.to_string();
    assert!(
        text.contains("MongoDB had answered 191 commands, then aggregate on notes, find on notes, aggregate on notes, "),
        "{text}"
    );
    assert!(
        text.ends_with("aggregate on notes, insert on notes"),
        "{text}"
    );
}

/// A handle, a session and a block may have deadlines of their own.
async fn errors_list_commands_of_every_deadline(db: &Db) {
    notes(db).await;
    for (of_handle, of_session, of_block) in [
        (SHORT, LONG, LONG),
        (LONG, SHORT, LONG),
        (LONG, LONG, SHORT),
    ] {
        let handle = db.within(of_handle);
        let notes = handle.collection::<Note>();
        let mut session = handle.start_session().await.unwrap().within(of_session);
        let block = async {
            notes.find_all().count().session(&mut session).await?;
            tokio::time::sleep(SHORT).await;
            // The shortest of the three has passed.
            notes.get(&1).session(&mut session).await
        };
        let late = block.within(of_block).await.unwrap_err();
        assert!(late.is_deadline());
        assert!(
            late.to_string()
                .ends_with("MongoDB had answered aggregate on notes"),
            "{late}"
        );
    }
    // A block that goes on after the deadline of a handle.
    let soon = db.within(SHORT);
    let block = async {
        soon.collection::<Note>().find_all().count().await?;
        std::future::pending::<odm::Result<()>>().await
    };
    let late = block.within(SHORT * 2).await.unwrap_err();
    assert!(
        late.to_string()
            .ends_with("MongoDB had answered aggregate on notes"),
        "{late}"
    );
}

async fn the_earlier_of_two_deadlines_counts(db: &Db) {
    let notes = notes(db).await;
    for (inner, outer) in [(SHORT, LONG), (LONG, SHORT)] {
        let block = async {
            notes.find_all().count().await?;
            std::future::pending::<odm::Result<()>>()
                .within(inner)
                .await
        };
        let start = Instant::now();
        let late = block.within(outer).await.unwrap_err();
        assert!(late.is_deadline() && start.elapsed() < Duration::from_secs(30));
    }
    // What the inner call has done is known outside.
    let block = async {
        notes.find_all().count().within(LONG).await?;
        std::future::pending::<odm::Result<()>>().await
    };
    let late = block.within(SHORT).await.unwrap_err();
    assert!(late.to_string().contains("aggregate on notes"), "{late}");
}

async fn a_handle_has_a_deadline(db: &Db) {
    notes(db).await;
    let soon = db.within(SHORT);
    let notes = soon.collection::<Note>();
    assert_eq!(notes.find_all().count().await.unwrap(), 300);
    let mut read = notes.find_all().batch_size(10).await.unwrap();
    read.try_next().await.unwrap().unwrap();
    let elsewhere = soon.database("elsewhere");
    tokio::time::sleep(SHORT).await;
    let late = async {
        while read.try_next().await?.is_some() {}
        Ok::<_, odm::Error>(())
    };
    assert!(late.await.unwrap_err().is_deadline());
    for handle in [&soon, &elsewhere] {
        for (name, run) in CALLS {
            let late = run(handle.collection(), LONG).await.unwrap_err();
            assert!(late.is_deadline(), "{name}: {late}");
        }
        let late = handle.run_command(doc! {"ping": 1}).await.unwrap_err();
        assert!(late.is_deadline(), "{late}");
    }
    db.collection::<Note>().get(&1).await.unwrap();
}

async fn a_session_has_a_deadline(db: &Db) {
    let notes = notes(db).await;
    let session = db.start_session().await.unwrap();
    let mut session = session.within(SHORT);
    session.start_transaction().await.unwrap();
    let write = notes.update_one(|n| n.id.eq(0), |n| n.n.inc(1));
    write.session(&mut session).await.unwrap();
    tokio::time::sleep(SHORT).await;
    let write = notes.update_one(|n| n.id.eq(1), |n| n.n.inc(1));
    let late = write.session(&mut session).await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
    let late = session.commit_transaction().await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
    drop(session);
    let write = notes.find_one_and_update(|n| n.id.eq(0), |n| n.n.inc(1));
    assert_eq!(write.within(LONG).await.unwrap().unwrap().n, 0);
}

#[derive(Debug)]
enum Failure {
    Odm(odm::Error),
}

impl From<odm::Error> for Failure {
    fn from(error: odm::Error) -> Self {
        Self::Odm(error)
    }
}

async fn errors_of_a_program_come_from_deadlines(db: &Db) {
    let notes = notes(db).await;
    let handler = async {
        notes.get(&1).await?;
        std::future::pending::<Result<(), Failure>>().await
    };
    let Failure::Odm(late) = handler.within(SHORT).await.unwrap_err();
    assert!(late.is_deadline(), "{late}");
}
