//! Databases: the entry point to collections, sessions and raw commands.

#[cfg(test)]
mod tests;

use super::{Change, ChangeStream, Collection};
#[cfg(feature = "memory")]
use crate::error::ConfigError;
use crate::error::{Error, Result};
use crate::model::Document;
#[cfg(feature = "tracing")]
use crate::store::TracedValues;
use crate::store::{Capability, CommandEvent, Session, SessionOptions, Store};

/// A database, in memory or on a MongoDB server. Cheap to clone; there is no global state.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) store: Store,
}

impl Db {
    /// Creates an empty in-memory database, independent of all others. Dropping its last clone frees
    /// the data. It behaves like MongoDB 6.0; [`memory_as`](Self::memory_as) makes one of a later version.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let other = Db::memory();
    /// assert_eq!(other.collection::<Book>().count_documents(|_| Filter::all()).await?, 0);
    /// assert_eq!(books.count_documents(|_| Filter::all()).await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "memory")]
    pub fn memory() -> Self {
        Self::memory_with(odm_engine::Context::system())
    }

    /// Creates an in-memory database that reports another version of MongoDB: 6.0, 7.0 or 8.0. Tests of a program that runs
    /// on a later server use it for the operators that this version adds to 6.0, and to see that an older one refuses them.
    ///
    /// What 7.0 and 8.0 add follows MongoDB's documentation and was not compared with a server; the book lists it in *What
    /// the engine supports*. All else stays as in 6.0, the server that the engine is compared with.
    ///
    /// ```
    /// use odm::bson::{Document as BsonDocument, doc};
    /// use odm::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "visits")]
    /// struct Visit {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     millis: i32,
    /// }
    ///
    /// let db = Db::memory_as(8, 0)?;
    /// let visits = db.collection::<Visit>();
    /// visits.insert_many([Visit { id: 1, millis: 20 }, Visit { id: 2, millis: 90 }]).await?;
    /// let slowest = doc! { "$percentile": { "input": "$millis", "p": [0.99], "method": "approximate" } };
    /// let stages = [doc! { "$group": { "_id": null, "p99": slowest } }];
    /// let found = visits.aggregate(stages).with_type::<BsonDocument>().first().await?;
    /// assert_eq!(found, Some(doc! { "_id": null, "p99": [90.0] }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`is_config`](crate::Error::is_config): the engine has no such version.
    #[cfg(feature = "memory")]
    pub fn memory_as(major: u8, minor: u8) -> Result<Self> {
        let version = odm_engine::ServerVersion::new(major, minor).ok_or_else(|| {
            let message = format!(
                "the in-memory database has no version {major}.{minor}, only 6.0, 7.0 and 8.0"
            );
            Error::new(ConfigError::new(message))
        })?;
        Ok(Self::memory_with(
            odm_engine::Context::system().with_version(version),
        ))
    }

    /// Creates an in-memory database with a custom clock, id generator and source of randomness. Tests use it to
    /// control time (`$currentDate`, `$$NOW`, the expiry of TTL indexes) and to get the same ids and samples in every
    /// run.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::Context;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "visits")]
    /// struct Visit {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     last: Option<DateTime>,
    /// }
    ///
    /// let noon = DateTime::from_millis(1_700_000_000_000);
    /// let db = Db::memory_with(Context::system().with_clock(move || noon));
    /// let visits = db.collection::<Visit>();
    /// visits.insert_one(&Visit { id: 1, last: None }).await?;
    /// visits.update_one(|v| v.id.eq(1), |v| v.last.current_date()).await?;
    /// assert_eq!(visits.get(&1).await?.unwrap().last, Some(noon));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A [`Hostility`](crate::Hostility) in the context makes the engine do what MongoDB may do and mongod seldom does;
    /// [`memory_hostile`](Self::memory_hostile) does all of it. Shuffling finds code that works only because a
    /// developer's mongod returns documents in the order of insertion:
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use odm::prelude::*;
    /// use odm::{Context, Hostility};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "players")]
    /// struct Player {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     score: i32,
    /// }
    ///
    /// let context = Context::system().with_hostility(Hostility::new(1).shuffling());
    /// let players = Db::memory_with(context).collection::<Player>();
    /// players.insert_many((0..20).map(|id| Player { id, score: id % 2 })).await?;
    ///
    /// // Ten players have the same score, so five on each page are not the five others.
    /// let mut shown = BTreeSet::new();
    /// for page in 0..4 {
    ///     let found = players.find_all().sort(|p| p.score.asc()).skip(page * 5).limit(5).all().await?;
    ///     shown.extend(found.iter().map(|player| player.id));
    /// }
    /// assert!(shown.len() < 20);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "memory")]
    pub fn memory_with(context: odm_engine::Context) -> Self {
        Self {
            store: Store::memory("test", context),
        }
    }

