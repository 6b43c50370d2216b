//! The commands that are about the server, not about its data.

mod fail_point;
mod hello;
mod peer;
mod process;
mod sasl;

use bson::Document;
use bson::raw::{RawDocument, RawDocumentBuf};

use crate::engine;
use crate::error::ServerError;
use crate::server::host::Host;
use crate::server::peer::Peer;

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
    fail_point::CONFIGURE_FAIL_POINT,
    peer::CONNECTION_STATUS,
    process::GET_CMD_LINE_OPTS,
    process::GET_FREE_MONITORING_STATUS,
    process::GET_LOG,
    process::GET_PARAMETER,
    hello::HELLO,
    process::HOST_INFO,
    hello::IS_MASTER,
    hello::ISMASTER,
    sasl::LOGOUT,
    sasl::SASL_CONTINUE,
    sasl::SASL_START,
    process::SERVER_STATUS,
    peer::WHATS_MY_URI,
];

pub(crate) fn find(name: &str) -> Option<&'static Command> {
    let at = COMMANDS
        .binary_search_by_key(&name, |command| command.name)
        .ok()?;
    COMMANDS.get(at)
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
