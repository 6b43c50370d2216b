//! Writes of documents to which summaries of others count.

use futures::future::join_all;
use odm::bson::doc;
use odm::prelude::*;

use crate::random::{Random, count};
use crate::suite::dependents::stored;
use crate::suite::relations::watched;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "items",
    has_many(ratings: Rating, by = item),
    has_squillions(views: View, by = item)
)]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(ratings))]
    rating_count: i64,
    #[odm(mean_of(ratings.stars))]
    stars: Option<f64>,
    #[odm(count_of(views))]
    view_count: i32,
    #[odm(references(many, max = 100), two_way = item)]
    tags: Vec<Ref<Tag>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "ratings")]
struct Rating {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    item: Option<Ref<Item>>,
    stars: i32,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "views", index(item))]
struct View {
    #[serde(rename = "_id")]
    id: i32,
    item: Ref<Item>,
}

/// A tag counts to its shelf, and its item refers back to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tags")]
struct Tag {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = tags)]
    item: Option<Ref<Item>>,
}

fn item(id: i32) -> Item {
    Item {
        id,
        rating_count: 0,
        stars: None,
        view_count: 0,
        tags: Vec::new(),
    }
}

fn rating(id: i32, item: i32, stars: i32) -> Rating {
    Rating {
        id,
        item: Some(Ref::from(item)),
        stars,
        text: String::new(),
    }
}

fn view(id: i32, item: i32) -> View {
    View {
        id,
        item: Ref::from(item),
    }
}

/// Two items; two ratings and three views of the first.
async fn items(db: &Db) -> Collection<Item> {
    let items = db.collection::<Item>();
    items.insert_many([1, 2].map(item)).await.unwrap();
    let ratings = [rating(1, 1, 5), rating(2, 1, 2)];
    let ratings = db.collection::<Rating>().insert_many(ratings).propagate();
    ratings.await.unwrap();
    let views = [1, 2, 3].map(|id| view(id, 1));
    let views = db.collection::<View>().insert_many(views).propagate();
    views.await.unwrap();
    items
}

/// The summaries of each item: the number of its ratings, their mean, and the number of its views.
async fn summaries(db: &Db) -> Vec<(i64, f64, i32)> {
    let items = stored(db, "items").await;
    let items = items.iter().map(|item| {
        let mean = item.get_f64("stars").unwrap_or(0.0);
        let views = item.get_i32("view_count").unwrap();
        (item.get_i64("rating_count").unwrap(), mean, views)
    });
    items.collect()
}

async fn records(db: &Db) -> usize {
    stored(db, "odm_propagations").await.len()
}

pub(super) async fn writes_say_what_becomes_of_summaries(db: &Db) {
    let (watched, log) = watched(db);
    let ratings = watched.collection::<Rating>();
    let errors = [
        ratings.insert_one(rating(1, 1, 5)).await.unwrap_err(),
        ratings.insert_many([rating(1, 1, 5)]).await.unwrap_err(),
        ratings
            .update_by_id(&1, |r| r.stars.set(3))
            .await
            .unwrap_err(),
        ratings
            .update_many(|r| r.id.eq(1), |r| r.item.unset())
            .await
            .unwrap_err(),
        ratings
            .update_all(|r| r.stars.inc(1))
            .command()
            .unwrap_err(),
        ratings
            .find_one_and_update(|r| r.id.eq(1), |r| r.stars.set(3))
            .await
            .unwrap_err(),
        ratings
            .find_one_or_insert(|r| r.id.eq(1), rating(1, 1, 5))
            .await
            .unwrap_err(),
        ratings
            .replace_by_id(&1, rating(1, 1, 5))
            .await
            .unwrap_err(),
        ratings
            .bulk_write(|w| [w.insert_one(&rating(1, 1, 5))])
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        let expected = "Rating: `Item` has summaries of its `ratings`, and the write changes them: write `.propagate()`";
        assert!(text.contains(expected), "{text}");
    }
    let errors = [
        ratings.delete_by_id(&1).await.unwrap_err(),
        ratings.delete_all().await.unwrap_err(),
        ratings
            .find_one_and_delete(|r| r.id.eq(1))
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(
            text.contains("`Item` has summaries of the deleted documents: write"),
            "{text}"
        );
    }
    let items = watched.collection::<Item>();
    let errors = [
        items
            .update_by_id(&1, |i| i.rating_count.inc(1))
            .await
            .unwrap_err(),
        items.update_all(|i| i.stars.unset()).await.unwrap_err(),
        items.replace_by_id(&1, item(1)).await.unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(
            text.contains("`rating_count`, `stars` is computed from the documents of `ratings`")
                || text.contains("`tags`"),
            "{text}"
        );
    }
    assert!(log.lock().unwrap().is_empty());

    items.insert_one(item(1)).await.unwrap();
    let ratings = db.collection::<Rating>();
    ratings
        .insert_one(rating(1, 1, 5))
        .leave_stale()
        .await
        .unwrap();
    ratings
        .update_by_id(&1, |r| r.stars.set(3))
        .leave_stale()
        .await
        .unwrap();
    ratings
        .update_by_id(&1, |r| r.text.set("so so"))
        .await
        .unwrap();
    ratings
        .insert_one(Rating {
            item: None,
            ..rating(2, 1, 1)
        })
        .await
        .unwrap();
    assert_eq!(
        db.collection::<Item>()
            .check_summaries()
            .await
            .unwrap()
            .damages,
        2
    );
    ratings.delete_by_id(&1).leave_dangling().await.unwrap();
    assert!(
        db.collection::<Item>()
            .check_summaries()
            .await
            .unwrap()
            .is_sound()
    );
}

