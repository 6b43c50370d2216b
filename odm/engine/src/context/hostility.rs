//! What MongoDB may do and mongod seldom does.

mod fault;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use odm_language::shuffle::Shuffle;

pub use self::fault::{Fault, Target};

/// What the in-memory engine does to tests: MongoDB may do it, but mongod seldom does on a developer's machine.
///
/// `Db::memory_hostile(seed)` creates a database with all of it. For a choice, give a `Hostility` to
/// [`Context::with_hostility`](crate::Context::with_hostility): a new one does nothing yet, and each method adds
/// something. Run the tests of a program with a few seeds.
///
/// ```
/// # use odm_engine as odm;
/// use odm::{Context, Hostility};
///
/// // A database for a test: Db::memory_with(context)
/// let context = Context::system().with_hostility(Hostility::new(42).shuffling().splitting_batches());
/// # let _ = context;
/// ```
///
/// # The seed
///
/// The same seed and the same commands lead to the same results. Tasks that run at the same time draw from the seed in
/// the order in which their commands arrive, and a command that waits for an open transaction draws again for each try,
/// so a test with such tasks may need more than one run to repeat a failure. Delays draw how long they are, not which
/// task is woken first.
///
/// Errors that the store makes name the seed. When a test panics, the seed is printed on standard error as the last handle
/// to the store and clone of the `Hostility` are dropped; [`seed`](Self::seed) returns it for a message of your own.
///
/// # What the store retries
///
/// The in-memory store treats a broken connection and a primary that steps down as the official driver does with
/// its default options:
///
/// | call | what odm does | what the caller sees |
/// | --- | --- | --- |
/// | `find`, `aggregate` without `$out` and `$merge`, counts, `distinct`, opening a change stream | sends it once more | nothing, or the second error |
/// | `insert_one`, `insert_many`, `update_one`, `replace_one`, `delete_one`, `find_one_and_…` | sends it once more with the same transaction number, so that it is executed once | nothing, or the second error with the label `RetryableWriteError` |
/// | `update_many`, `delete_many`, `bulk_write`, raw commands, changes of definitions | does not retry | the error; the command may have been executed |
/// | the next batch of a cursor | does not retry | the error, which ends the cursor |
/// | the next batch of a change stream | resumes the stream | nothing |
/// | a call in a transaction | does not retry | the error with the label `TransientTransactionError`; `transaction!` runs its body again |
/// | a commit | sends it once more | nothing, or the second error with `UnknownTransactionCommitResult`, after which `transaction!` commits again |
///
/// Faults reach only the handles of the in-memory store. `Db::import`, `Db::dump`, `abort_transaction` and closing a cursor never
/// fail, and an engine behind a port shuffles and splits batches only: there, `configureFailPoint` makes commands fail.
#[derive(Clone)]
pub struct Hostility {
    shared: Arc<Shared>,
    shuffles: bool,
    splits: bool,
    faults: Vec<Fault>,
    recoverable: bool,
    longest_delay: Option<Duration>,
}

/// What all clones share.
struct Shared {
    seed: u64,
    /// The number of draws so far, in steps of the generator.
    drawn: AtomicU64,
    paused: AtomicBool,
}

/// The longest delay of [`Hostility::all`].
const DELAY: Duration = Duration::from_millis(2);

/// One command in this many is delayed.
const DELAYS: u64 = 4;

/// One batch in this many is split.
const SPLITS: u64 = 2;

/// Batch sizes are below a power of two up to this one, all powers being equally likely.
const LARGEST_POWER: u64 = 8;

