//! A walk through the library.
fn main() {}
