//! An administrator's command of a program's models.
//!
//! One line makes it; the arguments are those of the process:
//!
//! ```no_run
//! # use odm::prelude::*;
//! # #[derive(Debug, Serialize, Deserialize, Document)]
//! # #[odm(collection = "books")]
//! # struct Book { #[serde(rename = "_id")] id: i32 }
//! #[tokio::main]
//! async fn main() -> std::process::ExitCode {
//!     odm::admin::run(models![Book]).await
//! }
//! ```
//!
//! | command | what it does | writes with `--yes` |
//! | --- | --- | --- |
//! | `plan` | compares collections, validators and indexes with the models: [`Db::sync`] | |
//! | `apply` | applies that plan, as far as `--allow` goes | yes |
//! | `check` | compares stored documents with what the models declare: [`Db::check`] | |
//! | `repair` | repairs what is damaged, as `--answer` says: [`Db::repair`]; `--undo` undoes a repair | yes |
//! | `migrate` | rewrites documents of older versions of their schema: [`Db::migrate`] | yes |
//! | `resume` | completes changes of several documents that have stopped | yes |
//! | `scrub` | checks stored documents again and again, until it is stopped: [`Db::scrub`] | its progress |
//! | `advise` | reports schema anti-patterns of stored data: [`Db::advise`] | |
//! | `report` | writes a page about the models and the database: [`Db::report`] | |
//! | `diagram` | draws the models: [`Diagram`](crate::schema::Diagram) | |
//! | `budget` | adds up the largest document of each model | |
//! | `lock` | prints the shapes of the models, or with `--check FILE` what differs from a [lock file](crate::schema::check_lock) | |
//!
//! A command changes nothing without `--yes`; it shows what it would do. On a terminal it prints text, with bars of progress; where
//! its output goes elsewhere, or with `--json`, it prints lines of JSON, each an object of one field that says what it is:
//! `{"finding": {…}}`. The last line is a `summary`.
//!
//! The exit code is 0 if nothing is wrong, or everything was put right; 1 after a failure, such as a database that can't be reached
//! or arguments that make no sense; 2 if the database differs from its models, documents are of older versions of their
//! schema, a model may exceed its budget, or the models differ from a lock file; 3 if documents are damaged, or could not
//! be migrated.

mod args;
mod commands;
mod output;

use std::process::ExitCode;

use clap::Parser;

use self::args::Args;
use self::output::Output;
use crate::collection::Db;
#[cfg(feature = "mongodb")]
use crate::error::Error;
use crate::error::Result;
use crate::model::ModelMeta;

/// What a command has found, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Nothing,
    Drift,
    Damage,
}

impl Outcome {
    fn code(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Drift => 2,
            Self::Damage => 3,
        }
    }
}

/// Runs the command that the arguments of the process name, on the database that `--uri` or the environment variable `MONGODB_URI`
/// names.
///
/// It prints to the standard output, and failures and progress to the standard error. See the [module](self) for the commands.
#[cfg(feature = "mongodb")]
pub async fn run(models: impl IntoIterator<Item = &'static ModelMeta>) -> ExitCode {
    let models = models.into_iter().collect();
    with_args(models, async |args: &Args| {
        let uri = args.uri().ok_or_else(|| {
            Error::usage("no database is named: pass `--uri`, or set `MONGODB_URI`")
        })?;
        Db::connect(&uri).await
    })
    .await
}

/// Runs the command that the arguments of the process name on a database that the program has opened: with options of its own, or in
/// memory.
///
/// ```no_run
/// # use odm::prelude::*;
/// # #[derive(Debug, Serialize, Deserialize, Document)]
/// # #[odm(collection = "books")]
/// # struct Book { #[serde(rename = "_id")] id: i32 }
/// #[tokio::main]
/// async fn main() -> std::process::ExitCode {
///     let db = Db::memory();
///     odm::admin::run_on(&db, models![Book]).await
/// }
/// ```
pub async fn run_on(db: &Db, models: impl IntoIterator<Item = &'static ModelMeta>) -> ExitCode {
    let models = models.into_iter().collect();
    with_args(models, async |_: &Args| Ok(db.clone())).await
}

async fn with_args(
    models: Vec<&'static ModelMeta>,
    open: impl AsyncFnOnce(&Args) -> Result<Db>,
) -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // A request for help is no failure. Where it can't be printed, nobody reads it.
            let code = u8::from(error.use_stderr());
            drop(error.print());
            return ExitCode::from(code);
        }
    };
    let mut output = Output::new(args.json);
    let outcome = async {
        let models = args.chosen(&models)?;
        // Drawings, budgets and lock files need no database.
        let db = if args.command.needs_database() {
            Some(open(&args).await?)
        } else {
            None
        };
        commands::run(&args.command, db.as_ref(), &models, &mut output).await
    };
    match outcome.await {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => {
            output.failure(&error);
            ExitCode::from(1)
        }
    }
}