impl Hostility {
    /// Draws everything from `seed`.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// assert_eq!(odm::Hostility::new(42).seed(), 42);
    /// ```
    pub fn new(seed: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                seed,
                drawn: AtomicU64::new(seed),
                paused: AtomicBool::new(false),
            }),
            shuffles: false,
            splits: false,
            faults: Vec::new(),
            recoverable: false,
            longest_delay: None,
        }
    }

    /// Everything that the other methods add, with delays of up to 2 milliseconds. `Db::memory_hostile` uses it.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// // Longer delays than those of `all`.
    /// let hostility = Hostility::new(42).all().delaying_replies(std::time::Duration::from_millis(20));
    /// let context = Context::system().with_hostility(hostility);
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn all(self) -> Self {
        self.shuffling()
            .splitting_batches()
            .conflicting_writes()
            .breaking_connections()
            .stepping_down()
            .delaying_replies(DELAY)
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
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).shuffling());
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn shuffling(mut self) -> Self {
        self.shuffles = true;
        self
    }

    /// Ends one batch in 2 of cursors at a random size from 0 to 127, mostly a small one, and never above the batch size that
    /// was asked for. It finds code that takes the first batch of a raw command for the whole result, or an empty batch
    /// for the end.
    ///
    /// A batch without documents has an open cursor, unless the result ends there. `singleBatch` is never split. Cursors
    /// that wait for new documents, and change streams, get at least one document if there is one.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).splitting_batches());
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn splitting_batches(mut self) -> Self {
        self.splits = true;
        self
    }

    /// Fails writes in transactions as if another transaction had changed the same document: with `WriteConflict` (112)
    /// and the label `TransientTransactionError`, after which the transaction is aborted. It finds bodies that must
    /// not run twice.
    ///
    /// It is one write in 32, in at most two transactions of a session one after the other. Outside of transactions mongod
    /// itself tries again, so there is no such error.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).conflicting_writes());
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn conflicting_writes(self) -> Self {
        self.with(Fault::Conflict)
    }

    /// Breaks the connection before a command is executed or, as often, after it was executed and before its reply
    /// arrives. The error is a network error (`Error::is_connection`), without a code. It finds writes that are sent again
    /// though they are not idempotent.
    ///
    /// It is one command in 8, the retries included, but one in 32 in a transaction (in at most two transactions of a
    /// session one after the other), one in 16 of the further batches of a change stream and one in 64 of those of
    /// another cursor. These rates are of all faults together. [What the store retries](#what-the-store-retries) says what
    /// the caller sees.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).breaking_connections());
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn breaking_connections(self) -> Self {
        self.with(Fault::LostRequest).with(Fault::LostReply)
    }

    /// Refuses commands as a member does that is no longer the primary: with `NotWritablePrimary` (10107), for reads with
    /// `NotPrimaryNoSecondaryOk` (13435). The command is not executed; a transaction is aborted. The error has the label
    /// `RetryableWriteError` if the command is a retryable write, and `TransientTransactionError` in a transaction.
    ///
    /// The rates are those of [`breaking_connections`](Self::breaking_connections). The further batches of a cursor are not refused.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).breaking_connections().stepping_down());
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn stepping_down(self) -> Self {
        self.with(Fault::NotPrimary)
    }

    /// Delays one command in 4, by up to `longest`: as often before the command is executed as before its reply arrives.
    /// Meanwhile other tasks run, so it finds code that assumes that nobody writes between two of its calls.
    ///
    /// The delays are timers of Tokio, so its runtime needs them enabled. Outside of a Tokio runtime there are no delays.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use std::time::Duration;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).delaying_replies(Duration::from_millis(20)));
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn delaying_replies(mut self, longest: Duration) -> Self {
        self.longest_delay = Some(longest);
        self
    }

    /// Leaves out the faults that a caller would see: no retry fails, no call that is not retried fails, and in a
    /// transaction calls fail only if `transaction!`, or a write of the library that runs in a transaction of its own, will run it again.
    ///
    /// Use it to run existing tests, which expect that no call fails, on a hostile store.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let context = Context::system().with_hostility(Hostility::new(42).all().recoverable());
    /// # let _ = context;
    /// ```
    #[must_use]
    pub fn recoverable(mut self) -> Self {
        self.recoverable = true;
        self
    }

    /// Stops everything until [`resume`](Self::resume), in the stores of all clones: for the fixtures of a test.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// use odm::{Context, Hostility};
    ///
    /// let hostility = Hostility::new(42).all();
    /// let context = Context::system().with_hostility(hostility.clone());
    /// hostility.pause();
    /// // … Db::memory_with(context), indexes, documents …
    /// hostility.resume();
    /// # let _ = context;
    /// ```
    pub fn pause(&self) {
        self.shared.paused.store(true, Ordering::Relaxed);
    }

    /// Ends a [`pause`](Self::pause).
    ///
    /// ```
    /// # use odm_engine as odm;
    /// let hostility = odm::Hostility::new(42).all();
    /// hostility.pause();
    /// hostility.resume();
    /// ```
    pub fn resume(&self) {
        self.shared.paused.store(false, Ordering::Relaxed);
    }

    /// The seed, for the message of a test that fails.
    ///
    /// ```
    /// # use odm_engine as odm;
    /// let hostility = odm::Hostility::new(42).all();
    /// assert_eq!(hostility.seed(), 42);
    /// ```
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    fn with(mut self, fault: Fault) -> Self {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
        self
    }

    fn is_paused(&self) -> bool {
        self.shared.paused.load(Ordering::Relaxed)
    }

    /// What shuffles, if this does.
    pub(crate) fn shuffle(&self) -> Option<Shuffle> {
        if !self.shuffles || self.is_paused() {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        Some(Shuffle::new(move || shared.draw()))
    }

    /// Whether batches are split.
    pub(crate) fn splits(&self) -> bool {
        self.splits && !self.is_paused()
    }

    /// How many documents the next batch may have; `None` for as many as fit.
    pub(crate) fn batch_size(&self, wanted: Option<u64>, least: u64) -> Option<u64> {
        if !self.splits() || !self.shared.draw().is_multiple_of(SPLITS) {
            return wanted;
        }
        let power = self.shared.draw() % LARGEST_POWER;
        let size = (self.shared.draw() % (1 << power)).max(least);
        Some(wanted.map_or(size, |wanted| size.min(wanted)))
    }

    /// Whether commands may fail or be delayed.
    #[doc(hidden)]
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty() || self.longest_delay.is_some()
    }

    /// The fault of a command, if it fails.
    #[doc(hidden)]
    pub fn strike(&self, target: Target) -> Option<Fault> {
        if self.is_paused() || self.recoverable && !target.is_recovered() {
            return None;
        }
        let mut possible = self.faults.iter().filter(|fault| target.may_have(**fault));
        let count = u64::try_from(possible.clone().count()).unwrap_or_default();
        if count == 0 || !self.shared.draw().is_multiple_of(target.one_in()) {
            return None;
        }
        let chosen = usize::try_from(self.shared.draw() % count).unwrap_or_default();
        possible.nth(chosen).copied()
    }

    /// By how much a command is delayed, before it is executed and after.
    #[doc(hidden)]
    pub fn delays(&self) -> [Option<Duration>; 2] {
        let Some(longest) = self.longest_delay.filter(|_| !self.is_paused()) else {
            return [None, None];
        };
        if !self.shared.draw().is_multiple_of(DELAYS) {
            return [None, None];
        }
        let longest = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
        let delay = Duration::from_micros(self.shared.draw() % longest.saturating_add(1));
        if self.shared.draw().is_multiple_of(2) {
            [Some(delay), None]
        } else {
            [None, Some(delay)]
        }
    }
}

impl fmt::Debug for Hostility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hostility")
            .field("seed", &self.shared.seed)
            .field("shuffles", &self.shuffles)
            .field("splits", &self.splits)
            .field("faults", &self.faults)
            .field("recoverable", &self.recoverable)
            .field("longest_delay", &self.longest_delay)
            .finish()
    }
}

impl Shared {
    /// The next number of a `SplitMix64` generator.
    fn draw(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let state = self.drawn.fetch_add(STEP, Ordering::Relaxed);
        let state = state.wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Drop for Shared {
    #[expect(
        clippy::print_stderr,
        reason = "a test that panics has no other way to report the seed"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "the hostile store drew from the seed {seed}: `Hostility::new({seed})` repeats it",
                seed = self.seed
            );
        }
    }
}
