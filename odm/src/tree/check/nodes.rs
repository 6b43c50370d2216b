//! Checks of nodes beside their parents and their children, a chunk at a time.

use std::collections::{HashMap, HashSet};

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::{CHUNK, Checker, DamageKind, Source};
use crate::error::{Error, Result};
use crate::tree::node::{Node, child_path, id_key, path_ids};

/// Nodes by their ids.
type ById<T> = HashMap<Vec<u8>, T>;

/// The number of children of a node, and of their descendants with them.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    children: i64,
    descendants: i64,
}

impl Checker<'_> {
    /// Compares some nodes with their parents and their children.
    pub(super) async fn chunk(&mut self, nodes: &[Node]) -> Result<()> {
        self.report.nodes += nodes.len() as u64;
        if nodes.is_empty() {
            return Ok(());
        }
        let listing = self.listing(nodes).await?;
        let mut claimed = Vec::with_capacity(nodes.len());
        for node in nodes {
            claimed.push(self.claimed(node, &listing)?);
        }
        let parents = self.by_id(claimed.iter().flatten()).await?;
        for (node, claimed) in nodes.iter().zip(&claimed) {
            self.node(node, claimed.as_ref(), &parents, &listing)?;
        }
        if self.forest.tree.children.is_some() {
            self.children(nodes).await?;
        }
        self.counts(nodes).await
    }

    /// The parents that list each node as a child.
    async fn listing(&self, nodes: &[Node]) -> Result<ById<Vec<Bson>>> {
        let mut listing: ById<Vec<Bson>> = HashMap::new();
        let Some(children) = self.forest.tree.children else {
            return Ok(listing);
        };
        for node in nodes {
            listing.insert(id_key(&node.id)?, Vec::new());
        }
        let ids: Vec<Bson> = nodes.iter().map(|node| node.id.clone()).collect();
        let filter = doc! {children: {"$in": ids}};
        let mut cursor = self.forest.open(filter, None).await?;
        while let Some(document) = cursor.next().await {
            let document = document.map_err(|error| error.with_model(self.forest.model.name))?;
            let parent = Node::read(self.forest.tree, document)?;
            for child in &parent.children {
                if let Some(parents) = listing.get_mut(&id_key(child)?) {
                    parents.push(parent.id.clone());
                }
            }
        }
        Ok(listing)
    }

    /// The parent of a node by the source of the tree.
    fn claimed(&mut self, node: &Node, listing: &ById<Vec<Bson>>) -> Result<Option<Bson>> {
        Ok(match self.source {
            Source::Parent => node.parent.clone(),
            Source::Ancestors => node.ancestors.last().cloned(),
            Source::Path => match &node.path {
                None => None,
                Some(path) => {
                    let ids = path_ids(self.forest.tree, path);
                    if ids.is_none() {
                        let detail = format!("the path is {path:?}");
                        self.report.add(&node.id, DamageKind::MalformedPath, detail);
                    }
                    ids.and_then(|mut ids| ids.pop())
                }
            },
            Source::Bounds => None,
            Source::Children => {
                let parents = listing.get(&id_key(&node.id)?);
                let parents = parents.map_or(&[][..], Vec::as_slice);
                if let ([_, second, ..], false) = (parents, self.forest.tree.is_graph) {
                    let detail = format!("{second} lists it, too");
                    self.report
                        .add(&node.id, DamageKind::SeveralParents, detail);
                }
                for parent in parents {
                    self.edges.add(parent, &node.id)?;
                }
                parents.first().cloned()
            }
        })
    }

    async fn by_id(&self, ids: impl Iterator<Item = &Bson>) -> Result<ById<Node>> {
        let mut distinct: ById<Bson> = HashMap::new();
        for id in ids {
            distinct.insert(id_key(id)?, id.clone());
        }
        let ids: Vec<Bson> = distinct.into_values().collect();
        let mut found = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(CHUNK) {
            let filter = doc! {"_id": {"$in": ids}};
            let mut cursor = self.forest.open(filter, None).await?;
            while let Some(document) = cursor.next().await {
                let document =
                    document.map_err(|error| error.with_model(self.forest.model.name))?;
                let mut node = Node::read(self.forest.tree, document)?;
                // Lists of children can be long, and nothing compares those of these nodes.
                node.children = Vec::new();
                found.insert(id_key(&node.id)?, node);
            }
        }
        Ok(found)
    }

    /// Compares a node with its parent.
    fn node(
        &mut self,
        node: &Node,
        claimed: Option<&Bson>,
        parents: &ById<Node>,
        listing: &ById<Vec<Bson>>,
    ) -> Result<()> {
        let tree = self.forest.tree;
        if self.source == Source::Bounds {
            return Ok(());
        }
        let is_malformed = self.source == Source::Path && node.path.is_some() && claimed.is_none();
        if is_malformed {
            return Ok(());
        }
        let mut parent = None;
        if let Some(id) = claimed {
            parent = parents.get(&id_key(id)?);
            if parent.is_none() {
                let kind = match self.source {
                    Source::Ancestors | Source::Path => DamageKind::MissingAncestor,
                    _ => DamageKind::Orphan,
                };
                self.report
                    .add(&node.id, kind, format!("there is no node {id}"));
                return Ok(());
            }
            if self.source == Source::Parent && self.needs_edges() {
                self.edges.add(id, &node.id)?;
            }
        }
        if let Some(parent) = parent.filter(|parent| parent.scope != node.scope) {
            let detail = format!("its parent {} is in another tree", parent.id);
            self.report.add(&node.id, DamageKind::MixedScopes, detail);
        }
        if tree.ancestors.is_some() {
            self.ancestors(node, parent)?;
        }
        if tree.path.is_some() {
            self.path(node, parent)?;
        }
        if tree.depth.is_some() {
            let expected = if tree.ancestors.is_some() {
                i64::try_from(node.ancestors.len()).unwrap_or(i64::MAX)
            } else {
                parent.map_or(0, |parent| parent.depth + 1)
            };
            if node.depth != expected {
                let detail = format!("the depth is {}, expected {expected}", node.depth);
                self.report.add(&node.id, DamageKind::WrongDepth, detail);
            }
        }
        if tree.children.is_some() && self.source != Source::Children {
            let listed = listing.get(&id_key(&node.id)?);
            let listed = listed.map_or(&[][..], Vec::as_slice);
            let agrees = match (claimed, listed) {
                (None, []) => true,
                (Some(claimed), [listed]) => id_key(claimed)? == id_key(listed)?,
                _ => false,
            };
            if !agrees {
                let detail = format!("the nodes that list it as a child: {listed:?}");
                self.report.add(&node.id, DamageKind::Disagreement, detail);
            }
        }
        Ok(())
    }

    fn ancestors(&mut self, node: &Node, parent: Option<&Node>) -> Result<()> {
        let mut expected = Vec::new();
        if let Some(parent) = parent {
            expected.clone_from(&parent.ancestors);
            expected.push(parent.id.clone());
        }
        if same(&node.ancestors, &expected)? {
            return Ok(());
        }
        let ends = |list: &[Bson]| list.last().map(id_key).transpose();
        let kind = if ends(&node.ancestors)? == ends(&expected)? {
            DamageKind::WrongAncestors
        } else {
            DamageKind::Disagreement
        };
        let detail = format!(
            "the ancestors are {:?}, expected {expected:?}",
            node.ancestors
        );
        self.report.add(&node.id, kind, detail);
        Ok(())
    }

    fn path(&mut self, node: &Node, parent: Option<&Node>) -> Result<()> {
        let tree = self.forest.tree;
        let expected = match parent {
            Some(parent) => Some(child_path(parent.path.as_deref(), &parent.id)?),
            None => None,
        };
        if node.path == expected {
            return Ok(());
        }
        let ids = |path: &Option<String>| match path {
            None => Some(Vec::new()),
            Some(path) => path_ids(tree, path),
        };
        let kind = match (ids(&node.path), ids(&expected)) {
            (None, _) => DamageKind::MalformedPath,
            (Some(stored), Some(expected)) if stored.last() == expected.last() => {
                DamageKind::WrongPath
            }
            _ => DamageKind::Disagreement,
        };
        let detail = format!("the path is {:?}, expected {expected:?}", node.path);
        self.report.add(&node.id, kind, detail);
        Ok(())
    }

    /// Compares the listed children of some nodes with the nodes that exist.
    async fn children(&mut self, nodes: &[Node]) -> Result<()> {
        let of_source = self.source == Source::Children && self.forest.tree.order.is_some();
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            // As many nodes as have about a chunk of children together.
            let mut listed = first.children.len();
            let more = rest.iter().skip(1).take_while(|node| {
                listed += node.children.len();
                listed <= CHUNK
            });
            let (some, others) = rest
                .split_at_checked(1 + more.count())
                .unwrap_or((rest, &[]));
            rest = others;
            let found = self.by_id(some.iter().flat_map(|node| &node.children));
            let found = found.await?;
            for node in some {
                let mut ranks = HashSet::new();
                for child in &node.children {
                    let Some(child) = found.get(&id_key(child)?) else {
                        let detail = format!("its child {child} does not exist");
                        self.report.add(&node.id, DamageKind::MissingChild, detail);
                        continue;
                    };
                    if of_source && !ranks.insert(child.rank.clone()) {
                        let detail = format!("a sibling has the rank {:?}, too", child.rank);
                        self.report
                            .add(&child.id, DamageKind::DuplicateRank, detail);
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares the numbers of children and of descendants with those of the children.
    async fn counts(&mut self, nodes: &[Node]) -> Result<()> {
        let tree = self.forest.tree;
        let counts = tree.child_count.is_some() || tree.descendant_count.is_some();
        if !counts || self.source == Source::Bounds {
            return Ok(());
        }
        let counted = self.counted(nodes).await?;
        let lists = match self.source {
            Source::Children => nodes,
            _ => &[],
        };
        let listed = self.by_id(lists.iter().flat_map(|node| &node.children));
        let listed = listed.await?;
        for node in nodes {
            let key = match self.source {
                Source::Path => id_key(&Bson::String(node.path_of_children()?))?,
                _ => id_key(&node.id)?,
            };
            let found = counted.get(&key).copied().unwrap_or_default();
            let children = match self.source {
                Source::Children => i64::try_from(node.children.len()).unwrap_or(i64::MAX),
                _ => found.children,
            };
            let mut descendants = found.descendants;
            if self.source == Source::Children {
                for child in &node.children {
                    let child = listed.get(&id_key(child)?);
                    descendants += child.map_or(0, |child| child.descendant_count + 1);
                }
            }
            self.compare_counts(node, children, descendants);
        }
        Ok(())
    }

    pub(super) fn compare_counts(&mut self, node: &Node, children: i64, descendants: i64) {
        let tree = self.forest.tree;
        let stored = [
            (tree.child_count, node.child_count, children, "children"),
            (
                tree.descendant_count,
                node.descendant_count,
                descendants,
                "descendants",
            ),
        ];
        for (field, stored, expected, what) in stored {
            if field.is_some() && stored != expected {
                let detail = format!("the number of {what} is {stored}, expected {expected}");
                self.report.add(&node.id, DamageKind::WrongCount, detail);
            }
        }
    }

    /// What the children of some nodes add up to, by the value in which the children name their parent.
    async fn counted(&self, nodes: &[Node]) -> Result<ById<Counted>> {
        let tree = self.forest.tree;
        let ids = || nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>();
        let (filter, key) = match (self.source, tree.parent, tree.path, tree.ancestors) {
            (Source::Parent, Some((field, _)), ..) => (
                doc! {field: {"$in": ids()}},
                Bson::from(format!("${field}")),
            ),
            (Source::Path, _, Some((field, _)), _) => {
                let paths = nodes.iter().map(Node::path_of_children);
                let paths = paths.collect::<Result<Vec<_>>>()?;
                (
                    doc! {field: {"$in": paths}},
                    Bson::from(format!("${field}")),
                )
            }
            (Source::Ancestors, .., Some(field)) => {
                let last = doc! {"$arrayElemAt": [format!("${field}"), -1]};
                (doc! {field: {"$in": ids()}}, Bson::from(last))
            }
            // A graph has no one number of descendants.
            _ => return Ok(HashMap::new()),
        };
        let descendants = tree.descendant_count.map_or_else(
            || doc! {"$sum": 0},
            |field| doc! {"$sum": {"$add": [format!("${field}"), 1]}},
        );
        let group = doc! {"_id": &key, "children": {"$sum": 1}, "descendants": descendants};
        let mut pipeline = vec![doc! {"$match": filter}];
        if self.source == Source::Ancestors {
            // The filter matches all descendants.
            pipeline.push(doc! {"$match": {"$expr": {"$in": [&key, {"$literal": ids()}]}}});
        }
        pipeline.push(doc! {"$group": group});
        let mut counted = HashMap::new();
        for document in self.forest.aggregate(None, pipeline).await? {
            let id = document.get("_id").ok().flatten();
            let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
            let id = Bson::try_from(id).map_err(Error::encode)?;
            let found = Counted {
                children: number(&document, "children"),
                descendants: number(&document, "descendants"),
            };
            counted.insert(id_key(&id)?, found);
        }
        Ok(counted)
    }

    /// Finds siblings with the same rank.
    pub(super) async fn ranks(&mut self) -> Result<()> {
        let tree = self.forest.tree;
        let Some(rank) = tree.order else {
            return Ok(());
        };
        let parent = match (self.source, tree.parent, tree.path, tree.ancestors) {
            (Source::Parent, Some((field, _)), ..) | (Source::Path, _, Some((field, _)), _) => {
                Bson::from(format!("${field}"))
            }
            (Source::Ancestors, .., Some(field)) => {
                doc! {"$arrayElemAt": [format!("${field}"), -1]}.into()
            }
            _ => return Ok(()),
        };
        let mut key = doc! {"parent": parent, "rank": format!("${rank}")};
        if let Some(scope) = tree.scope {
            key.insert("scope", format!("${scope}"));
        }
        let pipeline = vec![
            doc! {"$group": {"_id": key, "count": {"$sum": 1}, "node": {"$first": "$_id"}, "rank": {"$first": format!("${rank}")}}},
            doc! {"$match": {"count": {"$gt": 1}}},
        ];
        for document in self.forest.aggregate(None, pipeline).await? {
            let document = Document::try_from(&*document).map_err(Error::encode)?;
            let id = document.get("node").cloned().unwrap_or(Bson::Null);
            let detail = format!(
                "a sibling has the rank {}, too",
                document.get("rank").unwrap_or(&Bson::Null)
            );
            self.report.add(&id, DamageKind::DuplicateRank, detail);
        }
        Ok(())
    }
}

/// Whether two lists have the same ids.
fn same(one: &[Bson], other: &[Bson]) -> Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    for (one, other) in one.iter().zip(other) {
        if id_key(one)? != id_key(other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn number(document: &RawDocumentBuf, field: &str) -> i64 {
    match document.get(field) {
        Ok(Some(RawBsonRef::Int32(number))) => number.into(),
        Ok(Some(RawBsonRef::Int64(number))) => number,
        _ => 0,
    }
}
