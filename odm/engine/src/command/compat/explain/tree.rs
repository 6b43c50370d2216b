//! Prints plans as trees of stages: bare for `queryPlanner`, with the counters of each stage for `executionStats`.

use bson::{Bson, Document, doc};
use odm_language::matcher::Predicate;
use odm_language::value::key::Direction;

use crate::catalog::collection::Collection;
use crate::command::compat::explain::goal::{Goal, OuterStages};
use crate::command::compat::explain::show::{self, Sorted, small};
use crate::command::compat::explain::text;
use crate::cursor::exec::Stage;
use crate::cursor::trial::Tried;
use crate::index::spec::{Kind, number as number_of};
use crate::index::wildcard::PATH;
use crate::planner::access_path::AccessPath;
use crate::planner::conditions;
use crate::planner::interval::Interval;
use crate::planner::plan::{IndexScan, Node, Step};

/// The memory limit of a sort in mongod, in bytes.
const SORT_LIMIT: i32 = 104_857_600;

/// The context for describing stages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    pub(super) collection: &'a Collection,
    pub(super) filter: Option<&'a Predicate>,
    pub(super) around: &'a OuterStages<'a>,
}

pub(super) fn number(value: u64) -> Bson {
    small(i64::try_from(value).unwrap_or(i64::MAX))
}

