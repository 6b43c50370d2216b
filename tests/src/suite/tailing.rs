//! Tails of capped collections.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use odm::bson::{self, doc};
use odm::collection::TailStream;
use odm::prelude::*;
use tokio::time::timeout;

use crate::case::cases;

cases![
    old_and_new_documents,
    empty_collections_are_awaited,
    missing_collections_are_awaited,
    only_new_documents,
    after_a_value,
    after_a_value_of_another_type,
    a_filter,
    updated_documents_keep_the_place,
    a_killed_cursor_is_opened_again,
    a_killed_cursor_continues_by_the_field,
    an_overtaken_tail_reports_it_and_goes_on,
    a_place_that_is_gone_is_reported,
    a_place_in_an_emptied_collection,
    a_dropped_collection_ends_the_tail,
    a_collection_that_is_not_capped,
    a_document_that_does_not_fit,
    dropped_tails_close_their_cursors,
    dropped_calls_lose_nothing,
    concurrent_writers,
    wrong_places_are_refused,
    handles_rename_what_is_tailed,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "events", capped(size = 65_536, max = 10))]
struct Event {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(rename = "n")]
    seq: i64,
    #[serde(default)]
    level: String,
}

fn event(seq: i64) -> Event {
    Event {
        id: -seq,
        seq,
        level: if seq % 2 == 0 { "even" } else { "odd" }.to_owned(),
    }
}

