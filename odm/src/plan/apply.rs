//! Applying a plan.

use std::fmt;

use bson::{Bson, Document, doc};
use futures_core::future::BoxFuture;

use super::writes::single_writes;
use super::{Action, Allow, Applied, Plan, Step};
use crate::error::{Code, Error, Result, ServerError};
use crate::store::Store;

/// A plan about to be applied: [`Plan::apply`].
#[must_use = "a plan does nothing until `apply` is awaited"]
pub struct Apply<'p> {
    plan: &'p Plan,
    allow: Allow,
    report: Option<Box<Report<'p>>>,
}

/// A function that is called after each command.
type Report<'p> = dyn FnMut(&Progress<'_>) + Send + 'p;

/// How far a plan is, after each of its commands.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The step that the command belongs to.
    pub step: &'a Step,
    /// How many commands of the step are done.
    pub done: usize,
    /// How many commands the step has.
    pub commands: usize,
    /// How many documents the plan has written so far.
    pub written: u64,
}

impl<'p> Apply<'p> {
    pub(super) fn new(plan: &'p Plan, allow: Allow) -> Self {
        Self {
            plan,
            allow,
            report: None,
        }
    }

    /// Calls `report` after each command.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let plan = books.bulk_write(|w| [w.update_all(|b| b.year.inc(1))]).plan("a year early")?;
    /// let mut written = Vec::new();
    /// plan.apply(Allow::WRITE).on_progress(|progress| written.push(progress.written)).await?;
    /// assert_eq!(written, [3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(&Progress<'_>) + Send + 'p) -> Self {
        self.report = Some(Box::new(report));
        self
    }

    async fn run(mut self) -> Result<Applied> {
        let mut applied = Applied::default();
        for step in &self.plan.steps {
            if step.is_allowed(self.allow) {
                self.step(step, &mut applied).await?;
                applied.done.push(step.clone());
            } else {
                applied.left.push(step.clone());
            }
        }
        #[cfg(feature = "tracing")]
        if !applied.is_complete() {
            let database = self.plan.store.database();
            tracing::warn!(target: "odm::plan", { db.namespace = database }, "{applied}");
        }
        Ok(applied)
    }

    async fn step(&mut self, step: &Step, applied: &mut Applied) -> Result<()> {
        let admin;
        let store = if matches!(step.action, Action::ShardCollection { .. }) {
            admin = self.plan.store.sibling("admin");
            &admin
        } else {
            &self.plan.store
        };
        for (position, command) in step.commands.iter().enumerate() {
            match send(store, step, command).await {
                Ok(reply) => applied.count(step, command, &reply),
                Err(error) => {
                    let undone = if position == 0 {
                        String::new()
                    } else {
                        undo(store, step).await
                    };
                    return Err(failed(error, step, command, &undone));
                }
            }
            if let Some(report) = &mut self.report {
                report(&Progress {
                    step,
                    done: position + 1,
                    commands: step.commands.len(),
                    written: applied.written,
                });
            }
        }
        Ok(())
    }
}

impl<'p> IntoFuture for Apply<'p> {
    type Output = Result<Applied>;
    type IntoFuture = BoxFuture<'p, Result<Applied>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Apply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apply")
            .field("plan", self.plan)
            .field("allow", &self.allow)
            .finish_non_exhaustive()
    }
}

impl Applied {
    /// Counts the documents of a write command, and the writes that matched none.
    fn count(&mut self, step: &Step, command: &Document, reply: &Document) {
        if !matches!(step.action, Action::WriteDocuments { .. }) {
            return;
        }
        let written = match reply.get("n") {
            Some(Bson::Int32(n)) => u64::try_from(*n).unwrap_or_default(),
            Some(Bson::Int64(n)) => u64::try_from(*n).unwrap_or_default(),
            _ => 0,
        };
        self.written += written;
        if let Some(sent) = single_writes(command) {
            self.unmatched += sent.saturating_sub(written);
        }
    }
}

async fn send(store: &Store, step: &Step, command: &Document) -> Result<Document> {
    let error = match store.run_command(command.clone()).await {
        Ok(reply) => match refused_write(&reply) {
            None => return Ok(reply),
            Some(error) => error,
        },
        Err(error) => error,
    };
    // Several processes may start with the same models; another one may have created the collection first.
    if let Some(settled) = step.settled
        && error.code() == Some(Code::NAMESPACE_EXISTS)
    {
        let kind = match step.action {
            Action::CreateView => "view",
            _ => "collection",
        };
        let filter = doc! {"name": &step.collection, "type": kind};
        let command_list = doc! {"listCollections": 1, "filter": filter};
        let listed = store.run_cursor(command_list).await?;
        if listed.first().is_some_and(|there| {
            let options = there.get_document("options").cloned().unwrap_or_default();
            (settled.0)(&options, command)
        }) {
            return Ok(Document::new());
        }
    }
    Err(error)
}

/// The first write that the server refused, in a reply that says `ok: 1`.
fn refused_write(reply: &Document) -> Option<Error> {
    let errors = reply.get_array("writeErrors").ok()?;
    let first = bson::serialize_to_raw_document_buf(errors.first()?.as_document()?).ok()?;
    Some(ServerError::of_document(&first).into())
}

/// Undoes what the step dropped or prepared, and returns a note for the error message.
async fn undo(store: &Store, step: &Step) -> String {
    let (names, left, back) = match &step.action {
        Action::RecreateView => (
            "the view".to_owned(),
            "dropped and not created again",
            "put back as before",
        ),
        Action::RebuildIndexes { names } => (
            names.join(", "),
            "dropped and not built again",
            "put back as before",
        ),
        Action::ChangeIndex { name } if !step.undo.is_empty() => (
            name.clone(),
            "still refusing duplicates",
            "left as it is, not unique",
        ),
        _ => return String::new(),
    };
    for command in &step.undo {
        if let Err(error) = store.run_command(command.clone()).await {
            return format!(", with {names} {left} ({error})");
        }
    }
    format!(", with {names} {back}")
}

fn failed(error: Error, step: &Step, command: &Document, undone: &str) -> Error {
    let verb = command.keys().next().map_or("", String::as_str);
    error
        .with_model(step.model)
        .context(format!("{verb} on `{}`{undone}", step.collection))
}
