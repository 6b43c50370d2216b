use odm::prelude::*;
use odm::query::fields;
use odm::time::{Iso, LocalTime, Offset};

#[derive(Serialize, Deserialize, Embedded)]
struct Visit {
    at: LocalTime<Iso>,
}

fn main() {
    let visit = fields::<Visit>();
    let _ = visit.at.offset.inc(Offset::UTC);
}
