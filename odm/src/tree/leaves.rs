//! The nodes without children.

use bson::{Bson, Document, doc};

use super::forest::Forest;
use super::node::last_of_path;
use super::structure::ids;
use crate::error::Result;

impl Forest<'_> {
    /// Whether a field says which nodes are leaves.
    pub(super) fn knows_leaves(&self) -> bool {
        let tree = self.tree;
        let counts = tree.child_count.or(tree.descendant_count);
        counts.is_some() || tree.children.is_some() || tree.bounds.is_some()
    }

    /// The filter of the nodes without children.
    ///
    /// Some patterns find the inner nodes first, as the parents that other nodes name. `around` matches the nodes that
    /// are looked through for them; it may be empty.
    pub(super) async fn leaves(&mut self, around: Document) -> Result<Document> {
        let tree = self.tree;
        if let Some(count) = tree.child_count.or(tree.descendant_count) {
            return Ok(doc! {count: 0});
        }
        if let Some(children) = tree.children {
            return Ok(doc! {children: []});
        }
        if let Some((left, right)) = tree.bounds {
            let adjacent = doc! {"$eq": [format!("${right}"), {"$add": [format!("${left}"), 1]}]};
            return Ok(doc! {"$expr": adjacent});
        }
        let mut pipeline = Vec::new();
        if !around.is_empty() {
            pipeline.push(doc! {"$match": around});
        }
        let parent: Bson = if let Some((parent, root)) = tree.parent {
            // Lets the index answer.
            pipeline.push(doc! {"$match": {parent: {"$ne": root.value()}}});
            format!("${parent}").into()
        } else if let Some(ancestors) = tree.ancestors {
            let field = format!("${ancestors}");
            let last = doc! {"$arrayElemAt": [&field, -1]};
            doc! {"$cond": [{"$isArray": &field}, last, Bson::Null]}.into()
        } else if let (Some((field, _)), Some(path)) = (tree.path, self.text_of_path()) {
            pipeline.push(doc! {"$match": {field: {"$ne": Bson::Null}}});
            // The text of an id: the server has none for a UUID, so the id becomes no text there.
            doc! {"$arrayElemAt": [{"$split": [path, ","]}, -2]}.into()
        } else {
            return Ok(Document::new());
        };
        pipeline.push(doc! {"$group": {"_id": parent}});
        let mut inner = ids(&self.aggregate(pipeline).await?)?;
        if tree.parent.is_none() && tree.ancestors.is_none() {
            let read = |text: &Bson| last_of_path(tree, text.as_str()?);
            inner = inner.iter().filter_map(read).collect();
        }
        inner.retain(|id| *id != Bson::Null);
        self.fitting(doc! {"_id": {"$nin": inner}})
    }
}
