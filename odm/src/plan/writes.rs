//! Steps that write documents.

use bson::{Bson, Document};

use super::{Action, Step};
use crate::model::ModelMeta;
use crate::store::limits;

/// The field of a write command that lists what it writes.
const STATEMENTS: [&str; 3] = ["updates", "deletes", "documents"];

impl Step {
    /// A step that sends these write commands, in batches of at most 1,000 statements.
    pub(crate) fn writes(
        model: &ModelMeta,
        collection: &str,
        commands: Vec<Document>,
        reason: String,
    ) -> Self {
        let commands: Vec<_> = commands.into_iter().flat_map(batches).collect();
        let count = commands.iter().filter_map(statements).map(<[Bson]>::len);
        Self {
            model: model.name,
            collection: collection.to_owned(),
            action: Action::WriteDocuments {
                count: count.map(|len| len as u64).sum(),
            },
            reasons: vec![reason],
            commands,
            undo: Vec::new(),
            settled: None,
        }
    }
}

impl Step {
    /// Says how many documents the statements write, where one statement writes several.
    pub(crate) fn of_documents(mut self, count: u64) -> Self {
        self.action = Action::WriteDocuments { count };
        self
    }
}

/// The documents or statements of a write command.
fn statements(command: &Document) -> Option<&[Bson]> {
    let mut names = STATEMENTS.iter();
    let listed = names.find_map(|name| command.get_array(name).ok())?;
    Some(listed)
}

/// How many statements of a write command write one document each; `None` for another command, or if a
/// statement may write several.
pub(super) fn single_writes(command: &Document) -> Option<u64> {
    let statements = statements(command)?;
    let is_single = |statement: &Bson| {
        let Bson::Document(statement) = statement else {
            return false;
        };
        !command.contains_key("updates") && !command.contains_key("deletes")
            || !statement.get_bool("multi").unwrap_or_default()
                && statement.get_i32("limit").unwrap_or(1) == 1
    };
    let is_single = statements.iter().all(is_single);
    is_single.then_some(statements.len() as u64)
}

/// The command as several, each with a part of its statements.
fn batches(mut command: Document) -> Vec<Document> {
    let name = STATEMENTS
        .into_iter()
        .find(|name| command.contains_key(name));
    let Some((name, Ok(all))) = name.map(|name| (name, command.get_array_mut(name))) else {
        return vec![command];
    };
    let mut rest = std::mem::take(all);
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let behind = rest.split_off(rest.len().min(limits::STATEMENTS));
        let mut batch = command.clone();
        batch.insert(name, std::mem::replace(&mut rest, behind));
        batches.push(batch);
    }
    batches
}
