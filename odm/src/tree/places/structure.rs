//! Where a node is: its parent, its ancestors, its children and its descendants, by each pattern.

use bson::raw::RawBsonRef;
use bson::{Bson, Document, doc};

use super::ways::{
    AncestorsBy, ChildrenBy, DepthBy, DescendantsBy, HasChildrenBy, LevelsBelowBy, Links, ParentBy,
    RootsBy,
};
use crate::collection::equality;
use crate::error::{Error, Result, TreeRefusal};
use crate::model::tree::SEPARATOR;
use crate::pipeline::{Lookup, Stage};
use crate::store::limits::LIST_BYTES;
use crate::tree::node::{Node, path_ids, same_scope};
use crate::tree::tree_store::TreeStore;

impl TreeStore<'_> {
    /// The ids of the ancestors, the root first.
    pub(in crate::tree) async fn lineage(&mut self, node: &Node) -> Result<Vec<Bson>> {
        match self.ways.ancestors {
            AncestorsBy::Ancestors => Ok(node.ancestors.clone()),
            AncestorsBy::Path => {
                let Some(path) = &node.path else {
                    return Ok(Vec::new());
                };
                path_ids(self.tree, path).ok_or_else(|| {
                    self.refused(
                        TreeRefusal::Damaged,
                        format!(
                            "the node {} has a malformed path: {path:?}; `check` lists all of them",
                            node.id
                        ),
                    )
                })
            }
            AncestorsBy::Bounds(left, right) => {
                let around = doc! {left: {"$lt": node.left}, right: {"$gt": node.right}};
                let filter = self.in_scope(node.scope.as_ref(), around);
                let found = self.nodes(filter, Some(doc! {left: 1}), None).await?;
                Ok(found.into_iter().map(|node| node.id).collect())
            }
            AncestorsBy::Links(links) => {
                let stages = self.ids_above(&node.id, links);
                ids(&self.aggregate(stages).await?)
            }
        }
    }

    /// The id of the parent; `None` for a root.
    pub(in crate::tree) async fn parent_of(&mut self, node: &Node) -> Result<Option<Bson>> {
        match self.ways.parent {
            ParentBy::Parent(_) => Ok(node.parent.clone()),
            ParentBy::Ancestors(_) | ParentBy::Path(_) => Ok(self.lineage(node).await?.pop()),
            ParentBy::Bounds(left, right) => {
                let parent = self.enclosing(node, left, right).await?;
                Ok(parent.map(|node| node.id))
            }
            ParentBy::Children(children) => {
                let parent = self.listing(node, children).await?;
                Ok(parent.map(|node| node.id))
            }
        }
    }

    /// The parent of a node by its bounds: the nearest ones around those of the node.
    async fn enclosing(&mut self, node: &Node, left: &str, right: &str) -> Result<Option<Node>> {
        let around = doc! {left: {"$lt": node.left}, right: {"$gt": node.right}};
        let filter = self.in_scope(node.scope.as_ref(), around);
        let found = self.nodes(filter, Some(doc! {left: -1}), Some(1)).await?;
        Ok(found.into_iter().next())
    }

    /// The parent of a node by the children that it lists.
    async fn listing(&mut self, node: &Node, children: &str) -> Result<Option<Node>> {
        let filter = doc! {children: equality(node.id.clone())};
        let found = self.nodes(filter, None, Some(1)).await?;
        Ok(found.into_iter().next())
    }

    /// The parent of a node, with the fields that the place of a child depends on. It is read only if these do not follow
    /// from the fields of the node.
    pub(in crate::tree) async fn parent_node(&mut self, node: &Node) -> Result<Option<Node>> {
        let tree = self.tree;
        match self.ways.parent {
            ParentBy::Parent(_) | ParentBy::Ancestors(_) | ParentBy::Path(_) => {}
            ParentBy::Bounds(left, right) => return self.enclosing(node, left, right).await,
            ParentBy::Children(children) => return self.listing(node, children).await,
        }
        let Some(id) = self.parent_of(node).await? else {
            return Ok(None);
        };
        if tree.scope.is_some() || tree.children.is_some() || tree.bounds.is_some() {
            return self.node(&id).await.map(Some);
        }
        let mut parent = Node {
            id,
            depth: node.depth - 1,
            ..Node::default()
        };
        if self.ways.ancestors.is_stored() {
            parent.ancestors = self.lineage(node).await?;
            parent.ancestors.pop();
            parent.path = self.path_of(&parent.ancestors)?;
        }
        Ok(Some(parent))
    }

    /// The filter of the descendants.
    pub(in crate::tree) async fn descendants(&mut self, node: &Node) -> Result<Document> {
        let filter = match self.ways.descendants {
            DescendantsBy::Bounds(left) => doc! {left: {"$gt": node.left, "$lt": node.right}},
            DescendantsBy::Path(path) => self.paths_below(path, &node.path_of_children()?),
            DescendantsBy::Ancestors(ancestors) => doc! {ancestors: equality(node.id.clone())},
            DescendantsBy::Links(links) => {
                let ids = self.descendant_ids(node, links, None).await?;
                return self.with_ids(ids);
            }
        };
        Ok(self.in_scope(node.scope.as_ref(), filter))
    }

    /// The filter of the descendants that are at most `depth` levels below the node.
    pub(super) async fn descendants_within(&mut self, node: &Node, depth: u32) -> Result<Document> {
        match depth {
            0 => return Ok(nothing()),
            1 => return self.children(node).await,
            _ => {}
        }
        let levels = i64::from(depth);
        let filter = match self.ways.levels_below {
            LevelsBelowBy::BoundsAndDepth { left, depth } => doc! {
                left: {"$gt": node.left, "$lt": node.right},
                depth: {"$lte": node.depth + levels},
            },
            LevelsBelowBy::Path(path) => {
                let own = node.path_of_children()?;
                let mut filter = self.paths_below(path, &own);
                if let Some(level) = self.level() {
                    let above = own.matches(SEPARATOR).count() - 1;
                    let last = i64::try_from(above).unwrap_or(i64::MAX) + levels - 1;
                    filter.insert("$expr", doc! {"$lte": [level, last]});
                }
                filter
            }
            LevelsBelowBy::Ancestors(ancestors) => {
                let beyond = node.ancestors.len() + usize::try_from(depth).unwrap_or(usize::MAX);
                doc! {
                    ancestors: equality(node.id.clone()),
                    format!("{ancestors}.{beyond}"): {"$exists": false},
                }
            }
            LevelsBelowBy::Bounds(left) => {
                return self.descendants_by_bounds(node, left, depth).await;
            }
            LevelsBelowBy::Links(links) => {
                let ids = self.descendant_ids(node, links, Some(depth)).await?;
                return self.with_ids(ids);
            }
        };
        Ok(self.in_scope(node.scope.as_ref(), filter))
    }

    /// The ids of the descendants of a node, found level by level on the server.
    pub(in crate::tree) async fn descendant_ids(
        &mut self,
        node: &Node,
        links: Links,
        depth: Option<u32>,
    ) -> Result<Vec<Bson>> {
        let stages = self.ids_below(&node.id, links, depth);
        ids(&self.aggregate(stages).await?)
    }

    /// Finds the descendants within some levels by reading the bounds of all descendants.
    async fn descendants_by_bounds(
        &mut self,
        node: &Node,
        left: &str,
        depth: u32,
    ) -> Result<Document> {
        let inside = doc! {left: {"$gt": node.left, "$lt": node.right}};
        let filter = self.in_scope(node.scope.as_ref(), inside);
        let below = self.nodes(filter, Some(doc! {left: 1}), None).await?;
        let mut open: Vec<i64> = Vec::new();
        let mut ids = Vec::new();
        for node in below {
            while open.last().is_some_and(|right| *right < node.left) {
                open.pop();
            }
            if open.len() < depth as usize {
                ids.push(node.id);
            }
            open.push(node.right);
        }
        self.with_ids(ids)
    }

    /// The filter of the children.
    pub(in crate::tree) async fn children(&mut self, node: &Node) -> Result<Document> {
        let filter = match self.ways.children {
            ChildrenBy::Parent(parent) => doc! {parent: equality(node.id.clone())},
            ChildrenBy::Children => return self.with_ids(node.children.clone()),
            ChildrenBy::Path(path) => doc! {path: node.path_of_children()?},
            ChildrenBy::Ancestors(ancestors) => {
                let size = i64::try_from(node.ancestors.len() + 1).unwrap_or(i64::MAX);
                doc! {ancestors: {"$eq": node.id.clone(), "$size": size}}
            }
            ChildrenBy::BoundsAndDepth { left, depth } => doc! {
                left: {"$gt": node.left, "$lt": node.right},
                depth: node.depth + 1,
            },
            ChildrenBy::Bounds(left) => return self.descendants_by_bounds(node, left, 1).await,
        };
        Ok(self.in_scope(node.scope.as_ref(), filter))
    }

    /// The filter of the roots, in one scope or in all of them.
    pub(in crate::tree) async fn roots(&mut self, scope: Option<&Bson>) -> Result<Document> {
        let filter = match self.ways.roots {
            RootsBy::Parent(parent, root) => doc! {parent: root.value()},
            RootsBy::Path(path) => doc! {path: Bson::Null},
            RootsBy::Ancestors(ancestors) => doc! {ancestors: []},
            RootsBy::Depth(depth) => doc! {depth: 0},
            RootsBy::Bounds => {
                let all = self.in_scope(scope, Document::new());
                let mut last: Option<(Option<Bson>, i64)> = None;
                let mut ids = Vec::new();
                for node in self.nodes(all, self.pre_order_sort(), None).await? {
                    let is_inside = last.as_ref().is_some_and(|(scope, right)| {
                        node.left < *right && same_scope(scope.as_ref(), node.scope.as_ref())
                    });
                    if !is_inside {
                        last = Some((node.scope, node.right));
                        ids.push(node.id);
                    }
                }
                return self.with_ids(ids);
            }
            RootsBy::Children(children) => {
                let first = [doc! {"$limit": 1}, doc! {"$project": {"_id": 1}}];
                let parents = Lookup {
                    model: self.model,
                    local: "_id".to_owned(),
                    foreign: children.to_owned(),
                    outer: false,
                    optional: false,
                    stages: first.map(Stage::Plain).into(),
                    to: "parents".to_owned(),
                };
                let pipeline = vec![
                    doc! {"$match": self.in_scope(scope, Document::new())},
                    doc! {"$project": {"_id": 1}},
                    parents.stage(self.channel.store().names()),
                    doc! {"$match": {"parents": []}},
                ];
                let ids = ids(&self.aggregate(pipeline).await?)?;
                return self.with_ids(ids);
            }
        };
        Ok(self.in_scope(scope, filter))
    }

    /// Whether a node has children.
    pub(in crate::tree) async fn has_children(&mut self, node: &Node) -> Result<bool> {
        let filter = match self.ways.has_children {
            HasChildrenBy::Children => return Ok(!node.children.is_empty()),
            HasChildrenBy::Bounds => return Ok(node.width() > 2),
            HasChildrenBy::Parent => self.children(node).await?,
            HasChildrenBy::Lineage => self.descendants(node).await?,
        };
        let found = self.nodes(filter, None, Some(1)).await?;
        Ok(!found.is_empty())
    }

    /// How many levels there are below a node.
    pub(in crate::tree) async fn height(&mut self, node: &Node, depth: usize) -> Result<usize> {
        let number = |documents: Vec<bson::RawDocumentBuf>| {
            let first = documents.first()?;
            match first.get("level").ok().flatten()? {
                RawBsonRef::Int32(number) => usize::try_from(number).ok(),
                RawBsonRef::Int64(number) => usize::try_from(number).ok(),
                _ => None,
            }
        };
        match self.ways.depth {
            DepthBy::Depth(_) | DepthBy::Ancestors(_) | DepthBy::Path(_) => {
                let filter = self.descendants(node).await?;
                let pipeline = vec![
                    doc! {"$match": filter},
                    doc! {"$group": {"_id": Bson::Null, "level": {"$max": self.level()}}},
                ];
                let deepest = number(self.aggregate(pipeline).await?);
                Ok(deepest.unwrap_or(depth).saturating_sub(depth))
            }
            DepthBy::Bounds(left) => {
                let inside = doc! {left: {"$gt": node.left, "$lt": node.right}};
                let filter = self.in_scope(node.scope.as_ref(), inside);
                let below = self.nodes(filter, Some(doc! {left: 1}), None).await?;
                let mut open: Vec<i64> = Vec::new();
                let mut height = 0;
                for node in below {
                    while open.last().is_some_and(|right| *right < node.left) {
                        open.pop();
                    }
                    open.push(node.right);
                    height = height.max(open.len());
                }
                Ok(height)
            }
            DepthBy::Links(links) => {
                let stages = self.levels_below(&node.id, links);
                Ok(number(self.aggregate(stages).await?).unwrap_or(0))
            }
        }
    }

    /// The filter of nodes by their ids.
    ///
    /// # Errors
    ///
    /// The ids do not fit a command.
    pub(super) fn with_ids(&self, ids: Vec<Bson>) -> Result<Document> {
        self.fitting(doc! {"_id": {"$in": ids}})
    }

    /// A filter that lists ids, if it fits a command.
    pub(super) fn fitting(&self, filter: Document) -> Result<Document> {
        let size = bson::serialize_to_vec(&filter)
            .map_err(Error::encode)?
            .len();
        if size > LIST_BYTES {
            return Err(self.refused(TreeRefusal::TooLarge, "the pattern finds these nodes by their ids, which do not fit one command: choose an array of ancestors, a materialized path or nested sets for a tree of this size",
            ));
        }
        Ok(filter)
    }
}

/// A filter that no document matches.
pub(in crate::tree) fn nothing() -> Document {
    doc! {"_id": {"$in": []}}
}

/// The ids of documents.
pub(in crate::tree) fn ids(documents: &[bson::RawDocumentBuf]) -> Result<Vec<Bson>> {
    documents
        .iter()
        .map(|document| {
            let id = document.get("_id").ok().flatten();
            let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
            Bson::try_from(id).map_err(Error::encode)
        })
        .collect()
}
