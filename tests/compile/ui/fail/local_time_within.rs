use odm::prelude::*;
use odm::query::fields;
use odm::time::day;

#[derive(Serialize, Deserialize, Embedded)]
struct Visit {
    at: String,
}

fn main() {
    let visit = fields::<Visit>();
    let _ = visit.at.within(day("2026-03-29").unwrap().in_utc());
}
