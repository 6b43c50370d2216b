//! Where a repair that stopped goes on.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};

use super::queue::{Phase, Task};
use crate::error::{Error, Result};
use crate::types::json::text;

/// The place where a repair stopped: [`RepairReport::rest`](super::RepairReport::rest).
///
/// Its text is one line of JSON, to keep in a file or to pass on a command line.
///
/// ```
/// use odm::repair::RepairToken;
///
/// let text = r#"{"tasks":[{"phase":"copies","model":"Book"}],"after":{"$numberInt":"7"}}"#;
/// let token: RepairToken = text.parse()?;
/// assert_eq!(token.to_string(), text);
/// # Ok::<(), odm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RepairToken {
    /// The tasks that are left; the first has begun.
    pub(super) tasks: VecDeque<Task>,
    /// The `_id` of the last document that the first task has read.
    pub(super) after: Option<Bson>,
    /// The repair whose images are kept.
    pub(super) images: Option<ObjectId>,
}

impl fmt::Display for RepairToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = |task: &Task| {
            let mut written = doc! {"phase": task.phase.name(), "model": &task.model};
            if !task.path.is_empty() {
                written.insert("path", &task.path);
            }
            written
        };
        let tasks: Vec<_> = self.tasks.iter().map(task).collect();
        let mut token = doc! {"tasks": tasks};
        if let Some(after) = &self.after {
            token.insert("after", after.clone());
        }
        if let Some(images) = self.images {
            token.insert("images", images);
        }
        f.write_str(&text::to_text(&token))
    }
}

impl FromStr for RepairToken {
    type Err = Error;

    /// Reads the text of a token.
    ///
    /// # Errors
    ///
    /// The text is not one that a token was written as.
    fn from_str(text: &str) -> Result<Self> {
        read(text).ok_or_else(|| {
            let example = r#"{"tasks":[{"phase":"copies","model":"Book"}],"after":7}"#;
            Error::usage(format!(
                "a token of a repair is a line as {example}, not {text:?}"
            ))
        })
    }
}

fn read(text: &str) -> Option<RepairToken> {
    let mut token = text::document(text.as_bytes()).ok()?;
    let after = token.remove("after");
    let images = match token.remove("images") {
        None => None,
        Some(Bson::ObjectId(images)) => Some(images),
        Some(_) => return None,
    };
    let Some(Bson::Array(tasks)) = token.remove("tasks") else {
        return None;
    };
    let tasks = tasks.into_iter().map(task).collect::<Option<_>>()?;
    token.is_empty().then_some(RepairToken {
        tasks,
        after,
        images,
    })
}

fn task(task: Bson) -> Option<Task> {
    let Bson::Document(task) = task else {
        return None;
    };
    let text = |name: &str| task.get_str(name).ok().map(str::to_owned);
    let is_known = |task: &Document| {
        let mut names = task.keys();
        names.all(|name| ["phase", "model", "path"].contains(&name.as_str()))
    };
    is_known(&task).then_some(Task {
        phase: Phase::named(&text("phase")?)?,
        model: text("model")?,
        path: text("path").unwrap_or_default(),
    })
}
