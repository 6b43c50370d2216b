//! `explain`: the plan as a tree of stages, and what running it would look at.

mod inner;
mod show;
mod size;
mod text;
mod tree;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::matcher::{Matcher, Predicate};
use odm_language::value::raw;

use crate::catalog::collection::{Collection, Version, document};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::command::aggregate::{self, Aggregate};
use crate::command::args::{Args, Kind, field, truthy, unsupported, wrong_type};
use crate::command::call::Call;
use crate::command::create::checks::is_word;
use crate::command::create::to_document;
use crate::command::declare::{Command, Target};
use crate::command::find::Find;
use crate::command::general::InTransaction;
use crate::command::insert::batch;
use crate::command::pictured::explain_hint;
use crate::command::table;
use crate::command::{count, delete, distinct, find_and_modify, update, view};
use crate::cursor::exec::Work;
use crate::cursor::query::{Found, Query, Shape};
use crate::cursor::trial::Tried;
use crate::index::Index;
use crate::planner::tree::{Node, Step};
use crate::updater::Update;

use tree::{Tree, common, number};

pub(crate) const EXPLAIN: Command = Command {
    name: "explain",
    idl: "explain",
    fields: &[
        field("verbosity", Kind::Str).checked(|name, value| is_word(name, value, VERBOSITIES))
    ],
    target: Target::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: explain,
};

const VERBOSITIES: &[&str] = &["queryPlanner", "executionStats", "allPlansExecution"];

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    Planner,
    Stats,
    AllPlans,
}

/// What the records are for.
#[derive(Debug, Default)]
enum Goal {
    #[default]
    Read,
    Count {
        skip: u64,
        limit: Option<u64>,
    },
    Update {
        update: Box<Update>,
        globals: Box<Globals>,
        multi: bool,
        upsert: bool,
        /// `findAndModify` answers with the document.
        returns: bool,
    },
    Delete {
        multi: bool,
        returns: bool,
    },
}

/// What is around the query's own stages.
#[derive(Debug, Default)]
struct Around<'a> {
    /// Of a `find`: its projection, its sort.
    projection: Option<&'a RawDocument>,
    sort: Option<Document>,
    goal: Goal,
    /// Of a `distinct`, whose projection a server doesn't show.
    is_distinct: bool,
}

impl Around<'_> {
    fn projected(&self) -> Document {
        self.projection
            .filter(|_| !self.is_distinct)
            .and_then(|projection| Document::try_from(projection).ok())
            .unwrap_or_default()
    }

    /// Names of top-level fields only, which are taken.
    fn is_simple(&self) -> bool {
        let is_flag = |value| {
            matches!(
                value,
                RawBsonRef::Boolean(_)
                    | RawBsonRef::Int32(_)
                    | RawBsonRef::Int64(_)
                    | RawBsonRef::Double(_)
            )
        };
        self.projection.is_some_and(|projection| {
            raw::elements(projection).all(|(name, value)| !name.contains('.') && is_flag(value))
                && raw::elements(projection).any(|(_, value)| truthy(value))
                // The one field that may be taken where others are left out.
                && raw::elements(projection).all(|(name, value)| name == "_id" || truthy(value))
        })
    }
}

