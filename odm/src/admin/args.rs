//! The arguments of the command.

use std::path::PathBuf;
use std::time::Duration;

use bson::oid::ObjectId;
use clap::{Parser, Subcommand, ValueEnum};

use crate::check::{Aspect, CheckToken};
use crate::error::{Error, Result};
use crate::migrate::MigrationToken;
use crate::model::ModelMeta;
use crate::plan::Allow;
use crate::repair::{Answer, RepairToken};

/// Administers the database of a program's models.
#[derive(Debug, Parser)]
#[command(
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 nothing is wrong, 1 failure, 2 the database differs from the models, 3 documents are damaged."
)]
pub(super) struct Args {
    /// The connection string, with the name of the database. The variable `MONGODB_URI` keeps it out of lists of processes.
    #[cfg(feature = "mongodb")]
    #[arg(long, global = true)]
    uri: Option<String>,

    /// Prints lines of JSON, also on a terminal.
    #[arg(long, global = true)]
    pub(super) json: bool,

    /// Only this model, by its Rust name; can be given several times.
    #[arg(long = "model", value_name = "NAME", global = true)]
    models: Vec<String>,

    #[command(subcommand)]
    pub(super) command: Command,
}

/// The command that runs.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compares collections, validators and indexes with the models.
    Plan,

    /// Applies the plan, as far as it is allowed.
    Apply {
        /// What the plan may do.
        #[arg(long, value_delimiter = ',', default_value = "create")]
        allow: Vec<Permission>,

        /// Applies it; without this, the plan is only shown.
        #[arg(long)]
        yes: bool,
    },

    /// Compares stored documents with what the models declare.
    Check(Checked),

    /// Repairs what is damaged.
    Repair(Repaired),

    /// Rewrites documents of older versions of their schema.
    Migrate(Migrated),

    /// Completes changes of several documents that have stopped.
    Resume {
        /// Completes them; without this, they are only counted.
        #[arg(long)]
        yes: bool,
    },

    /// Checks stored documents again and again, range by range, until it is stopped.
    Scrub {
        /// Reads at most this many documents each second.
        #[arg(long, value_name = "DOCUMENTS", default_value_t = 1_000)]
        rate: u32,

        /// Checks a range again after this time.
        #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "86400")]
        every: Duration,

        /// Ends when nothing is due.
        #[arg(long)]
        once: bool,

        /// Scrubs, and stores how far it is; without this, it is only shown how far the scrub is.
        #[arg(long)]
        yes: bool,
    },

    /// Reports schema anti-patterns of stored data.
    Advise {
        /// How many documents of each collection are read.
        #[arg(long, value_name = "DOCUMENTS")]
        sample: Option<u64>,
    },

    /// Writes a report of the models and the database: one HTML page, which loads nothing.
    Report {
        /// The file to write instead of the standard output.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,

        /// The title of the page.
        #[arg(long)]
        title: Option<String>,

        /// Checks all documents, and not a sample of large collections.
        #[arg(long)]
        full: bool,
    },

    /// Draws the models, as a Mermaid entity diagram or as SVG.
    Diagram {
        #[arg(long, value_enum, default_value_t = Drawing::Mermaid)]
        format: Drawing,

        /// The file to write instead of the standard output.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },

    /// Adds up the largest document of each model, and compares it with its budget.
    Budget,

    /// Prints the declared shapes of the models, as a lock file holds them.
    Lock {
        /// Compares the models with this lock file instead.
        #[arg(long, value_name = "FILE")]
        check: Option<PathBuf>,

        /// The file to write instead of the standard output.
        #[arg(long, value_name = "FILE", conflicts_with = "check")]
        output: Option<PathBuf>,
    },
}

/// How a diagram is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Drawing {
    /// The text of a Mermaid entity diagram.
    Mermaid,
    /// A drawing.
    Svg,
}

/// The options of a check.
#[derive(Debug, clap::Args)]
pub(super) struct Checked {
    /// Compares only this.
    #[arg(long, value_name = "ASPECT", value_delimiter = ',', value_parser = aspect)]
    pub(super) only: Vec<Aspect>,

    /// Leaves this out.
    #[arg(long, value_name = "ASPECT", value_delimiter = ',', value_parser = aspect)]
    pub(super) without: Vec<Aspect>,

    /// Reads this many documents of each collection, chosen at random.
    #[arg(long, value_name = "DOCUMENTS")]
    pub(super) sample: Option<u64>,

    /// Reads at most this many documents each second.
    #[arg(long, value_name = "DOCUMENTS")]
    pub(super) rate: Option<u32>,

    /// Stops after this time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,

    /// Goes on where a check stopped.
    #[arg(long, value_name = "TOKEN", value_parser = text::<CheckToken>)]
    pub(super) resume: Option<CheckToken>,
}

/// The options of a repair.
#[derive(Debug, clap::Args)]
pub(super) struct Repaired {
    /// What to do where the data has several answers, such as `Book.author=set-null`; can be given several times.
    #[arg(long = "answer", value_name = "MODEL.PATH=ANSWER", value_parser = answer)]
    pub(super) answers: Vec<(String, String, Answer)>,

    /// Repairs only this.
    #[arg(long, value_name = "ASPECT", value_delimiter = ',', value_parser = aspect)]
    pub(super) only: Vec<Aspect>,

