//! `update`.

use std::borrow::Cow;

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;
use odm_language::value::raw;
use odm_language::version::ServerVersion;
use smallvec::SmallVec;

use crate::command::args::{Args, Field, Kind, field, is_of_no_series, required};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::{Goal, OuterStages};
use crate::command::compat::explain::report;
use crate::command::invocation::Invocation;

use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::insert::batch;
use crate::command::modify::{self, Outcome, Selection, UpdateSpec};
use crate::command::profiler;
use crate::command::reply::Written;
use crate::command::retry::{Retry, STATEMENT_ID, STATEMENT_IDS};
use crate::command::statements::{self, Progress, Tally, no_multi};
use crate::cursor::sort::Order;
use crate::pipeline::outline;
use crate::txn::session::{Effect, Statement};
use crate::txn::writer::Writer;

const FIELDS: &[Field] = &[
    required("updates", Kind::Objects),
    field("ordered", Kind::Bool),
    field("isTimeseriesNamespace", Kind::FindBool).checked(is_of_no_series),
    field("bypassDocumentValidation", Kind::SafeBool),
    field("let", Kind::Object),
    STATEMENT_ID,
    STATEMENT_IDS,
];

pub(crate) const STATEMENT: &[Field] = &[
    required("q", Kind::Object),
    required("u", Kind::Any),
    field("c", Kind::Object),
    field("multi", Kind::Bool),
    field("upsert", Kind::Bool),
    field("upsertSupplied", Kind::UnsupportedBool),
    field("arrayFilters", Kind::Objects),
    field("collation", Kind::Object),
    field("hint", Kind::Any),
];

/// A field of a statement that 8.0 has added.
const SORT: Field = field("sort", Kind::Object);

/// The fields of a statement.
pub(crate) fn statement_fields(version: ServerVersion) -> Cow<'static, [Field]> {
    if version < ServerVersion::V8_0 {
        return Cow::Borrowed(STATEMENT);
    }
    STATEMENT.iter().copied().chain([SORT]).collect()
}

pub(crate) const UPDATE: Command = Command {
    name: "update",
    idl: "update",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: update,
    explain: Some(explain),
};

/// One of `updates`.
#[derive(Debug)]
pub(crate) struct UpdateStatement<'a> {
    pub(crate) q: &'a RawDocument,
    pub(crate) u: RawBsonRef<'a>,
    pub(crate) multi: bool,
    pub(crate) upsert: bool,
    pub(crate) array_filters: Option<&'a RawArray>,
    pub(crate) collation: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    /// The order whose first document is updated.
    pub(crate) sort: Option<&'a RawDocument>,
    /// Whether the statement has `c`, the constants of a pipeline, beside an update that is not a pipeline.
    has_constants: bool,
}

