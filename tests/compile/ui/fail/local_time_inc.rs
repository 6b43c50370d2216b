use odm::prelude::*;
use odm::query::fields;
use odm::time::{Iso, LocalTime};

#[derive(Serialize, Deserialize, Embedded)]
struct Visit {
    at: LocalTime<Iso>,
}

fn main() {
    let visit = fields::<Visit>();
    let time: LocalTime<Iso> = "2026-03-29T10:30:00+02:00".parse().unwrap();
    let _ = visit.at.inc(time);
}
