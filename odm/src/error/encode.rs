//! Values that can't be encoded as BSON.

use std::fmt;
use std::sync::Arc;

use super::{Error, Kind};

/// Why a value could not be encoded; cheap to clone, because builders keep it until they are sent.
#[derive(Debug, Clone)]
pub(crate) struct EncodeError {
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl EncodeError {
    /// A value that has no stored form.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// An error that a serializer reported.
    pub(crate) fn from_source(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self {
            message: source.to_string(),
            source: Some(Arc::new(source)),
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the value can't be encoded as BSON: {}", self.message)
    }
}

impl From<EncodeError> for Kind {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl Error {
    /// Whether a value could not be encoded as BSON, such as a `u64` above `i64::MAX`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "counters")]
    /// # struct Counter { #[serde(rename = "_id")] id: i32, count: u64 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let counters = Db::memory().collection::<Counter>();
    /// let error = counters.insert_one(&Counter { id: 1, count: u64::MAX }).await.unwrap_err();
    /// assert!(error.is_encode());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_encode(&self) -> bool {
        matches!(self.kind(), Kind::Encode(_))
    }
}
