use odm::money::Money;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Order {
    total: Money<String>,
}

fn main() {}
