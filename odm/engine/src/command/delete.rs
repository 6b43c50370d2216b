//! `delete`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::compat::messages;
use odm_language::value::collation::Collator;
use odm_language::value::number::Number;
use odm_language::value::raw;
use smallvec::SmallVec;

use crate::command::args::{Args, Field, Kind, field, is_of_no_series, required};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::{Goal, OuterStages};
use crate::command::compat::explain::report;
use crate::command::invocation::Invocation;

use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::insert::batch;
use crate::command::modify::{self, Selection};
use crate::command::profiler;
use crate::command::reply::Written;
use crate::command::retry::{Retry, STATEMENT_ID, STATEMENT_IDS};
use crate::command::statements::{self, Progress, Tally, is_fatal, no_multi};
use crate::cursor::point::{Equality, Found};
use crate::txn::session::Statement;
use crate::txn::writer::Writer;

const FIELDS: &[Field] = &[
    required("deletes", Kind::Objects),
    field("ordered", Kind::Bool),
    field("isTimeseriesNamespace", Kind::FindBool).checked(is_of_no_series),
    field("let", Kind::Object),
    // mongod accepts the option, although deletes validate nothing.
    field("bypassDocumentValidation", Kind::SafeBool),
    STATEMENT_ID,
    STATEMENT_IDS,
];

pub(crate) const STATEMENT: &[Field] = &[
    required("q", Kind::Object),
    required("limit", Kind::Any),
    field("collation", Kind::Object),
    field("hint", Kind::Any),
];

pub(crate) const DELETE: Command = Command {
    name: "delete",
    idl: "delete",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: true,
    writes: true,
    run: delete,
    explain: Some(explain),
};

/// Refuses deletes from a capped collection inside a transaction.
fn check_capped(writer: &mut Writer<'_, '_>) -> Result<(), ServerError> {
    if writer.is_in_transaction() && writer.collection().options.capped.is_some() {
        return Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            format!(
                "Cannot remove from a capped collection in a multi-document transaction: {}",
                writer.collection().namespace
            ),
        ));
    }
    Ok(())
}

/// One of `deletes`.
#[derive(Debug)]
pub(crate) struct DeleteStatement<'a> {
    pub(crate) q: &'a RawDocument,
    pub(crate) multi: bool,
    pub(crate) collation: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
}

impl<'a> DeleteStatement<'a> {
    /// A statement without options.
    pub(crate) fn new(q: &'a RawDocument, multi: bool) -> Self {
        Self {
            q,
            multi,
            collation: None,
            hint: None,
        }
    }

    /// The statement in the form of a profiler entry.
    fn profile_entry(&self) -> Document {
        let mut entry = doc! {
            "q": profiler::recorded(RawBsonRef::Document(self.q)),
            "limit": i32::from(!self.multi),
        };
        if let Some(hint) = self.hint {
            entry.insert("hint", profiler::recorded_hint(hint));
        }
        if let Some(collation) = self.collation {
            entry.insert(
                "collation",
                profiler::recorded(RawBsonRef::Document(collation)),
            );
        }
        entry
    }

    pub(crate) fn parse(statement: &'a RawDocument) -> Result<Self, ServerError> {
        let args = Args::of_statement(statement, "delete.deletes", STATEMENT)?;
        let limit = args.get("limit").unwrap_or(RawBsonRef::Null);
        // As on mongod, non-numeric limits count as 0.
        let multi = match Number::from_raw(limit).map(Number::to_f64) {
            None | Some(0.0) => true,
            Some(1.0) => false,
            Some(number) => {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "The limit field in delete objects must be 0 or 1. Got {}",
                        messages::double(number)
                    ),
                ));
            }
        };
        let hint = args.hint()?;
        Ok(Self {
            q: args.document("q").unwrap_or_else(|| raw::empty_document()),
            multi,
            collation: args.filled("collation"),
            hint,
        })
    }
}

/// A parsed `delete`.
#[derive(Debug)]
pub(crate) struct Delete<'a> {
    pub(crate) statements: &'a [DeleteStatement<'a>],
    /// Whether the first error ends the command.
    pub(crate) ordered: bool,
    pub(crate) variables: Option<&'a RawDocument>,
}

fn delete(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let array = call.args.array_or_empty("deletes");
    let statements = batch(array)?
        .into_iter()
        .map(DeleteStatement::parse)
        .collect::<Result<Vec<_>, _>>()?;
    let delete = Delete {
        statements: &statements,
        ordered: call.args.bool("ordered").unwrap_or(true),
        variables: call.args.document("let"),
    };
    Retry::check(call.command, delete.statements.len())?;
    delete.run(call)?.to_reply()
}

