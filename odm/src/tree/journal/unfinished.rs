//! Fences, and the records of changes without a transaction in them: `repair` completes such a change by its record.

use bson::{Bson, Document, doc};

use super::shift::{EnclosingNodes, Shift, Shifting};
use crate::error::{Result, TreeRefusal};
use crate::tree::tree_store::TreeStore;
use crate::write::journal::{self, Journal, Recorded};

/// The fence of a tree, as a change has written it before it read the tree.
#[derive(Debug, Clone)]
pub(in crate::tree) struct Fence {
    pub(in crate::tree) scope: Option<Bson>,
    fence: journal::Fence,
}

/// The part of a change that can't be recomputed after its first write. Applying it twice is harmless.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::tree) struct Unfinished {
    /// The node that the change is about.
    pub(in crate::tree) node: Bson,
    /// The operation, for reports.
    pub(in crate::tree) what: &'static str,
    /// The kept fields that a node has before it gets those of its new place, once that is free.
    pub(in crate::tree) via: Option<(Bson, Document)>,
    /// The kept fields of nodes at their new place.
    pub(in crate::tree) sets: Vec<Placed>,
    /// The places of nodes in lists of children.
    pub(in crate::tree) lists: Vec<Listed>,
    /// The nodes to delete.
    pub(in crate::tree) gone: Vec<Bson>,
    /// Further nodes to delete.
    pub(in crate::tree) below: Option<Below>,
    pub(super) shift: Option<Shifting>,
}

/// Nodes with the same kept fields, except their ranks.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tree) struct Placed {
    pub(in crate::tree) fields: Document,
    pub(in crate::tree) nodes: Vec<(Bson, Option<String>)>,
}

/// Nodes in the list of a parent; in no list where there is no parent.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tree) struct Listed {
    pub(in crate::tree) parent: Option<Bson>,
    /// Their index in a list without them; `None` at the end.
    pub(in crate::tree) index: Option<i64>,
    pub(in crate::tree) nodes: Vec<Bson>,
}

/// How the descendants of a deleted node are recognized.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tree) enum Below {
    Ancestor(Bson),
    Path(String),
    Bounds(i64, i64),
}

/// A record in a fence.
#[derive(Debug)]
pub(in crate::tree) struct Found {
    pub(in crate::tree) fence: journal::Fence,
    pub(in crate::tree) scope: Option<Bson>,
    pub(in crate::tree) what: String,
    pub(in crate::tree) record: Unfinished,
}

impl Unfinished {
    pub(in crate::tree) fn new(what: &'static str, node: &Bson) -> Self {
        Self {
            node: node.clone(),
            what,
            ..Self::default()
        }
    }

    fn to_document(&self) -> Document {
        let sets = self.sets.iter().map(|placed| {
            let nodes = placed.nodes.iter();
            let nodes = nodes.map(|(id, rank)| doc! {"id": id, "rank": rank});
            Bson::from(doc! {"fields": &placed.fields, "nodes": nodes.collect::<Vec<_>>()})
        });
        let lists = self.lists.iter().map(|listed| {
            Bson::from(doc! {"parent": &listed.parent, "index": listed.index, "nodes": &listed.nodes, "isRoot": listed.parent.is_none()})
        });
        let mut record = doc! {
            "what": self.what,
            "node": &self.node,
            "sets": sets.collect::<Vec<_>>(),
            "lists": lists.collect::<Vec<_>>(),
            "gone": &self.gone,
        };
        if let Some((id, fields)) = &self.via {
            record.insert("via", doc! {"node": id, "fields": fields});
        }
        match &self.below {
            None => {}
            Some(Below::Ancestor(id)) => {
                record.insert("below", doc! {"ancestor": id});
            }
            Some(Below::Path(prefix)) => {
                record.insert("below", doc! {"path": prefix});
            }
            Some(Below::Bounds(left, right)) => {
                record.insert("below", doc! {"left": left, "right": right});
            }
        }
        if let Some(shift) = &self.shift {
            let shifts = shift.shifts.iter();
            let shifts = shifts.map(|it| doc! {"from": it.from, "to": it.to, "by": it.by});
            let enclosing = match &shift.enclosing {
                EnclosingNodes::Ids(ids) => Bson::from(ids.clone()),
                EnclosingNodes::Bounds => Bson::Null,
            };
            record.insert(
                "shift",
                doc! {
                    "shifts": shifts.collect::<Vec<_>>(),
                    "around": enclosing,
                    "moved": shift.is_moved,
                },
            );
        }
        record
    }

