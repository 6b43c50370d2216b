//! A query: planned once, then run over a snapshot.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use bson::DateTime;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::expression::meta::{self, Known};
use odm_language::matcher::Matcher;
use odm_language::shuffle::Shuffle;
use odm_language::value::collation::Collator;
use odm_language::value::key::{Direction, check_parts};
use odm_language::value::number::Number;
use odm_language::value::path::Path;
use odm_language::value::raw;

use crate::catalog::collection::{Collection, Version, document};
use crate::catalog::text_scan::text_scores;
use crate::context::Context;
use crate::cursor::exec::{Execution, Row, Shared, SortMemory};
use crate::cursor::shuffled::{self, Shuffled};
use crate::cursor::sort::{Order, Sort};
use crate::cursor::tally::Tally;
use crate::cursor::trial::{self, Tried};
use crate::pipeline::memory;
use crate::pipeline::sort::ScoredBy;
use crate::planner::access_path::{self, text::TextScan};
use crate::planner::plan::{Node, Step};
use crate::planner::requirements::{Distinct, Requirements};
use crate::planner::{self, compat::exclusive_options};

/// The time by which an operation must end. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    context: Option<Context>,
    /// In milliseconds since the epoch.
    at: Option<Arc<AtomicI64>>,
    /// Becomes true when the operation is interrupted.
    interrupt: Option<Arc<AtomicBool>>,
    /// The units of work since the last check of the clock.
    units: u64,
    /// The profiler's counters of examined keys and documents.
    tally: Option<Arc<Tally>>,
}

impl Deadline {
    /// The units of work between two checks of the clock.
    pub(crate) const UNITS: u64 = 256;

    /// `max_time` after the command began; never, if `max_time` is `None`.
    pub(crate) fn new(context: &Context, began: DateTime, max_time: Option<Duration>) -> Self {
        let at = max_time.map(|limit| {
            let millis = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
            began.timestamp_millis().saturating_add(millis)
        });
        Self {
            context: at.map(|_| context.clone()),
            at: at.map(|at| Arc::new(AtomicI64::new(at))),
            interrupt: context.interrupt().map(Arc::clone),
            units: 0,
            tally: None,
        }
    }

    /// No limit.
    pub(crate) fn none() -> Self {
        Self {
            context: None,
            at: None,
            interrupt: None,
            units: 0,
            tally: None,
        }
    }

    /// This deadline with the profiler's counters.
    #[must_use]
    pub(crate) fn tallied(mut self, tally: Option<Arc<Tally>>) -> Self {
        self.tally = tally;
        self
    }

    pub(crate) fn tally(&self) -> Option<&Arc<Tally>> {
        self.tally.as_ref()
    }

    /// Moves the limit, which clones share, by the milliseconds that nobody worked.
    pub(crate) fn postpone(&self, millis: i64) {
        if let Some(at) = &self.at {
            let later = at.load(Ordering::Relaxed).saturating_add(millis);
            at.store(later, Ordering::Relaxed);
        }
    }

    /// Whether there is a limit.
    pub(crate) fn is_some(&self) -> bool {
        self.at.is_some()
    }

    /// Counts `units` of work, and checks the interrupt and the clock after every [`UNITS`](Self::UNITS).
    pub(crate) fn check(&mut self, units: u64) -> Result<(), ServerError> {
        if self.at.is_none() && self.interrupt.is_none() {
            return Ok(());
        }
        self.units += units;
        if self.units < Self::UNITS {
            return Ok(());
        }
        self.units = 0;
        if let Some(interrupt) = &self.interrupt
            && interrupt.load(Ordering::Relaxed)
        {
            return Err(interrupted());
        }
        if let (Some(at), Some(context)) = (&self.at, &self.context)
            && context.now().timestamp_millis() > at.load(Ordering::Relaxed)
        {
            return Err(ServerError::new(
                Code::MAX_TIME_MS_EXPIRED,
                "operation exceeded time limit",
            ));
        }
        Ok(())
    }
}

/// The error of an interrupted operation.
pub fn interrupted() -> ServerError {
    ServerError::new(Code::INTERRUPTED, "operation was interrupted")
}

/// The parts of a query.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) filter: Option<&'a RawDocument>,
    pub(crate) sort: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) globals: Globals,
    pub(crate) shape: QueryOutput<'a>,
}

