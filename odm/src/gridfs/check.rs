//! Compares files with their chunks, and finds chunks without a file.

use std::fmt;

use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::spec::BinarySubtype;
use bson::{Bson, DateTime, doc};

use super::place::{Layout, Place, whole};
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::ModelMeta;
use crate::query::operators::any_of;
use crate::store::Operation;
use crate::store::options::{Chosen, Options};
use crate::write::Damage;
use crate::write::checker::{Checker, id_of};

/// The kinds of damage to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FileDamage {
    /// Chunks are missing.
    Missing,
    /// Chunks stand behind the last one, or one number has several.
    Extra,
    /// Chunks have too few or too many bytes, or none.
    Wrong,
}

/// Compares files with their chunks.
pub(crate) struct FileChecker {
    model: &'static ModelMeta,
}

impl FileChecker {
    /// The check of a model, if it describes files.
    pub(crate) fn of(model: &'static ModelMeta) -> Option<Self> {
        model.gridfs.is_some().then_some(Self { model })
    }
}

impl Checker for FileChecker {
    type Kind = FileDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        Chosen::from(Options {
            projection: Some(doc! {"length": 1, "chunkSize": 1}),
            ..channel.current()
        })
    }

    async fn look(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<FileDamage>>> {
        let mut ids = Keys::default();
        let mut files = Vec::new();
        for document in documents {
            let id = id_of(document)?;
            ids.add_value(Some(&id))?;
            files.push(Seen::new(id, Layout::of(document)));
        }
        let place = Place::new(channel.store().clone(), self.model);
        for part in ids.parts() {
            // The bytes stay where they are: only their numbers are compared.
            let is_binary = doc! {"$eq": [{"$type": "$data"}, "binData"]};
            let size = doc! {"$cond": [is_binary, {"$binarySize": "$data"}, -1]};
            let pipeline = vec![
                doc! {"$match": any_of("files_id", part)},
                doc! {"$sort": {"files_id": 1, "n": 1}},
                doc! {"$project": {"_id": 0, "files_id": 1, "n": 1, "size": size}},
            ];
            let options = Chosen::from(channel.current());
            let chunks = channel.named(place.chunks.clone(), self.model);
            let read = chunks.read(Operation::Aggregate { pipeline }, options, |chunk| {
                let file = chunk.get("files_id").map_err(Error::encode)?;
                let position = file.and_then(|file| ids.position(file));
                if let Some(seen) = position.and_then(|position| files.get_mut(position)) {
                    seen.add(chunk);
                }
                Ok(())
            });
            read.await?;
        }
        for seen in &mut files {
            if let Some(n) = seen.longer.first {
                let is_old = is_old(channel, &place, &seen.id, n).await?;
                seen.take_longer(is_old);
            }
        }
        Ok(files.into_iter().flat_map(Seen::end).collect())
    }
}

/// A file, and what was seen of its chunks in their order.
struct Seen {
    id: Bson,
    layout: Result<Layout>,
    /// The number of the next chunk.
    next: i64,
    missing: Tally,
    extra: Tally,
    wrong: Tally,
    /// Chunks that are longer by the bytes that the old subtype of binary values adds.
    longer: Tally,
}

/// A value of the old subtype has its length before its bytes, and `$binarySize` counts it.
const OLD_LENGTH: u64 = 4;

/// Whether a chunk has the old subtype. An old program has stored all chunks of a file like this.
async fn is_old(channel: &mut Channel<'_>, place: &Place, file: &Bson, n: i64) -> Result<bool> {
    let find = Operation::Find {
        filter: doc! {"files_id": file, "n": n}.into(),
        one: true,
    };
    let options = channel.current();
    let chunks = channel.named(place.chunks.clone(), place.model);
    let found = chunks.documents(find, options.into()).await?;
    let data = found.first().and_then(|chunk| chunk.get("data").ok()?);
    Ok(matches!(data, Some(RawBsonRef::Binary(data)) if data.subtype == BinarySubtype::BinaryOld))
}

/// How many chunks are damaged, and the first of them.
#[derive(Default)]
struct Tally {
    count: i64,
    first: Option<i64>,
}

impl Tally {
    fn add(&mut self, first: i64, count: i64) {
        if count > 0 {
            self.first.get_or_insert(first);
            self.count = self.count.saturating_add(count);
        }
    }
}

impl Seen {
    fn new(id: Bson, layout: Result<Layout>) -> Self {
        Self {
            id,
            layout,
            next: 0,
            missing: Tally::default(),
            extra: Tally::default(),
            wrong: Tally::default(),
            longer: Tally::default(),
        }
    }

    fn add(&mut self, chunk: &RawDocument) {
        let Ok(layout) = self.layout else { return };
        let number = |name| chunk.get(name).ok().flatten().and_then(whole);
        let Some(n) = number("n") else {
            self.extra.add(self.next, 1);
            return;
        };
        let size = number("size").and_then(|size| u64::try_from(size).ok());
        // A file without bytes may have one chunk without bytes.
        let is_empty = layout.length == 0 && n == 0 && size == Some(0);
        if n < self.next || (n >= layout.chunks() && !is_empty) {
            self.extra.add(n, 1);
            return;
        }
        self.missing.add(self.next, n - self.next);
        self.next = n + 1;
        let expected = layout.size_of(n);
        if size == Some(expected + OLD_LENGTH) {
            self.longer.add(n, 1);
        } else if size != Some(expected) {
            self.wrong.add(n, 1);
        }
    }