    /// Creates an in-memory database that does what MongoDB may do and mongod seldom does on a developer's machine: it
    /// shuffles what has no order, splits batches at random sizes, delays replies, and fails commands with write
    /// conflicts, network errors before and after the write, and `NotWritablePrimary`. All is drawn from the seed.
    ///
    /// Use it in tests, with a few seeds. [`Hostility`](crate::Hostility) says what each fault is, how often it comes,
    /// and what the store retries as the driver does; it makes a choice of faults, and pauses them for fixtures.
    ///
    /// When a test panics, the seed is printed on standard error as the database's last handle is dropped, and the
    /// message of every error that the store made has it.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "counters")]
    /// struct Counter {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     n: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// for seed in 1..=20 {
    ///     let db = Db::memory_hostile(seed);
    ///     let counters = db.collection::<Counter>();
    ///     // The store retries single writes as the driver does: once.
    ///     while let Err(error) = counters.replace_one(|c| c.id.eq(1), &Counter { id: 1, n: 0 }).upsert(true).await {
    ///         assert!(error.is_retryable(), "{error}");
    ///     }
    ///     // The body runs again after a conflict or a network error, and none of its effects happens twice.
    ///     transaction!(db, |tx| -> odm::Result<()> {
    ///         counters.update_one(|c| c.id.eq(1), |c| c.n.inc(1)).session(tx).await?;
    ///         Ok(())
    ///     })
    ///     .await?;
    ///     let found = counters.find(|c| c.n.eq(1)).all().await;
    ///     assert!(found.is_err() || found.is_ok_and(|found| found.len() == 1));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "memory")]
    pub fn memory_hostile(seed: u64) -> Self {
        let hostility = odm_engine::Hostility::new(seed).all();
        Self::memory_with(odm_engine::Context::system().with_hostility(hostility))
    }

    /// Opens the database that a connection string names: `mongodb://localhost:27017/app`.
    ///
    /// The first action that needs a connection opens it.
    ///
    /// ```no_run
    /// # async fn run() -> odm::Result<()> {
    /// use odm::prelude::*;
    ///
    /// let db = Db::connect("mongodb://127.0.0.1:27017/shop").await?;
    /// assert_eq!(db.name(), "shop");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_config`](crate::Error::is_config): the string is malformed or names no database. The
    /// message never contains the string.
    #[cfg(feature = "mongodb")]
    pub async fn connect(uri: &str) -> Result<Self> {
        Ok(Self {
            store: Store::connect(uri).await?,
        })
    }

