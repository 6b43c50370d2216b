//! The nodes that a read selects.

use bson::{Bson, Document, doc};

use super::structure::nothing;
use super::ways::{AncestorsBy, ChildrenBy, DepthBy, DescendantsBy, OrderBy};
use crate::error::Result;
use crate::tree::node::{Node, id_key};
use crate::tree::tree_store::TreeStore;

/// The nodes of a read.
#[derive(Debug, Clone)]
pub(in crate::tree) enum Selection {
    All,
    Roots,
    Parent(Bson),
    Children(Bson),
    Siblings(Bson),
    Ancestors(Bson),
    Descendants(Bson),
    Previous(Bson),
    Next(Bson),
    First(Bson),
    Last(Bson),
    /// The siblings before a node.
    Before(Bson),
    /// The siblings after a node.
    After(Bson),
}

/// How far a selection goes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tree) struct Extent {
    /// Whether the node itself is read, too.
    pub(in crate::tree) with_self: bool,
    /// The most levels below the node.
    pub(in crate::tree) max_depth: Option<u32>,
}

/// A selection, resolved to a filter.
#[derive(Debug)]
pub(in crate::tree) struct Selected {
    pub(in crate::tree) filter: Document,
    /// The ids in their order, where only that list has it: ancestors, the root first, and children in an array.
    pub(in crate::tree) order: Option<Vec<Bson>>,
    /// The children in the array of the node around the selection, where only that array orders them: for pre-order.
    pub(in crate::tree) top: Option<Vec<Bson>>,
    /// The sort that puts the documents in their order, if a field has it.
    pub(in crate::tree) sort: Option<Document>,
}

impl Selected {
    fn by(filter: Document) -> Self {
        Self {
            filter,
            order: None,
            top: None,
            sort: None,
        }
    }

    fn sorted(filter: Document, sort: Option<Document>) -> Self {
        Self {
            filter,
            order: None,
            top: None,
            sort,
        }
    }
}