impl Tree<'_> {
    /// A plan and, if it ran, the counters of its stages. Covers the stages that the engine runs; [`OuterStages`] covers the
    /// others.
    pub(super) fn stage(
        &self,
        node: &Node,
        ran: Option<&Stage>,
        filter: Option<&Predicate>,
    ) -> Document {
        let residual = self.residual(node, filter);
        // The text stage shows its own fetch, so a fetch above it is shown only if it tests a filter.
        if let (Step::Fetch { .. }, None, [input]) = (&node.step, &residual, node.inputs.as_slice())
            && matches!(input.step, Step::AccessPath(AccessPath::Text(_)))
        {
            return self.stage(input, ran.and_then(|ran| ran.inputs.first()), filter);
        }
        let mut shown = doc! { "stage": name(node, self.around) };
        if let Some(residual) = residual {
            shown.insert("filter", residual);
        }
        if let Some(ran) = ran {
            shown.extend(common(ran));
        }
        self.describe(node, ran, &mut shown);
        let branches = match (&node.step, filter) {
            (Step::Or | Step::Merge, Some(filter)) => alternatives(filter),
            _ => None,
        };
        let mut inputs = node.inputs.iter().enumerate().map(|(at, input)| {
            let own = input
                .branch
                .and_then(|branch| branches.as_ref()?.get(branch).copied())
                .or(filter);
            self.stage(input, ran.and_then(|ran| ran.inputs.get(at)), own)
        });
        match (&node.step, node.inputs.len()) {
            (Step::Or | Step::Merge, _) => {
                shown.insert("inputStages", inputs.collect::<Vec<_>>());
            }
            (_, 0) => {}
            _ => {
                if let Some(input) = inputs.next() {
                    shown.insert("inputStage", input);
                }
            }
        }
        shown
    }

    /// The part of the filter that a stage tests.
    fn residual(&self, node: &Node, filter: Option<&Predicate>) -> Option<Document> {
        let children = conditions::children(filter?);
        let mut sorted = Sorted::ByKind;
        let tested: Vec<&Predicate> = match &node.step {
            Step::Records { .. } => {
                return Some(show::filter(filter?)).filter(|shown| !shown.is_empty());
            }
            Step::Fetch { answered, .. } => {
                let mut tested: Vec<&Predicate> = children
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| !answered.contains(at))
                    .map(|(_, child)| *child)
                    .collect();
                // Above an index scan, mongod sorts conditions on indexed paths first, and then by path.
                if node.is_narrowed() {
                    sorted = Sorted::ByPath;
                    tested.sort_by(|one, other| one.compare_by_path(other));
                    tested.sort_by_key(|child| !self.is_bounding(node, child.rank().1));
                }
                tested
            }
            Step::Index(scan) => scan
                .tested
                .iter()
                .filter_map(|child| children.get(*child).copied())
                .collect(),
            _ => Vec::new(),
        };
        (!tested.is_empty()).then(|| show::all(&tested, sorted))
    }

    /// Whether the index below a stage can have bounds at a path.
    fn is_bounding(&self, node: &Node, path: &str) -> bool {
        match (&node.step, node.inputs.as_slice()) {
            (Step::Index(scan), _) => {
                let is_whole =
                    (self.collection.index(&scan.name)).is_some_and(|it| !it.arrays.has(path));
                is_whole && self.fields(scan).iter().any(|(own, _)| *own == path)
            }
            (Step::Or, _) => false,
            (_, inputs) => inputs
                .first()
                .is_some_and(|input| self.is_bounding(input, path)),
        }
    }

    fn describe(&self, node: &Node, ran: Option<&Stage>, shown: &mut Document) {
        let counters = ran.map(|ran| &ran.counters);
        match &node.step {
            Step::Nothing => {}
            Step::AccessPath(AccessPath::Text(scan)) => {
                shown.extend(text::described(self.collection, scan));
            }
            Step::AccessPath(AccessPath::Near(plan)) => {
                if let Some(index) = self.collection.index(&plan.scan.name) {
                    shown.insert("keyPattern", index.spec.key.clone());
                    shown.insert("indexName", &index.spec.name);
                    shown.insert("indexVersion", 2);
                }
                if let Some(counters) = counters {
                    shown.insert("keysExamined", number(counters.keys));
                    shown.insert("docsExamined", number(counters.docs));
                }
            }
            Step::Records { backwards } => {
                shown.insert("direction", direction(*backwards));
                if let Some(counters) = counters {
                    shown.insert("docsExamined", number(counters.docs));
                }
            }
            Step::ById(_) => {
                if let Some(counters) = counters {
                    shown.insert("keysExamined", number(counters.keys));
                    shown.insert("docsExamined", number(counters.docs));
                }
            }
            Step::Index(scan) => {
                self.index(scan, shown);
                shown.insert("direction", direction(scan.backwards));
                shown.insert("indexBounds", self.bounds(scan));
                if let Some(counters) = counters {
                    shown.insert("keysExamined", number(counters.keys));
                }
                if let Some(counters) = counters.filter(|_| scan.distinct.is_none()) {
                    shown.insert("seeks", number(counters.seeks));
                    shown.insert("dupsTested", number(counters.dups_tested));
                    shown.insert("dupsDropped", number(counters.dups_dropped));
                }
            }
            Step::CountIndex(scan) => {
                if let Some(counters) = counters {
                    shown.insert("keysExamined", number(counters.keys));
                }
                self.index(scan, shown);
                shown.insert("indexBounds", self.ends(scan));
            }
            Step::Fetch { .. } => {
                if let Some(counters) = counters {
                    shown.insert("docsExamined", number(counters.docs));
                    shown.insert("alreadyHasObj", number(counters.already_fetched));
                }
            }
            Step::Or | Step::Merge => {
                if matches!(node.step, Step::Merge) {
                    shown.insert("sortPattern", self.around.sort.clone().unwrap_or_default());
                }
                if let Some(counters) = counters {
                    shown.insert("dupsTested", number(counters.dups_tested));
                    shown.insert("dupsDropped", number(counters.dups_dropped));
                }
            }
            Step::Sort { limit } => {
                shown.insert("sortPattern", self.around.sort.clone().unwrap_or_default());
                shown.insert("memLimit", SORT_LIMIT);
                if let Some(limit) = limit {
                    shown.insert("limitAmount", number(*limit));
                }
                // A simple sort drops the documents' record ids, which an update or delete needs.
                let simple = matches!(self.around.goal, Goal::Read | Goal::Count { .. });
                shown.insert("type", if simple { "simple" } else { "default" });
                if let Some(counters) = counters {
                    shown.insert("totalDataSizeSorted", number(counters.sorted_bytes));
                    shown.insert("usedDisk", false);
                    shown.insert("spills", 0);
                }
            }
            Step::Skip(count) => {
                // mongod counts `skipAmount` down while the plan runs.
                let left = ran.map_or(*count, |ran| count.saturating_sub(ran.counters.skipped));
                shown.insert("skipAmount", number(left));
            }
            Step::Limit(count) => {
                shown.insert("limitAmount", number(*count));
            }
            Step::Project => {
                shown.insert("transformBy", self.around.projected());
            }
        }
    }

    fn index(&self, scan: &IndexScan, shown: &mut Document) {
        let Some(index) = self.collection.index(&scan.name) else {
            return;
        };
        let spec = &index.spec;
        let mut arrays = Document::new();
        let places = |path: &str| index.arrays.on(path).map(str::to_owned).collect::<Vec<_>>();
        let (key, multikey) = if let Some(path) = &scan.path {
            arrays.insert(PATH, Vec::<String>::new());
            arrays.insert(path, places(path));
            let mut key = doc! { PATH: 1 };
            key.insert(path, 1);
            (key, index.arrays.has(path))
        } else {
            for path in &spec.paths {
                arrays.insert(path.as_str(), places(path.as_str()));
            }
            (spec.key.clone(), index.multikey())
        };
        shown.insert("keyPattern", key);
        shown.insert("indexName", &spec.name);
        if let Some(collation) = &spec.collation {
            shown.insert("collation", collation.document());
        }
        shown.insert("isMultiKey", multikey);
        if spec.kind != Kind::Text && spec.parts.iter().all(|part| !part.hashed) {
            shown.insert("multiKeyPaths", arrays);
        }
        shown.insert("isUnique", spec.unique);
        shown.insert("isSparse", spec.sparse);
        shown.insert("isPartial", spec.partial.is_some());
        shown.insert("indexVersion", 2);
    }

    /// The names of the indexed fields, and whether the scan reads each in descending order.
    fn fields<'s>(&'s self, scan: &'s IndexScan) -> Vec<(&'s str, bool)> {
        match (&scan.path, self.collection.index(&scan.name)) {
            (Some(path), _) => vec![(PATH, scan.backwards), (path, scan.backwards)],
            (None, Some(index)) => index
                .spec
                .paths
                .iter()
                .zip(&index.spec.parts)
                .map(|(path, part)| {
                    let descending = part.direction == Direction::Descending;
                    (path.as_str(), descending != scan.backwards)
                })
                .collect(),
            (None, None) => Vec::new(),
        }
    }

    fn bounds(&self, scan: &IndexScan) -> Document {
        let mut bounds = Document::new();
        if scan.limits.is_some() {
            return bounds;
        }
        if let Some(index) = self.collection.index(&scan.name)
            && index.spec.kind == Kind::Text
        {
            // A text index is scanned as a whole. Its bounds use the names of its stored key.
            let fields = index.spec.key.iter();
            let whole = |value| Interval::all().show(number_of(value).is_some_and(|way| way < 0.0));
            return fields
                .map(|(name, value)| (name.clone(), Bson::from(vec![whole(value)])))
                .collect();
        }
        for ((path, descends), intervals) in self.fields(scan).into_iter().zip(&scan.fields) {
            let mut shown: Vec<String> = intervals
                .iter()
                .map(|interval| interval.show(descends))
                .collect();
            if descends {
                shown.reverse();
            }
            bounds.insert(path, shown);
        }
        bounds
    }

    /// The first and the last key of a `COUNT_SCAN`.
    fn ends(&self, scan: &IndexScan) -> Document {
        let (mut start, mut end) = (Document::new(), Document::new());
        let (mut from_inclusive, mut to_inclusive) = (true, true);
        for ((path, descends), intervals) in self.fields(scan).into_iter().zip(&scan.fields) {
            let Some(interval) = intervals.first() else {
                continue;
            };
            let (from, to) = interval.ends(descends);
            start.insert(
                path,
                if from_inclusive {
                    from.value()
                } else {
                    Bson::MaxKey
                },
            );
            end.insert(
                path,
                if to_inclusive {
                    to.value()
                } else {
                    Bson::MinKey
                },
            );
            from_inclusive &= from.inclusive;
            to_inclusive &= to.inclusive;
        }
        doc! {
            "startKey": start,
            "startKeyInclusive": from_inclusive,
            "endKey": end,
            "endKeyInclusive": to_inclusive,
        }
    }

    /// The execution statistics of one candidate plan in the trial.
    pub(super) fn trial(&self, plan: &Tried) -> Document {
        let stage = &plan.execution.root;
        let (keys, docs) = plan.execution.examined();
        doc! {
            "nReturned": number(stage.counters.advanced),
            "executionTimeMillisEstimate": 0,
            "totalKeysExamined": number(keys),
            "totalDocsExamined": number(docs),
            "score": plan.score,
            "executionStages": self.stage(&plan.node, Some(stage), self.filter),
        }
    }
}

