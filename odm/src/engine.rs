//! The in-memory engine: MongoDB 6.0 commands in, replies out, through one door.
//!
//! What this module is not: it knows no models, opens no sockets and reads no clock but that of the
//! [`Context`](context::Context) it is given. Start reading at [`Engine::run`].

#[cfg(feature = "memory")]
pub(crate) mod catalog;
#[cfg(feature = "memory")]
pub(crate) mod clock;
#[cfg(feature = "memory")]
pub(crate) mod command;
#[cfg(feature = "memory")]
pub(crate) mod context;
#[cfg(feature = "memory")]
pub(crate) mod cursor;
pub(crate) mod expression;
#[cfg(feature = "memory")]
pub(crate) mod index;
pub(crate) mod matcher;
#[cfg(feature = "memory")]
pub(crate) mod pipeline;
#[cfg(feature = "memory")]
pub(crate) mod planner;
pub(crate) mod refusal;
pub(crate) mod regex;
#[cfg(feature = "memory")]
pub(crate) mod txn;
#[cfg(feature = "memory")]
pub(crate) mod updater;

#[cfg(feature = "memory")]
pub(crate) use crate::engine::catalog::Root;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::catalog::changes::{Interest, Signal};
#[cfg(feature = "memory")]
pub(crate) use crate::engine::catalog::collection::Collection;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::catalog::namespace::Namespace;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::catalog::options::to_raw;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::catalog::view::View;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::command::Engine;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::command::args::max_time;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::command::fork::Fork;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::command::reply::{Page, Written, failed};
#[cfg(feature = "memory")]
pub(crate) use crate::engine::command::request::{Answer, Request};
#[cfg(feature = "memory")]
pub(crate) use crate::engine::command::{COMMON_FIELDS, known_commands, known_statements};
#[cfg(feature = "server")]
pub(crate) use crate::engine::context::{Latencies, Latency, Surroundings};
#[cfg(feature = "memory")]
pub(crate) use crate::engine::cursor::open::Hold;
#[cfg(feature = "server")]
pub(crate) use crate::engine::cursor::query::interrupted;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::expression::memory::too_large;
#[cfg(feature = "memory")]
pub(crate) use crate::engine::index::spec::known_options as known_index_options;

#[cfg(feature = "memory")]
pub use crate::engine::context::Context;
