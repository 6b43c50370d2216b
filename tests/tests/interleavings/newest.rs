//! Documents with lists of the newest of others, by a reference of each guarantee, and the operations on those others.

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::update::Update;

use super::explorer::{Operation, operation};
use super::verbs::{Changed, Collected, Subject};
use super::ways::{Way, run};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(orders: Order, by = host))]
pub(crate) struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Order, max = 2, sort = time))]
    orders_list: Vec<OrderLine>,
    #[odm(recent(Message, max = 2, sort = -time))]
    messages: Vec<Line>,
}

/// Its list is strict.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(crate) struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = orders_list)]
    host: Ref<Host>,
    time: i32,
}

#[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Order)]
struct OrderLine {
    time: i32,
}

/// Its list is settled.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
pub(crate) struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = messages)]
    host: Ref<Host>,
    time: i32,
}

#[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Message)]
struct Line {
    time: i32,
}

/// The operations on documents of one model, with the names that the output has.
macro_rules! operations {
    ($name:ident, $model:ident) => {
        fn $name(way: Way, id: i32) -> Vec<(&'static str, Operation)> {
            vec![
                ("an insert", insert::<$model>(id, way)),
                (
                    "a move",
                    operation(move |db| async move {
                        let all = db.collection::<$model>();
                        let update = || all.update_by_id(&2, |m| m.host.set(Ref::from(1)));
                        run!(way, db, update().propagate())
                    }),
                ),
                (
                    "a change",
                    operation(move |db| async move {
                        let all = db.collection::<$model>();
                        let update = || all.update_by_id(&1, |m| m.time.set(0));
                        run!(way, db, update().propagate())
                    }),
                ),
                (
                    "a change to one of the newest",
                    operation(move |db| async move {
                        let all = db.collection::<$model>();
                        let update = || all.update_by_id(&3, |m| m.time.set(70));
                        run!(way, db, update().propagate())
                    }),
                ),
                (
                    "a delete",
                    operation(move |db| async move {
                        let all = db.collection::<$model>();
                        run!(way, db, all.delete_by_id(&4).with_dependents())
                    }),
                ),
            ]
        }
    };
}

operations!(of_orders, Order);
operations!(of_messages, Message);

/// The operations on documents of a guarantee; an insert has this `_id`.
pub(crate) fn operations(is_strict: bool, way: Way, id: i32) -> Vec<(&'static str, Operation)> {
    if is_strict {
        of_orders(way, id)
    } else {
        of_messages(way, id)
    }
}

/// A document with an `_id`, a host and a time.
pub(crate) trait Listed: Document + odm::model::Writable {
    fn of(id: i32, host: i32, time: i32) -> Self;
}

impl Listed for Order {
    fn of(id: i32, host: i32, time: i32) -> Self {
        let host = Ref::from(host);
        Self { id, host, time }
    }
}

impl Listed for Message {
    fn of(id: i32, host: i32, time: i32) -> Self {
        let host = Ref::from(host);
        Self { id, host, time }
    }
}

/// Inserts a document that is newer than one of the two in the list, and older than the other one.
pub(crate) fn insert<M: Listed>(id: i32, way: Way) -> Operation {
    operation(move |db| async move {
        let all = db.collection::<M>();
        let new = || M::of(id, 1, 30);
        run!(way, db, all.insert_one(new()).propagate())
    })
}

/// Changes the order that is not in the list of its host. By hand, one would leave the list as it is.
pub(crate) fn change_unlisted(by_hand: bool) -> Operation {
    operation(move |db| async move {
        let orders = db.collection::<Order>();
        let update = orders.update_by_id(&3, |o| o.time.set(12));
        if by_hand {
            update.leave_stale().await.map(drop)
        } else {
            update.propagate().await.map(drop)
        }
    })
}

impl Subject for Host {
    const CHANGED: i32 = 1;

    fn new(id: i32) -> Self {
        Self {
            id,
            orders_list: Vec::new(),
            messages: Vec::new(),
        }
    }

    fn changed() -> Self {
        Self::new(1)
    }
}

/// The document 2 goes from the host 2 to the host 1, and the document 4 is deleted.
macro_rules! subject {
    ($model:ident) => {
        impl Subject for $model {
            const CHANGED: i32 = 2;

            fn new(id: i32) -> Self {
                Self::of(id, 1, 30 + id)
            }

            fn changed() -> Self {
                Self::of(2, 1, 40)
            }
        }

        impl Changed for $model {
            fn change(fields: Self::Fields<Self>) -> Update<Self> {
                fields.host.set(Ref::from(1))
            }
        }

        impl Collected for $model {
            const DELETED: i32 = 4;
        }
    };
}

subject!(Order);
subject!(Message);

/// Two hosts: the first has three documents of each model, of which its lists hold two, and the second has one.
pub(crate) fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let host = |id, times: &[i32]| Host {
            id,
            orders_list: times.iter().map(|&time| OrderLine { time }).collect(),
            messages: times.iter().rev().map(|&time| Line { time }).collect(),
        };
        let hosts = [host(1, &[20, 50]), host(2, &[40])];
        db.collection().insert_many(hosts).await.unwrap();
        let all = [(1, 1, 50), (2, 2, 40), (3, 1, 10), (4, 1, 20)];
        let orders = all.map(|(id, host, time)| Order::of(id, host, time));
        let orders = db.collection().insert_many(orders);
        orders.leave_stale().await.unwrap();
        let messages = all.map(|(id, host, time)| Message::of(id, host, time));
        let messages = db.collection().insert_many(messages);
        messages.leave_stale().await.unwrap();
    })
}

/// Whether all lists are right, and no record of a change is left.
pub(crate) async fn are_right(db: Db) -> bool {
    let records = doc! {"find": "odm_propagations"};
    let records = db.run_command(records).all().await.unwrap();
    records.is_empty() && is_sound(&db).await
}

/// Whether all lists are right after `resume_propagation`.
pub(crate) async fn are_right_when_resumed(db: Db) -> bool {
    let hosts = db.collection::<Host>();
    hosts.resume_propagation().await.unwrap();
    is_sound(&db).await
}

async fn is_sound(db: &Db) -> bool {
    let report = db.collection::<Host>().check_recent().await.unwrap();
    report.is_sound()
}
