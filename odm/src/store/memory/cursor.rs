//! Cursors of the in-memory engine: `getMore`, and `killCursors` when one is dropped early.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bson::raw::{RawArrayBuf, RawDocumentBuf, cstr};
use odm_engine::{Answer, Interest, Listener, Namespace, Request, TRANSIENT, Target};
use odm_language::value::raw;

use crate::error::{Error, Result};
use crate::store::batch::{Batch, Reply};
use crate::store::memory::faults::{Delay, Faults};
use crate::store::memory::{Memory, MemoryPage};

/// An open cursor of the engine.
pub(crate) struct MemoryCursor {
    memory: Memory,
    database: Arc<str>,
    collection: String,
    id: i64,
    batch_size: Option<u32>,
    /// The `lsid` and transaction fields, if the cursor belongs to a session.
    session: Option<RawDocumentBuf>,
    /// The change log's write count before an empty batch. The cursor waits until the count grows.
    seen: Option<u64>,
    /// Whether it is the cursor of a change stream, which is resumed after a network error.
    is_stream: bool,
    /// The delay before the next batch, once a hostile engine has drawn it.
    delay: Option<Delay>,
    /// The listener that the cursor waits with, and the changes that it waits for.
    listener: Option<(Listener, Interest)>,
}

impl MemoryCursor {
    pub(crate) fn new(
        memory: Memory,
        database: Arc<str>,
        first: &Batch,
        batch_size: Option<u32>,
        session: Option<RawDocumentBuf>,
    ) -> Self {
        Self {
            memory,
            database,
            collection: first.collection().into_owned(),
            id: first.cursor_id,
            batch_size,
            session,
            seen: None,
            is_stream: false,
            delay: None,
            listener: None,
        }
    }

    /// The cursor of a change stream.
    pub(super) fn of_stream(mut self) -> Self {
        self.is_stream = true;
        self
    }

    /// Polls for the next batch. After an empty batch of a tailable cursor, it waits for a write, which wakes the task; no
    /// thread or timer is involved.
    pub(crate) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Result<Batch>> {
        if let Some(seen) = self.seen {
            let (listener, interest) = self.listener.get_or_insert_with(|| {
                let namespace = Namespace::new(&self.database, &self.collection);
                (
                    Listener::new(self.memory.service()),
                    Interest::of(&namespace),
                )
            });
            std::task::ready!(listener.poll(interest, seen, cx));
            self.seen = None;
        }
        if let Some(faults) = self.memory.faults() {
            let delay = self.delay.get_or_insert_with(|| faults.delay());
            std::task::ready!(delay.poll(cx));
            self.delay = None;
            if let Some(error) = self.fail(faults) {
                return Poll::Ready(Err(error));
            }
        }
        let seen = self.memory.service().changes_seen();
        let batch = self.next_batch()?;
        // If this call turned the change log on, earlier writes woke no listener: fetch the next batch at once.
        if batch.is_read() && self.is_tailable() && !self.memory.service().log_changes() {
            self.seen = Some(seen);
        }
        Poll::Ready(Ok(batch))
    }

    /// Whether the cursor stays open for new documents. Other cursors may have empty batches before their end.
    fn is_tailable(&self) -> bool {
        let cursor = (self.id != 0).then(|| self.memory.service().cursor(self.id));
        cursor.flatten().is_some_and(|cursor| cursor.is_tailable)
    }

    /// The network error of the next batch, if a hostile engine makes one. The driver gives the cursor up then.
    fn fail(&self, faults: &Faults) -> Option<Error> {
        let target = if self.is_stream {
            Target::Stream
        } else {
            Target::GetMore
        };
        faults.strike(target)?;
        let in_transaction =
            (self.session.as_ref()).is_some_and(|fields| raw::get(fields, "autocommit").is_some());
        let labels: &[&str] = if in_transaction { &[TRANSIENT] } else { &[] };
        Some(faults.broken(labels))
    }

    fn next_batch(&mut self) -> Result<Batch> {
        // The id stays valid only if the engine returns it with the batch.
        let cursor = std::mem::take(&mut self.id);
        let batch = match &self.session {
            None => self.more(cursor)?,
            Some(session) => self.more_in(session, cursor)?,
        };
        self.id = batch.cursor_id;
        Ok(batch)
    }

    fn more(&self, cursor: i64) -> Result<Batch> {
        let batch_size = self.batch_size;
        let request = Request::More { cursor, batch_size };
        match self.memory.ask(&self.database, &self.collection, request)? {
            Answer::Page(page) => Ok(Batch::of_page(MemoryPage::new(page, cstr!("nextBatch")))),
            Answer::Written(_) => Err(Error::malformed_reply("a batch")),
        }
    }

    fn more_in(&self, session: &RawDocumentBuf, cursor: i64) -> Result<Batch> {
        let mut command = RawDocumentBuf::new();
        command.append(cstr!("getMore"), cursor);
        command.append(cstr!("collection"), self.collection.as_str());
        if let Some(size) = self.batch_size {
            command.append(cstr!("batchSize"), i64::from(size));
        }
        for (key, value) in session.iter().flatten() {
            command.append(key, value);
        }
        Batch::new(Reply::Memory(self.memory.run(&self.database, command)?))
    }
}

impl Drop for MemoryCursor {
    fn drop(&mut self) {
        if self.id == 0 {
            return;
        }
        let mut cursors = RawArrayBuf::new();
        cursors.push(self.id);
        let mut command = RawDocumentBuf::new();
        command.append(cstr!("killCursors"), self.collection.as_str());
        command.append(cstr!("cursors"), cursors);
        // The cursor may have been closed already; that is not an error.
        let _: Result<RawDocumentBuf> = self.memory.run(&self.database, command);
    }
}

impl fmt::Debug for MemoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryCursor({})", self.id)
    }
}
