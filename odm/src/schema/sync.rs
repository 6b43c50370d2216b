//! Reads the existing collections and indexes, and applies the difference.

use std::collections::HashMap;
use std::fmt;

use bson::{Bson, Document, doc};

use crate::error::{Code, Error, Result};
use crate::model::ModelMeta;
use crate::schema::diff::{Existing, Target};
use crate::schema::normal::NormalOptions;
use crate::schema::plan::{self, Action, Allow, Applied, Step};
use crate::schema::validator::{declaration, refuse_system_database};
use crate::store::Store;

/// Names models for [`Db::sync`](crate::collection::Db::sync): `models![Book, Publisher]`.
#[macro_export]
macro_rules! models {
    ($($model:ty),* $(,)?) => {
        [$(<$model as $crate::model::Document>::model()),*]
    };
}

/// Models to compare with a database: [`Db::sync`](crate::collection::Db::sync).
#[derive(Debug, Clone)]
#[must_use = "nothing is compared until `plan` is awaited"]
pub struct Sync {
    store: Store,
    models: Vec<&'static ModelMeta>,
}

impl Sync {
    pub(crate) fn new(store: Store, models: Vec<&'static ModelMeta>) -> Self {
        Self { store, models }
    }

    /// Compares the declarations of the models with the database and returns the difference. Only reads.
    ///
    /// # Errors
    ///
    /// [`is_declaration`](Error::is_declaration): a declaration that can't be carried out, or two
    /// models that claim one collection.
    pub async fn plan(self) -> Result<Plan> {
        let Self { store, models } = self;
        if !models.is_empty() {
            refuse_system_database(store.database())?;
        }
        refuse_shared_collections(&models)?;
        let targets = models
            .iter()
            .map(|meta| Target::new(meta))
            .collect::<Result<Vec<_>>>()?;
        let names: Vec<_> = models.iter().map(|meta| meta.collection).collect();
        let planning = |error: Error| error.context("planning");
        let mut listed = list(&store, &names).await.map_err(planning)?;
        let mut steps = Vec::new();
        for (target, meta) in targets.iter().zip(&models) {
            let existing = match listed.remove(meta.collection) {
                Some(listed) => {
                    let read = existing(&store, meta.collection, listed).await;
                    Some(read.map_err(|error| planning(error.with_model(meta.name)))?)
                }
                None => None,
            };
            steps.extend(target.steps(existing.as_ref()));
        }
        Ok(Plan { store, steps })
    }
}

