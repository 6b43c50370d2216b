//! Unreachable servers and broken connections.

use std::fmt;

use super::{Error, Kind};

/// The driver's error about the connection.
#[derive(Debug)]
pub(crate) struct ConnectionError {
    message: String,
    timeout: bool,
    labels: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ConnectionError {
    pub(crate) fn new(
        message: impl Into<String>,
        timeout: bool,
        labels: Vec<String>,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            message: message.into(),
            timeout,
            labels,
            source,
        }
    }

    pub(crate) fn labels(&self) -> &[String] {
        &self.labels
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<ConnectionError> for Kind {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl Error {
    /// Whether no server could be reached, or the connection to it broke.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // Nothing listens on port 1.
    /// let db = Db::connect("mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50").await?;
    /// let error = db.run_command(doc! {"ping": 1}).await.unwrap_err();
    /// assert!(error.is_connection());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_connection(&self) -> bool {
        matches!(self.kind(), Kind::Connection(_))
    }

    /// Whether the error is a timeout: of the connection, of server selection, of the operation
    /// (`max_time`, code 50), or of the call ([`within`](crate::Within::within)).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // Nothing listens on port 1.
    /// let db = Db::connect("mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50").await?;
    /// let error = db.run_command(doc! {"ping": 1}).await.unwrap_err();
    /// assert!(error.is_timeout());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_timeout(&self) -> bool {
        match self.kind() {
            Kind::Connection(error) => error.timeout,
            Kind::Deadline(_) => true,
            kind => kind.server().is_some_and(|error| {
                matches!(
                    error.code(),
                    super::Code::MAX_TIME_MS_EXPIRED | super::Code::NETWORK_TIMEOUT
                )
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, ServerError};

    #[test]
    fn timeouts_are_of_connections_or_operations() {
        let broken = |timeout| {
            let labels = vec!["RetryableWriteError".to_owned()];
            Error::new(ConnectionError::new("broken pipe", timeout, labels, None))
        };
        assert!(broken(true).is_timeout() && broken(true).is_connection());
        assert!(!broken(false).is_timeout() && broken(false).is_retryable());
        assert!(broken(false).has_label("RetryableWriteError"));
        let expired = ServerError::new(Code::MAX_TIME_MS_EXPIRED, "operation exceeded time limit");
        let expired = Error::from(expired);
        assert!(expired.is_timeout() && !expired.is_connection());
    }
}
