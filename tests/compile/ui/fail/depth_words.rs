use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 0)]
struct A {
    inner: Option<Box<A>>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct B {
    size: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct C<T> {
    value: T,
    inner: Option<Box<C<T>>>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct D(A);

#[derive(Serialize, Deserialize, Embedded)]
struct E {
    #[odm(depth = 3)]
    inner: Option<Box<E>>,
}

fn main() {}
