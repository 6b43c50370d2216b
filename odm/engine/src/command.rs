//! The commands: a command document in, the reply document out.
//!
//! [`dispatch`] looks up a command in [`table`] and runs it; each command has its own file. [`declare`] defines a row
//! of the table, [`state`] the state of an engine, and [`invocation`] the context of a running command.

mod aggregate;
mod api;
pub mod args;
mod batch;
mod bulk_write;
mod capped;
mod change_stream;
mod coll_mod;
mod coll_stats;
mod collections;
mod compat;
mod concern;
mod count;
mod create;
mod create_indexes;
mod databases;
pub(crate) mod declare;
mod delete;
pub(crate) mod direct;
mod dispatch;
mod distinct;
mod drop_indexes;
mod find;
mod find_and_modify;
pub(crate) mod fork;
pub mod generic_arguments;
mod get_more;
mod hello;
mod insert;
pub(crate) mod invocation;
mod join_indexes;
mod list_indexes;
mod modify;
mod profile;
mod profile_entries;
mod profiler;
pub mod reply;
mod retry;
mod session;
mod sink;
mod source;
pub(crate) mod state;
mod statements;
mod stats_stages;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod ttl;
mod update;
mod validate;
mod view;

pub use self::args::GENERIC as COMMON_FIELDS;
pub use self::dispatch::is_absent;
pub use self::table::added as added_commands;
pub use self::table::all as known_commands;
pub(crate) use self::table::known_statements;
