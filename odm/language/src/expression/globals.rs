//! The part of the environment that is the same for all documents of an operation: the clock, the collation, the
//! caller's variables.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bson::raw::RawBson;
use bson::{DateTime, Timestamp};

use crate::clock::Clock;
use crate::error::Code;
use crate::error::ServerError;
use crate::expression::meta::Known;
use crate::expression::value::Value;
use crate::regex::Regex;
use crate::shuffle::Shuffle;
use crate::value::collation::Collator;
use crate::version::ServerVersion;

/// The environment of an operation's expressions. Cheap to clone: the matcher keeps one in its `$expr`.
#[derive(Debug, Clone)]
pub struct Globals(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    now: DateTime,
    /// Whether it belongs to a stored filter and not to an operation: `$$NOW` has no value then.
    stored: bool,
    /// A variable may be bound to a missing value.
    variables: Vec<(String, Option<RawBson>)>,
    collator: Option<Collator>,
    shared: Arc<Shared>,
    random: Option<Random>,
    shuffle: Option<Shuffle>,
    clock: Option<Arc<Clock>>,
    /// Whether the sort keys of documents are known.
    has_sort_keys: bool,
    /// How many pipelines of `$lookup` and `$unionWith` enclose this one.
    pipelines: usize,
    version: ServerVersion,
    allows_disk_use: bool,
}

/// mongod's limit on the nesting of `$lookup` and `$unionWith` pipelines.
const MAX_PIPELINES: usize = 20;

/// A source of random bits.
#[derive(Clone)]
struct Random(Arc<dyn Fn() -> u64 + Send + Sync>);

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}

/// State that all clones share.
#[derive(Debug, Default)]
struct Shared {
    /// The metadata of the current document: the reader of the documents sets it, and the expressions evaluated later
    /// read it.
    known: Mutex<Known>,
    /// The regular expressions used last. Most operations have one or two, but some read patterns from documents.
    regexes: Mutex<Vec<Regex>>,
}

const MAX_REGEXES: usize = 8;

/// Refuses pipelines that are nested too deeply.
pub fn check_pipeline_depth(depth: usize) -> Result<(), ServerError> {
    if depth <= MAX_PIPELINES {
        return Ok(());
    }
    Err(ServerError::new(
        Code::MAX_SUB_PIPELINE_DEPTH_EXCEEDED,
        format!("Maximum number of nested sub-pipelines exceeded. Limit is {MAX_PIPELINES}"),
    ))
}

impl Globals {
    /// An environment with `$$NOW` and no variables.
    pub fn new(now: DateTime) -> Self {
        Self(Arc::new(Inner {
            now,
            stored: false,
            variables: Vec::new(),
            collator: None,
            shared: Arc::default(),
            random: None,
            shuffle: None,
            clock: None,
            has_sort_keys: false,
            pipelines: 0,
            version: ServerVersion::default(),
            allows_disk_use: true,
        }))
    }

    /// The environment of a stored filter, such as a validator: without variables and time.
    pub fn stored() -> Self {
        let mut globals = Self::new(DateTime::from_millis(0));
        Arc::make_mut(&mut globals.0).stored = true;
        globals
    }

    /// Whether `$$NOW` and `$$CLUSTER_TIME` have no value.
    pub fn is_timeless(&self) -> bool {
        self.0.stored
    }

    /// Adds a variable: the `let` of a command or of `$lookup`. A later one shadows an earlier one.
    #[must_use]
    pub fn with_variable(self, name: impl Into<String>, value: RawBson) -> Self {
        self.with_binding(name, Some(value))
    }

    /// Adds a variable that may be missing.
    #[must_use]
    pub fn with_binding(mut self, name: impl Into<String>, value: Option<RawBson>) -> Self {
        Arc::make_mut(&mut self.0)
            .variables
            .push((name.into(), value));
        self
    }

