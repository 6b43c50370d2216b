use jiff::Timestamp;
use odm::prelude::*;
use time::OffsetDateTime;

#[derive(Serialize, Deserialize, Embedded)]
struct Visit {
    from: Timestamp,
    to: OffsetDateTime,
    zoned: jiff::Zoned,
}

fn main() {}
