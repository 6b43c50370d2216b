//! Deletes without a transaction that stop after any of their writes.

use odm::bson::{Bson, doc};
use odm::prelude::*;

use super::models::Person;
use super::{insert, stored};
use crate::suite::relations::watched;

const COLLECTIONS: [&str; 3] = ["people", "works", "orders"];

/// After each write no reference dangles whose document is still there, and the same delete completes the rest.
pub(super) async fn stopped_deletes_are_completed(db: &Db) {
    let (watched, log) = watched(db);
    fill(db).await;
    let delete = |db: &Db| {
        let people = db.collection::<Person>();
        people
            .delete_many(|p| p.id.lte(2))
            .with_dependents()
            .non_atomic()
    };
    log.lock().unwrap().clear();
    delete(&watched).await.unwrap();
    let sent = std::mem::take(&mut *log.lock().unwrap());
    let is_write = |name: &str| name == "update" || name == "delete";
    let writes: Vec<_> = sent
        .into_iter()
        .filter(|command| command.keys().next().is_some_and(|name| is_write(name)))
        .collect();
    assert!(writes.len() > 4, "{writes:?}");
    let mut after = Vec::new();
    for name in COLLECTIONS {
        after.push(without_times(db, name).await);
    }
    let deletes_people =
        |command: &odm::bson::Document| command.get_str("delete").is_ok_and(|it| it == "people");
    let last = writes.iter().position(deletes_people).unwrap();
    for stop in 0..writes.len() {
        fill(db).await;
        for command in &writes[..stop] {
            db.run_command(command.clone()).await.unwrap();
        }
        if stop <= last {
            // The people go after all that refers to them.
            assert_eq!(stored(db, "people").await.len(), 3, "{stop}");
        }
        delete(db).await.unwrap();
        for (name, after) in COLLECTIONS.into_iter().zip(&after) {
            assert_eq!(without_times(db, name).await, *after, "{stop}");
        }
    }
}

async fn without_times(db: &Db, collection: &str) -> Vec<odm::bson::Document> {
    let mut stored = stored(db, collection).await;
    for document in &mut stored {
        document.remove("version");
        document.remove("updated");
    }
    stored
}

async fn fill(db: &Db) {
    for name in COLLECTIONS {
        let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
        db.run_command(delete).await.unwrap();
    }
    let person = |id: i32| doc! {"_id": id, "code": format!("c{id}")};
    insert(db, "people", (1..=3).map(person)).await;
    let work = |id: i32| doc! {"_id": id, "author": id, "by_code": "c1", "editor": 1, "reader": 3};
    insert(db, "works", [work(1), work(2)]).await;
    let free = doc! {"_id": 3, "author": 3, "by_code": Bson::Null, "editor": 1, "reader": 2};
    insert(db, "works", [free]).await;
    let line = |person: i32| doc! {"person": person, "ch": 2, "notes": [{"by": 1}, {"by": 3, "readers": [1, 3]}]};
    let order = doc! {"_id": 1, "buyer": 3, "lines": [line(1), line(3)], "watchers": [1, 2, 3], "payment": {"Card": {"holder": 1}}};
    insert(db, "orders", [order]).await;
}
