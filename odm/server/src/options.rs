//! The settings of a server.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::scram::Credentials;

/// The settings of a [`Server`](super::Server).
#[derive(Clone)]
pub struct Options {
    /// The name of the replica set, which has the server as its only member.
    pub replica_set: String,
    /// The maximum number of open connections.
    pub max_connections: usize,
    /// The maximum number of open cursors in the engine.
    pub max_cursors: usize,
    /// How long a connection may be idle before it is closed.
    pub idle_timeout: Duration,
    /// Whether addresses other than loopback addresses are allowed.
    pub bind_all: bool,
    /// Whether `configureFailPoint` is available.
    pub test_commands: bool,
    /// The users, by name.
    pub(crate) users: BTreeMap<String, Credentials>,
}

/// Leaves out the credentials.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("replica_set", &self.replica_set)
            .field("max_connections", &self.max_connections)
            .field("max_cursors", &self.max_cursors)
            .field("idle_timeout", &self.idle_timeout)
            .field("bind_all", &self.bind_all)
            .field("test_commands", &self.test_commands)
            .field("users", &self.users.keys())
            .finish()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            replica_set: "odm".to_owned(),
            max_connections: 1_000,
            max_cursors: 10_000,
            idle_timeout: Duration::from_secs(30 * 60),
            bind_all: false,
            test_commands: false,
            users: BTreeMap::new(),
        }
    }
}

impl Options {
    /// Adds a user, and requires clients to authenticate. Adding a name again replaces its password.
    ///
    /// # Errors
    ///
    /// The name is empty, or the password has characters that RFC 4013 prohibits, such as a line feed.
    pub fn add_user(&mut self, name: &str, password: &str) -> Result<(), String> {
        if name.is_empty() {
            return Err("the name of a user can't be empty".to_owned());
        }
        let Ok(credentials) = Credentials::new(password) else {
            return Err(format!(
                "the password of the user `{name}` has characters that are not allowed in passwords"
            ));
        };
        self.users.insert(name.to_owned(), credentials);
        Ok(())
    }
}
