//! Copies that follow by their age, and what writes them.
//!
//! A product has a version beside its name, and a time for each version. So each copy shows whether its name and version belong
//! together, and whether the product still had them at the time of the copy.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use odm::bson::{self, Bson, DateTime};
use odm::collection::ResumeToken;
use odm::prelude::*;
use odm::update::Update;

use super::explorer::{Explored, Operation, Orders, explore, operation};
use super::verbs::{Changed, Named, Subject, changing};
use super::ways::{Way, run, ways};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(often)]
    number: i32,
    /// When each version was written, from 1.
    #[odm(embed(few, max = 10))]
    times: Vec<DateTime>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    product: Ref<Product>,
    #[odm(copy_of(product.name, refresh(older_than = "1d", at = checked)))]
    name: String,
    #[odm(copy_of(product.number, refresh(older_than = "1d", at = checked)))]
    number: i32,
    #[odm(index)]
    checked: DateTime,
}

/// Where the changes of the offers begin.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "starts")]
struct Start {
    #[serde(rename = "_id")]
    id: i32,
    token: Option<ResumeToken>,
}

fn name(product: i32, number: i32) -> String {
    format!("{product}: {number}")
}

fn offer(id: i32, product: i32) -> Offer {
    Offer {
        id,
        product: Ref::from(product),
        name: name(product, 1),
        number: 1,
        checked: DateTime::MIN,
    }
}

/// The offer 2 goes from the product 2 to the product 1.
impl Subject for Offer {
    const CHANGED: i32 = 2;

    fn new(id: i32) -> Self {
        offer(id, 1)
    }

    fn changed() -> Self {
        offer(2, 1)
    }
}

impl Changed for Offer {
    fn change(fields: Self::Fields<Self>) -> Update<Self> {
        fields.product.set(Ref::from(1))
    }
}

/// The product 1 gets its next version. A copy that was read before and takes its time afterwards shows it, because a
/// millisecond has gone by.
fn change() -> Operation {
    operation(|db| async move {
        let products = db.collection::<Product>();
        let update = products.update_by_id(&1, |p| {
            p.name.set(name(1, 2)) & p.number.set(2) & p.times.push(DateTime::now())
        });
        update.await?;
        thread::sleep(Duration::from_millis(2));
        Ok(())
    })
}

fn refresh_overdue() -> Operation {
    operation(|db| async move {
        let offers = db.collection::<Offer>();
        offers.refresh_overdue_copies().await.map(drop)
    })
}

fn refresh() -> Operation {
    operation(|db| async move {
        let offers = db.collection::<Offer>();
        offers.refresh_copies().await.map(drop)
    })
}

fn insert(id: i32, way: Way) -> Operation {
    operation(move |db| async move {
        let offers = db.collection::<Offer>();
        let new = || offer(id, 1);
        run!(way, db, offers.insert_one(new()).propagate())
    })
}

/// The offer goes to the other product.
fn reassign(id: i32, product: i32, way: Way) -> Operation {
    operation(move |db| async move {
        let offers = db.collection::<Offer>();
        let update = || offers.update_by_id(&id, |o| o.product.set(Ref::from(product)));
        run!(way, db, update().propagate())
    })
}

/// Verbs that insert the offer 5, or by which the offer 2 goes to the product 1, which takes a transaction.
fn verbs(way: Way) -> Named {
    let mut verbs = changing::<Offer>(way);
    if way == Way::NonAtomic {
        verbs.retain(|(verb, _)| ["insert_many", "find_one_or_insert"].contains(verb));
        return verbs;
    }
    verbs.push((
        "save of another reference",
        operation(move |db| async move {
            let offers = db.collection::<Offer>();
            let mut loaded = offers.load(&2).await?.unwrap();
            loaded.product = Ref::from(1);
            run!(way, db, offers.save(&mut loaded).propagate())
        }),
    ));
    verbs.push((
        "bulk_write of an insert and an update",
        operation(move |db| async move {
            let offers = db.collection::<Offer>();
            run!(
                way,
                db,
                offers
                    .bulk_write(|w| [
                        w.insert_one(offer(5, 1)),
                        w.update_one(|o| o.id.eq(2), Offer::change),
                    ])
                    .propagate()
            )
        }),
    ));
    verbs
}

