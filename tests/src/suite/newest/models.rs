//! Hosts with lists of each direction and guarantee, and what they list.

use odm::prelude::*;

use crate::suite::dependents::stored;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "hosts",
    has_squillions(messages: LogMessage, by = host),
    has_many(orders: Order, by = host)
)]
pub(super) struct Host {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) code: i64,
    #[serde(rename = "l")]
    #[odm(recent(LogMessage, max = 3, sort = time))]
    pub(super) logmsgs: Vec<Line>,
    #[odm(recent(Alert, max = 2, sort = -level))]
    pub(super) alerts: Vec<Summary>,
    #[odm(recent(Order, max = 2, sort = time))]
    pub(super) last_orders: Vec<OrderLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[odm(recent(Note, max = 2, sort = -time))]
    pub(super) notes: Vec<NoteLine>,
    #[odm(version)]
    pub(super) version: i32,
}

/// Its list is settled, and has no `_id`s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "logmsg", index(host, time = desc))]
pub(super) struct LogMessage {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(recent_in = logmsgs)]
    pub(super) host: Option<Ref<Host>>,
    #[serde(rename = "t")]
    pub(super) time: i32,
    pub(super) message: String,
    pub(super) level: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = LogMessage)]
pub(super) struct Line {
    #[serde(rename = "t")]
    pub(super) time: i32,
    pub(super) message: String,
}

/// Has several hosts, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "alerts")]
pub(super) struct Alert {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index, references(many, max = 10), recent_in = alerts)]
    pub(super) hosts: Vec<Ref<Host>>,
    pub(super) level: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Alert)]
pub(super) struct Summary {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) level: i32,
}

/// Its list is strict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders", index(host, time = desc))]
pub(super) struct Order {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(recent_in = last_orders)]
    pub(super) host: Ref<Host>,
    pub(super) time: i32,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Place {
    pub(super) city: String,
    pub(super) street: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Order)]
pub(super) struct OrderLine {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) time: i32,
    pub(super) place: City,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Place)]
pub(super) struct City {
    pub(super) city: String,
}

/// An empty list of it is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
pub(super) struct Note {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index, recent_in = notes)]
    pub(super) host: Ref<Host>,
    pub(super) time: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Note)]
pub(super) struct NoteLine {
    pub(super) time: i32,
}

pub(super) fn host(id: i32) -> Host {
    Host {
        id,
        code: i64::from(id) * 10,
        logmsgs: Vec::new(),
        alerts: Vec::new(),
        last_orders: Vec::new(),
        notes: Vec::new(),
        version: 0,
    }
}

pub(super) fn message(id: i32, host: i32, time: i32) -> LogMessage {
    LogMessage {
        id,
        host: Some(Ref::from(host)),
        time,
        message: format!("message {id}"),
        level: 0,
    }
}

pub(super) fn order(id: i32, host: i32, time: i32) -> Order {
    let (city, street) = ("Paris".to_owned(), "Rue".to_owned());
    Order {
        id,
        host: Ref::from(host),
        time,
        place: Place { city, street },
    }
}

pub(super) fn alert(id: i32, hosts: &[i32], level: i32) -> Alert {
    let hosts = hosts.iter().map(|host| Ref::from(*host)).collect();
    Alert { id, hosts, level }
}

/// Two hosts without documents.
pub(super) async fn hosts(db: &Db) -> Collection<Host> {
    let models = models![Host, LogMessage, Alert, Order, Note];
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let hosts = db.collection::<Host>();
    hosts.insert_many([1, 2].map(host)).await.unwrap();
    hosts
}

/// Inserts messages of the host 1, whose `_id`s and times these are.
pub(super) async fn log(db: &Db, messages: &[(i32, i32)]) {
    let messages = messages.iter().map(|(id, time)| message(*id, 1, *time));
    let insert = db.collection::<LogMessage>().insert_many(messages);
    insert.propagate().await.unwrap();
}

/// The numbers of the messages in the list of a host.
pub(super) async fn listed(db: &Db, id: i32) -> Vec<i32> {
    let host = db.collection::<Host>().get(&id).await.unwrap().unwrap();
    let number = |line: &Line| line.message.split(' ').next_back()?.parse().ok();
    host.logmsgs.iter().filter_map(number).collect()
}

/// The `_id`s of the orders in the list of a host.
pub(super) async fn ordered(db: &Db, id: i32) -> Vec<i32> {
    let host = db.collection::<Host>().get(&id).await.unwrap().unwrap();
    host.last_orders.iter().map(|order| order.id).collect()
}

pub(super) async fn alerted(db: &Db, id: i32) -> Vec<i32> {
    let host = db.collection::<Host>().get(&id).await.unwrap().unwrap();
    host.alerts.iter().map(|alert| alert.id).collect()
}

pub(super) async fn records(db: &Db) -> usize {
    stored(db, "odm_propagations").await.len()
}

pub(super) async fn is_sound(db: &Db) {
    let report = db.collection::<Host>().check_recent().await.unwrap();
    assert!(report.is_sound(), "{report}");
}
