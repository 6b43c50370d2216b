//! Writes of many copies, some documents at a time.

use std::time::Duration;

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::super::reference_place::exact_read;
use super::facts::Facts;
use super::kept::Kept;
use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::store::Operation;
use crate::store::limits::LIST_BYTES;

/// How fast documents are written.
#[derive(Debug, Clone, Copy)]
pub(in crate::write) struct Throttle {
    /// The most documents of one command.
    pub(in crate::write) documents: usize,
    pub(in crate::write) pause: Duration,
}

/// Hears of the documents of each command.
pub(in crate::write) trait Written: Send {
    fn written(
        &mut self,
        channel: &mut Channel<'_>,
        documents: u64,
    ) -> impl Future<Output = Result<()>> + Send;
}

impl Throttle {
    pub(in crate::write) async fn pause(self) {
        tokio::time::sleep(self.pause).await;
    }
}

impl Facts {
    /// Writes the values into all documents that differ, by a command for each part of them, with a pause after it.
    ///
    /// A document that is written does not differ any more: a run that stops loses nothing.
    pub(in crate::write) async fn write_throttled(
        &self,
        channel: &mut Channel<'_>,
        kept: &Kept,
        throttle: Throttle,
        written: &mut impl Written,
    ) -> Result<()> {
        let model = kept.copies.model;
        for statement in self.statements(kept, None, None)? {
            let filter = statement.get_document("q").cloned().unwrap_or_default();
            let find = Operation::Find {
                filter: filter.clone().into(),
                one: false,
            };
            let mut options = exact_read(channel, model, Some(doc! {"_id": 1}));
            // MongoDB closes a cursor that is not read for 10 minutes.
            options.batch_size = u32::try_from(throttle.documents).ok();
            let mut cursor = channel
                .in_session(None)
                .cursor(model, find, options)
                .await?;
            let mut ids = Keys::default();
            loop {
                let next = cursor.next().await.transpose();
                let next = next.map_err(|error| error.with_model(model.name))?;
                let is_last = next.is_none();
                if let Some(id) = next.and_then(|document| document.get("_id").transpose()) {
                    ids.add(id.map_err(Error::encode)?)?;
                }
                let is_full = ids.len() >= throttle.documents || ids.bytes() >= LIST_BYTES;
                if is_full || (is_last && ids.len() > 0) {
                    let ids = std::mem::take(&mut ids).into_values();
                    let part = of_these(&statement, &filter, ids)?;
                    let mut documents = channel.of(model);
                    let count = documents.update_in_batches(&[part]).await?;
                    written.written(channel, count).await?;
                    throttle.pause().await;
                }
                if is_last {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The statement for those of its documents that have these `_id`s.
fn of_these(statement: &Document, filter: &Document, ids: Vec<Bson>) -> Result<RawDocumentBuf> {
    let mut part = statement.clone();
    part.insert("q", doc! {"$and": [{"_id": {"$in": ids}}, filter.clone()]});
    RawDocumentBuf::try_from(part).map_err(Error::encode)
}
