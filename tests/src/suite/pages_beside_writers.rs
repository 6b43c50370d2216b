//! Pages between whose commands the last document changes or is deleted, and pages whose future is dropped there.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{FutureExt, poll};
use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use tokio::task::JoinHandle;

use crate::case::cases;

cases![
    the_last_document_changes_between_the_commands_of_a_page,
    the_last_document_changes_between_pages,
    a_dropped_page_leaves_the_session_usable,
    exists_continues_behind_a_place,
    a_deleted_document_with_an_alias_continues_by_its_value,
];

/// A line of an order, of which older versions have no `n` or call it `count`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "lines")]
struct Line {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default, alias = "count")]
    n: i32,
}

/// The order by `n` is 1, 2, 3, 4, 5, 6.
async fn lines(db: &Db) -> Collection<Line> {
    insert(
        db,
        vec![
            doc! {"_id": 1},
            doc! {"_id": 2},
            doc! {"_id": 3},
            doc! {"_id": 4, "n": -5},
            doc! {"_id": 5, "n": 0},
            doc! {"_id": 6, "n": 7},
        ],
    )
    .await;
    db.collection()
}

async fn insert(db: &Db, documents: Vec<BsonDocument>) {
    let insert = doc! {"insert": "lines", "documents": documents};
    db.run_command(insert).await.unwrap();
}

fn ids(lines: &[Line]) -> Vec<i32> {
    lines.iter().map(|line| line.id).collect()
}

/// What another program does to a line.
fn others(id: i32) -> [BsonDocument; 4] {
    let update = |update: BsonDocument| doc! {"update": "lines", "updates": [{"q": {"_id": id}, "u": update}]};
    [
        update(doc! {"$set": {"n": 9}}),
        update(doc! {"$set": {"n": -9}}),
        update(doc! {"$unset": {"n": 1}}),
        doc! {"delete": "lines", "deletes": [{"q": {"_id": id}, "limit": 1}]},
    ]
}

/// A handle behind whose first find another program writes: in memory at once, on a server while the page goes on.
fn beside(db: &Db, command: BsonDocument) -> (Db, Arc<Mutex<Option<JoinHandle<()>>>>) {
    let other = db.clone();
    let is_done = AtomicBool::new(false);
    let write = Arc::new(Mutex::new(None));
    let running = Arc::clone(&write);
    let db = db.on_command(move |event| {
        if !event.command.contains_key("find") || is_done.swap(true, Ordering::SeqCst) {
            return;
        }
        let (other, command) = (other.clone(), command.clone());
        let mut write = Box::pin(async move {
            other.run_command(command).await.unwrap();
        });
        if (&mut write).now_or_never().is_none() {
            *running.lock().unwrap() = Some(tokio::spawn(write));
        }
    });
    (db, write)
}

async fn the_last_document_changes_between_the_commands_of_a_page(db: &Db) {
    for last in 1..=5 {
        for command in others(last) {
            db.collection::<Line>().delete_all().await.unwrap();
            let lines = lines(db).await;
            let page = lines
                .find_all()
                .sort(|l| l.n.asc())
                .page(1, last.unsigned_abs().into());
            let page = page.all().await.unwrap();
            assert_eq!(page.last().map(|line| line.id), Some(last));
            let (beside, write) = beside(db, command.clone());
            let lines = beside.collection::<Line>();
            let next = lines.find_all().sort(|l| l.n.asc()).after(page.last());
            let mut next = ids(&next.all().await.unwrap());
            let write = write.lock().unwrap().take();
            if let Some(write) = write {
                write.await.unwrap();
            }
            // It may be found again where it is now.
            next.retain(|id| *id != last);
            assert_eq!(next, (last + 1..=6).collect::<Vec<_>>(), "{command}");
        }
    }
}

