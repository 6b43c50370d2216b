//! `check_copies` and `refresh_copies`: copies that do not have the value of the field that they follow.

use std::fmt;
use std::marker::PhantomData;

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document as BsonDocument, doc};
use futures_core::future::BoxFuture;

use super::super::reference_place::exact_read;
use super::super::{Progress, Report};
use super::facts::{Facts, Holders, Kept, settle};
use crate::collection::Collection;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::{Document, ModelMeta};
use crate::plan::shell;
use crate::store::Operation;
use crate::store::options::Chosen;

/// How many documents are read before the fields that they copy.
const CHUNK: usize = 1_000;

/// The kinds of damage that [`Collection::check_copies`] reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyDamage {
    /// A copy has another value than the field that it follows.
    Stale,
}

impl fmt::Display for CopyDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("stale copy"),
        }
    }
}

/// What [`Collection::check_copies`] found.
pub type CopyReport = Report<CopyDamage>;

/// A check of stored copies, about to run: [`Collection::check_copies`].
#[must_use = "nothing is read until it is awaited"]
pub struct CheckCopies<'s, M> {
    chunks: Chunks<'s, M>,
}

/// A refresh of stored copies, about to run: [`Collection::refresh_copies`].
#[must_use = "nothing is written until it is awaited"]
pub struct RefreshCopies<'s, M> {
    chunks: Chunks<'s, M>,
}

/// The result of [`Collection::refresh_copies`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshResult {
    /// How many documents were read.
    pub read: u64,
    /// How many documents were written, because a copy had another value. A document with copies beside several references
    /// counts once for each.
    pub updated: u64,
}

impl<M: Document> Collection<M> {
    /// Finds copies that do not have the value of the field that they follow, whoever has written them.
    ///
    /// It reads the references and copies of all documents, 1,000 at a time, and the copied fields with one query for each
    /// reference that has copies beside it. Documents and fields that seem to differ are read again, so that a write between the
    /// two reads is not reported; a copy that a propagation has not reached yet is. Copies that are declared `once` are facts of
    /// their own, and references that lead to nothing are the matter of
    /// [`check_references`](Self::check_references).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let messages = db.collection::<LogMessage>();
    /// assert!(messages.check_copies().await?.is_sound());
    ///
    /// // Another program does not know of the copies.
    /// db.run_command(doc! {"update": "hosts", "updates": [{"q": {"_id": 1}, "u": {"$set": {"ipaddr": "127.0.0.9"}}}]}).await?;
    /// let report = messages.check_copies().await?;
    /// assert_eq!((report.read, report.damages), (3, 3));
    /// assert_eq!(
    ///     report.listed[0].to_string(),
    ///     r#"1: stale copy: `ipaddr` is "127.0.0.1", and the field that it copies is "127.0.0.9""#
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_copies<'s>(&self) -> CheckCopies<'s, M> {
        CheckCopies {
            chunks: Chunks::new(self.channel()),
        }
    }

    /// Writes the copies of all documents that do not have the value of the field that they follow: after writes that went past
    /// odm, after [`leave_stale`](crate::collection::UpdateDocuments::leave_stale), and for documents that are older than the
    /// declaration.
    ///
    /// It needs no transaction: each document is written by one update that matches only while its reference is the same, and
    /// the copied fields are read again afterwards. A run that stops is completed by the next one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// // A message from before the address was copied.
    /// db.run_command(doc! {"insert": "logmsg", "documents": [{"_id": 7, "host": 2}], "bypassDocumentValidation": true}).await?;
    /// let messages = db.collection::<LogMessage>();
    /// let result = messages.refresh_copies().await?;
    /// assert_eq!((result.read, result.updated), (4, 1));
    /// assert_eq!(messages.get(&7).await?.ok_or("no message")?.ipaddr, "127.0.0.2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh_copies<'s>(&self) -> RefreshCopies<'s, M> {
        RefreshCopies {
            chunks: Chunks::new(self.channel()),
        }
    }
}

/// The documents of a collection, some at a time.
struct Chunks<'s, M> {
    channel: Channel<'static>,
    progress: Progress<'s>,
    of: PhantomData<fn() -> M>,
}

/// Some documents, and the copies in them.
struct Chunk<'c> {
    channel: &'c mut Channel<'static>,
    copies: &'c [Kept],
    options: &'c Chosen,
    documents: Vec<RawDocumentBuf>,
}

impl<M: Document> Chunks<'_, M> {
    fn new(channel: Channel<'static>) -> Self {
        Self {
            channel,
            progress: Progress::default(),
            of: PhantomData,
        }
    }

    /// Calls `visit` with each 1,000 documents; returns how many there were.
    async fn each<R>(mut self, result: &mut R, visit: impl AsyncVisit<R>) -> Result<u64> {
        let model = M::model();
        let following = model.copies()?.iter().filter(|it| it.relation.is_some());
        let copies = Kept::all(following)?;
        if copies.is_empty() {
            return Ok(0);
        }
        let options = options(&self.channel, model, &copies);
        let find = Operation::Find {
            filter: BsonDocument::new().into(),
            one: false,
        };
        let mut channel = self.channel.within(None);
        let mut cursor = self.channel.cursor(model, find, options.clone()).await?;
        let (mut documents, mut read) = (Vec::new(), 0);
        loop {
            let next = cursor.next().await.transpose();
            let next = next.map_err(|error| error.with_model(model.name))?;
            let is_last = next.is_none();
            if let Some(document) = next {
                documents.push(document.to_owned());
                read += 1;
                self.progress.read(read);
            }
            if documents.len() == CHUNK || is_last {
                let chunk = Chunk {
                    channel: &mut channel,
                    copies: &copies,
                    options: &options,
                    documents: std::mem::take(&mut documents),
                };
                visit.visit(chunk, result).await?;
            }
            if is_last {
                self.progress.end(read);
                return Ok(read);
            }
        }
    }
}

