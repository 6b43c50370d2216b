//! What all connections share.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bson::oid::ObjectId;
use odm_engine::{Context, Namespace, Service, Surroundings};

use crate::activity::Activities;
use crate::fail_point::FailPoints;
use crate::options::Options;

/// How often one that waits looks whether the server stops, or its client has gone.
pub(crate) const LOOK_UP: Duration = Duration::from_millis(200);

/// The server: its engine, its settings and its connections.
pub(crate) struct Host {
    pub(crate) service: Arc<Service>,
    pub(crate) options: Options,
    pub(crate) address: SocketAddr,
    /// Names this run of the server, so that clients notice another.
    pub(crate) process: ObjectId,
    pub(crate) started: Instant,
    pub(crate) fail_points: FailPoints,
    pub(crate) activities: Arc<Activities>,
    /// What the engine answers in: its own context, and this server around it.
    pub(crate) context: Context,
    connections: Mutex<Connections>,
    /// Something about the connections has changed.
    changed: Condvar,
    created: AtomicI64,
}

#[derive(Default)]
struct Connections {
    open: HashMap<i64, TcpStream>,
    stopping: bool,
}

impl Host {
    pub(crate) fn new(service: Arc<Service>, options: Options, address: SocketAddr) -> Self {
        let activities = Arc::new(Activities::new(address));
        let surroundings: Arc<dyn Surroundings> = Arc::<Activities>::clone(&activities);
        Self {
            context: service.context().clone().within(surroundings),
            service,
            options,
            address,
            process: ObjectId::new(),
            started: Instant::now(),
            fail_points: FailPoints::default(),
            activities,
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

    /// Takes a connection on and numbers it, unless there are too many.
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

    /// Forgets a connection that has ended.
    pub(crate) fn dismiss(&self, id: i64) {
        self.activities.leave(id);
        self.connections().open.remove(&id);
        self.changed.notify_all();
    }

    /// How many connections are open, and how many there ever were.
    pub(crate) fn counts(&self) -> (usize, i64) {
        let open = self.connections().open.len();
        (open, self.created.load(Ordering::Relaxed))
    }

    /// Whether there is a collection or a view, by database and name with a dot in between.
    pub(crate) fn has(&self, namespace: &str) -> bool {
        let parts = namespace.split_once('.');
        parts.is_some_and(|(database, collection)| {
            self.service.has(&Namespace::new(database, collection))
        })
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.connections().stopping
    }

    /// Closes every connection; whoever waits on one wakes.
    pub(crate) fn stop(&self) {
        let mut connections = self.connections();
        connections.stopping = true;
        for stream in connections.open.values() {
            // One that the client has closed already is as good.
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

    /// Whether a connection's client has gone. Only the thread that serves it may ask: nobody else reads from it then.
    pub(crate) fn is_gone(&self, id: i64) -> bool {
        self.connections().open.get(&id).is_none_or(is_closed)
    }

    /// Waits for a time, until the server stops or a connection's client goes.
    pub(crate) fn wait_with(&self, id: i64, limit: Duration, killed: &AtomicBool) {
        let began = Instant::now();
        loop {
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() || self.pause(left.min(LOOK_UP), killed) || self.is_gone(id) {
                return;
            }
        }
    }

    /// Has an operation end, also while it waits.
    pub(crate) fn kill(&self, operation: i64) {
        let connections = self.connections();
        self.activities.kill(operation);
        drop(connections);
        self.changed.notify_all();
    }

    /// Waits for a time, until the server stops, or until somebody wants the wait to end: true in these cases.
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

/// Whether the other side has closed a connection that nobody is reading from just now.
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

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
