//! The nodes that a change inserts, encoded while mongod inserts those before them.

use std::fmt;
use std::pin::pin;
use std::task::Poll;

use bson::raw::RawDocumentBuf;

use crate::error::Result;
use crate::store::limits;
use crate::tree::tree_store::{TreeStore, TreeWrite};

/// The most documents in the first command, so that mongod begins early.
const FIRST_COUNT: usize = 4_000;
/// How many documents are encoded between two looks at the command that runs.
const STEP_COUNT: usize = 64;

/// Nodes to insert, parents before their children.
pub(in crate::tree) struct Inserts {
    count: usize,
    documents: Box<dyn Iterator<Item = Result<RawDocumentBuf>> + Send + Sync>,
}

impl Inserts {
    /// Inserts this many documents, which are encoded when they are sent.
    pub(in crate::tree) fn new(
        count: usize,
        documents: impl Iterator<Item = Result<RawDocumentBuf>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            count,
            documents: Box::new(documents),
        }
    }

    pub(in crate::tree) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Inserts what `change` makes of each document.
    pub(in crate::tree) fn map(
        self,
        mut change: impl FnMut(RawDocumentBuf) -> Result<RawDocumentBuf> + Send + Sync + 'static,
    ) -> Self {
        Self::new(
            self.count,
            self.documents
                .map(move |document| document.and_then(&mut change)),
        )
    }
}

impl Default for Inserts {
    fn default() -> Self {
        Self::new(0, std::iter::empty())
    }
}

impl From<RawDocumentBuf> for Inserts {
    fn from(document: RawDocumentBuf) -> Self {
        Self::new(1, std::iter::once(Ok(document)))
    }
}

impl fmt::Debug for Inserts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inserts({})", self.count)
    }
}

/// The documents of one command.
struct Batch {
    documents: Vec<RawDocumentBuf>,
    bytes: usize,
    most: usize,
}

impl Batch {
    fn new(most: usize) -> Self {
        Self {
            documents: Vec::new(),
            bytes: 0,
            most,
        }
    }

    /// Encodes some more documents. Returns whether there is room for others.
    fn fill(&mut self, inserts: &mut Inserts, held: &mut Option<RawDocumentBuf>) -> Result<bool> {
        for _ in 0..STEP_COUNT {
            if self.documents.len() == self.most {
                return Ok(false);
            }
            let Some(document) = held
                .take()
                .map(Ok)
                .or_else(|| inserts.documents.next())
                .transpose()?
            else {
                return Ok(false);
            };
            let size = document.as_bytes().len();
            if !self.documents.is_empty() && self.bytes + size > limits::LOADED_BYTES {
                // It is the first one of the next command.
                *held = Some(document);
                return Ok(false);
            }
            self.bytes += size;
            self.documents.push(document);
        }
        Ok(true)
    }
}

impl TreeStore<'_> {
    /// Inserts nodes, in as many commands as they need. While a command runs, the documents of the next one are encoded.
    pub(super) async fn insert_all(
        &mut self,
        mut inserts: Inserts,
        done: &mut TreeWrite,
    ) -> Result<()> {
        if inserts.count == 1
            && let Some(document) = inserts.documents.next()
        {
            return self.insert(document?, done).await;
        }
        let mut held = None;
        let mut batch = Batch::new(FIRST_COUNT);
        while batch.fill(&mut inserts, &mut held)? {}
        while !batch.documents.is_empty() {
            let mut next = Batch::new(limits::LOADED);
            let mut has_room = Ok(true);
            let written = alongside(self.insert_many(batch.documents), || {
                has_room = next.fill(&mut inserts, &mut held);
                matches!(has_room, Ok(true))
            });
            done.inserted += written.await?;
            while has_room? {
                has_room = next.fill(&mut inserts, &mut held);
            }
            batch = next;
        }
        Ok(())
    }
}

/// Runs a future, and takes steps of other work while it waits, as long as they return `true`. Needs no task or thread, so
/// it runs on any executor.
async fn alongside<F: Future>(future: F, mut step: impl FnMut() -> bool) -> F::Output {
    let mut future = pin!(future);
    let mut has_more = true;
    std::future::poll_fn(|context| {
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        if has_more {
            has_more = step();
            if has_more {
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;
    use futures::executor::block_on;

    use super::{Batch, Inserts, alongside, limits};

    #[test]
    fn steps_are_taken_while_a_future_waits() {
        let mut polls = 0;
        let waits = std::future::poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls == 4 {
                std::task::Poll::Ready("written")
            } else {
                std::task::Poll::Pending
            }
        });
        let mut steps = 0;
        let output = block_on(alongside(waits, || {
            steps += 1;
            steps < 2
        }));
        assert_eq!((output, steps), ("written", 2));
    }

    #[test]
    fn a_batch_ends_at_its_count_and_at_its_bytes() {
        let sizes = |most: usize, bytes: usize, count: usize| {
            let document = rawdoc! {"x": "x".repeat(bytes)};
            let mut inserts = Inserts::new(count, std::iter::repeat_n(document, count).map(Ok));
            let mut held = None;
            let mut sizes = Vec::new();
            loop {
                let mut batch = Batch::new(most);
                while batch.fill(&mut inserts, &mut held).unwrap() {}
                if batch.documents.is_empty() {
                    return sizes;
                }
                sizes.push(batch.documents.len());
            }
        };
        assert_eq!(sizes(1_000, 1, 0), [0_usize; 0]);
        assert_eq!(sizes(1_000, 1, 2_001), [1_000, 1_000, 1]);
        assert_eq!(sizes(1_000, limits::LOADED_BYTES / 3, 4), [2, 2]);
        assert_eq!(sizes(1_000, limits::LOADED_BYTES + 1, 2), [1, 1]);
    }
}