pub(super) async fn summaries_follow_every_write(db: &Db) {
    let items = items(db).await;
    assert_eq!(summaries(db).await, [(2, 3.5, 3), (0, 0.0, 0)]);
    assert_eq!(records(db).await, 0);

    let (ratings, views) = (db.collection::<Rating>(), db.collection::<View>());
    let update = ratings.update_by_id(&1, |r| r.stars.set(4));
    let result = update.propagate().await.unwrap();
    assert_eq!(result.propagated.len(), 1);
    let done = &result.propagated[0];
    assert_eq!(
        (done.model, done.by.as_str(), done.documents),
        ("Item", "ratings", 1)
    );
    assert_eq!(summaries(db).await, [(2, 3.0, 3), (0, 0.0, 0)]);

    // A rating and two views go to the other item.
    ratings
        .update_by_id(&2, |r| r.item.set(Some(Ref::from(2))))
        .propagate()
        .await
        .unwrap();
    views
        .update_many(|v| v.id.gt(1), |v| v.item.set(Ref::from(2)))
        .propagate()
        .await
        .unwrap();
    assert_eq!(summaries(db).await, [(1, 4.0, 1), (1, 2.0, 2)]);
    ratings
        .update_by_id(&2, |r| r.item.unset())
        .propagate()
        .await
        .unwrap();
    assert_eq!(summaries(db).await, [(1, 4.0, 1), (0, 0.0, 2)]);

    let result = views
        .delete_many(|v| v.id.lt(3))
        .with_dependents()
        .await
        .unwrap();
    assert_eq!((result.deleted, result.propagated[0].documents), (2, 2));
    ratings.delete_all().with_dependents().await.unwrap();
    assert_eq!(summaries(db).await, [(0, 0.0, 0), (0, 0.0, 1)]);
    assert_eq!(records(db).await, 0);
    assert!(items.check_summaries().await.unwrap().is_sound());
}

pub(super) async fn equal_summaries_are_not_written(db: &Db) {
    items(db).await;
    let views = db.collection::<View>();
    let update = views.update_all(|v| v.item.set(Ref::from(1)));
    let result = update.propagate().await.unwrap();
    assert!(
        result.propagated.iter().all(|it| it.documents == 0),
        "{result:?}"
    );
}

pub(super) async fn a_summary_that_is_written_is_computed_again(db: &Db) {
    let items = items(db).await;
    let update = items.update_all(|i| i.rating_count.set(9) & i.view_count.set(9));
    update.propagate().await.unwrap();
    assert_eq!(summaries(db).await, [(2, 3.5, 3), (0, 0.0, 0)]);

    // An item that comes after its views.
    db.collection::<View>()
        .insert_one(view(9, 3))
        .propagate()
        .await
        .unwrap();
    items.insert_one(item(3)).propagate().await.unwrap();
    assert_eq!(summaries(db).await[2], (0, 0.0, 1));
}

