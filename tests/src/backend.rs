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
use crate::spared::is_spared;

/// Where a run of the suite keeps its databases.
#[derive(Debug, Clone)]
pub enum Backend {
    /// The engine in this process.
    Memory,
    /// The engine in this process, doing what MongoDB may do and mongod seldom does. The faults are those that the library
    /// recovers from, because cases expect that no call fails.
    Hostile {
        /// All is drawn from it.
        seed: u64,
        /// The cases that run on it.
        share: Share,
    },
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

    /// An engine for each seed that `ODM_TEST_SEEDS` lists (`"7"`, `"1,2"` or `"100..200"`), on which all cases run, or ten
    /// engines, each for a tenth of the cases.
    ///
    /// # Panics
    /// When the variable is not such a list.
    pub fn hostile_from_env() -> Vec<Self> {
        let Ok(list) = std::env::var("ODM_TEST_SEEDS") else {
            let shares = (0..TENTHS).map(|index| Self::Hostile {
                seed: index + 1,
                share: Share::Tenth(index),
            });
            return shares.collect();
        };
        let number = |text: &str| -> u64 { text.trim().parse().expect("ODM_TEST_SEEDS has seeds") };
        let seeds: Vec<u64> = match list.split_once("..") {
            Some((from, to)) => (number(from)..number(to)).collect(),
            None => list.split(',').map(number).collect(),
        };
        let share = Share::All;
        let engines = seeds.into_iter();
        engines.map(|seed| Self::Hostile { seed, share }).collect()
    }

    /// What the names of cases on this store begin with. It has the seed, so that a failure can be repeated.
    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Hostile { seed, .. } => format!("hostile_{seed}::"),
            Self::Memory | Self::Served | Self::Server(_) => String::new(),
        }
    }

    /// Whether the case runs on this store.
    pub(crate) fn has(&self, case: &Case) -> bool {
        match self {
            Self::Hostile { share, .. } => share.has(case.short_name()),
            Self::Served => is_sampled(case.short_name()) && !LONG.contains(&case.short_name()),
            Self::Memory | Self::Server(_) => true,
        }
    }

    /// Runs `case` on a new database, which is dropped again when the case has passed; what a failed
    /// case left behind on a server can be looked at.
    ///
    /// # Panics
    /// When the case fails.
    pub fn run(&self, case: &Case) {
        runtime().block_on(async {
            let spared = is_spared(case.short_name());
            let place = self.open_for(spared).await;
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
        self.open_for(false).await
    }

    /// [`open`](Self::open), for a case that no fault may hit if it is `spared`.
    async fn open_for(&self, spared: bool) -> Place {
        let (server, uri) = match self {
            Self::Memory => {
                let db = memory(Context::system());
                return Place { db, server: None };
            }
            Self::Hostile { seed, .. } => {
                let hostility = Hostility::new(*seed);
                let hostility = if spared {
                    hostility.shuffling()
                } else {
                    // The order of tasks changes with any delay, and longer ones take only time.
                    let longest = Duration::from_micros(200);
                    hostility.all().delaying_replies(longest).recoverable()
                };
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
        let uri = with_database(&uri, &fresh_name());
        let db = Db::connect(&uri).await.expect("the server answers");
        CONNECTED.set(uri);
        Place { db, server }
    }
}

/// Features whose cases send thousands of generated commands of a few forms. The engine and mongod run all of them; behind a
/// port and on hostile engines, where one of each form would do, they would take half of the time of all cases, so that a
/// tenth runs.
const GENERATED: [&str; 6] = [
    "field_types::",
    "trees::convert::",
    "trees::faults::",
    "trees::random::",
    "trees::reads::",
    "trees::stops::",
];

/// Cases that send thousands of commands, one by one, to stores that the other back ends are. The port adds nothing to what they
/// ask.
const LONG: [&str; 5] = [
    "checks::repairs_stop_after_every_command",
    "expected_plans::every_verb_refuses_an_outdated_plan",
    "field_copies::random_writes_leave_what_a_plain_model_leaves",
    "newest::random_writes_leave_the_lists_of_a_plain_model",
    "summaries::random_documents_have_the_summaries_of_a_plain_model",
];

/// Whether the case runs where only a tenth of the generated cases does.
fn is_sampled(case: &str) -> bool {
    let is_generated = GENERATED.iter().any(|feature| case.starts_with(feature));
    // By another digit than the one that shares cases among engines.
    !is_generated || (number(case) / TENTHS).is_multiple_of(TENTHS)
}

/// How many engines share the cases.
const TENTHS: u64 = 10;

/// The cases that run on a store.
#[derive(Debug, Clone, Copy)]
pub enum Share {
    /// Each of them.
    All,
    /// Those whose names have this number, from 0 to 9, without most of the generated ones.
    Tenth(u64),
}

impl Share {
    fn has(self, case: &str) -> bool {
        match self {
            Self::All => true,
            Self::Tenth(index) => number(case) % TENTHS == index && is_sampled(case),
        }
    }
}

/// The number of a name (FNV-1a), which is the same in every build.
fn number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
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
    /// What this thread's case is connected to.
    static CONNECTED: RefCell<String> = RefCell::default();
}

/// The URI of the server that this thread's case runs on, with the database of the case.
pub(crate) fn connected_uri() -> String {
    CONNECTED.with_borrow(String::clone)
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
