//! `touch`: a write that changes nothing but the version and the time of change.

use odm::bson::DateTime;
use odm::prelude::*;

use crate::case::cases;

cases![
    the_version_and_the_time_change,
    missing_documents_are_not_inserted,
    versions_of_other_types_are_incremented,
    a_pending_save_is_refused,
    two_transactions_that_touch_conflict,
    a_touched_document_is_not_deleted_beside_the_transaction,
    an_aborted_touch_leaves_no_trace,
];

const LONG_AGO: DateTime = DateTime::from_millis(1_000);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rooms")]
struct Room {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[serde(default)]
    #[odm(version)]
    version: i64,
    #[odm(updated_at)]
    updated: DateTime,
}

async fn rooms(db: &Db) -> Collection<Room> {
    let room = doc! {"_id": 1, "name": "Blue", "version": 4_i64, "updated": LONG_AGO};
    let insert = doc! {"insert": "rooms", "documents": [room]};
    db.run_command(insert).await.unwrap();
    db.collection()
}

async fn stored(rooms: &Collection<Room>) -> Room {
    rooms.get(&1).await.unwrap().unwrap()
}

async fn started(db: &Db) -> Session {
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    session
}

async fn the_version_and_the_time_change(db: &Db) {
    let rooms = rooms(db).await;
    let touched = rooms.touch(&1).await.unwrap();
    assert_eq!((touched.matched, touched.modified), (1, 1));
    let room = stored(&rooms).await;
    assert_eq!((room.name.as_str(), room.version), ("Blue", 5));
    assert!(room.updated > LONG_AGO);
}

async fn missing_documents_are_not_inserted(db: &Db) {
    let rooms = rooms(db).await;
    let touched = rooms.touch(&2).await.unwrap();
    assert_eq!((touched.matched, touched.modified), (0, 0));
    assert_eq!(rooms.count_documents(|_| Filter::all()).await.unwrap(), 1);
}

async fn versions_of_other_types_are_incremented(db: &Db) {
    let rooms = rooms(db).await;
    for (stored_version, next) in [
        (doc! {"$set": {"version": 7}}, 8),
        (doc! {"$unset": {"version": ""}}, 1),
    ] {
        let older = doc! {"update": "rooms", "updates": [{"q": {"_id": 1}, "u": stored_version}]};
        db.run_command(older).await.unwrap();
        rooms.touch(&1).await.unwrap();
        assert_eq!(stored(&rooms).await.version, next);
    }
}

async fn a_pending_save_is_refused(db: &Db) {
    let rooms = rooms(db).await;
    let mut room = rooms.load(&1).await.unwrap().unwrap();
    rooms.touch(&1).await.unwrap();
    "Red".clone_into(&mut room.name);
    assert!(rooms.save(&mut room).await.unwrap_err().is_stale());
}

async fn two_transactions_that_touch_conflict(db: &Db) {
    let rooms = rooms(db).await;
    let (mut first, mut second) = (started(db).await, started(db).await);
    rooms.touch(&1).session(&mut first).await.unwrap();
    let conflict = rooms.touch(&1).session(&mut second).await.unwrap_err();
    assert_eq!(conflict.code(), Some(odm::Code::WRITE_CONFLICT));
    first.commit_transaction().await.unwrap();
    assert_eq!(stored(&rooms).await.version, 5);
}

async fn a_touched_document_is_not_deleted_beside_the_transaction(db: &Db) {
    let rooms = rooms(db).await;
    let (mut first, mut second) = (started(db).await, started(db).await);
    // What the second transaction has read is its snapshot.
    let read = rooms.get(&1).session(&mut second).await.unwrap();
    assert!(read.is_some());
    rooms.touch(&1).session(&mut first).await.unwrap();
    first.commit_transaction().await.unwrap();
    let delete = rooms.delete_by_id(&1).session(&mut second).await;
    assert_eq!(delete.unwrap_err().code(), Some(odm::Code::WRITE_CONFLICT));
}

async fn an_aborted_touch_leaves_no_trace(db: &Db) {
    let rooms = rooms(db).await;
    let before = stored(&rooms).await;
    let mut session = started(db).await;
    rooms.touch(&1).session(&mut session).await.unwrap();
    session.abort_transaction().await.unwrap();
    assert_eq!(stored(&rooms).await, before);
}
