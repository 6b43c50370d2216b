//! Update statements that keep the fields of a tree.

use bson::{Bson, Document, doc};

use super::shift::{EnclosingNodes, MARK, Shift, Shifting};
use crate::collection::equality;
use crate::error::Result;
use crate::tree::node::stored;
use crate::tree::tree_store::TreeStore;

/// How the lineage of descendants changes: the first ancestors are replaced.
#[derive(Debug)]
pub(in crate::tree) struct Lineage<'a> {
    /// How many ancestors are dropped.
    pub(in crate::tree) dropped: usize,
    /// The part of the path that is dropped.
    pub(in crate::tree) path: &'a str,
    /// The ancestors that come instead, the root first.
    pub(in crate::tree) ancestors: &'a [Bson],
}

impl TreeStore<'_> {
    /// The statement that changes the lineage of the nodes that match.
    pub(in crate::tree) fn change_lineage(
        &self,
        filter: Document,
        lineage: &Lineage<'_>,
    ) -> Result<Document> {
        let mut set = Document::new();
        let dropped = i64::try_from(lineage.dropped).unwrap_or(i64::MAX);
        if let Some(ancestors) = self.tree.ancestors {
            let rest = doc! {"$slice": [format!("${ancestors}"), dropped, i32::MAX]};
            set.insert(
                ancestors,
                doc! {"$concatArrays": [{"$literal": lineage.ancestors}, rest]},
            );
        }
        if let Some((path, _)) = self.tree.path {
            let bytes = i64::try_from(lineage.path.len()).unwrap_or(i64::MAX);
            let rest = doc! {"$substrBytes": [format!("${path}"), bytes, -1]};
            let before = self.path_of(lineage.ancestors)?;
            let changed = match before {
                Some(before) => doc! {"$concat": [{"$literal": before}, rest]},
                None => {
                    doc! {"$cond": [{"$eq": [rest.clone(), ""]}, Bson::Null, {"$concat": [",", rest]}]}
                }
            };
            set.insert(path, changed);
        }
        if let Some(depth) = self.tree.depth {
            let by = i64::try_from(lineage.ancestors.len()).unwrap_or(i64::MAX) - dropped;
            set.insert(depth, doc! {"$add": [format!("${depth}"), stored(by)]});
        }
        Ok(doc! {"q": filter, "u": [{"$set": set}], "multi": true})
    }

    /// The statements that move bounds.
    pub(super) fn shift(&self, scope: Option<&Bson>, shifting: &Shifting) -> Vec<Document> {
        match *shifting.shifts.as_slice() {
            [
                Shift {
                    from,
                    to: i64::MAX,
                    by,
                },
            ] => self.shift_behind(scope, from, by, &shifting.enclosing),
            _ => self.shift_with(scope, shifting, |moved| moved),
        }
    }

    /// The statements of the first step of a move of bounds: new bounds are written with a mark.
    pub(super) fn begin_shift(&self, scope: Option<&Bson>, shifting: &Shifting) -> Vec<Document> {
        self.shift_with(scope, shifting, |moved| doc! {"$add": [moved, MARK]})
    }

    /// The statement of the second step: the marks are removed.
    pub(super) fn end_shift(&self, scope: Option<&Bson>) -> Option<Document> {
        let (left, right) = self.tree.bounds?;
        let filter = self.in_scope(scope, doc! {left: {"$gte": MARK}});
        let bound = |field: &str| {
            let bound = doc! {"$subtract": [format!("${field}"), MARK]};
            let is_int = doc! {"$lte": [&bound, i32::MAX]};
            doc! {"$cond": [is_int, {"$toInt": &bound}, &bound]}
        };
        let set = doc! {left: bound(left), right: bound(right)};
        Some(doc! {"q": filter, "u": [{"$set": set}], "multi": true})
    }

    /// The statements that move all bounds from a place on.
    fn shift_behind(
        &self,
        scope: Option<&Bson>,
        from: i64,
        by: i64,
        enclosing: &EnclosingNodes,
    ) -> Vec<Document> {
        let Some((left, right)) = self.tree.bounds else {
            return Vec::new();
        };
        let behind = self.in_scope(scope, doc! {left: {"$gte": from}});
        let both = doc! {"$inc": {left: stored(by), right: stored(by)}};
        let end = doc! {"$inc": {right: stored(by)}};
        let enclosing = self.enclosing_filter(scope, enclosing, from, &doc! {"$gte": from});
        // The nodes around the place first: afterwards, nodes behind it could have bounds on both sides of it.
        [
            enclosing.map(|enclosing| (enclosing, end)),
            Some((behind, both)),
        ]
        .into_iter()
        .flatten()
        .map(|(filter, change)| doc! {"q": filter, "u": change, "multi": true})
        .collect()
    }

    /// The statements that write moved bounds as `written` says.
    fn shift_with(
        &self,
        scope: Option<&Bson>,
        shifting: &Shifting,
        written: impl Fn(Document) -> Document,
    ) -> Vec<Document> {
        let Some((left, right)) = self.tree.bounds else {
            return Vec::new();
        };
        let Some((from, to)) = shifting.range() else {
            return Vec::new();
        };
        let moved = |field: &str| {
            let field = format!("${field}");
            let branches = shifting.shifts.iter().map(|shift| {
                let mut inside = vec![doc! {"$gte": [&field, shift.from]}];
                if shift.to < i64::MAX {
                    inside.push(doc! {"$lte": [&field, shift.to]});
                }
                Bson::from(
                    doc! {"case": {"$and": inside}, "then": {"$add": [&field, stored(shift.by)]}},
                )
            });
            written(doc! {"$switch": {"branches": branches.collect::<Vec<_>>(), "default": &field}})
        };
        // Marked bounds are moved already.
        let range = if to < i64::MAX {
            doc! {"$gte": from, "$lte": to}
        } else {
            doc! {"$gte": from, "$lt": MARK}
        };
        let set = doc! {"$set": {left: moved(left), right: moved(right)}};
        let inside = self.in_scope(scope, doc! {left: &range});
        let enclosing = self.enclosing_filter(scope, &shifting.enclosing, from, &range);
        let filters = [Some(inside), enclosing].into_iter().flatten();
        let statements = filters.map(|filter| doc! {"q": filter, "u": [&set], "multi": true});
        statements.collect()
    }

    /// The filter of the ancestors of nodes whose left bounds are not before `from`, if there are any.
    fn enclosing_filter(
        &self,
        scope: Option<&Bson>,
        enclosing: &EnclosingNodes,
        from: i64,
        ends: &Document,
    ) -> Option<Document> {
        let (left, right) = self.tree.bounds?;
        match enclosing {
            EnclosingNodes::Ids(ids) if ids.is_empty() => None,
            // The other nodes have been moved already.
            EnclosingNodes::Ids(ids) => Some(doc! {"_id": {"$in": ids}, left: {"$lt": from}}),
            EnclosingNodes::Bounds => {
                Some(self.in_scope(scope, doc! {left: {"$lt": from}, right: ends}))
            }
        }
    }

    /// The statement that adds to the number of children of a node.
    pub(in crate::tree) fn count_children(&self, parent: &Bson, by: i64) -> Option<Document> {
        let field = self.tree.child_count?;
        Some(doc! {"q": Self::by_id(parent), "u": {"$inc": {field: stored(by)}}})
    }

    /// The statement that adds to the number of descendants of nodes.
    pub(in crate::tree) fn count_descendants(
        &self,
        ancestors: &[Bson],
        by: i64,
    ) -> Option<Document> {
        let field = self
            .tree
            .descendant_count
            .filter(|_| !ancestors.is_empty())?;
        let filter = doc! {"_id": {"$in": ancestors}};
        Some(doc! {"q": filter, "u": {"$inc": {field: stored(by)}}, "multi": true})
    }

    /// The statement that adds children to the list of a node, at an index or at the end.
    pub(in crate::tree) fn list_children(
        &self,
        parent: &Bson,
        ids: &[Bson],
        index: Option<i64>,
    ) -> Option<Document> {
        let field = self.tree.children?;
        let mut push = doc! {"$each": ids};
        if let Some(index) = index {
            push.insert("$position", index);
        }
        Some(doc! {"q": Self::by_id(parent), "u": {"$push": {field: push}}})
    }

    /// The statement that removes a child from the list of a node.
    pub(in crate::tree) fn unlist_child(&self, parent: &Bson, id: &Bson) -> Option<Document> {
        let field = self.tree.children?;
        Some(doc! {"q": Self::by_id(parent), "u": {"$pull": {field: {"$eq": id.clone()}}}})
    }

    /// The statement that removes a node from the lists of all its parents.
    pub(in crate::tree) fn unlist_everywhere(&self, id: &Bson) -> Option<Document> {
        let field = self.tree.children?;
        let mut change = doc! {"$pull": {field: {"$eq": id.clone()}}};
        if let Some(count) = self.tree.child_count {
            change.insert("$inc", doc! {count: -1});
        }
        Some(doc! {"q": {field: equality(id.clone())}, "u": change, "multi": true})
    }

    /// The statement that exchanges two nodes in the lists of their parents.
    pub(in crate::tree) fn exchange_children(
        &self,
        parents: &[Bson],
        one: &Bson,
        other: &Bson,
    ) -> Option<Document> {
        let field = self.tree.children.filter(|_| !parents.is_empty())?;
        let case = |from: &Bson, to: &Bson| doc! {"case": {"$eq": ["$$child", {"$literal": from}]}, "then": {"$literal": to}};
        let exchanged = doc! {"$switch": {"branches": [case(one, other), case(other, one)], "default": "$$child"}};
        let map = doc! {"$map": {"input": format!("${field}"), "as": "child", "in": exchanged}};
        let filter = doc! {"_id": {"$in": parents}};
        Some(doc! {"q": filter, "u": [{"$set": {field: map}}], "multi": true})
    }
}
