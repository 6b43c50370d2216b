//! Followers that stop and go on, and streams that end.

use std::time::Duration;

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::{
    caught_up, create, delete, fill, follow, insert, list, note, one, person, soon, task, until,
    update,
};
use crate::polls::dropped_after;

pub(super) async fn a_follower_continues_where_it_was(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    drop(follower);
    update(db, "people", 1, doc! {"$set": {"name": "Ann"}}).await;
    update(db, "tasks", 3, doc! {"$set": {"owner": 1}}).await;
    delete(db, "tasks", 1).await;
    insert(db, "notes", [note(4, 2, 1)]).await;
    let mut follower = follow(db).await;
    let batches = caught_up(db, &mut follower).await;
    assert!(
        batches.iter().all(|one| !one.scrubbed && one.scans == 0),
        "{batches:?}"
    );
    assert_eq!(list(db, "people", 1, "todo").await, [2, 3]);
    // A dropped call loses no events.
    for n in 0..20 {
        update(db, "people", 1, doc! {"$set": {"name": format!("n{n}")}}).await;
        let wait = Duration::from_micros(n * 100);
        let _ = tokio::time::timeout(wait, follower.next()).await;
    }
    caught_up(db, &mut follower).await;
    let stored = position(db).await.unwrap();
    assert!(stored.get_datetime("at").is_ok());
    assert!(stored.get_document("token").unwrap().contains_key("_data"));
}

pub(super) async fn a_follower_that_is_dropped_after_each_poll_loses_nothing(db: &Db) {
    fill(db).await;
    for is_reopened in [false, true] {
        let mut follower = follow(db).await;
        for polls in 0..500 {
            let owner = 1 + i32::from(polls % 2 == 0);
            let name = format!("n{polls}");
            update(db, "people", owner, doc! {"$set": {"name": name}}).await;
            update(db, "tasks", 3, doc! {"$set": {"owner": owner}}).await;
            let ended = dropped_after(polls, follower.next()).await;
            if is_reopened {
                follower = follow(db).await;
            }
            if let Some(batch) = ended {
                batch.unwrap();
                break;
            }
        }
        caught_up(db, &mut follower).await;
        let name = one(db, "tasks", 3)
            .await
            .get_str("owner_name")
            .unwrap()
            .to_owned();
        assert!(name.starts_with('n'), "{name}");
    }
}

async fn position(db: &Db) -> Option<BsonDocument> {
    let find = doc! {"find": "odm_followers", "filter": {"_id": "derived-data"}};
    db.run_command(find).all().await.unwrap().into_iter().next()
}

async fn set_position(db: &Db, token: BsonDocument) {
    let change = doc! {"q": {"_id": "derived-data"}, "u": {"$set": {"token": token}}};
    let command = doc! {"update": "odm_followers", "updates": [change]};
    db.run_command(command).await.unwrap();
}

pub(super) async fn a_follower_without_history_reads_all_documents(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    // The token of an event: a stream may also begin before all that mongod has.
    update(db, "people", 1, doc! {"$set": {"name": "Bob"}}).await;
    let is_done = async || {
        let task = one(db, "tasks", 1).await;
        task.get_str("owner_name").is_ok_and(|it| it == "Bob")
    };
    until(&mut follower, is_done).await;
    drop(follower);
    update(db, "people", 1, doc! {"$set": {"name": "Ann"}}).await;
    // A time before everything that the store has kept: the seconds are the first bytes behind the type.
    let stored = position(db).await.unwrap();
    let token = stored.get_document("token").unwrap();
    let data = token.get_str("_data").unwrap();
    let (kind, rest) = data.split_at(2);
    let old = format!("{kind}00000001{}", rest.split_at(8).1);
    set_position(db, doc! {"_data": old}).await;
    let mut follower = follow(db).await;
    let batch = follower.next().await.unwrap();
    assert!(batch.scrubbed && batch.documents() == 2, "{batch:?}");
    caught_up(db, &mut follower).await;
    // The new position is stored.
    drop(follower);
    update(db, "people", 1, doc! {"$set": {"name": "Eve"}}).await;
    let batch = follow(db).await.next().await.unwrap();
    assert!(!batch.scrubbed && batch.documents() > 0, "{batch:?}");
}

pub(super) async fn a_malformed_position_is_forgotten(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    drop(follower);
    for token in [
        doc! {"_data": "zz"},
        doc! {"_data": 5},
        doc! {"_data": "8263"},
    ] {
        set_position(db, token.clone()).await;
        let mut follower = follow(db).await;
        let batch = follower.next().await.unwrap();
        assert!(batch.scrubbed, "{token}: {batch:?}");
        let stored = position(db).await.unwrap();
        assert_ne!(stored.get_document("token").unwrap(), &token);
    }
}

pub(super) async fn a_dropped_collection_is_followed(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    db.run_command(doc! {"drop": "tasks"}).await.unwrap();
    let batches = caught_up(db, &mut follower).await;
    assert!(batches.iter().any(|one| one.scans > 0), "{batches:?}");
    let found = one(db, "people", 1).await;
    assert_eq!(found.get_i64("task_count").unwrap(), 0);
    assert!(found.get_array("todo").unwrap().is_empty());
    create(db).await;
    insert(db, "tasks", [task(8, 1)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!(list(db, "people", 1, "todo").await, [8]);
    // The whole database: the stream ends, and another one follows.
    db.drop().await.unwrap();
    while soon(&mut follower).await.is_some() {}
    create(db).await;
    insert(db, "people", [person(5)]).await;
    insert(db, "tasks", [task(6, 5)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!(list(db, "people", 5, "todo").await, [6]);
}

pub(super) async fn a_renamed_collection_is_followed(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let rename = async |from: &str, to: &str| {
        let [from, to] = [from, to].map(|name| format!("{}.{name}", db.name()));
        let command = doc! {"renameCollection": from, "to": to};
        db.database("admin").run_command(command).await.unwrap();
    };
    rename("tasks", "old").await;
    caught_up(db, &mut follower).await;
    let found = one(db, "people", 1).await;
    assert_eq!(found.get_i64("task_count").unwrap(), 0);
    rename("old", "tasks").await;
    caught_up(db, &mut follower).await;
    let found = one(db, "people", 1).await;
    assert_eq!(found.get_i64("task_count").unwrap(), 2);
    assert_eq!(list(db, "people", 1, "todo").await, [1, 2]);
}

pub(super) async fn two_followers_of_one_name_do_no_harm(db: &Db) {
    fill(db).await;
    let (mut one_of_them, mut other) = (follow(db).await, follow(db).await);
    for n in 0..5 {
        update(db, "people", 1, doc! {"$set": {"name": format!("n{n}")}}).await;
        update(db, "tasks", 3, doc! {"$set": {"owner": 1 + n % 2}}).await;
        let both = futures::future::join(soon(&mut one_of_them), soon(&mut other));
        Box::pin(both).await;
    }
    caught_up(db, &mut one_of_them).await;
    let ahead = position(db).await.unwrap();
    caught_up(db, &mut other).await;
    // The position of the one that is behind does not replace the other's.
    let data = |stored: &BsonDocument| {
        let token = stored.get_document("token").unwrap();
        token.get_str("_data").unwrap().to_owned()
    };
    assert!(data(&position(db).await.unwrap()) >= data(&ahead));
}
