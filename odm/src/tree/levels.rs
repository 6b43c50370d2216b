//! How many nodes there are at each level.

use std::collections::{BTreeMap, HashSet};

use bson::{Bson, Document, doc};

use super::forest::{Forest, within};
use super::node::{id_key, integer};
use crate::error::{Error, Result};
use crate::store::Session;

impl Forest {
    /// The expression for the number of a node's ancestors, if its own fields have it.
    pub(super) fn level(&self) -> Option<Bson> {
        let tree = self.tree;
        if let Some(depth) = tree.depth {
            return Some(format!("${depth}").into());
        }
        if let Some(ancestors) = tree.ancestors {
            return Some(doc! {"$size": format!("${ancestors}")}.into());
        }
        let (path, _) = tree.path?;
        let path = doc! {"$ifNull": [format!("${path}"), ","]};
        let parts = doc! {"$size": {"$split": [path, ","]}};
        Some(doc! {"$subtract": [parts, 2]}.into())
    }

    /// Counts the nodes that match by their levels.
    pub(super) async fn counts_by_depth(
        &self,
        mut session: Option<&mut Session>,
        filter: Document,
    ) -> Result<BTreeMap<u32, u64>> {
        let mut counts = BTreeMap::new();
        if let Some(level) = self.level() {
            let group = doc! {"$group": {"_id": level, "nodes": {"$sum": 1}}};
            let pipeline = vec![doc! {"$match": filter}, group];
            for group in self.aggregate(session, pipeline).await? {
                let number = |name| {
                    let value = group.get(name).ok().flatten();
                    value
                        .and_then(integer)
                        .ok_or_else(|| Error::malformed_reply("a number"))
                };
                let level = u32::try_from(number("_id")?).unwrap_or(u32::MAX);
                counts.insert(level, number("nodes")?.unsigned_abs());
            }
            return Ok(counts);
        }
        let all = self
            .nodes(within!(session), Document::new(), None, None)
            .await?;
        let mut matching = HashSet::new();
        let is_filtered = !filter.is_empty();
        if is_filtered {
            for node in self.nodes(session, filter, None, None).await? {
                matching.insert(id_key(&node.id)?);
            }
        }
        for (position, level) in self.arrange(&all)?.pre_order() {
            let Some(node) = all.get(position) else {
                continue;
            };
            if !is_filtered || matching.contains(&id_key(&node.id)?) {
                *counts
                    .entry(u32::try_from(level).unwrap_or(u32::MAX))
                    .or_default() += 1;
            }
        }
        Ok(counts)
    }
}
