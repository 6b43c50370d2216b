//! Maps whose keys have no text, and keys of another type.

use std::collections::BTreeMap;

use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Visits {
    #[serde(with = "odm::map_keys")]
    by_hour: BTreeMap<u8, u32>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Bare {
    by_hour: BTreeMap<u8, u32>,
}

fn main() {
    let visits = fields::<Visits>();
    let _ = visits.by_hour.key("9");
    let _ = visits.by_hour.remove_key("9");
    let _ = visits.by_hour.key(9).gt(3);
}