/// The shape of the results, as far as it affects the plan.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a command asks for each on its own"
)]
pub(crate) struct QueryOutput<'a> {
    pub(crate) projection: Option<&'a RawDocument>,
    /// The paths that the caller reads, if it has no projection.
    pub(crate) made_of: Option<&'a [Path]>,
    /// The paths that a sort keeps, if it has no projection and keeps less than the whole document.
    pub(crate) sorted: Option<&'a [Path]>,
    /// One document is enough of those with the same value at a path.
    pub(crate) distinct: Option<Distinct<'a>>,
    /// Only the number of results is needed.
    pub(crate) counts: bool,
    pub(crate) min: Option<&'a RawDocument>,
    pub(crate) max: Option<&'a RawDocument>,
    /// The query returns the scores of `$text`.
    pub(crate) scored: bool,
    /// The query returns the index keys by which records are found (`returnKey`).
    pub(crate) keyed: bool,
    /// The cursor is tailable.
    pub(crate) tailable: bool,
}

impl QueryOutput<'_> {
    /// The paths of the results, if these are known and the projection is a plain inclusion.
    pub(crate) fn made_of(&self) -> Option<Vec<Path>> {
        if self.counts {
            return Some(Vec::new());
        }
        if let Some(paths) = self.made_of {
            return Some(paths.to_vec());
        }
        let mut id = true;
        let mut paths = Vec::new();
        for (name, value) in raw::elements(self.projection?) {
            let keeps = match value {
                RawBsonRef::Boolean(keeps) => keeps,
                value => Number::from_raw(value)?.to_f64() != 0.0,
            };
            if name == "_id" {
                id = keeps;
            } else if keeps && !name.ends_with(".$") {
                paths.push(Path::new(name));
            } else {
                return None;
            }
        }
        if id {
            paths.push(Path::new("_id"));
        }
        (!paths.is_empty()).then_some(paths)
    }
}

/// A query with its candidate plans.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) matcher: Option<Arc<Matcher>>,
    /// The candidate plans; a trial chooses among several.
    pub(crate) plans: Vec<Node>,
    pub(crate) sort: Option<Arc<Sort>>,
    /// The text scan of the filter's `$text`, if its scores are needed.
    text: Option<Arc<TextScan>>,
    skip: u64,
    /// The limit plus the skip.
    limit: Option<u64>,
    /// Set if the order of the results is open; the plans then skip and limit nothing.
    shuffle: Option<Shuffle>,
    collation: Option<Collator>,
    made_of: Option<Arc<[Path]>>,
    memory: Option<SortMemory>,
    keyed: bool,
}

