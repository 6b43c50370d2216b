//! `explain`: the plan as a tree of stages, and the counts of keys and documents that running it examines.
//!
//! A command that supports `explain` has a function in its row of the command table, which passes its query to
//! [`report`].

pub(crate) mod aggregation;
pub(crate) mod explained;
pub(crate) mod goal;
mod inner;
pub(crate) mod report;
mod show;
mod size;
mod text;
mod tree;

use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::namespace::Namespace;
use crate::command::args::{Args, Kind, field, wrong_type};
use crate::command::create::checks::is_word;
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::table;

use self::explained::{Explained, Verbosity};

pub(crate) const EXPLAIN: Command = Command {
    name: "explain",
    idl: "explain",
    fields: &[
        field("verbosity", Kind::Str).checked(|name, value| is_word(name, value, VERBOSITIES))
    ],
    target: CommandTarget::Database,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: explain,
    explain: None,
};

const VERBOSITIES: &[&str] = &["queryPlanner", "executionStats", "allPlansExecution"];

fn explain(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
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
    let Some((name, target)) = raw::elements(inner).next() else {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "the command is empty",
        ));
    };
    let Some(row) = table::find_in(call.context.version(), name) else {
        return Err(ServerError::new(
            Code::COMMAND_NOT_FOUND,
            format!("Explain failed due to unknown command: {name}"),
        ));
    };
    let args = Args::of_command(inner, row.idl, row.fields)?;
    inner::check_database(inner, call.database)?;
    let Some(explain) = row.explain else {
        return Err(ServerError::new(
            Code::ILLEGAL_OPERATION,
            format!("Cannot explain cmd: {}", row.name),
        ));
    };
    let explained = Explained {
        command: inner,
        target,
        args: &args,
        namespace: &Namespace::new(call.database, target.as_str().unwrap_or_default()),
        verbosity,
    };
    explain(call, &explained)
}
