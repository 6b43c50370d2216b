//! `listCommands`: the commands of the server and the engine.

use bson::{Document, doc};
use odm_engine::{added_commands, known_commands};

use super::{COMMANDS, Command, is_open};

pub(super) const LIST_COMMANDS: Command = Command {
    name: "listCommands",
    run: |call| {
        let has = |name: &str| name != "configureFailPoint" || call.state.options.test_commands;
        let own = COMMANDS.iter().map(|row| (row.name, row.is_open));
        let version = call.state.service.context().version();
        let of_engine = known_commands().iter().chain(added_commands(version));
        let of_engine = of_engine.map(|row| (row.name, is_open(row.name)));
        let mut all: Vec<_> = own.chain(of_engine).filter(|(name, _)| has(name)).collect();
        // For a command that both have, the open row comes first and is kept.
        all.sort_unstable_by_key(|(name, is_open)| (*name, !is_open));
        all.dedup_by_key(|(name, _)| *name);
        let commands: Document = all
            .into_iter()
            .map(|(name, is_open)| {
                let entry = doc! { "requiresAuth": !is_open };
                (name.to_owned(), entry.into())
            })
            .collect();
        Ok(doc! { "commands": commands })
    },
    is_open: false,
};