fn explain(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let inner = match raw::elements(call.command).next() {
        Some((_, RawBsonRef::Document(inner))) => inner,
        other => {
            let value = other.map_or(RawBsonRef::Null, |(_, value)| value);
            return Err(wrong_type("explain.explain", value, "type 'object'"));
        }
    };
    let verbosity = match call.args.str("verbosity") {
        Some("queryPlanner") => Verbosity::Planner,
        Some("executionStats") => Verbosity::Stats,
        _ => Verbosity::AllPlans,
    };
    let Some((name, value)) = raw::elements(inner).next() else {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "the command is empty",
        ));
    };
    let Some(row) = table::find(name) else {
        return Err(ServerError::new(
            Code::COMMAND_NOT_FOUND,
            format!("Explain failed due to unknown command: {name}"),
        ));
    };
    let args = Args::of_command(inner, row.idl, row.fields)?;
    inner::check_database(inner, call.database)?;
    let collection = match value {
        RawBsonRef::String(name) => name,
        _ => "",
    };
    let namespace = Namespace::new(call.database, collection);
    let viewed = call.find_view(&namespace).is_some();
    if row.name == "findAndModify" {
        find_and_modify::check(&args)?;
        inner::check_there(call)?;
    }
    if matches!(row.name, "update" | "delete" | "findAndModify") {
        call.check_not_view(&namespace)?;
    }
    match row.name {
        "find" if viewed => {
            let aggregate = view::find(call, namespace, &args)?;
            explain_aggregate(call, inner, &aggregate, &args, verbosity)
        }
        "count" | "distinct" if viewed => {
            let query = match row.name {
                "count" => count::query(call, &namespace, &args)?,
                _ => plain(call, &namespace, args.document("query"), None)?,
            };
            let collation = args.document("collation");
            let aggregate = view::query(call, namespace, &query, collation, None)?;
            explain_aggregate(call, inner, &aggregate, &args, verbosity)
        }
        "find" => {
            let find = Find::parse(call, &namespace, &args)?;
            if args.flag("returnKey") {
                return Err(unsupported("an `explain` of returnKey"));
            }
            let around = Around {
                projection: find.projection_document,
                sort: find.sort.map(to_document).transpose()?,
                ..Around::default()
            };
            answer(
                call,
                inner,
                &namespace,
                &args,
                &find.query,
                &around,
                verbosity,
            )
        }
        "count" => {
            let query = count::query(call, &namespace, &args)?;
            let around = Around {
                goal: Goal::Count {
                    skip: query.skip,
                    limit: query.limit,
                },
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, verbosity)
        }
        "distinct" => {
            let mut query = plain(
                call,
                &namespace,
                args.document("query"),
                args.document("collation"),
            )?;
            let key = args.str("key").unwrap_or_default();
            let only = distinct::projection(key);
            // A server keeps one field where an index has it.
            let has_key = |index: &Index| index.spec.key.contains_key(key);
            let collection = call.find_collection(&namespace);
            let kept = collection.is_some_and(|collection| collection.indexes.iter().any(has_key));
            query.shape.projection = only.as_deref().filter(|_| kept);
            let around = Around {
                projection: query.shape.projection,
                is_distinct: true,
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, verbosity)
        }
        "aggregate" => {
            aggregate::check_explained(inner)?;
            let aggregate = Aggregate::parse(call, value, &args)?;
            explain_aggregate(call, inner, &aggregate, &args, verbosity)
        }
        "update" => {
            let array = args.array_or_empty("updates");
            let statement = one(&batch(array)?)?;
            let row = update::Row::parse(statement)?;
            row.check_constants()?;
            let mut query = plain(call, &namespace, Some(row.q), row.collation)?;
            query.hint = row.hint;
            let around = Around {
                goal: Goal::Update {
                    update: Box::new(Update::parse(row.u, row.array_filters, &query.globals)?),
                    globals: Box::new(query.globals.clone()),
                    multi: row.multi,
                    upsert: row.upsert,
                    returns: false,
                },
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, verbosity)
        }
        "delete" => {
            let array = args.array_or_empty("deletes");
            let statement = one(&batch(array)?)?;
            let row = delete::Row::parse(statement)?;
            let mut query = plain(call, &namespace, Some(row.q), row.collation)?;
            query.hint = row.hint;
            let around = Around {
                goal: Goal::Delete {
                    multi: row.multi,
                    returns: false,
                },
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, verbosity)
        }
        "findAndModify" => {
            let mut query = plain(
                call,
                &namespace,
                args.document("query"),
                args.document("collation"),
            )?;
            query.sort = args.filled("sort");
            query.hint = args.get("hint");
            query.limit = Some(1);
            let around = Around {
                sort: args.filled("sort").map(to_document).transpose()?,
                goal: if args.flag("remove") {
                    Goal::Delete {
                        multi: false,
                        returns: true,
                    }
                } else {
                    Goal::Update {
                        update: Box::new(Update::parse(
                            args.get("update").unwrap_or(RawBsonRef::Null),
                            args.array("arrayFilters"),
                            &query.globals,
                        )?),
                        globals: Box::new(query.globals.clone()),
                        multi: false,
                        upsert: args.flag("upsert"),
                        returns: true,
                    }
                },
                ..Around::default()
            };
            answer(call, inner, &namespace, &args, &query, &around, verbosity)
        }
        other => Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            format!("Cannot explain cmd: {other}"),
        )),
    }
}

/// `aggregate` with `explain: true`.
pub(crate) fn aggregate(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let args = Args::of_command(call.command, "aggregate", aggregate::FIELDS)?;
    aggregate::check_explained(call.command)?;
    let target = raw::elements(call.command)
        .next()
        .map_or(RawBsonRef::Null, |(_, value)| value);
    let aggregate = Aggregate::parse(call, target, &args)?;
    explain_aggregate(call, call.command, &aggregate, &args, Verbosity::Planner)
}

fn explain_aggregate(
    call: &Call<'_>,
    command: &RawDocument,
    aggregate: &Aggregate<'_>,
    args: &Args<'_>,
    verbosity: Verbosity,
) -> Result<RawDocumentBuf, ServerError> {
    if let Some(stage) = aggregate.pipeline.begins() {
        return Err(unsupported(&format!("to explain {stage}")));
    }
    let query = aggregate.query();
    let around = Around {
        sort: query.sort.map(to_document).transpose()?,
        ..Around::default()
    };
    answer(
        call,
        command,
        &aggregate.base,
        args,
        &query,
        &around,
        verbosity,
    )
}

fn one<'a>(statements: &[&'a RawDocument]) -> Result<&'a RawDocument, ServerError> {
    match statements {
        [statement] => Ok(statement),
        _ => Err(ServerError::new(
            Code::INVALID_LENGTH,
            "explained write batches must be of size 1",
        )),
    }
}

