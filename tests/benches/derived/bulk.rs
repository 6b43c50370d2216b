//! A bulk write of summarized documents.

use std::time::{Duration, Instant};

use futures::{FutureExt, TryStreamExt};
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::Result;
use mongodb::{ClientSession, Collection};
use odm::prelude::*;
use odm_benches::turns;

use crate::by_hand::ByHand;
use crate::models::{Case, Review, stars};
use crate::{Bench, median};

const PARENTS: i32 = 50;
/// The documents before the bulk write.
const STORED: i32 = 2_000;
const INSERTS: i32 = 400;
const UPDATES: i32 = 300;
const DELETES: i32 = 300;

const CASE: Case = Case::StrictSummary;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Plain,
    /// The summaries are written once.
    Once,
    /// They are written after each kind of writes.
    Each,
    Odm,
}

pub(crate) async fn compare(bench: &Bench) {
    let ways = [Way::Plain, Way::Once, Way::Each, Way::Odm];
    let mut times: [Vec<Duration>; 4] = Default::default();
    for round in 0..bench.rounds {
        for (way, times) in turns(round, ways.into_iter().zip(&mut times)) {
            prepare(bench).await;
            let started = Instant::now();
            run(bench, way).await;
            times.push(started.elapsed());
            assert!(way == Way::Plain || CASE.is_sound(&bench.db).await);
        }
    }
    let [plain, once, each, odm] = times.map(|times| median(times).as_secs_f64() * 1e3);
    println!(
        "A bulk write of {} in {PARENTS} parents, milliseconds:\n",
        INSERTS + UPDATES + DELETES
    );
    println!(
        "| without summaries | by hand, summaries once | by hand, after each kind | `propagate` | beside once | beside each |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    println!(
        "| {plain:.1} | {once:.1} | {each:.1} | {odm:.1} | {:.2} | {:.2} |",
        odm / once,
        odm / each
    );
}

/// Sends the bulk write.
pub(crate) async fn run(bench: &Bench, way: Way) {
    if way == Way::Odm {
        return by_odm(&bench.db).await;
    }
    let by_hand = ByHand::new(&bench.database, CASE);
    let run = by_hand.in_transaction(move |by_hand, session| writes(by_hand, session, way).boxed());
    run.await;
}

pub(crate) async fn prepare(bench: &Bench) {
    let names = CASE.names();
    let (parents, children) = (
        bench.database.collection::<Document>(names.parents),
        bench.database.collection::<Document>(names.children),
    );
    for all in [&parents, &children] {
        all.delete_many(doc! {}).await.unwrap();
    }
    let stored = (0..STORED).map(|id| CASE.child(id, id % PARENTS));
    children.insert_many(stored).await.unwrap();
    let of = |parent| (0..STORED).filter(move |id| id % PARENTS == parent);
    let stored = (0..PARENTS).map(|id| CASE.parent(id, &of(id).collect::<Vec<_>>()));
    parents.insert_many(stored).await.unwrap();
}

async fn by_odm(db: &Db) {
    let reviews = db.collection::<Review>();
    let bulk = reviews.bulk_write(|w| {
        let inserts = (STORED..STORED + INSERTS).map(|id| {
            let product = Ref::from(id % PARENTS);
            let stars = stars(id);
            w.insert_one(Review { id, product, stars })
        });
        let updates = (0..UPDATES).map(|id| w.update_one(|r| r.id.eq(id), |r| r.stars.set(9)));
        let deletes = (UPDATES..UPDATES + DELETES).map(|id| w.delete_one(|r| r.id.eq(id)));
        inserts.chain(updates).chain(deletes).collect::<Vec<_>>()
    });
    let result = bulk.ordered(false).propagate().await.unwrap();
    assert_eq!(result.write.inserted, 400);
    assert_eq!(result.write.deleted, 300);
}

async fn writes(by_hand: &ByHand, session: &mut ClientSession, way: Way) -> Result<()> {
    let names = CASE.names();
    let reviews = by_hand.children();
    let inserts = STORED..STORED + INSERTS;
    let mut parents: Vec<i32> = inserts.clone().map(|id| id % PARENTS).collect();
    let inserted = inserts.map(|id| CASE.child(id, id % PARENTS));
    reviews.insert_many(inserted).session(&mut *session).await?;
    if way == Way::Each {
        follow(by_hand, session, &mut parents).await?;
    }
    if way != Way::Plain {
        parents.extend(referred(reviews, session, 0..UPDATES).await?);
    }
    let updates = (0..UPDATES).map(|id| doc! {"q": {"_id": id}, "u": {"$set": {"stars": 9}}});
    let statements = updates.collect();
    by_hand
        .update(Some(&mut *session), names.children, statements)
        .await?;
    if way == Way::Each {
        follow(by_hand, session, &mut parents).await?;
    }
    let deletes = UPDATES..UPDATES + DELETES;
    if way != Way::Plain {
        parents.extend(referred(reviews, session, deletes.clone()).await?);
    }
    let deletes: Vec<Bson> = deletes.map(Bson::from).collect();
    let deletes = reviews.delete_many(doc! {"_id": {"$in": deletes}});
    deletes.session(&mut *session).await?;
    if way != Way::Plain {
        follow(by_hand, session, &mut parents).await?;
    }
    Ok(())
}

/// The parents of these documents.
async fn referred(
    reviews: &Collection<Document>,
    session: &mut ClientSession,
    ids: std::ops::Range<i32>,
) -> Result<Vec<i32>> {
    let ids: Vec<Bson> = ids.map(Bson::from).collect();
    let find = reviews.find(doc! {"_id": {"$in": ids}});
    let find = find.projection(doc! {"product": 1});
    let mut found = find.session(&mut *session).await?;
    let found: Vec<Document> = found.stream(session).try_collect().await?;
    Ok(found
        .iter()
        .map(|one| one.get_i32("product").unwrap())
        .collect())
}

/// Writes the summaries of these parents, each once.
async fn follow(
    by_hand: &ByHand,
    session: &mut ClientSession,
    parents: &mut Vec<i32>,
) -> Result<()> {
    let mut parents = std::mem::take(parents);
    parents.sort_unstable();
    parents.dedup();
    by_hand.fence(Some(&mut *session), &parents).await?;
    by_hand.summarize(Some(session), &parents).await.map(drop)
}
