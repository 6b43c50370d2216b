//! Completes changes that have not ended, by their records: what `repair` does before it compares fields.

use std::collections::{HashMap, HashSet};

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use super::shift::{EnclosingNodes, MARK, Shifting};
use super::unfinished::{Below, Found, Listed, MOVED, Placed};
use crate::error::{Error, Result};
use crate::plan::Step;
use crate::tree::node::{Node, id_key, same_id, same_scope, stored};
use crate::tree::tree_store::TreeStore;
use crate::write::journal;

/// The nodes of a tree whose unfinished changes are completed.
#[derive(Debug)]
pub(in crate::tree) struct Resumed {
    /// The nodes as they are stored after `before`.
    pub(in crate::tree) documents: Vec<RawDocumentBuf>,
    /// The nodes at the places where the changes put them.
    pub(in crate::tree) nodes: Vec<Node>,
    /// The nodes that get their places after the others.
    pub(in crate::tree) last: Vec<Bson>,
    /// The steps before the kept fields are written.
    pub(in crate::tree) before: Vec<Step>,
    /// The steps after that.
    pub(in crate::tree) after: Vec<Step>,
}

impl TreeStore<'_> {
    /// Completes the unfinished changes of stored nodes, in memory, and plans the writes that do the same.
    pub(in crate::tree) async fn resumed(
        &mut self,
        mut documents: Vec<RawDocumentBuf>,
    ) -> Result<Resumed> {
        let all = self.unfinished().await?;
        let mut before = Vec::new();
        let mut ends = Vec::new();
        let mut last = Vec::new();
        for found in &all {
            self.delete_gone(&mut documents, found, &mut before)?;
            last.extend(self.leave_place(&mut documents, found, &mut before)?);
            self.move_bounds(&mut documents, found, &mut before)?;
            ends.push(found.fence.end());
        }
        let nodes = documents.iter();
        let mut nodes = nodes
            .map(|document| Node::read(self.tree, document))
            .collect::<Result<Vec<_>>>()?;
        if !all.is_empty() {
            let mut positions = HashMap::with_capacity(nodes.len());
            for (position, node) in nodes.iter().enumerate() {
                positions.insert(id_key(&node.id)?, position);
            }
            for found in &all {
                self.apply_sets(&documents, &mut nodes, &positions, &found.record.sets)?;
                list(
                    &mut nodes,
                    &positions,
                    &found.record.gone,
                    &found.record.lists,
                )?;
            }
        }
        let reason = format!("{} changes are complete", ends.len());
        let after = (!ends.is_empty()).then(|| journal::step(ends, reason));
        Ok(Resumed {
            documents,
            nodes,
            last,
            before,
            after: after.into_iter().collect(),
        })
    }

    /// Removes the nodes that a change deletes.
    fn delete_gone(
        &self,
        documents: &mut Vec<RawDocumentBuf>,
        found: &Found,
        steps: &mut Vec<Step>,
    ) -> Result<()> {
        let record = &found.record;
        if record.gone.is_empty() && record.below.is_none() {
            return Ok(());
        }
        let mut ids = HashSet::with_capacity(record.gone.len());
        for id in &record.gone {
            ids.insert(id_key(id)?);
        }
        let mut statements = Vec::new();
        let mut rest = Vec::with_capacity(documents.len());
        for document in documents.drain(..) {
            let node = Node::read(self.tree, &document)?;
            let is_below = match &record.below {
                None => false,
                Some(Below::Ancestor(id)) => contains(&node.ancestors, id)?,
                Some(Below::Path(prefix)) => {
                    node.path.as_ref().is_some_and(|it| it.starts_with(prefix))
                }
                // The nodes are deleted before bounds move.
                Some(Below::Bounds(left, right)) => {
                    let is_moved = record.shift.as_ref().is_some_and(|shift| shift.is_moved);
                    !is_moved
                        && same_scope(node.scope.as_ref(), found.scope.as_ref())
                        && (*left..*right).contains(&node.left)
                }
            };
            if is_below || ids.contains(&id_key(&node.id)?) {
                statements.push(doc! {"q": Self::by_id(&node.id), "limit": 1});
            } else {
                rest.push(document);
            }
        }
        *documents = rest;
        if !statements.is_empty() {
            let reason = format!("the {} of {} is not complete", found.what, record.node);
            let command = doc! {"delete": self.collection(), "deletes": statements};
            steps.push(self.write_step(vec![command], reason));
        }
        Ok(())
    }

    /// Lets a node leave its place, if a change does that first; returns its id.
    fn leave_place(
        &self,
        documents: &mut [RawDocumentBuf],
        found: &Found,
        steps: &mut Vec<Step>,
    ) -> Result<Option<Bson>> {
        let Some((id, via)) = &found.record.via else {
            return Ok(None);
        };
        let sets = found.record.sets.iter();
        let own = |placed: &&Placed| placed.nodes.iter().any(|(node, _)| same_id(node, id));
        let place = sets.clone().find(own).map(|placed| &placed.fields);
        for document in documents.iter_mut() {
            let node = Node::read(self.tree, document)?;
            if id_key(&node.id)? != id_key(id)? {
                continue;
            }
            let mut changed = Document::try_from(&**document).map_err(Error::encode)?;
            let has = |fields: &Document| {
                let mut fields = fields.iter();
                fields.all(|(field, value)| changed.get(field) == Some(value))
            };
            if has(via) || place.is_some_and(has) {
                continue;
            }
            let statement = doc! {"q": Self::by_id(id), "u": {"$set": via}};
            let command = doc! {"update": self.collection(), "updates": [statement]};
            let reason = format!(
                "the {} of {} is not complete",
                found.what, found.record.node
            );
            steps.push(self.write_step(vec![command], reason));
            changed.extend(via.clone());
            *document = RawDocumentBuf::try_from(changed).map_err(Error::encode)?;
        }
        Ok(Some(id.clone()))
    }

    /// Moves the bounds that a change moves.
    fn move_bounds(
        &self,
        documents: &mut [RawDocumentBuf],
        found: &Found,
        steps: &mut Vec<Step>,
    ) -> Result<()> {
        let (Some((left, right)), Some(shift)) = (self.tree.bounds, &found.record.shift) else {
            return Ok(());
        };
        let enclosing: &[Bson] = match &shift.enclosing {
            EnclosingNodes::Ids(ids) => ids,
            EnclosingNodes::Bounds => &[],
        };
        let enclosing = enclosing
            .iter()
            .map(id_key)
            .collect::<Result<HashSet<_>>>()?;
        for document in documents.iter_mut() {
            let node = Node::read(self.tree, document)?;
            if !same_scope(node.scope.as_ref(), found.scope.as_ref()) {
                continue;
            }
            let moves = shift.moves(&node) || enclosing.contains(&id_key(&node.id)?);
            let number = if node.left >= MARK {
                |_: &Shifting, bound: i64| bound - MARK
            } else if moves && !shift.is_moved {
                Shifting::moved
            } else {
                continue;
            };
            let mut changed = Document::try_from(&**document).map_err(Error::encode)?;
            changed.insert(left, stored(number(shift, node.left)));
            changed.insert(right, stored(number(shift, node.right)));
            *document = RawDocumentBuf::try_from(changed).map_err(Error::encode)?;
        }
        let scope = found.scope.as_ref();
        let update = |statements: Vec<Document>| {
            let command = doc! {"update": self.collection(), "updates": statements};
            let reason = format!(
                "the {} of {} is not complete",
                found.what, found.record.node
            );
            self.write_step(vec![command], reason)
        };
        if !shift.is_moved {
            steps.push(update(self.begin_shift(scope, shift)));
            let reason = "the bounds are moved".to_owned();
            steps.push(journal::step(vec![found.fence.note(MOVED)], reason));
        }
        steps.push(update(self.end_shift(scope).into_iter().collect()));
        Ok(())
    }

    /// Gives nodes the fields of their new places.
    fn apply_sets(
        &self,
        documents: &[RawDocumentBuf],
        nodes: &mut [Node],
        positions: &HashMap<Vec<u8>, usize>,
        sets: &[Placed],
    ) -> Result<()> {
        for placed in sets {
            for (id, rank) in &placed.nodes {
                let position = positions.get(&id_key(id)?).copied();
                let Some(document) = position.and_then(|position| documents.get(position)) else {
                    continue;
                };
                let mut document = Document::try_from(&**document).map_err(Error::encode)?;
                document.extend(placed.fields.clone());
                if let (Some(order), Some(rank)) = (self.tree.order, rank) {
                    document.insert(order, rank);
                }
                let document = RawDocumentBuf::try_from(document).map_err(Error::encode)?;
                if let Some(node) = position.and_then(|position| nodes.get_mut(position)) {
                    *node = Node::read(self.tree, &document)?;
                }
            }
        }
        Ok(())
    }
}

