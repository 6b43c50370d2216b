//! The current operation of every connection, and counters of finished ones.

mod usage;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};

use odm_engine::{Latencies, Surroundings};
use odm_language::value::raw;

pub(crate) use self::usage::{Kind, Usage};

use self::usage::Usages;

/// The longest command that is kept for `currentOp`, in bytes.
const SHOWN: usize = 16 * 1024;

/// The operations of all connections.
#[derive(Debug)]
pub(crate) struct Operations {
    /// The server's address.
    address: SocketAddr,
    entries: Mutex<BTreeMap<i64, Arc<ConnectionEntry>>>,
    /// The usages of closed connections. Lock order: this before `entries`.
    past: Mutex<Usages>,
    /// The number of the last operation.
    last_number: AtomicI64,
    pub(crate) counters: Counters,
}

/// The counters of `serverStatus`.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) insert: AtomicI64,
    pub(crate) query: AtomicI64,
    pub(crate) update: AtomicI64,
    pub(crate) delete: AtomicI64,
    pub(crate) get_more: AtomicI64,
    pub(crate) command: AtomicI64,
    pub(crate) requests: AtomicI64,
    /// Bytes on the network, after compression.
    pub(crate) received: AtomicI64,
    pub(crate) sent: AtomicI64,
}

/// One connection's entry in the operations.
#[derive(Debug)]
pub(crate) struct ConnectionEntry {
    pub(crate) connection: i64,
    pub(crate) address: SocketAddr,
    /// Becomes true when the operation is killed.
    pub(crate) killed: Arc<AtomicBool>,
    current: Mutex<Current>,
}

#[derive(Debug, Default)]
struct Current {
    operation: i64,
    /// `None` between commands.
    since: Option<Instant>,
    /// The command's bytes; the buffer is reused. Empty if the command is too long to show.
    command: Vec<u8>,
    client: Option<Arc<RawDocumentBuf>>,
    user: Option<String>,
    /// The collection that the command names; `kind` is what it does with it.
    namespace: String,
    kind: Option<Kind>,
    used: Usages,
}

/// A connection's operation at one moment.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) number: i64,
    /// `None` for a connection that waits for a command.
    pub(crate) running: Option<Duration>,
    /// `None` if it is too long to show.
    pub(crate) command: Option<RawDocumentBuf>,
    pub(crate) client: Option<Arc<RawDocumentBuf>>,
    pub(crate) user: Option<String>,
}

impl Operations {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            entries: Mutex::default(),
            past: Mutex::default(),
            last_number: AtomicI64::new(0),
            counters: Counters::default(),
        }
    }

    fn past(&self) -> MutexGuard<'_, Usages> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<ConnectionEntry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a new connection.
    pub(crate) fn enter(&self, connection: i64, address: SocketAddr) -> Arc<ConnectionEntry> {
        let entry = Arc::new(ConnectionEntry {
            connection,
            address,
            killed: Arc::default(),
            current: Mutex::default(),
        });
        self.entries().insert(connection, Arc::clone(&entry));
        entry
    }

    pub(crate) fn leave(&self, connection: i64) {
        // The lock of `past` hides the moment when the usage is in neither map.
        let mut past = self.past();
        let entry = self.entries().remove(&connection);
        if let Some(entry) = entry {
            past.merge(&entry.current().used);
        }
    }

    /// The usages of all collections by all connections.
    pub(crate) fn usages(&self) -> Vec<(String, Usage)> {
        let mut all = Usages::default();
        let past = self.past();
        all.merge(&past);
        for entry in self.entries().values() {
            all.merge(&entry.current().used);
        }
        all.into_sorted()
    }

    /// Kills an operation, if it is still running.
    pub(crate) fn kill(&self, operation: i64) {
        for entry in self.entries().values() {
            let current = entry.current();
            if current.operation == operation && current.since.is_some() {
                entry.killed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Removes the usages of dropped collections.
    pub(crate) fn forget(&self, is_there: impl Fn(&str) -> bool) {
        let mut past = self.past();
        past.retain(&is_there);
        let entries: Vec<_> = self.entries().values().cloned().collect();
        for entry in entries {
            entry.current().used.retain(&is_there);
        }
    }

    /// Every connection with its operation, the oldest connection first.
    pub(crate) fn all(&self) -> Vec<(Arc<ConnectionEntry>, Operation)> {
        let entries: Vec<_> = self.entries().values().cloned().collect();
        entries
            .into_iter()
            .map(|entry| {
                let operation = entry.operation();
                (entry, operation)
            })
            .collect()
    }

    /// Records and counts a command that a connection begins. The client metadata is kept once, as it never changes.
    pub(crate) fn begin(
        &self,
        entry: &ConnectionEntry,
        client: Option<&RawDocumentBuf>,
        user: Option<&String>,
        command: &RawDocument,
    ) {
        self.counters.count(command);
        let mut current = entry.current();
        current.operation = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        current.since = Some(Instant::now());
        entry.killed.store(false, Ordering::Relaxed);
        current.command.clear();
        if command.as_bytes().len() <= SHOWN {
            current.command.extend(command.as_bytes());
        }
        if current.client.is_none()
            && let Some(client) = client
        {
            current.client = Some(Arc::new(client.clone()));
        }
        if current.user.as_ref() != user {
            current.user = user.cloned();
        }
        current.names(command);
    }

    /// Records the end of the command.
    pub(crate) fn end(entry: &ConnectionEntry, is_there: impl FnOnce(&str) -> bool) {
        let current = &mut *entry.current();
        let Some(since) = current.since.take() else {
            return;
        };
        if let Some(kind) = current.kind {
            let took = since.elapsed();
            current.used.add(&current.namespace, kind, took, is_there);
        }
    }
}

impl Surroundings for Operations {
    fn address(&self) -> String {
        self.address.to_string()
    }

    fn latencies(&self, database: &str, collection: &str) -> Latencies {
        let namespace = format!("{database}.{collection}");
        let mut usage = Usage::default();
        let past = self.past();
        past.merge_into(&namespace, &mut usage);
        for entry in self.entries().values() {
            entry.current().used.merge_into(&namespace, &mut usage);
        }
        usage.latencies()
    }
}

impl Current {
    /// Records the collection that a command names, if any.
    fn names(&mut self, command: &RawDocument) {
        self.kind = None;
        self.namespace.clear();
        let text = |name: &str| raw::get(command, name).and_then(RawBsonRef::as_str);
        let Some((name, target)) = raw::elements(command).next() else {
            return;
        };
        let collection = match target {
            RawBsonRef::String(collection) => Some(collection),
            _ if name == "getMore" => text("collection"),
            _ => None,
        };
        if let (Some(database), Some(collection)) = (text("$db"), collection) {
            self.namespace.push_str(database);
            self.namespace.push('.');
            self.namespace.push_str(collection);
            self.kind = Some(Kind::of(name));
        }
    }
}

impl ConnectionEntry {
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn operation(&self) -> Operation {
        let current = self.current();
        Operation {
            number: current.operation,
            running: current.since.map(|since| since.elapsed()),
            command: RawDocumentBuf::from_bytes(current.command.clone()).ok(),
            client: current.client.clone(),
            user: current.user.clone(),
        }
    }
}

/// The elements of an array in a document; none if it has no such array.
fn elements<'d>(document: &'d RawDocument, name: &str) -> Vec<RawBsonRef<'d>> {
    match raw::get(document, name) {
        Some(RawBsonRef::Array(items)) => raw::values(items).collect(),
        _ => Vec::new(),
    }
}

