//! Descendants and ancestors of patterns that find them by `$graphLookup`, level by level on the server.

use bson::{Bson, Document, doc};

use super::select::{Extent, Selection};
use super::ways::{AncestorsBy, Links, OrderBy};
use crate::collection::equality;
use crate::pipeline::GraphLookup;
use crate::tree::tree_store::TreeStore;

/// The field with the number of steps to a found node.
const STEPS: &str = "__odm_steps";

/// The arguments `startWith`, `connectFromField` and `connectToField` of a `$graphLookup`.
struct Connection(&'static str, &'static str, &'static str);

impl Links {
    /// From a node to its children.
    fn down(self) -> Connection {
        match self {
            Self::Parent(parent) => Connection("_id", "_id", parent),
            Self::Children(children) => Connection(children, children, "_id"),
        }
    }

    /// From a node to its parents.
    fn up(self) -> Connection {
        match self {
            Self::Parent(parent) => Connection(parent, parent, "_id"),
            Self::Children(children) => Connection("_id", "_id", children),
        }
    }
}

/// The stages that read nodes in one command.
#[derive(Debug)]
pub(in crate::tree) struct Lookup {
    /// The node that the stages begin with.
    pub(in crate::tree) id: Bson,
    pub(in crate::tree) stages: Vec<Document>,
    /// Whether they return that node, too.
    pub(in crate::tree) has_self: bool,
}

impl TreeStore<'_> {
    /// The stages that read the selected documents in one command, ancestors root first, and the id of the node that they
    /// start from. `None` if another field of the pattern finds them.
    pub(in crate::tree) fn lookup_of(
        &self,
        selection: &Selection,
        extent: Extent,
        pre_order: bool,
    ) -> Option<Lookup> {
        let AncestorsBy::Links(links) = self.ways.ancestors else {
            return None;
        };
        let (id, is_sorted) = match selection {
            Selection::Descendants(id) if !extent.with_self => (id, false),
            Selection::Ancestors(id) => (id, true),
            _ => return None,
        };
        let (connection, has_self) = match (links, self.ways.siblings) {
            (Links::Parent(parent), _) if extent.with_self => {
                (Connection("_id", parent, "_id"), true)
            }
            (Links::Children(_), _) if extent.with_self => return None,
            // The order of the node's own children is in its list.
            (_, OrderBy::Children(children)) if pre_order && !is_sorted => {
                (Connection("_id", children, "_id"), true)
            }
            _ if is_sorted => (links.up(), false),
            _ => (links.down(), false),
        };
        let steps = match extent.max_depth {
            Some(levels) if !has_self => Some(levels.checked_sub(1)?),
            levels => levels,
        };
        let mut stages = self.connected(id, &connection, is_sorted, steps);
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

    /// The stages that find the ids of the descendants; within this number of levels, of which there is at least one.
    pub(super) fn ids_below(&self, id: &Bson, links: Links, levels: Option<u32>) -> Vec<Document> {
        let steps = levels.map(|levels| levels.saturating_sub(1));
        let mut stages = self.connected(id, &links.down(), false, steps);
        stages.push(doc! {"$project": {"_id": "$found._id"}});
        stages
    }

    /// The stages that find the ids of the ancestors, the root first.
    pub(super) fn ids_above(&self, id: &Bson, links: Links) -> Vec<Document> {
        let mut stages = self.connected(id, &links.up(), true, None);
        stages.push(doc! {"$sort": {format!("found.{STEPS}"): -1}});
        stages.push(doc! {"$project": {"_id": "$found._id"}});
        stages
    }

    /// The stages that find how many levels there are below a node, as `level`.
    pub(super) fn levels_below(&self, id: &Bson, links: Links) -> Vec<Document> {
        let mut stages = self.connected(id, &links.down(), true, None);
        let level = doc! {"$max": {"$add": [format!("$found.{STEPS}"), 1]}};
        stages.push(doc! {"$group": {"_id": Bson::Null, "level": level}});
        stages
    }

    /// The stages that find the nodes that a node is connected with: a document for each, with the node in `found`.
    fn connected(
        &self,
        id: &Bson,
        Connection(start, from, to): &Connection,
        with_steps: bool,
        max_depth: Option<u32>,
    ) -> Vec<Document> {
        let lookup = GraphLookup {
            model: self.model,
            start: (*start).to_owned(),
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            found: "found".to_owned(),
            depth: with_steps.then_some(STEPS),
            max_depth,
            filter: Document::new(),
        };
        vec![
            doc! {"$match": {"_id": equality(id.clone())}},
            lookup.stage(self.channel.store().names()),
            doc! {"$unwind": "$found"},
        ]
    }
}
