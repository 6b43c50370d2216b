use odm::prelude::*;
use rust_decimal::Decimal;

#[derive(Serialize, Deserialize, Embedded)]
struct Price {
    #[odm(range(min = 0))]
    amount: Decimal,
}

fn main() {}
