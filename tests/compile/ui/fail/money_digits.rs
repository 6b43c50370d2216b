use odm::money::{Finer, Money, Usd};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Coarser {
    total: Money<Finer<Usd, 1>>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct TooFine {
    total: Money<Finer<Usd, 19>>,
}

fn main() {}
