//! Resolves where a position is: what the kept fields of a node at it depend on.

use bson::{Bson, Document, doc};

use super::ways::OrderBy;
use crate::collection::equality;
use crate::error::{Result, TreeRefusal};
use crate::tree::node::{Node, id_key, same_id, same_scope};
use crate::tree::position::Target;
use crate::tree::tree_store::TreeStore;
use crate::types::tree::ranks_between;

/// A place in a tree, resolved.
#[derive(Debug)]
pub(in crate::tree) struct Placement {
    /// `None` among the roots.
    pub(in crate::tree) parent: Option<Node>,
    pub(in crate::tree) scope: Option<Bson>,
    /// The ancestors of a node at this place, the root first; only the parent if the change needs no others.
    pub(in crate::tree) lineage: Vec<Bson>,
    /// The ranks before and after this place.
    pub(in crate::tree) ranks: RankGap,
    /// The index among the parent's children; `None` at their end.
    pub(in crate::tree) index: Option<i64>,
    /// The left bound of a node that is inserted at this place.
    pub(in crate::tree) left: i64,
    /// Whether this place is behind all nodes of the tree.
    pub(in crate::tree) is_end: bool,
}

/// A place between two ranks, either of which may be missing.
#[derive(Debug, Clone, Default)]
pub(in crate::tree) struct RankGap {
    pub(in crate::tree) low: Option<String>,
    pub(in crate::tree) high: Option<String>,
}

/// A node that moves.
#[derive(Debug)]
pub(in crate::tree) struct Moving {
    pub(in crate::tree) node: Node,
    /// The parent or the sibling that names its new place.
    pub(in crate::tree) named: Option<Node>,
}

/// Where a place is among its siblings.
enum SiblingPlace {
    First,
    Last,
    Beside { sibling: Box<Node>, after: bool },
}

