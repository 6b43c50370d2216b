//! The stores that the suite runs on.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use odm::bson::oid::ObjectId;
use odm::prelude::DateTime;
use odm::server::Server;
use odm::{Capability, Context, Db, Hostility};
use tokio::runtime::{Builder, Runtime};

use crate::case::Case;

/// Where a run of the suite keeps its databases.
#[derive(Debug, Clone)]
pub enum Backend {
    /// The engine in this process.
    Memory,
    /// The engine in this process, with everything shuffled that MongoDB puts into no order, drawn from the seed.
    Shuffling(u64),
    /// The engine in this process, each time another one behind a port of its own.
    Served,
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

    /// An engine for each seed that `ODM_TEST_SEEDS` lists (`"7"`, `"1,2"` or `"100..200"`), or for two fixed ones.
    ///
    /// # Panics
    /// When the variable is not such a list.
    pub fn shuffling_from_env() -> Vec<Self> {
        let list = std::env::var("ODM_TEST_SEEDS").unwrap_or_else(|_| "1".to_owned());
        let number = |text: &str| -> u64 { text.trim().parse().expect("ODM_TEST_SEEDS has seeds") };
        let seeds: Vec<u64> = match list.split_once("..") {
            Some((from, to)) => (number(from)..number(to)).collect(),
            None => list.split(',').map(number).collect(),
        };
        seeds.into_iter().map(Self::Shuffling).collect()
    }

    /// What the names of cases on this store begin with. It has the seed, so that a failure can be repeated.
    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Shuffling(seed) => format!("shuffling_{seed}::"),
            Self::Memory | Self::Served | Self::Server(_) => String::new(),
        }
    }

    /// Runs `case` on a new database, which is dropped again when the case has passed; what a failed
    /// case left behind on a server can be looked at.
    ///
    /// # Panics
    /// When the case fails.
    pub fn run(&self, case: &Case) {
        runtime().block_on(async {
            let place = self.open().await;
            (case.run)(&place.db).await;
            place.db.drop().await.expect("the database is dropped");
        });
    }

    /// What the store says it can do.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn capability(&self) -> Capability {
        let capability = async { self.open().await.db.capability().await };
        runtime().block_on(capability).expect("the server answers")
    }

    /// A handle to a database that nothing else uses.
    pub async fn open(&self) -> Place {
        let (server, uri) = match self {
            Self::Memory => {
                let db = memory(Context::system());
                return Place { db, server: None };
            }
            Self::Shuffling(seed) => {
                let hostility = Hostility::new(*seed).shuffling();
                let db = memory(Context::system().with_hostility(hostility));
                return Place { db, server: None };
            }
            Self::Served => {
                let server =
                    Server::bind(&memory(Context::system()), "127.0.0.1:0").expect("a free port");
                let uri = server.uri();
                (Some(server), uri)
            }
            Self::Server(uri) => (None, uri.clone()),
        };
        let db = Db::connect(&with_database(&uri, &fresh_name()))
            .await
            .expect("the server answers");
        Place { db, server }
    }
}

/// A database that nothing else uses, and what must live as long.
#[derive(Debug)]
pub struct Place {
    /// The database.
    pub db: Db,
    #[expect(dead_code, reason = "it serves for as long as it is kept")]
    server: Option<Server>,
}

thread_local! {
    /// By how many milliseconds the clock is ahead of the engine that this thread's case runs on.
    static AHEAD: RefCell<Arc<AtomicI64>> = RefCell::default();
}

/// An engine whose clock the case can move.
fn memory(context: Context) -> Db {
    let ahead = Arc::new(AtomicI64::new(0));
    AHEAD.set(Arc::clone(&ahead));
    let clock = move || {
        DateTime::from_millis(DateTime::now().timestamp_millis() + ahead.load(Ordering::Relaxed))
    };
    Db::memory_with(context.with_clock(clock))
}

/// Waits a moment for what a store does once a minute: in the engine a minute passes at once, a server
/// goes by its own clock (and is told to look each second: `ttlMonitorSleepSecs`).
pub(crate) async fn let_time_pass() {
    AHEAD.with_borrow(|ahead| ahead.fetch_add(61_000, Ordering::Relaxed));
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

/// The URI with another database.
///
/// ```
/// use odm_tests::with_database;
///
/// assert_eq!(with_database("mongodb://a:1,b:2", "new"), "mongodb://a:1,b:2/new");
/// assert_eq!(with_database("mongodb://a:1/", "new"), "mongodb://a:1/new");
/// assert_eq!(with_database("mongodb://a:1/old?w=1", "new"), "mongodb://a:1/new?w=1");
/// assert_eq!(with_database("mongodb://u:p@a/?w=1", "new"), "mongodb://u:p@a/new?w=1");
/// ```
pub fn with_database(uri: &str, database: &str) -> String {
    let (address, options) = match uri.split_once('?') {
        Some((address, options)) => (address, format!("?{options}")),
        None => (uri, String::new()),
    };
    let (scheme, rest) = address.split_once("://").unwrap_or(("mongodb", address));
    let hosts = rest.split('/').next().unwrap_or(rest);
    format!("{scheme}://{hosts}/{database}{options}")
}
