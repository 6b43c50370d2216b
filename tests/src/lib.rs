//! The suite that runs on every store.
//!
//! A case is a private `async fn(db: &Db)` in `suite/<feature>.rs`, named in that file's `cases!`
//! line; with that it joins `tests/memory.rs` and `tests/mongodb.rs` alike, and a function that is not
//! named is dead code to the compiler. Every case gets a database of its own.
//!
//! What this crate is not: a place for unit tests (they stand beside the code they test) or for
//! tests of one store alone.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a case that panics is a test that fails"
)]

mod backend;
mod case;
#[path = "../../examples/trees/categories.rs"]
mod categories;
#[cfg(doctest)]
mod chapters;
#[path = "../../examples/documents/all.rs"]
mod examples;
mod in_flight;
#[path = "../../examples/pipelines/manual.rs"]
mod manual;
mod polls;
mod random;
mod runner;
mod spared;
mod suite;

pub use self::backend::{Backend, Share, with_database};
pub use self::case::Case;
pub use self::polls::dropped_after;
pub use self::runner::run;
