use chrono::{DateTime, NaiveDate, Utc};
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans", index(due), ttl(returned, after = "30d"))]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    due: NaiveDate,
    returned: Option<DateTime<Utc>>,
    reminders: Vec<DateTime<Utc>>,
}

fn main() {}
