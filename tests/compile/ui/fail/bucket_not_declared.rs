use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hours")]
struct Hour {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {
    Db::memory().buckets::<Hour>();
}
