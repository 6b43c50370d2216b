//! The in-memory engine: MongoDB 6.0 commands in, replies out, through one door.
//!
//! What this module is not: it knows no models, opens no sockets and reads no clock but that of the
//! [`Context`](context::Context) it is given. Start reading at [`Engine::run`].

pub(crate) mod catalog;
pub(crate) mod command;
pub(crate) mod context;
pub(crate) mod cursor;
pub(crate) mod index;
pub(crate) mod pipeline;
pub(crate) mod planner;
pub(crate) mod txn;
pub(crate) mod updater;

pub(crate) use crate::engine::catalog::Root;
pub(crate) use crate::engine::catalog::changes::{Interest, Signal};
pub(crate) use crate::engine::catalog::collection::Collection;
pub(crate) use crate::engine::catalog::namespace::Namespace;
pub(crate) use crate::engine::catalog::options::to_raw;
pub(crate) use crate::engine::catalog::view::View;
pub(crate) use crate::engine::command::Engine;
pub(crate) use crate::engine::command::args::max_time;
pub(crate) use crate::engine::command::fork::Fork;
pub(crate) use crate::engine::command::reply::{Page, Written, failed};
pub(crate) use crate::engine::command::request::{Answer, Request};
pub(crate) use crate::engine::command::{COMMON_FIELDS, known_commands, known_statements};
#[cfg(feature = "server")]
pub(crate) use crate::engine::context::{Latencies, Latency, Surroundings};
pub(crate) use crate::engine::cursor::open::Hold;
#[cfg(feature = "server")]
pub(crate) use crate::engine::cursor::query::interrupted;
pub(crate) use crate::engine::index::spec::known_options as known_index_options;
pub(crate) use odm_language::expression::memory::too_large;

pub use crate::engine::context::Context;
