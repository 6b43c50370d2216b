//! Open cursors: the rest of each result, by cursor id.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{DateTime, Timestamp};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::Catalog;
use crate::catalog::changes::Interest;
use crate::catalog::collection::{Version, document};
use crate::catalog::namespace::Namespace;
use crate::cursor::tally::Tally;
use crate::index::tree::records::Content;
use crate::txn::session::SessionId;

/// How long a cursor may stay unused, in milliseconds.
const LIFETIME: i64 = 10 * 60_000;

/// One document of a result: stored, or made for the result.
#[derive(Debug, Clone)]
pub enum Item {
    Stored(Content),
    Made(RawDocumentBuf),
}

impl Item {
    pub fn document(&self) -> &RawDocument {
        match self {
            Self::Stored(bytes) => document(bytes).unwrap_or_else(|| raw::empty_document()),
            Self::Made(document) => document,
        }
    }

    /// The document's size in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Stored(bytes) => bytes.len(),
            Self::Made(document) => document.as_bytes().len(),
        }
    }
}

/// The remaining documents of a result.
pub(crate) trait Results: Send {
    fn next(&mut self) -> Option<Result<Item, ServerError>>;

    /// Whether the end is known to be reached. A scan only knows after it has looked for one more document; until then
    /// MongoDB keeps the cursor open, too.
    fn is_at_end(&self) -> bool;

    /// Continues in a newer version of the collection; only tailable cursors do.
    fn resume(&mut self, _collection: Version) -> Result<(), ServerError> {
        Ok(())
    }

    /// The collection was dropped: fails, or continues with the documents that mongod has read ahead.
    fn dropped(&mut self, error: ServerError) -> Result<(), ServerError> {
        Err(error)
    }

    /// Reads at most `wanted` new events; only change streams do. An error is reported after the events before it.
    fn catch_up(&mut self, _catalog: &Catalog, _wanted: usize) {}

    /// The token that resumes a change stream after a batch. A document may be held back for the next batch.
    fn resume_token(&self, _last: Option<&RawDocument>, _is_held: bool) -> Option<RawDocumentBuf> {
        None
    }

    /// Whether more documents may follow after the end.
    fn has_place(&self) -> bool {
        false
    }

    /// Whether these are the events of a change stream.
    fn is_change_stream(&self) -> bool {
        false
    }

    /// Moves the end of the time limit by the milliseconds that the cursor was idle.
    fn postpone(&mut self, _millis: i64) {}
}

/// What happens to a cursor at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// It is closed.
    No,
    /// It stays open for new documents.
    Tailable,
    /// It stays open, and `getMore` waits for new documents, up to its `maxTimeMS`.
    AwaitData,
}

pub(crate) struct Cursor {
    pub(crate) namespace: Namespace,
    pub(crate) results: Box<dyn Results>,
    /// A document that did not fit in the last batch.
    pub(crate) held: Option<Item>,
    /// The UUID of the collection that the cursor reads. Dropping the collection closes the cursor.
    pub(crate) collection: Option<[u8; 16]>,
    /// The namespace of that collection, if the cursor is on a view.
    pub(crate) base: Option<Namespace>,
    /// The session that opened it.
    pub(crate) session: Option<SessionId>,
    /// The transaction that opened it. Only commands of this transaction may continue it.
    pub(crate) transaction: Option<(SessionId, i64)>,
    /// The cluster time that it reads, with read concern `snapshot`.
    pub(crate) time: Option<Timestamp>,
    pub(crate) no_timeout: bool,
    /// The command that opened it had a time limit, which holds for the work of its `getMore`s, too.
    pub(crate) limited: bool,
    pub(crate) tail: Tail,
    pub(crate) used: i64,
    /// The counters of its query, if it was profiled from the start.
    pub(crate) tally: Option<Arc<Tally>>,
}

/// The facts about an open cursor that a server needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct CursorTraits {
    pub is_change_stream: bool,
    /// Whether the time limit of the command that opened it holds for its `getMore`s, too.
    pub is_limited: bool,
    /// Whether it stays open at its end, for new documents.
    pub is_tailable: bool,
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// The open cursors of an engine. A cursor that is being read stays in the map: others cannot read it, and closing it
/// makes the reader's command fail.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    open: Mutex<HashMap<i64, Entry>>,
    /// The key of the last [`Hold`].
    keys: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    /// `None` while a command reads from it.
    cursor: Option<Cursor>,
    /// Its session, which is also known while the cursor is being read.
    session: Option<SessionId>,
    /// The key of the [`Hold`] of a caller that waits with it.
    holder: Option<u64>,
    /// Why it was closed while in use.
    closed: Option<Closed>,
}

