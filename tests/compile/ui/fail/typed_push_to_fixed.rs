use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Place {
    at: [f64; 2],
}

fn main() {
    let _ = fields::<Place>().at.push(1.0);
}