fn refuse_shared_collections(models: &[&'static ModelMeta]) -> Result<()> {
    for (position, meta) in models.iter().enumerate() {
        let mut before = models.iter().take(position);
        if let Some(other) = before.find(|other| other.collection == meta.collection) {
            let message = if std::ptr::eq(*other, *meta) || other.name == meta.name {
                format!("`{}` is listed twice; list each model once", meta.name)
            } else {
                format!(
                    "`{}` and `{}` both declare the collection `{}`, which can have one validator \
                     and one set of indexes; make one model of them, with an enum in a `#[serde(flatten)]` field \
                     for what differs",
                    other.name, meta.name, meta.collection,
                )
            };
            return Err(declaration(message));
        }
    }
    Ok(())
}

/// The entries of `listCollections` for those of the collections that exist, by name.
async fn list(store: &Store, names: &[&str]) -> Result<HashMap<String, Document>> {
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let listed = store
        .run_cursor(doc! {"listCollections": 1, "filter": {"name": {"$in": names}}})
        .await?;
    let named = listed.into_iter().filter_map(|collection| {
        let name = collection.get_str("name").ok()?.to_owned();
        Some((name, collection))
    });
    Ok(named.collect())
}

/// Reads an existing collection and its indexes.
async fn existing(store: &Store, name: &str, mut listed: Document) -> Result<Existing> {
    let kind = match listed.remove("type") {
        Some(Bson::String(kind)) => kind,
        _ => "collection".to_owned(),
    };
    let options = match listed.remove("options") {
        Some(Bson::Document(options)) => options,
        _ => Document::new(),
    };
    let indexes = if kind == "collection" {
        store.run_cursor(doc! {"listIndexes": name}).await?
    } else {
        Vec::new()
    };
    Ok(Existing {
        kind,
        options,
        indexes,
    })
}

/// The steps that would bring a database in line with its models.
///
/// Print the plan to read it; [`steps`](Self::steps) and [`commands`](Self::commands) return it as data. A
/// plan changes nothing until it is applied.
#[derive(Debug, Clone)]
#[must_use = "a plan does nothing until it is applied"]
pub struct Plan {
    store: Store,
    steps: Vec<Step>,
}

impl Plan {
    /// Whether the database is already in line with the models.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps, in the order in which they are applied.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The commands of all steps, in order, including steps that may not be allowed.
    pub fn commands(&self) -> impl Iterator<Item = &Document> {
        self.steps.iter().flat_map(|step| &step.commands)
    }

    /// Sends the commands of the allowed steps, and returns which steps were done and which were left undone.
    ///
    /// [`Allow::CREATE`] adds what is missing and leaves everything else alone.
    /// `Allow::CREATE | Allow::CHANGE | Allow::DROP` also allows changes and drops.
    ///
    /// # Errors
    ///
    /// The first error of the server, such as a unique index over duplicates. The steps before it stay done.
    /// If its own step had dropped indexes, they are put back, and the error says so. Plan again to see what
    /// remains.
    pub async fn apply(&self, allow: Allow) -> Result<Applied> {
        let mut applied = Applied {
            done: Vec::new(),
            left: Vec::new(),
        };
        for step in &self.steps {
            if !step.is_allowed(allow) {
                applied.left.push(step.clone());
                continue;
            }
            for (position, command) in step.commands.iter().enumerate() {
                if let Err(error) = self.send(step, command).await {
                    let undone = if position == 0 {
                        String::new()
                    } else {
                        self.undo(step).await
                    };
                    return Err(failed(error, step, command, &undone));
                }
            }
            applied.done.push(step.clone());
        }
        Ok(applied)
    }

    /// Undoes what the step dropped or prepared, and returns a note for the error message.
    async fn undo(&self, step: &Step) -> String {
        let (names, left, back) = match &step.action {
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
            if let Err(error) = self.store.run_command(command.clone()).await {
                return format!(", with {names} {left} ({error})");
            }
        }
        format!(", with {names} {back}")
    }

    async fn send(&self, step: &Step, command: &Document) -> Result<()> {
        let Err(error) = self.store.run_command(command.clone()).await else {
            return Ok(());
        };
        // Several processes may start with the same models; another one may have created the collection
        // first.
        if step.action == Action::CreateCollection && error.code() == Some(Code::NAMESPACE_EXISTS) {
            let mut listed = list(&self.store, &[&step.collection]).await?;
            if listed.remove(&step.collection).is_some_and(|there| {
                let options = there.get_document("options").cloned().unwrap_or_default();
                there.get_str("type").is_ok_and(|kind| kind == "collection")
                    && NormalOptions::read(&options) == NormalOptions::read(command)
            }) {
                return Ok(());
            }
        }
        Err(error)
    }
}

fn failed(error: Error, step: &Step, command: &Document, undone: &str) -> Error {
    let verb = command.keys().next().map_or("", String::as_str);
    error
        .with_model(step.model)
        .context(format!("{verb} on `{}`{undone}", step.collection))
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.store.database();
        match self.steps.len() {
            0 => return writeln!(f, "database {database} is in line with its models"),
            1 => writeln!(f, "1 step to bring database {database} in line")?,
            count => writeln!(f, "{count} steps to bring database {database} in line")?,
        }
        plan::print(&self.steps, f)
    }
}
