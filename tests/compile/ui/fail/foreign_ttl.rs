use chrono::NaiveDate;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans", ttl(due, after = "30d"))]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::chrono_0_4")]
    due: NaiveDate,
    #[serde(with = "odm::chrono_0_4")]
    #[odm(range(min = 1))]
    day: NaiveDate,
}

fn main() {}
