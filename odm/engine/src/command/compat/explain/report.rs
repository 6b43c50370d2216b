//! The reply of `explain`: the plans, and what running the winning plan examines.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::{Matcher, Predicate};

use crate::catalog::collection::{Collection, Version, document};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::command::compat::canonical_query::explain_hint;
use crate::command::invocation::Invocation;
use crate::cursor::exec::Work;
use crate::cursor::query::{Found, Query, QueryOutput};
use crate::cursor::trial::Tried;
use crate::planner::plan::{Node, Step};

use super::explained::{Explained, Verbosity};
use super::goal::{Goal, OuterStages};
use super::tree::{Tree, common, number};
use super::{show, size};

pub(crate) fn one<'a>(statements: &[&'a RawDocument]) -> Result<&'a RawDocument, ServerError> {
    match statements {
        [statement] => Ok(statement),
        _ => Err(ServerError::new(
            Code::INVALID_LENGTH,
            "explained write batches must be of size 1",
        )),
    }
}

pub(crate) fn plain<'a>(
    call: &Invocation<'_>,
    namespace: &Namespace,
    filter: Option<&'a RawDocument>,
    collation: Option<&RawDocument>,
) -> Result<Query<'a>, ServerError> {
    let collection = call.find_collection(namespace);
    Ok(Query {
        filter,
        sort: None,
        hint: None,
        skip: 0,
        limit: None,
        globals: call.globals(collation, None, collection.as_deref())?,
        shape: QueryOutput::default(),
    })
}

/// The reply of a command that is one query.
pub(crate) fn answer(
    call: &Invocation<'_>,
    explained: &Explained<'_>,
    namespace: &Namespace,
    query: &Query<'_>,
    around: &OuterStages<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let mut fields = doc! { "explainVersion": "1" };
    fields.extend(planned(call, explained, namespace, query, around)?.fields);
    size::limited(fields, explained.command, call.database)
}

/// An explained query.
#[derive(Debug)]
pub(crate) struct PlannedQuery {
    /// The plans, and what running the winning plan examined.
    pub(crate) fields: Document,
    /// Whether the plan seeks from one value of an index to the next.
    pub(crate) is_distinct: bool,
}

pub(crate) fn planned(
    call: &Invocation<'_>,
    explained: &Explained<'_>,
    namespace: &Namespace,
    query: &Query<'_>,
    around: &OuterStages<'_>,
) -> Result<PlannedQuery, ServerError> {
    let collection = call.find_collection(namespace);
    let prepared = query
        .prepare_to_explain(collection.as_deref())
        .map_err(|error| explain_hint(error, namespace, explained.args))?;
    let collection = collection.unwrap_or_else(|| {
        Version::new(Collection::new(
            namespace.clone(),
            [0; 16],
            Options::none(),
            Vec::new(),
        ))
    });
    let matcher = prepared.matcher.clone();
    let tree = Tree {
        collection: &collection,
        filter: matcher.as_deref().map(Matcher::predicate),
        around,
    };
    let mut tried = prepared.decide(&collection, &call.deadline())?.into_iter();
    let Some(winner) = tried.next() else {
        return Err(ServerError::new(
            Code::INTERNAL_ERROR,
            "the planner found no plan",
        ));
    };
    let rejected: Vec<Tried> = tried.collect();
    let whole = ExplainedPlan {
        tree,
        subplanned: query.hint.is_none()
            && query.shape.min.is_none()
            && query.shape.max.is_none()
            && !winner.node.is_distinct()
            && tree.filter.is_some_and(is_disjunction),
        fast: query.shape.counts
            && tree.filter.is_none()
            && query.hint.is_none()
            && !matches!(winner.node.step, Step::Nothing),
    };
    let mut planner = doc! {
        "namespace": namespace.to_string(),
        "indexFilterSet": false,
    };
    if !whole.fast && !whole.writes_nothing(&winner.node) {
        planner.insert(
            "parsedQuery",
            tree.filter.map(show::filter).unwrap_or_default(),
        );
        if let Some(collation) = query.globals.collator() {
            planner.insert("collation", collation.document());
        }
    }
    if around.is_pipeline {
        planner.insert("optimizedPipeline", true);
    }
    let is_distinct = winner.node.is_distinct();
    planner.extend(doc! {
        "maxIndexedOrSolutionsReached": false,
        "maxIndexedAndSolutionsReached": false,
        "maxScansToExplodeReached": false,
        "winningPlan": whole.plan(&winner.node),
        "rejectedPlans": rejected
            .iter()
            .map(|plan| whole.plan(&plan.node))
            .collect::<Vec<_>>(),
    });
    let mut fields = doc! { "queryPlanner": planner };
    if explained.verbosity != Verbosity::Planner {
        let mut trials = Vec::new();
        if !rejected.is_empty() {
            for plan in std::iter::once(&winner).chain(&rejected) {
                trials.push(tree.trial(plan));
            }
        }
        let mut executed = whole.execute(winner)?;
        if let (Ok(planner), Ok(ran)) = (
            fields.get_document_mut("queryPlanner"),
            executed.get_document("executionStages"),
        ) && let Ok(plan) = planner.get_document_mut("winningPlan")
        {
            count_down(plan, ran);
        }
        if explained.verbosity == Verbosity::AllPlans {
            executed.insert("allPlansExecution", trials);
        }
        fields.insert("executionStats", executed);
    }
    Ok(PlannedQuery {
        fields,
        is_distinct,
    })
}

