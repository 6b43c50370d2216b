//! The commands, by name.

use bson::raw::RawDocumentBuf;

use crate::engine::command::{Call, args::Field, hello};
use crate::error::ServerError;

/// A command: how it is called, what it takes, what runs it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// The name before its fields in messages.
    pub(crate) idl: &'static str,
    pub(crate) fields: &'static [Field],
    /// What the value of the command's own name is.
    pub(crate) target: Target,
    pub(crate) transaction: InTransaction,
    pub(crate) run: fn(&mut Call<'_>) -> Result<RawDocumentBuf, ServerError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The command is for the database, or reads its value itself.
    Database,
    /// The value names a collection.
    Collection,
}

/// Whether a command may run in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InTransaction {
    Allowed,
    Refused,
}

/// Every command, sorted by name.
const COMMANDS: &[Command] = &[
    hello::BUILD_INFO,
    hello::HELLO,
    hello::IS_MASTER,
    hello::PING,
];

/// Other spellings: name, command.
const ALIASES: &[(&str, &str)] = &[("buildinfo", "buildInfo"), ("ismaster", "isMaster")];

pub(crate) fn find(name: &str) -> Option<&'static Command> {
    let name = ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, name)| *name);
    COMMANDS.iter().find(|command| command.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
    }
}