pub(super) async fn summaries_in_the_background_are_resumed(db: &Db) {
    let items = items(db).await;
    let ratings = db.collection::<Rating>();
    ratings
        .update_all(|r| r.stars.set(1))
        .in_background()
        .await
        .unwrap();
    assert_eq!(summaries(db).await[0], (2, 3.5, 3));
    assert_eq!(records(db).await, 1);
    let done = items.resume_propagation().await.unwrap();
    assert_eq!((done.changes, done.documents), (1, 1));
    assert_eq!(summaries(db).await[0], (2, 1.0, 3));

    let new = [rating(7, 1, 4), rating(8, 2, 4)];
    ratings.insert_many(new).in_background().await.unwrap();
    let view = db.collection::<View>().insert_one(view(9, 2));
    view.in_background().await.unwrap();
    assert_eq!(summaries(db).await, [(2, 1.0, 3), (0, 0.0, 0)]);
    let done = items.resume_propagation().await.unwrap();
    assert_eq!((done.changes, done.documents), (2, 3));
    assert_eq!(summaries(db).await, [(3, 2.0, 3), (1, 4.0, 1)]);
}

pub(super) async fn writes_in_a_transaction_of_the_caller_write_summaries(db: &Db) {
    let items = items(db).await;
    let (ratings, views) = (db.collection::<Rating>(), db.collection::<View>());
    let aborted: odm::Result<()> = transaction!(db, |tx| {
        ratings
            .insert_one(rating(3, 1, 5))
            .propagate()
            .session(tx)
            .await?;
        views.insert_one(view(9, 1)).propagate().session(tx).await?;
        Err(odm::Error::other("no"))
    })
    .await;
    assert!(aborted.is_err());
    assert_eq!(summaries(db).await[0], (2, 3.5, 3));
    transaction!(db, |tx| {
        ratings
            .insert_one(rating(3, 1, 5))
            .propagate()
            .session(tx)
            .await?;
        views.insert_one(view(9, 1)).propagate().session(tx).await?;
        views.delete_by_id(&1).with_dependents().session(tx).await?;
        ratings
            .update_by_id(&1, |r| r.item.set(Some(Ref::from(2))))
            .propagate()
            .session(tx)
            .await
    })
    .await
    .unwrap();
    assert_eq!(summaries(db).await, [(2, 3.5, 3), (1, 5.0, 0)]);
    assert_eq!(records(db).await, 0);
    assert!(items.check_summaries().await.unwrap().is_sound());
}

pub(super) async fn writes_without_a_transaction_write_summaries(db: &Db) {
    items(db).await;
    let (ratings, views) = (db.collection::<Rating>(), db.collection::<View>());
    ratings
        .insert_one(rating(3, 2, 5))
        .propagate()
        .non_atomic()
        .await
        .unwrap();
    views
        .insert_one(view(9, 2))
        .propagate()
        .non_atomic()
        .await
        .unwrap();
    let update = ratings.update_by_id(&1, |r| r.item.set(Some(Ref::from(2))));
    update.propagate().non_atomic().await.unwrap();
    views
        .delete_by_id(&1)
        .with_dependents()
        .non_atomic()
        .await
        .unwrap();
    assert_eq!(summaries(db).await, [(1, 2.0, 2), (2, 5.0, 1)]);
    assert_eq!(records(db).await, 0);
}

pub(super) async fn a_plan_names_the_summaries(db: &Db) {
    items(db).await;
    let ratings = db.collection::<Rating>();
    let plan = ratings
        .update_all(|r| r.stars.set(1))
        .propagate()
        .plan()
        .await
        .unwrap();
    let expected = "  ratings (Rating)
    update 2 documents
        match the filter
  items (Item)
    update 1 document
        compute `rating_count`, `stars` from `ratings`
        strict: in the transaction of the write
";
    assert_eq!(plan.to_string(), expected);
    let plan = ratings.delete_all().with_dependents().plan().await.unwrap();
    let expected = "  items (Item)
    update 1 document
        compute `rating_count`, `stars` from `ratings`, without deleted documents
  ratings (Rating)
    delete 2 documents
        match the filter
";
    assert_eq!(plan.to_string(), expected);
}

