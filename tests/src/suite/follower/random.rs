//! Random writes of other programs, beside followers that stop at any point.

use std::cell::Cell;
use std::time::Duration;

use futures::future::{join, join_all};
use odm::bson::{Bson, doc};
use odm::prelude::*;

use super::models::{actor, caught_up, delete, fill, follow, insert, note, person, task, update};
use crate::random::{Random, count};

/// A write that knows nothing of what derives from it.
async fn write(db: &Db, random: &mut Random) {
    let mut number = |end| i32::try_from(random.below(end)).unwrap();
    let (id, other, third) = (number(6), number(5), number(5));
    let links = [other, third].map(Bson::from).to_vec();
    let (movie, name) = (1 + id % 2, format!("n{id}"));
    match number(24) {
        0 => insert(db, "tasks", [task(id, other)]).await,
        1 => insert(db, "people", [person(other)]).await,
        2 => insert(db, "notes", [note(id, other, third)]).await,
        3 => insert(db, "actors", [actor(other)]).await,
        4 => update(db, "people", other, doc! {"$set": {"name": &name}}).await,
        5 | 6 => update(db, "tasks", id, doc! {"$set": {"owner": other}}).await,
        7 => update(db, "tasks", id, doc! {"$unset": {"owner": ""}}).await,
        8 => update(db, "tasks", id, task(id, other)).await,
        9 => update(db, "tasks", id, doc! {"$inc": {"hours": 1_i64}}).await,
        10 => update(db, "people", other, doc! {"$addToSet": {"todo": id}}).await,
        11 => update(db, "people", other, doc! {"$pull": {"todo": id}}).await,
        12 => update(db, "people", other, doc! {"$set": {"todo": links}}).await,
        13 => update(db, "notes", id, doc! {"$set": {"board": 1 + other % 2}}).await,
        14 => update(db, "notes", id, doc! {"$set": {"rank": third}}).await,
        15 => update(db, "movies", movie, doc! {"$set": {"cast": links}}).await,
        16 => update(db, "actors", other, doc! {"$addToSet": {"movies": movie}}).await,
        17 => update(db, "movies", movie, doc! {"$pull": {"cast": other}}).await,
        18 => update(db, "actors", other, doc! {"$set": {"partner": third}}).await,
        19 => update(db, "actors", other, doc! {"$set": {"friends": links}}).await,
        20 => delete(db, "tasks", id).await,
        21 => delete(db, "people", other).await,
        22 => delete(db, "notes", id).await,
        _ => delete(db, "actors", other).await,
    }
}

/// `ODM_FOLLOWER_WRITES` sets the number of writes of each of three writers.
pub(super) async fn random_writes_beside_stopping_followers_are_followed(db: &Db) {
    fill(db).await;
    let writes = count("ODM_FOLLOWER_WRITES", 60);
    let mut random = Random::unless_set("ODM_FOLLOWER_WRITES", 7);
    let seeds = [random.next(), random.next(), random.next()];
    let running = Cell::new(seeds.len());
    let writer = async |seed: u64| {
        let mut random = Random::of(seed);
        for _ in 0..writes {
            write(db, &mut random).await;
            tokio::task::yield_now().await;
        }
        running.set(running.get() - 1);
    };
    let stopping = async {
        let mut follower = follow(db).await;
        while running.get() > 0 {
            let wait = Duration::from_micros(random.below(20_000) as u64);
            if let Ok(batch) = tokio::time::timeout(wait, follower.next()).await {
                batch.unwrap();
            }
            if random.one_in(5) {
                follower = follow(db).await;
            }
        }
    };
    join(join_all(seeds.map(writer)), stopping).await;
    let mut follower = follow(db).await;
    caught_up(db, &mut follower).await;
}
