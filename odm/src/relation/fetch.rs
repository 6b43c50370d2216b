//! Fetches documents by their ids: each once, in as few queries as their size allows.

use std::collections::HashMap;
use std::sync::Arc;

use bson::raw::RawBsonRef;
use bson::{Bson, doc};
use odm_language::value::key;

use super::reference::Resolved;
use crate::error::{Error, Result};
use crate::model::Document;
use crate::store::operation::{Operation, Request};
use crate::store::options::Chosen;
use crate::store::{Condition, Session, Store};

/// The most bytes that the ids of one query may take: below the 16 MB of a document, with room for the rest
/// of the command.
const MAX_BYTES: usize = 15_000_000;

/// The ids to fetch, each once. As in an index, equal numbers of different types are one id.
#[derive(Debug, Default)]
pub(super) struct Ids {
    positions: HashMap<Vec<u8>, usize>,
    values: Vec<Bson>,
    sizes: Vec<usize>,
}

impl Ids {
    /// Adds an id; returns the position at which [`Fetched::get`] finds its document.
    pub(super) fn add(&mut self, id: RawBsonRef<'_>) -> Result<usize> {
        let key = key::of(id, None);
        if let Some(position) = self.positions.get(&key) {
            return Ok(*position);
        }
        let position = self.values.len();
        let id = Bson::try_from(id).map_err(Error::encode)?;
        // A key is about as long as its value; the element around it has a type and an index.
        self.sizes.push(key.len() + 24);
        self.positions.insert(key, position);
        self.values.push(id);
        Ok(position)
    }

    /// Fetches all ids with one query, or with several if one would be too large for a command.
    pub(super) async fn fetch<T: Document>(
        self,
        store: &Store,
        options: &Chosen,
        mut session: Option<&mut Session>,
    ) -> Result<Fetched<T>> {
        let name = T::model().name;
        let mut found = vec![None; self.values.len()];
        for range in parts(&self.sizes) {
            let ids = self.values.get(range).unwrap_or_default().to_vec();
            let mut request = Request::new(
                T::model().collection,
                Operation::Find {
                    filter: Condition::One("_id".into(), doc! { "$in": ids }.into()),
                    one: false,
                },
            );
            request.options = options.clone();
            let response = store.clone().exec(request, session.as_deref_mut()).await;
            let mut cursor = response
                .and_then(crate::store::Response::cursor)
                .map_err(|error| error.with_model(name))?;
            while let Some(raw) = cursor.next().await {
                let raw = raw.map_err(|error| error.with_model(name))?;
                let position = raw.get("_id").ok().flatten();
                let position = position.and_then(|id| self.positions.get(&key::of(id, None)));
                if let Some(slot) = position.and_then(|position| found.get_mut(*position)) {
                    *slot = Some(Arc::new(crate::collection::decode::<T>(raw, name)?));
                }
            }
        }
        Ok(Fetched {
            found,
            ids: self.values,
        })
    }
}

/// The fetched documents, by position.
#[derive(Debug)]
pub(super) struct Fetched<T> {
    found: Vec<Option<Arc<T>>>,
    ids: Vec<Bson>,
}

impl<T: Document> Fetched<T> {
    pub(super) fn get(&self, position: usize) -> Result<Resolved<T>> {
        if let Some(Some(document)) = self.found.get(position) {
            return Ok(Resolved::Found(Arc::clone(document)));
        }
        let id = self.ids.get(position).cloned().unwrap_or(Bson::Null);
        crate::collection::decode_id::<T>(id).map(Resolved::Dangling)
    }
}

/// Ranges of ids that fit one command each.
fn parts(sizes: &[usize]) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, size) in sizes.iter().enumerate() {
        if index > start && bytes + size > MAX_BYTES {
            parts.push(start..index);
            (start, bytes) = (index, 0);
        }
        bytes += size;
    }
    if start < sizes.len() {
        parts.push(start..sizes.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_are_fetched_once() {
        let mut ids = Ids::default();
        let added = [
            RawBsonRef::Int32(1),
            RawBsonRef::String("1"),
            RawBsonRef::Int64(1),
        ];
        let positions = added.map(|id| ids.add(id).unwrap());
        assert_eq!(positions, [0, 1, 0]);
        assert_eq!(ids.values, [Bson::Int32(1), Bson::from("1")]);
    }

    #[test]
    fn no_command_is_too_large() {
        assert!(parts(&[]).is_empty());
        assert_eq!(
            parts(&[100; 1000]),
            std::iter::once(0..1000).collect::<Vec<_>>()
        );
        assert_eq!(parts(&[6_000_000; 5]), [0..2, 2..4, 4..5]);
        assert_eq!(parts(&[20_000_000, 1]), [0..1, 1..2]);
    }
}