    fn of_document(record: &Document) -> Self {
        let sets = documents(record, "sets").map(|placed| Placed {
            fields: placed.get_document("fields").cloned().unwrap_or_default(),
            nodes: documents(placed, "nodes")
                .map(|node| {
                    let rank = node.get_str("rank").ok().map(str::to_owned);
                    (value(node, "id"), rank)
                })
                .collect(),
        });
        let lists = documents(record, "lists").map(|listed| {
            let is_root = listed.get_bool("isRoot").unwrap_or_default();
            Listed {
                parent: (!is_root).then(|| value(listed, "parent")),
                index: listed.get_i64("index").ok(),
                nodes: values(listed, "nodes"),
            }
        });
        let via = record.get_document("via").ok().map(|via| {
            let fields = via.get_document("fields").cloned().unwrap_or_default();
            (value(via, "node"), fields)
        });
        let below = record.get_document("below").ok().and_then(|below| {
            if let Ok(prefix) = below.get_str("path") {
                return Some(Below::Path(prefix.to_owned()));
            }
            if let Some(id) = below.get("ancestor") {
                return Some(Below::Ancestor(id.clone()));
            }
            let bound = |name| below.get_i64(name).ok();
            Some(Below::Bounds(bound("left")?, bound("right")?))
        });
        let shift = record.get_document("shift").ok().map(|shift| {
            let number = |shift: &Document, name| shift.get_i64(name).unwrap_or_default();
            let shifts = documents(shift, "shifts").map(|it| Shift {
                from: number(it, "from"),
                to: number(it, "to"),
                by: number(it, "by"),
            });
            Shifting {
                shifts: shifts.collect(),
                enclosing: match shift.get_array("around") {
                    Ok(ids) => EnclosingNodes::Ids(ids.clone()),
                    Err(_) => EnclosingNodes::Bounds,
                },
                is_moved: shift.get_bool("moved").unwrap_or_default(),
            }
        });
        Self {
            node: value(record, "node"),
            what: "",
            via,
            sets: sets.collect(),
            lists: lists.collect(),
            gone: values(record, "gone"),
            below,
            shift,
        }
    }
}

fn documents<'d>(document: &'d Document, field: &str) -> impl Iterator<Item = &'d Document> {
    let items = document.get_array(field).ok().into_iter().flatten();
    items.filter_map(Bson::as_document)
}

fn values(document: &Document, field: &str) -> Vec<Bson> {
    document.get_array(field).cloned().unwrap_or_default()
}

fn value(document: &Document, field: &str) -> Bson {
    document.get(field).cloned().unwrap_or(Bson::Null)
}

impl<'s> TreeStore<'s> {
    fn fence_id(&self, scope: Option<&Bson>) -> Document {
        let mut id = doc! {"collection": self.collection()};
        if !self.tree.name.is_empty() {
            id.insert("tree", self.tree.name);
        }
        if let Some(scope) = scope {
            id.insert("scope", scope.clone());
        }
        id
    }

    fn journal(&mut self) -> Journal<'_, 's> {
        Journal::new(&mut self.channel, self.model)
    }

