//! Amounts of two currencies have no sum, and an amount is multiplied by whole numbers.

use odm::money::{Eur, Money, Usd};
use odm::prelude::*;
use odm::query::fields;

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Price {
    here: Money<Eur>,
    there: Money<Usd>,
}

fn main() {
    let price = fields::<Price>();
    let _ = price.here + price.there;
    let _ = fields::<Price>().here * 1.19;
}
