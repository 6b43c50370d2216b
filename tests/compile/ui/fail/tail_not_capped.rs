use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "events")]
struct Event {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {
    let events = Db::memory().collection::<Event>();
    let _ = events.tail();
}