impl TreeStore<'_> {
    /// Resolves a place for a node, which may already be in the tree.
    ///
    /// `scope` is that of the node.
    pub(in crate::tree) async fn placement(
        &mut self,
        target: &Target,
        scope: Option<&Bson>,
        moving: Option<&Moving>,
    ) -> Result<Placement> {
        let (parent, sibling_place) = self.place(target, scope, moving).await?;
        let mut lineage = Vec::new();
        if let Some(parent) = &parent {
            // A node that moves may not become its own ancestor; bounds show that, too.
            let is_checked = moving.is_some() && self.tree.bounds.is_none();
            if is_checked || self.depends_on_lineage() {
                lineage = self.lineage(parent).await?;
            }
            lineage.push(parent.id.clone());
            if !same_scope(parent.scope.as_ref(), scope) {
                return Err(self.refused(
                    TreeRefusal::OtherTree,
                    format!(
                        "the node and its parent {} are in different trees: their `{}` differs",
                        parent.id,
                        self.tree.scope.unwrap_or_default()
                    ),
                ));
            }
        }
        let is_end = parent.is_none() && matches!(sibling_place, SiblingPlace::Last);
        let mut placement = Placement {
            parent,
            scope: scope.cloned(),
            lineage,
            ranks: RankGap::default(),
            index: None,
            left: 0,
            is_end,
        };
        if self.tree.order.is_some() {
            placement.ranks = self.rank_gap(&placement, &sibling_place, moving).await?;
        }
        if self.tree.children.is_some() {
            placement.index = self.index(&placement, &sibling_place, moving)?;
        }
        if self.tree.bounds.is_some() {
            placement.left = self.left(&placement, &sibling_place).await?;
        }
        Ok(placement)
    }

    async fn place(
        &mut self,
        target: &Target,
        scope: Option<&Bson>,
        moving: Option<&Moving>,
    ) -> Result<(Option<Node>, SiblingPlace)> {
        match target {
            Target::Under { parent, first } => {
                let parent = match parent {
                    Some(id) if moving.is_none() && self.only_lists() => Some(Node {
                        id: id.clone(),
                        ..Node::default()
                    }),
                    Some(id) => Some(self.named(id, moving).await?),
                    None => None,
                };
                let sibling_place = if *first {
                    SiblingPlace::First
                } else {
                    SiblingPlace::Last
                };
                Ok((parent, sibling_place))
            }
            Target::Beside { sibling, after } => {
                if moving.is_none() && self.only_lists() {
                    // Its place is in the list of its parent.
                    let listed = Node {
                        id: sibling.clone(),
                        ..Node::default()
                    };
                    let parent = self.parent_node(&listed).await?;
                    if parent.is_some() {
                        let sibling_place = SiblingPlace::Beside {
                            sibling: Box::new(listed),
                            after: *after,
                        };
                        return Ok((parent, sibling_place));
                    }
                }
                let sibling = self.named(sibling, moving).await?;
                if moving.is_some_and(|moving| same_id(&moving.node.id, &sibling.id)) {
                    return Err(self.refused(
                        TreeRefusal::OwnSubtree,
                        format!("the node {} can't be beside itself", sibling.id),
                    ));
                }
                let parent = self.parent_node(&sibling).await?;
                if parent.is_none() && !same_scope(sibling.scope.as_ref(), scope) {
                    return Err(self.refused(TreeRefusal::OtherTree, format!(
                        "the node and its sibling {} are in different trees: their `{}` differs",
                        sibling.id,
                        self.tree.scope.unwrap_or_default()
                    )));
                }
                let sibling_place = SiblingPlace::Beside {
                    sibling: Box::new(sibling),
                    after: *after,
                };
                Ok((parent, sibling_place))
            }
            Target::At { parent, index } => {
                let parent = match parent {
                    Some(id) => Some(self.named(id, moving).await?),
                    None => None,
                };
                let siblings = self.siblings(parent.as_ref(), scope, moving).await?;
                let found = self.nth(siblings, parent.as_ref(), moving, *index);
                let sibling_place =
                    found
                        .await?
                        .map_or(SiblingPlace::Last, |sibling| SiblingPlace::Beside {
                            sibling: Box::new(sibling),
                            after: false,
                        });
                Ok((parent, sibling_place))
            }
            Target::Step { after } => {
                let Some(Moving { node, .. }) = moving else {
                    return Ok((None, SiblingPlace::Last));
                };
                let parent = self.parent_node(node).await?;
                let (previous, next) = self.neighbours(node).await?;
                let sibling_place = match (if *after { next } else { previous }, after) {
                    (Some(id), after) => SiblingPlace::Beside {
                        sibling: Box::new(self.node(&id).await?),
                        after: *after,
                    },
                    (None, true) => SiblingPlace::Last,
                    (None, false) => SiblingPlace::First,
                };
                Ok((parent, sibling_place))
            }
            Target::Sorted { parent, before } => {
                let parent = match parent {
                    Some(id) => Some(self.named(id, moving).await?),
                    None => None,
                };
                let siblings = self.siblings(parent.as_ref(), scope, moving).await?;
                let filter = doc! {"$and": [siblings, before.clone()]};
                let first = self.first(filter, parent.as_ref()).await?;
                let sibling_place = match first {
                    Some(sibling) => SiblingPlace::Beside {
                        sibling: Box::new(sibling),
                        after: false,
                    },
                    None => SiblingPlace::Last,
                };
                Ok((parent, sibling_place))
            }
        }
    }

    /// The parent or the sibling that names a place.
    async fn named(&mut self, id: &Bson, moving: Option<&Moving>) -> Result<Node> {
        match moving.and_then(|moving| moving.named.as_ref()) {
            Some(node) => Ok(node.clone()),
            None => self.node(id).await,
        }
    }

    /// Whether the id of a parent is enough to insert a first or last child: a list of children is all that the tree keeps.
    pub(in crate::tree) fn only_lists(&self) -> bool {
        let mut fields = self.tree.fields();
        fields.all(|field| Some(field) == self.tree.children) && self.tree.max_depth.is_none()
    }

    /// The filter of the nodes with a parent, without the one that moves.
    async fn siblings(
        &mut self,
        parent: Option<&Node>,
        scope: Option<&Bson>,
        moving: Option<&Moving>,
    ) -> Result<Document> {
        let mut filter = match parent {
            Some(parent) => self.children(parent).await?,
            None => self.roots(scope).await?,
        };
        if let Some(moving) = moving {
            let other = doc! {"_id": {"$ne": moving.node.id.clone()}};
            filter = if filter.contains_key("_id") {
                doc! {"$and": [filter, other]}
            } else {
                filter.extend(other);
                filter
            };
        }
        Ok(filter)
    }

    /// The first of the siblings that match.
    async fn first(&mut self, filter: Document, parent: Option<&Node>) -> Result<Option<Node>> {
        let sort = self.sibling_sort();
        if sort.is_some() {
            let found = self.nodes(filter, sort, Some(1)).await?;
            return Ok(found.into_iter().next());
        }
        let found = self.nodes(filter, None, None).await?;
        let children = parent.map_or(&[][..], |parent| &parent.children);
        let place = |node: &Node| children.iter().position(|id| same_id(id, &node.id));
        Ok(found.into_iter().min_by_key(place))
    }

    /// The sibling with this index, without the node that moves.
    async fn nth(
        &mut self,
        siblings: Document,
        parent: Option<&Node>,
        moving: Option<&Moving>,
        index: usize,
    ) -> Result<Option<Node>> {
        let sort = self.sibling_sort();
        if sort.is_some() {
            let limit = i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
            let found = self.nodes(siblings, sort, Some(limit)).await?;
            return Ok(found.into_iter().nth(index));
        }
        let children = parent.map_or(&[][..], |parent| &parent.children);
        let is_moving = |id: &&Bson| moving.is_some_and(|moving| same_id(&moving.node.id, id));
        let mut others = children.iter().filter(|id| !is_moving(id));
        match others.nth(index) {
            Some(id) => self.node(id).await.map(Some),
            None => Ok(None),
        }
    }

    /// The sort that puts siblings in order, if a field has it.
    pub(in crate::tree) fn sibling_sort(&self) -> Option<Document> {
        self.ways.siblings.field().map(|field| doc! {field: 1})
    }

    /// The sort that puts nodes in pre-order, if the bounds have it.
    pub(in crate::tree) fn pre_order_sort(&self) -> Option<Document> {
        let (left, _) = self.tree.bounds?;
        let mut sort = Document::new();
        sort.extend(
            self.tree
                .scope
                .map(|scope| (scope.to_owned(), Bson::Int32(1))),
        );
        sort.insert(left, 1);
        Some(sort)
    }

    /// The ranks around a place.
    async fn rank_gap(
        &mut self,
        placement: &Placement,
        sibling_place: &SiblingPlace,
        moving: Option<&Moving>,
    ) -> Result<RankGap> {
        let Some(field) = self.tree.order else {
            return Ok(RankGap::default());
        };
        let siblings = self
            .siblings(placement.parent.as_ref(), placement.scope.as_ref(), moving)
            .await?;
        let (beside, is_after) = match sibling_place {
            SiblingPlace::First => (None, true),
            SiblingPlace::Last => (None, false),
            SiblingPlace::Beside { sibling, after } => (Some(sibling.rank.clone()), *after),
        };
        let beside = beside.map(Option::unwrap_or_default);
        let filter = match &beside {
            Some(rank) => {
                let operator = if is_after { "$gt" } else { "$lt" };
                doc! {"$and": [siblings, {field: {operator: rank}}]}
            }
            None => siblings,
        };
        let sort = Some(doc! {field: if is_after { 1 } else { -1 }});
        let next = self.nodes(filter, sort, Some(1)).await?;
        let next = next.into_iter().next().and_then(|node| node.rank);
        let (low, high) = if is_after {
            (beside, next)
        } else {
            (next, beside)
        };
        Ok(RankGap { low, high })
    }

    /// Ranks for this many nodes at a place.
    pub(in crate::tree) fn ranks(&self, gap: &RankGap, count: usize) -> Result<Vec<String>> {
        let ranks = ranks_between(gap.low.as_deref(), gap.high.as_deref(), count);
        ranks.ok_or_else(|| {
            self.refused(
                TreeRefusal::Damaged,
                format!(
                    "the siblings at this place have no ranks, or the same one, in `{}`: `check` lists them, `repair` ranks them anew",
                    self.tree.order.unwrap_or_default()
                ),
            )
        })
    }

    fn index(
        &self,
        placement: &Placement,
        sibling_place: &SiblingPlace,
        moving: Option<&Moving>,
    ) -> Result<Option<i64>> {
        let (sibling, after) = match sibling_place {
            SiblingPlace::First => return Ok(Some(0)),
            SiblingPlace::Last => return Ok(None),
            SiblingPlace::Beside { sibling, after } => (sibling, *after),
        };
        let Some(parent) = &placement.parent else {
            if let OrderBy::Children(_) = self.ways.siblings {
                return Err(self.refused(TreeRefusal::Unordered,
                    "only parents store the order of this tree, so roots have none: add `order = rank` to the tree",
                ));
            }
            return Ok(None);
        };
        let wanted = id_key(&sibling.id)?;
        let left_out = moving.map(|moving| id_key(&moving.node.id)).transpose()?;
        let mut index = 0;
        for child in &parent.children {
            let child = id_key(child)?;
            if child == wanted {
                return Ok(Some(index + i64::from(after)));
            }
            if Some(&child) != left_out.as_ref() {
                index += 1;
            }
        }
        Err(self.refused(
            TreeRefusal::Damaged,
            format!(
                "the node {} does not list its child {}: `check` reports it, `repair` adds it",
                parent.id, sibling.id
            ),
        ))
    }

    async fn left(&mut self, placement: &Placement, sibling_place: &SiblingPlace) -> Result<i64> {
        if self.tree.bounds.is_none() {
            return Ok(0);
        }
        Ok(match (sibling_place, &placement.parent) {
            (
                SiblingPlace::Beside {
                    sibling,
                    after: false,
                },
                _,
            ) => sibling.left,
            (
                SiblingPlace::Beside {
                    sibling,
                    after: true,
                },
                _,
            ) => sibling.right + 1,
            (SiblingPlace::First, Some(parent)) => parent.left + 1,
            (SiblingPlace::Last, Some(parent)) => parent.right,
            (SiblingPlace::First, None) => 1,
            (SiblingPlace::Last, None) => self.last_bound(placement.scope.as_ref()).await? + 1,
        })
    }

    /// The last of all bounds: the right one of the last root, or 0 if there are no nodes.
    pub(in crate::tree) async fn last_bound(&mut self, scope: Option<&Bson>) -> Result<i64> {
        let Some((left, right)) = self.tree.bounds else {
            return Ok(0);
        };
        // The roots are few, if a field says which nodes they are. No index has the right bounds.
        let (filter, last) = if self.ways.roots.is_stored() {
            (self.roots(scope).await?, left)
        } else {
            (self.in_scope(scope, Document::new()), right)
        };
        let sort = Some(doc! {last: -1});
        let found = self.nodes(filter, sort, Some(1)).await?;
        Ok(found.first().map_or(0, |node| node.right))
    }

    /// The filter of a node by its id.
    pub(in crate::tree) fn by_id(id: &Bson) -> Document {
        doc! {"_id": equality(id.clone())}
    }
}
