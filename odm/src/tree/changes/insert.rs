//! Inserts of nodes.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document};

use crate::error::{Error, Result, TreeRefusal};
use crate::model::TreeMeta;
use crate::tree::journal::{EnclosingNodes, Listed, Shift, Unfinished, Writes};
use crate::tree::node::{stored, with_fields};
use crate::tree::places::Placement;
use crate::tree::position::Target;
use crate::tree::tree_store::{TreeStore, TreeWrite};

impl TreeStore<'_> {
    /// Inserts an encoded document at a place; returns it as it is stored.
    pub(in crate::tree) async fn insert_at(
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
        let placement = self.placement(target, scope.as_ref(), None).await?;
        self.check_depth(&placement, 0)?;
        let record = || Unfinished::new("insert", &id);
        let mut writes = Writes::new(self.tree, fence, record());
        self.make_room(&mut writes, &placement, std::slice::from_ref(&id), 1);
        let mut fields = self.fields_of_leaf(&placement)?;
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
        self.run_writes(others, &mut done).await?;
        Ok((document, done))
    }

    /// Changes the other nodes for new ones at a place: `ids`, `count` with their descendants.
    pub(in crate::tree) fn make_room(
        &self,
        writes: &mut Writes,
        placement: &Placement,
        ids: &[Bson],
        count: i64,
    ) {
        if !placement.is_end {
            let open = Shift {
                from: placement.left,
                to: i64::MAX,
                by: 2 * count,
            };
            writes.moves(vec![open], self.enclosing_nodes(placement));
        }
        if let Some(parent) = &placement.parent {
            let children = i64::try_from(ids.len()).unwrap_or(i64::MAX);
            writes
                .then
                .extend(self.list_children(&parent.id, ids, placement.index));
            writes
                .then
                .extend(self.count_children(&parent.id, children));
            writes.record.lists = self.recorded_list(Some(&parent.id), placement.index, ids);
            writes.requires = self.only_lists().then(|| parent.id.clone());
        }
        writes
            .then
            .extend(self.count_descendants(&placement.lineage, count));
    }

    /// How to find the nodes around a place.
    fn enclosing_nodes(&self, placement: &Placement) -> EnclosingNodes {
        if placement.parent.is_none() || self.depends_on_lineage() {
            EnclosingNodes::Ids(placement.lineage.clone())
        } else {
            EnclosingNodes::Bounds
        }
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
    fn fields_of_leaf(&self, placement: &Placement) -> Result<Document> {
        let mut fields = self.fields_at(placement)?;
        if let Some((left, right)) = self.tree.bounds {
            fields.insert(left, stored(placement.left));
            fields.insert(right, stored(placement.left + 1));
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
    pub(in crate::tree) fn others(&self) -> impl Iterator<Item = &'static TreeMeta> + use<> {
        let own = self.tree;
        let others = self.model.trees.iter().copied();
        others.filter(move |tree| tree.name != own.name)
    }

    /// The place of a new node in this tree if it is inserted into another one.
    pub(in crate::tree) async fn last_root(&mut self, scope: Option<&Bson>) -> Result<Placement> {
        self.placement(&Target::LAST_ROOT, scope, None).await
    }
}
