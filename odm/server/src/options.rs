//! How a server is set up.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::scram::Credentials;

/// How a [`Server`](super::Server) is set up.
#[derive(Clone)]
pub struct Options {
    /// The name of the replica set whose only member the server is.
    pub replica_set: String,
    /// How many connections there may be at once.
    pub max_connections: usize,
    /// How many cursors there may be at once in the engine.
    pub max_cursors: usize,
    /// How long a connection may say nothing before it is closed.
    pub idle_timeout: Duration,
    /// Whether addresses need not be loopback ones.
    pub bind_all: bool,
    /// Whether `configureFailPoint` is known.
    pub test_commands: bool,
    /// By name.
    pub(crate) users: BTreeMap<String, Credentials>,
}

/// Nothing secret is shown.
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
    /// Lets in only who knows a user's password. The last password of a name counts.
    ///
    /// # Errors
    ///
    /// An empty name, or a password with characters that RFC 4013 lets into none, such as a line feed.
    pub fn add_user(&mut self, name: &str, password: &str) -> Result<(), String> {
        if name.is_empty() {
            return Err("a user has a name that is not empty".to_owned());
        }
        let Ok(credentials) = Credentials::new(password) else {
            return Err(format!(
                "the password of the user `{name}` has characters that no password may have"
            ));
        };
        self.users.insert(name.to_owned(), credentials);
        Ok(())
    }
}
