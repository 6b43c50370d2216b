//! Followers: derived data that follows the writes of other programs, by a change stream.

mod models;
mod pairs;
mod random;
mod stops;

use std::time::Duration;

use odm::bson::{Bson, doc};
use odm::prelude::*;

use self::models::{
    Actor, Board, Movie, Note, Person, Task, actor, caught_up, create, damages, delete, fill,
    follow, insert, list, note, one, person, soon, task, until, update,
};
use self::pairs::{
    a_list_without_pre_images_follows_the_single_references, lists_on_both_sides_follow_each_other,
    one_field_is_both_sides, the_side_that_was_written_decides,
};
use self::random::random_writes_beside_stopping_followers_are_followed;
use self::stops::{
    a_dropped_collection_is_followed, a_follower_continues_where_it_was,
    a_follower_that_is_dropped_after_each_poll_loses_nothing,
    a_follower_without_history_reads_all_documents, a_malformed_position_is_forgotten,
    a_renamed_collection_is_followed, two_followers_of_one_name_do_no_harm,
};
use crate::case::cases;

cases![
    a_first_start_writes_what_was_stale,
    copies_follow_raw_writes,
    summaries_follow_raw_writes,
    lists_of_the_newest_follow_raw_writes,
    writes_that_write_all_need_no_more,
    stale_writes_of_odm_are_followed,
    replaced_derived_values_are_written_again,
    documents_of_other_programs_do_not_stop_it,
    values_that_do_not_fit_are_reported,
    missing_pre_images_are_refused,
    moves_without_pre_images_read_all_documents,
    models_without_derived_data_are_refused,
    the_lag_is_measured,
    a_list_without_pre_images_follows_the_single_references,
    lists_on_both_sides_follow_each_other,
    one_field_is_both_sides,
    the_side_that_was_written_decides,
    a_dropped_collection_is_followed,
    a_follower_continues_where_it_was,
    a_follower_that_is_dropped_after_each_poll_loses_nothing,
    a_follower_without_history_reads_all_documents,
    a_malformed_position_is_forgotten,
    a_renamed_collection_is_followed,
    two_followers_of_one_name_do_no_harm,
    random_writes_beside_stopping_followers_are_followed,
];

async fn a_first_start_writes_what_was_stale(db: &Db) {
    fill(db).await;
    assert!(!damages(db).await.is_empty());
    let mut follower = follow(db).await;
    let batch = follower.next().await.unwrap();
    assert!(batch.scrubbed && batch.not_followed.is_empty(), "{batch:?}");
    assert_eq!(damages(db).await, "");
    let done: Vec<_> = batch
        .written
        .iter()
        .map(|one| (one.model, one.by.as_str(), one.documents))
        .collect();
    let expected = [
        ("Person", "todo", 2),
        ("Task", "owner", 3),
        ("Person", "owned", 2),
        ("Board", "newest", 1),
    ];
    assert_eq!(done, expected);
    // Its own writes are events from which nothing follows.
    for batch in caught_up(db, &mut follower).await {
        assert_eq!((batch.documents(), batch.scans), (0, 0), "{batch:?}");
    }
    drop(follower);
    let mut follower = follow(db).await;
    update(db, "people", 1, doc! {"$set": {"name": "Ann"}}).await;
    assert!(!follower.next().await.unwrap().scrubbed);
}

async fn the_lag_is_measured(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    // No event, but all documents.
    assert_eq!(follower.next().await.unwrap().lag, None);
    caught_up(db, &mut follower).await;
    update(db, "people", 1, doc! {"$set": {"name": "Ann"}}).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    update(db, "people", 2, doc! {"$set": {"name": "Bob"}}).await;
    let lag = follower.next().await.unwrap().lag.unwrap();
    // The clocks of two processes may differ by little.
    let least = Duration::from_millis(350);
    assert!((least..Duration::from_secs(60)).contains(&lag), "{lag:?}");
}

