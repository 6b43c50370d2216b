//! Reads all documents of a collection, some at a time: what every check of stored documents does.

use bson::raw::RawDocumentBuf;
use bson::{Document, doc};

use super::Progress;
use crate::error::Result;
use crate::exec::{Channel, Keys};
use crate::model::ModelMeta;
use crate::store::Operation;
use crate::store::options::Chosen;

/// How many documents are read before the visitor gets them.
const CHUNK: usize = 1_000;

/// The documents of a collection, about to be read.
pub(super) struct Chunks<'s> {
    channel: Channel<'static>,
    progress: Progress<'s>,
}

/// The work on each chunk.
pub(super) trait Visit: Send {
    fn visit(
        &mut self,
        channel: &mut Channel<'static>,
        documents: Vec<RawDocumentBuf>,
    ) -> impl Future<Output = Result<()>> + Send;
}

impl<'s> Chunks<'s> {
    pub(super) fn new(channel: Channel<'static>) -> Self {
        Self {
            channel,
            progress: Progress::default(),
        }
    }

    pub(super) fn channel(&self) -> &Channel<'static> {
        &self.channel
    }

    /// Calls `report` with the number of documents that were read, after each 1,000 and at the end.
    pub(super) fn on_progress(&mut self, report: impl FnMut(u64) + Send + 's) {
        self.progress = Progress::to(report);
    }

    /// Visits all documents of the model's collection, 1,000 at a time; returns how many there were.
    pub(super) async fn each(
        mut self,
        model: &'static ModelMeta,
        options: &Chosen,
        visitor: &mut impl Visit,
    ) -> Result<u64> {
        let find = Operation::Find {
            filter: Document::new().into(),
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
            if documents.len() == CHUNK || (is_last && !documents.is_empty()) {
                let chunk = std::mem::take(&mut documents);
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
            filter: doc! {"_id": {"$in": part}}.into(),
            one: false,
        };
        let read = channel.of(model).documents(find, options.clone());
        documents.extend(read.await?);
    }
    Ok(documents)
}
