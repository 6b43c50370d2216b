//! What MongoDB may do and mongod seldom does.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use odm_language::shuffle::Shuffle;

/// What the in-memory engine does to tests: MongoDB may do it, but mongod seldom does on a developer's machine.
///
/// Give it to [`Context::with_hostility`](crate::Context::with_hostility), and run the tests of a program with a few
/// seeds. The same seed and the same commands lead to the same results. Commands that run at the same time draw from
/// the seed in the order in which they arrive.
///
/// A new `Hostility` does nothing yet; each method adds something.
///
/// ```
/// # use odm_engine as odm;
/// use odm::{Context, Hostility};
///
/// // A database for a test: Db::memory_with(context)
/// let context = Context::system().with_hostility(Hostility::new(42).shuffling());
/// # let _ = context;
/// ```
#[derive(Clone)]
pub struct Hostility {
    seed: u64,
    /// The number of draws so far, in steps of the generator.
    drawn: Arc<AtomicU64>,
    shuffles: bool,
}

impl Hostility {
    /// Draws everything from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            drawn: Arc::new(AtomicU64::new(seed)),
            shuffles: false,
        }
    }

    /// Shuffles what MongoDB does not put into an order:
    ///
    /// - the results of finds and aggregations without a sort, and those with equal sort keys;
    /// - which of several matching documents `update_one`, `replace_one`, `delete_one` and the `find_one_and_…` methods
    ///   take, as far as no sort decides it;
    /// - the groups of `$group`, the values of `distinct`, the documents of `$lookup` and `$graphLookup`;
    /// - the arrays of `$addToSet` in `$group`, `$setUnion`, `$setIntersection` and `$setDifference`;
    /// - which of equally good plans a query uses.
    ///
    /// The order of a capped collection, of a `$natural` sort or hint and of `$near` stays, and so does everything
    /// inside stored documents: an update with `$addToSet` appends, as mongod does. `explain` shows the plans of a
    /// store that shuffles nothing. The profiler counts all matching documents as examined, because they are all read
    /// before they are shuffled.
    #[must_use]
    pub fn shuffling(mut self) -> Self {
        self.shuffles = true;
        self
    }

    /// The seed, for the message of a test that fails.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What shuffles, if this does.
    pub(crate) fn shuffle(&self) -> Option<Shuffle> {
        let drawn = Arc::clone(&self.drawn);
        self.shuffles.then(|| Shuffle::new(move || draw(&drawn)))
    }
}

impl fmt::Debug for Hostility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hostility")
            .field("seed", &self.seed)
            .field("shuffles", &self.shuffles)
            .finish_non_exhaustive()
    }
}

/// The next number of a `SplitMix64` generator.
fn draw(state: &AtomicU64) -> u64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let state = state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