    /// Writes the fence of a tree, before anything is read.
    ///
    /// # Errors
    ///
    /// The fence has the record of a change that is not complete.
    pub(in crate::tree) async fn fence(&mut self, scope: Option<&Bson>) -> Result<Fence> {
        let id = self.fence_id(scope);
        let fence = self.journal().fence(id).await?;
        let fence = fence.ok_or_else(|| {
            self.refused(
                TreeRefusal::Unfinished,
                "an earlier change of this tree without a transaction is not complete: wait if it still runs; if it failed, run `repair`, which completes it",
            )
        })?;
        let scope = scope.cloned();
        Ok(Fence { scope, fence })
    }

    /// Writes the fence of the tree that a node is in.
    ///
    /// # Errors
    ///
    /// As those of [`fence`](Self::fence); the node does not exist, in trees with a scope.
    pub(in crate::tree) async fn fence_of(&mut self, id: &Bson) -> Result<Fence> {
        let mut scope = None;
        if self.tree.scope.is_some() {
            scope = self.node(id).await?.scope;
        }
        self.fence(scope.as_ref()).await
    }

    /// Writes the record of a change before its first write.
    ///
    /// # Errors
    ///
    /// Another change has written the fence after this one, so what this one has read may be out of date.
    pub(in crate::tree) async fn begin(
        &mut self,
        fence: &Fence,
        record: &Unfinished,
    ) -> Result<()> {
        let record = record.to_document();
        if !self.journal().begin(&fence.fence, record).await? {
            return Err(self.refused(
                TreeRefusal::Conflict,
                "a concurrent change of this tree won, and nothing was written: retry",
            ));
        }
        Ok(())
    }

    /// Writes to the record of a change that the first step of its move of bounds is done.
    pub(super) async fn moved(&mut self, fence: &Fence) -> Result<()> {
        self.journal().note(&fence.fence, MOVED).await
    }

    /// Removes the record of a change after its last write.
    pub(in crate::tree) async fn end(&mut self, fence: &Fence) -> Result<()> {
        self.journal().end(&fence.fence).await
    }

    /// The records of all scopes of the tree.
    pub(in crate::tree) async fn unfinished(&mut self) -> Result<Vec<Found>> {
        let name = match self.tree.name {
            "" => doc! {"$exists": false},
            name => doc! {"$eq": name},
        };
        let filter = doc! {"_id.collection": self.collection(), "_id.tree": name};
        let recorded = self.journal().recorded(filter).await?;
        let found = recorded
            .into_iter()
            .map(|Recorded { fence, record }| Found {
                scope: fence.id("scope").cloned(),
                fence,
                what: record.get_str("what").unwrap_or_default().to_owned(),
                record: Unfinished::of_document(&record),
            });
        Ok(found.collect())
    }
}

/// The field of a record that says that the bounds are moved.
pub(super) const MOVED: &str = "shift.moved";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written() {
        let mut record = Unfinished::new("move", &Bson::Int32(3));
        record.sets.push(Placed {
            fields: doc! {"parent": Bson::Null},
            nodes: vec![(Bson::Int32(3), Some("n1".to_owned())), (4.into(), None)],
        });
        let root = Listed {
            parent: None,
            index: None,
            nodes: vec![Bson::Int32(3)],
        };
        let listed = Listed {
            parent: Some("a".into()),
            index: Some(2),
            nodes: vec![Bson::Int32(4)],
        };
        record.lists = vec![root, listed];
        record.gone = vec![Bson::Int32(9)];
        record.via = Some((Bson::Int32(3), doc! {"parent": 4}));
        record.shift = Some(Shifting {
            shifts: vec![Shift {
                from: 1,
                to: i64::MAX,
                by: -2,
            }],
            enclosing: EnclosingNodes::Ids(vec![Bson::Int32(1)]),
            is_moved: true,
        });
        for below in [
            None,
            Some(Below::Bounds(2, 5)),
            Some(Below::Path(",1,".to_owned())),
            Some(Below::Ancestor(Bson::Int32(7))),
        ] {
            record.below = below;
            let mut read = Unfinished::of_document(&record.to_document());
            read.what = record.what;
            assert_eq!(read, record);
        }
    }
}
