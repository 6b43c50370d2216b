use odm::bson::DateTime;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Embedded)]
struct Address {
    city: String,
    #[odm(created_at)]
    created: DateTime,
}

fn main() {}
