//! One pass over the documents of a collection, in the order of their `_id`s.

use std::time::Duration;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use futures_util::future::try_join;

use super::checkers::AnyChecker;
use crate::error::Result;
use crate::exec::Channel;
use crate::exec::together::{Task, run_all};
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

/// Reads the documents of a model, some at a time.
struct Reader {
    channel: Channel<'static>,
    model: &'static ModelMeta,
    selection: Selection,
    /// The `_id` of the last document that was read.
    after: Option<Bson>,
    sample: Option<RawCursor<'static>>,
}

impl Reader {
    async fn next(&mut self) -> Result<Vec<RawDocumentBuf>> {
        let documents = match self.selection.sample {
            Some(size) => self.next_of_sample(size).await?,
            None => self.next_by_id().await?,
        };
        if let Some(last) = documents.last() {
            self.after = Some(id_of(last)?);
        }
        Ok(documents)
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

/// One of the comparisons of a pass, and what it has found.
struct Comparison {
    checker: AnyChecker,
    suspects: Suspects,
}

/// A pass over the documents of a model.
pub(crate) struct Pass {
    channel: Channel<'static>,
    reader: Reader,
    reads_ahead: bool,
    /// The next documents, if they were read while those before them were compared.
    ahead: Option<Vec<RawDocumentBuf>>,
    comparisons: Vec<Comparison>,
    /// The `_id` of the last document that was compared.
    pub(crate) after: Option<Bson>,
    /// How many documents were compared.
    pub(crate) read: u64,
}

impl Pass {
    pub(crate) fn new(
        channel: Channel<'static>,
        model: &'static ModelMeta,
        selection: Selection,
        checkers: Vec<AnyChecker>,
        after: Option<Bson>,
    ) -> Self {
        let comparison = |checker| Comparison {
            checker,
            suspects: Suspects::default(),
        };
        Self {
            reader: Reader {
                channel: channel.in_session(None),
                model,
                selection,
                after: after.clone(),
                sample: None,
            },
            channel,
            reads_ahead: false,
            ahead: None,
            comparisons: checkers.into_iter().map(comparison).collect(),
            after,
            read: 0,
        }
    }

    /// Reads the next documents while those before them are compared. A pass that repairs does not: what it writes may change the
    /// next documents.
    pub(super) fn reading_ahead(mut self) -> Self {
        self.reads_ahead = self.reader.selection.rate.is_none();
        self
    }

    /// The first comparison, which is the only one of a repair.
    pub(crate) fn checker(&self) -> Option<&AnyChecker> {
        let first = self.comparisons.first();
        first.map(|comparison| &comparison.checker)
    }

    /// Reads the next documents and looks for suspects; returns `false` after the last documents.
    pub(crate) async fn step(&mut self) -> Result<bool> {
        let started = std::time::Instant::now();
        let documents = match self.ahead.take() {
            Some(documents) => documents,
            None => self.reader.next().await?,
        };
        let Some(last) = documents.last() else {
            return Ok(false);
        };
        self.after = Some(id_of(last)?);
        self.read += documents.len() as u64;
        let most = self.reader.selection.most;
        let has_enough = most.is_some_and(|most| self.read >= most);
        let (reader, comparisons) = (&mut self.reader, &mut self.comparisons);
        let looks = comparisons.iter_mut().map(|comparison| Look {
            comparison,
            documents: &documents,
        });
        let looks = Box::pin(run_all(&mut self.channel, looks.collect::<Vec<_>>()));
        if self.reads_ahead && !has_enough {
            let (ahead, _) = try_join(reader.next(), looks).await?;
            self.ahead = Some(ahead);
        } else {
            looks.await?;
        }
        if let Some(rate) = self.reader.selection.rate {
            let read = u32::try_from(documents.len()).unwrap_or(u32::MAX);
            let due = Duration::from_secs(1) * read / rate.max(1);
            tokio::time::sleep(due.saturating_sub(started.elapsed())).await;
        }
        Ok(true)
    }

    /// Looks at suspects again, if there are many, or at all of them at the end; returns what is wrong.
    pub(crate) async fn confirm(&mut self, is_end: bool) -> Result<Vec<Damage<FindingKind>>> {
        let mut damages = Vec::new();
        for Comparison { checker, suspects } in &mut self.comparisons {
            if is_end || suspects.is_full() {
                damages.append(&mut suspects.confirm(&self.channel, checker).await?);
            }
        }
        Ok(damages)
    }
}

/// One comparison of some documents.
struct Look<'p> {
    comparison: &'p mut Comparison,
    documents: &'p [RawDocumentBuf],
}

impl Task for Look<'_> {
    type Output = ();

    async fn run(self, channel: &mut Channel<'_>) -> Result<()> {
        let Comparison { checker, suspects } = self.comparison;
        let damages = checker.look(channel, self.documents).await?;
        suspects.add(&damages)
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
