//! Two-way references: the side that was written decides, and the other one follows.

use std::collections::{BTreeMap, BTreeSet};

use bson::raw::RawBsonRef;
use bson::{Bson, RawBson, doc};

use super::super::chunks;
use super::super::propagate::{Propagated, count_written};
use super::super::reference_place::exact_read;
use super::super::two_way::{BackReference, Links};
use super::step::Step;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::store::Operation;

/// A document whose side of a two-way reference was written.
#[derive(Debug, Clone)]
pub(super) struct Touched {
    /// The number of the side in its pair.
    pub(super) side: usize,
    pub(super) id: Bson,
    /// The value that the other side stores, as the event has it.
    pub(super) key: Option<Bson>,
    /// The references that the write has added or removed; `None` where the event does not say.
    pub(super) links: Option<Keys>,
    /// The number of the last event.
    pub(super) at: usize,
    pub(super) is_new: bool,
    pub(super) is_gone: bool,
}

impl Touched {
    /// Adds a later event of the document.
    pub(super) fn follow(&mut self, later: Self) -> Result<()> {
        self.links = match (self.links.take(), later.links) {
            (Some(mut links), Some(others)) => {
                links.add_all(&others)?;
                Some(links)
            }
            _ => None,
        };
        self.key = later.key.or(self.key.take());
        self.at = later.at;
        self.is_new |= later.is_new;
        self.is_gone = later.is_gone;
        Ok(())
    }

    fn allows(&self, other: Option<&Bson>) -> Result<bool> {
        let (Some(links), Some(other)) = (&self.links, other) else {
            return Ok(true);
        };
        let other = RawBson::try_from(other.clone()).map_err(Error::encode)?;
        Ok(links.position(other.as_raw_bson_ref()).is_some())
    }
}

/// Lets the other side follow documents.
pub(super) struct FollowSide<'p> {
    pub(super) back: &'p BackReference,
    /// Documents of the other side that new documents have to follow.
    pub(super) reverse: Vec<Touched>,
}

