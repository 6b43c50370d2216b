//! The newest documents of lists, and the lists as they are written.

use std::collections::HashMap;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, RawBson, doc};
use odm_language::value::key;

use super::super::fences::Fences;
use super::super::reference_place::{exact_read, exactly};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::newest::NewestList;
use crate::model::{Guarantee, name, projection};
use crate::store::Operation;
use crate::store::options::{Chosen, Options};
use crate::update::maintain;

/// A list of the newest, and where it and the listed documents are stored.
#[derive(Debug)]
pub(in crate::write) struct Listed {
    pub(in crate::write) list: &'static NewestList,
    /// The stored path of the reference in the listed documents.
    pub(in crate::write) reference: StoredPath,
    /// The stored path of the field to which the reference leads, in the documents that hold the list.
    pub(in crate::write) key: StoredPath,
}

/// The newest documents that refer to one document, the newest first.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Newest {
    /// At most as many as the list may have.
    pub(super) listed: Vec<Element>,
    /// Others with the sort value of the last.
    pub(super) ties: Vec<Element>,
}

/// A listed document.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    /// The bytes of its sort value, in the order of the values.
    pub(super) sort: Vec<u8>,
    /// Those of its `_id`.
    pub(super) id: Vec<u8>,
    pub(super) part: Document,
}

/// How many documents with the sort value of the last are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ties {
    /// Those that the list needs.
    Listed,
    /// All of them.
    All,
}

/// A document that holds a list, as it is stored.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) id: Bson,
    pub(super) stored: Option<RawBson>,
}

impl Listed {
    pub(in crate::write) fn new(list: &'static NewestList) -> Result<Self> {
        let key = name::resolve((list.model.embedded)(), &[list.reference.key])?;
        Ok(Self {
            list,
            reference: StoredPath::through_arrays(&list.reference.path),
            key: StoredPath::through_arrays(&key.path),
        })
    }

    pub(in crate::write) fn all(
        lists: impl IntoIterator<Item = &'static NewestList>,
    ) -> Result<Vec<Arc<Self>>> {
        let all = lists.into_iter();
        all.map(|one| Self::new(one).map(Arc::new)).collect()
    }

    /// Whether writes that depend on each other conflict, so that no second look is needed.
    pub(in crate::write) fn is_strict(&self) -> bool {
        self.list.guarantee == Guarantee::Strict
    }

    /// Writes the fences of the documents with these keys.
    pub(in crate::write) async fn fence(
        &self,
        channel: &mut Channel<'_>,
        keys: &Keys,
    ) -> Result<()> {
        let holder = channel.collection(self.list.model);
        let mut fences = Fences::default();
        fences.add(&holder, self.key.as_str(), keys)?;
        fences.write(channel, self.list.model).await
    }

    /// How many elements the list may have.
    pub(super) fn max(&self) -> usize {
        usize::try_from(self.list.recent.max).unwrap_or(usize::MAX)
    }

    fn options(&self, channel: &Channel<'_>, sort: Document, limit: Option<usize>) -> Chosen {
        let list = self.list;
        let mut projection = doc! {"_id": 1, list.sort: 1};
        projection.extend(list.copied.iter().map(|path| (path.clone(), Bson::from(1))));
        let limit = limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let exact = exact_read(channel, list.source, Some(projection));
        Chosen::from(Options {
            sort: Some(sort),
            limit,
            ..Options::clone(&exact)
        })
    }

    async fn elements(
        &self,
        channel: &mut Channel<'_>,
        filter: Document,
        options: Chosen,
    ) -> Result<Vec<(Element, Bson)>> {
        let find = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        let mut found = Vec::new();
        let source = channel.of(self.list.source);
        let read = source.read(find, options, |document| {
            found.push(self.element(document)?);
            Ok(())
        });
        read.await?;
        Ok(found)
    }

    /// The element of a document, and its sort value.
    pub(super) fn element(&self, document: &RawDocument) -> Result<(Element, Bson)> {
        let value = |name| {
            let value = document.get(name).map_err(Error::encode)?;
            Ok::<_, Error>(value.unwrap_or(RawBsonRef::Null))
        };
        let sort = value(self.list.sort)?;
        let element = Element {
            sort: key::of(sort, None),
            id: key::of(value("_id")?, None),
            part: projection::part(document, self.list.recent.copied)?,
        };
        Ok((element, Bson::try_from(sort).map_err(Error::encode)?))
    }

