//! The commands about the server itself rather than its data.

mod connection_status;
mod document_stages;
mod fail_point;
mod hello;
mod kill_op;
mod list;
mod operations;
mod plans;
mod process;
mod replica;
mod sasl;
mod sessions;
mod stage;
mod status;
mod storage;
mod top;
mod users;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_engine::COMMON_FIELDS;
use odm_engine::args;
use odm_engine::generic_arguments::Rules;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

pub(crate) use self::hello::topology_version;
use crate::client::Client;
use crate::state::ServerState;

pub(crate) use stage::{Started, start};

/// A running command.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) state: &'a ServerState,
    pub(crate) client: &'a mut Client,
    pub(crate) command: &'a RawDocument,
    /// The command's name, as the client spells it.
    pub(crate) name: &'a str,
}

/// A command, by its name.
#[derive(Debug)]
pub(crate) struct Command {
    name: &'static str,
    run: fn(&mut Call<'_>) -> Result<Document, ServerError>,
    /// Clients may send it before they authenticate.
    pub(crate) is_open: bool,
}

/// Every command, sorted by name; other spellings have rows of their own.
const COMMANDS: &[Command] = &[
    storage::COMPACT,
    fail_point::CONFIGURE_FAIL_POINT,
    status::CONN_POOL_STATS,
    connection_status::CONNECTION_STATUS,
    operations::CURRENT_OP,
    storage::FSYNC,
    storage::FSYNC_UNLOCK,
    process::GET_CMD_LINE_OPTS,
    replica::GET_DEFAULT_RW_CONCERN,
    process::GET_FREE_MONITORING_STATUS,
    process::GET_LOG,
    process::GET_PARAMETER,
    hello::HELLO,
    process::HOST_INFO,
    hello::IS_MASTER,
    hello::ISMASTER,
    kill_op::KILL_OP,
    list::LIST_COMMANDS,
    sasl::LOGOUT,
    plans::CLEAR,
    plans::CLEAR_FILTERS,
    plans::LIST_FILTERS,
    storage::RE_INDEX,
    replica::GET_CONFIG,
    replica::GET_STATUS,
    replica::INITIATE,
    users::ROLES_INFO,
    sasl::SASL_CONTINUE,
    sasl::SASL_START,
    status::SERVER_STATUS,
    process::SET_FEATURE_COMPATIBILITY_VERSION,
    process::SET_PARAMETER,
    top::TOP,
    users::USERS_INFO,
    connection_status::WHATS_MY_URI,
];

/// These commands ignore sessions.
const WITHOUT_SESSION: &[&str] = &[
    "connectionStatus",
    "hello",
    "isMaster",
    "ismaster",
    "listCommands",
    "whatsmyuri",
];

/// The commands that refuse unknown fields, with their known ones.
const STRICT: &[(&str, &[&str])] = &[
    ("connectionStatus", &["showPrivileges"]),
    ("getCmdLineOpts", &[]),
    ("getDefaultRWConcern", &["inMemory"]),
    ("getFreeMonitoringStatus", &[]),
    ("getLog", &[]),
    ("hostInfo", &[]),
    ("logout", &[]),
    (
        "setFeatureCompatibilityVersion",
        &[
            "downgradeOnDiskChanges",
            "fromConfigServer",
            "phase",
            "timestamp",
        ],
    ),
];

impl Command {
    fn rules(&self) -> Rules {
        let rules = Rules::of_server(match self.name {
            "ismaster" => "isMaster",
            name => name,
        });
        if WITHOUT_SESSION.contains(&self.name) {
            rules.without_session()
        } else {
            rules
        }
    }

    /// Runs the command, after checking its fields.
    pub(crate) fn answer(&self, call: &mut Call<'_>) -> Result<Document, ServerError> {
        call.state.service.admit(self.rules(), call.command)?;
        if let Some((_, fields)) = STRICT.iter().find(|(name, _)| *name == self.name) {
            let mut given = raw::elements(call.command).skip(1);
            let unknown =
                given.find(|(name, _)| !fields.contains(name) && !COMMON_FIELDS.contains(name));
            if let Some((name, _)) = unknown {
                return Err(args::unknown(self.name, name));
            }
        }
        (self.run)(call)
    }
}

/// The server's own command of this name.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    let at = COMMANDS
        .binary_search_by_key(&name, |command| command.name)
        .ok()?;
    COMMANDS.get(at)
}

/// Refuses a command on any database except `admin`.
fn only_admin(call: &Call<'_>) -> Result<(), ServerError> {
    if raw::get(call.command, "$db") == Some(RawBsonRef::String("admin")) {
        return Ok(());
    }
    Err(ServerError::new(
        Code::UNAUTHORIZED,
        format!("{} may only be run against the admin database.", call.name),
    ))
}

/// Whether unauthenticated clients may send the engine's command of this name.
pub(crate) fn is_open(name: &str) -> bool {
    matches!(name, "ping" | "buildInfo" | "buildinfo")
}

/// The answer to a command with `help: true`.
pub(crate) fn help(name: &str) -> Result<RawDocumentBuf, ServerError> {
    reply(doc! { "help": format!("help for: {name} no help defined") })
}

/// The reply of a successful command.
pub(crate) fn reply(fields: Document) -> Result<RawDocumentBuf, ServerError> {
    odm_engine::reply::reply(fields)
}

#[cfg(test)]
mod tests {
    use odm_language::version::ServerVersion;

    use super::*;

    #[test]
    fn commands_are_sorted() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
    }

    /// What to do when the section is stale.
    const REMEDY: &str = "ODM_WRITE=1 cargo test -p odm-server the_book_lists_server_commands";

    /// Generates the last section of the support table from the table of commands and the list of MongoDB's own.
    #[test]
    fn the_book_lists_server_commands() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let names = std::fs::read_to_string(root.join("tests/cases/names/server.json")).unwrap();
        let listed: Document = serde_json::from_str(&names).unwrap();
        let listed = listed.get_array("commands").unwrap().iter();
        let names = |wanted: &dyn Fn(&str) -> bool| {
            let names = listed.clone().filter_map(bson::Bson::as_str);
            let names: Vec<String> = names
                .filter(|name| wanted(name))
                .map(|name| format!("`{name}`"))
                .collect();
            names.join(" ")
        };
        let is_own = |name: &str| COMMANDS.iter().any(|command| command.name == name);
        let is_absent =
            |name: &str| !is_own(name) && odm_engine::is_absent(name, ServerVersion::V6_0);
        let section = format!(
            "\n## Behind a port\nWhat the feature `server` adds, or answers in the engine's place. Every other command of a server's is \
             not found (59) there.\n\n| | |\n| --- | --- |\n| of the server | {} |\n| not found | {} |\n",
            names(&is_own),
            names(&is_absent)
        );
        let path = root.join("book/src/support.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let at = page.find("\n## Behind a port\n").unwrap_or(page.len());
        let (before, found) = page.split_at(at);
        if std::env::var_os("ODM_WRITE").is_some() {
            std::fs::write(&path, format!("{before}{section}")).unwrap();
        } else {
            assert_eq!(found, section, "book/src/support.md is stale: {REMEDY}");
        }
    }
}