async fn copies_follow_raw_writes(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let name = async |id| {
        let task = one(db, "tasks", id).await;
        task.get_str("owner_name").unwrap_or("-").to_owned()
    };
    update(db, "people", 1, doc! {"$set": {"name": "Ann"}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(
        [name(1).await, name(2).await, name(3).await],
        ["Ann", "Ann", "p2"]
    );
    update(db, "tasks", 1, doc! {"$set": {"owner": 2}}).await;
    insert(db, "tasks", [task(5, 1)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!([name(1).await, name(5).await], ["p2", "Ann"]);
    update(db, "tasks", 5, doc! {"$unset": {"owner": ""}}).await;
    update(db, "tasks", 2, doc! {"$set": {"owner_name": "other"}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!([name(5).await, name(2).await], ["-", "Ann"]);
    // By a pipeline, and by replacements.
    let stage = doc! {"$set": {"name": {"$concat": ["$name", "!"]}}};
    update(db, "people", 1, vec![Bson::from(stage)]).await;
    update(db, "tasks", 3, task(3, 1)).await;
    caught_up(db, &mut follower).await;
    assert_eq!([name(2).await, name(3).await], ["Ann!", "Ann!"]);
    let mut replaced = person(1);
    replaced.insert("name", "Eve");
    update(db, "people", 1, replaced).await;
    caught_up(db, &mut follower).await;
    // A document to which others refer already.
    insert(db, "tasks", [task(6, 9)]).await;
    caught_up(db, &mut follower).await;
    insert(db, "people", [person(9)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!(name(6).await, "p9");
    assert_eq!(list(db, "people", 9, "todo").await, [6]);
}

async fn summaries_follow_raw_writes(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let sums = async || {
        let mut sums = Vec::new();
        for id in [1, 2] {
            let found = one(db, "people", id).await;
            let number = |name| found.get_i64(name).unwrap();
            sums.push((number("task_count"), number("hours")));
        }
        sums
    };
    assert_eq!(sums().await, [(2, 3), (1, 3)]);
    update(db, "tasks", 1, doc! {"$inc": {"hours": 10_i64}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(sums().await, [(2, 13), (1, 3)]);
    update(db, "tasks", 1, doc! {"$set": {"owner": 2}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(sums().await, [(1, 2), (2, 14)]);
    update(db, "tasks", 1, task(1, 1)).await;
    delete(db, "tasks", 2).await;
    caught_up(db, &mut follower).await;
    assert_eq!(sums().await, [(1, 1), (1, 3)]);
    insert(db, "tasks", [task(7, 2), task(8, 2)]).await;
    delete(db, "tasks", 7).await;
    update(
        db,
        "people",
        2,
        doc! {"$set": {"hours": 99_i64, "task_count": 0_i64}},
    )
    .await;
    let batches = caught_up(db, &mut follower).await;
    assert_eq!(sums().await, [(1, 1), (2, 11)]);
    assert!(batches.iter().all(|batch| batch.scans == 0), "{batches:?}");
}

async fn lists_of_the_newest_follow_raw_writes(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let listed = async |id| list(db, "boards", id, "newest").await;
    assert_eq!(listed(1).await, [2, 3]);
    insert(db, "notes", [note(4, 1, 25), note(5, 2, 1)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!((listed(1).await, listed(2).await), (vec![4, 3], vec![5]));
    update(db, "notes", 1, doc! {"$set": {"rank": 40}}).await;
    update(db, "notes", 3, doc! {"$set": {"text": "new"}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(listed(1).await, [3, 1]);
    // The collection has no pre-images: the lists themselves say where a document was.
    update(db, "notes", 3, doc! {"$set": {"board": 2}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((listed(1).await, listed(2).await), (vec![4, 1], vec![5, 3]));
    delete(db, "notes", 1).await;
    update(db, "notes", 5, note(5, 1, 50)).await;
    let batches = caught_up(db, &mut follower).await;
    assert_eq!((listed(1).await, listed(2).await), (vec![4, 5], vec![3]));
    update(db, "boards", 2, doc! {"$set": {"newest": []}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(listed(2).await, [3]);
    assert!(batches.iter().all(|batch| batch.scans == 0), "{batches:?}");
}

async fn writes_that_write_all_need_no_more(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let (people, tasks) = (db.collection::<Person>(), db.collection::<Task>());
    let new = Task {
        id: 20,
        owner: Some(Ref::from(1)),
        owner_name: None,
        hours: 5,
    };
    tasks.insert_one(&new).propagate().await.unwrap();
    let moved = tasks.update_by_id(&20, |t| t.owner.set(Some(Ref::from(2))));
    moved.propagate().await.unwrap();
    let renamed = people.update_by_id(&2, |p| p.name.set("Joe"));
    renamed.propagate().await.unwrap();
    let taken = people.update_by_id(&1, |p| p.todo.push(Ref::from(20)));
    taken.propagate().await.unwrap();
    tasks.delete_by_id(&20).with_dependents().await.unwrap();
    let last = doc! {"_id": 30, "newest": []};
    insert(db, "boards", [last]).await;
    update(db, "boards", 30, doc! {"$set": {"newest": [note(1, 1, 1)]}}).await;
    let is_done = async || list(db, "boards", 30, "newest").await.is_empty();
    for batch in until(&mut follower, is_done).await {
        let mut written = batch.written.iter().filter(|one| one.model != "Board");
        assert_eq!((written.next(), batch.scans), (None, 0), "{batch:?}");
    }
    for batch in caught_up(db, &mut follower).await {
        assert_eq!((batch.documents(), batch.scans), (0, 0), "{batch:?}");
    }
}

async fn stale_writes_of_odm_are_followed(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let (people, tasks) = (db.collection::<Person>(), db.collection::<Task>());
    let renamed = people.update_by_id(&1, |p| p.name.set("Ann"));
    renamed.leave_stale().await.unwrap();
    let moved = tasks.update_by_id(&3, |t| t.owner.set(Some(Ref::from(1))));
    moved.leave_stale().await.unwrap();
    tasks.delete_by_id(&1).leave_dangling().await.unwrap();
    let notes = db.collection::<Note>();
    let moved = notes.update_by_id(&3, |n| n.board.set(Ref::from(2)));
    moved.leave_stale().await.unwrap();
    caught_up(db, &mut follower).await;
    assert_eq!(list(db, "people", 1, "todo").await, [2, 3]);
    assert_eq!(list(db, "boards", 1, "newest").await, [1, 2]);
}

async fn replaced_derived_values_are_written_again(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    for id in [1, 2] {
        update(db, "people", id, doc! {"_id": id, "name": "x", "todo": []}).await;
        update(db, "boards", id, doc! {"_id": id}).await;
    }
    caught_up(db, &mut follower).await;
    // The tasks of a list that a replacement has emptied have no owner.
    assert_eq!(one(db, "people", 1).await.get_i64("task_count").unwrap(), 0);
    assert!(list(db, "people", 1, "todo").await.is_empty());
    assert_eq!(list(db, "boards", 1, "newest").await, [2, 3]);
}

async fn documents_of_other_programs_do_not_stop_it(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let odd = [
        doc! {"_id": 50, "owner": "nobody", "hours": "many"},
        doc! {"_id": 51, "owner": {"a": 1}, "hours": null},
        doc! {"_id": 52},
        doc! {"_id": 53, "owner": [1, 2], "hours": [1]},
        doc! {"_id": 54, "owner": 77, "owner_name": 5},
        doc! {"_id": "text", "owner": 1.0, "hours": 2.5},
        doc! {"_id": {"x": 1}, "owner": null},
    ];
    insert(db, "tasks", odd).await;
    let odd = [
        doc! {"_id": 60, "todo": "none", "name": 5},
        doc! {"_id": 61, "todo": [null, "a", {"b": 1}, [1]]},
        doc! {"_id": 62},
        doc! {"_id": "text", "name": null, "todo": null},
    ];
    insert(db, "people", odd).await;
    let odd = [
        doc! {"_id": 70, "board": "x", "rank": "high"},
        doc! {"_id": 71},
        doc! {"_id": 72, "board": [1, 2], "rank": null},
        doc! {"_id": "text", "board": 1, "rank": -5},
    ];
    insert(db, "notes", odd).await;
    insert(
        db,
        "boards",
        [doc! {"_id": 80, "newest": "none"}, doc! {"_id": 81}],
    )
    .await;
    insert(
        db,
        "movies",
        [
            doc! {"_id": 90, "cast": 5},
            doc! {"_id": 91, "cast": [1, "x"]},
        ],
    )
    .await;
    insert(
        db,
        "actors",
        [doc! {"_id": 92, "partner": [1], "friends": 3}],
    )
    .await;
    for id in [50, 51, 53] {
        update(db, "tasks", id, doc! {"$set": {"owner": 1}}).await;
    }
    update(db, "people", 60, doc! {"$set": {"name": [1, {"a": 2}]}}).await;
    update(db, "tasks", 54, doc! {"$set": {"owner": {"oid": 3}}}).await;
    // It goes on with documents that fit.
    update(db, "people", 1, doc! {"$set": {"name": "Ann"}}).await;
    insert(db, "notes", [note(9, 1, 90)]).await;
    let is_done = async || {
        let name = one(db, "tasks", 1).await;
        let board = one(db, "boards", 1).await;
        let last = board.get_array("newest").unwrap().last().unwrap();
        let id = last.as_document().unwrap().get_i32("_id");
        name.get_str("owner_name").is_ok_and(|it| it == "Ann") && id.is_ok_and(|it| it == 9)
    };
    until(&mut follower, is_done).await;
}

async fn values_that_do_not_fit_are_reported(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    // The sum of the first person is beyond 64 bits.
    for id in [1, 2] {
        update(db, "tasks", id, doc! {"$set": {"hours": i64::MAX}}).await;
    }
    update(db, "tasks", 3, doc! {"$set": {"hours": 7_i64}}).await;
    let is_done = async || one(db, "people", 2).await.get_i64("hours").unwrap() == 7;
    let batches = until(&mut follower, is_done).await;
    let refused: Vec<_> = batches.iter().flat_map(|one| &one.not_followed).collect();
    assert!(!refused.is_empty());
    for one in refused {
        assert_eq!((one.model, one.by.as_str()), ("Person", "owned"));
        assert!(one.error.is_unfit_summary(), "{}", one.error);
    }
    update(db, "tasks", 2, doc! {"$set": {"hours": 0_i64}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(
        one(db, "people", 1).await.get_i64("hours").unwrap(),
        i64::MAX
    );
}

async fn keep_images(db: &Db, collection: &str, is_on: bool) {
    let images = doc! {"collMod": collection, "changeStreamPreAndPostImages": {"enabled": is_on}};
    db.run_command(images).await.unwrap();
}

async fn missing_pre_images_are_refused(db: &Db) {
    fill(db).await;
    keep_images(db, "tasks", false).await;
    let error = db.follow(models![Person]).await.unwrap_err();
    assert!(error.is_usage());
    let text = error.to_string();
    let expected = "Task: `owned` of `Person` follows documents that are moved or deleted only if `tasks` stores them as they were";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("{collMod: \"tasks\", changeStreamPreAndPostImages: {enabled: true}}"),
        "{text}"
    );
    keep_images(db, "tasks", true).await;
    db.follow(models![Person]).await.unwrap();
    // Lists with `_id`s need none.
    db.follow(models![Board]).name("boards").await.unwrap();
    db.run_command(doc! {"drop": "tasks"}).await.unwrap();
    assert!(db.follow(models![Person]).await.unwrap_err().is_usage());
}

async fn moves_without_pre_images_read_all_documents(db: &Db) {
    fill(db).await;
    keep_images(db, "tasks", false).await;
    let follow = db.follow(models![Person, Task]).without_pre_images();
    let mut follower = follow.await.unwrap();
    let models = models![Board, Note, Actor, Movie];
    let mut others = db.follow(models).name("others").await.unwrap();
    while soon(&mut others).await.is_some() {}
    caught_up(db, &mut follower).await;
    update(db, "tasks", 1, doc! {"$set": {"hours": 9_i64}}).await;
    let batches = caught_up(db, &mut follower).await;
    assert!(batches.iter().all(|batch| batch.scans == 0), "{batches:?}");
    update(db, "tasks", 1, doc! {"$set": {"owner": 2}}).await;
    delete(db, "tasks", 2).await;
    let batches = caught_up(db, &mut follower).await;
    assert!(batches.iter().any(|batch| batch.scans == 1), "{batches:?}");
    let found = [one(db, "people", 1).await, one(db, "people", 2).await];
    let counts = found.map(|person| person.get_i64("task_count").unwrap());
    assert_eq!(counts, [0, 2]);
}

async fn models_without_derived_data_are_refused(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "plain")]
    struct Plain {
        #[serde(rename = "_id")]
        id: i32,
    }
    create(db).await;
    insert(db, "actors", [actor(1)]).await;
    let error = db.follow(models![Plain]).await.unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("nothing to follow"),
        "{error}"
    );
}