    /// The documents that hold the list with this key.
    pub(super) async fn holders(
        &self,
        channel: &mut Channel<'_>,
        filter: Document,
    ) -> Result<Vec<Holder>> {
        let list = self.list;
        let find = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        let options = exact_read(channel, list.model, Some(doc! {"_id": 1, list.name: 1}));
        let mut holders = Vec::new();
        let read = channel.of(list.model).read(find, options, |document| {
            let id = document.get("_id").map_err(Error::encode)?;
            let stored = document.get(list.name).map_err(Error::encode)?;
            holders.push(Holder {
                id: Bson::try_from(id.unwrap_or(RawBsonRef::Null)).map_err(Error::encode)?,
                stored: stored.map(RawBson::from),
            });
            Ok(())
        });
        read.await?;
        Ok(holders)
    }
}

impl Newest {
    /// Reads the newest documents that refer to a key.
    ///
    /// The query sorts by the one field that an index on the reference and the field has: with the `_id` behind it, MongoDB
    /// would sort all documents of the reference. Only if the bound of the list lies between equal values, a second query
    /// reads those.
    pub(super) async fn read(
        channel: &mut Channel<'_>,
        listed: &Listed,
        key: &Bson,
        ties: Ties,
    ) -> Result<Self> {
        let (list, max) = (listed.list, listed.max());
        let reference = listed.reference.as_str();
        let sort = doc! {list.sort: -1};
        let options = listed.options(channel, sort, Some(max.saturating_add(1)));
        let filter = doc! {reference: {"$eq": key}};
        let mut found = listed.elements(channel, filter, options).await?;
        let mut tied = None;
        if let Some((beyond, _)) = found.get(max)
            && let Some((last, value)) = max.checked_sub(1).and_then(|last| found.get(last))
            && last.sort == beyond.sort
        {
            tied = Some((last.sort.clone(), value.clone()));
        } else {
            found.truncate(max);
        }
        let mut newest: Vec<_> = found.into_iter().map(|(element, _)| element).collect();
        if let Some((bytes, value)) = tied {
            let above = newest.iter().filter(|one| one.sort != bytes).count();
            let limit = (ties == Ties::Listed).then_some(max - above);
            let options = listed.options(channel, doc! {"_id": -1}, limit);
            let filter = doc! {reference: {"$eq": key}, list.sort: {"$eq": value}};
            let equal = listed.elements(channel, filter, options).await?;
            let mut equal: Vec<_> = equal.into_iter().map(|(element, _)| element).collect();
            equal.retain(|one| one.sort == bytes);
            // A value that is equal to others only in the order, such as an array, is not found by itself.
            if equal.len() >= max - above {
                newest.retain(|one| one.sort != bytes);
                newest.append(&mut equal);
            }
        }
        newest.sort_by(|one, other| (&other.sort, &other.id).cmp(&(&one.sort, &one.id)));
        let ties = newest.split_off(max.min(newest.len()));
        Ok(Self {
            listed: newest,
            ties,
        })
    }

    /// The list as it is stored.
    fn list(&self, listed: &Listed) -> Vec<Bson> {
        let parts = self.listed.iter().map(|one| Bson::from(one.part.clone()));
        if listed.list.recent.descending {
            parts.collect()
        } else {
            parts.rev().collect()
        }
    }

    /// Whether the stored list has exactly these documents in this order.
    fn is(&self, listed: &Listed, stored: Option<&RawBson>) -> Result<bool> {
        if listed.list.is_skipped && self.listed.is_empty() {
            return Ok(stored.is_none_or(is_empty));
        }
        let Some(stored) = stored else {
            return Ok(false);
        };
        let own = RawBson::try_from(Bson::Array(self.list(listed))).map_err(Error::encode)?;
        Ok(bytes(own.as_raw_bson_ref()) == bytes(stored.as_raw_bson_ref()))
    }

    /// Whether the stored list is right: documents with equal sort values may be in any order, and any of those that have
    /// the value of the last may be in it.
    pub(super) fn is_right(&self, listed: &Listed, stored: Option<&RawBson>) -> Result<bool> {
        if self.is(listed, stored)? {
            return Ok(true);
        }
        let Some(mut parts) = parts(stored)? else {
            return Ok(false);
        };
        if !listed.list.recent.descending {
            parts.reverse();
        }
        if parts.len() != self.listed.len() {
            return Ok(false);
        }
        for (part, element) in parts.iter().zip(&self.listed) {
            let value = part.get(listed.list.sort).map_err(Error::encode)?;
            if key::of(value.unwrap_or(RawBsonRef::Null), None) != element.sort {
                return Ok(false);
            }
        }
        Ok(self.missing(&parts)?.1 == 0)
    }