/// A summary of documents whose reference a two-way write changes.
pub(super) async fn writes_of_the_other_side_write_summaries(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "desks", has_many(sheets: Sheet, by = desk))]
    struct Desk {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(references(many, max = 9), two_way = desk)]
        pile: Vec<Ref<Sheet>>,
        #[odm(count_of(sheets))]
        sheet_count: i32,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "sheets")]
    struct Sheet {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index, two_way = pile)]
        desk: Option<Ref<Desk>>,
    }
    let (desks, sheets) = (db.collection::<Desk>(), db.collection::<Sheet>());
    let all = [1, 2].map(|id| Desk {
        id,
        pile: Vec::new(),
        sheet_count: 0,
    });
    desks.insert_many(all).await.unwrap();
    let all = [1, 2, 3].map(|id| Sheet {
        id,
        desk: Some(Ref::from(1)),
    });
    sheets.insert_many(all).propagate().await.unwrap();
    let counts = async || {
        let all = stored(db, "desks").await;
        all.iter()
            .map(|it| it.get_i32("sheet_count").unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(counts().await, [3, 0]);
    desks
        .update_by_id(&2, |d| d.pile.push_each([1, 2].map(Ref::from)))
        .propagate()
        .await
        .unwrap();
    assert_eq!(counts().await, [1, 2]);
    desks
        .update_by_id(&2, |d| d.pile.pop_first())
        .propagate()
        .await
        .unwrap();
    assert_eq!(counts().await, [1, 1]);
    desks.delete_by_id(&1).with_dependents().await.unwrap();
    sheets
        .update_by_id(&3, |s| s.desk.set(Some(Ref::from(2))))
        .propagate()
        .await
        .unwrap();
    assert_eq!(counts().await, [2]);
    assert!(desks.check_summaries().await.unwrap().is_sound());
}

/// `ODM_SUMMARY_WRITERS` sets the number of writes of each of eight writers.
pub(super) async fn nothing_is_stale_after_writes_beside_each_other(db: &Db) {
    let items = db.collection::<Item>();
    items.insert_many([1, 2, 3].map(item)).await.unwrap();
    let writes = count("ODM_SUMMARY_WRITERS", 12);
    let writer = async |number: i32| {
        let mut random = Random::of(u64::try_from(number).unwrap());
        let (ratings, views) = (db.collection::<Rating>(), db.collection::<View>());
        for at in 0..i32::try_from(writes).unwrap() {
            let id = number * 100_000 + at;
            let mut any = |n: usize| i32::try_from(random.below(n)).unwrap();
            let (kind, to, stars) = (any(8), any(3) + 1, any(5));
            let old = number * 100_000 + any(usize::try_from(at + 1).unwrap());
            let done = match kind {
                0 | 1 => ratings
                    .insert_one(rating(id, to, stars))
                    .propagate()
                    .await
                    .map(drop),
                2 | 3 => views.insert_one(view(id, to)).propagate().await.map(drop),
                4 => ratings
                    .update_by_id(&old, |r| r.item.set(Some(Ref::from(to))))
                    .propagate()
                    .await
                    .map(drop),
                5 => views
                    .update_by_id(&old, |v| v.item.set(Ref::from(to)))
                    .propagate()
                    .await
                    .map(drop),
                6 => ratings
                    .update_by_id(&old, |r| r.stars.set(stars))
                    .propagate()
                    .await
                    .map(drop),
                _ => views.delete_by_id(&old).with_dependents().await.map(drop),
            };
            done.unwrap();
        }
    };
    join_all((0..8).map(writer)).await;
    let report = items.check_summaries().await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(records(db).await, 0);
    let ratings = db.run_command(doc! {"count": "ratings"}).await.unwrap();
    let total: i64 = summaries(db).await.iter().map(|(count, ..)| count).sum();
    assert_eq!(i64::from(ratings.get_i32("n").unwrap()), total);
}