/// The counters that every stage has.
pub(super) fn common(ran: &Stage) -> Document {
    let counters = &ran.counters;
    doc! {
        "nReturned": number(counters.advanced),
        "executionTimeMillisEstimate": 0,
        "works": number(counters.works),
        "advanced": number(counters.advanced),
        "needTime": number(counters.need_time),
        "needYield": 0,
        "saveState": 0,
        "restoreState": 0,
        "isEOF": i32::from(ran.is_at_end()),
    }
}

fn alternatives(filter: &Predicate) -> Option<Vec<&Predicate>> {
    conditions::children(filter)
        .into_iter()
        .find_map(|child| match child {
            Predicate::Or(group) => Some(group.evaluated().collect()),
            _ => None,
        })
}

fn name(node: &Node, around: &OuterStages<'_>) -> &'static str {
    match &node.step {
        Step::Nothing => "EOF",
        Step::Records { .. } => "COLLSCAN",
        Step::ById(_) => "IDHACK",
        Step::Index(scan) if scan.distinct.is_some() => "DISTINCT_SCAN",
        Step::Index(_) => "IXSCAN",
        Step::CountIndex(_) => "COUNT_SCAN",
        Step::AccessPath(special) => special.stage(),
        Step::Fetch { .. } => "FETCH",
        Step::Or => "OR",
        Step::Merge => "SORT_MERGE",
        Step::Sort { .. } => "SORT",
        Step::Skip(_) => "SKIP",
        Step::Limit(_) => "LIMIT",
        Step::Project
            if node.any(&|step| matches!(step, Step::Index(IndexScan { covers: true, .. }))) =>
        {
            if around.is_simple() {
                "PROJECTION_COVERED"
            } else {
                "PROJECTION_DEFAULT"
            }
        }
        Step::Project if around.is_simple() => "PROJECTION_SIMPLE",
        Step::Project => "PROJECTION_DEFAULT",
    }
}

fn direction(backwards: bool) -> &'static str {
    if backwards { "backward" } else { "forward" }
}
