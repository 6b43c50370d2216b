use chrono::{DateTime, FixedOffset};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Loan {
    #[serde(with = "odm::uuid_1")]
    name: String,
    #[serde(with = "odm::chrono_0_4")]
    returned: DateTime<FixedOffset>,
}

fn main() {}