async fn filled(db: &Db, count: i64) -> Collection<Event> {
    let plan = db.sync(models![Event]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let events = db.collection::<Event>();
    insert(&events, 1..=count).await;
    events
}

async fn insert(events: &Collection<Event>, range: std::ops::RangeInclusive<i64>) {
    for seq in range {
        events.insert_one(event(seq)).await.unwrap();
    }
}

/// The next one, which must come soon.
async fn next(tail: &mut TailStream<Event>) -> odm::Result<i64> {
    let next = timeout(Duration::from_secs(20), tail.next()).await;
    let next = next.expect("nothing came").expect("the tail goes on");
    next.map(|event| event.seq)
}

async fn take(tail: &mut TailStream<Event>, count: usize) -> Vec<i64> {
    let mut taken = Vec::new();
    while taken.len() < count {
        taken.push(next(tail).await.unwrap());
    }
    taken
}

/// Nothing comes for a moment.
async fn is_waiting(tail: &mut TailStream<Event>) -> bool {
    timeout(Duration::from_millis(120), tail.next())
        .await
        .is_err()
}

async fn old_and_new_documents(db: &Db) {
    let events = filled(db, 3).await;
    let mut tail = events.tail().batch_size(2).await.unwrap();
    assert_eq!(take(&mut tail, 3).await, [1, 2, 3]);
    assert!(is_waiting(&mut tail).await);
    insert(&events, 4..=5).await;
    assert_eq!(take(&mut tail, 2).await, [4, 5]);
    assert!(is_waiting(&mut tail).await);
    // More than one round of `max_await_time`.
    let mut short = events
        .tail()
        .max_await_time(Duration::from_millis(20))
        .comment("a tail")
        .await
        .unwrap();
    assert_eq!(take(&mut short, 5).await, [1, 2, 3, 4, 5]);
    assert!(is_waiting(&mut short).await);
    insert(&events, 6..=6).await;
    assert_eq!(take(&mut short, 1).await, [6]);
    assert_eq!(take(&mut tail, 1).await, [6]);
}

/// MongoDB closes a tailable cursor on an empty collection at once.
async fn empty_collections_are_awaited(db: &Db) {
    let events = filled(db, 0).await;
    let mut tails = [
        events.tail().await.unwrap(),
        events.tail().new_only().await.unwrap(),
        events.tail().after(|e| e.seq, 0).await.unwrap(),
        events.tail().increasing(|e| e.seq).await.unwrap(),
    ];
    for tail in &mut tails {
        assert!(is_waiting(tail).await);
    }
    insert(&events, 1..=2).await;
    for tail in &mut tails {
        assert_eq!(take(tail, 2).await, [1, 2]);
    }
    insert(&events, 3..=3).await;
    for tail in &mut tails {
        assert_eq!(take(tail, 1).await, [3]);
    }
}

async fn missing_collections_are_awaited(db: &Db) {
    let events = db.collection::<Event>();
    let mut tail = events.tail().await.unwrap();
    assert!(is_waiting(&mut tail).await);
    filled(db, 1).await;
    assert_eq!(take(&mut tail, 1).await, [1]);
}

async fn only_new_documents(db: &Db) {
    let events = filled(db, 3).await;
    let mut tails = [
        events.tail().new_only().await.unwrap(),
        events
            .tail()
            .new_only()
            .increasing(|e| e.seq)
            .await
            .unwrap(),
        // The newest document does not match.
        events
            .tail()
            .new_only()
            .filter(|e| e.seq.ne(3))
            .await
            .unwrap(),
    ];
    for tail in &mut tails {
        assert!(is_waiting(tail).await);
    }
    insert(&events, 4..=6).await;
    for tail in &mut tails {
        assert_eq!(take(tail, 3).await, [4, 5, 6]);
    }
}

async fn after_a_value(db: &Db) {
    let events = filled(db, 5).await;
    let mut tail = events.tail().after(|e| e.seq, 3).await.unwrap();
    assert_eq!(take(&mut tail, 2).await, [4, 5]);
    insert(&events, 6..=6).await;
    assert_eq!(take(&mut tail, 1).await, [6]);
    let mut tail = events.tail().after(|e| e.seq, &6).await.unwrap();
    assert!(is_waiting(&mut tail).await);
    insert(&events, 7..=7).await;
    assert_eq!(take(&mut tail, 1).await, [7]);
}

/// Another program stores a sequence as another type of number, and one document without it.
async fn after_a_value_of_another_type(db: &Db) {
    let events = filled(db, 0).await;
    let documents = vec![
        doc! {"_id": 1, "n": 1},
        doc! {"_id": 2, "n": 2_i64},
        doc! {"_id": 3, "n": 3.5},
        doc! {"_id": 4, "n": bson::Bson::Null},
        doc! {"_id": 5, "n": 5},
    ];
    let insert =
        doc! {"insert": "events", "documents": documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    let mut tail = events.tail().after(|e| e.seq, 1).await.unwrap();
    // Only values of the same kind are greater: the null is left out.
    assert_eq!(take(&mut tail, 1).await, [2]);
    assert!(next(&mut tail).await.unwrap_err().is_decode());
    assert_eq!(take(&mut tail, 1).await, [5]);
    let mut tail = events.tail().increasing(|e| e.seq).await.unwrap();
    assert_eq!(take(&mut tail, 2).await, [1, 2]);
    for _ in 0..2 {
        assert!(next(&mut tail).await.unwrap_err().is_decode());
    }
    assert_eq!(take(&mut tail, 1).await, [5]);
}

async fn a_filter(db: &Db) {
    let events = filled(db, 4).await;
    let even = || events.tail().filter(|e| e.level.eq("even"));
    let mut tail = even().await.unwrap();
    let mut later = even().after(|e| e.seq, 2).await.unwrap();
    assert_eq!(take(&mut tail, 2).await, [2, 4]);
    assert_eq!(take(&mut later, 1).await, [4]);
    insert(&events, 5..=6).await;
    assert_eq!(take(&mut tail, 1).await, [6]);
    assert_eq!(take(&mut later, 1).await, [6]);
    // A filter that nothing matches yet.
    let mut none = events.tail().filter(|e| e.level.eq("none")).await.unwrap();
    assert!(is_waiting(&mut none).await);
    let one = Event {
        level: "none".to_owned(),
        ..event(7)
    };
    events.insert_one(&one).await.unwrap();
    assert_eq!(take(&mut none, 1).await, [7]);
}

/// A handle that notes the ids of the tailable cursors that it opens, and one without.
fn noting(db: &Db) -> (Db, Arc<Mutex<Vec<i64>>>) {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ids);
    let watched = db.on_command(move |event| {
        if event.command.contains_key("tailable")
            && let Ok(reply) = event.outcome
            && let Ok(id) = reply.get_document("cursor").and_then(|it| it.get_i64("id"))
        {
            noted.lock().unwrap().push(id);
        }
    });
    (watched, ids)
}

fn last(ids: &Mutex<Vec<i64>>) -> i64 {
    *ids.lock().unwrap().last().unwrap()
}

async fn kill(db: &Db, id: i64) {
    let kill = doc! {"killCursors": "events", "cursors": [id]};
    db.run_command(kill).await.unwrap();
}

async fn updated_documents_keep_the_place(db: &Db) {
    let (watched, ids) = noting(db);
    let events = filled(&watched, 4).await;
    let even = events.tail().filter(|e| e.level.eq("even"));
    let mut tail = even
        .max_await_time(Duration::from_millis(50))
        .await
        .unwrap();
    assert_eq!(take(&mut tail, 2).await, [2, 4]);
    // The last document that was returned does not match any more.
    let update = events.update_one(|e| e.seq.eq(4), |e| e.level.set("oops"));
    update.await.unwrap();
    kill(db, last(&ids)).await;
    insert(&events, 5..=6).await;
    assert_eq!(take(&mut tail, 1).await, [6]);
}

async fn a_killed_cursor_is_opened_again(db: &Db) {
    let (watched, ids) = noting(db);
    let events = filled(&watched, 3).await;
    let mut tail = events
        .tail()
        .max_await_time(Duration::from_millis(50))
        .await
        .unwrap();
    for round in 0..4 {
        let seq = round + 3;
        assert_eq!(
            take(&mut tail, if round == 0 { 3 } else { 1 }).await.last(),
            Some(&seq)
        );
        kill(db, last(&ids)).await;
        assert!(is_waiting(&mut tail).await, "{round}");
        insert(&events, seq + 1..=seq + 1).await;
    }
    assert!(ids.lock().unwrap().len() >= 4);
}

async fn a_killed_cursor_continues_by_the_field(db: &Db) {
    let (watched, ids) = noting(db);
    let events = filled(&watched, 3).await;
    let tail = events.tail().increasing(|e| e.seq);
    let mut tail = tail
        .max_await_time(Duration::from_millis(50))
        .await
        .unwrap();
    assert_eq!(take(&mut tail, 2).await, [1, 2]);
    kill(db, last(&ids)).await;
    insert(&events, 4..=4).await;
    assert_eq!(take(&mut tail, 2).await, [3, 4]);
    kill(db, last(&ids)).await;
    // Meanwhile the collection removes all that the tail has returned, and one that it has not.
    insert(&events, 5..=15).await;
    let lost = next(&mut tail).await.unwrap_err();
    assert!(lost.is_position_lost(), "{lost}");
    assert_eq!(take(&mut tail, 10).await, (6..=15).collect::<Vec<_>>());
    assert!(is_waiting(&mut tail).await);
}

async fn an_overtaken_tail_reports_it_and_goes_on(db: &Db) {
    let events = filled(db, 2).await;
    let mut tail = events.tail().await.unwrap();
    assert_eq!(take(&mut tail, 2).await, [1, 2]);
    assert!(is_waiting(&mut tail).await);
    insert(&events, 3..=20).await;
    // The tail may have fetched some before they were removed.
    let mut seen = Vec::new();
    let lost = loop {
        match next(&mut tail).await {
            Ok(seq) => seen.push(seq),
            Err(error) => break error,
        }
        if seen.last() == Some(&20) {
            // It was fast enough, as on a store that wakes it at once.
            assert_eq!(seen, (3..=20).collect::<Vec<_>>());
            return;
        }
    };
    assert!(lost.is_position_lost(), "{lost}");
    assert_eq!(lost.model(), Some("Event"));
    assert!(lost.to_string().contains("`events`"), "{lost}");
    let rest = take(&mut tail, 10).await;
    assert_eq!(rest, (11..=20).collect::<Vec<_>>());
    insert(&events, 21..=21).await;
    assert_eq!(take(&mut tail, 1).await, [21]);
}

async fn a_place_that_is_gone_is_reported(db: &Db) {
    let events = filled(db, 15).await;
    // Documents 1 to 5 are gone.
    let mut tail = events.tail().after(|e| e.seq, 3).await.unwrap();
    assert!(next(&mut tail).await.unwrap_err().is_position_lost());
    assert_eq!(take(&mut tail, 10).await, (6..=15).collect::<Vec<_>>());
    // Nothing that was not read is gone.
    let mut tail = events.tail().after(|e| e.seq, 6).await.unwrap();
    assert_eq!(take(&mut tail, 1).await, [7]);
    // A filter does not hide that documents are gone.
    let tail = events
        .tail()
        .filter(|e| e.level.eq("even"))
        .after(|e| e.seq, 2);
    let mut tail = tail.await.unwrap();
    assert!(next(&mut tail).await.unwrap_err().is_position_lost());
    assert_eq!(take(&mut tail, 2).await, [6, 8]);
}

async fn a_place_in_an_emptied_collection(db: &Db) {
    let (watched, ids) = noting(db);
    let events = filled(&watched, 3).await;
    let mut tail = events
        .tail()
        .max_await_time(Duration::from_millis(50))
        .await
        .unwrap();
    assert_eq!(take(&mut tail, 3).await, [1, 2, 3]);
    kill(db, last(&ids)).await;
    events.delete_all().await.unwrap();
    assert!(is_waiting(&mut tail).await);
    insert(&events, 4..=4).await;
    assert_eq!(take(&mut tail, 1).await, [4]);
}

async fn a_dropped_collection_ends_the_tail(db: &Db) {
    let events = filled(db, 1).await;
    let mut tail = events
        .tail()
        .max_await_time(Duration::from_millis(50))
        .await
        .unwrap();
    assert_eq!(take(&mut tail, 1).await, [1]);
    events.drop().await.unwrap();
    let error = next(&mut tail).await.unwrap_err();
    assert_eq!(error.model(), Some("Event"));
    assert_eq!(error.code(), Some(odm::Code::QUERY_PLAN_KILLED), "{error}");
    assert!(tail.next().await.is_none());
}

async fn a_collection_that_is_not_capped(db: &Db) {
    db.run_command(doc! {"create": "events"}).await.unwrap();
    let events = db.collection::<Event>();
    for fill in [false, true] {
        if fill {
            insert(&events, 1..=1).await;
        }
        let error = events.tail().await.unwrap_err();
        assert_eq!(error.code(), Some(odm::Code::BAD_VALUE), "{error}");
        assert!(
            error.to_string().contains("apply the plan of `db.sync`"),
            "{error}"
        );
    }
}

async fn a_document_that_does_not_fit(db: &Db) {
    let events = filled(db, 1).await;
    let documents = vec![doc! {"_id": 2, "n": "two"}];
    let other = doc! {"insert": "events", "documents": documents, "bypassDocumentValidation": true};
    db.run_command(other).await.unwrap();
    insert(&events, 3..=3).await;
    let mut tail = events.tail().await.unwrap();
    assert_eq!(next(&mut tail).await.unwrap(), 1);
    let error = next(&mut tail).await.unwrap_err();
    assert!(error.is_decode(), "{error}");
    assert_eq!(error.path(), Some("n"));
    assert_eq!(next(&mut tail).await.unwrap(), 3);
}

async fn dropped_tails_close_their_cursors(db: &Db) {
    let (watched, ids) = noting(db);
    let events = filled(&watched, 3).await;
    let is_closed = async |id: i64| {
        for _ in 0..200 {
            let more = doc! {"getMore": id, "collection": "events", "maxTimeMS": 1};
            match db.run_command(more).await {
                Err(error) if error.code() == Some(odm::Code::CURSOR_NOT_FOUND) => return true,
                // A reader may hold it still.
                _ => tokio::time::sleep(Duration::from_millis(25)).await,
            }
        }
        false
    };
    // Before its first document, amid its documents, and while it waits for more.
    for read in [0, 1, 3] {
        let mut tail = events.tail().batch_size(2).await.unwrap();
        take(&mut tail, read).await;
        if read == 3 {
            assert!(is_waiting(&mut tail).await);
        }
        let id = last(&ids);
        assert_ne!(id, 0);
        drop(tail);
        assert!(is_closed(id).await, "after {read}");
    }
}

async fn dropped_calls_lose_nothing(db: &Db) {
    let events = filled(db, 0).await;
    let mut tail = events
        .tail()
        .max_await_time(Duration::from_millis(10))
        .await
        .unwrap();
    let writer = events.clone();
    let writing = async move {
        for seq in 1..=8 {
            insert(&writer, seq..=seq).await;
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
    };
    let reading = async {
        let mut seen = Vec::new();
        while seen.len() < 8 {
            if let Ok(next) = timeout(Duration::from_millis(3), tail.next()).await {
                seen.push(next.unwrap().unwrap().seq);
            }
        }
        seen
    };
    let (seen, ()) = futures::join!(timeout(Duration::from_secs(60), reading), writing);
    assert_eq!(seen.unwrap(), (1..=8).collect::<Vec<_>>());
}

async fn concurrent_writers(db: &Db) {
    db.run_command(doc! {"create": "events", "capped": true, "size": 1_000_000})
        .await
        .unwrap();
    let events = db.collection::<Event>();
    let write = async |from: i64| {
        for seq in from..from + 50 {
            events.insert_one(event(seq)).await.unwrap();
        }
    };
    let reading = async {
        let mut tail = events.tail().await.unwrap();
        let mut seen = take(&mut tail, 150).await;
        // The documents of one writer come in its order.
        for from in [1, 101, 201] {
            let own: Vec<_> = seen
                .iter()
                .copied()
                .filter(|seq| (from..from + 50).contains(seq))
                .collect();
            assert!(own.is_sorted(), "{own:?}");
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 150);
    };
    futures::join!(write(1), write(101), write(201), reading);
}

async fn wrong_places_are_refused(db: &Db) {
    let events = filled(db, 1).await;
    let error = events
        .tail()
        .max_await_time(Duration::ZERO)
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.model(), Some("Event"));
    let tail = events.tail().after(|e| e.seq, 0).increasing(|e| e.id);
    let error = tail.await.unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("`n`"),
        "{error}"
    );
}

async fn handles_rename_what_is_tailed(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("t1_{name}"));
    let events = filled(&tenant, 2).await;
    let mut tail = events.tail().await.unwrap();
    assert_eq!(take(&mut tail, 2).await, [1, 2]);
}
