//! Prints what the tour shows.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what the tour is for"
)]

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use odm::Db;
use odm::bson::{Bson, Document};
use serde::Serialize;
use serde_json::Value;

/// The width that documents are broken to.
const WIDTH: usize = 110;
/// Longer arrays are shown by their first element and a count.
const LONG: usize = 12;

/// Prints steps, with the commands that were sent in each.
#[derive(Debug)]
pub(crate) struct Show {
    sent: Arc<Mutex<Vec<Document>>>,
}

impl Show {
    /// The same database, with an ear for the commands that are sent.
    pub(crate) fn of(db: &Db) -> (Db, Self) {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        let db = db.on_command(move |event| {
            log.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(event.command.clone());
        });
        (db, Self { sent })
    }

    /// The heading of a step.
    pub(crate) fn step(&self, title: &str) {
        self.commands();
        println!("\n\n## {title}");
    }

    /// The commands sent since this was last asked.
    pub(crate) fn commands(&self) {
        for command in self.forget() {
            println!("\nsent:\n{}", indent(&text(command)));
        }
    }

    /// Forgets the commands sent so far, and hands them over.
    pub(crate) fn forget(&self) -> Vec<Document> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A value as its own serializer stores it.
pub(crate) fn stored(what: &str, value: impl Serialize) -> odm::Result<()> {
    let document = bson::serialize_to_document(&value).map_err(odm::Error::other)?;
    println!("\n{what}, as it is stored:\n{}", indent(&text(document)));
    Ok(())
}

/// What came back.
pub(crate) fn answer(answer: impl Display) {
    println!("\ncame back:\n{}", indent(&answer.to_string()));
}

/// A line of its own.
pub(crate) fn line(text: impl Display) {
    println!("{text}");
}

/// A complaint, where complaints go.
pub(crate) fn complain(text: &str) {
    eprintln!("{text}");
}

/// A document as extended JSON, broken to the page.
pub(crate) fn text(document: Document) -> String {
    let mut out = String::new();
    write(
        &mut out,
        &Bson::Document(document).into_relaxed_extjson(),
        0,
    );
    out
}

fn indent(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Writes `value` on one line if it fits, else with a line for each of its parts.
fn write(out: &mut String, value: &Value, depth: usize) {
    let shown = shorten(value);
    let flat = flat(&shown);
    if flat.chars().count() + 2 * depth <= WIDTH {
        out.push_str(&flat);
        return;
    }
    let parts: Vec<(Option<&String>, &Value)> = match &shown {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (Some(key), value))
            .collect(),
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        _ => {
            out.push_str(&flat);
            return;
        }
    };
    let (open, close) = if shown.is_object() {
        ("{", "}")
    } else {
        ("[", "]")
    };
    out.push_str(open);
    for (at, (key, part)) in parts.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push_str(": ");
        }
        write(out, part, depth + 1);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push_str(close);
}

/// One line, with the spaces that people write.
fn flat(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), flat(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(flat).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

fn shorten(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.len() > LONG => Value::Array(
            items
                .iter()
                .take(1)
                .cloned()
                .chain([Value::from(format!("… and {} more", items.len() - 1))])
                .collect(),
        ),
        other => other.clone(),
    }
}
