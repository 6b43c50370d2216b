//! Cursors of the in-memory engine: `getMore`, and `killCursors` when one is dropped early.

use std::fmt;
use std::sync::Arc;

use bson::raw::{RawArrayBuf, RawDocumentBuf, cstr};

use crate::error::Result;
use crate::store::batch::{Batch, Reply};
use crate::store::memory::Memory;
use crate::store::response::field;

/// An open cursor of the engine.
pub(crate) struct MemoryCursor {
    memory: Memory,
    database: Arc<str>,
    collection: String,
    id: i64,
    batch_size: Option<u32>,
    /// `lsid` and the transaction's fields, where the cursor belongs to a session.
    session: RawDocumentBuf,
}

impl MemoryCursor {
    pub(crate) fn new(
        memory: Memory,
        database: Arc<str>,
        first: &Batch,
        batch_size: Option<u32>,
        session: RawDocumentBuf,
    ) -> Self {
        let namespace = field(first.reply(), "cursor")
            .and_then(|cursor| field(cursor.as_document()?, "ns")?.as_str());
        let collection = namespace
            .and_then(|namespace| namespace.split_once('.'))
            .map_or_else(String::new, |(_, collection)| collection.to_owned());
        Self {
            memory,
            database,
            collection,
            id: first.cursor_id,
            batch_size,
            session,
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Batch> {
        let mut command = RawDocumentBuf::new();
        command.append(cstr!("getMore"), self.id);
        command.append(cstr!("collection"), self.collection.as_str());
        if let Some(size) = self.batch_size {
            command.append(cstr!("batchSize"), i64::from(size));
        }
        self.append_session(&mut command);
        // Whatever happens, the engine has no use for this id any more unless it says so.
        self.id = 0;
        let reply = self.memory.run(&self.database, command)?;
        let batch = Batch::new(Reply::Memory(reply))?;
        self.id = batch.cursor_id;
        Ok(batch)
    }

    fn append_session(&self, command: &mut RawDocumentBuf) {
        for (key, value) in self.session.iter().flatten() {
            command.append(key, value);
        }
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
        // A cursor that is already gone is gone.
        let _: Result<RawDocumentBuf> = self.memory.run(&self.database, command);
    }
}

impl fmt::Debug for MemoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryCursor({})", self.id)
    }
}
