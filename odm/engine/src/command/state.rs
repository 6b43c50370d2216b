//! The state of an engine.

use std::sync::atomic::AtomicI64;

use crate::catalog::Catalog;
use crate::command::profiler::Profiler;
use crate::cursor::registry::Cursors;
use crate::txn::session::Sessions;
use crate::txn::snapshot::Snapshots;

/// The in-memory engine. One value is one server; sessions and threads share it.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    pub(crate) catalog: Catalog,
    pub(crate) sessions: Sessions,
    pub(crate) cursors: Cursors,
    pub(crate) snapshots: Snapshots,
    pub(crate) profiler: Profiler,
    /// When the engine last removed expired documents, cursors and sessions, in milliseconds.
    pub(crate) ticked: AtomicI64,
}

impl Engine {
    pub(crate) fn new() -> Self {
        Self::default()
    }
}
