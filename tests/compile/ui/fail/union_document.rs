use odm::prelude::*;

#[derive(Embedded)]
union Both {
    a: i32,
    b: f32,
}

fn main() {}
