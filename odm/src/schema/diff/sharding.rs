//! Computes the step that shards a collection.

use bson::{Document, doc};

use super::{Existing, Target};
use crate::plan::{Action, Step, shell};
use crate::schema::normal;

impl Target {
    /// Whether the model declares a shard key.
    pub(crate) fn is_sharded(&self) -> bool {
        self.shard_key.is_some()
    }

    /// The step from the shard key that a cluster has for the collection, if it has one, to the declared one.
    pub(crate) fn shard(
        &self,
        database: &str,
        existing: Option<&Existing>,
        is: Option<&Document>,
    ) -> Option<Step> {
        let declared = self.shard_key.as_ref()?;
        if existing.is_some_and(|existing| existing.kind != "collection") {
            return None;
        }
        if let Some(is) = is {
            return (!normal::same(is, declared)).then(|| {
                let reason = format!(
                    "the shard key is {}, declared {}: `reshardCollection` moves the documents",
                    shell::document(is),
                    shell::document(declared),
                );
                self.step(Action::ByHand, vec![reason], Vec::new())
            });
        }
        let namespace = format!("{database}.{}", self.collection);
        let mut shard = doc! {"shardCollection": namespace, "key": declared.clone()};
        if self.meta.collation.is_some() {
            // MongoDB refuses another collation, and asks for this one to be named.
            shard.insert("collation", doc! {"locale": "simple"});
        }
        let commands = vec![doc! {"enableSharding": database}, shard];
        let mut reasons = vec![format!("the shard key is {}", shell::document(declared))];
        let is_new = existing.is_none();
        if !is_new {
            reasons.push("its documents move between the shards".to_owned());
        }
        Some(self.step(Action::ShardCollection { is_new }, reasons, commands))
    }
}

#[cfg(test)]
mod tests;
