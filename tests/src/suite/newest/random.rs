//! Random writes, compared with a plain model of the lists.

use std::collections::BTreeMap;

use odm::bson::doc;
use odm::prelude::*;

use super::models::{
    Alert, Host, LogMessage, Order, alert, alerted, hosts, is_sound, listed, message, order,
    ordered,
};
use crate::random::{Random, count};

/// The hosts of each document, and its sort value.
type Documents = BTreeMap<i32, (Vec<i32>, i32)>;

/// All documents, as a program would hold them.
#[derive(Debug, Default)]
struct Model {
    messages: Documents,
    alerts: Documents,
    orders: Documents,
}

pub(super) async fn random_writes_leave_the_lists_of_a_plain_model(db: &Db) {
    let mut random = Random::unless_set("ODM_NEWEST_SEED", 3);
    hosts(db).await;
    for round in 0..count("ODM_NEWEST", 30) {
        let seed = random.seed();
        run(db, &mut random, &format!("round {round}, seed {seed}")).await;
    }
}

async fn run(db: &Db, random: &mut Random, what: &str) {
    for name in ["hosts", "logmsg", "alerts", "orders"] {
        let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
        db.run_command(delete).await.unwrap();
    }
    let all = db.collection::<Host>();
    all.insert_many([1, 2].map(super::models::host))
        .await
        .unwrap();
    let mut model = Model::default();
    for id in 1..25 {
        let what = format!("{what}, write {id}");
        write(db, random, &mut model, id).await;
        compare(db, &model, &what).await;
    }
    is_sound(db).await;
    assert_eq!(all.refresh_recent().await.unwrap().updated, 0, "{what}");
}

/// The newest of a host, the newest first. The larger `_id` is the newer one.
fn newest(documents: &Documents, host: i32, max: usize) -> Vec<i32> {
    let of = documents
        .iter()
        .filter(|(_, (hosts, _))| hosts.contains(&host));
    let mut all: Vec<_> = of.map(|(id, (_, sort))| (*sort, *id)).collect();
    all.sort_unstable();
    all.into_iter().rev().take(max).map(|(_, id)| id).collect()
}

async fn compare(db: &Db, model: &Model, what: &str) {
    for host in [1, 2] {
        let mut messages = listed(db, host).await;
        messages.reverse();
        assert_eq!(
            messages,
            newest(&model.messages, host, 3),
            "{what}: {model:?}"
        );
        let mut orders = ordered(db, host).await;
        orders.reverse();
        assert_eq!(orders, newest(&model.orders, host, 2), "{what}: {model:?}");
        let alerts = alerted(db, host).await;
        assert_eq!(alerts, newest(&model.alerts, host, 2), "{what}: {model:?}");
    }
}

fn number(random: &mut Random, below: usize) -> i32 {
    i32::try_from(random.below(below)).unwrap()
}

async fn write(db: &Db, random: &mut Random, model: &mut Model, id: i32) {
    let (host, sort) = (1 + number(random, 2), number(random, 6));
    let other = 1 + number(random, 24);
    let hosts: Vec<i32> = match random.below(4) {
        0 => Vec::new(),
        1 => vec![1, 2],
        _ => vec![host],
    };
    let messages = db.collection::<LogMessage>();
    let (orders, alerts) = (db.collection::<Order>(), db.collection::<Alert>());
    let is_in = |(_, (hosts, _)): &(&i32, &mut (Vec<i32>, i32))| hosts.contains(&host);
    match random.below(14) {
        0..=2 => {
            let insert = messages.insert_one(message(id, host, sort)).propagate();
            if random.one_in(3) {
                insert.non_atomic().await.unwrap();
            } else {
                insert.await.unwrap();
            }
            model.messages.insert(id, (vec![host], sort));
        }
        3 | 4 => {
            let new = [order(id, host, sort), order(id + 100, 3 - host, sort)];
            orders.insert_many(new).propagate().await.unwrap();
            model.orders.insert(id, (vec![host], sort));
            model.orders.insert(id + 100, (vec![3 - host], sort));
        }
        5 | 6 => {
            let insert = alerts.insert_one(alert(id, &hosts, sort));
            insert.propagate().await.unwrap();
            model.alerts.insert(id, (hosts, sort));
        }
        7 => {
            let update = messages.update_by_id(&other, |m| m.time.set(sort));
            update.propagate().await.unwrap();
            model.messages.entry(other).and_modify(|one| one.1 = sort);
        }
        8 => {
            let update =
                messages.update_many(|m| m.id.lt(other), |m| m.host.set(Some(Ref::from(host))));
            update.propagate().await.unwrap();
            for one in model.messages.range_mut(..other) {
                one.1.0 = vec![host];
            }
        }
        9 => {
            let update = orders.update_many(|o| o.host.eq(Ref::from(host)), |o| o.time.inc(sort));
            update.propagate().await.unwrap();
            for one in model.orders.iter_mut().filter(is_in) {
                one.1.1 += sort;
            }
        }
        10 => {
            let refs: Vec<Ref<Host>> = hosts.iter().map(|host| Ref::from(*host)).collect();
            let update = alerts.update_by_id(&other, |a| a.hosts.set(refs));
            update.propagate().await.unwrap();
            model.alerts.entry(other).and_modify(|one| one.0 = hosts);
        }
        11 => {
            let delete = messages.delete_many(|m| m.time.eq(sort));
            delete.with_dependents().await.unwrap();
            model.messages.retain(|_, one| one.1 != sort);
        }
        12 => {
            let delete = orders.delete_many(|o| o.id.gt(100 - other));
            delete.with_dependents().await.unwrap();
            model.orders.retain(|id, _| *id <= 100 - other);
        }
        _ => {
            alerts.delete_by_id(&other).with_dependents().await.unwrap();
            model.alerts.remove(&other);
        }
    }
}
