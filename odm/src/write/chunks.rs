//! Reads all documents of a collection, some at a time: what every check of stored documents does.

use std::fmt;
use std::marker::PhantomData;

use bson::Document;
use bson::raw::RawDocumentBuf;
use futures_core::future::BoxFuture;

use super::Progress;
use crate::error::Result;
use crate::exec::{Channel, Keys};
use crate::model::{Document as Model, ModelMeta};
use crate::query::operators::any_of;
use crate::store::Operation;
use crate::store::options::Chosen;

/// How many documents are read before the visitor gets them.
const CHUNK: usize = 1_000;

/// How many bytes of documents are read before the visitor gets them.
const CHUNK_BYTES: usize = 16 * 1024 * 1024;

/// A pass over documents of a collection that checks or refreshes them, about to run.
#[must_use = "nothing is read or written until it is awaited"]
pub struct Scan<'s, M, R> {
    /// The name of the alias.
    name: &'static str,
    chunks: Chunks<'s>,
    run: Run<'s, R>,
    of: PhantomData<fn() -> M>,
}

type Run<'s, R> = Box<dyn FnOnce(Chunks<'s>) -> BoxFuture<'s, Result<R>> + Send + 's>;

impl<'s, M: Model, R> Scan<'s, M, R> {
    pub(super) fn new(
        name: &'static str,
        channel: Channel<'static>,
        run: impl FnOnce(Chunks<'s>) -> BoxFuture<'s, Result<R>> + Send + 's,
    ) -> Self {
        Self {
            name,
            chunks: Chunks {
                channel,
                progress: Progress::default(),
                filter: Document::new(),
            },
            run: Box::new(run),
            of: PhantomData,
        }
    }

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
}

impl<'s, M: Model, R: 's> IntoFuture for Scan<'s, M, R> {
    type Output = Result<R>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        (self.run)(self.chunks)
    }
}

impl<M: Model, R> fmt::Debug for Scan<'_, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name, M::model().collection)
    }
}

/// The documents of a collection, about to be read.
pub(crate) struct Chunks<'s> {
    channel: Channel<'static>,
    progress: Progress<'s>,
    /// The documents that are read.
    filter: Document,
}

/// The work on each chunk.
pub(super) trait Visit: Send {
    fn visit(
        &mut self,
        channel: &mut Channel<'_>,
        documents: Vec<RawDocumentBuf>,
    ) -> impl Future<Output = Result<()>> + Send;
}

impl Chunks<'_> {
    pub(super) fn new(channel: Channel<'static>) -> Self {
        Self {
            channel,
            progress: Progress::default(),
            filter: Document::new(),
        }
    }

    /// Reads only documents that match.
    pub(super) fn matching(self, filter: Document) -> Self {
        Self { filter, ..self }
    }

    pub(super) fn channel(&self) -> &Channel<'static> {
        &self.channel
    }

    /// Visits the documents of the model's collection, 1,000 at a time; returns how many there were.
    pub(super) async fn each(
        mut self,
        model: &'static ModelMeta,
        options: &Chosen,
        visitor: &mut impl Visit,
    ) -> Result<u64> {
        let find = Operation::Find {
            filter: std::mem::take(&mut self.filter).into(),
            one: false,
        };
        let mut channel = self.channel.in_session(None);
        let mut cursor = self.channel.cursor(model, find, options.clone()).await?;
        let (mut documents, mut bytes, mut read) = (Vec::new(), 0, 0);
        loop {
            let next = cursor.next().await.transpose();
            let next = next.map_err(|error| error.with_model(model.name))?;
            let is_last = next.is_none();
            if let Some(document) = next {
                bytes += document.as_bytes().len();
                documents.push(document.to_owned());
                read += 1;
                self.progress.read(read);
            }
            let is_full = documents.len() == CHUNK || bytes >= CHUNK_BYTES;
            if is_full || (is_last && !documents.is_empty()) {
                let chunk = std::mem::take(&mut documents);
                bytes = 0;
                visitor.visit(&mut channel, chunk).await?;
            }
            if is_last {
                self.progress.end(read);
                return Ok(read);
            }
        }
    }
}

/// Reads the documents with these `_id`s again, for a second look at what seems to be wrong.
pub(super) async fn again(
    channel: &mut Channel<'_>,
    model: &'static ModelMeta,
    ids: &Keys,
    options: &Chosen,
) -> Result<Vec<RawDocumentBuf>> {
    let mut documents = Vec::new();
    for part in ids.parts() {
        let find = Operation::Find {
            filter: any_of("_id", part).into(),
            one: false,
        };
        let read = channel.of(model).documents(find, options.clone());
        documents.extend(read.await?);
    }
    Ok(documents)
}