    /// Reads at most this many documents each second.
    #[arg(long, value_name = "DOCUMENTS")]
    pub(super) rate: Option<u32>,

    /// Stops after this time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,

    /// Goes on where a repair stopped, without another plan.
    #[arg(long, value_name = "TOKEN", value_parser = text::<RepairToken>, requires = "yes")]
    pub(super) resume: Option<RepairToken>,

    /// Keeps the documents as they were, so that the repair can be undone.
    #[arg(long)]
    pub(super) keep_images: bool,

    /// Undoes a repair that has kept images.
    #[arg(long, value_name = "ID", conflicts_with_all = ["answers", "only", "resume", "keep_images"])]
    pub(super) undo: Option<ObjectId>,

    /// Repairs it; without this, the plan is only shown.
    #[arg(long)]
    pub(super) yes: bool,
}

/// The options of a migration.
#[derive(Debug, clap::Args)]
pub(super) struct Migrated {
    /// Rewrites at most this many documents each second.
    #[arg(long, value_name = "DOCUMENTS")]
    pub(super) rate: Option<u32>,

    /// Stops after this time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,

    /// Goes on where a migration stopped, without another plan.
    #[arg(long, value_name = "TOKEN", value_parser = text::<MigrationToken>, requires = "yes")]
    pub(super) resume: Option<MigrationToken>,

    /// Migrates; without this, the plan is only shown.
    #[arg(long)]
    pub(super) yes: bool,
}

/// What a plan may do.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Permission {
    /// Create missing collections and indexes.
    Create,
    /// Change validators, and options of indexes and collections.
    Change,
    /// Drop and rebuild indexes.
    Drop,
    /// Write documents.
    Write,
}

impl Permission {
    pub(super) fn all(permissions: &[Self]) -> Allow {
        let allow = |permission: &Self| match permission {
            Self::Create => Allow::CREATE,
            Self::Change => Allow::CHANGE,
            Self::Drop => Allow::DROP,
            Self::Write => Allow::WRITE,
        };
        let permissions = permissions.iter().map(allow);
        permissions.fold(Allow::NOTHING, |all, one| all | one)
    }
}

impl Command {
    pub(super) fn needs_database(&self) -> bool {
        !matches!(
            self,
            Self::Diagram { .. } | Self::Budget | Self::Lock { .. }
        )
    }
}

impl Args {
    /// The connection string.
    #[cfg(feature = "mongodb")]
    pub(super) fn uri(&self) -> Option<String> {
        let variable = || std::env::var("MONGODB_URI").ok();
        self.uri.clone().or_else(variable)
    }

    /// The models that are named, or all.
    pub(super) fn chosen(&self, models: &[&'static ModelMeta]) -> Result<Vec<&'static ModelMeta>> {
        for name in &self.models {
            if models.iter().all(|model| model.name != name) {
                let names: Vec<_> = models.iter().map(|model| model.name).collect();
                return Err(Error::usage(format!(
                    "there is no model {name:?}, but {}",
                    names.join(", ")
                )));
            }
        }
        if !self.models.is_empty() && matches!(self.command, Command::Lock { .. }) {
            let message = "a lock file holds all models: leave out `--model`";
            return Err(Error::usage(message));
        }
        let is_chosen = |model: &&&ModelMeta| {
            self.models.is_empty() || self.models.iter().any(|name| name == model.name)
        };
        Ok(models.iter().filter(is_chosen).copied().collect())
    }
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "no number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn text<T: std::str::FromStr<Err = Error>>(text: &str) -> std::result::Result<T, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

fn aspect(text: &str) -> std::result::Result<Aspect, String> {
    let mut all = Aspect::ALL.into_iter();
    all.find(|aspect| name(*aspect) == text).ok_or_else(|| {
        let names: Vec<_> = Aspect::ALL.into_iter().map(name).collect();
        format!("the aspects are {}", names.join(", "))
    })
}

/// The name of an aspect in arguments: `two-way`.
fn name(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::References => "references",
        Aspect::TwoWay => "two-way",
        Aspect::Copies => "copies",
        Aspect::Summaries => "summaries",
        Aspect::Recent => "recent",
        Aspect::Buckets => "buckets",
        Aspect::Files => "files",
        Aspect::ShardKeys => "shard-keys",
        Aspect::SchemaVersions => "schema-versions",
        Aspect::Validator => "validator",
        Aspect::UndeclaredFields => "undeclared-fields",
        Aspect::Trees => "trees",
        Aspect::Indexes => "indexes",
        Aspect::UnfinishedChanges => "unfinished-changes",
    }
}

fn answer(text: &str) -> std::result::Result<(String, String, Answer), String> {
    let refused = || "write it as `Book.author=set-null`".to_owned();
    let (place, answer) = text.rsplit_once('=').ok_or_else(refused)?;
    let (model, path) = place.split_once('.').ok_or_else(refused)?;
    let answer = answer.parse().map_err(|error: Error| error.to_string())?;
    Ok((model.to_owned(), path.to_owned(), answer))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn answers_are_read() {
        let read = answer("Work.in_map.*=set-null").unwrap();
        assert_eq!(
            read,
            ("Work".to_owned(), "in_map.*".to_owned(), Answer::SetNull)
        );
        assert!(answer("Work=set-null").is_err());
        assert!(answer("Work.a=nothing").unwrap_err().contains("set-null"));
    }
}
