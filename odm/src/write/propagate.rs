//! Writes of documents together with what follows from them in others.
//!
//! [`insert`] and [`update`] order the commands; each kind of derived data has a module beside this one, such as `copies`.
//! [`record`] has the records by which a change that stopped is completed.

mod insert;
mod record;
mod update;

pub use self::insert::{InsertManyPropagated, InsertOnePropagated};
pub use self::record::{ResumePropagation, ResumeResult};
pub use self::update::{
    PropagateResult, Propagated, PropagatedUpdate, UpdatePlan, UpdatePropagated,
};
