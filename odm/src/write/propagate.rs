//! Writes of documents together with what follows from them in others.
//!
//! [`insert`] and [`update`] order the commands, and [`derived`] writes what follows from changed documents; each kind of
//! derived data has a module beside this one, such as `copies`.
//! [`record`] has the records by which a change that stopped is completed.

mod collect;
mod derived;
mod insert;
mod record;
mod update;

pub use self::derived::Propagated;
pub(super) use self::derived::{Derived, Looks, count_written};
pub use self::insert::{InsertManyPropagated, InsertOnePropagated};
pub use self::record::{ResumePropagation, ResumeResult};
pub use self::update::{PropagateResult, PropagatedUpdate, UpdatePlan, UpdatePropagated};