impl Query<'_> {
    /// The parsed filter, unless it is empty. Refuses an invalid filter, and options that do not fit it.
    pub(crate) fn matcher(
        &self,
        collection: Option<&Collection>,
    ) -> Result<Option<Matcher>, ServerError> {
        let matcher = match self.filter {
            Some(filter) if !filter.is_empty() => {
                let mut matcher = Matcher::parse_query(filter, &self.globals)?;
                matcher
                    .bind_text(collection.and_then(Collection::text_fields))
                    .map_err(|error| match collection {
                        None if error.code() == Code::INDEX_NOT_FOUND => missing(&error),
                        _ => error,
                    })?;
                matcher.check_constants(&self.globals)?;
                matcher.compare_fields();
                Some(matcher)
            }
            _ => None,
        };
        exclusive_options::check(&exclusive_options::Parts {
            filter: matcher.as_ref().map(Matcher::predicate),
            sort: self.sort,
            hint: self.hint,
            tailable: self.shape.tailable,
        })?;
        Ok(matcher)
    }

    /// Checks the filter and the sort, and finds plans. Without a collection, only the checks matter.
    pub(crate) fn prepare(&self, collection: Option<&Collection>) -> Result<Prepared, ServerError> {
        self.prepare_shuffled(collection, self.globals.shuffle())
    }

    /// Like [`prepare`](Self::prepare), for `explain`: the plans are those of a store that shuffles nothing.
    pub(crate) fn prepare_to_explain(
        &self,
        collection: Option<&Collection>,
    ) -> Result<Prepared, ServerError> {
        self.prepare_shuffled(collection, None)
    }

    /// Whether MongoDB leaves the order of the results open, at least among equal sort keys.
    fn is_open(&self, order: &Order, matcher: Option<&Matcher>, collection: &Collection) -> bool {
        let is_natural = |hint| matches!(hint, RawBsonRef::Document(hint) if raw::get(hint, "$natural").is_some());
        if self.shape.counts || self.shape.tailable || self.hint.is_some_and(is_natural) {
            return false;
        }
        match order {
            Order::Natural { .. } => false,
            Order::Fields(_) => true,
            // A capped collection keeps the order of insertion, and `$near` sorts by distance.
            Order::None => {
                let near = matcher.map(|matcher| matcher.predicate().near());
                collection.options.capped.is_none() && !matches!(near, Some(Ok(Some(_))))
            }
        }
    }

    /// How the memory of a sort is counted, if it is limited.
    fn sort_memory(&self, order: &Order) -> Option<SortMemory> {
        let Order::Fields(sort) = order else {
            return None;
        };
        let kept = match self.shape.sorted {
            Some(paths) => Some(paths.to_vec()),
            None => self.shape.made_of().filter(|paths| !paths.is_empty()),
        };
        let fields = kept.map(|mut paths| {
            paths.extend_from_slice(&sort.paths);
            memory::top_level(paths.iter().map(Path::as_str)).into()
        });
        (!self.globals.allows_disk_use()).then_some(SortMemory { fields })
    }

    fn prepare_shuffled(
        &self,
        collection: Option<&Collection>,
        shuffle: Option<&Shuffle>,
    ) -> Result<Prepared, ServerError> {
        let matcher = self.matcher(collection)?.map(Arc::new);
        let order = Order::parse(self.sort)?;
        let sorts_by_score = matches!(&order, Order::Fields(sort) if !sort.scores.is_empty());
        let has_text = matcher
            .as_deref()
            .is_some_and(|matcher| matcher.text().is_some());
        if let (Order::Fields(sort), true) = (&order, sorts_by_score) {
            match sort.scored_by {
                ScoredBy::Text if has_text => {}
                ScoredBy::Text => return Err(meta::unavailable()),
                ScoredBy::Distance => check_distance(
                    self.sort.unwrap_or_else(|| raw::empty_document()),
                    matcher.as_deref(),
                )?,
            }
        }
        let mut prepared = Prepared {
            matcher,
            text: None,
            plans: vec![Node::leaf(Step::Nothing)],
            sort: match &order {
                Order::Fields(sort) => Some(Arc::new(sort.clone())),
                Order::None | Order::Natural { .. } => None,
            },
            skip: self.skip,
            limit: self.limit.map(|limit| limit.saturating_add(self.skip)),
            collation: self.globals.collator().cloned(),
            made_of: self.shape.made_of().map(Into::into),
            memory: self.sort_memory(&order),
            keyed: self.shape.keyed,
            shuffle: None,
        };
        let Some(collection) = collection else {
            return Ok(prepared);
        };
        prepared.shuffle = shuffle
            .filter(|_| self.is_open(&order, prepared.matcher.as_deref(), collection))
            .cloned();
        let mut pick = |plans: Vec<Node>| {
            let collection = Version::new(collection.clone());
            let order = plans.clone();
            let tried = prepared.tried(plans, &collection, &Deadline::none(), None)?;
            let best = tried.first().map(|tried| &tried.node);
            Ok(order
                .iter()
                .position(|plan| Some(plan) == best)
                .unwrap_or(0))
        };
        // No index has a field of this name, so no index provides the order.
        let by_score = (vec![Path::new("$meta")], vec![Direction::Descending]);
        let requirements = Requirements {
            filter: prepared.matcher.as_deref().map(Matcher::predicate),
            sort: prepared.sort.as_ref().map(|sort| {
                if sorts_by_score {
                    (by_score.0.as_slice(), by_score.1.as_slice())
                } else {
                    (sort.paths.as_slice(), sort.directions.as_slice())
                }
            }),
            natural: match order {
                Order::Natural { backwards } => Some(backwards),
                Order::None | Order::Fields(_) => None,
            },
            hint: self.hint,
            collation: prepared.collation.as_ref(),
            skip: if prepared.shuffle.is_some() {
                0
            } else {
                self.skip
            },
            limit: self.limit.filter(|_| prepared.shuffle.is_none()),
            min: self.shape.min,
            max: self.shape.max,
            made_of: prepared.made_of.as_deref(),
            projects: self.shape.projection.is_some(),
            distinct: self.shape.distinct,
            counts: self.shape.counts,
            scored: has_text && (sorts_by_score || self.shape.scored),
        };
        let plans = planner::plan(&collection.indexes, &requirements, &mut pick)?;
        let sorts = |step: &Step| matches!(step, Step::Sort { .. });
        if let Some(sort) = &prepared.sort
            && plans.iter().any(|plan| plan.any(&sorts))
        {
            check_parts(sort.paths.len())?;
        }
        let text = access_path::text::scan(&collection.indexes, &requirements)?;
        prepared.text = text.filter(|text| text.scored).map(Arc::new);
        prepared.plans = plans;
        Ok(prepared)
    }
}

