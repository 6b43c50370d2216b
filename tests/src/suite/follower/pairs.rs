//! Two-way references that other programs write on one side.

use odm::bson::{Bson, doc};
use odm::prelude::*;

use super::models::{
    Actor, Board, Movie, Note, Person, Task, actor, caught_up, delete, fill, follow, insert, list,
    one, person, task, update,
};

async fn owner(db: &Db, id: i32) -> Option<i32> {
    one(db, "tasks", id).await.get_i32("owner").ok()
}

async fn todo(db: &Db, id: i32) -> Vec<i32> {
    list(db, "people", id, "todo").await
}

pub(super) async fn the_side_that_was_written_decides(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    assert_eq!(
        (todo(db, 1).await, todo(db, 2).await),
        (vec![1, 2], vec![3])
    );
    // The single reference.
    update(db, "tasks", 1, doc! {"$set": {"owner": 2}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(
        (todo(db, 1).await, todo(db, 2).await),
        (vec![2], vec![3, 1])
    );
    // The list: one element more, then one less, then another list.
    update(db, "people", 1, doc! {"$push": {"todo": 4}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(owner(db, 4).await, Some(1));
    update(db, "people", 1, doc! {"$pull": {"todo": 2}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((owner(db, 2).await, owner(db, 4).await), (None, Some(1)));
    update(db, "people", 1, doc! {"$set": {"todo": [3, 2]}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(owner(db, 4).await, None);
    assert_eq!((owner(db, 3).await, owner(db, 2).await), (Some(1), Some(1)));
    assert_eq!(todo(db, 2).await, [1]);
    // Two lists claim a task: the last one gets it.
    update(db, "people", 1, doc! {"$push": {"todo": 4}}).await;
    update(db, "people", 2, doc! {"$push": {"todo": 4}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!(owner(db, 4).await, Some(2));
    assert_eq!(todo(db, 1).await, [3, 2]);
    // New documents, and deleted ones.
    insert(db, "tasks", [task(5, 1)]).await;
    let mut new = person(3);
    new.insert("todo", vec![Bson::from(1), Bson::from(99)]);
    insert(db, "people", [new]).await;
    caught_up(db, &mut follower).await;
    assert_eq!(
        (todo(db, 1).await, owner(db, 1).await),
        (vec![3, 2, 5], Some(3))
    );
    insert(db, "tasks", [task(99, None)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!(owner(db, 99).await, Some(3));
    delete(db, "people", 3).await;
    delete(db, "tasks", 2).await;
    caught_up(db, &mut follower).await;
    assert_eq!((owner(db, 1).await, owner(db, 99).await), (None, None));
    assert_eq!(todo(db, 1).await, [3, 5]);
}

pub(super) async fn lists_on_both_sides_follow_each_other(db: &Db) {
    fill(db).await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    let cast = async |id| list(db, "movies", id, "cast").await;
    let movies = async |id| list(db, "actors", id, "movies").await;
    update(db, "movies", 1, doc! {"$set": {"cast": [1, 2]}}).await;
    update(db, "actors", 3, doc! {"$push": {"movies": 1}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((cast(1).await, movies(2).await), (vec![1, 2, 3], vec![1]));
    // Each side changes another link of the same documents.
    update(db, "movies", 1, doc! {"$pull": {"cast": 1}}).await;
    update(db, "actors", 1, doc! {"$push": {"movies": 2}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((cast(1).await, cast(2).await), (vec![2, 3], vec![1]));
    assert_eq!(movies(1).await, [2]);
    let mut replaced = actor(2);
    replaced.insert("movies", vec![Bson::from(2)]);
    update(db, "actors", 2, replaced).await;
    delete(db, "actors", 3).await;
    caught_up(db, &mut follower).await;
    assert_eq!((cast(1).await, cast(2).await), (vec![], vec![1, 2]));
    let shorter = doc! {"$set": {"cast": {"$slice": ["$cast", 1]}}};
    update(db, "movies", 2, vec![Bson::from(shorter)]).await;
    caught_up(db, &mut follower).await;
    assert_eq!((movies(1).await, movies(2).await), (vec![2], vec![]));
}

pub(super) async fn one_field_is_both_sides(db: &Db) {
    fill(db).await;
    update(
        db,
        "actors",
        1,
        doc! {"$set": {"friends": [2, 3], "partner": 2}},
    )
    .await;
    let mut follower = follow(db).await;
    follower.next().await.unwrap();
    // A first start keeps what either document refers to.
    caught_up(db, &mut follower).await;
    let partner = async |id| one(db, "actors", id).await.get_i32("partner").ok();
    let friends = async |id| list(db, "actors", id, "friends").await;
    assert_eq!((friends(1).await, friends(3).await), (vec![2, 3], vec![1]));
    assert_eq!(partner(2).await, Some(1));
    update(db, "actors", 3, doc! {"$set": {"partner": 1}}).await;
    update(db, "actors", 3, doc! {"$pull": {"friends": 1}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((partner(1).await, partner(2).await), (Some(3), None));
    assert_eq!(friends(1).await, [2]);
    update(db, "actors", 1, doc! {"$unset": {"partner": ""}}).await;
    update(db, "actors", 2, doc! {"$push": {"friends": 3}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((partner(3).await, friends(3).await), (None, vec![2]));
    delete(db, "actors", 2).await;
    caught_up(db, &mut follower).await;
    assert_eq!((friends(1).await, friends(3).await), (vec![], vec![]));
}

pub(super) async fn a_list_without_pre_images_follows_the_single_references(db: &Db) {
    fill(db).await;
    let images = doc! {"collMod": "people", "changeStreamPreAndPostImages": {"enabled": false}};
    db.run_command(images).await.unwrap();
    let models = models![Person, Task, Board, Note, Movie, Actor];
    let mut follower = db.follow(models).await.unwrap();
    follower.next().await.unwrap();
    caught_up(db, &mut follower).await;
    update(db, "people", 1, doc! {"$push": {"todo": 3}}).await;
    update(db, "people", 1, doc! {"$pull": {"todo": 1}}).await;
    caught_up(db, &mut follower).await;
    assert_eq!((owner(db, 3).await, owner(db, 1).await), (Some(2), Some(1)));
    let mut all = todo(db, 1).await;
    all.sort_unstable();
    assert_eq!(all, [1, 2]);
    update(db, "tasks", 3, doc! {"$set": {"owner": 1}}).await;
    delete(db, "people", 2).await;
    caught_up(db, &mut follower).await;
    assert_eq!(todo(db, 1).await.len(), 3);
}
