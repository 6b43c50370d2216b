//! Reads of nodes without their type: not generic, so that they are compiled once.

use std::collections::{BTreeMap, HashMap};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::store::options::Options;
use crate::tree::node::{Node, id_key};
use crate::tree::places::{Extent, Lookup, Selected, Selection};
use crate::tree::tree_store::TreeStore;

/// The nodes to read, and how to read them.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) selection: Selection,
    pub(super) extent: Extent,
    /// The first and the last level.
    pub(super) depths: Option<(u32, Option<u32>)>,
    /// The caller's filter.
    pub(super) filter: Document,
    pub(super) sort: Option<Document>,
    pub(super) skip: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) projection: Option<Document>,
    pub(super) pre_order: bool,
    /// Whether only nodes without children are read.
    pub(super) leaves: bool,
}

/// A read: the selection, and the conditions on its nodes.
#[derive(Debug)]
struct Chosen {
    selected: Selected,
    conditions: Vec<Document>,
}

impl Chosen {
    fn filter(&self) -> Document {
        let all = std::iter::once(&self.selected.filter).chain(&self.conditions);
        let mut all: Vec<&Document> = all.filter(|filter| !filter.is_empty()).collect();
        match all.as_slice() {
            [] => Document::new(),
            [_] => all.remove(0).clone(),
            _ => doc! {"$and": all.into_iter().cloned().collect::<Vec<_>>()},
        }
    }
}

impl Query {
    /// Whether the commands of this read may see different states of the tree, which it would put together to one that
    /// never was. A find that reads in pre-order, or by bounds, is torn even alone: it may release its snapshot between
    /// two documents.
    pub(super) fn is_torn(&self, tree_store: &TreeStore<'_>) -> bool {
        let is_in_pre_order = self.pre_order && self.sort.is_none();
        is_in_pre_order || self.lookup(tree_store).is_none() && !self.is_one_command(tree_store)
    }

    /// Whether the selection needs no read of its own.
    pub(super) fn is_one_command(&self, tree_store: &TreeStore<'_>) -> bool {
        let knows_levels = match self.depths {
            Some(_) => tree_store.ways.depth.is_stored(),
            None => true,
        };
        let knows_leaves = !self.leaves || tree_store.ways.leaves.is_stored();
        knows_levels && knows_leaves && tree_store.selects_at_once(&self.selection, self.extent)
    }

    /// Reads the documents.
    pub(super) async fn documents(
        &self,
        tree_store: &mut TreeStore<'_>,
    ) -> Result<Vec<RawDocumentBuf>> {
        if let Some(lookup) = self.lookup(tree_store) {
            let projection = self.projection.as_ref();
            return self.looked_up(tree_store, lookup, projection).await;
        }
        let (documents, _) = self.selected_documents(tree_store).await?;
        Ok(documents)
    }

    /// Reads the documents by a find; also returns the order of the first level, where only a list of children has it.
    pub(super) async fn selected_documents(
        &self,
        tree_store: &mut TreeStore<'_>,
    ) -> Result<(Vec<RawDocumentBuf>, Option<Vec<Bson>>)> {
        let chosen = self.chosen(tree_store).await?;
        let projection = self.projection.as_ref();
        let documents = self.found(tree_store, &chosen, projection).await?;
        Ok((documents, chosen.selected.top))
    }

    /// Reads the ids.
    pub(super) async fn ids(&self, tree_store: &mut TreeStore<'_>) -> Result<Vec<Bson>> {
        let only_id = doc! {"_id": 1};
        let documents = if let Some(lookup) = self.lookup(tree_store) {
            let kept = if self.pre_order {
                Node::projection(tree_store.tree)
            } else {
                only_id
            };
            self.looked_up(tree_store, lookup, Some(&kept)).await?
        } else {
            let chosen = self.chosen(tree_store).await?;
            if self.sort.is_none()
                && chosen.conditions.is_empty()
                && let Some(ids) = tree_store
                    .ids_in_order(&chosen.selected, self.pre_order)
                    .await?
            {
                let ids = ids.into_iter().skip(count(self.skip, 0));
                return Ok(ids.take(count(self.limit, usize::MAX)).collect());
            }
            self.found(tree_store, &chosen, Some(&only_id)).await?
        };
        documents
            .into_iter()
            .map(|document| {
                let id = document.get("_id").ok().flatten();
                let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
                Bson::try_from(id).map_err(Error::encode)
            })
            .collect()
    }

