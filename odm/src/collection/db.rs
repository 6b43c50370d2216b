//! A database: where collections come from.

#[cfg(feature = "memory")]
use odm_engine::Context;

use super::{Change, ChangeStream, Collection};
use crate::error::Result;
use crate::model::Document;
use crate::store::{Capability, CommandEvent, Monitor, Session, SessionOptions, Store};

/// A database, in this process or on a server. Cheap to clone; nothing is global.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) store: Store,
}

impl Db {
    /// A database in this process: empty, alone, gone with the last clone. It answers as MongoDB
    /// 6.0 does.
    #[cfg(feature = "memory")]
    pub fn memory() -> Self {
        Self::memory_with(Context::system())
    }

    /// The same, with a clock, ids and randomness of the caller's: where a test moves the time (`$currentDate`, `$$NOW`, the
    /// expiry of TTL indexes), or wants the same ids and samples in every run.
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
    #[cfg(feature = "memory")]
    pub fn memory_with(context: Context) -> Self {
        Self {
            store: Store::memory("test", context),
        }
    }

    /// The database that a connection string names: `mongodb://localhost:27017/app`.
    ///
    /// Connections are opened when the first action needs one.
    ///
    /// # Errors
    ///
    /// [`is_config`](crate::Error::is_config): a string that is malformed or names no database. The
    /// message never shows it.
    #[cfg(feature = "mongodb")]
    pub async fn connect(uri: &str) -> Result<Self> {
        Ok(Self {
            store: Store::connect(uri).await?,
        })
    }

    /// The database of a client of the official driver that is there already.
    #[cfg(feature = "mongodb")]
    pub fn from_driver(database: mongodb::Database) -> Self {
        Self {
            store: Store::driver(database),
        }
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        self.store.database()
    }

    /// Another database on the same server, or in the same engine.
    #[must_use]
    pub fn database(&self, name: &str) -> Self {
        Self {
            store: self.store.sibling(name),
        }
    }

    /// The collection of a model.
    pub fn collection<M: Document>(&self) -> Collection<M> {
        Collection::new(&self.store)
    }

    /// What the store can do.
    pub fn capability(&self) -> Capability {
        self.store.capability()
    }

    /// The same database, with a handler that sees each command that is sent through this handle and
    /// through what is made from it, and what came back.
    #[must_use]
    pub fn on_command(&self, handler: impl Fn(&CommandEvent<'_>) + Send + Sync + 'static) -> Self {
        Self {
            store: self.store.watched(Monitor::new(handler)),
        }
    }

    /// Starts a session, for reads and writes in a causal order or for transactions by hand;
    /// [`transaction!`](crate::transaction) runs a transaction with its retries.
    pub async fn start_session(&self) -> Result<Session> {
        self.start_session_with(SessionOptions::default()).await
    }

    /// [`start_session`](Self::start_session), with options of its own.
    pub async fn start_session_with(&self, options: SessionOptions) -> Result<Session> {
        self.store.start_session(options).await
    }

    /// Drops the whole database.
    pub async fn drop(&self) -> Result<()> {
        self.store.drop_database().await
    }
}

/// Handles travel between tasks.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn sent<T: Send>() {}
    shared::<Db>();
    shared::<crate::error::Error>();
    sent::<Session>();
    sent::<ChangeStream<'static, Change<bson::Document>>>();
};
