//! The structural changes: insert, move, swap.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, RawBson, doc};

use super::forest::{Forest, TreeWrite, within};
use super::node::{Node, id_key, stored};
use super::position::Target;
use super::spot::Spot;
use super::statements::{Around, Lineage, Shift};
use crate::error::{Error, Result, TreeRefusal};
use crate::model::tree::{RootParent, path_text};
use crate::store::Session;

impl Forest {
    /// Inserts an encoded document at a place; returns it as it is stored.
    pub(super) async fn insert_at(
        &self,
        mut session: Option<&mut Session>,
        target: &Target,
        document: &RawDocument,
    ) -> Result<(RawDocumentBuf, TreeWrite)> {
        let id = document
            .get("_id")
            .ok()
            .flatten()
            .ok_or_else(|| self.refused(TreeRefusal::Id, "the node has no `_id`"))?;
        let id = Bson::try_from(id).map_err(Error::encode)?;
        self.check_id(&id)?;
        let scope = self.scope_of(document)?;
        self.fence(within!(session), scope.as_ref()).await?;
        let spot = self
            .spot(within!(session), target, scope.as_ref(), None)
            .await?;
        self.check_depth(&spot, 0)?;
        let statements = self.make_room(&spot, std::slice::from_ref(&id), 1);
        let mut fields = self.fields_of_leaf(&spot)?;
        for other in self.others() {
            let session = within!(session);
            fields.extend(other.fields_of_root(session, document).await?);
        }
        let document = with_fields(document, fields)?;
        let mut done = TreeWrite::default();
        self.update(within!(session), statements, &mut done).await?;
        if let Some(parent) = spot
            .parent
            .filter(|_| self.only_lists() && done.matched == 0)
        {
            return Err(self.missing(&parent.id));
        }
        self.insert(session, document.clone(), &mut done).await?;
        Ok((document, done))
    }

    /// The statements that change the other nodes for new ones at a place: `ids`, `count` with their descendants.
    pub(super) fn make_room(&self, spot: &Spot, ids: &[Bson], count: i64) -> Vec<Document> {
        let scope = spot.scope.as_ref();
        let mut statements = self.shift_behind(scope, spot.left, 2 * count, spot.around(self));
        if let Some(parent) = &spot.parent {
            let children = i64::try_from(ids.len()).unwrap_or(i64::MAX);
            statements.extend(self.list_children(&parent.id, ids, spot.index));
            statements.extend(self.count_children(&parent.id, children));
        }
        statements.extend(self.count_descendants(&spot.lineage, count));
        statements
    }

    /// All kept fields of a node without children at a place.
    fn fields_of_leaf(&self, spot: &Spot) -> Result<Document> {
        let mut fields = self.fields_at(spot)?;
        if let Some((left, right)) = self.tree.bounds {
            fields.insert(left, stored(spot.left));
            fields.insert(right, stored(spot.left + 1));
        }
        if let Some(children) = self.tree.children {
            fields.insert(children, Vec::<Bson>::new());
        }
        for count in [self.tree.child_count, self.tree.descendant_count] {
            fields.extend(count.map(|field| (field.to_owned(), Bson::Int32(0))));
        }
        Ok(fields)
    }

    /// The other trees of the model.
    pub(super) fn others(&self) -> impl Iterator<Item = Self> + use<> {
        let (store, model, own) = (self.store.clone(), self.model, self.tree);
        let others = model.trees.iter();
        let others = others.filter(move |tree| tree.name != own.name);
        others.map(move |tree| Self {
            store: store.clone(),
            model,
            tree,
        })
    }

    /// The kept fields of a new node that is inserted into another tree: it is the last root of this one.
    async fn fields_of_root(
        &self,
        mut session: Option<&mut Session>,
        document: &RawDocument,
    ) -> Result<Document> {
        let scope = self.scope_of(document)?;
        self.fence(within!(session), scope.as_ref()).await?;
        let spot = self
            .spot(session, &Target::LAST_ROOT, scope.as_ref(), None)
            .await?;
        self.fields_of_leaf(&spot)
    }

    /// Moves a node and its subtree to a place.
    pub(super) async fn relocate(
        &self,
        mut session: Option<&mut Session>,
        id: &Bson,
        target: &Target,
    ) -> Result<TreeWrite> {
        let node = self.node(within!(session), id).await?;
        self.fence(within!(session), node.scope.as_ref()).await?;
        let mut done = TreeWrite::default();
        self.relocate_within(session, &node, target, &mut done)
            .await?;
        Ok(done)
    }

