//! Sessions, each with its current transaction or retryable write and the outcome of that.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, DateTime, Document};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::changes::Origin;
use crate::catalog::{Catalog, Root};
use crate::txn::TRANSIENT;
use crate::txn::lsid::{self, show_whole};
use crate::txn::transaction::Transaction;

/// How long an unused session is remembered, in milliseconds.
const LIFETIME: i64 = 30 * 60_000;

/// When to check a session again that was in use, in milliseconds: its transaction may have ended by then.
const AGAIN: i64 = 1_000;

/// How many sessions are remembered at once, as in MongoDB.
const MAX_SESSIONS: usize = 1_000_000;

/// How a command uses its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Outside of transactions and retryable writes.
    Plain,
    /// A retryable write, to be executed at most once.
    Retryable { session: SessionId, number: i64 },
    /// A statement of a transaction.
    Transaction {
        session: SessionId,
        number: i64,
        start: bool,
    },
}

/// A session's id: the bytes of `lsid`'s document.
pub(crate) type SessionId = Vec<u8>;

/// The effect of a retryable statement, and so the answer to its retry. A statement that wrote nothing is not kept: its
/// retry is executed.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    Insert {
        id: Bson,
    },
    Update {
        n: i64,
        modified: i64,
        upserted: Option<Bson>,
    },
    Delete {
        n: i64,
    },
    FindAndModify {
        /// `lastErrorObject`
        last: Document,
        /// The whole document to return, before the projection.
        value: Option<RawDocumentBuf>,
        effect: Effect,
    },
}

/// What a `findAndModify` did to its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Inserted,
    Updated,
    Deleted,
}

/// The statements of the session's current retryable write, by statement id.
pub(crate) type Statements = HashMap<i32, Statement>;

#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The newest transaction number; `None` before the first.
    number: Option<i64>,
    state: State,
    used: i64,
}

#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    Idle,
    Retryable(Statements),
    InProgress(Box<Transaction>),
    Committed,
    Aborted,
}

/// The sessions of an engine. A user of a session holds its `Arc`, which is handed out under the map's lock. A session
/// that only the map holds is not in use, and only those are forgotten.
#[derive(Debug)]
pub(crate) struct Sessions {
    known: Mutex<HashMap<SessionId, Arc<Mutex<Session>>>>,
    /// How many are remembered at once.
    most: usize,
    /// How many transactions are open.
    open: AtomicUsize,
    /// No open transaction expires before this time, in milliseconds. It makes the expiry check cheap.
    due: AtomicI64,
}

impl Mode {
    /// Reads `lsid`, `txnNumber`, `autocommit` and `startTransaction`.
    pub(crate) fn of(command: &RawDocument) -> Result<Self, ServerError> {
        let number = match raw::optional(command, "txnNumber") {
            None => None,
            Some(RawBsonRef::Int64(number)) => Some(number),
            Some(other) => return Err(wrong_type("txnNumber", "long", other)),
        };
        let boolean = |name: &str| match raw::optional(command, name) {
            None => Ok(None),
            Some(RawBsonRef::Boolean(value)) => Ok(Some(value)),
            Some(other) => Err(wrong_type(name, "bool", other)),
        };
        let autocommit = boolean("autocommit")?;
        let start = boolean("startTransaction")?;
        boolean("coordinator")?;
        let session = match raw::optional(command, "lsid") {
            None => None,
            Some(RawBsonRef::Document(lsid)) => {
                lsid::check(lsid)?;
                Some(lsid.as_bytes().to_vec())
            }
            Some(other) => return Err(wrong_type("lsid", "object", other)),
        };
        let invalid = |message: &str| Err(ServerError::new(Code::INVALID_OPTIONS, message));
        let Some(number) = number else {
            if autocommit.is_some() {
                return invalid(
                    "'autocommit' field requires a transaction number to also be specified",
                );
            }
            if start.is_some() {
                return invalid(
                    "'startTransaction' field requires 'autocommit' field to also be specified",
                );
            }
            return Ok(Self::Plain);
        };
        let Some(session) = session else {
            return invalid("Transaction number requires a session ID to also be specified");
        };
        if number < 0 {
            return invalid("Transaction number cannot be negative");
        }
        match (autocommit, start) {
            (None, None) => Ok(Self::Retryable { session, number }),
            (None, Some(_)) => {
                invalid("'startTransaction' field requires 'autocommit' field to also be specified")
            }
            (Some(true), _) => invalid("Specifying autocommit=true is not allowed."),
            (_, Some(false)) => invalid("Specifying startTransaction=false is not allowed."),
            (Some(false), start) => Ok(Self::Transaction {
                session,
                number,
                start: start.is_some(),
            }),
        }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self::of(MAX_SESSIONS)
    }
}