impl<'a> UpdateStatement<'a> {
    /// A statement without options.
    pub(crate) fn new(
        q: &'a RawDocument,
        u: RawBsonRef<'a>,
        multi: bool,
    ) -> Result<Self, ServerError> {
        if !matches!(u, RawBsonRef::Document(_) | RawBsonRef::Array(_)) {
            return Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Update argument must be either an object or an array",
            ));
        }
        Ok(Self {
            q,
            u,
            multi,
            upsert: false,
            array_filters: None,
            collation: None,
            hint: None,
            sort: None,
            has_constants: false,
        })
    }

    pub(crate) fn parse(
        statement: &'a RawDocument,
        version: ServerVersion,
    ) -> Result<Self, ServerError> {
        let fields = statement_fields(version);
        let args = Args::of_statement(statement, "update.updates", &fields)?;
        let u = args.get("u").unwrap_or(RawBsonRef::Null);
        let has_constants = args.get("c").is_some() && !matches!(u, RawBsonRef::Array(_));
        if !has_constants && args.filled("c").is_some() {
            return Err(super::args::unsupported("the option 'update.updates.c'"));
        }
        let q = args.document("q").unwrap_or_else(|| raw::empty_document());
        let row = Self::new(q, u, args.flag("multi"))?;
        let statement = Self {
            upsert: args.flag("upsert"),
            array_filters: args.array("arrayFilters"),
            collation: args.filled("collation"),
            hint: args.hint()?,
            sort: args.filled("sort"),
            has_constants,
            ..row
        };
        statement.check_sort()?;
        Ok(statement)
    }

    /// Refuses a sort beside `multi`.
    pub(crate) fn check_sort(&self) -> Result<(), ServerError> {
        if !self.multi || self.sort.is_none() {
            return Ok(());
        }
        Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "Cannot specify sort with multi=true",
        ))
    }

    /// Refuses constants beside an update that is not a pipeline.
    pub(crate) fn check_constants(&self) -> Result<(), ServerError> {
        if !self.has_constants {
            return Ok(());
        }
        Err(ServerError::new(
            Code::location(51198),
            "Constant values may only be specified for pipeline updates",
        ))
    }

    /// The statement in the form of a profiler entry.
    fn profile_entry(&self) -> Document {
        let mut entry = doc! {
            "q": profiler::recorded(RawBsonRef::Document(self.q)),
            "u": profiler::recorded(self.u),
        };
        if let Some(filters) = self.array_filters {
            entry.insert(
                "arrayFilters",
                profiler::recorded(RawBsonRef::Array(filters)),
            );
        }
        if let Some(hint) = self.hint {
            entry.insert("hint", profiler::recorded_hint(hint));
        }
        if let Some(sort) = self.sort {
            entry.insert("sort", profiler::recorded(RawBsonRef::Document(sort)));
        }
        entry.insert("multi", self.multi);
        entry.insert("upsert", self.upsert);
        if let Some(collation) = self.collation {
            entry.insert(
                "collation",
                profiler::recorded(RawBsonRef::Document(collation)),
            );
        }
        entry
    }

    pub(crate) fn target(
        &self,
        call: &Invocation<'_>,
        default: Option<&Collator>,
        variables: Option<&RawDocument>,
    ) -> Result<Selection<'a>, ServerError> {
        self.check_constants()?;
        let globals = call.globals_under(self.collation, variables, default)?;
        Order::parse(self.sort)?;
        Ok(Selection {
            hint: self.hint,
            sort: self.sort,
            multi: self.multi,
            ..Selection::new(self.q, globals, default.cloned(), call.deadline())
        })
    }

    pub(crate) fn change(&self) -> UpdateSpec<'a> {
        UpdateSpec {
            update: self.u,
            array_filters: self.array_filters,
            upsert: self.upsert,
        }
    }
}

/// A parsed `update`.
#[derive(Debug)]
pub(crate) struct Update<'a> {
    pub(crate) statements: &'a [UpdateStatement<'a>],
    /// Whether the first error ends the command.
    pub(crate) ordered: bool,
    pub(crate) bypass: bool,
    pub(crate) variables: Option<&'a RawDocument>,
}

fn update(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let array = call.args.array_or_empty("updates");
    let statements = batch(array)?
        .into_iter()
        .map(|statement| UpdateStatement::parse(statement, call.context.version()))
        .collect::<Result<Vec<_>, _>>()?;
    let update = Update {
        statements: &statements,
        ordered: call.args.bool("ordered").unwrap_or(true),
        bypass: call.args.flag("bypassDocumentValidation"),
        variables: call.args.document("let"),
    };
    Retry::check(call.command, update.statements.len())?;
    update.run(call)?.to_reply()
}

