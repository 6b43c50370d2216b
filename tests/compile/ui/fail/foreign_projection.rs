use chrono::{DateTime, Utc};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::chrono_0_4")]
    due: DateTime<Utc>,
}

#[derive(Deserialize, Projection)]
#[odm(of = Loan)]
struct Due {
    due: DateTime<Utc>,
}

fn main() {}
