//! Writes of documents together with what follows from them in others.
//!
//! [`insert`] and [`modify`] order the commands, [`bulk_write`] runs several of both, and [`derived`] writes what follows from
//! changed documents; each kind of derived data has a module beside this one, such as `copies`. [`plan`] lists the writes without
//! sending them, and [`record`] has the records by which a change that stopped is completed.

mod bulk_write;
mod changed;
mod collect;
mod derived;
mod find_and_modify;
mod find_or_insert;
mod insert;
mod modify;
mod plan;
mod record;
mod save;
mod update;

pub use self::bulk_write::{BulkPropagateResult, BulkWritePropagated};
pub use self::derived::Propagated;
pub(super) use self::derived::{Derived, Looks, count, count_written};
pub use self::find_and_modify::FindAndModifyPropagated;
pub use self::find_or_insert::FindOneOrInsertPropagated;
pub use self::insert::{InsertManyPropagated, InsertOnePropagated};
pub(crate) use self::insert::{PropagatedInsert, expect_work, inserts_propagate};
pub use self::plan::UpdatePlan;
pub use self::record::{ResumePropagation, ResumeResult};
pub(crate) use self::record::{pending_propagations, resume_propagations};
pub use self::save::SavePropagated;
pub use self::update::{PropagateResult, UpdatePropagated};
