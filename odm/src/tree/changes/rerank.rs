//! New ranks for siblings, in the order that they have.

use bson::{Bson, Document, doc};

use crate::error::Result;
use crate::tree::journal::{Placed, Unfinished, Writes};
use crate::tree::places::RankGap;
use crate::tree::tree_store::{TreeStore, TreeWrite};

impl TreeStore<'_> {
    /// Gives a node and its siblings the shortest ranks.
    pub(in crate::tree) async fn rerank(&mut self, id: &Bson) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        let fence = self.fence_of(id).await?;
        let node = self.node(id).await?;
        let Some(order) = self.tree.order else {
            return Ok(done);
        };
        let siblings = match self.parent_node(&node).await? {
            Some(parent) => self.children(&parent).await?,
            None => self.roots(node.scope.as_ref()).await?,
        };
        let siblings = self.nodes(siblings, self.sibling_sort(), None).await?;
        let ranks = self.ranks(&RankGap::default(), siblings.len())?;
        let mut writes = Writes::new(self.tree, fence, Unfinished::new("rerank", &node.id));
        let mut nodes = Vec::new();
        for (sibling, rank) in siblings.into_iter().zip(ranks) {
            if sibling.rank.as_ref() == Some(&rank) {
                continue;
            }
            let set = doc! {"$set": {order: &rank}};
            let statement = doc! {"q": Self::by_id(&sibling.id), "u": set};
            writes.first.push(statement);
            nodes.push((sibling.id, Some(rank)));
        }
        writes.record.sets.push(Placed {
            fields: Document::new(),
            nodes,
        });
        self.run_writes(vec![writes], &mut done).await?;
        Ok(done)
    }
}