impl Sessions {
    fn of(most: usize) -> Self {
        Self {
            known: Mutex::default(),
            most,
            open: AtomicUsize::new(0),
            due: AtomicI64::new(i64::MAX),
        }
    }

    /// The session with this id, created if it is new.
    pub(crate) fn get(&self, id: &SessionId) -> Result<Arc<Mutex<Session>>, ServerError> {
        let mut map = self.map();
        if let Some(session) = map.get(id) {
            return Ok(Arc::clone(session));
        }
        if map.len() >= self.most {
            return Err(ServerError::new(
                Code::TOO_MANY_LOGICAL_SESSIONS,
                format!(
                    "Unable to add session ID {} into the cache because the number of active sessions is too high",
                    show_whole(id)
                ),
            ));
        }
        Ok(Arc::clone(map.entry(id.clone()).or_default()))
    }

    fn map(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Mutex<Session>>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a session, unless it is in use or has an open transaction, which stays open until it ends or expires.
    pub(crate) fn end(&self, id: &SessionId) {
        let mut map = self.map();
        let unused = map.get_mut(id).and_then(unused);
        if unused.is_some_and(|session| !matches!(session.state, State::InProgress(_))) {
            map.remove(id);
        }
    }

    /// Marks a session as used now, and creates it if it is new.
    pub(crate) fn refresh(&self, id: &SessionId, now: DateTime) -> Result<(), ServerError> {
        lock(&*self.get(id)?).touch(now);
        Ok(())
    }

    /// Marks a session as used by a command that does not depend on it. Skips busy sessions: their own command marks
    /// them.
    pub(crate) fn note(&self, lsid: &RawDocument, now: DateTime) -> Result<(), ServerError> {
        let known = self.map().get(lsid.as_bytes()).map(Arc::clone);
        let session = match known {
            Some(session) => session,
            None => self.get(&lsid.as_bytes().to_vec())?,
        };
        if let Ok(mut session) = session.try_lock() {
            session.touch(now);
        }
        Ok(())
    }

    /// Every session, and when it was used last.
    pub(crate) fn all(&self, now: DateTime) -> Vec<(SessionId, DateTime)> {
        let used = |session: &Mutex<Session>| match session.try_lock() {
            Ok(session) => DateTime::from_millis(session.used),
            Err(_) => now,
        };
        self.map()
            .iter()
            .map(|(id, session)| (id.clone(), used(session)))
            .collect()
    }

    /// Aborts the open transactions of the wanted sessions, and keeps the sessions.
    pub(crate) fn kill(&self, wanted: impl Fn(&SessionId) -> bool) {
        let sessions: Vec<_> = self
            .map()
            .iter()
            .filter(|(id, _)| wanted(id))
            .map(|(_, session)| Arc::clone(session))
            .collect();
        for session in sessions {
            lock(&session).abort(self);
        }
    }

    /// Whether an open transaction may have expired.
    pub(crate) fn is_due(&self, now: DateTime) -> bool {
        now.timestamp_millis() > self.due.load(Ordering::Relaxed)
    }

    /// Aborts expired transactions, and forgets idle sessions.
    pub(crate) fn expire(&self, now: DateTime) {
        let now_millis = now.timestamp_millis();
        let mut forgotten = Vec::new();
        let mut map = self.map();
        let mut due = i64::MAX;
        map.retain(|_, session| {
            let Some(state) = unused(session) else {
                due = due.min(now_millis.saturating_add(AGAIN));
                return true;
            };
            let idle = now_millis.saturating_sub(state.used) > LIFETIME;
            let expired = match &state.state {
                State::InProgress(transaction) => transaction.is_expired(now),
                _ => false,
            };
            let aborted = (expired || idle) && state.try_abort(self);
            if let State::InProgress(transaction) = &state.state {
                due = due.min(transaction.due());
            }
            let forget = idle && aborted;
            if forget {
                forgotten.push(Arc::clone(session));
            }
            !forget
        });
        self.due.store(due, Ordering::Relaxed);
        drop(map);
        drop(forgotten); // after the lock is released
    }

    /// How many sessions are known, and how many transactions are open.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.map().len(), self.open.load(Ordering::Relaxed))
    }
}