/// mongod shows the plan as its run left it: `skipAmount` counts down while documents are skipped.
fn count_down(plan: &mut Document, ran: &Document) {
    if let Some(left) = ran.get("skipAmount") {
        plan.insert("skipAmount", left);
    }
    if let (Ok(plan), Ok(ran)) = (
        plan.get_document_mut("inputStage"),
        ran.get_document("inputStage"),
    ) {
        count_down(plan, ran);
    }
}

/// Whether the filter is one `$or`, whose alternatives mongod plans separately.
fn is_disjunction(filter: &Predicate) -> bool {
    matches!(
        crate::planner::conditions::children(filter).as_slice(),
        [Predicate::Or(_)]
    )
}

/// Whether the plan reads a missing collection.
fn is_empty(node: &Node) -> bool {
    match node.step {
        Step::Nothing => true,
        Step::Limit(_) => node.inputs.iter().all(is_empty),
        _ => false,
    }
}

/// The plan with the stages around it.
#[derive(Debug, Clone, Copy)]
struct ExplainedPlan<'a> {
    tree: Tree<'a>,
    /// Whether the plan combines one plan for each alternative of an `$or`.
    subplanned: bool,
    /// Whether the command counts all documents without a scan.
    fast: bool,
}

impl ExplainedPlan<'_> {
    fn goal(&self) -> &Goal {
        &self.tree.around.goal
    }

    /// Whether the plan is that of a write to a missing collection.
    fn writes_nothing(&self, node: &Node) -> bool {
        matches!(self.goal(), Goal::Update { .. } | Goal::Delete { .. }) && is_empty(node)
    }

    fn plan(&self, node: &Node) -> Document {
        if self.fast {
            return doc! { "stage": "RECORD_STORE_FAST_COUNT" };
        }
        let mut inner = self.tree.stage(self.single(node), None, self.tree.filter);
        if self.subplanned {
            inner = doc! { "stage": "SUBPLAN", "inputStage": inner };
        }
        match self.goal() {
            _ if self.writes_nothing(node) => inner,
            Goal::Read => inner,
            Goal::Count { .. } => doc! { "stage": "COUNT", "inputStage": inner },
            Goal::Update { .. } => doc! { "stage": "UPDATE", "inputStage": inner },
            Goal::Delete { .. } => doc! { "stage": "DELETE", "inputStage": inner },
        }
    }

    /// mongod shows no limit in a write to one document, because the write stage itself stops.
    fn single<'n>(&self, node: &'n Node) -> &'n Node {
        match (self.goal(), &node.step, node.inputs.first()) {
            (Goal::Update { .. } | Goal::Delete { .. }, Step::Limit(_), Some(input)) => input,
            _ => node,
        }
    }

    /// Runs the plan to its end without writing, and returns the execution statistics.
    fn execute(&self, winner: Tried) -> Result<Document, ServerError> {
        let node = winner.node.clone();
        let trial = u64::try_from(winner.rows.len()).unwrap_or(0);
        let mut found = Found::from(winner);
        let mut outer = OuterCounts::default();
        if self.fast {
            outer.works = 1;
            outer.met = u64::try_from(self.tree.collection.len()).unwrap_or(0);
        } else {
            // Stages above the plan look for its end before they ask for a record.
            let looks_first = self.subplanned
                || !matches!(self.goal(), Goal::Read) && !self.writes_nothing(&node);
            self.drain(&mut found, (trial, looks_first), &mut outer)?;
        }
        let (keys, docs) = found.execution.examined();
        let mut root = &found.execution.root;
        if !std::ptr::eq(self.single(&node), &raw const node)
            && let Some(input) = root.inputs.first()
        {
            root = input;
        }
        let mut stages = if self.fast {
            Document::new()
        } else {
            self.tree
                .stage(self.single(&node), Some(root), self.tree.filter)
        };
        if self.subplanned {
            let mut above = doc! { "stage": "SUBPLAN" };
            above.extend(common(root));
            // A satisfied limit stops pulling from its input.
            above.insert(
                "works",
                number(outer.works - u64::from(outer.met >= self.max_records())),
            );
            above.insert("needTime", number(outer.again));
            above.insert("inputStage", stages);
            stages = above;
        }
        let returned = match self.goal() {
            Goal::Read
            | Goal::Update { returns: true, .. }
            | Goal::Delete { returns: true, .. } => outer.met,
            _ => 0,
        };
        stages = self.wrapped(stages, &outer, returned);
        Ok(doc! {
            "executionSuccess": true,
            "nReturned": number(returned),
            "executionTimeMillis": 0,
            "totalKeysExamined": number(if self.fast { 0 } else { keys }),
            "totalDocsExamined": number(if self.fast { 0 } else { docs }),
            "executionStages": stages,
        })
    }

    fn wrapped(&self, inner: Document, outer: &OuterCounts, returned: u64) -> Document {
        let name = match self.goal() {
            _ if self.fast => "RECORD_STORE_FAST_COUNT",
            Goal::Read => return inner,
            Goal::Update { .. } | Goal::Delete { .. }
                if inner.get_str("stage").is_ok_and(|stage| stage == "EOF") =>
            {
                return inner;
            }
            Goal::Count { .. } => "COUNT",
            Goal::Update { .. } => "UPDATE",
            Goal::Delete { .. } => "DELETE",
        };
        let mut stage = doc! {
            "stage": name,
            "nReturned": number(returned),
            "executionTimeMillisEstimate": 0,
            "works": number(outer.works),
            "advanced": number(returned),
            "needTime": number(outer.works.saturating_sub(1 + returned)),
            "needYield": 0,
            "saveState": 0,
            "restoreState": 0,
            "isEOF": 1,
        };
        match self.goal() {
            Goal::Read => {}
            Goal::Count { skip, limit } => {
                let left = outer.met.saturating_sub(*skip);
                stage.insert(
                    "nCounted",
                    number(limit.map_or(left, |limit| left.min(limit))),
                );
                // A count without a scan skips no documents, so it shows the requested `skip`.
                let skipped = if self.fast {
                    *skip
                } else {
                    outer.met.min(*skip)
                };
                stage.insert("nSkipped", number(skipped));
            }
            Goal::Update { upsert, .. } => {
                stage.insert("nMatched", number(outer.met));
                stage.insert("nWouldModify", number(outer.modified));
                stage.insert("nWouldUpsert", i32::from(*upsert && outer.met == 0));
            }
            Goal::Delete { .. } => {
                stage.insert("nWouldDelete", number(outer.met));
            }
        }
        if !self.fast {
            stage.insert("inputStage", inner);
        }
        stage
    }

    /// The maximum number of records that the goal needs.
    fn max_records(&self) -> u64 {
        match self.goal() {
            Goal::Count { skip, limit } => {
                limit.map_or(u64::MAX, |limit| limit.saturating_add(*skip))
            }
            Goal::Update { multi: false, .. } | Goal::Delete { multi: false, .. } => 1,
            _ => u64::MAX,
        }
    }

    /// Pulls as many records as the goal needs.
    fn drain(
        &self,
        found: &mut Found,
        (trial, looks_first): (u64, bool),
        outer: &mut OuterCounts,
    ) -> Result<(), ServerError> {
        let most = self.max_records();
        for _ in 0..trial {
            if outer.met < most
                && let Some(row) = found.next()
            {
                let (_, bytes) = row?;
                self.meet(&bytes, outer)?;
                outer.works += 1;
            }
        }
        loop {
            outer.works += 1;
            if outer.met >= most || (looks_first && found.execution.root.is_at_end()) {
                return Ok(());
            }
            match found.execution.work()? {
                Work::Row((_, bytes)) => self.meet(&bytes, outer)?,
                Work::Again => outer.again += 1,
                Work::End => return Ok(()),
            }
        }
    }

    fn meet(&self, bytes: &[u8], outer: &mut OuterCounts) -> Result<(), ServerError> {
        outer.met += 1;
        let (
            Goal::Update {
                update, globals, ..
            },
            Some(document),
        ) = (self.goal(), document(bytes))
        else {
            return Ok(());
        };
        outer.modified += u64::from(update.apply(document, None, globals, false)?.modified);
        Ok(())
    }
}

/// The counts of the outermost stage.
#[derive(Debug, Default)]
struct OuterCounts {
    works: u64,
    met: u64,
    modified: u64,
    /// How often the plan needed more time before its next record.
    again: u64,
}