/// Why a cursor was closed while in use.
#[derive(Debug, Clone, Copy)]
enum Closed {
    /// `killCursors`
    Killed,
    /// Its session or the reader's command was killed.
    Interrupted,
}

impl Closed {
    fn error(self) -> ServerError {
        let code = match self {
            Self::Killed => Code::CURSOR_KILLED,
            Self::Interrupted => Code::INTERRUPTED,
        };
        ServerError::new(code, "operation was interrupted").within("Executor error during getMore")
    }
}

impl Entry {
    fn is_in_use(&self) -> bool {
        self.cursor.is_none() || self.holder.is_some()
    }

    /// Marks it as closed if it is in use. False if it is not: then the caller can remove it.
    fn close(&mut self, by: Closed) -> bool {
        let is_in_use = self.is_in_use();
        if is_in_use {
            self.closed.get_or_insert(by);
        }
        is_in_use
    }
}

impl Cursors {
    fn open(&self) -> MutexGuard<'_, HashMap<i64, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a cursor and gives it an id, positive and unused.
    pub(crate) fn keep(&self, cursor: Cursor, mut random: impl FnMut() -> u64) -> i64 {
        let entry = Entry {
            session: cursor.session.clone(),
            cursor: Some(cursor),
            holder: None,
            closed: None,
        };
        let mut open = self.open();
        let mut id = i64::try_from(random() >> 1).unwrap_or(1).max(1);
        while open.contains_key(&id) {
            id = id.checked_add(1).unwrap_or(1);
        }
        open.insert(id, entry);
        id
    }

    /// Takes a cursor to read from it, if `check` allows it. A refused reader leaves the cursor as it was. `hold` is
    /// the key of the reader's [`Hold`], if any.
    ///
    /// # Errors
    ///
    /// The cursor does not exist, is in use, or was closed while it was held.
    pub(crate) fn pin(
        &self,
        id: i64,
        hold: Option<u64>,
        check: impl FnOnce(&Cursor) -> Result<(), ServerError>,
    ) -> Result<(Pin<'_>, Cursor), ServerError> {
        let mut open = self.open();
        let Some(entry) = open.get_mut(&id) else {
            return Err(ServerError::new(
                Code::CURSOR_NOT_FOUND,
                format!("cursor id {id} not found"),
            ));
        };
        let is_anothers = entry.holder.is_some() && entry.holder != hold;
        let Some(cursor) = entry.cursor.take_if(|_| !is_anothers) else {
            return Err(ServerError::new(
                Code::CURSOR_IN_USE,
                format!("cursor id {id} is already in use"),
            ));
        };
        let checked = match entry.closed {
            Some(closed) => Err(closed.error()),
            None => check(&cursor),
        };
        if let Err(error) = checked {
            entry.cursor = Some(cursor);
            return Err(error);
        }
        let pin = Pin {
            cursors: self,
            id,
            is_kept: false,
        };
        Ok((pin, cursor))
    }

    /// Reserves a cursor for a caller that waits for new documents, so that no other command reads it between two
    /// polls. `None` if the cursor is closed or in use, or does not await data.
    pub(crate) fn hold(&self, id: i64) -> Option<(Hold<'_>, Interest)> {
        let mut open = self.open();
        let entry = open.get_mut(&id).filter(|entry| !entry.is_in_use())?;
        let cursor = entry.cursor.as_ref()?;
        if cursor.tail != Tail::AwaitData {
            return None;
        }
        let interest = Interest::of(&cursor.namespace);
        let key = self.keys.fetch_add(1, Ordering::Relaxed);
        entry.holder = Some(key);
        let hold = Hold {
            cursors: self,
            id,
            key,
        };
        Some((hold, interest))
    }

