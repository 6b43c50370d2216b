use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "lowercase")]
enum State {
    Paid,
    Sent,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    state: State,
    total: i64,
}

fn orders(orders: Collection<Order>) {
    let _ = orders.find(|o| o.state.eq("paid"));
    let _ = orders.find(|o| o.state.in_(["paid", "sent"]));
    let _ = orders.find(|o| o.totl.gt(1));
    let _ = orders.find(|o| o.total.between("1", "2"));
    let _ = orders.find_all().field(|o| o.total.asc());
}

fn main() {}
