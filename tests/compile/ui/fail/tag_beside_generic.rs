use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Tagged {
    kind: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Plain {
    side: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Shape<T> {
    One(T),
    Boxed(Box<T>),
}

#[derive(Serialize, Deserialize, Embedded)]
struct Fine {
    shape: Shape<Plain>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Twice {
    shape: Shape<Tagged>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Scalar {
    shape: Shape<i32>,
}

fn main() {}
