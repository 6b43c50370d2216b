//! Reads of nodes without their type: not generic, so that they are compiled once.

use std::collections::{BTreeMap, HashMap};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

use super::forest::{Forest, within};
use super::node::{Node, id_key};
use super::select::{Extent, Selected, Selection};
use crate::error::{Error, Result};
use crate::store::Session;
use crate::store::options::Options;

/// Which nodes are read, and how.
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
}

impl Query {
    /// Whether the commands of this read may see different states of the tree, which it would put together to one that
    /// never was. A find that reads in pre-order, or by bounds, is torn even alone: it may release its snapshot between
    /// two documents.
    pub(super) fn is_torn(&self, forest: &Forest) -> bool {
        let is_in_pre_order = self.pre_order && self.sort.is_none();
        is_in_pre_order || self.lookup(forest).is_none() && !self.is_one_command(forest)
    }

    /// Whether the selection needs no read of its own.
    pub(super) fn is_one_command(&self, forest: &Forest) -> bool {
        match self.depths {
            Some((from, to)) => forest.at_depths(from, to).is_some(),
            None => forest.selects_at_once(&self.selection, self.extent),
        }
    }

    /// Reads the documents.
    pub(super) async fn documents(
        &self,
        forest: &Forest,
        session: Option<&mut Session>,
    ) -> Result<Vec<RawDocumentBuf>> {
        if let Some((id, stages)) = self.lookup(forest) {
            let projection = self.projection.as_ref();
            return self
                .looked_up(forest, session, (&id, stages), projection)
                .await;
        }
        self.selected_documents(forest, session).await
    }

    /// Reads the documents by a find.
    pub(super) async fn selected_documents(
        &self,
        forest: &Forest,
        mut session: Option<&mut Session>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let selected = self.selected(forest, within!(session)).await?;
        let projection = self.projection.as_ref();
        self.found(forest, session, selected, projection).await
    }

    /// Reads the ids.
    pub(super) async fn ids(
        &self,
        forest: &Forest,
        mut session: Option<&mut Session>,
    ) -> Result<Vec<Bson>> {
        let only_id = doc! {"_id": 1};
        let documents = if let Some((id, stages)) = self.lookup(forest) {
            let kept = if self.pre_order {
                Node::projection(forest.tree)
            } else {
                only_id
            };
            self.looked_up(forest, session, (&id, stages), Some(&kept))
                .await?
        } else {
            let selected = self.selected(forest, within!(session)).await?;
            if self.sort.is_none()
                && self.filter.is_empty()
                && let Some(ids) = forest
                    .ids_in_order(within!(session), &selected, self.pre_order)
                    .await?
            {
                let ids = ids.into_iter().skip(count(self.skip, 0));
                return Ok(ids.take(count(self.limit, usize::MAX)).collect());
            }
            self.found(forest, session, selected, Some(&only_id))
                .await?
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
    pub(super) async fn count(
        &self,
        forest: &Forest,
        mut session: Option<&mut Session>,
    ) -> Result<u64> {
        let filter = self.matching(forest, within!(session)).await?;
        forest.count(session, filter).await
    }

    /// Counts the nodes by their levels.
    pub(super) async fn counts_by_depth(
        &self,
        forest: &Forest,
        mut session: Option<&mut Session>,
    ) -> Result<BTreeMap<u32, u64>> {
        let filter = self.matching(forest, within!(session)).await?;
        forest.counts_by_depth(session, filter).await
    }

    /// The filter of the selection and that of the caller.
    pub(super) async fn matching(
        &self,
        forest: &Forest,
        session: Option<&mut Session>,
    ) -> Result<Document> {
        let selected = self.selected(forest, session).await?;
        Ok(self.and(selected.filter))
    }

    async fn selected(&self, forest: &Forest, session: Option<&mut Session>) -> Result<Selected> {
        match self.depths {
            Some((from, to)) => forest.select_depths(session, from, to).await,
            None => forest.select(session, &self.selection, self.extent).await,
        }
    }

    fn and(&self, selected: Document) -> Document {
        if self.filter.is_empty() {
            selected
        } else if selected.is_empty() {
            self.filter.clone()
        } else {
            doc! {"$and": [selected, self.filter.clone()]}
        }
    }

    /// The stages that read the documents in one command, if the pattern has them, and the id of the node.
    fn lookup(&self, forest: &Forest) -> Option<(Bson, Vec<Document>)> {
        // Some conditions may only come first in a pipeline.
        let is_whole = self.depths.is_none() && self.filter.is_empty();
        // The order needs the kept fields.
        let is_plain = !self.pre_order || self.sort.is_some() || self.projection.is_none();
        let lookup = forest.lookup_of(&self.selection, self.extent);
        lookup.filter(|_| is_whole && is_plain)
    }

    async fn looked_up(
        &self,
        forest: &Forest,
        mut session: Option<&mut Session>,
        (id, mut stages): (&Bson, Vec<Document>),
        projection: Option<&Document>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let in_pre_order = self.pre_order && self.sort.is_none();
        stages.extend(self.sort.as_ref().map(|sort| doc! {"$sort": sort}));
        if !in_pre_order {
            for (stage, count) in [("$skip", self.skip), ("$limit", self.limit)] {
                let count = count.filter(|count| *count > 0);
                let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
                stages.extend(count.map(|count| doc! {stage: count}));
            }
        }
        stages.extend(projection.map(|fields| doc! {"$project": fields}));
        let documents = forest.aggregate(within!(session), stages).await?;
        if documents.is_empty() {
            // An error if there is no such node.
            forest.node(session, id).await?;
        }
        if !in_pre_order {
            return Ok(documents);
        }
        let mut documents = in_order(forest, documents)?;
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
        forest: &Forest,
        mut session: Option<&mut Session>,
        selected: Selected,
        projection: Option<&Document>,
    ) -> Result<Vec<RawDocumentBuf>> {
        let filter = self.and(selected.filter.clone());
        let sort = match &self.sort {
            Some(sort) => Some(sort.clone()),
            None if self.pre_order => forest.pre_order_sort(),
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
            return forest.documents(session, filter, options).await;
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
            forest
                .ids_in_order(within!(session), &selected, self.pre_order)
                .await?
        };
        let documents = forest.documents(session, filter, options).await?;
        let mut documents = if let Some(order) = order {
            ordered(documents, &order)?
        } else {
            in_order(forest, documents)?
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
fn in_order(forest: &Forest, documents: Vec<RawDocumentBuf>) -> Result<Vec<RawDocumentBuf>> {
    let nodes = documents
        .iter()
        .map(|document| Node::read(forest.tree, document));
    let nodes = nodes.collect::<Result<Vec<_>>>()?;
    let mut slots: Vec<Option<RawDocumentBuf>> = documents.into_iter().map(Some).collect();
    let pre_order = forest.arrange(&nodes)?.pre_order().into_iter();
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
