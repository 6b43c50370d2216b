use odm::geo::Point;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "cafes")]
struct Cafe {
    #[serde(rename = "_id")]
    id: i32,
    at: [f64; 2],
}

fn main() {
    let cafes = Db::memory().collection::<Cafe>();
    let here = Point::new(13.4, 52.5).unwrap();
    let _ = cafes.find(|c| c.at.near(here, ..=500.0));
}
