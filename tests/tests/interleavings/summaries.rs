//! Documents with summaries of others, by a relation of each guarantee, and the operations on those others.

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::update::Update;

use super::explorer::{Operation, operation};
use super::verbs::{Changed, Collected, Subject};
use super::ways::{Way, run};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "items",
    has_many(ratings: Rating, by = item),
    has_squillions(views: View, by = item)
)]
pub(crate) struct Item {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(ratings))]
    rating_count: i32,
    #[odm(max_of(ratings.stars))]
    best: Option<i32>,
    #[odm(count_of(views))]
    view_count: i32,
}

/// Its summaries are strict.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "ratings")]
pub(crate) struct Rating {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    item: Ref<Item>,
    stars: i32,
}

/// Its summaries are settled.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "views", index(item))]
pub(crate) struct View {
    #[serde(rename = "_id")]
    id: i32,
    item: Ref<Item>,
}

/// The operations on documents of a guarantee, with the names that the output has; an insert has this `_id`.
pub(crate) fn operations(is_strict: bool, way: Way, id: i32) -> Vec<(&'static str, Operation)> {
    if is_strict {
        vec![
            ("an insert", insert_rating(id, way)),
            ("a move", move_rating(way)),
            ("a change", change_rating(way)),
            ("a delete", delete_rating(way)),
        ]
    } else {
        vec![
            ("an insert", insert_view(id, way)),
            ("a move", move_view(way)),
            ("a delete", delete_view(way)),
        ]
    }
}

pub(crate) fn insert_rating(id: i32, way: Way) -> Operation {
    operation(move |db| async move {
        let ratings = db.collection::<Rating>();
        let new = || rating(id, 1);
        run!(way, db, ratings.insert_one(new()).propagate())
    })
}

/// The rating 2 goes from the item 2 to the item 1.
fn move_rating(way: Way) -> Operation {
    operation(move |db| async move {
        let ratings = db.collection::<Rating>();
        let update = || ratings.update_by_id(&2, |r| r.item.set(Ref::from(1)));
        run!(way, db, update().propagate())
    })
}

/// A loaded rating is saved, unless it is deleted meanwhile.
fn change_rating(way: Way) -> Operation {
    operation(move |db| async move {
        let ratings = db.collection::<Rating>();
        let Some(mut rating) = ratings.load(&1).await? else {
            return Ok(());
        };
        rating.stars = 9;
        match run!(way, db, ratings.save(&mut rating).propagate()) {
            Err(error) if error.is_stale() => Ok(()),
            other => other,
        }
    })
}

pub(crate) fn delete_rating(way: Way) -> Operation {
    operation(move |db| async move {
        let ratings = db.collection::<Rating>();
        let delete = || ratings.find_one_and_delete(|r| r.id.eq(1));
        run!(way, db, delete().with_dependents())
    })
}

pub(crate) fn insert_view(id: i32, way: Way) -> Operation {
    operation(move |db| async move {
        let views = db.collection::<View>();
        let new = || view(id, 1);
        run!(way, db, views.insert_one(new()).propagate())
    })
}

/// The view 2 goes from the item 2 to the item 1.
pub(crate) fn move_view(way: Way) -> Operation {
    operation(move |db| async move {
        let views = db.collection::<View>();
        let update = || views.find_one_and_update(|v| v.id.eq(2), |v| v.item.set(Ref::from(1)));
        run!(way, db, update().propagate())
    })
}

fn delete_view(way: Way) -> Operation {
    operation(move |db| async move {
        let views = db.collection::<View>();
        run!(way, db, views.delete_by_id(&1).with_dependents())
    })
}

/// Lowers one of the two best ratings of the item 1, and writes the best of those that the transaction reads, as one would by
/// hand. The best stays as it is, so that nothing is written.
pub(crate) fn lower_by_hand(id: i32) -> Operation {
    operation(move |db| async move {
        odm::transaction!(db, |tx| {
            let (ratings, items) = (db.collection::<Rating>(), db.collection::<Item>());
            let update = ratings.update_by_id(&id, |r| r.stars.set(1)).leave_stale();
            update.session(tx).await?;
            let all = ratings.find(|r| r.item.eq(Ref::from(1)));
            let all = all.session(tx).all().await?;
            let best = all.iter().map(|rating| rating.stars).max();
            let update = items.update_by_id(&1, |i| i.best.set(best));
            update.leave_stale().session(tx).await?;
            Ok(())
        })
        .await
    })
}

/// Lowers a rating.
pub(crate) fn lower(id: i32) -> Operation {
    operation(move |db| async move {
        let ratings = db.collection::<Rating>();
        let update = ratings.update_by_id(&id, |r| r.stars.set(1));
        update.propagate().await.map(drop)
    })
}

fn rating(id: i32, item: i32) -> Rating {
    Rating {
        id,
        item: Ref::from(item),
        stars: 2,
    }
}

fn view(id: i32, item: i32) -> View {
    View {
        id,
        item: Ref::from(item),
    }
}

impl Subject for Item {
    const CHANGED: i32 = 1;

    fn new(id: i32) -> Self {
        Self {
            id,
            rating_count: 7,
            best: Some(7),
            view_count: 7,
        }
    }

    fn changed() -> Self {
        Self::new(1)
    }
}

/// The document 2 goes from the item 2 to the item 1, and the document 1 is deleted.
macro_rules! subject {
    ($model:ident, $new:ident) => {
        impl Subject for $model {
            const CHANGED: i32 = 2;

            fn new(id: i32) -> Self {
                $new(id, 1)
            }

            fn changed() -> Self {
                $new(2, 1)
            }
        }

        impl Changed for $model {
            fn change(fields: Self::Fields<Self>) -> Update<Self> {
                fields.item.set(Ref::from(1))
            }
        }

        impl Collected for $model {
            const DELETED: i32 = 1;
        }
    };
}

subject!(Rating, rating);
subject!(View, view);

/// Inserts a document of an item that may not exist yet.
pub(crate) fn insert_before(is_strict: bool, item: i32, way: Way) -> Operation {
    operation(move |db| async move {
        if is_strict {
            let ratings = db.collection::<Rating>();
            return run!(way, db, ratings.insert_one(rating(8, item)).propagate());
        }
        let views = db.collection::<View>();
        run!(way, db, views.insert_one(view(8, item)).propagate())
    })
}

/// Two items; two ratings and a view of the first, and one of each of the second.
pub(crate) fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let items = [1, 2].map(|id| Item {
            id,
            rating_count: 0,
            best: None,
            view_count: 0,
        });
        db.collection().insert_many(items).await.unwrap();
        let ratings = [rating(1, 1), rating(2, 2), rating(4, 1)];
        let ratings = db.collection().insert_many(ratings);
        ratings.propagate().await.unwrap();
        let views = db.collection().insert_many([1, 2].map(|id| view(id, id)));
        views.propagate().await.unwrap();
    })
}

/// Whether all summaries are right, and no record of a change is left.
pub(crate) async fn are_right(db: Db) -> bool {
    let records = doc! {"find": "odm_propagations"};
    let records = db.run_command(records).all().await.unwrap();
    records.is_empty() && is_sound(&db).await
}

/// Whether all summaries are right after `resume_propagation`.
pub(crate) async fn are_right_when_resumed(db: Db) -> bool {
    let items = db.collection::<Item>();
    items.resume_propagation().await.unwrap();
    is_sound(&db).await
}

async fn is_sound(db: &Db) -> bool {
    let report = db.collection::<Item>().check_summaries().await.unwrap();
    report.is_sound()
}
