use odm::money::{Eur, Money, Usd};
use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Order {
    total: Money<Usd>,
}

fn main() {
    let order = fields::<Order>();
    let euros = Money::<Eur>::from_minor(5);
    let _ = Money::<Usd>::from_minor(5).try_add(euros);
    let _ = order.total.inc(euros);
    let _ = order.total.gt(euros);
}
