//! Changes of copied fields beside inserts and moves of several tasks.

use odm::prelude::*;

use super::models::{Customer, Order, Visit, customer, order, visit};
use super::stored;
use crate::random::{Random, count};

/// Eight tasks rename customers, insert orders (strict) and visits (settled), and give orders to other customers.
pub(super) async fn nothing_is_stale_after_writes_beside_each_other(db: &Db) {
    const CUSTOMERS: usize = 3;
    let rounds = count("ODM_COPIES_WRITERS", 12);
    let customers = (0..CUSTOMERS).map(|id| customer(i32::try_from(id).unwrap(), "name"));
    db.collection().insert_many(customers).await.unwrap();
    let tasks = (0..8_u64).map(|task| {
        let (customers, orders) = (db.collection::<Customer>(), db.collection::<Order>());
        let visits = db.collection::<Visit>();
        async move {
            let mut random = Random::of(task);
            for round in 0..rounds {
                let customer = i32::try_from(random.below(CUSTOMERS)).unwrap();
                let id = i32::try_from(task * 100_000).unwrap() + i32::try_from(round).unwrap();
                match random.below(6) {
                    0 => {
                        let name = format!("name {id}");
                        let update = customers.update_by_id(&customer, |c| c.name.set(name));
                        update.propagate().await.unwrap();
                    }
                    1 => {
                        let name = format!("name {id}");
                        let update = customers.update_by_id(&customer, |c| c.name.set(name));
                        update.in_background().await.unwrap();
                        customers.resume_propagation().await.unwrap();
                    }
                    2 | 3 => {
                        let insert = orders.insert_one(order(id, customer, &[])).propagate();
                        insert.await.unwrap();
                    }
                    4 => {
                        let insert = visits.insert_one(visit(id, customer)).propagate();
                        insert.await.unwrap();
                    }
                    _ => {
                        let update = orders
                            .update_one(|o| o.id.lt(id), |o| o.customer.set(Ref::from(customer)));
                        update.propagate().await.unwrap();
                    }
                }
                tokio::task::yield_now().await;
            }
        }
    });
    futures::future::join_all(tasks).await;
    let customers = db.collection::<Customer>();
    customers.resume_propagation().await.unwrap();
    let report = db.collection::<Order>().check_copies().await.unwrap();
    assert!(report.is_sound() && report.read > 0, "{report}");
    let report = db.collection::<Visit>().check_copies().await.unwrap();
    assert!(report.is_sound() && report.read > 0, "{report}");
    assert!(stored(db, "odm_propagations").await.is_empty());
}
