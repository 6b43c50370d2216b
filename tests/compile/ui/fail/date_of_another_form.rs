use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    due: DateTime,
}

fn dates(loans: Collection<Loan>) {
    let _ = loans.find(|l| l.due.lt("2026-11-26T08:00:00Z"));
    let _ = loans.find(|l| l.due.lt(chrono::Utc::now()));
    let _ = loans.find(|l| l.due.lt(std::time::SystemTime::now()));
}

fn main() {}