    /// The environment of a pipeline inside this one; fails if it is nested too deeply.
    pub fn inner_pipeline(mut self) -> Result<Self, ServerError> {
        let inner = Arc::make_mut(&mut self.0);
        inner.pipelines += 1;
        inner.shared = Arc::default();
        check_pipeline_depth(inner.pipelines)?;
        Ok(self)
    }

    /// How many pipelines enclose this one.
    pub fn pipeline_depth(&self) -> usize {
        self.0.pipelines
    }

    /// Sets the depth, for a view's pipeline that a pipeline of this depth reads.
    #[must_use]
    pub fn at_pipeline_depth(mut self, depth: usize) -> Self {
        Arc::make_mut(&mut self.0).pipelines = depth;
        self
    }

    /// Whether another pipeline encloses this one.
    pub fn is_inner_pipeline(&self) -> bool {
        self.0.pipelines > 0
    }

    /// Sets the collation of the operation, which comparisons of strings follow.
    #[must_use]
    pub fn with_collator(mut self, collator: Option<Collator>) -> Self {
        Arc::make_mut(&mut self.0).collator = collator;
        self
    }

    /// The collation, unless it is the simple one.
    pub fn collator(&self) -> Option<&Collator> {
        self.0.collator.as_ref()
    }

    /// Sets the version whose language the operation has.
    #[must_use]
    pub fn with_version(mut self, version: ServerVersion) -> Self {
        Arc::make_mut(&mut self.0).version = version;
        self
    }

    /// The version whose language the operation has.
    pub fn version(&self) -> ServerVersion {
        self.0.version
    }

    /// Holds the stages to mongod's memory limits (`allowDiskUse: false`).
    #[must_use]
    pub fn without_disk_use(mut self) -> Self {
        Arc::make_mut(&mut self.0).allows_disk_use = false;
        self
    }

    /// Whether a stage may exceed the memory limit beyond which mongod writes to its disk.
    pub fn allows_disk_use(&self) -> bool {
        self.0.allows_disk_use
    }

    /// Sets the source of bits for `$rand`.
    #[must_use]
    pub fn with_random(mut self, bits: Arc<dyn Fn() -> u64 + Send + Sync>) -> Self {
        Arc::make_mut(&mut self.0).random = Some(Random(bits));
        self
    }

    /// Sets what shuffles the lists whose order MongoDB leaves open.
    #[must_use]
    pub fn with_shuffle(mut self, shuffle: Option<Shuffle>) -> Self {
        Arc::make_mut(&mut self.0).shuffle = shuffle;
        self
    }

    /// What shuffles the lists whose order MongoDB leaves open.
    pub fn shuffle(&self) -> Option<&Shuffle> {
        self.0.shuffle.as_ref()
    }