impl Step for FollowSide<'_> {
    type Item = Touched;

    fn label(&self) -> (&'static str, String) {
        let other = &self.back.sides.other;
        (other.model.name, other.field.to_owned())
    }

    async fn run(
        &mut self,
        channel: &mut Channel<'static>,
        items: &[Touched],
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        let links = self.links(channel, items).await?;
        match self.back.write(channel, &links).await {
            Ok(written) => {
                count_written(done, self.back, &written);
                Ok(())
            }
            // The document was deleted meanwhile, which is an event of its own.
            Err(error) if error.is_dangling() && items.len() == 1 => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The links of some documents, by the positions of their keys.
#[derive(Default)]
struct Read<'t> {
    owns: Keys,
    others: Keys,
    /// The event of each of the documents, by the position of its key.
    touched: BTreeMap<usize, &'t Touched>,
    /// The links that the documents have.
    own: BTreeSet<(usize, usize)>,
    /// The links that the other side has.
    other: BTreeSet<(usize, usize)>,
    /// The `_id`s of documents of the other side.
    ids: BTreeMap<usize, Bson>,
    /// The keys of documents that are not there.
    gone: BTreeSet<usize>,
}

impl FollowSide<'_> {
    /// The links that the other side lacks, and those that only the other side has, of those that were written.
    async fn links(&mut self, channel: &mut Channel<'static>, items: &[Touched]) -> Result<Links> {
        let read = self.read(channel, items).await?;
        let (mut added, mut removed) = (BTreeSet::new(), BTreeSet::new());
        let mut candidates = Keys::default();
        for &(own, other) in read.own.difference(&read.other) {
            let Some(touched) = read.touched.get(&own) else {
                continue;
            };
            if touched.allows(read.others.get(other))? {
                candidates.add_value(read.others.get(other))?;
                added.insert((own, other));
            }
        }
        // A reference to nothing needs no other side.
        let existing = self.existing(channel, &candidates, &read).await?;
        added.retain(|(_, other)| existing.contains(other));
        for &(own, other) in read.other.difference(&read.own) {
            let Some(touched) = read.touched.get(&own) else {
                continue;
            };
            let has_others = read.own.range((own, 0)..(own + 1, 0)).next().is_some();
            let is_there = !read.gone.contains(&own);
            if touched.is_new && is_there && (self.back.own.side.is_list() || !has_others) {
                // The other document referred to this one before it was there.
                let links = Keys::of(read.owns.get(own))?;
                let id = read.ids.get(&other).cloned().unwrap_or(Bson::Null);
                self.reverse.push(Touched {
                    side: 1 - touched.side.min(1),
                    id,
                    key: None,
                    links: Some(links),
                    at: 0,
                    is_new: false,
                    is_gone: false,
                });
            } else if touched.allows(read.others.get(other))? {
                removed.insert((own, other));
            }
        }
        Ok(Links::new((read.owns, read.others), added, removed))
    }

    async fn read<'t>(
        &self,
        channel: &mut Channel<'static>,
        items: &'t [Touched],
    ) -> Result<Read<'t>> {
        let (own, other) = (&self.back.own, &self.back.other);
        let mut read = Read::default();
        let ids = Keys::of(items.iter().map(|one| &one.id))?;
        let model = own.side.model;
        let options = exact_read(channel, model, Some(own.projection()));
        let mut is_found = BTreeSet::new();
        for document in chunks::again(channel, model, &ids, &options).await? {
            let id = document.get("_id").map_err(Error::encode)?;
            let position = id.and_then(|id| ids.position(id));
            let key = own.key.value(&document);
            let key = key.filter(|key| *key != RawBsonRef::Null);
            let (Some(position), Some(key)) = (position, key) else {
                continue;
            };
            is_found.insert(position);
            let key = read.owns.add(key)?;
            if let Some(touched) = items.get(position) {
                read.touched.insert(key, touched);
            }
            let mut added = Ok(());
            own.path.each_value(&document, &mut |value| {
                if value != RawBsonRef::Null && added.is_ok() {
                    added = read.others.add(value).map(|other| {
                        read.own.insert((key, other));
                    });
                }
            });
            added?;
        }
        for (position, touched) in items.iter().enumerate() {
            if let (false, Some(key)) = (is_found.contains(&position), &touched.key) {
                let key = RawBson::try_from(key.clone()).map_err(Error::encode)?;
                let key = read.owns.add(key.as_raw_bson_ref())?;
                read.touched.entry(key).or_insert(touched);
                read.gone.insert(key);
            }
        }
        let model = other.side.model;
        for part in read.owns.parts() {
            let find = Operation::Find {
                filter: doc! {other.path.as_str(): {"$in": part}}.into(),
                one: false,
            };
            let options = exact_read(channel, model, Some(other.projection()));
            for document in channel.of(model).documents(find, options).await? {
                let Some(key) = other.key.value(&document) else {
                    continue;
                };
                let key = read.others.add(key)?;
                let id = document.get("_id").map_err(Error::encode)?;
                if let Some(id) = id {
                    let id = Bson::try_from(id).map_err(Error::encode)?;
                    read.ids.insert(key, id);
                }
                let owns = &read.owns;
                let links = &mut read.other;
                other.path.each_value(&document, &mut |value| {
                    links.extend(owns.position(value).map(|own| (own, key)));
                });
            }
        }
        Ok(read)
    }

    /// The positions of those documents of the other side that are there.
    async fn existing(
        &self,
        channel: &mut Channel<'static>,
        candidates: &Keys,
        read: &Read<'_>,
    ) -> Result<BTreeSet<usize>> {
        let mut existing = BTreeSet::new();
        let (key, others) = (&self.back.other.key, &read.others);
        self.back
            .other
            .read(channel, candidates, &mut |document| {
                let key = key.value(document);
                existing.extend(key.and_then(|key| others.position(key)));
                Ok(())
            })
            .await?;
        Ok(existing)
    }
}
