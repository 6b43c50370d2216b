//! `key` on a field that is no map, and on a map whose module does not say how it stores one value.

use std::collections::BTreeMap;

use odm::prelude::*;
use odm::query::fields;

mod upper {
    use std::collections::BTreeMap;

    pub fn serialize<S: serde::Serializer>(map: &BTreeMap<String, u32>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(key, value)| (key.to_uppercase(), value)))
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, u32>, D::Error> {
        serde::Deserialize::deserialize(deserializer)
    }
}

#[derive(Serialize, Deserialize, Embedded)]
struct Shop {
    name: String,
    #[serde(with = "upper")]
    stock: BTreeMap<String, u32>,
}

fn main() {
    let shop = fields::<Shop>();
    let _ = shop.name.key("a");
    let _ = shop.stock.key("A").gt(3);
}
