//! Futures that are dropped after each of their polls: what they leave, and that the next call works.

use odm::prelude::*;

use crate::case::cases;
use crate::polls::dropped_after;

cases![
    dropped_transactions_release_their_documents,
    dropped_operations_of_a_session_release_their_documents,
    dropped_commits_and_aborts_end_the_transaction,
    sessions_work_after_a_dropped_operation,
    sessions_work_after_a_dropped_commit_or_abort,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: usize,
    /// The writes in transactions.
    inside: usize,
    /// The writes beside them.
    outside: usize,
}

impl Note {
    fn new(id: usize) -> Self {
        Self {
            id,
            inside: 0,
            outside: 0,
        }
    }
}

async fn one_note(db: &Db) -> Collection<Note> {
    let notes = db.collection::<Note>();
    notes.insert_one(&Note::new(0)).await.unwrap();
    notes
}

/// Writes to a document that a transaction has written to. MongoDB aborts a transaction that its program has forgotten after 60
/// seconds; this write waits for a third of that.
async fn write_beside(db: &Db) {
    let beside = doc! {
        "update": "notes",
        "updates": [{ "q": { "_id": 0 }, "u": { "$inc": { "outside": 1 } } }],
        "maxTimeMS": 20_000,
    };
    let reply = db.run_command(beside).await.unwrap();
    assert_eq!(reply.get_i32("n").unwrap(), 1, "{reply}");
}

async fn start(db: &Db) -> Session {
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    session
}

/// The writes that transactions have made to the first note.
async fn inside(notes: &Collection<Note>) -> usize {
    notes.get(&0).await.unwrap().unwrap().inside
}

async fn dropped_transactions_release_their_documents(db: &Db) {
    let notes = one_note(db).await;
    for polls in 0.. {
        let both = transaction!(db, |tx| {
            notes
                .update_one(|n| n.id.eq(0), |n| n.inside.inc(1))
                .session(tx)
                .await?;
            notes.insert_one(&Note::new(polls + 1)).session(tx).await
        });
        let ended = dropped_after(polls, both).await;
        write_beside(db).await;
        // Both writes were made or none was.
        let inserted = notes.find(|n| n.id.gt(0)).count().await.unwrap();
        assert_eq!(inside(&notes).await as u64, inserted, "after {polls} polls");
        if let Some(ended) = ended {
            ended.unwrap();
            assert_eq!(notes.get(&0).await.unwrap().unwrap().outside, polls + 1);
            return;
        }
    }
}

async fn dropped_operations_of_a_session_release_their_documents(db: &Db) {
    let notes = one_note(db).await;
    for polls in 0.. {
        let mut session = start(db).await;
        let write = notes
            .update_one(|n| n.id.eq(0), |n| n.inside.inc(1))
            .session(&mut session);
        let ended = dropped_after(polls, write.into_future()).await;
        drop(session);
        write_beside(db).await;
        assert_eq!(inside(&notes).await, 0, "after {polls} polls");
        if let Some(ended) = ended {
            ended.unwrap();
            return;
        }
    }
}

async fn dropped_commits_and_aborts_end_the_transaction(db: &Db) {
    let notes = one_note(db).await;
    for commits in [true, false] {
        for polls in 0.. {
            let before = inside(&notes).await;
            let mut session = start(db).await;
            notes
                .update_one(|n| n.id.eq(0), |n| n.inside.inc(1))
                .session(&mut session)
                .await
                .unwrap();
            let ended = if commits {
                dropped_after(polls, session.commit_transaction()).await
            } else {
                dropped_after(polls, session.abort_transaction()).await
            };
            drop(session);
            write_beside(db).await;
            let made = inside(&notes).await - before;
            assert!(made == 0 || commits && made == 1, "after {polls} polls");
            if let Some(ended) = ended {
                ended.unwrap();
                assert_eq!(made, usize::from(commits));
                break;
            }
        }
    }
}

async fn sessions_work_after_a_dropped_operation(db: &Db) {
    let notes = one_note(db).await;
    for polls in 0.. {
        let before = inside(&notes).await;
        let mut session = start(db).await;
        let write = notes
            .update_one(|n| n.id.eq(0), |n| n.inside.inc(1))
            .session(&mut session);
        let ended = dropped_after(polls, write.into_future()).await;
        session.abort_transaction().await.unwrap();
        write_beside(db).await;
        assert_eq!(inside(&notes).await, before, "after {polls} polls");

        session.start_transaction().await.unwrap();
        notes
            .update_one(|n| n.id.eq(0), |n| n.inside.inc(1))
            .session(&mut session)
            .await
            .unwrap();
        session.commit_transaction().await.unwrap();
        assert_eq!(inside(&notes).await, before + 1, "after {polls} polls");
        if ended.is_some() {
            return;
        }
    }
}

async fn sessions_work_after_a_dropped_commit_or_abort(db: &Db) {
    let notes = one_note(db).await;
    for commits in [true, false] {
        for polls in 0.. {
            let mut session = start(db).await;
            let write = notes.update_one(|n| n.id.eq(0), |n| n.inside.inc(1));
            write.session(&mut session).await.unwrap();
            let ended = if commits {
                dropped_after(polls, session.commit_transaction()).await
            } else {
                dropped_after(polls, session.abort_transaction()).await
            };
            if commits {
                // A commit may be sent again until its outcome is known.
                session.commit_transaction().await.unwrap();
            } else if session.in_transaction() {
                session.abort_transaction().await.unwrap();
            }
            let before = inside(&notes).await;
            session.start_transaction().await.unwrap();
            let write = notes.update_one(|n| n.id.eq(0), |n| n.inside.inc(1));
            write.session(&mut session).await.unwrap();
            session.commit_transaction().await.unwrap();
            assert_eq!(inside(&notes).await, before + 1, "after {polls} polls");
            if ended.is_some() {
                break;
            }
        }
    }
}
