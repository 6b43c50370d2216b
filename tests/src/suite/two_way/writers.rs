//! Writers of both sides beside each other.

use futures::future::join_all;
use odm::prelude::*;

use super::models::{Owner, Task, owner, task};
use crate::random::{Random, count};

const OWNERS: [&str; 3] = ["ann", "bob", "cat"];
const TASKS: i32 = 9;

/// A task may be deleted before a write refers to it, and a list may be full.
fn unless_refused(result: odm::Result<()>) {
    match result {
        Ok(()) => {}
        Err(error) if error.is_dangling() || error.to_string().contains("is full") => {}
        Err(error) => panic!("{error}"),
    }
}

async fn write(db: &Db, random: &mut Random, new: i32) -> odm::Result<()> {
    let (owners, tasks) = (db.collection::<Owner>(), db.collection::<Task>());
    let who = *random.pick(&OWNERS);
    let any = i32::try_from(random.below(9)).unwrap();
    match random.below(8) {
        0..3 => {
            let update = tasks.update_by_id(&any, |t| t.owner.set(Some(Ref::from(who))));
            update.propagate().await.map(drop)
        }
        3 => {
            let update = tasks.update_by_id(&any, |t| t.owner.unset());
            update.propagate().await.map(drop)
        }
        4 | 5 => {
            let update = owners.update_by_id(who, |o| o.tasks.add_to_set(Ref::from(any)));
            update.propagate().await.map(drop)
        }
        6 => {
            let insert = tasks.insert_one(task(new, Some(who)));
            insert.propagate().await.map(drop)
        }
        _ => {
            let delete = tasks.delete_many(|t| t.id.gte(TASKS) | t.id.eq(any));
            delete.with_dependents().await?;
            tasks
                .insert_one(task(any, None))
                .leave_stale()
                .await
                .map(drop)
        }
    }
}

/// `ODM_TWO_WAY_WRITERS` sets the number of writes of each of eight writers.
pub(super) async fn nothing_is_one_sided_after_writes_beside_each_other(db: &Db) {
    let (owners, tasks) = (db.collection::<Owner>(), db.collection::<Task>());
    owners
        .insert_many(OWNERS.map(|id| owner(id, &[])))
        .await
        .unwrap();
    let all = (0..TASKS).map(|id| task(id, None));
    tasks.insert_many(all).await.unwrap();
    let writes = i32::try_from(count("ODM_TWO_WAY_WRITERS", 10)).unwrap();
    let writer = async |number: i32| {
        let mut random = Random::of(u64::try_from(number).unwrap());
        for at in 0..writes {
            let new = (number + 1) * 100_000 + at;
            match write(db, &mut random, new).await {
                // Another writer has inserted the task again.
                Err(error) if error.is_duplicate_key() => {}
                other => unless_refused(other),
            }
        }
    };
    join_all((0..8).map(writer)).await;
    for report in [owners.check_two_way().await, tasks.check_two_way().await] {
        let report = report.unwrap();
        assert!(report.is_sound(), "{report}");
    }
    assert!(owners.check_references().await.unwrap().is_sound());
    assert!(tasks.check_copies().await.unwrap().is_sound());
}
