//! Sharded collections: operations that do not reach one shard.
//!
//! `#[odm(shard_key(host = hashed, time))]` declares by which fields a cluster distributes the documents of a collection.
//! [`Db::sync`] shards the collection, and [`Db::check`] finds documents that have no place in it. [`Db::on_scattered`] reports
//! operations whose filter lacks the shard key, on any store, so that a test in memory finds what a cluster would refuse or send
//! to all its shards.

pub(crate) mod check;
mod reach;
mod statements;

use std::collections::HashMap;
use std::fmt;

use bson::Document;

use self::reach::{Key, Reach};
use self::statements::{Kind, Statement, statements};
use crate::collection::{CommandEvent, Db};
use crate::error::Result;
use crate::model::ModelMeta;
use crate::plan::shell;
use crate::schema::shard_key;

/// A command that does not reach one shard: [`Db::on_scattered`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scattered<'a> {
    /// The Rust name of the model of the sharded collection.
    pub model: &'static str,
    /// The sharded collection. Of a `$lookup`, the one that it joins.
    pub collection: String,
    /// The command.
    pub command: &'a Document,
    /// The position in a list of updates or deletes.
    pub statement: usize,
    /// The reaction of a cluster.
    pub effect: Effect,
    /// The shard key.
    pub shard_key: Document,
    /// The fields of the shard key for which the filter has no single value; of [`Effect::AllShards`], the first field alone, with which
    /// fewer shards would answer.
    pub missing: Vec<String>,
}

/// The reaction of a cluster to an operation whose filter lacks the shard key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// Every shard answers it, and the slowest one decides how long it takes.
    AllShards,
    /// MongoDB 6.0 refuses it, with the code 61 (`ShardKeyNotFound`): it writes one document and can't be sent to one shard. A part of
    /// the shard key is enough for an update or a delete if one shard happens to have all documents with these values.
    Refused,
}

impl fmt::Display for Scattered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = self.command.keys().next().map_or("", String::as_str);
        let missing: Vec<_> = self
            .missing
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let (collection, missing) = (&self.collection, missing.join(" and "));
        write!(f, "{}: `{verb}` on `{collection}` ", self.model)?;
        match self.effect {
            Effect::AllShards => {
                write!(f, "asks all shards: its filter has no value of {missing}")?;
            }
            Effect::Refused => write!(
                f,
                "writes one document, and a cluster of MongoDB 6.0 refuses it: its filter has no single value of {missing}"
            )?,
        }
        write!(
            f,
            " (the shard key is {})",
            shell::document(&self.shard_key)
        )
    }
}

/// The shard keys of models, by their collections.
struct Watched(HashMap<String, (&'static ModelMeta, Key)>);

impl Db {
    /// Returns a handle that calls `handler` with each operation on one of these models' collections whose filter lacks the shard
    /// key: of the handle, of handles made from it, and of what they do for themselves, such as joins and copies that are kept in
    /// step. Models without a shard key are ignored.
    ///
    /// It works on any store. A cluster answers such a read by asking all shards ([`Effect::AllShards`]), and refuses such a
    /// write of one document ([`Effect::Refused`]); a single server and the engine in memory do neither. A test that lets the handler
    /// panic finds both.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::sharding::Effect;
    /// use std::sync::{Arc, Mutex};
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "readings", shard_key(host = hashed))]
    /// struct Reading { #[serde(rename = "_id")] id: i32, host: String, load: f64 }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let found = Arc::new(Mutex::new(Vec::new()));
    /// let kept = Arc::clone(&found);
    /// let db = Db::memory().on_scattered(models![Reading], move |scattered| {
    ///     kept.lock().unwrap().push((scattered.effect, scattered.to_string()));
    /// })?;
    /// let readings = db.collection::<Reading>();
    /// readings.find(|r| r.host.eq("a") & r.load.gt(0.5)).all().await?;
    /// assert!(found.lock().unwrap().is_empty());
    /// readings.find(|r| r.load.gt(0.5)).all().await?;
    /// readings.delete_one(|r| r.load.gt(0.5)).await?;
    /// let found = found.lock().unwrap();
    /// assert_eq!(found[0].0, Effect::AllShards);
    /// assert_eq!(found[1].0, Effect::Refused);
    /// assert_eq!(
    ///     found[0].1,
    ///     "Reading: `find` on `readings` asks all shards: its filter has no value of `host` (the shard key is {host: \"hashed\"})"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_declaration`](crate::Error::is_declaration): a shard key that MongoDB would refuse.
    pub fn on_scattered(
        &self,
        models: impl IntoIterator<Item = &'static ModelMeta>,
        handler: impl Fn(&Scattered<'_>) + Send + Sync + 'static,
    ) -> Result<Self> {
        let mut watched = HashMap::new();
        for model in models {
            if let Some(shard_key) =
                shard_key(model).map_err(|error| error.with_model(model.name))?
            {
                let name = self.store.names().of(model.collection).to_string();
                watched.insert(name, (model, Key(shard_key)));
            }
        }
        let (watched, database) = (Watched(watched), self.store.database().to_owned());
        Ok(self.on_command(move |event: &CommandEvent<'_>| {
            if event.database == database {
                watched.report(event.command, &handler);
            }
        }))
    }
}

impl Watched {
    fn report<'a>(&self, command: &'a Document, handler: &impl Fn(&Scattered<'a>)) {
        if self.0.is_empty() {
            return;
        }
        for statement in statements(command) {
            let Some((model, key)) = self.0.get(statement.collection.as_str()) else {
                continue;
            };
            let found = key.found(&statement.filter);
            if let Some(effect) = effect(&statement, found.reach) {
                handler(&Scattered {
                    model: model.name,
                    collection: statement.collection,
                    command,
                    statement: statement.position,
                    effect,
                    shard_key: key.0.clone(),
                    missing: match effect {
                        Effect::AllShards => found.missing.into_iter().take(1).collect(),
                        Effect::Refused => found.missing,
                    },
                });
            }
        }
    }
}

/// The reaction of a cluster to a statement that it can't send to the shards that have its documents.
fn effect(statement: &Statement, reach: Reach) -> Option<Effect> {
    let is_refused = match statement.kind {
        Kind::Many => false,
        // The `_id` names one document, for which all shards look.
        Kind::One { has_id } => reach != Reach::One && !has_id,
        Kind::Targeted => reach != Reach::One,
    };
    if is_refused {
        Some(Effect::Refused)
    } else {
        (reach == Reach::All).then_some(Effect::AllShards)
    }
}

#[cfg(test)]
mod tests;
