//! The writes of a change, in an order in which `repair` can complete them.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::inserts::Inserts;
use super::shift::{EnclosingNodes, MARK, Shift, Shifting};
use super::unfinished::{Fence, Placed, Unfinished};
use crate::error::{Code, Error, Result};
use crate::model::TreeMeta;
use crate::tree::node::{integer, stored, with_fields};
use crate::tree::tree_store::{TreeStore, TreeWrite};

/// The writes of a change of one tree.
#[derive(Debug)]
pub(in crate::tree) struct Writes {
    pub(in crate::tree) tree: &'static TreeMeta,
    pub(in crate::tree) fence: Fence,
    pub(in crate::tree) record: Unfinished,
    /// Updates whose filters need the bounds as they are before the change.
    pub(in crate::tree) first: Vec<Document>,
    pub(super) shift: Option<Shifting>,
    pub(in crate::tree) then: Vec<Document>,
    /// Encoded nodes, parents before their children.
    pub(in crate::tree) insert: Inserts,
    /// A node that has not been read. Without it, the change is refused.
    pub(in crate::tree) requires: Option<Bson>,
    /// The filters of the nodes to delete; all but the first one match several.
    pub(in crate::tree) delete: Vec<Document>,
}

/// Writes that ended early.
struct Stopped {
    error: Error,
    /// Whether the first write was refused, so that no document has changed.
    is_refused: bool,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self {
            error,
            is_refused: false,
        }
    }
}

impl Writes {
    pub(in crate::tree) fn new(tree: &'static TreeMeta, fence: Fence, record: Unfinished) -> Self {
        Self {
            tree,
            fence,
            record,
            first: Vec::new(),
            shift: None,
            then: Vec::new(),
            insert: Inserts::default(),
            requires: None,
            delete: Vec::new(),
        }
    }

    /// Writes the kept fields of a node at its new place.
    pub(in crate::tree) fn place(&mut self, id: &Bson, fields: Document) {
        if fields.is_empty() {
            return;
        }
        self.record.sets.push(Placed {
            fields: fields.clone(),
            nodes: vec![(id.clone(), None)],
        });
        self.first
            .push(doc! {"q": TreeStore::by_id(id), "u": {"$set": fields}});
    }

    /// Lets a node leave its place before it gets its new one: see [`TreeStore::detour`].
    pub(in crate::tree) fn detour(&mut self, id: &Bson, via: Document) {
        let statement = doc! {"q": TreeStore::by_id(id), "u": {"$set": &via}};
        self.record.via = Some((id.clone(), via));
        self.first.push(statement);
    }

    /// Moves bounds, if the tree has bounds.
    pub(in crate::tree) fn moves(&mut self, shifts: Vec<Shift>, enclosing: EnclosingNodes) {
        if self.tree.bounds.is_none() || shifts.is_empty() {
            return;
        }
        let shift = Shifting {
            shifts,
            enclosing,
            is_moved: false,
        };
        self.record.shift = Some(shift.clone());
        self.shift = Some(shift);
    }

    async fn run_in_transaction(
        self,
        tree_store: &mut TreeStore<'_>,
        done: &mut TreeWrite,
    ) -> Result<()> {
        if !self.delete.is_empty() {
            tree_store.delete(self.delete, done).await?;
        }
        let mut statements = self.first;
        if let Some(shift) = &self.shift {
            statements.extend(tree_store.shift(self.fence.scope.as_ref(), shift));
        }
        statements.extend(self.then);
        tree_store.update(statements, done).await?;
        let is_missing = done.matched == 0 && done.deleted == 0;
        if let Some(id) = self.requires.filter(|_| is_missing) {
            return Err(tree_store.missing(&id));
        }
        tree_store.insert_all(self.insert, done).await
    }

