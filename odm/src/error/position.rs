//! Positions in capped collections that are gone.

use std::fmt;

use super::{Code, Error, Kind};

/// A capped collection has removed documents before a tail could return them.
#[derive(Debug)]
pub(crate) struct PositionError {
    collection: String,
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the capped collection `{}` has removed documents that the tail has not returned, or may have: the next one is the oldest \
             that is left; declare a larger `capped(size = …)`, or read faster",
            self.collection
        )
    }
}

impl From<PositionError> for Kind {
    fn from(error: PositionError) -> Self {
        Self::Position(error)
    }
}

impl Error {
    pub(crate) fn lost_position(collection: &str) -> Self {
        Self::new(PositionError {
            collection: collection.to_owned(),
        })
    }

    /// Whether a capped collection has removed documents before a [tail](crate::Collection::tail) could return them, or a cursor
    /// before it could continue (MongoDB's `CappedPositionLost`). The tail goes on with the oldest document that is left.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// for seq in 4..=2_000 {
    ///     events.insert_one(&event(seq, "info")).await?;
    /// }
    /// let mut tail = events.tail().after(|e| e.seq, 3).await?;
    /// let lost = tail.next().await.expect("a tail goes on").unwrap_err();
    /// assert!(lost.is_position_lost());
    /// let oldest = tail.next().await.expect("a tail goes on")?;
    /// assert!(oldest.seq > 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_position_lost(&self) -> bool {
        matches!(self.kind(), Kind::Position(_)) || self.code() == Some(Code::CAPPED_POSITION_LOST)
    }
}
