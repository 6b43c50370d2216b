//! The commands, by name.

use bson::raw::RawDocumentBuf;
use odm_language::error::ServerError;

use crate::command::args::Field;
use crate::command::call::Call;
use crate::command::general::Rules;
use crate::command::{
    aggregate, coll_mod, collections, convert, count, create, create_indexes, databases, delete,
    distinct, drop_indexes, explain, find, find_and_modify, get_more, hello, insert, list_indexes,
    profile, session, stats, update, validate,
};

/// A command: how it is called, what it takes, what runs it.
#[derive(Debug)]
pub struct Command {
    pub name: &'static str,
    /// The name before its fields in messages.
    pub(crate) idl: &'static str,
    pub fields: &'static [Field],
    /// What the value of the command's own name is.
    pub(crate) target: Target,
    pub(crate) transaction: InTransaction,
    /// A `txnNumber` outside of a transaction asks for it to be executed once.
    pub(crate) retryable: bool,
    /// It takes a write concern.
    pub(crate) writes: bool,
    pub(crate) run: fn(&mut Call<'_>) -> Result<RawDocumentBuf, ServerError>,
}

impl Command {
    /// What may be said to it besides its own fields.
    pub(crate) const fn rules(&self) -> Rules {
        Rules {
            name: self.name,
            transaction: self.transaction,
            retryable: self.retryable,
            writes: self.writes,
        }
    }
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
pub enum InTransaction {
    Allowed,
    /// Allowed, but not as the first.
    NotFirst,
    /// Refused by name.
    Refused,
    /// Refused as commands that have nothing to do with data are.
    Never,
    /// Allowed, and no part of it: what it says of the transaction means nothing.
    Beside,
    /// It ends the transaction.
    Ends,
}

/// Every command, sorted by name.
const COMMANDS: &[Command] = &[
    session::ABORT,
    aggregate::AGGREGATE,
    hello::BUILD_INFO,
    convert::CLONE_COLLECTION_AS_CAPPED,
    coll_mod::COLL_MOD,
    stats::COLL_STATS,
    session::COMMIT,
    convert::CONVERT_TO_CAPPED,
    count::COUNT,
    create::CREATE,
    create_indexes::CREATE_INDEXES,
    stats::DATA_SIZE,
    stats::DB_STATS,
    delete::DELETE,
    distinct::DISTINCT,
    collections::DROP,
    databases::DROP_DATABASE,
    drop_indexes::DROP_INDEXES,
    session::END_SESSIONS,
    explain::EXPLAIN,
    find::FIND,
    find_and_modify::FIND_AND_MODIFY,
    get_more::GET_MORE,
    hello::HELLO,
    insert::INSERT,
    hello::IS_MASTER,
    session::KILL_ALL_SESSIONS,
    session::KILL_ALL_SESSIONS_BY_PATTERN,
    get_more::KILL_CURSORS,
    session::KILL_SESSIONS,
    collections::LIST_COLLECTIONS,
    databases::LIST_DATABASES,
    list_indexes::LIST_INDEXES,
    hello::PING,
    profile::PROFILE,
    session::REFRESH_SESSIONS,
    collections::RENAME_COLLECTION,
    session::START_SESSION,
    update::UPDATE,
    validate::VALIDATE,
];

/// Other spellings: name, command.
const ALIASES: &[(&str, &str)] = &[
    ("buildinfo", "buildInfo"),
    ("collstats", "collStats"),
    ("datasize", "dataSize"),
    ("dbstats", "dbStats"),
    ("deleteIndexes", "dropIndexes"),
    ("findandmodify", "findAndModify"),
    ("ismaster", "isMaster"),
];

/// Every command.
pub fn all() -> &'static [Command] {
    COMMANDS
}

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