/// Two products. The offers 1 and 2 are overdue, and the offer 3 is not; the offers 1 and 3 are of the product 1.
fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let products = [1, 2].map(|id| Product {
            id,
            name: name(id, 1),
            number: 1,
            times: vec![DateTime::now()],
        });
        db.collection().insert_many(products).await.unwrap();
        let offers = db.collection::<Offer>();
        let changes = offers.watch().await.unwrap();
        let token = changes.resume_token();
        let start = Start { id: 1, token };
        db.collection().insert_one(start).await.unwrap();
        let overdue = [offer(1, 1), offer(2, 2)];
        offers.insert_many(overdue).leave_stale().await.unwrap();
        offers.insert_one(offer(3, 1)).propagate().await.unwrap();
    })
}

/// Whether each copy belongs to the product of its reference, which had it at the time of the copy or after it.
async fn are_timely(db: &Db) -> bool {
    let products = db.collection::<Product>().find_all().all().await.unwrap();
    let offers = db.collection::<Offer>().find_all().all().await.unwrap();
    offers.iter().all(|offer| {
        let product = products.iter().find(|it| it.id == *offer.product.id());
        let number = usize::try_from(offer.number).unwrap();
        // The version was replaced when the next one was written.
        let replaced = product.unwrap().times.get(number);
        offer.name == name(*offer.product.id(), offer.number)
            && replaced.is_none_or(|time| offer.checked <= *time)
    })
}

/// Whether no copy has ever been replaced by an older one of the same product.
async fn never_went_back(db: &Db) -> bool {
    let offers = db.collection::<Offer>();
    let start = db.collection::<Start>().get(&1).await.unwrap().unwrap();
    let watch = offers.watch().resume_after(start.token);
    let mut events = watch.with_type::<bson::Document>().await.unwrap();
    let mut all: BTreeMap<i32, bson::Document> = BTreeMap::new();
    while let Some(Some(event)) = events.next().now_or_never() {
        let event = event.unwrap();
        let id = event.get_document("documentKey").unwrap();
        let stored = all.entry(id.get_i32("_id").unwrap()).or_default();
        let before = stored.clone();
        match event.get_document("updateDescription") {
            Ok(update) => stored.extend(update.get_document("updatedFields").unwrap().clone()),
            Err(_) => stored.clone_from(event.get_document("fullDocument").unwrap()),
        }
        // The name says which product the copy is of.
        let source = |offer: &bson::Document| {
            let name = offer.get_str("name").unwrap_or_default();
            name.split_once(':').map(|(source, _)| source.to_owned())
        };
        let is_same = source(&before) == source(stored);
        let went_back = |field: &str| match (before.get(field), stored.get(field)) {
            (Some(Bson::DateTime(before)), Some(Bson::DateTime(after))) => after < before,
            (Some(Bson::Int32(before)), Some(Bson::Int32(after))) => after < before,
            _ => false,
        };
        if is_same && (went_back("number") || went_back("checked")) {
            return false;
        }
    }
    assert!(!all.is_empty(), "the stream has no events");
    true
}

async fn has_no_records(db: &Db) -> bool {
    let records = doc! {"find": "odm_propagations"};
    db.run_command(records).all().await.unwrap().is_empty()
}

/// Whether a refresh brings all copies up to date, once they are too old.
async fn is_mended_by_a_refresh(db: &Db) -> bool {
    let old = doc! {"q": {}, "u": {"$set": {"checked": DateTime::MIN}}, "multi": true};
    let update = doc! {"update": "offers", "updates": [old]};
    db.run_command(update).await.unwrap();
    let offers = db.collection::<Offer>();
    offers.refresh_overdue_copies().await.unwrap();
    let products = db.collection::<Product>().find_all().all().await.unwrap();
    let all = offers.find_all().all().await.unwrap();
    let are_right = all.iter().all(|offer| {
        let product = products.iter().find(|it| it.id == *offer.product.id());
        let product = product.unwrap();
        (&offer.name, offer.number) == (&product.name, product.number)
    });
    are_right && offers.check_copies().await.unwrap().is_sound()
}

async fn is_sound(db: Db) -> bool {
    has_no_records(&db).await
        && are_timely(&db).await
        && never_went_back(&db).await
        && is_mended_by_a_refresh(&db).await
}

