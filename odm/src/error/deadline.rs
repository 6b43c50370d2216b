//! Deadlines that have passed.

use std::fmt;
use std::time::Duration;

use super::{Error, Kind};

/// What a call had done when its deadline passed.
#[derive(Debug, Clone)]
pub(crate) struct DeadlineError {
    pub(crate) limit: Duration,
    /// How many commands were answered before the ones below.
    pub(crate) earlier: u64,
    /// The last answered commands, such as `find on books`, each with how many of them followed each other.
    pub(crate) answered: Vec<(String, u64)>,
    /// Commands that were sent and not answered.
    pub(crate) in_flight: Vec<String>,
}

impl fmt::Display for DeadlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the call was not done within {:?}: ", self.limit)?;
        if self.answered.is_empty() && self.in_flight.is_empty() {
            return f.write_str("nothing was sent");
        }
        if self.answered.is_empty() {
            f.write_str("no command was answered")?;
        } else {
            f.write_str("MongoDB had answered ")?;
            if self.earlier > 0 {
                write!(f, "{} commands, then ", self.earlier)?;
            }
            list(
                f,
                self.answered.iter().map(|(name, count)| match count {
                    1 => name.clone(),
                    count => format!("{count} times {name}"),
                }),
            )?;
        }
        if !self.in_flight.is_empty() {
            f.write_str("; it may still complete ")?;
            list(f, self.in_flight.iter().cloned())?;
        }
        Ok(())
    }
}

/// Names at most ten.
fn list(f: &mut fmt::Formatter<'_>, items: impl ExactSizeIterator<Item = String>) -> fmt::Result {
    const SHOWN: usize = 10;
    let left = items.len().saturating_sub(SHOWN);
    for (index, item) in items.take(SHOWN).enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
    }
    match left {
        0 => Ok(()),
        left => write!(f, " and {left} more"),
    }
}

impl From<DeadlineError> for Kind {
    fn from(error: DeadlineError) -> Self {
        Self::Deadline(error)
    }
}

impl Error {
    /// Whether the deadline of [`within`](crate::Within::within) has passed. Such an error is also a
    /// [timeout](Self::is_timeout).
    ///
    /// The message lists the commands that were answered, and those that MongoDB may still complete.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// use std::time::Duration;
    ///
    /// let late = books.find_all().all().within(Duration::ZERO).await.unwrap_err();
    /// assert!(late.is_deadline() && late.is_timeout());
    /// assert!(late.to_string().ends_with("nothing was sent"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_deadline(&self) -> bool {
        matches!(self.kind(), Kind::Deadline(_))
    }
}
