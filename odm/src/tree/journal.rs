//! The writes of a change, and the completion of a change that stopped.
//!
//! Hides the update statements, and the order in which they are sent. A change fills in [`Writes`], and `run_writes` sends
//! them. Outside of a transaction it records them before the first one, and `resumed` completes a change by its record.

mod inserts;
mod resume;
mod shift;
mod statements;
mod unfinished;
mod unique;
mod writes;

pub(super) use self::inserts::Inserts;
pub(super) use self::resume::Resumed;
pub(super) use self::shift::{EnclosingNodes, Shift};
pub(super) use self::statements::Lineage;
pub(super) use self::unfinished::{Below, Fence, Listed, Placed, Unfinished};
pub(super) use self::writes::Writes;
