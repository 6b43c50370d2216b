//! What is stored.

use odm::prelude::*;

/// Of 116 bytes, or of 1 KB with a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "items")]
pub(crate) struct Item {
    #[serde(rename = "_id")]
    pub(crate) id: i64,
    pub(crate) rank: i32,
    pub(crate) amount: f64,
    pub(crate) region: i32,
    pub(crate) stock: i32,
    pub(crate) at: i64,
    pub(crate) name: String,
    pub(crate) body: String,
}

/// How large the documents are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Large,
}

/// The region and the amount of the two-predicate scan: one document in a thousand.
pub(crate) const REGION: i32 = 7;
pub(crate) const AMOUNT: f64 = 10_000.0;

impl Item {
    /// The item of an id, of which there are about `count`. Ranks are a permutation of the ids below `count`.
    pub(crate) fn new(id: i64, count: i64, size: Size) -> Self {
        let rank = if id < count { id * 7919 % count } else { id };
        let body = match size {
            Size::Small => String::new(),
            Size::Large => "Numbers are compared by value, whatever their type. "
                .repeat(18)
                .chars()
                .take(908)
                .collect(),
        };
        Self {
            id,
            rank: i32::try_from(rank).unwrap(),
            amount: f64::from(i32::try_from(id * 31_337 % 1_000_003).unwrap()) / 10.0,
            region: i32::try_from(id * 7 / 3 % 100).unwrap(),
            stock: 10,
            at: 1_700_000_000_000 + id,
            name: format!("item {id:>010}"),
            body,
        }
    }

    /// Its BSON.
    pub(crate) fn bson(&self) -> Vec<u8> {
        bson::serialize_to_vec(self).unwrap()
    }
}
