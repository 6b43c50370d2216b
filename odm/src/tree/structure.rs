//! Where a node is: its parent, its ancestors, its children and its descendants, by each pattern.

use bson::raw::RawBsonRef;
use bson::{Bson, Document, doc};

use super::forest::Forest;
use super::node::{Node, path_ids, same_scope};
use crate::collection::equality;
use crate::error::{Error, Result, TreeRefusal};
use crate::model::tree::SEPARATOR;
use crate::store::limits::LIST_BYTES;

impl Forest<'_> {
    /// The ids of the ancestors, the root first.
    pub(super) async fn lineage(&mut self, node: &Node) -> Result<Vec<Bson>> {
        let tree = self.tree;
        if tree.ancestors.is_some() {
            return Ok(node.ancestors.clone());
        }
        if tree.path.is_some() {
            let Some(path) = &node.path else {
                return Ok(Vec::new());
            };
            return path_ids(tree, path).ok_or_else(|| {
                self.refused(
                    TreeRefusal::Damaged,
                    format!(
                        "the node {} has a malformed path: {path:?}; `check` lists all of them",
                        node.id
                    ),
                )
            });
        }
        if let Some((left, right)) = tree.bounds {
            let around = doc! {left: {"$lt": node.left}, right: {"$gt": node.right}};
            let filter = self.in_scope(node.scope.as_ref(), around);
            let found = self.nodes(filter, Some(doc! {left: 1}), None).await?;
            return Ok(found.into_iter().map(|node| node.id).collect());
        }
        let Some(stages) = self.ids_above(&node.id) else {
            return Ok(Vec::new());
        };
        ids(&self.aggregate(stages).await?)
    }

    /// The id of the parent; `None` for a root.
    pub(super) async fn parent_of(&mut self, node: &Node) -> Result<Option<Bson>> {
        let tree = self.tree;
        if tree.parent.is_some() {
            return Ok(node.parent.clone());
        }
        if tree.ancestors.is_none() && tree.path.is_none() {
            let parent = self.enclosing(node).await?;
            return Ok(parent.map(|node| node.id));
        }
        Ok(self.lineage(node).await?.pop())
    }

    /// The parent of a node that does not name it: by the bounds, or by the children that the parent lists.
    async fn enclosing(&mut self, node: &Node) -> Result<Option<Node>> {
        let (filter, sort) = match (self.tree.bounds, self.tree.children) {
            (Some((left, right)), _) => {
                let around = doc! {left: {"$lt": node.left}, right: {"$gt": node.right}};
                let filter = self.in_scope(node.scope.as_ref(), around);
                (filter, Some(doc! {left: -1}))
            }
            (None, Some(children)) => (doc! {children: equality(node.id.clone())}, None),
            (None, None) => return Ok(None),
        };
        let found = self.nodes(filter, sort, Some(1)).await?;
        Ok(found.into_iter().next())
    }

    /// The parent of a node, with the fields that the place of a child depends on. It is read only if these do not follow
    /// from the fields of the node.
    pub(super) async fn parent_node(&mut self, node: &Node) -> Result<Option<Node>> {
        let tree = self.tree;
        let has_lineage = tree.ancestors.is_some() || tree.path.is_some();
        if tree.parent.is_none() && !has_lineage {
            return self.enclosing(node).await;
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
        if has_lineage {
            parent.ancestors = self.lineage(node).await?;
            parent.ancestors.pop();
            parent.path = self.path_of(&parent.ancestors)?;
        }
        Ok(Some(parent))
    }

    /// The filter of the descendants, at most `depth` levels below the node if that is given.
    pub(super) async fn descendants(
        &mut self,
        node: &Node,
        depth: Option<u32>,
    ) -> Result<Document> {
        let tree = self.tree;
        if depth == Some(0) {
            return Ok(nothing());
        }
        if depth == Some(1) {
            return self.children(node).await;
        }
        let by_fields = match (tree.bounds, tree.path, tree.ancestors) {
            (Some((left, _)), ..) => Some(doc! {left: {"$gt": node.left, "$lt": node.right}})
                .filter(|_| depth.is_none() || tree.depth.is_some()),
            _ => None,
        };
        if let Some(mut filter) = by_fields {
            if let (Some(field), Some(depth)) = (tree.depth, depth) {
                filter.insert(field, doc! {"$lte": node.depth + i64::from(depth)});
            }
            return Ok(self.in_scope(node.scope.as_ref(), filter));
        }
        if let Some((path, _)) = tree.path {
            let own = node.path_of_children()?;
            let mut filter = self.paths_below(path, &own);
            if let (Some(depth), Some(level)) = (depth, self.level()) {
                let levels = own.matches(SEPARATOR).count() - 1;
                let last = i64::try_from(levels).unwrap_or(i64::MAX) + i64::from(depth) - 1;
                filter.insert("$expr", doc! {"$lte": [level, last]});
            }
            return Ok(self.in_scope(node.scope.as_ref(), filter));
        }
        if let Some(ancestors) = tree.ancestors {
            let mut filter = doc! {ancestors: equality(node.id.clone())};
            if let Some(depth) = depth {
                let beyond = node.ancestors.len() + usize::try_from(depth).unwrap_or(usize::MAX);
                filter.insert(format!("{ancestors}.{beyond}"), doc! {"$exists": false});
            }
            return Ok(self.in_scope(node.scope.as_ref(), filter));
        }
        if tree.bounds.is_some() {
            return self.descendants_by_bounds(node, depth).await;
        }
        let ids = self.descendant_ids(node, depth).await?;
        self.with_ids(ids)
    }

    /// The ids of the descendants of a node, found level by level on the server.
    pub(super) async fn descendant_ids(
        &mut self,
        node: &Node,
        depth: Option<u32>,
    ) -> Result<Vec<Bson>> {
        let Some(stages) = self.ids_below(&node.id, depth) else {
            return Ok(Vec::new());
        };
        ids(&self.aggregate(stages).await?)
    }

    /// Finds the descendants within some levels by reading the bounds of all descendants.
    async fn descendants_by_bounds(&mut self, node: &Node, depth: Option<u32>) -> Result<Document> {
        let Some((left, _)) = self.tree.bounds else {
            return Ok(nothing());
        };
        let inside = doc! {left: {"$gt": node.left, "$lt": node.right}};
        let filter = self.in_scope(node.scope.as_ref(), inside);
        let below = self.nodes(filter, Some(doc! {left: 1}), None).await?;
        let mut open: Vec<i64> = Vec::new();
        let mut ids = Vec::new();
        for node in below {
            while open.last().is_some_and(|right| *right < node.left) {
                open.pop();
            }
            if depth.is_none_or(|depth| open.len() < depth as usize) {
                ids.push(node.id);
            }
            open.push(node.right);
        }
        self.with_ids(ids)
    }

    /// The filter of the children.
    pub(super) async fn children(&mut self, node: &Node) -> Result<Document> {
        let tree = self.tree;
        let filter = if let Some((parent, _)) = tree.parent {
            doc! {parent: equality(node.id.clone())}
        } else if tree.children.is_some() {
            return self.with_ids(node.children.clone());
        } else if let Some((path, _)) = tree.path {
            doc! {path: node.path_of_children()?}
        } else if let Some(ancestors) = tree.ancestors {
            let size = i64::try_from(node.ancestors.len() + 1).unwrap_or(i64::MAX);
            doc! {ancestors: {"$eq": node.id.clone(), "$size": size}}
        } else if let (Some((left, _)), Some(depth)) = (tree.bounds, tree.depth) {
            doc! {left: {"$gt": node.left, "$lt": node.right}, depth: node.depth + 1}
        } else {
            return self.descendants_by_bounds(node, Some(1)).await;
        };
        Ok(self.in_scope(node.scope.as_ref(), filter))
    }

    /// Whether a field says which nodes are roots, and which are the children of a node.
    pub(super) fn has_filter_of_roots(&self) -> bool {
        let tree = self.tree;
        tree.parent.is_some()
            || tree.path.is_some()
            || tree.ancestors.is_some()
            || tree.depth.is_some()
    }

    /// The filter of the roots, in one scope or in all of them.
    pub(super) async fn roots(&mut self, scope: Option<&Bson>) -> Result<Document> {
        let tree = self.tree;
        let filter = if let Some((parent, root)) = tree.parent {
            doc! {parent: root.value()}
        } else if let Some((path, _)) = tree.path {
            doc! {path: Bson::Null}
        } else if let Some(ancestors) = tree.ancestors {
            doc! {ancestors: []}
        } else if let Some(depth) = tree.depth {
            doc! {depth: 0}
        } else if tree.bounds.is_some() {
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
        } else if let Some(children) = tree.children {
            let lookup = doc! {"$lookup": {
                "from": self.collection(),
                "localField": "_id",
                "foreignField": children,
                "pipeline": [{"$limit": 1}, {"$project": {"_id": 1}}],
                "as": "parents",
            }};
            let pipeline = vec![
                doc! {"$match": self.in_scope(scope, Document::new())},
                doc! {"$project": {"_id": 1}},
                lookup,
                doc! {"$match": {"parents": []}},
            ];
            let ids = ids(&self.aggregate(pipeline).await?)?;
            return self.with_ids(ids);
        } else {
            Document::new()
        };
        Ok(self.in_scope(scope, filter))
    }

    /// Whether a node has children.
    pub(super) async fn has_children(&mut self, node: &Node) -> Result<bool> {
        if self.tree.children.is_some() {
            return Ok(!node.children.is_empty());
        }
        if self.tree.bounds.is_some() {
            return Ok(node.width() > 2);
        }
        let filter = if self.tree.parent.is_some() {
            self.children(node).await?
        } else {
            self.descendants(node, None).await?
        };
        let found = self.nodes(filter, None, Some(1)).await?;
        Ok(!found.is_empty())
    }

    /// How many levels there are below a node.
    pub(super) async fn height(&mut self, node: &Node, depth: usize) -> Result<usize> {
        let tree = self.tree;
        let number = |documents: Vec<bson::RawDocumentBuf>| {
            let first = documents.first()?;
            match first.get("level").ok().flatten()? {
                RawBsonRef::Int32(number) => usize::try_from(number).ok(),
                RawBsonRef::Int64(number) => usize::try_from(number).ok(),
                _ => None,
            }
        };
        if let Some(level) = self.level() {
            let level = doc! {"$max": level};
            let filter = self.descendants(node, None).await?;
            let pipeline = vec![
                doc! {"$match": filter},
                doc! {"$group": {"_id": Bson::Null, "level": level}},
            ];
            let deepest = number(self.aggregate(pipeline).await?);
            return Ok(deepest.unwrap_or(depth).saturating_sub(depth));
        }
        if let Some((left, _)) = tree.bounds {
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
            return Ok(height);
        }
        let (start, from, to) = match (tree.parent, tree.children) {
            (Some((parent, _)), _) => ("$_id".to_owned(), "_id", parent),
            (None, Some(children)) => (format!("${children}"), children, "_id"),
            (None, None) => return Ok(0),
        };
        let pipeline = vec![
            doc! {"$match": {"_id": equality(node.id.clone())}},
            doc! {"$graphLookup": {
                "from": self.collection(),
                "startWith": start,
                "connectFromField": from,
                "connectToField": to,
                "as": "found",
                "depthField": "steps",
            }},
            doc! {"$unwind": "$found"},
            doc! {"$group": {"_id": Bson::Null, "level": {"$max": {"$add": ["$found.steps", 1]}}}},
        ];
        Ok(number(self.aggregate(pipeline).await?).unwrap_or(0))
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
pub(super) fn nothing() -> Document {
    doc! {"_id": {"$in": []}}
}

/// The ids of documents.
pub(super) fn ids(documents: &[bson::RawDocumentBuf]) -> Result<Vec<Bson>> {
    documents
        .iter()
        .map(|document| {
            let id = document.get("_id").ok().flatten();
            let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
            Bson::try_from(id).map_err(Error::encode)
        })
        .collect()
}