async fn the_last_document_changes_between_pages(db: &Db) {
    for last in 1..=5 {
        for command in others(last) {
            db.collection::<Line>().delete_all().await.unwrap();
            let lines = lines(db).await;
            let by_n = || lines.find_all().sort(|l| l.n.asc());
            let page = by_n()
                .page_after(None, last.unsigned_abs().into())
                .await
                .unwrap();
            db.run_command(command.clone()).await.unwrap();
            let next = by_n().page_after(page.next.as_ref(), 9).await.unwrap();
            let mut next = ids(&next.items);
            next.retain(|id| *id != last);
            assert_eq!(next, (last + 1..=6).collect::<Vec<_>>(), "{command}");
        }
    }
}

async fn a_dropped_page_leaves_the_session_usable(db: &Db) {
    let lines = lines(db).await;
    let first = lines.get(&2).await.unwrap().unwrap();
    let is_sent = Arc::new(AtomicBool::new(false));
    let sent = Arc::clone(&is_sent);
    let watched = db.on_command(move |event| {
        if event.command.contains_key("find") {
            sent.store(true, Ordering::SeqCst);
        }
    });
    let watched = watched.collection::<Line>();
    let mut session = db.start_session().await.unwrap();
    for in_transaction in [false, true, false, true] {
        if in_transaction {
            session.start_transaction().await.unwrap();
        }
        is_sent.store(false, Ordering::SeqCst);
        {
            let page = watched.find_all().sort(|l| l.n.asc()).after(&first);
            let mut page = pin!(page.session(&mut session).all());
            // Until the place is read; in memory the page is, too.
            while poll!(&mut page).is_pending() && !is_sent.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        assert!(is_sent.load(Ordering::SeqCst));
        if in_transaction {
            // MongoDB may not know yet that nobody waits for the page.
            let _ = session.abort_transaction().await;
        }
        let next = lines.find_all().sort(|l| l.n.asc()).after(&first);
        let next = next.session(&mut session).all();
        let next = tokio::time::timeout(Duration::from_secs(20), next).await;
        assert_eq!(ids(&next.unwrap().unwrap()), [3, 4, 5, 6]);
    }
    // A future that never ran sends nothing.
    is_sent.store(false, Ordering::SeqCst);
    drop(watched.find_all().sort(|l| l.n.asc()).page_after(None, 2));
    assert!(!is_sent.load(Ordering::SeqCst));
}

async fn exists_continues_behind_a_place(db: &Db) {
    let lines = lines(db).await;
    let by_n = || lines.find_all().sort(|l| l.n.asc());
    let mut token = None;
    for left in (0..6).rev() {
        let page = by_n().page_after(token.as_ref(), 1).await.unwrap();
        let behind = by_n().after(page.items.last()).exists().await.unwrap();
        assert_eq!(behind, left > 0);
        assert_eq!(page.next.is_some(), left > 0);
        if let Some(next) = page.next {
            assert!(by_n().after_token(&next).exists().await.unwrap());
            let none = by_n().after_token(&next).filter(|l| l.id.lt(7 - left));
            assert!(!none.exists().await.unwrap(), "{left}");
            token = Some(next);
        }
    }
}

async fn a_deleted_document_with_an_alias_continues_by_its_value(db: &Db) {
    let documents = vec![
        doc! {"_id": 1, "count": 5},
        doc! {"_id": 2, "n": 1},
        doc! {"_id": 3, "n": 7},
    ];
    insert(db, documents).await;
    let lines = db.collection::<Line>();
    let by_n = || lines.find_all().sort(|l| l.n.asc());
    let page = by_n().page(1, 1).all().await.unwrap();
    assert_eq!(page, [Line { id: 1, n: 5 }]);
    let next = by_n().after(page.last()).all().await.unwrap();
    assert_eq!(ids(&next), [2, 3]);
    let token = by_n().page_after(None, 1).await.unwrap().next;
    lines.delete_by_id(&1).await.unwrap();
    // Limits say so: only the struct is left, which has 5.
    let next = by_n().after(page.last()).all().await.unwrap();
    assert_eq!(ids(&next), [3]);
    let next = by_n().after_token(token.as_ref()).all().await.unwrap();
    assert_eq!(ids(&next), [2, 3]);
}
