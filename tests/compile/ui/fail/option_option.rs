use std::collections::HashMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Maybe(Option<i32>);

#[derive(Serialize, Deserialize, Embedded)]
struct Twice(Option<Option<i32>>);

#[derive(Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Nothing {
    Nothing,
    Number(i32),
}

#[derive(Serialize, Deserialize, Embedded)]
enum Choice {
    Twice(Option<Option<i32>>),
}

#[derive(Serialize, Deserialize, Embedded)]
struct Counts {
    plain: Option<Option<i32>>,
    list: Vec<Option<Option<i32>>>,
    map: HashMap<String, Option<Box<Option<i32>>>>,
    unit: Option<()>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Hidden {
    newtype: Option<Maybe>,
    untagged: Option<Nothing>,
    reported_already: Twice,
}

fn main() {}
