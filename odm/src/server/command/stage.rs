//! The pipelines that begin with what a server knows and no collection has.

use bson::raw::{RawBsonRef, RawDocument};

use super::{Call, Command, operations, sessions};
use crate::engine::command::general::{self, Rules};
use crate::engine::command::table::InTransaction;
use crate::engine::txn::session::Mode;
use crate::error::ServerError;
use crate::value::raw;

/// Who answers the pipeline of an `aggregate`, by its first stage; the engine, if nobody here.
pub(super) fn find(command: &RawDocument) -> Option<&'static Command> {
    match first(command)?.0 {
        "$currentOp" => Some(&operations::AGGREGATE),
        "$listLocalSessions" | "$listSessions" => Some(&sessions::AGGREGATE),
        _ => None,
    }
}

/// The first stage.
pub(super) fn first(command: &RawDocument) -> Option<(&str, RawBsonRef<'_>)> {
    let RawBsonRef::Array(stages) = raw::get(command, "pipeline")? else {
        return None;
    };
    let first = raw::values(stages).next()?.as_document()?;
    raw::elements(first).next()
}

/// Refuses what may not be said to an `aggregate`, and these stages in a transaction.
pub(super) fn admit(call: &Call<'_>) -> Result<(), ServerError> {
    let rules = Rules {
        transaction: InTransaction::Allowed,
        writes: true,
        ..Rules::of_server("aggregate")
    };
    let stage = first(call.command).map_or("", |(name, _)| name);
    match call.host.memory.admit(rules, call.command)? {
        Mode::Transaction { .. } => Err(general::not_in_transaction(stage)),
        _ => Ok(()),
    }
}
