//! The nodes without children.

use bson::{Bson, Document, doc};

use super::levels::text_of_path;
use super::structure::ids;
use super::ways::LeavesBy;
use crate::error::Result;
use crate::tree::node::last_of_path;
use crate::tree::tree_store::TreeStore;

impl TreeStore<'_> {
    /// The filter of the nodes without children.
    ///
    /// Some patterns find the inner nodes first, as the parents that other nodes name. `around` matches the nodes that
    /// are looked through for them; it may be empty.
    pub(in crate::tree) async fn leaves(&mut self, around: Document) -> Result<Document> {
        let mut pipeline = Vec::new();
        if !around.is_empty() {
            pipeline.push(doc! {"$match": around});
        }
        // The parent that each node names.
        let parent: Bson = match self.ways.leaves {
            LeavesBy::ChildCount(count) | LeavesBy::DescendantCount(count) => {
                return Ok(doc! {count: 0});
            }
            LeavesBy::Children(children) => return Ok(doc! {children: []}),
            LeavesBy::Bounds(left, right) => {
                let next = doc! {"$add": [format!("${left}"), 1]};
                return Ok(doc! {"$expr": {"$eq": [format!("${right}"), next]}});
            }
            LeavesBy::Parent(parent, root) => {
                // Lets the index answer.
                pipeline.push(doc! {"$match": {parent: {"$ne": root.value()}}});
                format!("${parent}").into()
            }
            LeavesBy::Ancestors(ancestors) => {
                let field = format!("${ancestors}");
                let last = doc! {"$arrayElemAt": [&field, -1]};
                doc! {"$cond": [{"$isArray": &field}, last, Bson::Null]}.into()
            }
            LeavesBy::Path(path) => {
                pipeline.push(doc! {"$match": {path: {"$ne": Bson::Null}}});
                // The text of an id: the server has none for a UUID, so the id becomes no text there.
                doc! {"$arrayElemAt": [{"$split": [text_of_path(path), ","]}, -2]}.into()
            }
        };
        pipeline.push(doc! {"$group": {"_id": parent}});
        let mut inner = ids(&self.aggregate(pipeline).await?)?;
        if let LeavesBy::Path(_) = self.ways.leaves {
            let read = |text: &Bson| last_of_path(self.tree, text.as_str()?);
            inner = inner.iter().filter_map(read).collect();
        }
        inner.retain(|id| *id != Bson::Null);
        self.fitting(doc! {"_id": {"$nin": inner}})
    }
}