    /// Counts the longer chunks as wrong ones, unless their subtype explains it.
    fn take_longer(&mut self, is_old: bool) {
        let longer = std::mem::take(&mut self.longer);
        if let (false, Some(first)) = (is_old, longer.first) {
            let is_before = self.wrong.first.is_none_or(|wrong| first < wrong);
            self.wrong.count = self.wrong.count.saturating_add(longer.count);
            if is_before {
                self.wrong.first = Some(first);
            }
        }
    }

    fn end(mut self) -> Vec<Damage<FileDamage>> {
        let layout = match &self.layout {
            Ok(layout) => *layout,
            Err(error) => {
                let detail = format!("the chunks can't be compared: {error}");
                return vec![Damage::new(&self.id, FileDamage::Wrong, detail)];
            }
        };
        self.missing.add(self.next, layout.chunks() - self.next);
        let Self {
            id,
            missing,
            extra,
            wrong,
            ..
        } = self;
        let all = [
            (FileDamage::Missing, missing, "missing"),
            (FileDamage::Extra, extra, "more than the file has"),
            (
                FileDamage::Wrong,
                wrong,
                "too short, too long or without bytes",
            ),
        ];
        let damaged = all.into_iter().filter(|(_, tally, _)| tally.count > 0);
        let damage = |(kind, tally, what): (FileDamage, Tally, &str)| {
            let first = tally.first.unwrap_or_default();
            let detail = match tally.count {
                1 => format!("chunk {first} is {what}"),
                count => format!("{count} chunks are {what}, the first is {first}"),
            };
            Damage::new(&id, kind, detail)
        };
        damaged.map(damage).collect()
    }
}

impl fmt::Display for FileDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "missing chunk",
            Self::Extra => "extra chunk",
            Self::Wrong => "wrong chunk",
        })
    }
}

/// The `files_id`s of chunks that belong to no file, if their upload has not gone on since this time.
///
/// An upload stores the document of its file at the end: until then, its chunks look like those of one that has stopped.
pub(crate) async fn orphans(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    since: DateTime,
    hear: &mut (dyn FnMut(Bson) + Send),
) -> Result<()> {
    let place = Place::new(channel.store().clone(), model);
    // The index on both fields answers this without reading the chunks.
    let pipeline = vec![
        doc! {"$sort": {"files_id": 1, "n": 1}},
        doc! {"$group": {"_id": "$files_id"}},
    ];
    let mut apart = Channel::new(place.store.clone(), None);
    let chunks = channel.named(place.chunks.clone(), model);
    let options = Options {
        allow_disk_use: Some(true),
        ..Options::default()
    };
    let mut cursor = chunks
        .open(Operation::Aggregate { pipeline }, options.into())
        .await?;
    let mut ids = Keys::default();
    loop {
        let group = cursor.next().await.transpose();
        let group = group.map_err(|error| error.with_model(model.name))?;
        let is_end = group.is_none();
        if let Some(group) = group {
            let id = group.get("_id").map_err(Error::encode)?;
            ids.add(id.unwrap_or(RawBsonRef::Null))?;
        }
        if is_end || ids.len() >= 1_000 {
            for id in without_file(&mut apart, &place, std::mem::take(&mut ids)).await? {
                if !goes_on(&mut apart, &place, &id, since).await? {
                    hear(id);
                }
            }
        }
        if is_end {
            return Ok(());
        }
    }
}

/// The ids that no file has.
async fn without_file(channel: &mut Channel<'_>, place: &Place, ids: Keys) -> Result<Vec<Bson>> {
    let mut is_found = vec![false; ids.len()];
    for part in ids.parts() {
        let find = Operation::Find {
            filter: any_of("_id", part).into(),
            one: false,
        };
        let options = Options {
            projection: Some(doc! {"_id": 1}),
            ..channel.current()
        };
        let files = channel.named(place.files.clone(), place.model);
        let read = files.read(find, options.into(), |file| {
            let id = file.get("_id").map_err(Error::encode)?;
            let position = id.and_then(|id| ids.position(id));
            if let Some(found) = position.and_then(|position| is_found.get_mut(position)) {
                *found = true;
            }
            Ok(())
        });
        read.await?;
    }
    let ids = ids.into_values().into_iter().zip(is_found);
    Ok(ids
        .filter(|(_, is_found)| !is_found)
        .map(|(id, _)| id)
        .collect())
}

/// Whether the last chunk was stored after this time, as far as its `_id` has one.
async fn goes_on(
    channel: &mut Channel<'_>,
    place: &Place,
    id: &Bson,
    since: DateTime,
) -> Result<bool> {
    let find = Operation::Find {
        filter: doc! {"files_id": id}.into(),
        one: true,
    };
    let options = Options {
        sort: Some(doc! {"n": -1}),
        projection: Some(doc! {"_id": 1}),
        ..channel.current()
    };
    let chunks = channel.named(place.chunks.clone(), place.model);
    let last = chunks.documents(find, options.into()).await?;
    let stored = last
        .first()
        .and_then(|chunk| chunk.get_object_id("_id").ok());
    Ok(last.is_empty() || stored.is_some_and(|id: ObjectId| id.timestamp() >= since))
}
