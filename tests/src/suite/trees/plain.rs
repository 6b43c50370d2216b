//! A plain tree in memory, which the stored trees are compared with.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document, doc};
use odm::model::TreeMeta;

/// A forest of numbered nodes, with siblings in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    /// The children of each node; those of 0 are the roots.
    children: BTreeMap<i32, Vec<i32>>,
    parents: BTreeMap<i32, i32>,
}

/// A place among the children of a node.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    FirstOf(i32),
    LastOf(i32),
    Before(i32),
    After(i32),
}

impl Plain {
    pub(super) fn ids(&self) -> Vec<i32> {
        self.parents.keys().copied().collect()
    }

    /// 0 for a root.
    pub(super) fn parent(&self, id: i32) -> i32 {
        self.parents[&id]
    }

    pub(super) fn children(&self, id: i32) -> &[i32] {
        self.children.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The root first.
    pub(super) fn ancestors(&self, id: i32) -> Vec<i32> {
        let mut ancestors = Vec::new();
        let mut id = self.parent(id);
        while id != 0 {
            ancestors.insert(0, id);
            id = self.parent(id);
        }
        ancestors
    }

    /// The descendants in pre-order; all nodes for 0.
    pub(super) fn below(&self, id: i32) -> Vec<i32> {
        let mut below = Vec::new();
        for &child in self.children(id) {
            below.push(child);
            below.extend(self.below(child));
        }
        below
    }

    pub(super) fn parent_at(&self, place: Place) -> i32 {
        match place {
            Place::FirstOf(parent) | Place::LastOf(parent) => parent,
            Place::Before(sibling) | Place::After(sibling) => self.parent(sibling),
        }
    }

    /// Inserts a node, or puts back one that was taken out.
    pub(super) fn insert(&mut self, id: i32, place: Place) {
        let parent = self.parent_at(place);
        let siblings = self.children.entry(parent).or_default();
        let of = |sibling| siblings.iter().position(|one| *one == sibling).unwrap();
        let index = match place {
            Place::FirstOf(_) => 0,
            Place::LastOf(_) => siblings.len(),
            Place::Before(sibling) => of(sibling),
            Place::After(sibling) => of(sibling) + 1,
        };
        siblings.insert(index, id);
        self.parents.insert(id, parent);
    }

    fn take(&mut self, id: i32) -> usize {
        let siblings = self.children.get_mut(&self.parents[&id]).unwrap();
        let index = siblings.iter().position(|one| *one == id).unwrap();
        siblings.remove(index);
        index
    }

    /// Moves a node, unless the place is in its own subtree.
    pub(super) fn relocate(&mut self, id: i32, place: Place) -> bool {
        let parent = self.parent_at(place);
        if parent == id || self.below(id).contains(&parent) {
            return false;
        }
        self.take(id);
        self.insert(id, place);
        true
    }

    /// Swaps two nodes, unless one is in the subtree of the other.
    pub(super) fn swap(&mut self, one: i32, other: i32) -> bool {
        if self.below(one).contains(&other) || self.below(other).contains(&one) {
            return false;
        }
        let (parent, beside) = (self.parent(one), self.parent(other));
        let place =
            |plain: &Self, parent, id| plain.children(parent).iter().position(|it| *it == id);
        let first = place(self, parent, one).unwrap();
        let second = place(self, beside, other).unwrap();
        self.children.get_mut(&parent).unwrap()[first] = other;
        self.children.get_mut(&beside).unwrap()[second] = one;
        self.parents.insert(one, beside);
        self.parents.insert(other, parent);
        true
    }

    /// Deletes a node and its descendants.
    pub(super) fn cascade(&mut self, id: i32) {
        self.take(id);
        for below in [vec![id], self.below(id)].concat() {
            self.children.remove(&below);
            self.parents.remove(&below);
        }
    }

    /// Deletes a node, and puts its children in its place.
    pub(super) fn adopt(&mut self, id: i32) {
        let parent = self.parent(id);
        let index = self.take(id);
        let children = self.children.remove(&id).unwrap_or_default();
        self.parents.remove(&id);
        for child in &children {
            self.parents.insert(*child, parent);
        }
        let siblings = self.children.get_mut(&parent).unwrap();
        siblings.splice(index..index, children);
    }

    /// Deletes a node, and makes its children the last roots.
    pub(super) fn make_roots(&mut self, id: i32) {
        self.take(id);
        self.parents.remove(&id);
        for child in self.children.remove(&id).unwrap_or_default() {
            self.children.entry(0).or_default().push(child);
            self.parents.insert(child, 0);
        }
    }

    /// The kept fields of a node, except the rank and the bounds.
    pub(super) fn fields(&self, tree: &TreeMeta, id: i32) -> Document {
        let ancestors = self.ancestors(id);
        let mut fields = doc! {};
        if let Some((field, root)) = tree.parent {
            let parent = self.parent(id);
            fields.insert(
                field,
                if parent == 0 {
                    root.value()
                } else {
                    parent.into()
                },
            );
        }
        if let Some(field) = tree.children {
            fields.insert(field, self.children(id));
        }
        if let Some((field, _)) = tree.path {
            let parts: Vec<String> = ancestors.iter().map(i32::to_string).collect();
            let path = (!ancestors.is_empty()).then(|| format!(",{},", parts.join(",")));
            fields.insert(field, path);
        }
        if let Some(field) = tree.depth {
            fields.insert(field, i32::try_from(ancestors.len()).unwrap());
        }
        if let Some(field) = tree.ancestors {
            fields.insert(field, ancestors);
        }
        if let Some(field) = tree.child_count {
            fields.insert(field, i32::try_from(self.children(id).len()).unwrap());
        }
        if let Some(field) = tree.descendant_count {
            fields.insert(field, i32::try_from(self.below(id).len()).unwrap());
        }
        fields
    }

    /// Compares every stored node with this tree.
    #[track_caller]
    pub(super) fn assert_stored(&self, tree: &TreeMeta, stored: &[Document]) {
        let by_id: BTreeMap<i32, &Document> = stored
            .iter()
            .map(|document| (document.get_i32("_id").unwrap(), document))
            .collect();
        assert_eq!(by_id.keys().copied().collect::<Vec<_>>(), self.ids());
        for (id, document) in &by_id {
            for (field, expected) in self.fields(tree, *id) {
                assert_eq!(
                    document.get(&field),
                    Some(&expected),
                    "{field} of {document}"
                );
            }
        }
        if let Some((left, right)) = tree.bounds {
            let mut next = 1;
            self.assert_bounds(0, (left, right), &by_id, &mut next);
        }
        if let Some(field) = tree.order {
            for siblings in self.children.values() {
                let ranks = siblings.iter().map(|id| by_id[id].get_str(field).unwrap());
                assert!(
                    ranks.is_sorted_by(|one, next| one < next),
                    "ranks of {siblings:?}"
                );
            }
        }
    }

    #[track_caller]
    fn assert_bounds(
        &self,
        id: i32,
        (left, right): (&str, &str),
        stored: &BTreeMap<i32, &Document>,
        next: &mut i32,
    ) {
        for child in self.children(id) {
            let document = stored[child];
            assert_eq!(
                document.get(left),
                Some(&Bson::Int32(*next)),
                "left of {document}"
            );
            *next += 1;
            self.assert_bounds(*child, (left, right), stored, next);
            assert_eq!(
                document.get(right),
                Some(&Bson::Int32(*next)),
                "right of {document}"
            );
            *next += 1;
        }
    }
}