impl Prepared {
    fn execution(&self, node: &Node, collection: Version, deadline: Deadline) -> Execution {
        let behind_index = self
            .matcher
            .as_deref()
            .filter(|_| node.is_bounded())
            .and_then(Matcher::behind_index);
        let shared = Shared {
            matcher: self.matcher.clone(),
            behind_index: behind_index.map(Arc::new),
            sort: self.sort.clone(),
            collation: self.collation.clone(),
            made_of: self.made_of.clone(),
            memory: self.memory.clone(),
            scores: self
                .text
                .as_ref()
                .map(|text| Arc::new(text_scores(&collection, text))),
            near: node.near().cloned().map(Arc::new),
            collection,
            keys: self.keyed.then(Arc::default),
        };
        Execution::new(node, shared, deadline)
    }

    /// Tries plans and returns them with the best first.
    fn tried(
        &self,
        mut plans: Vec<Node>,
        collection: &Version,
        deadline: &Deadline,
        limit: Option<u64>,
    ) -> Result<Vec<Tried>, ServerError> {
        // The first of equally productive plans is taken.
        if let Some(shuffle) = &self.shuffle {
            shuffle.shuffle(&mut plans);
        }
        let plans = plans
            .into_iter()
            .map(|node| {
                let execution = self.execution(&node, Version::clone(collection), deadline.clone());
                (node, execution)
            })
            .collect();
        trial::run(plans, collection.len(), limit)
    }

    /// Tries the candidates and returns them with the best first. A single plan needs no trial.
    pub(crate) fn decide(
        &self,
        collection: &Version,
        deadline: &Deadline,
    ) -> Result<Vec<Tried>, ServerError> {
        if let [only] = self.plans.as_slice() {
            let execution = self.execution(only, Version::clone(collection), deadline.clone());
            return Ok(vec![Tried::untried(only.clone(), execution)]);
        }
        self.tried(self.plans.clone(), collection, deadline, self.limit)
    }

    /// Whether every plan scans the collection.
    pub(crate) fn is_scan(&self) -> bool {
        let scans = |plan: &Node| plan.any(&|step| matches!(step, Step::Records { .. }));
        self.plans.iter().all(scans)
    }

    /// Replaces the chosen plans with a collection scan.
    pub(crate) fn use_no_index(&mut self) {
        let natural = |step: &Step| matches!(step, Step::Records { .. } | Step::Nothing);
        if self.plans.iter().any(|plan| plan.any(&natural)) {
            return;
        }
        let mut node = Node::leaf(Step::Records { backwards: false });
        if self.skip > 0 {
            node = node.under(Step::Skip(self.skip));
        }
        if let Some(limit) = self.limit {
            node = node.under(Step::Limit(limit.saturating_sub(self.skip)));
        }
        self.plans = vec![node];
    }

    /// Starts the query on a snapshot.
    pub(crate) fn run(self, collection: Version, deadline: Deadline) -> Result<Found, ServerError> {
        let Some(shuffle) = self.shuffle.clone() else {
            return self.run_in_order(collection, deadline);
        };
        let order = shuffled::Requested {
            sort: self.sort.clone(),
            collation: self.collation.clone(),
            skip: self.skip,
            limit: self.limit,
            shuffle,
        };
        let mut found = self.run_in_order(Version::clone(&collection), deadline)?;
        found.shuffled = Some(order.read(&mut found, &collection)?);
        Ok(found)
    }

