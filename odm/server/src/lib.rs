//! A server for the in-memory engine of `mongodb-odm`, for clients that speak MongoDB's wire protocol.
//!
//! Programs use it as `odm::server`; the items of this crate change without notice.

mod answer;
mod client;
mod cluster_time;
mod command;
mod connection;
mod current_op;
mod error;
mod fail_point;
mod options;
mod scram;
mod state;
#[cfg(test)]
mod tests;
mod threads;
pub mod tools;
mod wire;

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use odm_engine::Service;

pub use error::BindError;
pub use options::Options;
use state::ServerState;
use threads::Threads;

/// How long a stopping server waits for running calls.
const GRACE: Duration = Duration::from_secs(5);

/// Serves an engine at a port until it is dropped or [stopped](Self::stop). Each connection has a thread.
#[derive(Debug)]
pub struct Server {
    state: Arc<ServerState>,
    acceptor: Option<JoinHandle<()>>,
    threads: Arc<Threads>,
}

impl Server {
    /// Serves all databases of the engine at a loopback address; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// The address is not a loopback address and the options do not allow that, or the port can't be opened.
    pub fn bind(
        service: &Arc<Service>,
        options: Options,
        address: impl ToSocketAddrs,
    ) -> Result<Self, BindError> {
        let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
        let open = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(open) = open
            && (!options.bind_all || options.users.is_empty())
        {
            return Err(BindError::Open(open.ip()));
        }
        let listener = TcpListener::bind(&*addresses)?;
        let address = listener.local_addr()?;
        service.log_changes();
        let state = Arc::new(ServerState::new(Arc::clone(service), options, address));
        let threads = Arc::new(Threads::default());
        let (accepting, started) = (Arc::clone(&state), Arc::clone(&threads));
        let acceptor = thread::Builder::new()
            .name("odm-server".to_owned())
            .spawn(move || accept(&listener, &accepting, &started))?;
        Ok(Self {
            state,
            acceptor: Some(acceptor),
            threads,
        })
    }

    /// The address that the server listens at.
    pub fn address(&self) -> SocketAddr {
        self.state.address
    }

    /// The connection string for clients, with the replica set's name and a database, which may be empty.
    pub fn uri_of(&self, database: &str) -> String {
        let options = &self.state.options;
        // Without `authSource`, a client authenticates against the database in the string.
        let source = if options.users.is_empty() {
            ""
        } else {
            "&authSource=admin"
        };
        format!(
            "mongodb://{}/{database}?replicaSet={}{source}",
            self.state.address, options.replica_set
        )
    }

    /// Closes the port and every connection, and waits at most five seconds for running calls to end. The data stays
    /// with the service.
    pub fn stop(mut self) {
        self.close();
    }

    fn close(&mut self) {
        let Some(acceptor) = self.acceptor.take() else {
            return;
        };
        self.state.stop();
        // Only a connection wakes the thread that accepts connections.
        drop(TcpStream::connect_timeout(
            &self.state.address,
            Duration::from_secs(1),
        ));
        // The acceptor does not panic.
        let _ = acceptor.join();
        self.state.wait_for_connections(GRACE);
        self.threads.close();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

/// A connection that is removed from the host when its thread ends, even by a panic.
struct Served {
    state: Arc<ServerState>,
    id: i64,
}

impl Served {
    fn serve(&self, stream: &TcpStream, address: SocketAddr) {
        connection::serve(&self.state, stream, address, self.id);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.state.dismiss(self.id);
    }
}

fn accept(listener: &TcpListener, state: &Arc<ServerState>, threads: &Arc<Threads>) {
    loop {
        let accepted = listener.accept();
        if state.is_stopping() {
            return;
        }
        match accepted {
            Ok((stream, address)) => {
                let Some(id) = state.admit(&stream) else {
                    continue; // too many: dropping the stream closes it
                };
                let served = Served {
                    state: Arc::clone(state),
                    id,
                };
                // If no thread can be created, `served` is dropped and the connection closes.
                let _ = threads.spawn(id, move || served.serve(&stream, address));
            }
            // Most likely too many open files: some will be closed soon.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}