fn plain<'a>(
    call: &Call<'_>,
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
        shape: Shape::default(),
    })
}

fn answer(
    call: &Call<'_>,
    command: &RawDocument,
    namespace: &Namespace,
    args: &Args<'_>,
    query: &Query<'_>,
    around: &Around<'_>,
    verbosity: Verbosity,
) -> Result<RawDocumentBuf, ServerError> {
    let collection = call.find_collection(namespace);
    let prepared = query
        .prepare(collection.as_deref())
        .map_err(|error| explain_hint(error, namespace, args))?;
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
    let whole = Whole {
        tree,
        subplanned: query.hint.is_none()
            && query.shape.min.is_none()
            && query.shape.max.is_none()
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
    if !whole.fast {
        planner.insert(
            "parsedQuery",
            tree.filter.map(show::filter).unwrap_or_default(),
        );
        if let Some(collation) = query.globals.collator() {
            planner.insert("collation", collation.document());
        }
    }
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
    let mut fields = doc! { "explainVersion": "1", "queryPlanner": planner };
    if verbosity != Verbosity::Planner {
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
        if verbosity == Verbosity::AllPlans {
            executed.insert("allPlansExecution", trials);
        }
        fields.insert("executionStats", executed);
    }
    size::limited(fields, command, call.database)
}

/// A server shows a plan as its run left it: what was skipped is not to be skipped any more.
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

/// A server plans each alternative of such a filter by itself.
fn is_disjunction(filter: &Predicate) -> bool {
    matches!(
        crate::planner::conditions::children(filter).as_slice(),
        [Predicate::Or(_)]
    )
}

/// The plan with all that is around it.
#[derive(Debug, Clone, Copy)]
struct Whole<'a> {
    tree: Tree<'a>,
    /// The plan was put together from one for each alternative.
    subplanned: bool,
    /// A count of everything.
    fast: bool,
}

impl Whole<'_> {
    fn goal(&self) -> &Goal {
        &self.tree.around.goal
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
            Goal::Read => inner,
            Goal::Count { .. } => doc! { "stage": "COUNT", "inputStage": inner },
            Goal::Update { .. } => doc! { "stage": "UPDATE", "inputStage": inner },
            Goal::Delete { .. } => doc! { "stage": "DELETE", "inputStage": inner },
        }
    }

    /// A write stops after one record by itself.
    fn single<'n>(&self, node: &'n Node) -> &'n Node {
        match (self.goal(), &node.step, node.inputs.first()) {
            (Goal::Update { .. } | Goal::Delete { .. }, Step::Limit(_), Some(input)) => input,
            _ => node,
        }
    }

    /// Runs the plan to its end, without its effects, and tells what it took.
    fn execute(&self, winner: Tried) -> Result<Document, ServerError> {
        let node = winner.node.clone();
        let trial = u64::try_from(winner.rows.len()).unwrap_or(0);
        let mut found = Found::from(winner);
        let mut outer = Outer::default();
        if self.fast {
            outer.works = 1;
            outer.met = u64::try_from(self.tree.collection.len()).unwrap_or(0);
        } else {
            self.drain(&mut found, trial, &mut outer)?;
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
            // What has enough asks no more.
            above.insert(
                "works",
                number(outer.works - u64::from(outer.met >= self.most())),
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

    fn wrapped(&self, inner: Document, outer: &Outer, returned: u64) -> Document {
        let name = match self.goal() {
            _ if self.fast => "RECORD_STORE_FAST_COUNT",
            Goal::Read => return inner,
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
                // A number alone is not counted through.
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

    /// So many records the goal asks for.
    fn most(&self) -> u64 {
        match self.goal() {
            Goal::Count { skip, limit } => {
                limit.map_or(u64::MAX, |limit| limit.saturating_add(*skip))
            }
            Goal::Update { multi: false, .. } | Goal::Delete { multi: false, .. } => 1,
            _ => u64::MAX,
        }
    }

    /// Gives the goal what it asks for.
    fn drain(&self, found: &mut Found, trial: u64, outer: &mut Outer) -> Result<(), ServerError> {
        let most = self.most();
        for _ in 0..trial {
            if outer.met < most
                && let Some(row) = found.next()
            {
                let (_, bytes) = row?;
                self.meet(&bytes, outer)?;
                outer.works += 1;
            }
        }
        let asks_first = self.subplanned || !matches!(self.goal(), Goal::Read);
        loop {
            outer.works += 1;
            if outer.met >= most || (asks_first && found.execution.root.is_at_end()) {
                return Ok(());
            }
            match found.execution.work()? {
                Work::Row((_, bytes)) => self.meet(&bytes, outer)?,
                Work::Again => outer.again += 1,
                Work::End => return Ok(()),
            }
        }
    }

    fn meet(&self, bytes: &[u8], outer: &mut Outer) -> Result<(), ServerError> {
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

/// What the outermost stage has done.
#[derive(Debug, Default)]
struct Outer {
    works: u64,
    met: u64,
    modified: u64,
    /// How often the plan had nothing yet.
    again: u64,
}
