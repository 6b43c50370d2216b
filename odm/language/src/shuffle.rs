//! Shuffles lists whose order MongoDB leaves open.

use std::fmt;
use std::sync::Arc;

/// A shuffle with its own source of random bits. Cheap to clone: all clones draw from the same source.
#[derive(Clone)]
pub struct Shuffle(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Shuffle {
    /// A shuffle that draws from `bits`.
    pub fn new(bits: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(bits))
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let choices = u64::try_from(end + 1).unwrap_or(u64::MAX);
            let other = usize::try_from((self.0)() % choices).unwrap_or(end);
            items.swap(end, other);
        }
    }
}

impl fmt::Debug for Shuffle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shuffle")
    }
}
