use chrono::{DateTime, Utc};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Loan {
    #[serde(with = "odm::chrono_0_4")]
    returned: Option<DateTime<Utc>>,
}

fn main() {}