    /// Counts the nodes.
    pub(super) async fn count(&self, tree_store: &mut TreeStore<'_>) -> Result<u64> {
        let filter = self.matching(tree_store).await?;
        tree_store.count(filter).await
    }

    /// Counts the nodes by their levels.
    pub(super) async fn counts_by_depth(
        &self,
        tree_store: &mut TreeStore<'_>,
    ) -> Result<BTreeMap<u32, u64>> {
        let filter = self.matching(tree_store).await?;
        tree_store.counts_by_depth(filter).await
    }

    /// The filter of the selection and that of the caller.
    pub(super) async fn matching(&self, tree_store: &mut TreeStore<'_>) -> Result<Document> {
        Ok(self.chosen(tree_store).await?.filter())
    }

    async fn chosen(&self, tree_store: &mut TreeStore<'_>) -> Result<Chosen> {
        let scope = tree_store.scope_in(&self.filter);
        let scope = scope.as_ref();
        let selected = tree_store.select(&self.selection, self.extent, scope);
        let selected = selected.await?;
        // Levels and leaves are conditions like those of the caller: the other nodes of the selection, too, put the ones
        // that match in pre-order.
        let mut conditions = Vec::new();
        if !self.filter.is_empty() {
            conditions.push(self.filter.clone());
        }
        if let Some(levels) = self.depths {
            conditions.push(tree_store.at_levels(scope, levels).await?);
        }
        if self.leaves {
            let around = match (&self.selection, self.extent.max_depth) {
                (Selection::Descendants(_), None) => selected.filter.clone(),
                _ => tree_store.in_scope(scope, Document::new()),
            };
            conditions.push(tree_store.leaves(around).await?);
        }
        Ok(Chosen {
            selected,
            conditions,
        })
    }

    /// The stages that read the documents in one command, if the pattern has them, and the id of the node.
    fn lookup(&self, tree_store: &TreeStore<'_>) -> Option<Lookup> {
        // Some conditions may only come first in a pipeline.
        let is_whole = self.depths.is_none() && !self.leaves && self.filter.is_empty();
        // The order needs the kept fields.
        let is_plain = !self.pre_order || self.sort.is_some() || self.projection.is_none();
        let in_pre_order = self.pre_order && self.sort.is_none();
        let lookup = tree_store.lookup_of(&self.selection, self.extent, in_pre_order);
        lookup.filter(|_| is_whole && is_plain)
    }

    async fn looked_up(
        &self,
        tree_store: &mut TreeStore<'_>,
        lookup: Lookup,
        projection: Option<&Document>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let in_pre_order = self.pre_order && self.sort.is_none();
        let mut stages = lookup.stages;
        stages.extend(self.sort.as_ref().map(|sort| doc! {"$sort": sort}));
        if !in_pre_order {
            for (stage, count) in [("$skip", self.skip), ("$limit", self.limit)] {
                let count = count.filter(|count| *count > 0);
                let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
                stages.extend(count.map(|count| doc! {stage: count}));
            }
        }
        stages.extend(projection.map(|fields| doc! {"$project": fields}));
        let documents = tree_store.aggregate(stages).await?;
        if documents.is_empty() {
            // An error if there is no such node.
            tree_store.node(&lookup.id).await?;
        }
        if !in_pre_order {
            return Ok(documents);
        }
        let mut documents = in_order(tree_store, documents, None)?;
        if lookup.has_self {
            // It was read for its list of children, and comes first.
            documents.drain(..documents.len().min(1));
        }
        self.cut(&mut documents);
        Ok(documents)
    }