impl Delete<'_> {
    pub(crate) fn run(&self, call: &mut Invocation<'_>) -> Result<Written, ServerError> {
        let namespace = call.namespace;
        namespace.check_write()?;
        if let [statement] = self.statements
            && call.profile.is_none()
            && let Some(id) = self.only_id(call, statement)
            && let Some(written) = by_id(call, &id)?
        {
            return Ok(written);
        }
        let mut progress = Progress::new(call, self.ordered);
        let collation = match statements::collation(call) {
            Ok(collation) => collation,
            Err(error) => return Ok(progress.refused(error)),
        };
        let prepared = self.prepare(call, collation.as_ref());
        let (profile, is_retryable) = (call.profile, progress.is_retryable());
        let deleted_before = |before, mut tally: Tally<'_>| match before {
            Statement::Delete { n } => tally.count(n),
            // A statement of another command counts as 1.
            _ => tally.count(1),
        };
        let written = call.write(namespace, true, |writer| {
            let statements = self.statements.iter().zip(&prepared);
            progress.run(
                writer,
                statements,
                deleted_before,
                |writer, (row, target), mut tally| {
                    let outcome = match target {
                        Err(e) => Err(e.clone()),
                        Ok(target) if target.multi && is_retryable => Err(no_multi("limit=0")),
                        Ok(target) => {
                            check_capped(writer).and_then(|()| modify::delete(writer, target))
                        }
                    };
                    if let Some(profile) = profile {
                        profile.statement("remove", row.profile_entry(), outcome.as_ref());
                    }
                    let n = outcome?.matched;
                    tally.count(n);
                    if n > 0 {
                        tally.remember(|| Statement::Delete { n });
                    }
                    Ok(())
                },
            )
        })?;
        if written.is_none() {
            let entries = self.statements.iter().map(DeleteStatement::profile_entry);
            progress.profile_eof(call, "remove", entries);
            progress.fail(prepared);
        }
        Ok(progress.finish())
    }

    /// The `_id` to remove, if the statement has no other condition and no options.
    fn only_id<'q>(
        &self,
        call: &Invocation<'_>,
        statement: &DeleteStatement<'q>,
    ) -> Option<Equality<'q>> {
        let is_plain = statement.collation.is_none()
            && statement.hint.is_none()
            && self.variables.is_none()
            && call.statements.is_none();
        Equality::of_id(statement.q).filter(|_| is_plain)
    }

    /// Parses each statement and runs all checks that need no document.
    fn prepare<'s>(
        &'s self,
        call: &Invocation<'_>,
        default: Option<&Collator>,
    ) -> SmallVec<[Result<Selection<'s>, ServerError>; 1]> {
        let prepare = |statement: &'s DeleteStatement<'_>| {
            let globals = call.globals_under(statement.collation, self.variables, default)?;
            let target = Selection {
                hint: statement.hint,
                multi: statement.multi,
                ..Selection::new(statement.q, globals, default.cloned(), call.deadline())
            };
            target.check_filter()?;
            Ok(target)
        };
        self.statements.iter().map(prepare).collect()
    }
}

/// Removes the document with an `_id`, without a plan. Returns `None` if the statement needs a plan or the collection
/// does not exist.
fn by_id(call: &mut Invocation<'_>, id: &Equality<'_>) -> Result<Option<Written>, ServerError> {
    let removed = call.write(call.namespace, true, |writer| remove(writer, id))?;
    Ok(removed.flatten())
}

/// Like [`by_id`], in a collection that is open for writing.
pub(crate) fn remove(
    writer: &mut Writer<'_, '_>,
    id: &Equality<'_>,
) -> Result<Option<Written>, ServerError> {
    let removed = match (check_capped(writer), id.by_id_to_write(writer.collection())) {
        (_, None) => return Ok(None),
        (Err(refused), _) => Err(refused),
        (Ok(()), Some(Found::Nothing)) => Ok(0),
        (Ok(()), Some(Found::Record(found))) => writer.remove_found(found).map(|()| 1),
    };
    let mut written = Written::default();
    match removed {
        Ok(n) => written.n = n,
        Err(e) if is_fatal(&e) => return Err(e),
        Err(e) => written.errors.push((0, e)),
    }
    Ok(Some(written))
}

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    call.check_not_view(namespace)?;
    let array = args.array_or_empty("deletes");
    let statement = report::one(&batch(array)?)?;
    let row = DeleteStatement::parse(statement)?;
    let mut query = report::plain(call, namespace, Some(row.q), row.collation)?;
    query.hint = row.hint;
    let around = OuterStages {
        goal: Goal::Delete {
            multi: row.multi,
            returns: false,
        },
        ..OuterStages::default()
    };
    report::answer(call, explained, namespace, &query, &around)
}
