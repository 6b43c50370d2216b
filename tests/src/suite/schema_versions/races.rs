//! Old and new programs at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use tokio::task::yield_now;

use super::{Db, Person, doc, first, models, store};

/// Increments the price of a document as a program of the first version does, which knows nothing of versions. It leaves newer
/// documents alone, as a filter by the type of `price` lets it.
async fn old_increment(db: &Db, id: i32) -> bool {
    let filter = doc! {"_id": id, "name": {"$exists": true}};
    let update = doc! {"q": filter, "u": {"$inc": {"price": 1_i64}}};
    let reply = db
        .run_command(doc! {"update": "people", "updates": [update]})
        .await
        .unwrap();
    reply.get_i32("n").unwrap() == 1
}

pub(super) async fn migrations_end_beside_writers(db: &Db) {
    const DOCUMENTS: i32 = 600;
    let people = db.collection::<Person>();
    store(db, "people", (0..DOCUMENTS).map(|id| first(id, "A B", 0))).await;
    let stops = Arc::new(AtomicBool::new(false));
    let old = |seed: i32| {
        let (db, stops) = (db.clone(), Arc::clone(&stops));
        tokio::spawn(async move {
            let (mut done, mut inserted) = (0_i64, 0);
            for round in 0.. {
                if stops.load(Ordering::Relaxed) && round > 20 {
                    break;
                }
                let id = (seed * 7 + round * 13) % DOCUMENTS;
                done += i64::from(old_increment(&db, id).await);
                if round % 5 == 0 && inserted < 100 {
                    let id = 10_000 + seed * 1_000 + inserted;
                    store(&db, "people", [first(id, "A B", 0)]).await;
                    inserted += 1;
                }
                yield_now().await;
            }
            (done, inserted)
        })
    };
    let new = |seed: i32| {
        let (db, stops) = (db.clone(), Arc::clone(&stops));
        tokio::spawn(async move {
            let people = db.collection::<Person>();
            let mut done = 0_i64;
            for round in 0.. {
                if stops.load(Ordering::Relaxed) && round > 20 {
                    break;
                }
                let id = (seed * 11 + round * 17) % DOCUMENTS;
                let result = people
                    .update_by_id(&id, |p| p.price.amount.inc(1))
                    .await
                    .unwrap();
                assert_eq!(result.matched, 1);
                done += 1;
                yield_now().await;
            }
            done
        })
    };
    let (old, new) = ([old(1), old(2)], [new(3), new(4)]);
    let plan = db.migrate(models![Person]).plan().await.unwrap();
    let report = plan.run().await.unwrap();
    stops.store(true, Ordering::Relaxed);
    assert!(report.is_complete(), "{report}");
    let old: Vec<_> = join_all(old)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let new: i64 = join_all(new).await.into_iter().map(Result::unwrap).sum();
    let all = people.find_all().all().await.unwrap();
    let inserted: i32 = old.iter().map(|(_, inserted)| inserted).sum();
    assert_eq!(all.len(), usize::try_from(DOCUMENTS + inserted).unwrap());
    let written: i64 = old.iter().map(|(done, _)| done).sum();
    let total: i64 = all.iter().map(|one| one.price.amount).sum();
    assert_eq!(total, written + new, "no write is lost");
    // What is old has been inserted since.
    let left = db.migrate(models![Person]).plan().await.unwrap();
    let stored_old = db.run_command(
        doc! {"count": "people", "query": {"name": {"$exists": true}, "_id": {"$lt": DOCUMENTS}}},
    );
    assert_eq!(stored_old.await.unwrap().get_i32("n").unwrap(), 0);
    assert!(left.steps()[0].outdated <= u64::try_from(inserted).unwrap());
    assert!(db.migrate(models![Person]).await.unwrap().is_complete());
    assert_eq!(people.count_outdated().await.unwrap(), 0);
}

pub(super) async fn updates_beside_an_old_program_are_not_lost(db: &Db) {
    let people = db.collection::<Person>();
    store(db, "people", (0..5).map(|id| first(id, "A B", 0))).await;
    let rounds = 40;
    let tasks = (0..4).map(|task| {
        let db = db.clone();
        tokio::spawn(async move {
            let people = db.collection::<Person>();
            let mut done = 0_i64;
            for round in 0..rounds {
                let id = (task + round) % 5;
                if task < 2 {
                    // The old program stores a document as it knows it, with what it has read.
                    done += i64::from(old_increment(&db, id).await);
                } else if round % 2 == 0 {
                    let result = people
                        .update_by_id(&id, |p| p.price.amount.inc(1))
                        .upsert(true)
                        .await
                        .unwrap();
                    assert_eq!(result.matched, 1, "no second document is inserted");
                    done += 1;
                } else {
                    let found = people
                        .find_one_and_update(|p| p.id.eq(id), |p| p.price.amount.inc(1))
                        .await
                        .unwrap();
                    assert!(found.is_some());
                    done += 1;
                }
                yield_now().await;
            }
            done
        })
    });
    let done: i64 = join_all(tasks).await.into_iter().map(Result::unwrap).sum();
    let all = people.find_all().all().await.unwrap();
    assert_eq!(all.len(), 5);
    assert_eq!(all.iter().map(|one| one.price.amount).sum::<i64>(), done);
}

pub(super) async fn saves_beside_migrations_are_not_lost(db: &Db) {
    let people = db.collection::<Person>();
    store(db, "people", (0..40).map(|id| first(id, "A B", 0))).await;
    let migration = {
        let db = db.clone();
        tokio::spawn(async move {
            yield_now().await;
            db.migrate(models![Person]).await.unwrap()
        })
    };
    let saves = (0..40).map(|id| {
        let db = db.clone();
        tokio::spawn(async move {
            let people = db.collection::<Person>();
            let mut one = people.load(&id).await.unwrap().unwrap();
            yield_now().await;
            old_increment(&db, id).await;
            one.family = format!("saved {id}");
            assert!(people.save(&mut one).await.unwrap());
        })
    });
    for saved in join_all(saves).await {
        saved.unwrap();
    }
    assert!(migration.await.unwrap().is_complete());
    let all = people.find_all().all().await.unwrap();
    assert!(
        all.iter()
            .all(|one| one.family == format!("saved {}", one.id))
    );
    assert_eq!(people.count_outdated().await.unwrap(), 0);
}
