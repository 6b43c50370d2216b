//! Descendants and ancestors of patterns that find them by `$graphLookup`, level by level on the server.

use bson::{Bson, Document, doc};

use super::forest::Forest;
use super::select::{Extent, Selection};
use crate::collection::equality;

/// The field with the number of steps to a found node.
const STEPS: &str = "__odm_steps";

/// The fields that lead from node to node.
struct Links<'t> {
    start: &'t str,
    from: &'t str,
    to: &'t str,
}

/// The stages that read nodes in one command.
#[derive(Debug)]
pub(super) struct Lookup {
    /// The node that the stages begin with.
    pub(super) id: Bson,
    pub(super) stages: Vec<Document>,
    /// Whether they return that node, too.
    pub(super) has_self: bool,
}

impl Forest<'_> {
    /// The stages that read the selected documents in one command, ancestors root first, and the id of the node that they
    /// start from. `None` if another field of the pattern finds them.
    pub(super) fn lookup_of(
        &self,
        selection: &Selection,
        extent: Extent,
        pre_order: bool,
    ) -> Option<Lookup> {
        let tree = self.tree;
        if tree.ancestors.is_some() || tree.path.is_some() || tree.bounds.is_some() {
            return None;
        }
        // The order of the node's own children is in its list.
        let has_self = pre_order && self.is_ordered_by_lists();
        let (id, mut stages) = match selection {
            Selection::Descendants(id) if !extent.with_self && has_self => {
                (id, self.with_below(id, extent)?)
            }
            Selection::Descendants(id) if !extent.with_self => (id, self.below(id, extent)?),
            Selection::Ancestors(id) => (id, self.above(id, extent)?),
            _ => return None,
        };
        let is_sorted = matches!(selection, Selection::Ancestors(_));
        if is_sorted {
            stages.push(doc! {"$sort": {format!("found.{STEPS}"): -1}});
        }
        stages.push(doc! {"$replaceRoot": {"newRoot": "$found"}});
        if is_sorted {
            stages.push(doc! {"$unset": STEPS});
        }
        Some(Lookup {
            id: id.clone(),
            stages,
            has_self: has_self && !is_sorted,
        })
    }

    /// The stages that find the ids of the descendants.
    pub(super) fn ids_below(&self, id: &Bson, max_depth: Option<u32>) -> Option<Vec<Document>> {
        let extent = Extent {
            with_self: false,
            max_depth,
        };
        let mut stages = self.below(id, extent)?;
        stages.push(doc! {"$project": {"_id": "$found._id"}});
        Some(stages)
    }

    /// The stages that find the ids of the ancestors, the root first.
    pub(super) fn ids_above(&self, id: &Bson) -> Option<Vec<Document>> {
        let mut stages = self.above(id, Extent::default())?;
        stages.push(doc! {"$sort": {format!("found.{STEPS}"): -1}});
        stages.push(doc! {"$project": {"_id": "$found._id"}});
        Some(stages)
    }

    /// The stages that find the node and its descendants in `found`, by the lists of children.
    fn with_below(&self, id: &Bson, extent: Extent) -> Option<Vec<Document>> {
        let levels = extent.max_depth.map(|levels| levels.saturating_add(1));
        let links = Links {
            start: "_id",
            from: self.tree.children?,
            to: "_id",
        };
        lookup(self, id, &links, None, levels)
    }

    /// The descendants: a document for each, with the node in `found`.
    fn below(&self, id: &Bson, extent: Extent) -> Option<Vec<Document>> {
        let links = |start, from, to| Links { start, from, to };
        match (self.tree.parent, self.tree.children) {
            (Some((parent, _)), _) => lookup(
                self,
                id,
                &links("_id", "_id", parent),
                None,
                extent.max_depth,
            ),
            (None, Some(children)) => lookup(
                self,
                id,
                &links(children, children, "_id"),
                None,
                extent.max_depth,
            ),
            (None, None) => None,
        }
    }

    /// The ancestors: a document for each, with the node in `found`. The node itself is among them with `with_self`.
    fn above(&self, id: &Bson, extent: Extent) -> Option<Vec<Document>> {
        let Extent {
            with_self,
            max_depth,
        } = extent;
        let links = |start, from, to| Links { start, from, to };
        match (self.tree.parent, self.tree.children) {
            (Some((parent, _)), _) if with_self => {
                let levels = max_depth.map(|levels| levels.saturating_add(1));
                lookup(self, id, &links("_id", parent, "_id"), Some(STEPS), levels)
            }
            (Some((parent, _)), _) => lookup(
                self,
                id,
                &links(parent, parent, "_id"),
                Some(STEPS),
                max_depth,
            ),
            (None, Some(children)) if !with_self => lookup(
                self,
                id,
                &links("_id", "_id", children),
                Some(STEPS),
                max_depth,
            ),
            _ => None,
        }
    }
}

fn lookup(
    forest: &Forest<'_>,
    id: &Bson,
    links: &Links<'_>,
    steps: Option<&str>,
    levels: Option<u32>,
) -> Option<Vec<Document>> {
    let mut lookup = doc! {
        "from": forest.collection(),
        "startWith": format!("${}", links.start),
        "connectFromField": links.from,
        "connectToField": links.to,
        "as": "found",
    };
    lookup.extend(steps.map(|field| ("depthField".to_owned(), field.into())));
    if let Some(levels) = levels {
        lookup.insert("maxDepth", i64::from(levels.checked_sub(1)?));
    }
    Some(vec![
        doc! {"$match": {"_id": equality(id.clone())}},
        doc! {"$graphLookup": lookup},
        doc! {"$unwind": "$found"},
    ])
}