    /// Wraps a database handle of the official driver.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), mongodb::error::Error> {
    /// use odm::prelude::*;
    ///
    /// let client = mongodb::Client::with_uri_str("mongodb://127.0.0.1:27017").await?;
    /// let db = Db::from_driver(client.database("shop"));
    /// assert_eq!(db.name(), "shop");
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "mongodb")]
    pub fn from_driver(database: mongodb::Database) -> Self {
        Self {
            store: Store::driver(database),
        }
    }

    /// The database handle of the official driver, for what odm has no method for; `None` in memory.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # async fn pool(db: &Db) -> Result<(), mongodb::error::Error> {
    /// if let Some(database) = db.as_driver() {
    ///     let names = database.client().list_database_names().await?;
    ///     println!("{names:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "mongodb")]
    pub fn as_driver(&self) -> Option<&mongodb::Database> {
        self.store.as_driver()
    }

    /// The database's name.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let db = Db::memory().database("shop");
    /// assert_eq!(db.name(), "shop");
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> &str {
        self.store.database()
    }

    /// A handle for calls that must be done within this time, from now on: the calls of a request, for example. See
    /// [`Within`](crate::Within), which does it for one call.
    ///
    /// Everything that starts at the handle has the deadline: collections, their calls, and the cursors that they return.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use std::time::Duration;
    ///
    /// let db = db.within(Duration::from_millis(50));
    /// assert_eq!(db.collection::<Book>().find_all().count().await?, 3);
    /// tokio::time::sleep(Duration::from_millis(60)).await;
    /// let late = db.collection::<Book>().find_all().count().await.unwrap_err();
    /// assert!(late.is_deadline());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn within(&self, limit: std::time::Duration) -> Self {
        Self {
            store: self.store.within(crate::store::Deadline::after(limit)),
        }
    }

    /// Another database on the same server, or in the same engine.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let archive = db.database("archive").collection::<Book>();
    /// archive.insert_one(book(1, "Emma", 1815)).await?;
    /// assert_eq!(books.count_documents(|_| Filter::all()).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn database(&self, name: &str) -> Self {
        Self {
            store: self.store.sibling(name),
        }
    }

    /// The collection of a model.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let books = db.collection::<Book>();
    /// assert_eq!(books.name(), "books");
    /// # Ok(())
    /// # }
    /// ```
    pub fn collection<M: Document>(&self) -> Collection<M> {
        Collection::new(&self.store)
    }

    /// Returns a handle on which the collection of the model `M` has another name than the declared one: a collection for
    /// each month, for example, whose name is known at run time.
    ///
    /// Everything that starts at the handle uses the name: collections, joins of other models with `M`, trees, change
    /// streams and [`sync`](Self::sync), which creates the collection. Other models keep their names. Where data of tenants
    /// has to be apart, prefer a [database](Self::database) for each tenant, or give every collection a name of its own with
    /// [`with_collection_names`](Self::with_collection_names).
    ///
    /// A [`DbRef`](crate::dbref::DbRef) stores the declared name. MongoDB refuses a name that is empty, contains `$` or starts
    /// with a dot (code 73, `InvalidNamespace`).
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "events")]
    /// struct Event {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let db = Db::memory();
    /// let november = db.with_collection::<Event>("events_2026_11");
    /// november.sync(models![Event]).plan().await?.apply(Allow::CREATE).await?;
    /// november.collection::<Event>().insert_one(&Event { id: 1 }).await?;
    ///
    /// assert_eq!(november.collection::<Event>().name(), "events_2026_11");
    /// assert_eq!(november.collection::<Event>().find_all().count().await?, 1);
    /// assert_eq!(db.collection::<Event>().find_all().count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_collection<M: Document>(&self, name: &str) -> Self {
        let names = self.store.names().with(M::model().collection, name);
        Self {
            store: self.store.named(names),
        }
    }

    /// Returns a handle on which every collection has the name that `rename` makes of the one it has on this handle: a prefix
    /// for each tenant, for example. See [`with_collection`](Self::with_collection) for what uses the names.
    ///
    /// `rename` must give different collections different names. It is called once for each [`collection`](Self::collection)
    /// and once for each command of a join. The collection of the fences of trees keeps its name; its documents name the
    /// collections.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32 }
    /// # let db = Db::memory();
    /// let tenant = "acme";
    /// let db = db.with_collection_names(move |name| format!("{tenant}_{name}"));
    /// assert_eq!(db.collection::<Book>().name(), "acme_books");
    /// ```
    #[must_use]
    pub fn with_collection_names(
        &self,
        rename: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            store: self.store.named(self.store.names().mapped(rename)),
        }
    }

    /// Returns once the server has answered a `ping`, for health checks and to fail early where no server can be reached. The
    /// in-memory engine answers at once.
    ///
    /// # Errors
    ///
    /// No server answers within the `serverSelectionTimeoutMS` of the connection string (30 seconds by default), or the
    /// connection breaks ([`is_connection`](crate::Error::is_connection)); the credentials are wrong.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// Db::memory().ping().await?;
    ///
    /// // Nothing listens on port 1.
    /// let nowhere = Db::connect("mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50").await?;
    /// assert!(nowhere.ping().await.unwrap_err().is_connection());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ping(&self) -> Result<()> {
        self.run_command(bson::doc! {"ping": 1}).await.map(drop)
    }

    /// The capabilities of the connected deployment: transactions, change streams, sharding. It sends `hello`; the
    /// in-memory engine answers at once.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let db = Db::memory();
    /// assert!(db.capability().await?.transactions);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn capability(&self) -> Result<Capability> {
        self.store.capability().await
    }

    /// Returns a handle that calls `handler` with each command and its reply, for commands sent through
    /// this handle and through handles made from it. It is called after the handlers that the handle had before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use std::sync::{Arc, Mutex};
    ///
    /// let log = Arc::new(Mutex::new(Vec::new()));
    /// let kept = Arc::clone(&log);
    /// let db = db.on_command(move |event| kept.lock().unwrap().push(event.command.keys().next().cloned()));
    /// db.collection::<Book>().get(&1).await?;
    /// assert_eq!(*log.lock().unwrap(), [Some("find".to_owned())]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on_command(&self, handler: impl Fn(&CommandEvent<'_>) + Send + Sync + 'static) -> Self {
        Self {
            store: self
                .store
                .watched(self.store.monitor().clone().with(handler)),
        }
    }

    /// Returns a handle that opens a span of `tracing` around each command, and logs its outcome inside; for commands sent through
    /// this handle and through handles made from it. It needs the feature `tracing`.
    ///
    /// Spans have the level `DEBUG`, the target `odm::command` and the fields of OpenTelemetry's conventions for databases:
    /// `db.operation.name` (the command), `db.collection.name`, `db.namespace` (the database), `db.response.returned_rows` and, of
    /// a failed command, `db.response.status_code`. The event inside has the time in microseconds; it is a warning if the
    /// command failed. Values of documents and filters are left out, unless you ask for them.
    ///
    /// The command monitoring of the driver is configured on its `Client`: see [`from_driver`](Self::from_driver).
    ///
    /// ```
    /// use odm::collection::TracedValues;
    /// use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32 }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let db = Db::memory().with_tracing(TracedValues::Hidden);
    /// db.collection::<Book>().find_all().first().await?;
    /// // command{db.operation.name="find" db.collection.name="books" …}: succeeded duration_us=21 rows=0
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn with_tracing(&self, values: TracedValues) -> Self {
        Self {
            store: self
                .store
                .watched(self.store.monitor().clone().tracing(values)),
        }
    }

    /// Starts a session, for causally consistent reads and writes or for transactions that the caller
    /// controls; [`transaction!`](crate::transaction) runs a transaction and retries it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// books.delete_all().session(&mut session).await?;
    /// session.abort_transaction().await?;
    /// assert_eq!(books.count_documents(|_| Filter::all()).await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_session(&self) -> Result<Session> {
        self.start_session_with(SessionOptions::default()).await
    }

    /// Starts a session with these options: see [`start_session`](Self::start_session).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::{TransactionOptions, WriteConcern};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use odm::collection::SessionOptions;
    ///
    /// let safe = TransactionOptions::new().write_concern(WriteConcern::majority());
    /// let mut session = db.start_session_with(SessionOptions::new().transactions(safe)).await?;
    /// session.start_transaction().await?;
    /// books.delete_all().session(&mut session).await?;
    /// session.commit_transaction().await?;
    /// assert_eq!(books.count_documents(|_| Filter::all()).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_session_with(&self, options: SessionOptions) -> Result<Session> {
        self.store.start_session(options).await
    }

    /// Drops the whole database.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// db.drop().await?;
    /// assert_eq!(books.count_documents(|_| Filter::all()).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn drop(&self) -> Result<()> {
        self.store.drop_database().await
    }
}

/// Checks that handles and errors can be sent between tasks.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn sent<T: Send>() {}
    shared::<Db>();
    shared::<Error>();
    sent::<Session>();
    sent::<ChangeStream<'static, Change<bson::Document>>>();
};