    /// How many of the newest a stored list lacks, and how many of its elements are none of the newest.
    pub(super) fn missing(&self, parts: &[RawDocumentBuf]) -> Result<(usize, usize)> {
        let mut stored: HashMap<Vec<u8>, usize> = HashMap::new();
        for part in parts {
            *stored.entry(bytes(RawBsonRef::Document(part))).or_default() += 1;
        }
        let mut lacking = 0;
        for (position, element) in self.listed.iter().chain(&self.ties).enumerate() {
            let part = RawDocumentBuf::try_from(&element.part).map_err(Error::encode)?;
            match stored.get_mut(&bytes(RawBsonRef::Document(&part))) {
                Some(count) if *count > 0 => *count -= 1,
                _ if position < self.listed.len() => lacking += 1,
                _ => {}
            }
        }
        Ok((lacking, stored.values().sum()))
    }

    /// The statement that writes the list into a document.
    fn statement(&self, listed: &Listed, id: &Bson) -> Document {
        let (list, model) = (listed.list, listed.list.model);
        let mut change = if list.is_skipped && self.listed.is_empty() {
            doc! {"$unset": {list.name: ""}}
        } else {
            doc! {"$set": {list.name: self.list(listed)}}
        };
        maintain::change(&maintain::fields(model), &mut change);
        exactly(model, doc! {"q": {"_id": {"$eq": id}}, "u": change})
    }
}

fn bytes(value: RawBsonRef<'_>) -> Vec<u8> {
    key::of(value, None)
}

fn is_empty(stored: &RawBson) -> bool {
    let elements = stored.as_array();
    elements.is_some_and(|elements| elements.into_iter().next().is_none())
}

/// The elements of a stored list; none if it is another value, or has elements that are no documents.
pub(super) fn parts(stored: Option<&RawBson>) -> Result<Option<Vec<RawDocumentBuf>>> {
    let Some(elements) = stored.and_then(|stored| stored.as_array()) else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for element in elements {
        match element.map_err(Error::encode)? {
            RawBsonRef::Document(part) => parts.push(part.to_owned()),
            _ => return Ok(None),
        }
    }
    Ok(Some(parts))
}

/// Writes the list of one key where it differs; returns how many documents were written.
async fn write_one(
    channel: &mut Channel<'_>,
    listed: &Listed,
    key: &Bson,
    newest: &Newest,
) -> Result<u64> {
    let mut written = 0;
    let filter = doc! {listed.key.as_str(): {"$eq": key}};
    for holder in listed.holders(channel, filter).await? {
        if !newest.is(listed, holder.stored.as_ref())? {
            let statement = newest.statement(listed, &holder.id);
            let documents = channel.of(listed.list.model);
            written += documents.update(vec![statement]).await?.matched();
        }
    }
    Ok(written)
}

/// Writes the lists in the documents with these keys where they differ; returns how many were written.
pub(in crate::write) async fn write(
    channel: &mut Channel<'_>,
    listed: &Listed,
    keys: &Keys,
) -> Result<u64> {
    let mut written = 0;
    for key in (0..keys.len()).filter_map(|position| keys.get(position)) {
        let newest = Newest::read(channel, listed, key, Ties::Listed).await?;
        written += write_one(channel, listed, key, &newest).await?;
    }
    Ok(written)
}

/// Looks again after a write: writes each list until the documents are those that were written last.
///
/// A look that writes nothing is the last one: it has done no harm. After it has written, an insert that pushed onto the list
/// before has committed, or fails by the fence, so that the next look sees its document.
pub(in crate::write) async fn settle(
    channel: &mut Channel<'_>,
    listed: &Listed,
    keys: &Keys,
) -> Result<u64> {
    let mut written = 0;
    for key in (0..keys.len()).filter_map(|position| keys.get(position)) {
        let one = Keys::of([key])?;
        let mut last = None;
        loop {
            let newest = Newest::read(channel, listed, key, Ties::Listed).await?;
            if last.as_ref() == Some(&newest) {
                break;
            }
            let documents = write_one(channel, listed, key, &newest).await?;
            if documents == 0 {
                break;
            }
            written += documents;
            listed.fence(channel, &one).await?;
            last = Some(newest);
        }
    }
    Ok(written)
}