    /// Sets the clock for the timestamps that writes generate.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<Clock>) -> Self {
        Arc::make_mut(&mut self.0).clock = Some(clock);
        self
    }

    /// A timestamp that no other write has received, for `$currentDate` and empty timestamps.
    pub fn unique_timestamp(&self) -> Timestamp {
        match &self.0.clock {
            Some(clock) => clock.tick(self.0.now),
            None => self.timestamp(),
        }
    }

    /// Declares that the sort keys of documents are known.
    #[must_use]
    pub fn with_sort_keys(mut self) -> Self {
        Arc::make_mut(&mut self.0).has_sort_keys = true;
        self
    }

    /// Random bits; `None` if the operation has no source.
    pub fn random(&self) -> Option<u64> {
        self.0.random.as_ref().map(|random| random.0())
    }

    /// A regular expression, compiled once for all documents.
    pub fn regex(&self, pattern: &str, options: &str) -> Result<Regex, ServerError> {
        let mut known = self
            .0
            .shared
            .regexes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = known
            .iter()
            .find(|regex| regex.pattern() == pattern && regex.options() == options);
        if let Some(regex) = found {
            return Ok(regex.clone());
        }
        let regex = Regex::new(pattern, options)?;
        if known.len() == MAX_REGEXES {
            known.remove(0);
        }
        known.push(regex.clone());
        Ok(regex)
    }

    /// The metadata of the current document, for `$meta`.
    pub fn known(&self) -> Known {
        self.0
            .shared
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// These globals for other documents, whose metadata is set apart.
    #[must_use]
    pub fn with_own_metadata(mut self) -> Self {
        Arc::make_mut(&mut self.0).shared = Arc::default();
        self
    }

    /// Sets the metadata of the next document, for `$meta`.
    pub fn set_known(&self, known: Known) {
        *self
            .0
            .shared
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// `$$NOW`.
    pub fn now(&self) -> DateTime {
        self.0.now
    }

    /// The operation's time as a timestamp: `$$CLUSTER_TIME`.
    pub fn timestamp(&self) -> Timestamp {
        let seconds = self.0.now.timestamp_millis().div_euclid(1_000);
        Timestamp {
            time: u32::try_from(seconds).unwrap_or_default(),
            increment: 1,
        }
    }

    /// The value of a variable by its name without `$$`; `None` if the name is unknown.
    pub fn variable(&self, name: &str) -> Option<Value<'_>> {
        self.0
            .variables
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_ref().map(RawBson::as_raw_bson_ref).into())
    }

    /// The names that expressions of this operation may use.
    pub fn scope(&self) -> Scope {
        Scope {
            is_stored: self.0.stored,
            // mongod does not optimize stored filters.
            is_as_written: self.0.stored,
            is_collated: self.0.collator.is_some(),
            has_plain_sets: false,
            has_sort_keys: self.0.has_sort_keys,
            sees_document: Arc::default(),
            version: self.0.version,
            names: self
                .0
                .variables
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }
}

/// The names of the variables that an expression may use; the parser refuses unknown names.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is about another side of the place where an expression stands"
)]
pub struct Scope {
    is_stored: bool,
    is_as_written: bool,
    is_collated: bool,
    has_plain_sets: bool,
    has_sort_keys: bool,
    sees_document: Arc<AtomicBool>,
    version: ServerVersion,
    names: Vec<String>,
}

impl Scope {
    /// Returns this scope with one more name.
    #[must_use]
    pub fn with(&self, name: impl Into<String>) -> Self {
        let mut scope = self.clone();
        scope.names.push(name.into());
        scope
    }

    /// The version whose operators the expression may use.
    pub fn version(&self) -> ServerVersion {
        self.version
    }

    /// This scope for an expression that is observed by itself: see [`sees_document`](Self::sees_document).
    #[must_use]
    pub fn apart(&self) -> Self {
        Self {
            sees_document: Arc::default(),
            ..self.clone()
        }
    }

    /// Whether strings are compared by a collation.
    pub fn is_collated(&self) -> bool {
        self.is_collated
    }

    /// Whether the expression is stored with a collection, as in a validator.
    pub fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// Declares that mongod runs these expressions as written, as it does in updates.
    #[must_use]
    pub fn unmoved(mut self) -> Self {
        self.is_as_written = true;
        self
    }

    /// Declares that mongod compares a constant set like any other in these expressions.
    #[must_use]
    pub fn with_plain_sets(mut self) -> Self {
        self.has_plain_sets = true;
        self
    }

    /// Whether the sort keys of documents are known.
    pub fn has_sort_keys(&self) -> bool {
        self.has_sort_keys
    }

    /// Whether a constant set is compared like any other.
    pub fn has_plain_sets(&self) -> bool {
        self.has_plain_sets
    }

    /// Whether nothing is folded or moved.
    pub fn is_as_written(&self) -> bool {
        self.is_as_written
    }

    /// Records that an expression reads the document.
    pub fn see_document(&self) {
        self.sees_document.store(true, Ordering::Relaxed);
    }

    /// Whether an expression of this scope reads the document.
    pub fn sees_document(&self) -> bool {
        self.sees_document.load(Ordering::Relaxed)
    }

    pub fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}
