use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "things", wildcard(only(nmae, extra.b)))]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    extra: Extra,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Extra {
    a: i32,
}

fn main() {}
