//! The commands that are about the server, not about its data.

mod fail_point;
mod hello;
mod list;
mod operations;
mod peer;
mod process;
mod replica;
mod sasl;
mod status;
mod top;

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine;
use crate::error::{Code, ServerError};
use crate::server::host::Host;
use crate::server::peer::Peer;
use crate::value::raw;

/// A command under way.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) host: &'a Host,
    pub(crate) peer: &'a mut Peer,
    pub(crate) command: &'a RawDocument,
    /// The command's name, as the client spells it.
    pub(crate) name: &'a str,
}

/// A command, by its name.
#[derive(Debug)]
pub(crate) struct Command {
    name: &'static str,
    pub(crate) run: fn(&mut Call<'_>) -> Result<Document, ServerError>,
    /// It may come before the client has proved who it is.
    pub(crate) is_open: bool,
}

/// Every command, sorted by name; other spellings have rows of their own.
const COMMANDS: &[Command] = &[
    operations::AGGREGATE,
    fail_point::CONFIGURE_FAIL_POINT,
    peer::CONNECTION_STATUS,
    operations::CURRENT_OP,
    process::GET_CMD_LINE_OPTS,
    replica::GET_DEFAULT_RW_CONCERN,
    process::GET_FREE_MONITORING_STATUS,
    process::GET_LOG,
    process::GET_PARAMETER,
    hello::HELLO,
    process::HOST_INFO,
    hello::IS_MASTER,
    hello::ISMASTER,
    list::LIST_COMMANDS,
    sasl::LOGOUT,
    process::PROFILE,
    replica::GET_CONFIG,
    replica::GET_STATUS,
    sasl::SASL_CONTINUE,
    sasl::SASL_START,
    status::SERVER_STATUS,
    process::SET_PARAMETER,
    top::TOP,
    peer::WHATS_MY_URI,
];

/// The server's own command, where it has the name and the form of one.
pub(crate) fn find(name: &str, command: &RawDocument) -> Option<&'static Command> {
    if name == operations::AGGREGATE.name && !operations::asks_for_operations(command) {
        return None;
    }
    let at = COMMANDS
        .binary_search_by_key(&name, |command| command.name)
        .ok()?;
    COMMANDS.get(at)
}

/// Refuses a command at another database than `admin`.
fn only_admin(call: &Call<'_>) -> Result<(), ServerError> {
    if raw::get(call.command, "$db") == Some(RawBsonRef::String("admin")) {
        return Ok(());
    }
    Err(ServerError::new(
        Code::UNAUTHORIZED,
        format!("{} may only be run against the admin database.", call.name),
    ))
}

/// Whether the engine's command of this name may come from anybody.
pub(crate) fn is_open(name: &str) -> bool {
    matches!(name, "ping" | "buildInfo" | "buildinfo")
}

/// The reply of a command that went well.
pub(crate) fn reply(fields: Document) -> Result<RawDocumentBuf, ServerError> {
    engine::command::reply::reply(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
    }
}
