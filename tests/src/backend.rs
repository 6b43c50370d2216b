//! The stores that the suite runs on.

use std::cell::Cell;
use std::time::Duration;

use odm::bson::oid::ObjectId;
use odm::prelude::DateTime;
use odm::{Capability, Context, Db};
use tokio::runtime::{Builder, Runtime};

use crate::case::Case;

/// Where a run of the suite keeps its databases.
#[derive(Debug, Clone)]
pub enum Backend {
    /// The engine in this process.
    Memory,
    /// The server at this URI.
    Server(String),
}

impl Backend {
    /// The server named by `ODM_TEST_URI`, if one is.
    pub fn server_from_env() -> Option<Self> {
        std::env::var("ODM_TEST_URI")
            .ok()
            .filter(|uri| !uri.is_empty())
            .map(Self::Server)
    }

    /// Runs `case` on a new database, which is dropped again when the case has passed; what a failed
    /// case left behind on a server can be looked at.
    ///
    /// # Panics
    /// When the case fails.
    pub fn run(&self, case: &Case) {
        // The threads that run the cases are used again.
        AHEAD.set(0);
        runtime().block_on(async {
            let db = self.open().await;
            (case.run)(&db).await;
            db.drop().await.expect("the database is dropped");
        });
    }

    /// What the store says it can do.
    pub fn capability(&self) -> Capability {
        runtime().block_on(async { self.open().await.capability() })
    }

    /// A handle to a database that nothing else uses.
    pub async fn open(&self) -> Db {
        match self {
            Self::Memory => Db::memory_with(Context::system().with_clock(now)),
            Self::Server(uri) => Db::connect(&with_database(uri, &fresh_name()))
                .await
                .expect("the server of ODM_TEST_URI answers"),
        }
    }
}

thread_local! {
    /// By how many milliseconds the memory engine's clock is ahead, in the case that this thread runs.
    static AHEAD: Cell<i64> = const { Cell::new(0) };
}

fn now() -> DateTime {
    DateTime::from_millis(DateTime::now().timestamp_millis() + AHEAD.get())
}

/// Waits a moment for what a store does once a minute: in memory a minute passes at once, a server
/// goes by its own clock (and is told to look each second: `ttlMonitorSleepSecs`).
pub(crate) async fn let_time_pass() {
    AHEAD.set(AHEAD.get() + 61_000);
    tokio::time::sleep(Duration::from_millis(200)).await;
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// A database name that no other case, process or earlier run uses.
fn fresh_name() -> String {
    format!("odm_{}", ObjectId::new())
}

/// `uri` with its database replaced: `mongodb://host/old?x=y` becomes `mongodb://host/new?x=y`.
fn with_database(uri: &str, database: &str) -> String {
    let (address, options) = match uri.split_once('?') {
        Some((address, options)) => (address, format!("?{options}")),
        None => (uri, String::new()),
    };
    let (scheme, rest) = address.split_once("://").unwrap_or(("mongodb", address));
    let hosts = rest.split('/').next().unwrap_or(rest);
    format!("{scheme}://{hosts}/{database}{options}")
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn the_database_of_a_uri_is_replaced() {
        for (uri, expected) in [
            ("mongodb://a:1,b:2", "mongodb://a:1,b:2/new"),
            ("mongodb://a:1/", "mongodb://a:1/new"),
            ("mongodb://a:1/old?w=1", "mongodb://a:1/new?w=1"),
            ("mongodb://u:p@a/?w=1", "mongodb://u:p@a/new?w=1"),
        ] {
            assert_eq!(with_database(uri, "new"), expected);
        }
    }
}
