//! What a model declares of its collection, as MongoDB wants it: the validator, the indexes, and
//! the plan that brings a database in line with them.
//!
//! Start at [`validator()`] and [`indexes()`]: pure functions from metadata to documents. [`Sync`] reads
//! what is there and compares it in the server's normal form, [`Plan`] is the difference as data,
//! and applying it sends the commands that it shows. [`Validate`] runs a model's validator in this
//! process.
//!
//! What this module is not: a migration tool. It never touches documents, and it drops nothing that
//! it was not told to drop.

pub(crate) mod diff;
pub mod indexes;
pub(crate) mod normal;
pub mod plan;
pub(crate) mod print;
pub mod sync;
#[cfg(test)]
pub(crate) mod testing;
mod validate;
pub mod validator;

pub use self::indexes::indexes;
pub use self::plan::{Action, Allow, Applied, Step};
pub use self::sync::{Plan, Sync};
pub use self::validate::{Validate, Validator};
pub use self::validator::validator;