impl Shifting {
    fn moved(&self, bound: i64) -> i64 {
        let mut shifts = self.shifts.iter();
        let shift = shifts.find(|shift| (shift.from..=shift.to).contains(&bound));
        shift.map_or(bound, |shift| bound.saturating_add(shift.by))
    }

    /// Whether the bounds of a node show that it moves, also between the two steps of a shift.
    fn moves(&self, node: &Node) -> bool {
        let Some((from, to)) = self.range() else {
            return false;
        };
        let moves = |bound| (from..=to).contains(&bound);
        moves(node.left)
            || self.enclosing == EnclosingNodes::Bounds && node.left < from && moves(node.right)
    }
}

/// Puts nodes into the lists of their parents.
fn list(
    nodes: &mut [Node],
    positions: &HashMap<Vec<u8>, usize>,
    gone: &[Bson],
    lists: &[Listed],
) -> Result<()> {
    if lists.is_empty() {
        return Ok(());
    }
    let mut listed = HashSet::new();
    for id in gone.iter().chain(lists.iter().flat_map(|list| &list.nodes)) {
        listed.insert(id_key(id)?);
    }
    for node in nodes.iter_mut() {
        let mut children = Vec::with_capacity(node.children.len());
        for child in std::mem::take(&mut node.children) {
            if !listed.contains(&id_key(&child)?) {
                children.push(child);
            }
        }
        node.children = children;
    }
    for list in lists {
        let Some(parent) = &list.parent else {
            continue;
        };
        let position = positions.get(&id_key(parent)?).copied();
        if let Some(parent) = position.and_then(|position| nodes.get_mut(position)) {
            let end = parent.children.len();
            let index = list.index.and_then(|index| usize::try_from(index).ok());
            let index = index.map_or(end, |index| index.min(end));
            parent
                .children
                .splice(index..index, list.nodes.iter().cloned());
        }
    }
    Ok(())
}

fn contains(ids: &[Bson], wanted: &Bson) -> Result<bool> {
    let wanted = id_key(wanted)?;
    for id in ids {
        if id_key(id)? == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}