/// The session, if only the map holds it.
fn unused(session: &mut Arc<Mutex<Session>>) -> Option<&mut Session> {
    let session = Arc::get_mut(session)?;
    Some(session.get_mut().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Remembers that the session was used.
    pub(crate) fn touch(&mut self, now: DateTime) {
        self.used = now.timestamp_millis();
    }

    /// The statements of a retryable write, which begins here if its number is new.
    pub(crate) fn retryable(
        &mut self,
        sessions: &Sessions,
        id: &SessionId,
        number: i64,
    ) -> Result<&mut Statements, ServerError> {
        let active = self.number.unwrap_or(-1);
        if number < active {
            let what = if matches!(self.state, State::Retryable(_)) {
                "retryable write"
            } else {
                "transaction"
            };
            return Err(ServerError::new(
                Code::TRANSACTION_TOO_OLD,
                format!(
                    "Retryable write with txnNumber {number} is prohibited on session {} because a newer {what} with \
                     txnNumber {active} has already started on this session.",
                    show_whole(id)
                ),
            ));
        }
        if number > active {
            self.abort(sessions);
            self.number = Some(number);
            self.state = State::Retryable(Statements::new());
        }
        match &mut self.state {
            State::Retryable(statements) => Ok(statements),
            _ => Err(ServerError::new(
                Code::INCOMPLETE_TRANSACTION_HISTORY,
                "Cannot retry a retryable write that has been converted into a transaction",
            )),
        }
    }

    /// Begins a transaction on a snapshot.
    pub(crate) fn start(
        &mut self,
        sessions: &Sessions,
        id: &SessionId,
        number: i64,
        snapshot: Root,
        now: DateTime,
    ) -> Result<(), ServerError> {
        let active = self.number.unwrap_or(-1);
        self.check_age(id, number)?;
        if number == active {
            return Err(ServerError::new(
                Code::CONFLICTING_OPERATION_IN_PROGRESS,
                "Only servers in a sharded cluster can start a new transaction at the active transaction number",
            ));
        }
        self.abort(sessions);
        self.number = Some(number);
        let transaction = Transaction::begin(snapshot, now);
        sessions.due.fetch_min(transaction.due(), Ordering::Relaxed);
        self.state = State::InProgress(Box::new(transaction));
        sessions.open.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a transaction number that is older than the session's current one.
    fn check_age(&self, id: &SessionId, number: i64) -> Result<(), ServerError> {
        let active = self.number.unwrap_or(-1);
        if number >= active {
            return Ok(());
        }
        let (what, counter) = match self.state {
            State::Retryable(_) => ("retryable write", -1),
            _ => ("transaction", 0),
        };
        Err(ServerError::new(
            Code::TRANSACTION_TOO_OLD,
            format!(
                "Cannot start transaction with {{ txnNumber: {number} }} on session {} because a newer {what} with \
                 txnNumberAndRetryCounter {{ txnNumber: {active}, txnRetryCounter: {counter} }} has already started on \
                 this session.",
                show_whole(id)
            ),
        ))
    }

    /// The open transaction of this number.
    pub(crate) fn transaction(
        &mut self,
        id: &SessionId,
        number: i64,
    ) -> Result<&mut Transaction, ServerError> {
        let active = self.number.unwrap_or(-1);
        self.check_age(id, number)?;
        if number == active {
            match self.state {
                State::InProgress(ref mut transaction) => return Ok(transaction),
                State::Committed => return Err(committed(number)),
                State::Aborted => return Err(aborted(number)),
                State::Idle | State::Retryable(_) => {}
            }
        }
        Err(ServerError::new(
            Code::NO_SUCH_TRANSACTION,
            format!(
                "Given transaction number {number} does not match any in-progress transactions. The active \
                 transaction number is {active}"
            ),
        )
        .with_label(TRANSIENT))
    }

    /// Commits. Committing a committed transaction again succeeds.
    pub(crate) fn commit(
        &mut self,
        sessions: &Sessions,
        catalog: &Catalog,
        id: &SessionId,
        number: i64,
    ) -> Result<(), ServerError> {
        if self.number == Some(number) && matches!(self.state, State::Committed) {
            return Ok(());
        }
        self.transaction(id, number)?;
        let State::InProgress(transaction) = std::mem::replace(&mut self.state, State::Aborted)
        else {
            return Ok(());
        };
        sessions.open.fetch_sub(1, Ordering::Relaxed);
        let origin = Origin {
            session: id.clone(),
            number,
        };
        transaction.commit(catalog, Some(origin))?;
        self.state = State::Committed;
        Ok(())
    }

    /// Aborts the open transaction, if any, without waiting. False if it would have to wait.
    fn try_abort(&mut self, sessions: &Sessions) -> bool {
        if let State::InProgress(transaction) = &self.state {
            if !transaction.try_abort() {
                return false;
            }
            sessions.open.fetch_sub(1, Ordering::Relaxed);
            self.state = State::Aborted;
        }
        true
    }

    /// Aborts the open transaction, if any.
    pub(crate) fn abort(&mut self, sessions: &Sessions) {
        if matches!(self.state, State::InProgress(_))
            && let State::InProgress(transaction) =
                std::mem::replace(&mut self.state, State::Aborted)
        {
            sessions.open.fetch_sub(1, Ordering::Relaxed);
            transaction.abort();
        }
    }
}

fn committed(number: i64) -> ServerError {
    ServerError::new(
        Code::TRANSACTION_COMMITTED,
        format!("Transaction with {{ txnNumber: {number} }} has been committed."),
    )
}

fn aborted(number: i64) -> ServerError {
    ServerError::new(
        Code::NO_SUCH_TRANSACTION,
        format!("Transaction with {{ txnNumber: {number} }} has been aborted."),
    )
    .with_label(TRANSIENT)
}

fn wrong_type(field: &str, expected: &str, found: RawBsonRef<'_>) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field 'OperationSessionInfo.{field}' is the wrong type '{}', expected type '{expected}'",
            odm_language::value::bson_type::alias(found.element_type())
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_sessions_are_listed() {
        let sessions = Sessions::default();
        let (first, later) = (DateTime::from_millis(1_000), DateTime::from_millis(2_000));
        let lsid = bson::rawdoc! { "id": 1 };
        sessions.note(&lsid, first).unwrap();
        sessions.note(&lsid, later).unwrap();
        let id = lsid.into_bytes();
        let listed: Vec<_> = sessions
            .map()
            .iter()
            .map(|(id, session)| (id.clone(), lock(session).used))
            .collect();
        assert_eq!(listed, [(id.clone(), 2_000)]);
        sessions.end(&id);
        assert!(sessions.map().is_empty());
    }

    /// Expiry may run between getting a session and using it.
    #[test]
    fn sessions_in_use_do_not_expire() {
        let sessions = Sessions::default();
        let id = bson::rawdoc! { "id": 1 }.into_bytes();
        let now = DateTime::from_millis(1_700_000_000_000);
        let in_use = sessions.get(&id).unwrap();
        sessions.expire(now);
        sessions.end(&id);
        assert!(Arc::ptr_eq(&in_use, &sessions.get(&id).unwrap()));
        drop(in_use);
        sessions.expire(now);
        assert!(sessions.map().is_empty());
    }

    #[test]
    fn transactions_expire_at_their_deadline() {
        let sessions = Sessions::default();
        let ids = [1, 2].map(|id| bson::rawdoc! { "id": id }.into_bytes());
        let begun = 1_700_000_000_000;
        let at = |after: i64| DateTime::from_millis(begun + after);
        assert!(!sessions.is_due(at(i64::MAX / 2)));
        for (id, after) in ids.iter().zip([0, 500]) {
            let session = sessions.get(id).unwrap();
            let mut session = lock(&session);
            session.touch(at(after));
            session
                .start(&sessions, id, 1, Root::default(), at(after))
                .unwrap();
        }
        let open = || sessions.open.load(Ordering::Relaxed);
        let in_use = sessions.get(&ids[1]).unwrap();
        assert!(!sessions.is_due(at(60_000)));
        assert!(sessions.is_due(at(60_001)));
        sessions.expire(at(60_001));
        assert_eq!(open(), 1);
        assert!(!sessions.is_due(at(60_500)));
        assert!(sessions.is_due(at(61_500)));
        sessions.expire(at(61_500));
        assert_eq!(open(), 1, "it is in use");
        drop(in_use);
        sessions.expire(at(62_600));
        assert_eq!(open(), 0);
        assert!(!sessions.is_due(at(i64::MAX / 2)));
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let sessions = Sessions::of(2);
        let now = DateTime::from_millis(1_000);
        let session = |id: u8| bson::rawdoc! { "id": i32::from(id) }.into_bytes();
        sessions.refresh(&session(1), now).unwrap();
        sessions.refresh(&session(2), now).unwrap();
        let refused = sessions.refresh(&session(3), now).unwrap_err();
        assert_eq!(refused.code(), Code::TOO_MANY_LOGICAL_SESSIONS);
        sessions.refresh(&session(1), now).unwrap();
        sessions.end(&session(2));
        sessions.refresh(&session(3), now).unwrap();
        assert_eq!(Sessions::default().most, 1_000_000);
    }
}
