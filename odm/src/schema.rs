//! The declarations of a model about its collection, in MongoDB's terms: the validator, the indexes, and the plan
//! that brings a database in line with them.
//!
//! Start at [`validator()`] and [`indexes()`], pure functions from metadata to documents. [`Sync`] reads the
//! existing collections and compares them in MongoDB's normal form, which makes a
//! [`Plan`](crate::plan::Plan). [`Validate`] runs a model's validator in this process.
//! [`check_lock`] compares the models with a file of their shapes.
//!
//! This module is not a migration tool: it never rewrites documents, and it drops nothing unless the caller
//! allows it.

mod diagram;
pub(crate) mod diff;
pub mod indexes;
mod lock;
pub(crate) mod normal;
pub mod sync;
#[cfg(test)]
pub(crate) mod testing;
mod validate;
pub mod validator;

pub(crate) use self::diagram::stored_type;
pub use self::diagram::{Diagram, diagram};
pub use self::indexes::indexes;
pub(crate) use self::indexes::shard_key;
pub use self::lock::{Change, Impact, Lock, check_lock, lock};
pub use self::sync::Sync;
pub(crate) use self::validate::ModelValidator;
pub use self::validate::{Validate, Validator};
pub use self::validator::validator;