    /// Writes where each write may be the last one.
    async fn run_recorded(
        self,
        tree_store: &mut TreeStore<'_>,
        done: &mut TreeWrite,
    ) -> Result<(), Stopped> {
        let scope = self.fence.scope.as_ref();
        let is_untouched = self.delete.is_empty() && self.insert.is_empty();
        if !self.delete.is_empty() {
            tree_store.delete(self.delete, done).await?;
        }
        let mut nodes = self.insert;
        if self.shift.is_some() {
            let tree = self.tree;
            nodes = nodes.map(move |node| with_moving_bounds(tree, &node));
        }
        if let Err(error) = tree_store.insert_all(nodes, done).await {
            let is_refused =
                error.is_duplicate_key() || error.code() == Some(Code::DOCUMENT_VALIDATION_FAILURE);
            let inserted = error.partial_result().map_or(0, |result| result.inserted);
            let is_refused = is_refused && done.inserted == 0 && inserted == 0;
            return Err(Stopped { error, is_refused });
        }
        let mut statements = self.first;
        let is_moving = self.shift.is_some();
        match &self.shift {
            Some(shift) => statements.extend(tree_store.begin_shift(scope, shift)),
            None => statements.extend(self.then.iter().cloned()),
        }
        let is_single = statements.first().is_some_and(|first| !is_multi(first));
        if let Err(error) = tree_store.update(statements, done).await {
            // The first document is refused, for example by a unique index.
            let refused = error.write_errors().first();
            let is_refused = refused.is_some_and(|first| first.index() == 0);
            let is_refused = is_refused && is_untouched && is_single;
            return Err(Stopped { error, is_refused });
        }
        if !is_moving {
            return Ok(());
        }
        tree_store.moved(&self.fence).await?;
        // The nodes of the first step are counted already.
        let mut again = TreeWrite::default();
        let statements = tree_store.end_shift(scope).into_iter().collect();
        tree_store.update(statements, &mut again).await?;
        tree_store.update(self.then, done).await?;
        Ok(())
    }
}

fn is_multi(update: &Document) -> bool {
    update.get_bool("multi").unwrap_or_default()
}

impl TreeStore<'_> {
    /// Runs the writes of a change of one or more trees of a model. Outside of a transaction they are recorded, the first ones
    /// first.
    pub(in crate::tree) async fn run_writes(
        &mut self,
        all: Vec<Writes>,
        done: &mut TreeWrite,
    ) -> Result<()> {
        if self.channel.is_in_transaction() {
            for writes in all.into_iter().rev() {
                let tree_store = &mut self.other(writes.tree);
                writes.run_in_transaction(tree_store, done).await?;
            }
            return Ok(());
        }
        let mut begun = Vec::with_capacity(all.len());
        for writes in &all {
            let tree = &mut self.other(writes.tree);
            let mut ready = Ok(());
            if let Some(id) = &writes.requires {
                ready = tree.node(id).await.map(drop);
            }
            if ready.is_ok() {
                ready = tree.check_places(&writes.record).await;
            }
            if ready.is_ok() {
                ready = tree.begin(&writes.fence, &writes.record).await;
            }
            if let Err(error) = ready {
                self.end_all(begun).await?;
                return Err(error);
            }
            begun.push((writes.tree, writes.fence.clone()));
        }
        for writes in all.into_iter().rev() {
            let is_first = *done == TreeWrite::default();
            let tree = &mut self.other(writes.tree);
            if let Err(stopped) = writes.run_recorded(tree, done).await {
                if is_first && stopped.is_refused {
                    self.end_all(begun).await?;
                }
                return Err(stopped.error);
            }
        }
        self.end_all(begun).await
    }

    /// Removes the records of changes, the last ones first.
    async fn end_all(&mut self, begun: Vec<(&'static TreeMeta, Fence)>) -> Result<()> {
        for (tree, fence) in begun.iter().rev() {
            self.other(tree).end(fence).await?;
        }
        Ok(())
    }
}

/// A new node with its bounds as the first step of a move of bounds writes them.
fn with_moving_bounds(tree: &TreeMeta, document: &RawDocument) -> Result<RawDocumentBuf> {
    let Some((left, right)) = tree.bounds else {
        return Ok(document.to_owned());
    };
    let moving = |field: &'static str| {
        let bound = document.get(field).ok().flatten().and_then(integer);
        (field, stored(bound.unwrap_or_default() + MARK))
    };
    with_fields(document, [moving(left), moving(right)])
}