    /// Drops what the caller skips, and what is beyond the limit.
    fn cut(&self, documents: &mut Vec<RawDocumentBuf>) {
        documents.drain(..count(self.skip, 0).min(documents.len()));
        documents.truncate(count(self.limit, usize::MAX));
    }

    async fn found(
        &self,
        tree_store: &mut TreeStore<'_>,
        chosen: &Chosen,
        projection: Option<&Document>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let selected = &chosen.selected;
        let filter = chosen.filter();
        let sort = match &self.sort {
            Some(sort) => Some(sort.clone()),
            None if self.pre_order => tree_store.pre_order_sort(),
            None => selected.sort.clone(),
        };
        let in_client = sort.is_none() && (self.pre_order || selected.order.is_some());
        let mut options = Options {
            sort,
            projection: projection.cloned(),
            ..Options::default()
        };
        if !in_client {
            options.skip = self.skip;
            options.limit = self
                .limit
                .map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
            return tree_store.documents(filter, options).await;
        }
        let leaves_id_out =
            |projection: &&mut Document| projection.get("_id") == Some(&Bson::Int32(0));
        let leaves_id_out = options.projection.as_mut().filter(leaves_id_out);
        // The order is that of the ids.
        let leaves_id_out = leaves_id_out
            .map(|projection| projection.remove("_id"))
            .is_some();
        let has_structure = projection.is_none() && filter == selected.filter;
        let order = if has_structure && self.pre_order {
            None
        } else {
            tree_store.ids_in_order(selected, self.pre_order).await?
        };
        let documents = tree_store.documents(filter, options).await?;
        let mut documents = if let Some(order) = order {
            ordered(documents, &order)?
        } else {
            in_order(tree_store, documents, selected.top.as_deref())?
        };
        self.cut(&mut documents);
        if leaves_id_out {
            for document in &mut documents {
                *document = without_id(document)?;
            }
        }
        Ok(documents)
    }
}

/// A number of documents.
fn count(number: Option<u64>, default: usize) -> usize {
    number.map_or(default, |number| {
        usize::try_from(number).unwrap_or(usize::MAX)
    })
}

/// The documents in pre-order.
fn in_order(
    tree_store: &TreeStore<'_>,
    documents: Vec<RawDocumentBuf>,
    top: Option<&[Bson]>,
) -> Result<Vec<RawDocumentBuf>> {
    let nodes = documents
        .iter()
        .map(|document| Node::read(tree_store.tree, document));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let mut slots: Vec<Option<RawDocumentBuf>> = documents.into_iter().map(Some).collect();
    let shape = tree_store.arrange_below(&nodes, top)?;
    let pre_order = shape.pre_order().into_iter();
    let ordered = pre_order.filter_map(|(position, _)| slots.get_mut(position)?.take());
    Ok(ordered.collect())
}

/// The documents in the order of these ids; others follow.
fn ordered(documents: Vec<RawDocumentBuf>, order: &[Bson]) -> Result<Vec<RawDocumentBuf>> {
    let mut places = HashMap::with_capacity(order.len());
    for (place, id) in order.iter().enumerate() {
        places.entry(id_key(id)?).or_insert(place);
    }
    let mut keyed = Vec::with_capacity(documents.len());
    for document in documents {
        let id = document.get("_id").ok().flatten();
        let id = id.ok_or_else(|| Error::malformed_reply("an `_id`"))?;
        let id = Bson::try_from(id).map_err(Error::encode)?;
        let place = places.get(&id_key(&id)?).copied();
        keyed.push((place.unwrap_or(usize::MAX), document));
    }
    keyed.sort_by_key(|(place, _)| *place);
    Ok(keyed.into_iter().map(|(_, document)| document).collect())
}

fn without_id(document: &RawDocument) -> Result<RawDocumentBuf> {
    let mut without = RawDocumentBuf::new();
    for element in document {
        let (name, value) = element.map_err(Error::encode)?;
        if name != "_id" {
            without.append(name, value);
        }
    }
    Ok(without)
}
