//! One pass over the documents of a collection, in the order of their `_id`s.

use std::time::Duration;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};

use super::checkers::AnyChecker;
use crate::error::Result;
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::store::options::{Chosen, Options};
use crate::store::{Operation, RawCursor};
use crate::write::Damage;
use crate::write::checker::{Checker, Suspects, id_of};

use super::FindingKind;

/// How many documents are read before they are checked.
const CHUNK: u32 = 1_000;

/// How many bytes of documents are read before they are checked.
const CHUNK_BYTES: usize = 16 * 1024 * 1024;

/// The documents that a pass reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// The documents that match.
    pub(crate) filter: Document,
    /// This many of them, chosen at random.
    pub(crate) sample: Option<u64>,
    /// The most documents, if not all.
    pub(crate) most: Option<u64>,
    /// Documents for each second, at most.
    pub(crate) rate: Option<u32>,
}

/// A pass over the documents of a model.
pub(crate) struct Pass {
    channel: Channel<'static>,
    model: &'static ModelMeta,
    selection: Selection,
    checkers: Vec<(AnyChecker, Suspects)>,
    /// The `_id` of the last document that was read.
    pub(crate) after: Option<Bson>,
    /// How many documents were read.
    pub(crate) read: u64,
    sample: Option<RawCursor<'static>>,
}

impl Pass {
    pub(crate) fn new(
        channel: Channel<'static>,
        model: &'static ModelMeta,
        selection: Selection,
        checkers: Vec<AnyChecker>,
        after: Option<Bson>,
    ) -> Self {
        let checkers = checkers.into_iter();
        Self {
            channel,
            model,
            selection,
            checkers: checkers.map(|one| (one, Suspects::default())).collect(),
            after,
            read: 0,
            sample: None,
        }
    }

    /// The first comparison, which is the only one of a repair.
    pub(crate) fn checker(&self) -> Option<&AnyChecker> {
        self.checkers.first().map(|(checker, _)| checker)
    }

    /// Reads the next documents and looks for suspects; returns `false` after the last documents.
    pub(crate) async fn step(&mut self) -> Result<bool> {
        let started = std::time::Instant::now();
        let documents = self.next().await?;
        let Some(last) = documents.last() else {
            return Ok(false);
        };
        self.after = Some(id_of(last)?);
        self.read += documents.len() as u64;
        for (checker, suspects) in &mut self.checkers {
            let damages = checker.look(&mut self.channel, &documents).await?;
            suspects.add(&damages)?;
        }
        if let Some(rate) = self.selection.rate {
            let read = u32::try_from(documents.len()).unwrap_or(u32::MAX);
            let due = Duration::from_secs(1) * read / rate.max(1);
            tokio::time::sleep(due.saturating_sub(started.elapsed())).await;
        }
        Ok(true)
    }

    /// Looks at suspects again, if there are many, or at all of them at the end; returns what is wrong.
    pub(crate) async fn confirm(&mut self, is_end: bool) -> Result<Vec<Damage<FindingKind>>> {
        let mut damages = Vec::new();
        for (checker, suspects) in &mut self.checkers {
            if is_end || suspects.is_full() {
                damages.append(&mut suspects.confirm(&self.channel, checker).await?);
            }
        }
        Ok(damages)
    }

    async fn next(&mut self) -> Result<Vec<RawDocumentBuf>> {
        match self.selection.sample {
            Some(size) => self.next_of_sample(size).await,
            None => self.next_by_id().await,
        }
    }

    fn chunk(&self) -> u32 {
        let most = self.selection.most.unwrap_or(u64::MAX);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        let rate = self.selection.rate.unwrap_or(CHUNK);
        rate.min(most).clamp(1, CHUNK)
    }

    /// Reads the documents with the next `_id`s: a command for each chunk, so that no cursor stays open between them.
    async fn next_by_id(&mut self) -> Result<Vec<RawDocumentBuf>> {
        let limit = self.chunk();
        let mut filter = self.selection.filter.clone();
        if let Some(after) = &self.after {
            // Unlike the query operator, the expression goes on with `_id`s of the next type. An index has the order of both.
            let after = doc! {"$expr": {"$gt": ["$_id", {"$literal": after.clone()}]}};
            filter = both(filter, after);
        }
        let options = Options {
            sort: Some(doc! {"_id": 1}),
            limit: Some(i64::from(limit)),
            batch_size: Some(limit),
            ..self.channel.current()
        };
        let find = Operation::Find {
            filter: filter.into(),
            one: false,
        };
        let cursor = self.channel.cursor(self.model, find, Chosen::from(options));
        take(&mut cursor.await?, self.model, limit).await
    }

    async fn next_of_sample(&mut self, size: u64) -> Result<Vec<RawDocumentBuf>> {
        if self.sample.is_none() {
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            let mut pipeline = vec![doc! {"$sample": {"size": size}}];
            if !self.selection.filter.is_empty() {
                pipeline.insert(0, doc! {"$match": self.selection.filter.clone()});
            }
            let aggregate = Operation::Aggregate { pipeline };
            let options = Chosen::from(self.channel.current());
            self.sample = Some(self.channel.cursor(self.model, aggregate, options).await?);
        }
        let chunk = self.chunk();
        match &mut self.sample {
            Some(cursor) => take(cursor, self.model, chunk).await,
            None => Ok(Vec::new()),
        }
    }
}

/// The filter of documents that match both.
pub(crate) fn both(one: Document, other: Document) -> Document {
    if one.is_empty() {
        other
    } else {
        doc! {"$and": [one, other]}
    }
}

/// Reads documents from a cursor: at most this many, and not more than fit into memory together.
async fn take(
    cursor: &mut RawCursor<'static>,
    model: &'static ModelMeta,
    limit: u32,
) -> Result<Vec<RawDocumentBuf>> {
    let (mut documents, mut bytes) = (Vec::new(), 0);
    for _ in 0..limit {
        if bytes >= CHUNK_BYTES {
            break;
        }
        let Some(document) = cursor.next().await else {
            break;
        };
        let document = document.map_err(|error| error.with_model(model.name))?;
        bytes += document.as_bytes().len();
        documents.push(document.to_owned());
    }
    Ok(documents)
}
