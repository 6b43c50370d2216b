use odm::money::{Money, Usd};
use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Order {
    total: Money<Usd>,
    count: i32,
}

fn main() {
    let order = fields::<Order>();
    let _ = order.total.mul(Money::from_minor(2));
    let _ = order.count.times(2);
    let _ = order.total.inc(5);
    let _ = Money::<Usd>::from_minor(9.99);
}
