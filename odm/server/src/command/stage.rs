//! Pipelines that begin with a stage about the server, such as `$currentOp`.
//!
//! The server produces the documents of the first stage. The engine runs the other stages over them, so that those can
//! read and write its collections.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_engine::InTransaction;
use odm_engine::Mode;
use odm_engine::args;
use odm_engine::generic_arguments::{self, Rules};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use super::{Call, operations, sessions};

/// The documents of an aggregation's first stage, and the command without that stage.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) documents: Vec<RawDocumentBuf>,
    pub(crate) command: RawDocumentBuf,
}

/// Runs the first stage of an `aggregate` if the server answers that stage.
pub(crate) fn start(call: &mut Call<'_>) -> Result<Option<Started>, ServerError> {
    let name = match first(call.command) {
        Some((name, _)) if call.name == "aggregate" => name,
        _ => return Ok(None),
    };
    let run = match name {
        "$currentOp" => operations::documents,
        "$listLocalSessions" | "$listSessions" => sessions::documents,
        _ => return Ok(None),
    };
    admit(call)?;
    let documents = run(call)?
        .iter()
        .map(RawDocumentBuf::try_from)
        .collect::<Result<_, _>>()
        .map_err(|error| ServerError::new(Code::INVALID_BSON, error.to_string()))?;
    if raw::get(call.command, "explain").is_some_and(args::truthy) {
        return Err(args::unsupported(&format!("to explain {name}")));
    }
    Ok(Some(Started {
        documents,
        command: without_first(call.command),
    }))
}

fn without_first(command: &RawDocument) -> RawDocumentBuf {
    let mut other = RawDocumentBuf::new();
    for (name, value) in command.iter().flatten() {
        match value {
            RawBsonRef::Array(stages) if name == "pipeline" => {
                let mut left = RawArrayBuf::new();
                raw::values(stages)
                    .skip(1)
                    .for_each(|stage| left.push(stage));
                other.append(cstr!("pipeline"), left);
            }
            value => other.append(name, value),
        }
    }
    other
}

/// The name and operand of the first stage.
pub(super) fn first(command: &RawDocument) -> Option<(&str, RawBsonRef<'_>)> {
    let RawBsonRef::Array(stages) = raw::get(command, "pipeline")? else {
        return None;
    };
    let first = raw::values(stages).next()?.as_document()?;
    raw::elements(first).next()
}

/// Checks the generic fields of the `aggregate`, and refuses these stages in a transaction.
fn admit(call: &Call<'_>) -> Result<(), ServerError> {
    let rules = Rules {
        transaction: InTransaction::Allowed,
        writes: true,
        ..Rules::of_server("aggregate")
    };
    let stage = first(call.command).map_or("", |(name, _)| name);
    match call.state.service.admit(rules, call.command)? {
        Mode::Transaction { .. } => Err(generic_arguments::not_in_transaction(stage)),
        _ => Ok(()),
    }
}