    /// What kind of cursor this is; `None` if it does not exist or is in use.
    pub(crate) fn traits(&self, id: i64) -> Option<CursorTraits> {
        let open = self.open();
        let cursor = open.get(&id)?.cursor.as_ref()?;
        Some(CursorTraits {
            is_change_stream: cursor.results.is_change_stream(),
            is_limited: cursor.limited && cursor.tail == Tail::No,
            is_tailable: cursor.tail != Tail::No,
        })
    }

    /// Closes a cursor; false if it does not exist. A command that reads from it fails.
    pub(crate) fn kill(&self, id: i64) -> bool {
        let mut open = self.open();
        let Some(entry) = open.get_mut(&id) else {
            return false;
        };
        let is_in_use = entry.close(Closed::Killed);
        let gone = (!is_in_use).then(|| open.remove(&id));
        drop(open);
        drop(gone); // dropped after the lock is released
        true
    }

    /// How many cursors are open.
    pub(crate) fn count(&self) -> usize {
        self.open().len()
    }

    /// How many cursors are being read or held.
    pub(crate) fn count_in_use(&self) -> usize {
        let open = self.open();
        open.values().filter(|entry| entry.is_in_use()).count()
    }

    /// Closes the cursors of killed sessions.
    pub(crate) fn close_of(&self, wanted: impl Fn(&SessionId) -> bool) {
        self.open().retain(|_, entry| {
            let is_wanted = entry.session.as_ref().is_some_and(&wanted);
            !is_wanted || entry.close(Closed::Interrupted)
        });
    }

    /// Closes cursors that were unused for too long.
    pub(crate) fn expire(&self, now: DateTime) {
        let now = now.timestamp_millis();
        let is_fresh =
            |cursor: &Cursor| cursor.no_timeout || now.saturating_sub(cursor.used) <= LIFETIME;
        self.open()
            .retain(|_, entry| entry.is_in_use() || entry.cursor.as_ref().is_some_and(is_fresh));
    }
}

/// A cursor that is being read. Dropping the pin closes the cursor, unless it was [kept](Self::keep).
#[derive(Debug)]
pub(crate) struct Pin<'c> {
    cursors: &'c Cursors,
    id: i64,
    is_kept: bool,
}

impl Pin<'_> {
    /// Puts the cursor back for later commands.
    ///
    /// # Errors
    ///
    /// The cursor was closed meanwhile.
    pub(crate) fn keep(mut self, cursor: Cursor) -> Result<(), ServerError> {
        let mut open = self.cursors.open();
        let Some(entry) = open.get_mut(&self.id) else {
            return Ok(()); // only the pin removes the entry
        };
        if let Some(closed) = entry.closed {
            drop(open);
            return Err(closed.error());
        }
        entry.cursor = Some(cursor);
        drop(open);
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.cursors.open().remove(&self.id);
        }
    }
}

/// A cursor that is reserved for a waiting caller until the hold is dropped.
#[derive(Debug)]
pub struct Hold<'c> {
    cursors: &'c Cursors,
    id: i64,
    key: u64,
}

impl Hold<'_> {
    /// The key that lets its owner read the cursor.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Ends the wait.
    ///
    /// # Errors
    ///
    /// The cursor was closed meanwhile.
    pub fn end(self) -> Result<(), ServerError> {
        let closed = self.cursors.open().get(&self.id).and_then(|it| it.closed);
        closed.map_or(Ok(()), |closed| Err(closed.error()))
    }

    /// Closes the cursor because its waiting caller was interrupted. Returns the error to report.
    pub fn interrupt(self) -> ServerError {
        let mut open = self.cursors.open();
        let closed = open
            .get_mut(&self.id)
            .map(|entry| *entry.closed.get_or_insert(Closed::Interrupted));
        drop(open);
        closed.unwrap_or(Closed::Interrupted).error()
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut open = self.cursors.open();
        let Some(entry) = open.get_mut(&self.id) else {
            return;
        };
        if entry.holder == Some(self.key) {
            entry.holder = None;
            if entry.closed.is_some() {
                open.remove(&self.id);
            }
        }
    }
}

/// Results that are already in memory.
#[derive(Debug)]
pub(crate) struct Ready(pub(crate) std::vec::IntoIter<RawDocumentBuf>);

impl Results for Ready {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        self.0.next().map(|document| Ok(Item::Made(document)))
    }

    fn is_at_end(&self) -> bool {
        self.0.len() == 0
    }
}

#[cfg(test)]
mod tests;