/// The work on each chunk.
trait AsyncVisit<R>: Send + Sync {
    fn visit(&self, chunk: Chunk<'_>, result: &mut R) -> impl Future<Output = Result<()>> + Send;
}

struct Check;

impl AsyncVisit<CopyReport> for Check {
    async fn visit(&self, chunk: Chunk<'_>, report: &mut CopyReport) -> Result<()> {
        let Chunk {
            channel,
            copies,
            options,
            documents,
        } = chunk;
        for kept in copies {
            let suspects = differing(channel, kept, &documents).await?;
            let ids = Keys::at(&StoredPath::at("_id"), &suspects)?;
            let model = kept.copies.model;
            let mut again = Vec::new();
            for part in ids.parts() {
                let find = Operation::Find {
                    filter: doc! {"_id": {"$in": part}}.into(),
                    one: false,
                };
                let read = channel.of(model).documents(find, options.clone());
                again.extend(read.await?);
            }
            let keys = Keys::at(&kept.reference, &again)?;
            let facts = Facts::read(channel, kept, &keys, false).await?;
            for document in &again {
                for difference in facts.differences(kept, document)? {
                    let id = document.get("_id").map_err(Error::encode)?;
                    let id = id.map(Bson::try_from).transpose().map_err(Error::encode)?;
                    let text = |value: &Option<Bson>| match value {
                        Some(value) => shell::value(value),
                        None => "missing".to_owned(),
                    };
                    let detail = format!(
                        "`{}` is {}, and the field that it copies is {}",
                        difference.path,
                        text(&difference.copy),
                        text(&difference.value),
                    );
                    report.add(&id.unwrap_or(Bson::Null), CopyDamage::Stale, detail);
                }
            }
        }
        Ok(())
    }
}

struct Refresh;

impl AsyncVisit<RefreshResult> for Refresh {
    async fn visit(&self, chunk: Chunk<'_>, result: &mut RefreshResult) -> Result<()> {
        for kept in chunk.copies {
            let mut holders = Holders::default();
            for document in differing(chunk.channel, kept, &chunk.documents).await? {
                holders.add(kept, &document)?;
            }
            if !holders.is_empty() {
                let keys = &holders.keys;
                let settled = settle(chunk.channel, kept, Some(&holders), keys, None);
                result.updated += settled.await?;
            }
        }
        Ok(())
    }
}

/// The documents with copies that differ from the fields as they are read now.
async fn differing(
    channel: &mut Channel<'_>,
    kept: &Kept,
    documents: &[RawDocumentBuf],
) -> Result<Vec<RawDocumentBuf>> {
    let keys = Keys::at(&kept.reference, documents)?;
    let facts = Facts::read(channel, kept, &keys, false).await?;
    let mut differing = Vec::new();
    for document in documents {
        if !facts.differences(kept, document)?.is_empty() {
            differing.push(document.clone());
        }
    }
    Ok(differing)
}

/// Options of a read of all references and copies.
fn options(channel: &Channel<'_>, model: &'static ModelMeta, copies: &[Kept]) -> Chosen {
    let mut projection = BsonDocument::new();
    for kept in copies {
        projection.extend(kept.projection());
    }
    exact_read(channel, model, Some(projection))
}

impl<'s, M: Document> CheckCopies<'s, M> {
    /// Calls `report` with the number of documents that were read, after each 1,000 and at the end.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let mut read = 0;
    /// db.collection::<LogMessage>().check_copies().on_progress(|count| read = count).await?;
    /// assert_eq!(read, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(u64) + Send + 's) -> Self {
        self.chunks.progress = Progress::to(report);
        self
    }

    async fn run(self) -> Result<CopyReport> {
        let mut report = CopyReport::default();
        report.read = self.chunks.each(&mut report, Check).await?;
        Ok(report)
    }
}

impl<'s, M: Document> RefreshCopies<'s, M> {
    /// Calls `report` with the number of documents that were read, after each 1,000 and at the end.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let mut read = 0;
    /// db.collection::<LogMessage>().refresh_copies().on_progress(|count| read = count).await?;
    /// assert_eq!(read, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(u64) + Send + 's) -> Self {
        self.chunks.progress = Progress::to(report);
        self
    }

    async fn run(self) -> Result<RefreshResult> {
        let mut result = RefreshResult {
            read: 0,
            updated: 0,
        };
        result.read = self.chunks.each(&mut result, Refresh).await?;
        Ok(result)
    }
}

impl<'s, M: Document> IntoFuture for CheckCopies<'s, M> {
    type Output = Result<CopyReport>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<'s, M: Document> IntoFuture for RefreshCopies<'s, M> {
    type Output = Result<RefreshResult>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document> fmt::Debug for CheckCopies<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckCopies({})", M::model().collection)
    }
}

impl<M: Document> fmt::Debug for RefreshCopies<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RefreshCopies({})", M::model().collection)
    }
}
