//! Changes of graphs: a node gets another parent, or loses one.

use bson::{Bson, Document, doc};

use crate::error::{Result, TreeRefusal};
use crate::tree::journal::{Fence, Unfinished, Writes};
use crate::tree::node::id_key;
use crate::tree::places::Links;
use crate::tree::tree_store::{TreeStore, TreeWrite};

impl TreeStore<'_> {
    /// Adds a child to a node.
    pub(in crate::tree) async fn add_child(
        &mut self,
        parent: &Bson,
        child: &Bson,
    ) -> Result<TreeWrite> {
        let fence = self.fence_of(parent).await?;
        let (_, node) = self.pair(parent, child).await?;
        let own = id_key(parent)?;
        let mut is_below = id_key(child)? == own;
        if let Some(children) = self.tree.children {
            let links = Links::Children(children);
            for id in self.descendant_ids(&node, links, None).await? {
                is_below |= id_key(&id)? == own;
            }
        }
        if is_below {
            return Err(self.refused(
                TreeRefusal::OwnSubtree,
                format!("the node {parent} is below {child}, so it can't be its parent"),
            ));
        }
        let statement = self.list_change(parent, "$push", child, 1);
        let unlisted = doc! {"$ne": child.clone()};
        self.change_list(fence, statement, unlisted).await
    }

    /// Removes a child from a node.
    pub(in crate::tree) async fn remove_child(
        &mut self,
        parent: &Bson,
        child: &Bson,
    ) -> Result<TreeWrite> {
        let fence = self.fence_of(parent).await?;
        self.node(parent).await?;
        let statement = self.list_change(parent, "$pull", child, -1);
        let listed = doc! {"$eq": child.clone()};
        self.change_list(fence, statement, listed).await
    }

    /// The filter of a node, and the update of its list of children and of their number.
    fn list_change(
        &self,
        parent: &Bson,
        operator: &str,
        child: &Bson,
        by: i32,
    ) -> (Document, Document) {
        let mut change = Document::new();
        if let Some(field) = self.tree.children {
            // `$pull` reads a document as a condition, and `$push` one with `$each` as several values.
            let operand = if operator == "$pull" {
                doc! {"$eq": child.clone()}
            } else {
                doc! {"$each": [child.clone()]}
            };
            change.insert(operator, doc! {field: operand});
        }
        if let Some(count) = self.tree.child_count {
            change.insert("$inc", doc! {count: by});
        }
        (Self::by_id(parent), change)
    }

    /// Sends an update of a list, if the list matches.
    async fn change_list(
        &mut self,
        fence: Fence,
        (mut filter, change): (Document, Document),
        list: Document,
    ) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        if let Some(field) = self.tree.children {
            filter.insert(field, list);
            let id = filter.get("_id").cloned().unwrap_or(Bson::Null);
            let mut writes = Writes::new(self.tree, fence, Unfinished::new("list", &id));
            writes.first.push(doc! {"q": filter, "u": change});
            self.run_writes(vec![writes], &mut done).await?;
        }
        Ok(done)
    }
}
