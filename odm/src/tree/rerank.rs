//! New ranks for siblings, in the order that they have.

use bson::{Bson, Document, doc};

use super::forest::{Forest, TreeWrite, within};
use super::spot::Gap;
use super::unfinished::{Placed, Unfinished};
use super::writes::{self, Writes};
use crate::error::Result;
use crate::store::Session;

impl Forest {
    /// Gives a node and its siblings the shortest ranks.
    pub(super) async fn rerank(
        &self,
        mut session: Option<&mut Session>,
        id: &Bson,
    ) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        let fence = self.fence_of(within!(session), id).await?;
        let node = self.node(within!(session), id).await?;
        let Some(order) = self.tree.order else {
            return Ok(done);
        };
        let siblings = match self.parent_node(within!(session), &node).await? {
            Some(parent) => self.children(within!(session), &parent).await?,
            None => self.roots(within!(session), node.scope.as_ref()).await?,
        };
        let siblings = self
            .nodes(within!(session), siblings, self.sibling_sort(), None)
            .await?;
        let ranks = self.ranks(&Gap::default(), siblings.len())?;
        let mut writes = Writes::new(self, fence, Unfinished::new("rerank", &node.id));
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
        writes::run(vec![writes], session, &mut done).await?;
        Ok(done)
    }
}
