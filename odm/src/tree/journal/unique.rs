//! Unique indexes over kept fields, such as those of `unique_among_siblings`: which places are taken.

use std::collections::{HashMap, HashSet};

use bson::{Bson, Document, doc};

use super::unfinished::Unfinished;
use crate::collection::equality;
use crate::error::{Error, Result, TreeRefusal};
use crate::model::{KeyKind, name};
use crate::store::options::Options;
use crate::tree::node::{Node, id_key};
use crate::tree::tree_store::TreeStore;

/// The most nodes whose places are looked up by one command.
const AT_ONCE: usize = 500;

/// A node with the kept fields that it gets.
pub(super) type Placing = (Bson, Document);

/// The stored paths of the keys of a unique index.
type Keys = Vec<String>;

impl Unfinished {
    /// The nodes with the kept fields that the change gives them.
    fn placings(&self, order: Option<&'static str>) -> Vec<Placing> {
        let each = self.sets.iter().flat_map(|placed| {
            placed.nodes.iter().map(move |(id, rank)| {
                let mut fields = placed.fields.clone();
                if let (Some(order), Some(rank)) = (order, rank) {
                    fields.insert(order, rank);
                }
                (id.clone(), fields)
            })
        });
        each.collect()
    }
}

impl TreeStore<'_> {
    /// The unique indexes with keys among these kept fields. Those of a part of the documents, or with a collation of
    /// their own, are left to the server.
    fn unique_keys<'f>(&self, fields: impl Iterator<Item = &'f String>) -> Result<Vec<Keys>> {
        let fields: HashSet<&str> = fields.map(String::as_str).collect();
        let mut all = Vec::new();
        for index in self.model.indexes {
            let is_plain = |kind| matches!(kind, KeyKind::Ascending | KeyKind::Descending);
            let is_whole = index.partial.is_none() && index.collation.is_none();
            if !index.unique || !is_whole || !index.keys.iter().all(|key| is_plain(key.kind)) {
                continue;
            }
            let mut keys = Keys::new();
            for key in index.keys {
                let found = name::resolve((self.model.embedded)(), key.path)?;
                keys.push(found.path.to_string());
            }
            if keys.iter().any(|key| fields.contains(key.as_str())) {
                all.push(keys);
            }
        }
        Ok(all)
    }

    /// Reads the fields of unique indexes.
    async fn keyed(&mut self, filter: Document, indexes: &[Keys]) -> Result<Vec<Document>> {
        let mut projection = doc! {"_id": 1};
        for path in indexes.iter().flatten() {
            projection.insert(path, 1);
        }
        let options = Options {
            projection: Some(projection),
            ..Options::default()
        };
        let found = self.documents(filter, options).await?;
        let documents = found.iter().map(|document| Document::try_from(&**document));
        documents
            .map(|document| document.map_err(Error::encode))
            .collect()
    }

    /// Refuses a change that would give a node the keys of another one, before its first write.
    pub(super) async fn check_places(&mut self, change: &Unfinished) -> Result<()> {
        let placings = change.placings(self.tree.order);
        let gone = change.gone.iter().map(id_key);
        let gone = gone.collect::<Result<HashSet<_>>>()?;
        self.check_placings(&placings, |id| gone.contains(id)).await
    }

    /// Refuses fields that would give a node the keys of another one, unless that one gets other fields or is gone.
    pub(in crate::tree) async fn check_placings(
        &mut self,
        placings: &[Placing],
        is_gone: impl Fn(&[u8]) -> bool,
    ) -> Result<()> {
        let indexes = self.unique_keys(placings.iter().flat_map(|(_, fields)| fields.keys()))?;
        if indexes.is_empty() {
            return Ok(());
        }
        let mut moving = HashMap::with_capacity(placings.len());
        for (id, fields) in placings {
            moving.insert(id_key(id)?, fields);
        }
        let mut taken: HashMap<Vec<u8>, Bson> = HashMap::new();
        for some in placings.chunks(AT_ONCE) {
            let ids: Vec<&Bson> = some.iter().map(|(id, _)| id).collect();
            let mut places = Vec::new();
            let mut wanted = HashMap::new();
            let filter = doc! {"_id": {"$in": ids}};
            for document in self.keyed(filter, &indexes).await? {
                let id = id_of(&document);
                let Some(fields) = moving.get(&id_key(&id)?) else {
                    continue;
                };
                for keys in &indexes {
                    if !keys.iter().any(|key| fields.contains_key(key)) {
                        continue;
                    }
                    let values = values(keys, &document, Some(fields));
                    let key = key_of(keys, &values)?;
                    if let Some(other) = taken.insert(key.clone(), id.clone()) {
                        return Err(self.taken(&id, &other, keys));
                    }
                    wanted.insert(key, id.clone());
                    let pairs = keys.iter().cloned().zip(values.into_iter().map(equality));
                    places.push(pairs.collect::<Document>());
                }
            }
            if places.is_empty() {
                continue;
            }
            let filter = doc! {"$or": places};
            for document in self.keyed(filter, &indexes).await? {
                let other = id_of(&document);
                let own = id_key(&other)?;
                if is_gone(&own) {
                    continue;
                }
                let fields = moving.get(&own).copied();
                for keys in &indexes {
                    let key = key_of(keys, &values(keys, &document, fields))?;
                    if let Some(id) = wanted.get(&key)
                        && id_key(id)? != own
                    {
                        return Err(self.taken(id, &other, keys));
                    }
                }
                if fields.is_some() {
                    continue;
                }
                // The collation of the collection takes other values for equal.
                if let (Some(id), Some(keys)) = (wanted.values().next(), indexes.first()) {
                    return Err(self.taken(id, &other, keys));
                }
            }
        }
        Ok(())
    }

    /// Kept fields by which a node that takes the place of another one leaves its own first, if both have the same keys
    /// in a unique index: of two namesakes that swap, neither could be written first. They are those of a child of a node
    /// that has no child with these keys.
    pub(in crate::tree) async fn detour(
        &mut self,
        node: &Node,
        other: &Node,
        fields: &Document,
    ) -> Result<Option<Document>> {
        let indexes = self.unique_keys(fields.keys())?;
        if indexes.is_empty() {
            return Ok(None);
        }
        let ids = doc! {"_id": {"$in": [&node.id, &other.id]}};
        let found = self.keyed(ids, &indexes).await?;
        let (node_key, mut own, mut held) = (id_key(&node.id)?, None, None);
        for document in &found {
            if id_key(&id_of(document))? == node_key {
                own = Some(document);
            } else {
                held = Some(document);
            }
        }
        let (Some(own), Some(held)) = (own, held) else {
            return Ok(None);
        };
        let mut is_held = false;
        for keys in &indexes {
            let wanted = key_of(keys, &values(keys, own, Some(fields)))?;
            is_held |= wanted == key_of(keys, &values(keys, held, None))?;
        }
        if !is_held {
            return Ok(None);
        }
        let mut above = node.clone();
        let mut seen = HashSet::new();
        while seen.insert(id_key(&above.id)?) {
            let mut lineage = Vec::new();
            if self.ways.ancestors.is_stored() {
                lineage = self.lineage(&above).await?;
            }
            lineage.push(above.id.clone());
            let below = self.fields_below(&lineage)?.into_iter();
            let is_key = |field: &String| indexes.iter().any(|keys| keys.contains(field));
            let via: Document = below.filter(|(field, _)| is_key(field)).collect();
            let places = indexes.iter().map(|keys| {
                let values = values(keys, own, Some(&via)).into_iter().map(equality);
                Bson::from(keys.iter().cloned().zip(values).collect::<Document>())
            });
            let filter = doc! {"$or": places.collect::<Vec<_>>()};
            let found = self.nodes(filter, None, Some(1)).await?;
            match found.into_iter().next() {
                Some(child) => above = child,
                None => return Ok(Some(via)),
            }
        }
        Err(self.refused(
            TreeRefusal::Damaged,
            format!(
                "the parents of the node {} lead back to it: `check` lists such nodes, `repair` corrects them",
                above.id
            ),
        ))
    }

    fn taken(&self, id: &Bson, other: &Bson, keys: &Keys) -> Error {
        let kept = |key: &&String| !self.tree.fields().any(|field| field == key.as_str());
        let names: Vec<String> = keys
            .iter()
            .filter(kept)
            .map(|key| format!("`{key}`"))
            .collect();
        self.refused(
            TreeRefusal::Taken,
            format!(
                "the node {id} can't be a sibling of {other}, which has the same {}: a unique index forbids it; change one of \
                 the two, or choose another place",
                names.join(" and ")
            ),
        )
    }
}

fn id_of(document: &Document) -> Bson {
    document.get("_id").cloned().unwrap_or(Bson::Null)
}

/// The values of the keys of an index; those of `fields` come before those of the document.
fn values(keys: &Keys, document: &Document, fields: Option<&Document>) -> Vec<Bson> {
    let value = |key: &String| {
        if let Some(value) = fields.and_then(|fields| fields.get(key)) {
            return value.clone();
        }
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| document.get(part));
        let found = parts.fold(first, |value, part| value?.as_document()?.get(part));
        found.cloned().unwrap_or(Bson::Null)
    };
    keys.iter().map(value).collect()
}

/// A key that is equal for equal values of one index.
fn key_of(keys: &Keys, values: &[Bson]) -> Result<Vec<u8>> {
    id_key(&doc! {"keys": keys.clone(), "values": values}.into())
}