    /// Moves a node, behind the fence of its tree.
    async fn relocate_within(
        &self,
        mut session: Option<&mut Session>,
        node: &Node,
        target: &Target,
        done: &mut TreeWrite,
    ) -> Result<()> {
        let spot = self
            .spot(within!(session), target, node.scope.as_ref(), Some(node))
            .await?;
        let own = id_key(&node.id)?;
        // Where the lineage has only the parent, the bounds show what is above it.
        let by_bounds = self.tree.bounds.is_some() && !self.depends_on_lineage();
        let encloses =
            |parent: &Node| by_bounds && node.left <= parent.left && parent.right <= node.right;
        let mut is_below = spot.parent.as_ref().is_some_and(encloses);
        for ancestor in &spot.lineage {
            is_below |= id_key(ancestor)? == own;
        }
        if is_below {
            return Err(self.refused(
                TreeRefusal::OwnSubtree,
                format!("the node {} can't move into its own subtree", node.id),
            ));
        }
        let before = self.lineage_to_leave(within!(session), node).await?;
        let stays = match (before.last(), &spot.parent) {
            (None, None) => true,
            (Some(before), Some(after)) => id_key(before)? == id_key(&after.id)?,
            _ => false,
        };
        if !stays && self.tree.max_depth.is_some() {
            let height = self.height(within!(session), node, before.len()).await?;
            self.check_depth(&spot, height)?;
        }
        let mut statements = Vec::new();
        if !stays && self.keeps_lineage() {
            let path = node.path.as_deref().unwrap_or(",");
            let lineage = Lineage {
                dropped: before.len(),
                path,
                ancestors: &spot.lineage,
            };
            let filter = self.descendants(within!(session), node, None).await?;
            statements.push(self.change_lineage(filter, &lineage)?);
        }
        statements.extend(self.shift_subtree(node, &spot, &before));
        let mut fields = self.fields_at(&spot)?;
        if stays {
            let order = self.tree.order;
            fields = fields
                .into_iter()
                .filter(|(field, _)| Some(field.as_str()) == order)
                .collect();
        }
        if !fields.is_empty() {
            statements.push(doc! {"q": Self::by_id(&node.id), "u": {"$set": fields}});
        }
        if self.only_lists() {
            statements.extend(self.unlist_everywhere(&node.id));
        } else if let Some(parent) = before.last() {
            statements.extend(self.unlist_child(parent, &node.id));
        }
        if let Some(parent) = &spot.parent {
            statements.extend(self.list_children(
                &parent.id,
                std::slice::from_ref(&node.id),
                spot.index,
            ));
        }
        if !stays {
            statements.extend(before.last().and_then(|id| self.count_children(id, -1)));
            let after = spot.parent.as_ref();
            statements.extend(after.and_then(|parent| self.count_children(&parent.id, 1)));
            let size = node.descendant_count + 1;
            statements.extend(self.count_descendants(&before, -size));
            statements.extend(self.count_descendants(&spot.lineage, size));
        }
        self.update(session, statements, done).await
    }

    /// The ancestors of a node that moves, as far as anything depends on them.
    async fn lineage_to_leave(
        &self,
        session: Option<&mut Session>,
        node: &Node,
    ) -> Result<Vec<Bson>> {
        if self.depends_on_lineage() {
            return self.lineage(session, node).await;
        }
        let tree = self.tree;
        let is_known = tree.parent.is_some();
        // A list of children alone is found by the child; bounds alone depend on no parent.
        let is_kept = tree.children.is_some() && !self.only_lists() || tree.child_count.is_some();
        if !is_known && !is_kept {
            return Ok(Vec::new());
        }
        let parent = self.parent_of(session, node).await?;
        Ok(parent.into_iter().collect())
    }

    /// The statements that move the bounds of a subtree, and of what lies between its old place and its new one.
    fn shift_subtree(&self, node: &Node, spot: &Spot, before: &[Bson]) -> Vec<Document> {
        if self.tree.bounds.is_none() {
            return Vec::new();
        }
        let width = node.width();
        let (subtree, between) = if spot.left > node.right {
            let between = (node.right + 1, spot.left - 1, -width);
            (spot.left - node.right - 1, between)
        } else {
            (spot.left - node.left, (spot.left, node.left - 1, width))
        };
        let (from, to, by) = between;
        if from > to {
            return Vec::new();
        }
        let shifts = [
            Shift {
                from: node.left,
                to: node.right,
                by: subtree,
            },
            Shift { from, to, by },
        ];
        let scope = node.scope.as_ref();
        if !self.depends_on_lineage() {
            return self.shift(scope, &shifts, Around::Bounds);
        }
        let mut ancestors = before.to_vec();
        ancestors.extend(spot.lineage.iter().cloned());
        self.shift(scope, &shifts, Around::Ids(&ancestors))
    }

