//! An amount compares with amounts, and not with numbers.
use odm::money::AnyMoney;
use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Product {
    price: AnyMoney,
}

fn main() {
    let _ = fields::<Product>().price.gt(5);
}