    fn run_in_order(self, collection: Version, deadline: Deadline) -> Result<Found, ServerError> {
        if let [only] = self.plans.as_slice() {
            count_use(only, &collection);
            if let Some(tally) = deadline.tally() {
                tally.plan(only, &collection);
            }
            return Ok(Found {
                ready: VecDeque::new(),
                execution: self.execution(only, collection, deadline),
                shuffled: None,
            });
        }
        // The trial of the other plans does not count.
        let untallied = deadline.clone().tallied(None);
        let mut best = self.decide(&collection, &untallied)?.into_iter().next();
        if let Some(best) = &mut best {
            count_use(&best.node, &collection);
            if let Some(tally) = deadline.tally() {
                tally.plan(&best.node, &collection);
                tally.add(best.execution.examined());
            }
            best.execution.deadline = deadline;
        }
        best.map(Found::from)
            .ok_or_else(|| ServerError::new(Code::INTERNAL_ERROR, "the planner found no plan"))
    }
}

/// Counts the use of a plan's indexes, or a collection scan.
fn count_use(plan: &Node, collection: &Collection) {
    if plan.any(&|step| matches!(step, Step::Records { .. })) {
        collection
            .shared
            .scans
            .total
            .fetch_add(1, Ordering::Relaxed);
    }
    for index in &collection.indexes {
        if plan.any(&|step| step.index() == Some(&*index.spec.name)) {
            index.spec.uses.add();
        }
    }
}

/// The matching records, in order.
#[derive(Debug)]
pub(crate) struct Found {
    /// The results of the trial.
    ready: VecDeque<Row>,
    pub(crate) execution: Execution,
    /// All results, if they were shuffled.
    shuffled: Option<Shuffled>,
}

impl From<Tried> for Found {
    fn from(tried: Tried) -> Self {
        Self {
            ready: tried.rows,
            execution: tried.execution,
            shuffled: None,
        }
    }
}

impl Found {
    /// The metadata of a found record.
    pub(crate) fn known(&self, row: &Row) -> Known {
        self.execution.known(row)
    }

    /// The key by which a record was found, if the query returns keys.
    pub(crate) fn key_of(&self, row: &Row) -> Result<Option<RawDocumentBuf>, ServerError> {
        self.execution.key_of(row)
    }

    /// Whether text scores are known.
    pub(crate) fn is_scored(&self) -> bool {
        self.execution.is_scored()
    }

    /// Continues in a newer version of the collection, for tailable cursors.
    pub(crate) fn resume(&mut self, collection: Version) -> Result<(), ServerError> {
        self.execution.resume(collection)
    }

    /// Whether there is a position to continue from.
    pub(crate) fn has_place(&self) -> bool {
        self.execution.root.has_place()
    }

    /// Whether the end is known without further work.
    pub(crate) fn is_at_end(&self) -> bool {
        if let Some(shuffled) = &self.shuffled {
            return shuffled.is_at_end();
        }
        // In MongoDB a sort applies the limit itself, and only knows its end after a request for one more row.
        self.ready.is_empty() && self.execution.root.is_exhausted()
    }
}

impl Iterator for Found {
    type Item = Result<Row, ServerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(shuffled) = &mut self.shuffled {
            return shuffled.next();
        }
        match self.ready.pop_front() {
            Some(row) => Some(Ok(row)),
            None => self.execution.next(),
        }
    }
}

/// Refuses a distance in a sort or a projection if the query has no `$near`.
pub(crate) fn check_distance(
    asking: &RawDocument,
    matcher: Option<&Matcher>,
) -> Result<(), ServerError> {
    let Some(error) = meta::lacks_distance(RawBsonRef::Document(asking)) else {
        return Ok(());
    };
    let near = matcher.map(|matcher| matcher.predicate().near());
    match near.transpose()? {
        Some(Some(_)) => Ok(()),
        _ => Err(error),
    }
}

/// The suffix of a missing-index error if the collection does not exist. Its name is not known here.
pub(crate) const NO_COLLECTION: &str = " (no such collection)";

fn missing(error: &ServerError) -> ServerError {
    ServerError::new(error.code(), format!("{}{NO_COLLECTION}", error.message()))
}

/// A record's bytes as an owned document.
pub(crate) fn owned(bytes: &[u8]) -> RawDocumentBuf {
    document(bytes).map_or_else(RawDocumentBuf::new, RawDocument::to_owned)
}
