//! Update statements that keep the fields of a tree.

use bson::{Bson, Document, doc};

use super::forest::Forest;
use super::node::{Node, child_path, stored};
use super::spot::Spot;
use crate::collection::equality;
use crate::error::Result;

/// Numbers from `from` to `to` move by `by`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) by: i64,
}

/// How the nodes around moved bounds are found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Around<'a> {
    /// They are among these.
    Ids(&'a [Bson]),
    /// By their own bounds.
    Bounds,
}

/// How the lineage of descendants changes: the first ancestors are replaced.
#[derive(Debug)]
pub(super) struct Lineage<'a> {
    /// How many ancestors are dropped.
    pub(super) dropped: usize,
    /// The part of the path that is dropped.
    pub(super) path: &'a str,
    /// The ancestors that come instead, the root first.
    pub(super) ancestors: &'a [Bson],
}

impl Forest {
    /// The path of a node with these ancestors; `None` for a root.
    pub(super) fn path_of(&self, ancestors: &[Bson]) -> Result<Option<String>> {
        let mut path = None;
        if self.tree.path.is_some() {
            for id in ancestors {
                path = Some(child_path(path.as_deref(), id)?);
            }
        }
        Ok(path)
    }

    /// Whether nodes keep what depends on all of their ancestors.
    pub(super) fn keeps_lineage(&self) -> bool {
        self.tree.ancestors.is_some() || self.tree.path.is_some() || self.tree.depth.is_some()
    }

    /// Whether a change needs the ids of all ancestors of a node, and not only its parent. Bounds find ancestors, too.
    pub(super) fn depends_on_lineage(&self) -> bool {
        self.keeps_lineage()
            || self.tree.descendant_count.is_some()
            || self.tree.max_depth.is_some()
    }

    /// The statement that changes the lineage of the nodes that match.
    pub(super) fn change_lineage(
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

    /// The statements that move all bounds from a place on, below these ancestors.
    pub(super) fn shift_behind(
        &self,
        scope: Option<&Bson>,
        from: i64,
        by: i64,
        around: Around<'_>,
    ) -> Vec<Document> {
        let Some((left, right)) = self.tree.bounds else {
            return Vec::new();
        };
        let behind = self.in_scope(scope, doc! {left: {"$gte": from}});
        let both = doc! {"$inc": {left: stored(by), right: stored(by)}};
        let end = doc! {"$inc": {right: stored(by)}};
        let around = self.around(scope, around, from, &doc! {"$gte": from});
        // The nodes around the place first: afterwards, nodes behind it could have bounds on both sides of it.
        [around.map(|around| (around, end)), Some((behind, both))]
            .into_iter()
            .flatten()
            .map(|(filter, change)| doc! {"q": filter, "u": change, "multi": true})
            .collect()
    }

    /// The statements that move bounds, of the nodes with a left bound in the shifts and of these ancestors.
    pub(super) fn shift(
        &self,
        scope: Option<&Bson>,
        shifts: &[Shift],
        around: Around<'_>,
    ) -> Vec<Document> {
        let Some((left, right)) = self.tree.bounds else {
            return Vec::new();
        };
        let from = shifts.iter().map(|shift| shift.from).min();
        let to = shifts.iter().map(|shift| shift.to).max();
        let (Some(from), Some(to)) = (from, to) else {
            return Vec::new();
        };
        let moved = |field: &str| {
            let field = format!("${field}");
            let branches = shifts.iter().map(|shift| {
                let mut inside = vec![doc! {"$gte": [&field, shift.from]}];
                if shift.to < i64::MAX {
                    inside.push(doc! {"$lte": [&field, shift.to]});
                }
                Bson::from(
                    doc! {"case": {"$and": inside}, "then": {"$add": [&field, stored(shift.by)]}},
                )
            });
            doc! {"$switch": {"branches": branches.collect::<Vec<_>>(), "default": &field}}
        };
        let mut range = doc! {"$gte": from};
        if to < i64::MAX {
            range.insert("$lte", to);
        }
        let set = doc! {"$set": {left: moved(left), right: moved(right)}};
        let inside = self.in_scope(scope, doc! {left: &range});
        let filters = [Some(inside), self.around(scope, around, from, &range)];
        let statements = filters.into_iter().flatten();
        let statements = statements.map(|filter| doc! {"q": filter, "u": [&set], "multi": true});
        statements.collect()
    }

    /// The filter of the ancestors of nodes whose left bounds are not before `from`, if there are any.
    fn around(
        &self,
        scope: Option<&Bson>,
        around: Around<'_>,
        from: i64,
        ends: &Document,
    ) -> Option<Document> {
        let (left, right) = self.tree.bounds?;
        match around {
            Around::Ids([]) => None,
            // The other nodes have been moved already.
            Around::Ids(ids) => Some(doc! {"_id": {"$in": ids}, left: {"$lt": from}}),
            Around::Bounds => Some(self.in_scope(scope, doc! {left: {"$lt": from}, right: ends})),
        }
    }

    /// The statement that adds to the number of children of a node.
    pub(super) fn count_children(&self, parent: &Bson, by: i64) -> Option<Document> {
        let field = self.tree.child_count?;
        Some(doc! {"q": Self::by_id(parent), "u": {"$inc": {field: stored(by)}}})
    }

    /// The statement that adds to the number of descendants of nodes.
    pub(super) fn count_descendants(&self, ancestors: &[Bson], by: i64) -> Option<Document> {
        let field = self
            .tree
            .descendant_count
            .filter(|_| !ancestors.is_empty())?;
        let filter = doc! {"_id": {"$in": ancestors}};
        Some(doc! {"q": filter, "u": {"$inc": {field: stored(by)}}, "multi": true})
    }

    /// The statement that adds children to the list of a node, at an index or at the end.
    pub(super) fn list_children(
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
    pub(super) fn unlist_child(&self, parent: &Bson, id: &Bson) -> Option<Document> {
        let field = self.tree.children?;
        Some(doc! {"q": Self::by_id(parent), "u": {"$pull": {field: {"$eq": id.clone()}}}})
    }

    /// The statement that removes a node from the lists of all its parents.
    pub(super) fn unlist_everywhere(&self, id: &Bson) -> Option<Document> {
        let field = self.tree.children?;
        let mut change = doc! {"$pull": {field: {"$eq": id.clone()}}};
        if let Some(count) = self.tree.child_count {
            change.insert("$inc", doc! {count: -1});
        }
        Some(doc! {"q": {field: equality(id.clone())}, "u": change, "multi": true})
    }

    /// The kept fields that a node has because of its place, without its bounds.
    pub(super) fn fields_at(&self, spot: &Spot) -> Result<Document> {
        let tree = self.tree;
        let mut fields = Document::new();
        if let Some((parent, root)) = tree.parent {
            let id = spot.parent.as_ref().map(|parent: &Node| parent.id.clone());
            fields.insert(parent, id.unwrap_or_else(|| root.value()));
        }
        if let Some(ancestors) = tree.ancestors {
            fields.insert(ancestors, spot.lineage.clone());
        }
        if let Some((path, _)) = tree.path {
            fields.insert(path, self.path_of(&spot.lineage)?);
        }
        if let Some(depth) = tree.depth {
            fields.insert(
                depth,
                stored(i64::try_from(spot.lineage.len()).unwrap_or(i64::MAX)),
            );
        }
        if let Some(field) = tree.order {
            fields.insert(field, self.ranks(&spot.ranks, 1)?.pop());
        }
        Ok(fields)
    }
}
