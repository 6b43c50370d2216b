use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[odm(shard_key(city))]
struct Place {
    city: String,
}

fn main() {}