impl Update<'_> {
    pub(crate) fn run(&self, call: &mut Invocation<'_>) -> Result<Written, ServerError> {
        let namespace = call.namespace;
        namespace.check_write()?;
        let mut progress = Progress::new(call, self.ordered).count_modified();
        let collation = match statements::collation(call) {
            Ok(collation) => collation,
            Err(error) => return Ok(progress.refused(error)),
        };
        let prepared: SmallVec<[Result<_, ServerError>; 1]> = self
            .statements
            .iter()
            .map(|statement| {
                let target = statement.target(call, collation.as_ref(), self.variables)?;
                let change = statement.change();
                let checked = change.check(&target)?;
                // The filter is checked even if the collection does not exist.
                target.check_filter()?;
                Ok((target, change, checked))
            })
            .collect();
        let upserts = self.upserts(&prepared);
        let (context, profile) = (call.context, call.profile);
        let is_retryable = progress.is_retryable();
        let write = |writer: &mut Writer<'_, '_>| {
            let statements = self.statements.iter().zip(&prepared);
            progress.run(
                writer,
                statements,
                updated_before,
                |writer, (row, prepared), mut tally| {
                    let outcome = match prepared {
                        Err(e) => Err(e.clone()),
                        Ok((target, ..)) if target.multi && is_retryable => {
                            Err(no_multi("multi=true"))
                        }
                        Ok((target, change, checked)) => {
                            modify::update(writer, target, change, checked, || context.object_id())
                        }
                    };
                    if let Some(profile) = profile {
                        profile.statement("update", row.profile_entry(), outcome.as_ref());
                    }
                    let Outcome {
                        matched,
                        modified,
                        upserted,
                        ..
                    } = outcome?;
                    let n = matched + i64::from(upserted.is_some());
                    tally.count(n);
                    tally.modified(modified);
                    if modified > 0 || upserted.is_some() {
                        tally.remember(|| Statement::Update {
                            n,
                            modified,
                            upserted: upserted.clone(),
                        });
                    }
                    if let Some(id) = upserted {
                        tally.upserted(id);
                    }
                    Ok(())
                },
            )
        };
        let written = if upserts {
            Some(call.write_ensured(namespace, self.bypass, write)?)
        } else {
            call.write(namespace, self.bypass, write)?
        };
        if written.is_none() {
            let entries = self.statements.iter().map(UpdateStatement::profile_entry);
            progress.profile_eof(call, "update", entries);
            progress.fail(prepared);
        }
        // mongod checks the pipelines after the writes, whatever the statements returned.
        for statement in self.statements {
            if let RawBsonRef::Array(stages) = statement.u {
                outline::check(stages, namespace.place())?;
            }
        }
        Ok(progress.finish())
    }

    /// Whether the command reaches an upsert, which creates the collection even if it then fails.
    fn upserts<T>(&self, prepared: &[Result<T, ServerError>]) -> bool {
        let failing = prepared.iter().position(Result::is_err);
        let last = failing.filter(|_| self.ordered);
        let count = last.map_or(self.statements.len(), |at| at + 1);
        self.statements
            .iter()
            .take(count)
            .any(|statement| statement.upsert)
    }
}

/// The counts of a statement that was executed before, perhaps as a statement of another command.
fn updated_before(before: Statement, mut tally: Tally<'_>) {
    let (n, modified, upserted) = match before {
        Statement::Update {
            n,
            modified,
            upserted,
        } => (n, modified, upserted),
        Statement::FindAndModify {
            effect: Effect::Updated,
            ..
        } => (1, 1, None),
        Statement::Insert { id } => (1, 0, Some(id)),
        Statement::FindAndModify { last, .. } => (1, 0, last.get("upserted").cloned()),
        Statement::Delete { .. } => (1, 0, None),
    };
    tally.count(n);
    tally.modified(modified);
    if let Some(id) = upserted {
        tally.upserted(id);
    }
}

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    call.check_not_view(namespace)?;
    let array = args.array_or_empty("updates");
    let statement = report::one(&batch(array)?)?;
    let row = UpdateStatement::parse(statement, call.context.version())?;
    row.check_constants()?;
    let mut query = report::plain(call, namespace, Some(row.q), row.collation)?;
    query.hint = row.hint;
    query.sort = row.sort;
    let around = OuterStages {
        goal: Goal::Update {
            update: Box::new(crate::updater::Update::parse(
                row.u,
                row.array_filters,
                &query.globals,
            )?),
            globals: Box::new(query.globals.clone()),
            multi: row.multi,
            upsert: row.upsert,
            returns: false,
        },
        ..OuterStages::default()
    };
    report::answer(call, explained, namespace, &query, &around)
}
