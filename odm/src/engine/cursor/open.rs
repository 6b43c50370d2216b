//! Cursors between commands: what is left of a result, by id.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{DateTime, Timestamp};

use crate::engine::catalog::Catalog;
use crate::engine::catalog::changes::Interest;
use crate::engine::catalog::collection::{Version, document};
use crate::engine::catalog::namespace::Namespace;
use crate::engine::index::tree::records::Content;
use crate::engine::txn::session::SessionId;
use crate::error::ServerError;
use crate::value::raw;

/// How long a cursor may lie unused, in milliseconds.
const LIFETIME: i64 = 10 * 60_000;

/// One document of a result: as it is stored, or made for the result.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Stored(Content),
    Made(RawDocumentBuf),
}

impl Item {
    pub(crate) fn document(&self) -> &RawDocument {
        match self {
            Self::Stored(bytes) => document(bytes).unwrap_or_else(|| raw::empty_document()),
            Self::Made(document) => document,
        }
    }

    /// How many bytes it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Stored(bytes) => bytes.len(),
            Self::Made(document) => document.as_bytes().len(),
        }
    }
}

/// Documents still to come.
pub(crate) trait Results: Send {
    fn next(&mut self) -> Option<Result<Item, ServerError>>;

    /// Whether the end is known to be reached. A scan knows only after it has looked for one more document, and then
    /// the server keeps the cursor open, too.
    fn is_at_end(&self) -> bool;

    /// Goes on in a newer version of the collection; only tailable cursors do.
    fn resume(&mut self, _collection: Version) -> Result<(), ServerError> {
        Ok(())
    }

    /// Reads what was written meanwhile, up to so many documents; only change streams do. What fails is told behind
    /// what did not.
    fn catch_up(&mut self, _catalog: &Catalog, _wanted: usize) {}

    /// Where a change stream can be resumed behind a batch; a document may be held back for the next.
    fn resume_token(&self, _last: Option<&RawDocument>, _is_held: bool) -> Option<RawDocumentBuf> {
        None
    }

    /// Whether more may come after the end.
    fn has_place(&self) -> bool {
        false
    }
}

/// What becomes of a cursor at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// It is closed.
    No,
    /// It stays open, for documents to come.
    Tailable,
    /// The same, and `getMore` may say how long to wait for them.
    AwaitData,
}

pub(crate) struct Cursor {
    pub(crate) namespace: Namespace,
    pub(crate) results: Box<dyn Results>,
    /// A document that did not fit in the last batch.
    pub(crate) held: Option<Item>,
    /// The collection that the cursor reads; if it goes, the cursor goes.
    pub(crate) collection: Option<[u8; 16]>,
    /// The session that opened it.
    pub(crate) session: Option<SessionId>,
    /// The transaction that opened it: no other command may go on with it.
    pub(crate) transaction: Option<(SessionId, i64)>,
    /// The moment that it reads, where the client asked for one.
    pub(crate) time: Option<Timestamp>,
    pub(crate) no_timeout: bool,
    pub(crate) tail: Tail,
    pub(crate) used: i64,
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// The open cursors of an engine.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    open: Mutex<HashMap<i64, Cursor>>,
}

impl Cursors {
    fn open(&self) -> MutexGuard<'_, HashMap<i64, Cursor>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a cursor and gives it an id, positive and unused.
    pub(crate) fn keep(&self, cursor: Cursor, mut random: impl FnMut() -> u64) -> i64 {
        let mut open = self.open();
        let mut id = i64::try_from(random() >> 1).unwrap_or(1).max(1);
        while open.contains_key(&id) {
            id = id.checked_add(1).unwrap_or(1);
        }
        open.insert(id, cursor);
        id
    }

    /// Keeps a cursor again under its id.
    pub(crate) fn put_back(&self, id: i64, cursor: Cursor) {
        self.open().insert(id, cursor);
    }

    /// Takes a cursor out, to read from it: nobody else can meanwhile.
    pub(crate) fn take(&self, id: i64) -> Option<Cursor> {
        self.open().remove(&id)
    }

    /// How many are open.
    #[cfg(any(feature = "server", test))]
    pub(crate) fn count(&self) -> usize {
        self.open().len()
    }

    /// Closes the cursors of sessions.
    pub(crate) fn close_of(&self, wanted: impl Fn(&SessionId) -> bool) {
        self.open()
            .retain(|_, cursor| !cursor.session.as_ref().is_some_and(&wanted));
    }

    /// What `getMore` waits for, if the cursor is open and it waits.
    pub(crate) fn awaits(&self, id: i64) -> Option<Interest> {
        let open = self.open();
        let cursor = open.get(&id)?;
        (cursor.tail == Tail::AwaitData).then(|| Interest::of(&cursor.namespace))
    }

    /// Closes cursors that nobody has used for long.
    pub(crate) fn expire(&self, now: DateTime) {
        let now = now.timestamp_millis();
        self.open()
            .retain(|_, cursor| cursor.no_timeout || now.saturating_sub(cursor.used) <= LIFETIME);
    }
}

/// Documents that are all there.
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
