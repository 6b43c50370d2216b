//! The commands, by name.

use odm_language::version::ServerVersion;

use crate::command::args;
use crate::command::declare::Command;
use crate::command::{
    aggregate, bulk_write, capped, change_stream, coll_mod, coll_stats, collections,
    compat::explain, count, create, create_indexes, databases, delete, distinct, drop_indexes,
    find, find_and_modify, get_more, hello, insert, list_indexes, profile, session, update,
    validate,
};

/// Every command of 6.0, sorted by name.
const COMMANDS: &[Command] = &[
    session::ABORT,
    aggregate::AGGREGATE,
    hello::BUILD_INFO,
    capped::CLONE_COLLECTION_AS_CAPPED,
    coll_mod::COLL_MOD,
    coll_stats::COLL_STATS,
    session::COMMIT,
    capped::CONVERT_TO_CAPPED,
    count::COUNT,
    create::CREATE,
    create_indexes::CREATE_INDEXES,
    coll_stats::DATA_SIZE,
    coll_stats::DB_STATS,
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

/// The commands that later versions have added.
const ADDED: &[(ServerVersion, Command)] = &[(ServerVersion::V8_0, bulk_write::BULK_WRITE)];

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

/// The fields of the documents nested in commands, by the names used in error messages.
pub(crate) fn known_statements() -> [(&'static str, &'static [args::Field]); 4] {
    [
        ("$changeStream", change_stream::FIELDS),
        ("collMod.index", coll_mod::INDEX_FIELDS),
        ("delete.deletes", delete::STATEMENT),
        ("update.updates", update::STATEMENT),
    ]
}

/// Every command of 6.0.
pub fn all() -> &'static [Command] {
    COMMANDS
}

/// The command of this name, if a version has it.
pub(crate) fn find_in(version: ServerVersion, name: &str) -> Option<&'static Command> {
    find_among(added(version), name)
}

/// The commands that versions up to this one have added to those of 6.0.
pub fn added(version: ServerVersion) -> impl Iterator<Item = &'static Command> {
    let added = ADDED.iter().filter(move |(since, _)| *since <= version);
    added.map(|(_, command)| command)
}

/// The command of this name, of any version.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    find_among(ADDED.iter().map(|(_, command)| command), name)
}

fn find_among(
    added: impl Iterator<Item = &'static Command>,
    name: &str,
) -> Option<&'static Command> {
    let name = ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, name)| *name);
    let mut all = COMMANDS.iter().chain(added);
    all.find(|command| command.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
    }
}
