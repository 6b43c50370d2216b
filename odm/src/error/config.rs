//! Invalid connection strings and settings.

use std::fmt;

use super::{Error, Kind};

/// A mistake in the configuration, and what to write instead. The message never contains the
/// URI, which may contain a password.
#[derive(Debug)]
pub(crate) struct ConfigError(String);

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ConfigError> for Kind {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl Error {
    /// Whether the connection string or a setting is invalid.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let error = Db::connect("mongodb://localhost:27017").await.unwrap_err();
    /// assert!(error.is_config(), "the string names no database");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_config(&self) -> bool {
        matches!(self.kind(), Kind::Config(_))
    }
}
