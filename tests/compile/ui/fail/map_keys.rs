use std::collections::{BTreeMap, HashMap};

use odm::bson::oid::ObjectId;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
struct Number(u32);

#[derive(Serialize, Deserialize, Embedded)]
struct Counts {
    numbers: HashMap<u32, i32>,
    flags: BTreeMap<bool, i32>,
    ids: Vec<BTreeMap<ObjectId, i32>>,
    newtypes: Vec<HashMap<Number, i32>>,
}

fn main() {}
