//! The in-memory engine of `mongodb-odm`: commands of MongoDB in, replies out. It behaves as 6.0, or with what a later
//! [`ServerVersion`] adds.
//!
//! [`Service`] is the one way in, for the memory store, the server behind a port and the tools that load and dump
//! files. Programs depend on `mongodb-odm`: the items of this crate change without notice, except [`Context`], which
//! `mongodb-odm` re-exports.
//!
//! The engine does not depend on models, opens no sockets, and reads the time only from its [`Context`].

#[cfg(test)]
#[path = "../../language/src/cases.rs"]
pub(crate) mod cases;
// `cases` refers to the module by this path.
#[cfg(test)]
use odm_language::error;

mod catalog;
mod command;
mod context;
mod cursor;
mod index;
mod pipeline;
mod planner;
mod service;
pub mod tools;
mod txn;
mod updater;

pub use crate::catalog::Root;
pub use crate::catalog::changes::Interest;
pub use crate::catalog::collection::Collection;
pub use crate::catalog::namespace::Namespace;
pub use crate::catalog::options::to_raw;
pub use crate::catalog::view::View;
pub use crate::command::args;
pub use crate::command::direct::{Answer, Filter, Request};
pub use crate::command::fork::Fork;
pub use crate::command::generic_arguments;
pub use crate::command::generic_arguments::InTransaction;
pub use crate::command::reply;
pub use crate::command::{COMMON_FIELDS, added_commands, is_absent, known_commands};
pub use crate::context::{Context, Hostility, Latencies, Latency, Surroundings};
#[doc(hidden)]
pub use crate::context::{Fault, Target};
pub use crate::cursor::query::interrupted;
pub use crate::cursor::registry::{CursorTraits, Hold};
pub use crate::service::{AWAIT, Backoff, Listener, Service, is_empty_batch};
pub use crate::txn::TRANSIENT;
pub use crate::txn::lsid::NOBODY;
pub use crate::txn::session::Mode;
pub use odm_language::version::ServerVersion;
