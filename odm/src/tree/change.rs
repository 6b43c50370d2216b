//! The structural changes: insert and move.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, RawBson};

use super::forest::{Forest, TreeWrite};
use super::node::{Node, id_key, stored, stored_scope};
use super::position::Target;
use super::spot::{Moving, Spot};
use super::statements::{Around, Lineage, Shift};
use super::unfinished::{Listed, Unfinished};
use super::writes::{self, Writes};
use crate::error::{Error, Result, TreeRefusal};
use crate::model::TreeMeta;
use crate::model::tree::{RootParent, path_text};

impl Forest<'_> {
    /// Inserts an encoded document at a place; returns it as it is stored.
    pub(super) async fn insert_at(
        &mut self,
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
        let fence = self.fence(scope.as_ref()).await?;
        let spot = self.spot(target, scope.as_ref(), None).await?;
        self.check_depth(&spot, 0)?;
        let record = || Unfinished::new("insert", &id);
        let mut writes = Writes::new(self.tree, fence, record());
        self.make_room(&mut writes, &spot, std::slice::from_ref(&id), 1);
        let mut fields = self.fields_of_leaf(&spot)?;
        let mut others = Vec::new();
        for tree in self.others() {
            let mut other = self.other(tree);
            let scope = other.scope_of(document)?;
            let fence = other.fence(scope.as_ref()).await?;
            let root = other.last_root(scope.as_ref()).await?;
            fields.extend(other.fields_of_leaf(&root)?);
            others.push(Writes::new(tree, fence, record()));
        }
        let document = with_fields(document, fields)?;
        writes.insert = document.clone().into();
        others.insert(0, writes);
        let mut done = TreeWrite::default();
        writes::run(self, others, &mut done).await?;
        Ok((document, done))
    }

    /// Changes the other nodes for new ones at a place: `ids`, `count` with their descendants.
    pub(super) fn make_room(&self, writes: &mut Writes, spot: &Spot, ids: &[Bson], count: i64) {
        if !spot.is_end {
            let open = Shift {
                from: spot.left,
                to: i64::MAX,
                by: 2 * count,
            };
            writes.moves(vec![open], spot.around(self));
        }
        if let Some(parent) = &spot.parent {
            let children = i64::try_from(ids.len()).unwrap_or(i64::MAX);
            writes
                .then
                .extend(self.list_children(&parent.id, ids, spot.index));
            writes
                .then
                .extend(self.count_children(&parent.id, children));
            writes.record.lists = self.recorded_list(Some(&parent.id), spot.index, ids);
            writes.requires = self.only_lists().then(|| parent.id.clone());
        }
        writes
            .then
            .extend(self.count_descendants(&spot.lineage, count));
    }

    /// The record of the places of nodes in a list.
    pub(super) fn recorded_list(
        &self,
        parent: Option<&Bson>,
        index: Option<i64>,
        nodes: &[Bson],
    ) -> Vec<Listed> {
        let listed = self.tree.children.map(|_| Listed {
            parent: parent.cloned(),
            index,
            nodes: nodes.to_vec(),
        });
        listed.into_iter().collect()
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
    pub(super) fn others(&self) -> impl Iterator<Item = &'static TreeMeta> + use<> {
        let own = self.tree;
        let others = self.model.trees.iter().copied();
        others.filter(move |tree| tree.name != own.name)
    }

    /// The place of a new node in this tree if it is inserted into another one.
    pub(super) async fn last_root(&mut self, scope: Option<&Bson>) -> Result<Spot> {
        self.spot(&Target::LAST_ROOT, scope, None).await
    }

    /// Moves a node and its subtree to a place.
    pub(super) async fn relocate(&mut self, id: &Bson, target: &Target) -> Result<TreeWrite> {
        let fence = self.fence_of(id).await?;
        let moving = match target.node() {
            Some(named) => {
                let (node, named) = self.pair(id, named).await?;
                let named = Some(named);
                Moving { node, named }
            }
            None => Moving {
                node: self.node(id).await?,
                named: None,
            },
        };
        let node = &moving.node;
        let spot = self
            .spot(target, node.scope.as_ref(), Some(&moving))
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
        let before = self.lineage_to_leave(node).await?;
        let stays = match (before.last(), &spot.parent) {
            (None, None) => true,
            (Some(before), Some(after)) => id_key(before)? == id_key(&after.id)?,
            _ => false,
        };
        if !stays && self.tree.max_depth.is_some() {
            let height = self.height(node, before.len()).await?;
            self.check_depth(&spot, height)?;
        }
        let mut writes = Writes::new(self.tree, fence, Unfinished::new("move", &node.id));
        let mut fields = self.fields_at(&spot)?;
        if stays {
            let order = self.tree.order;
            fields = fields
                .into_iter()
                .filter(|(field, _)| Some(field.as_str()) == order)
                .collect();
        }
        writes.place(&node.id, fields);
        if !stays && self.keeps_lineage() {
            let change = self.lineage_change(node, &before, &spot.lineage).await?;
            writes.first.push(change);
        }
        let around = if self.depends_on_lineage() {
            Around::Ids([before.as_slice(), &spot.lineage].concat())
        } else {
            Around::Bounds
        };
        writes.moves(shifts(node, &spot), around);
        let then = &mut writes.then;
        if self.only_lists() {
            then.extend(self.unlist_everywhere(&node.id));
        } else if let Some(parent) = before.last() {
            then.extend(self.unlist_child(parent, &node.id));
        }
        let parent = spot.parent.as_ref().map(|parent| &parent.id);
        let ids = std::slice::from_ref(&node.id);
        then.extend(parent.and_then(|parent| self.list_children(parent, ids, spot.index)));
        if !stays {
            then.extend(before.last().and_then(|id| self.count_children(id, -1)));
            then.extend(parent.and_then(|parent| self.count_children(parent, 1)));
            let size = node.descendant_count + 1;
            then.extend(self.count_descendants(&before, -size));
            then.extend(self.count_descendants(&spot.lineage, size));
        }
        writes.record.lists = self.recorded_list(parent, spot.index, ids);
        let mut done = TreeWrite::default();
        writes::run(self, vec![writes], &mut done).await?;
        Ok(done)
    }

    /// The statement that changes the lineage of the descendants of a node.
    pub(super) async fn lineage_change(
        &mut self,
        node: &Node,
        before: &[Bson],
        after: &[Bson],
    ) -> Result<Document> {
        let lineage = Lineage {
            dropped: before.len(),
            path: node.path.as_deref().unwrap_or(","),
            ancestors: after,
        };
        let filter = self.descendants(node).await?;
        self.change_lineage(filter, &lineage)
    }

    /// The ancestors of a node that moves, as far as anything depends on them.
    async fn lineage_to_leave(&mut self, node: &Node) -> Result<Vec<Bson>> {
        if self.depends_on_lineage() {
            return self.lineage(node).await;
        }
        let tree = self.tree;
        let is_known = tree.parent.is_some();
        // A list of children alone is found by the child; bounds alone depend on no parent.
        let is_kept = tree.children.is_some() && !self.only_lists() || tree.child_count.is_some();
        if !is_known && !is_kept {
            return Ok(Vec::new());
        }
        let parent = self.parent_of(node).await?;
        Ok(parent.into_iter().collect())
    }

    /// The scope of a document to insert.
    pub(super) fn scope_of(&self, document: &RawDocument) -> Result<Option<Bson>> {
        stored_scope(self.tree, document)
    }

    /// Whether there are ids that the tree could not refer to.
    pub(super) fn checks_ids(&self) -> bool {
        self.tree.path.is_some() || matches!(self.tree.parent, Some((_, RootParent::Zero)))
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

/// How bounds move with a subtree: those of its nodes, and of what lies between its old place and its new one.
fn shifts(node: &Node, spot: &Spot) -> Vec<Shift> {
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
    let subtree = Shift {
        from: node.left,
        to: node.right,
        by: subtree,
    };
    vec![subtree, Shift { from, to, by }]
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