impl Counters {
    /// Counts a command that begins. Writes are counted by [`tried`](Self::tried).
    fn count(&self, command: &RawDocument) {
        let counter = match raw::elements(command).next().map_or("", |(name, _)| name) {
            "insert" | "update" | "delete" => return,
            "find" => &self.query,
            "getMore" => &self.get_more,
            _ => &self.command,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what a write command tried, as MongoDB does: inserts by document, updates and deletes by statement. An
    /// ordered command tries nothing behind its first error.
    pub(crate) fn tried(&self, command: &RawDocument, reply: &RawDocument) {
        let name = raw::elements(command).next().map_or("", |(name, _)| name);
        let (counter, list) = match name {
            "insert" => (&self.insert, "documents"),
            "update" => (&self.update, "updates"),
            "delete" => (&self.delete, "deletes"),
            _ => return,
        };
        let is_ordered = raw::get(command, "ordered") != Some(RawBsonRef::Boolean(false));
        let failed = elements(reply, "writeErrors")
            .into_iter()
            .next()
            .filter(|_| is_ordered);
        let stopped = failed
            .and_then(|error| raw::get(error.as_document()?, "index")?.as_i32())
            .map(|index| i64::from(index) + 1);
        let given = || i64::try_from(elements(command, list).len()).unwrap_or(0);
        counter.fetch_add(stopped.unwrap_or_else(given), Ordering::Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let bytes = i64::try_from(bytes).unwrap_or(0);
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn sent(&self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(0);
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use bson::rawdoc;

    use super::Operations;

    #[test]
    fn counters_of_closed_connections_are_kept() {
        const EACH: i64 = 10_000;
        let operations = Operations::new("127.0.0.1:1".parse().unwrap());
        let is_over = AtomicBool::new(false);
        let find = rawdoc! { "find": "c", "$db": "x" };
        let counted = || {
            let usages = operations.usages();
            usages
                .first()
                .map_or(0, |(_, usage)| usage.total(|_| true).0)
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                for connection in 0..EACH {
                    let entry = operations.enter(connection, operations.address);
                    operations.begin(&entry, None, None, &find);
                    Operations::end(&entry, |_| true);
                    operations.leave(connection);
                }
                is_over.store(true, Ordering::Relaxed);
            });
            let mut last = 0;
            while !is_over.load(Ordering::Relaxed) {
                let now = counted();
                assert!(now >= last, "{now} after {last}");
                last = now;
            }
        });
        assert_eq!(counted(), EACH);
    }
}
