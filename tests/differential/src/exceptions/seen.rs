//! A difference as the exceptions look at it.

use odm::bson::{Bson, Document};

use crate::cases::Step;
use crate::json::json;

#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// The command, and the pipelines of the views that it may read: what they do is done by this command.
    pub(super) command: Document,
    pub(super) before: &'a [Step],
    pub(super) memory: &'a Document,
    pub(super) server: &'a Document,
}

impl<'a> Seen<'a> {
    pub(super) fn new(
        command: &Document,
        before: &'a [Step],
        memory: &'a Document,
        server: &'a Document,
    ) -> Self {
        Self {
            command: with_views(command, before),
            before,
            memory,
            server,
        }
    }

    /// Whether the engine refuses the command.
    pub(super) fn here(&self) -> bool {
        self.memory.contains_key("code")
    }

    /// Whether the server does.
    pub(super) fn there(&self) -> bool {
        self.server.contains_key("code")
    }

    pub(super) fn both_answer(&self) -> bool {
        !self.here() && !self.there()
    }

    pub(super) fn both_refuse(&self) -> bool {
        self.here() && self.there()
    }

    /// Whether the server finds no more than the engine.
    pub(super) fn loses(&self) -> bool {
        self.both_answer() && found(self.server) <= found(self.memory)
    }

    /// Whether the server finds no less than the engine.
    pub(super) fn finds_more(&self) -> bool {
        self.both_answer() && found(self.server) >= found(self.memory)
    }

    pub(super) fn both_say(&self, text: &str) -> bool {
        message(self.memory).contains(text) && message(self.server).contains(text)
    }

    pub(super) fn mentions(&self, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
        mentions(&self.command, wanted)
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.mentions(&|key, _| names.contains(&key))
    }

    /// Whether a command before it has such a field.
    pub(super) fn mentioned(&self, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
        let mut before = self.before.iter();
        before.any(|step| mentions(&step.command, wanted))
    }

    /// Whether the collection may have a collation.
    pub(super) fn was_collated(&self) -> bool {
        self.mentioned(&|key, _| key == "collation")
    }

    /// Whether an index was made with such a field.
    pub(super) fn indexed(&self, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
        self.before.iter().any(|step| {
            step.command.contains_key("createIndexes") && mentions(&step.command, wanted)
        })
    }

    /// How many stages the command runs, one more where it reads a view.
    pub(super) fn stages(&self) -> usize {
        let views = self.command.get_array("views").map_or(0, |it| it.len() + 1);
        let stages = ["pipeline", "update"]
            .map(|name| self.command.get_array(name).map_or(0, Vec::len))
            .iter()
            .sum::<usize>();
        views + stages
    }

    /// Whether an update before it ran more than one stage: what it left behind is read now.
    pub(super) fn was_piped(&self) -> bool {
        let is_long =
            |update: Option<&Bson>| matches!(update, Some(Bson::Array(it)) if it.len() > 1);
        self.before.iter().any(|step| {
            let updates = step.command.get_array("updates").into_iter().flatten();
            is_long(step.command.get("update"))
                || updates
                    .filter_map(Bson::as_document)
                    .any(|update| is_long(update.get("u")))
        })
    }

    /// How many expressions the projection computes.
    pub(super) fn projected(&self) -> usize {
        ["projection", "fields"]
            .map(|name| self.command.get(name).map_or(0, expressions))
            .iter()
            .sum()
    }

    /// How many expressions the stages compute.
    pub(super) fn computed(&self) -> usize {
        let stages = ["pipeline", "views"].map(|name| self.command.get_array(name));
        let stages = stages.into_iter().flatten().flatten();
        stages
            .filter_map(Bson::as_document)
            .flat_map(|stage| stage.iter().map(|(_, spec)| expressions(spec)))
            .sum()
    }
}

/// How many documents or values a reply tells of.
fn found(reply: &Document) -> usize {
    let batch = reply.get_document("cursor").ok().and_then(|cursor| {
        let batch = cursor.get_array("firstBatch");
        batch.or_else(|_| cursor.get_array("nextBatch")).ok()
    });
    if let Some(values) = batch.or_else(|| reply.get_array("values").ok()) {
        return values.len();
    }
    let counted = reply.get_document("lastErrorObject").unwrap_or(reply);
    let n = counted.get("n").and_then(|n| match n {
        Bson::Int32(n) => usize::try_from(*n).ok(),
        Bson::Int64(n) => usize::try_from(*n).ok(),
        _ => None,
    });
    n.unwrap_or(0)
}

pub(super) fn message(reply: &Document) -> &str {
    reply.get_str("errmsg").unwrap_or("")
}

pub(super) fn code(reply: &Document) -> i32 {
    reply.get_i32("code").unwrap_or(0)
}

pub(super) fn mentions(document: &Document, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
    document
        .iter()
        .any(|(key, value)| wanted(key, value) || within(value, wanted))
}

fn within(value: &Bson, wanted: &dyn Fn(&str, &Bson) -> bool) -> bool {
    match value {
        Bson::Document(document) => mentions(document, wanted),
        Bson::Array(values) => values.iter().any(|value| within(value, wanted)),
        _ => false,
    }
}

pub(super) fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a part of the path is a number.
pub(super) fn has_number(path: &str) -> bool {
    path.split('.').any(is_number)
}

fn with_views(command: &Document, before: &[Step]) -> Document {
    let views: Vec<Bson> = before
        .iter()
        .filter(|step| step.command.contains_key("viewOn"))
        .filter_map(|step| step.command.get_array("pipeline").ok())
        .flatten()
        .cloned()
        .collect();
    let mut whole = command.clone();
    let text = json(command);
    if !views.is_empty() && (text.contains("\"v\"") || text.contains("\"w\"")) {
        whole.insert("views", views);
    }
    whole
}

fn expressions(value: &Bson) -> usize {
    let is_operator = |document: &Document| {
        let first = document.keys().next();
        first.is_some_and(|key| key.starts_with('$'))
    };
    match value {
        Bson::Document(document) if !is_operator(document) => {
            document.iter().map(|(_, value)| expressions(value)).sum()
        }
        Bson::Document(_) | Bson::Array(_) => 1,
        _ => 0,
    }
}