    /// Swaps two nodes, each with its subtree.
    pub(super) async fn swap_nodes(
        &self,
        mut session: Option<&mut Session>,
        one: &Bson,
        other: &Bson,
    ) -> Result<TreeWrite> {
        let mut done = TreeWrite::default();
        let first = self.node(within!(session), one).await?;
        self.fence(within!(session), first.scope.as_ref()).await?;
        if id_key(one)? == id_key(other)? {
            return Ok(done);
        }
        let second = self.node(within!(session), other).await?;
        for (node, inside) in [(&first, &second), (&second, &first)] {
            let around = self.lineage(within!(session), node).await?;
            if around.contains(&inside.id) {
                return Err(self.refused(
                    TreeRefusal::OwnSubtree,
                    format!(
                        "the node {} can't swap with its ancestor {}",
                        node.id, inside.id
                    ),
                ));
            }
        }
        // The place of the first, by the neighbour that stays where it is.
        let parent = self.parent_of(within!(session), &first).await?;
        let neighbours = self.neighbours(within!(session), &first).await?;
        let place = match neighbours {
            (_, Some(next)) if next == second.id => None,
            (_, Some(next)) => Some(Target::Beside {
                sibling: next,
                after: false,
            }),
            (Some(previous), None) if previous == second.id => {
                // The second is directly before the first: only one of them has to move.
                let target = Target::Beside {
                    sibling: second.id.clone(),
                    after: false,
                };
                self.relocate_within(session, &first, &target, &mut done)
                    .await?;
                return Ok(done);
            }
            (Some(previous), None) => Some(Target::Beside {
                sibling: previous,
                after: true,
            }),
            (None, None) => Some(Target::Under {
                parent,
                first: false,
            }),
        };
        let Some(place) = place else {
            let target = Target::Beside {
                sibling: second.id.clone(),
                after: true,
            };
            self.relocate_within(session, &first, &target, &mut done)
                .await?;
            return Ok(done);
        };
        let target = Target::Beside {
            sibling: second.id.clone(),
            after: false,
        };
        self.relocate_within(within!(session), &first, &target, &mut done)
            .await?;
        let second = self.node(within!(session), other).await?;
        self.relocate_within(session, &second, &place, &mut done)
            .await?;
        Ok(done)
    }

    /// The scope of a document to insert.
    pub(super) fn scope_of(&self, document: &RawDocument) -> Result<Option<Bson>> {
        let Some(field) = self.tree.scope else {
            return Ok(None);
        };
        let value = document.get(field).ok().flatten();
        value
            .map(|value| Bson::try_from(value).map_err(Error::encode))
            .transpose()
    }

    /// Refuses ids that the tree could not refer to.
    pub(super) fn check_id(&self, id: &Bson) -> Result<()> {
        if self.tree.path.is_some() {
            path_text(id).map_err(|error| error.with_model(self.model.name))?;
        }
        let root_is_zero = matches!(self.tree.parent, Some((_, RootParent::Zero)));
        if root_is_zero && id_key(id)? == id_key(&Bson::Int32(0))? {
            let message = "a node can't have the id 0, which stands for the parent of a root";
            return Err(self.refused(TreeRefusal::Id, message));
        }
        Ok(())
    }

    /// Refuses a place that is too deep for a node with this many levels below it.
    fn check_depth(&self, spot: &Spot, height: usize) -> Result<()> {
        self.check_level(spot.lineage.len() + height)
    }

    /// Refuses a node with too many ancestors.
    pub(super) fn check_level(&self, depth: usize) -> Result<()> {
        let Some(max) = self.tree.max_depth else {
            return Ok(());
        };
        if depth > max as usize {
            return Err(self.refused(
                TreeRefusal::TooDeep,
                format!(
                    "a node would have {depth} ancestors, and the tree declares `max_depth = {max}`"
                ),
            ));
        }
        Ok(())
    }
}

/// The document with these values in place of its own; fields that it lacks follow at the end.
pub(super) fn with_fields<N: AsRef<str>>(
    document: &RawDocument,
    fields: impl IntoIterator<Item = (N, Bson)>,
) -> Result<RawDocumentBuf> {
    let mut fields: Vec<(N, Bson)> = fields.into_iter().collect();
    let mut changed = RawDocumentBuf::new();
    for element in document {
        let (name, value) = element.map_err(Error::encode)?;
        let own = |(field, _): &(N, Bson)| field.as_ref() == name.as_str();
        match fields.iter().position(own) {
            Some(at) => {
                let (_, value) = fields.remove(at);
                changed.append(name, RawBson::try_from(value).map_err(Error::encode)?);
            }
            None => changed.append(name, value),
        }
    }
    for (name, value) in fields {
        let value = RawBson::try_from(value).map_err(Error::encode)?;
        let name = bson::raw::CString::try_from(name.as_ref()).map_err(Error::encode)?;
        changed.append(name, value);
    }
    Ok(changed)
}