impl TreeStore<'_> {
    /// Resolves a selection; of the whole collection, in one scope if that is given.
    pub(in crate::tree) async fn select(
        &mut self,
        selection: &Selection,
        extent: Extent,
        scope: Option<&Bson>,
    ) -> Result<Selected> {
        let id = match selection {
            Selection::All => return Ok(Selected::by(Document::new())),
            Selection::Roots => {
                let roots = self.roots(scope).await?;
                return Ok(Selected::sorted(roots, self.sibling_sort()));
            }
            Selection::Parent(id)
            | Selection::Children(id)
            | Selection::Siblings(id)
            | Selection::Ancestors(id)
            | Selection::Descendants(id)
            | Selection::Previous(id)
            | Selection::Next(id)
            | Selection::First(id)
            | Selection::Last(id)
            | Selection::Before(id)
            | Selection::After(id) => id,
        };
        let node = if self.is_selected_by_id(selection, extent) {
            Node {
                id: id.clone(),
                ..Node::default()
            }
        } else {
            self.node(id).await?
        };
        let mut selected = match selection {
            Selection::Children(_) => {
                let children = self.children(&node).await?;
                let mut selected = Selected::sorted(children, self.sibling_sort());
                selected.order = self.listed(&node);
                selected.top.clone_from(&selected.order);
                selected
            }
            Selection::Siblings(_) => return self.select_siblings(&node, extent).await,
            Selection::Before(_) | Selection::After(_) => {
                let is_after = matches!(selection, Selection::After(_));
                return self.select_beside(&node, extent, is_after).await;
            }
            Selection::Ancestors(_) => {
                if let Some(selected) = self.selected_by_bounds(&node, extent) {
                    return Ok(selected);
                }
                let mut ids = self.lineage(&node).await?;
                if let Some(depth) = extent.max_depth {
                    let above = ids.len().saturating_sub(depth as usize);
                    ids.drain(..above);
                }
                if extent.with_self {
                    ids.push(node.id.clone());
                }
                return Ok(Selected {
                    filter: self.with_ids(ids.clone())?,
                    order: Some(ids),
                    top: None,
                    sort: None,
                });
            }
            Selection::Descendants(_) => {
                let descendants = match extent.max_depth {
                    Some(depth) => self.descendants_within(&node, depth).await?,
                    None => self.descendants(&node).await?,
                };
                let mut selected = Selected::by(descendants);
                selected.top = self.listed(&node);
                selected
            }
            Selection::Parent(_) => {
                let parent = self.parent_of(&node).await?;
                Selected::by(parent.map_or_else(nothing, |id| Self::by_id(&id)))
            }
            Selection::First(_) | Selection::Last(_) => {
                let is_first = matches!(selection, Selection::First(_));
                let found = self.end_of_siblings(&node, is_first).await?;
                Selected::by(found.map_or_else(nothing, |id| Self::by_id(&id)))
            }
            _ => {
                let (previous, next) = self.neighbours(&node).await?;
                let found = if matches!(selection, Selection::Next(_)) {
                    next
                } else {
                    previous
                };
                Selected::by(found.map_or_else(nothing, |id| Self::by_id(&id)))
            }
        };
        if extent.with_self {
            selected.filter = doc! {"$or": [Self::by_id(&node.id), selected.filter]};
            if let Some(order) = &mut selected.order {
                order.insert(0, node.id);
            }
        }
        Ok(selected)
    }

    /// The ancestors, where only bounds find them: the nodes whose bounds enclose those of the node.
    fn selected_by_bounds(&self, node: &Node, extent: Extent) -> Option<Selected> {
        let (AncestorsBy::Bounds(left, right), None) = (self.ways.ancestors, extent.max_depth)
        else {
            return None;
        };
        let (below, above) = if extent.with_self {
            ("$lte", "$gte")
        } else {
            ("$lt", "$gt")
        };
        let around = doc! {left: {below: node.left}, right: {above: node.right}};
        let filter = self.in_scope(node.scope.as_ref(), around);
        Some(Selected::sorted(filter, Some(doc! {left: 1})))
    }

    /// The ids of the selected nodes in the order that the client computes, if it does.
    pub(in crate::tree) async fn ids_in_order(
        &mut self,
        selected: &Selected,
        pre_order: bool,
    ) -> Result<Option<Vec<Bson>>> {
        if !pre_order {
            return Ok(selected.order.clone());
        }
        if self.tree.bounds.is_some() {
            return Ok(None);
        }
        let filter = selected.filter.clone();
        let nodes = self.nodes(filter, None, None).await?;
        let top = selected.top.as_deref();
        let visits = self.arrange_below(&nodes, top)?.visits().into_iter();
        let ids = visits.filter_map(|visit| nodes.get(visit.position).map(|node| node.id.clone()));
        Ok(Some(ids.collect()))
    }

    /// Whether a selection needs no read to become a filter.
    pub(in crate::tree) fn selects_at_once(&self, selection: &Selection, extent: Extent) -> bool {
        match selection {
            Selection::All => true,
            Selection::Roots => self.ways.roots.is_stored(),
            _ => self.is_selected_by_id(selection, extent),
        }
    }

    /// Whether the id alone makes the filter, without reading the node.
    fn is_selected_by_id(&self, selection: &Selection, extent: Extent) -> bool {
        self.tree.scope.is_none()
            && !matches!(self.ways.siblings, OrderBy::Children(_))
            && match selection {
                Selection::Children(_) => matches!(self.ways.children, ChildrenBy::Parent(_)),
                Selection::Descendants(_) => {
                    matches!(self.ways.descendants, DescendantsBy::Ancestors(_))
                        && extent.max_depth.is_none()
                }
                _ => false,
            }
    }

    /// The children in the order of their parent's array, where nothing else has their order.
    fn listed(&self, parent: &Node) -> Option<Vec<Bson>> {
        let is_listed = matches!(self.ways.siblings, OrderBy::Children(_));
        is_listed.then(|| parent.children.clone())
    }

    async fn select_siblings(&mut self, node: &Node, extent: Extent) -> Result<Selected> {
        let mut order: Option<Vec<Bson>> = None;
        let mut top = None;
        let mut filter = match self.parent_of(node).await? {
            Some(parent) => {
                let parent = self.node(&parent).await?;
                order = self.listed(&parent);
                top.clone_from(&order);
                self.children(&parent).await?
            }
            None => self.roots(node.scope.as_ref()).await?,
        };
        if !extent.with_self {
            let other = doc! {"_id": {"$ne": node.id.clone()}};
            filter = doc! {"$and": [filter, other]};
            let own = id_key(&node.id)?;
            if let Some(order) = &mut order {
                order.retain(|id| id_key(id).is_ok_and(|id| id != own));
            }
        }
        Ok(Selected {
            filter,
            order,
            top,
            sort: self.sibling_sort(),
        })
    }

    /// Selects the siblings on one side of a node.
    async fn select_beside(
        &mut self,
        node: &Node,
        extent: Extent,
        is_after: bool,
    ) -> Result<Selected> {
        let with_self = Extent {
            with_self: true,
            max_depth: None,
        };
        let mut siblings = self.select_siblings(node, with_self).await?;
        if let Some(listed) = siblings.order.take() {
            let own = id_key(&node.id)?;
            let keys = listed.iter().map(id_key).collect::<Result<Vec<_>>>()?;
            let at = keys
                .iter()
                .position(|key| *key == own)
                .unwrap_or(listed.len());
            let end = usize::from(extent.with_self);
            let ids: Vec<Bson> = if is_after {
                listed.into_iter().skip(at + 1 - end).collect()
            } else {
                listed.into_iter().take(at + end).collect()
            };
            siblings.filter = self.with_ids(ids.clone())?;
            siblings.top = Some(ids.clone());
            siblings.order = Some(ids);
            return Ok(siblings);
        }
        let (field, own): (&str, Bson) = match self.ways.siblings {
            OrderBy::Rank(rank) => (rank, node.rank.clone().into()),
            OrderBy::Bounds(left, _) => (left, node.left.into()),
            OrderBy::Children(_) | OrderBy::None => return Ok(Selected::by(nothing())),
        };
        let operator = match (is_after, extent.with_self) {
            (true, false) => "$gt",
            (true, true) => "$gte",
            (false, false) => "$lt",
            (false, true) => "$lte",
        };
        siblings.filter = doc! {"$and": [siblings.filter, {field: {operator: own}}]};
        Ok(siblings)
    }

    /// The id of the first or the last sibling.
    async fn end_of_siblings(&mut self, node: &Node, is_first: bool) -> Result<Option<Bson>> {
        let with_self = Extent {
            with_self: true,
            max_depth: None,
        };
        let siblings = self.select_siblings(node, with_self).await?;
        if let Some(listed) = siblings.order {
            let mut listed = listed.into_iter();
            return Ok(if is_first {
                listed.next()
            } else {
                listed.next_back()
            });
        }
        let Some(field) = self.ways.siblings.field() else {
            return Ok(None);
        };
        let sort = Some(doc! {field: if is_first { 1 } else { -1 }});
        let found = self.nodes(siblings.filter, sort, Some(1)).await?;
        Ok(found.into_iter().next().map(|node| node.id))
    }

    /// The ids of the siblings directly before and after a node.
    pub(super) async fn neighbours(&mut self, node: &Node) -> Result<(Option<Bson>, Option<Bson>)> {
        let scope = node.scope.as_ref();
        let parent = match self.parent_of(node).await? {
            Some(parent) => Some(self.node(&parent).await?),
            None => None,
        };
        let first = |nodes: Vec<Node>| nodes.into_iter().next().map(|node| node.id);
        match self.ways.siblings {
            OrderBy::Rank(field) => {
                let siblings = match &parent {
                    Some(parent) => self.children(parent).await?,
                    None => self.roots(scope).await?,
                };
                let rank = node.rank.clone().unwrap_or_default();
                let beside =
                    |operator: &str| doc! {"$and": [siblings.clone(), {field: {operator: &rank}}]};
                let before = self
                    .nodes(beside("$lt"), Some(doc! {field: -1}), Some(1))
                    .await?;
                let after = self
                    .nodes(beside("$gt"), Some(doc! {field: 1}), Some(1))
                    .await?;
                Ok((first(before), first(after)))
            }
            OrderBy::Bounds(left, right) => {
                let ends = doc! {left: {"$lt": node.left}, right: node.left - 1};
                let before = self
                    .nodes(self.in_scope(scope, ends), Some(doc! {left: -1}), Some(1))
                    .await?;
                let starts = self.in_scope(scope, doc! {left: node.right + 1});
                let after = self.nodes(starts, None, Some(1)).await?;
                Ok((first(before), first(after)))
            }
            OrderBy::Children(_) | OrderBy::None => {
                let own = id_key(&node.id)?;
                let mut previous = None;
                let mut children = parent.map_or_else(Vec::new, |it| it.children).into_iter();
                while let Some(child) = children.next() {
                    if id_key(&child)? == own {
                        return Ok((previous, children.next()));
                    }
                    previous = Some(child);
                }
                Ok((None, None))
            }
        }
    }

    /// The filter of the nodes at these levels.
    pub(in crate::tree) async fn at_levels(
        &mut self,
        scope: Option<&Bson>,
        (from, to): (u32, Option<u32>),
    ) -> Result<Document> {
        if to.is_some_and(|to| to < from) {
            return Ok(nothing());
        }
        if let Some(filter) = self.at_depths(from, to) {
            return Ok(filter);
        }
        // The other patterns store no depth, so all the nodes are read.
        let nodes = self
            .nodes(self.in_scope(scope, Document::new()), None, None)
            .await?;
        let levels = self.arrange(&nodes)?.pre_order().into_iter();
        let inside = levels.filter(|(_, level)| {
            let level = u32::try_from(*level).unwrap_or(u32::MAX);
            level >= from && to.is_none_or(|to| level <= to)
        });
        let ids =
            inside.filter_map(|(position, _)| nodes.get(position).map(|node| node.id.clone()));
        self.with_ids(ids.collect())
    }

    /// The scope that a filter names.
    pub(in crate::tree) fn scope_in(&self, filter: &Document) -> Option<Bson> {
        let scope = self.tree.scope?;
        if let Some(value) = filter.get(scope) {
            return match value {
                Bson::Document(operators) => operators.get("$eq").cloned(),
                Bson::RegularExpression(_) => None,
                value => Some(value.clone()),
            };
        }
        let all = filter.get_array("$and").ok()?;
        let mut filters = all.iter().filter_map(Bson::as_document);
        filters.find_map(|filter| self.scope_in(filter))
    }

    /// The filter of nodes at these levels, if they store their depth.
    pub(super) fn at_depths(&self, from: u32, to: Option<u32>) -> Option<Document> {
        match self.ways.depth {
            DepthBy::Depth(depth) => {
                let mut range = doc! {"$gte": i64::from(from)};
                range.extend(to.map(|to| ("$lte".to_owned(), Bson::Int64(to.into()))));
                Some(doc! {depth: range})
            }
            DepthBy::Ancestors(ancestors) => {
                let mut filter = Document::new();
                if let Some(last) = from.checked_sub(1) {
                    filter.insert(format!("{ancestors}.{last}"), doc! {"$exists": true});
                }
                if let Some(to) = to {
                    filter.insert(format!("{ancestors}.{to}"), doc! {"$exists": false});
                }
                Some(filter)
            }
            DepthBy::Path(path) => Some(self.paths_at_levels(path, from, to)),
            DepthBy::Bounds(_) | DepthBy::Links(_) => None,
        }
    }
}
