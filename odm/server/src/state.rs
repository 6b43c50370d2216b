//! The state that all connections share.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bson::oid::ObjectId;
use odm_engine::{Context, Namespace, Service, Surroundings};

use crate::current_op::Operations;
use crate::fail_point::FailPoints;
use crate::options::Options;

/// How often a waiting thread checks whether the server stops or its client has disconnected.
pub(crate) const LOOK_UP: Duration = Duration::from_millis(200);

/// The server: its engine, its settings and its connections.
pub(crate) struct ServerState {
    pub(crate) service: Arc<Service>,
    pub(crate) options: Options,
    pub(crate) address: SocketAddr,
    /// Identifies this run of the server, so that clients notice a restart.
    pub(crate) process: ObjectId,
    pub(crate) started: Instant,
    pub(crate) fail_points: Arc<FailPoints>,
    pub(crate) operations: Arc<Operations>,
    /// The engine's context, extended with this server.
    pub(crate) context: Context,
    connections: Mutex<Connections>,
    /// Signals changes of the connections, and killed operations.
    changed: Condvar,
    created: AtomicI64,
}

#[derive(Default)]
struct Connections {
    open: HashMap<i64, TcpStream>,
    stopping: bool,
}

impl ServerState {
    pub(crate) fn new(service: Arc<Service>, options: Options, address: SocketAddr) -> Self {
        let operations = Arc::new(Operations::new(address));
        let surroundings: Arc<dyn Surroundings> = Arc::<Operations>::clone(&operations);
        Self {
            context: service.context().clone().within(surroundings),
            service,
            options,
            address,
            process: ObjectId::new(),
            started: Instant::now(),
            fail_points: Arc::default(),
            operations,
            connections: Mutex::default(),
            changed: Condvar::new(),
            created: AtomicI64::new(0),
        }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection and returns its id, unless there are too many.
    pub(crate) fn admit(&self, stream: &TcpStream) -> Option<i64> {
        let stream = stream.try_clone().ok()?;
        let mut connections = self.connections();
        if connections.stopping || connections.open.len() >= self.options.max_connections {
            return None;
        }
        let id = self.created.fetch_add(1, Ordering::Relaxed) + 1;
        connections.open.insert(id, stream);
        Some(id)
    }

    /// Removes a closed connection.
    pub(crate) fn dismiss(&self, id: i64) {
        self.operations.leave(id);
        self.connections().open.remove(&id);
        self.changed.notify_all();
    }

    /// How many connections are open, and how many were accepted in total.
    pub(crate) fn counts(&self) -> (usize, i64) {
        let open = self.connections().open.len();
        (open, self.created.load(Ordering::Relaxed))
    }

    /// Whether a collection or view has this full name (`database.collection`).
    pub(crate) fn has(&self, namespace: &str) -> bool {
        let parts = namespace.split_once('.');
        parts.is_some_and(|(database, collection)| {
            self.service.has(&Namespace::new(database, collection))
        })
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.connections().stopping
    }

    /// Closes every connection and wakes the waiting threads.
    pub(crate) fn stop(&self) {
        let mut connections = self.connections();
        connections.stopping = true;
        for stream in connections.open.values() {
            // The client may have closed the connection already; that is not an error.
            let _ = stream.shutdown(Shutdown::Both);
        }
        drop(connections);
        self.changed.notify_all();
    }

    /// Waits until the last connection has ended.
    pub(crate) fn wait_for_connections(&self, limit: Duration) {
        let connections = self.connections();
        drop(
            self.changed
                .wait_timeout_while(connections, limit, |connections| {
                    !connections.open.is_empty()
                }),
        );
    }

    /// Whether a connection's client has disconnected. Only its own thread may call this, so that no other thread is
    /// reading from it.
    pub(crate) fn is_gone(&self, id: i64) -> bool {
        self.connections().open.get(&id).is_none_or(is_closed)
    }

    /// Waits until `limit` has passed, the server stops, the operation is killed, or the connection's client
    /// disconnects.
    pub(crate) fn wait_with(&self, id: i64, limit: Duration, killed: &AtomicBool) {
        let began = Instant::now();
        loop {
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() || self.pause(left.min(LOOK_UP), killed) || self.is_gone(id) {
                return;
            }
        }
    }

    /// Kills an operation, even while it waits.
    pub(crate) fn kill(&self, operation: i64) {
        let connections = self.connections();
        self.operations.kill(operation);
        drop(connections);
        self.changed.notify_all();
    }

    /// Waits until `limit` has passed. Returns true if the server stops or the operation is killed.
    pub(crate) fn pause(&self, limit: Duration, killed: &AtomicBool) -> bool {
        let connections = self.connections();
        let is_killed = || killed.load(Ordering::Relaxed);
        let (connections, _) = self
            .changed
            .wait_timeout_while(connections, limit, |connections| {
                !connections.stopping && !is_killed()
            })
            .unwrap_or_else(PoisonError::into_inner);
        connections.stopping || is_killed()
    }
}

/// Whether the client has closed a connection that no thread is reading from.
fn is_closed(stream: &TcpStream) -> bool {
    let peek = || {
        stream.set_nonblocking(true)?;
        let peeked = stream.peek(&mut [0]);
        stream.set_nonblocking(false)?;
        peeked
    };
    match peek() {
        Ok(waiting) => waiting == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

impl fmt::Debug for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