/// Also no copy is overdue, because a worker has run.
async fn is_fresh(db: Db) -> bool {
    let offers = db.collection::<Offer>();
    let overdue = offers.count_documents(|o| o.checked.eq(DateTime::MIN));
    overdue.await.unwrap() == 0 && is_sound(db).await
}

fn explored(
    name: &str,
    operations: &[Operation],
    orders: Orders,
    is_sound: impl Fn(Db) -> BoxFuture<'static, bool>,
) -> Explored {
    let explored = explore(fill, operations, orders, is_sound);
    assert_eq!(explored.unsound, 0, "{name}: {explored}");
    explored
}

#[test]
fn refreshes_by_age_beside_other_writes() {
    let mut all = Explored::default();
    let workers: Named = vec![
        ("refresh_overdue_copies", refresh_overdue()),
        ("refresh_copies", refresh()),
    ];
    let mut others: Named = vec![
        ("a change of the source", change()),
        ("refresh_overdue_copies", refresh_overdue()),
        ("refresh_copies", refresh()),
    ];
    for way in Way::ALL {
        others.push(("an insert", insert(5, way)));
        if way != Way::NonAtomic {
            others.push(("a move of an overdue copy", reassign(1, 2, way)));
            others.push(("a move of a fresh copy", reassign(3, 2, way)));
        }
        others.extend(verbs(way));
    }
    for (worker_name, worker) in &workers {
        for (name, other) in &others {
            let name = format!("{worker_name} beside {name}");
            let pair = [worker.clone(), other.clone()];
            let explored = explored(&name, &pair, Orders::Switches(1), |db| {
                Box::pin(is_fresh(db))
            });
            all.add(&explored);
        }
    }
    println!("refreshes by age beside other writes: {all}");
    assert!(all.orders > 200, "{all}");
}

#[test]
fn three_operations_on_copies_that_follow_by_their_age() {
    let mut all = Explored::default();
    for way in [Way::Own, Way::Joined] {
        for (name, third) in [
            ("another worker", refresh_overdue()),
            ("an insert", insert(5, way)),
            ("a move", reassign(1, 2, way)),
            ("a move of another offer", reassign(2, 1, way)),
        ] {
            let name = format!("a refresh, a change and {name} ({way:?})");
            let operations = [refresh_overdue(), change(), third];
            let explored = explored(&name, &operations, Orders::Switches(1), |db| {
                Box::pin(is_fresh(db))
            });
            all.add(&explored);
        }
    }
    println!("three operations on copies that follow by their age: {all}");
}

#[test]
fn writes_of_copies_that_follow_by_their_age_beside_changes() {
    let mut all = Explored::default();
    for (way, other_way, _) in ways() {
        let mut others: Named = vec![("an insert", insert(9, other_way))];
        if other_way == Way::Own {
            others.push(("a change of the source", change()));
        }
        for (verb, write) in verbs(way) {
            for (name, other) in &others {
                let name = format!("{verb} ({way:?}) beside {name} ({other_way:?})");
                let pair = [write.clone(), other.clone()];
                let explored = explored(&name, &pair, Orders::Switches(1), |db| {
                    Box::pin(is_sound(db))
                });
                all.add(&explored);
            }
        }
    }
    println!("writes of copies that follow by their age: {all}");
    assert!(all.orders > 200, "{all}");
}

#[test]
fn stopped_refreshes_by_age() {
    for is_repeated in [false, true] {
        let mut all = Explored::default();
        for worker in [refresh_overdue(), refresh()] {
            for other in [
                change(),
                insert(5, Way::Own),
                reassign(1, 2, Way::Own),
                refresh_overdue(),
            ] {
                for commands in 1.. {
                    let stopped = if is_repeated {
                        worker.clone().stopped_after(commands)
                    } else {
                        worker.clone().abandoned_after(commands)
                    };
                    let pair = [stopped, other.clone()];
                    let explored =
                        explored("a stopped refresh", &pair, Orders::Switches(1), |db| {
                            Box::pin(is_sound(db))
                        });
                    if !explored.stopped {
                        break;
                    }
                    all.add(&explored);
                }
            }
        }
        println!("a stopped refresh by age, which runs again: {is_repeated}: {all}");
        assert!(all.orders > 50, "{all}");
    }
}
