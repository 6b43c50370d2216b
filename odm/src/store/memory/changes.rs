//! Change streams of the in-memory engine: a cursor, which is reopened if the engine has closed it.

use std::sync::Arc;
use std::task::{Context, Poll};

use bson::Document;
use bson::raw::RawDocumentBuf;

use crate::error::{Code, Error, Result};
use crate::store::batch::{Batch, Reply};
use crate::store::changes::{self, Step};
use crate::store::memory::{Memory, MemoryCursor, Retry};
use crate::store::session::Session;
use crate::store::watch::Watch;

/// An open stream.
pub(crate) struct MemoryChanges {
    memory: Memory,
    database: Arc<str>,
    /// The options that opened the stream.
    watch: Watch,
    /// The session's fields for commands.
    session: Option<RawDocumentBuf>,
    /// The token that resumes after the last returned event or the last batch without events.
    reached: Document,
    batch: Batch,
    cursor: Option<MemoryCursor>,
}

impl MemoryChanges {
    /// Opens the stream.
    pub(crate) async fn open(
        memory: &Memory,
        database: &Arc<str>,
        watch: Watch,
        mut session: Option<&mut Session>,
    ) -> Result<Self> {
        let command = RawDocumentBuf::try_from(&watch.command()?).map_err(Error::encode)?;
        let reply = memory.run_in(database, command, session.as_deref_mut(), Retry::Read);
        let batch = Batch::new(Reply::Memory(reply.await?))?;
        let fields = match session {
            None => None,
            Some(session) => {
                let mut fields = RawDocumentBuf::new();
                session.memory()?.append_fields(&mut fields);
                Some(fields)
            }
        };
        let mut opened = Self {
            memory: memory.clone(),
            database: Arc::clone(database),
            watch,
            session: fields,
            reached: token(&batch)?,
            cursor: None,
            batch,
        };
        opened.cursor = opened.cursor(&opened.batch);
        Ok(opened)
    }

    /// The token at the stream's start: that of the first batch if the batch is empty, else the caller's token, if any.
    pub(crate) fn start(&self) -> Option<Document> {
        if self.batch.is_read() {
            return Some(self.reached.clone());
        }
        let given = self.watch.start_after.as_ref();
        given.or(self.watch.resume_after.as_ref()).cloned()
    }

    /// The cursor that continues after a batch.
    fn cursor(&self, batch: &Batch) -> Option<MemoryCursor> {
        (batch.cursor_id != 0).then(|| {
            MemoryCursor::new(
                self.memory.clone(),
                Arc::clone(&self.database),
                batch,
                self.watch.options.batch_size,
                self.session.clone(),
            )
            .of_stream()
        })
    }

    /// Polls for the next event, or for the next batch.
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step>> {
        if let Some(event) = self.batch.next() {
            let event = match event {
                Ok(event) => event.to_owned(),
                Err(error) => return Poll::Ready(Err(error)),
            };
            if let Some(token) = changes::token(&event) {
                self.reached = token;
            }
            return Poll::Ready(Ok(Step::Event(event)));
        }
        let Some(cursor) = &mut self.cursor else {
            return Poll::Ready(Ok(Step::Over));
        };
        let batch = match std::task::ready!(cursor.poll_batch(cx)) {
            // The engine closed the idle cursor or killed its session, or the connection broke. Drivers reopen the
            // stream then, too.
            Err(error) if error.code() == Some(Code::CURSOR_NOT_FOUND) || error.is_connection() => {
                self.reopen()
            }
            batch => batch,
        };
        Poll::Ready(batch.and_then(|batch| self.take(batch)))
    }

    fn take(&mut self, batch: Batch) -> Result<Step> {
        self.batch = batch;
        if self.batch.cursor_id == 0 {
            self.cursor = None;
        }
        if !self.batch.is_read() {
            return Ok(Step::Token(None));
        }
        self.reached = token(&self.batch)?;
        Ok(Step::Token(Some(self.reached.clone())))
    }

    /// Reopens the stream at its current position.
    fn reopen(&mut self) -> Result<Batch> {
        let watch = self.watch.resumed(self.reached.clone());
        let mut command = RawDocumentBuf::try_from(&watch.command()?).map_err(Error::encode)?;
        for (key, value) in self
            .session
            .iter()
            .flat_map(|fields| fields.iter().flatten())
        {
            command.append(key, value);
        }
        let reply = self.memory.run(&self.database, command)?;
        let batch = Batch::new(Reply::Memory(reply))?;
        self.cursor = self.cursor(&batch);
        Ok(batch)
    }
}

/// The token that resumes the stream after a batch.
fn token(batch: &Batch) -> Result<Document> {
    match batch.resume_token() {
        Some(token) => changes::document(&token),
        None => Err(Error::malformed_reply("`postBatchResumeToken`")),
    }
}
