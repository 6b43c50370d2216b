//! Inserts that push the parts of new documents onto the lists.

use std::collections::BTreeMap;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, RawBson, doc};

use super::super::reference_place::{exact_read, exactly};
use super::Listed;
use super::facts::Element;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::store::Operation;
use crate::update::maintain;

/// The parts of new documents for one list, by the document that holds it.
pub(in crate::write) struct Pushes<'l> {
    listed: &'l Listed,
    keys: Keys,
    elements: BTreeMap<usize, Vec<Element>>,
}

impl<'l> Pushes<'l> {
    pub(in crate::write) fn new(listed: &'l Listed, documents: &[RawDocumentBuf]) -> Result<Self> {
        let mut pushes = Self {
            listed,
            keys: Keys::default(),
            elements: BTreeMap::new(),
        };
        for document in documents {
            // A list that has a reference twice has the document once.
            let keys = Keys::at(&listed.reference, std::slice::from_ref(document))?;
            for key in (0..keys.len()).filter_map(|position| keys.get(position)) {
                pushes.keys.add_value(Some(key))?;
                let value = RawBson::try_from(key.clone()).map_err(Error::encode)?;
                let Some(position) = pushes.keys.position(value.as_raw_bson_ref()) else {
                    continue;
                };
                let (element, _) = listed.element(document)?;
                let elements = pushes.elements.entry(position).or_default();
                elements.push(element);
            }
        }
        Ok(pushes)
    }

    /// The keys of the documents that hold the lists.
    pub(in crate::write) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Pushes the parts, in the transaction of the insert; returns how many documents were written, and the keys of those
    /// where a field of another type stands in place of the list.
    pub(in crate::write) async fn write(self, channel: &mut Channel<'_>) -> Result<(u64, Keys)> {
        let (listed, keys) = (self.listed, self.keys.clone());
        let count = self.elements.len() as u64;
        let statements = self.statements()?;
        let mut holders = channel.of(listed.list.model);
        let pushed = holders.update_in_batches(&statements).await?;
        let mut others = Keys::default();
        if pushed < count {
            for part in keys.parts() {
                let is_list = doc! {"$type": "array"};
                let filter = doc! {
                    listed.key.as_str(): {"$in": part},
                    listed.list.name: {"$not": is_list},
                };
                let find = Operation::Find {
                    filter: filter.into(),
                    one: false,
                };
                let model = listed.list.model;
                let options = exact_read(channel, model, Some(doc! {listed.key.as_str(): 1}));
                let found = channel.of(model).documents(find, options).await?;
                others.add_all(&Keys::at(&listed.key, &found)?)?;
            }
        }
        Ok((pushed, others))
    }

    fn statements(self) -> Result<Vec<RawDocumentBuf>> {
        let list = self.listed.list;
        let max = i32::try_from(list.recent.max).unwrap_or(i32::MAX);
        let maintained = maintain::fields(list.model);
        let mut statements = Vec::new();
        for (position, mut elements) in self.elements {
            let Some(key) = self.keys.get(position) else {
                continue;
            };
            elements.sort_by(|one, other| (&one.sort, &one.id).cmp(&(&other.sort, &other.id)));
            // Older ones would be cut off at once.
            let older = elements.len().saturating_sub(self.listed.max());
            let newest = elements.drain(older..);
            let mut parts: Vec<Bson> = newest.map(|one| one.part.into()).collect();
            // Of equal sort values, the larger `_id` is the newer one: at the end of an ascending list, and at the start of
            // a descending one.
            let (direction, slice) = if list.recent.descending {
                parts.reverse();
                (-1, max)
            } else {
                (1, -max)
            };
            let mut sort = doc! {list.sort: direction};
            if list.has_id && list.sort != "_id" {
                sort.insert("_id", direction);
            }
            let mut push = doc! {"$each": parts, "$sort": sort, "$slice": slice};
            if list.recent.descending {
                push.insert("$position", 0);
            }
            let mut update = doc! {"$push": {list.name: push}};
            maintain::change(&maintained, &mut update);
            let filter: Document = doc! {
                self.listed.key.as_str(): {"$eq": key.clone()},
                list.name: {"$type": "array"},
            };
            let statement = exactly(list.model, doc! {"q": filter, "u": update});
            statements.push(RawDocumentBuf::try_from(statement).map_err(Error::encode)?);
        }
        Ok(statements)
    }
}
