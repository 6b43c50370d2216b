//! Changes of one tree take turns among the tasks of this process.

use bson::{Bson, doc};

use super::node::id_key;
use super::tree_store::TreeStore;
use crate::error::Result;
use crate::store::Turn;

/// The tree that a change is in: by its scope, or by a node in it.
#[derive(Debug)]
pub(super) enum TurnOf<'c> {
    Scope(Option<Bson>),
    Node(&'c Bson),
}

impl TreeStore<'_> {
    /// Waits until the changes that began before this one have ended. Changes of other processes are not waited for: they
    /// conflict, and run again after a pause.
    pub(super) async fn turn(&mut self, of: TurnOf<'_>) -> Result<Turn> {
        let mut key = doc! {"database": self.store().database(), "collection": self.collection()};
        // A change of one tree of a model may write to the others.
        if self.tree.scope.is_some() && self.model.trees.len() == 1 {
            let scope = match of {
                TurnOf::Scope(scope) => scope,
                TurnOf::Node(id) => self.node(id).await?.scope,
            };
            key.insert("scope", scope);
        }
        let key = id_key(&key.into())?;
        Ok(self.store().turns().wait(key).await)
    }
}
