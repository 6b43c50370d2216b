//! Writes models of the collections of a database, or of a folder of dumps.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program prints"
)]

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
#[cfg(feature = "mongodb")]
use odm::Db;
use odm::pull::{self, Pull, Pulled, Sample};

/// Writes Rust structs for the collections of a database, or of a folder that mongodump has written.
#[derive(Debug, Parser)]
#[command(
    name = "odm-pull",
    version,
    after_help = "Exit codes: 0 success, 1 failure, 2 the file would change (with --check)."
)]
struct Args {
    /// The connection string, with the name of the database. The variable `MONGODB_URI` keeps it out of lists of processes.
    #[cfg(feature = "mongodb")]
    #[arg(long, conflicts_with = "folder")]
    uri: Option<String>,

    /// A folder of mongodump or mongoexport to read in place of a database.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// The database, where the folder has several, or in place of that of the connection string.
    #[arg(long, value_name = "NAME")]
    database: Option<String>,

    /// The file to write instead of the standard output. An existing file keeps its edits, and gets what is new.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Writes nothing, and ends with 2 if the file would change.
    #[arg(long, requires = "output")]
    check: bool,

    /// How many random documents of each collection are read.
    #[arg(long, value_name = "DOCUMENTS", default_value_t = 1_000)]
    sample: u64,

    /// Reads the first documents by `_id` instead.
    #[arg(long, value_name = "DOCUMENTS", conflicts_with = "sample")]
    first: Option<u64>,

    /// Reads the last documents by `_id` instead.
    #[arg(long, value_name = "DOCUMENTS", conflicts_with_all = ["sample", "first"])]
    last: Option<u64>,

    /// Reads all documents instead.
    #[arg(long, conflicts_with_all = ["sample", "first", "last"])]
    all: bool,

    /// Only these collections.
    #[arg(long, value_name = "COLLECTION", value_delimiter = ',')]
    only: Vec<String>,

    /// Leaves out a collection, or a field: `books`, `books.author.age`.
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    except: Vec<String>,

    /// The share of ids that have to resolve for a field to be a reference.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.5")]
    reference_share: f64,

    /// The largest number of different strings that become an enum; 0 for no enums.
    #[arg(long, value_name = "COUNT", default_value_t = 12)]
    max_variants: usize,

    /// The largest number of fields that one struct declares.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    max_fields: usize,

    /// Writes null back as absent, where a field is both: `Option<T>` in place of `Option<Option<T>>`.
    #[arg(long)]
    merge_nulls: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("write a number from 0 to 1".to_owned()),
    }
}

impl Args {
    fn sample(&self) -> Sample {
        match (self.all, self.first, self.last) {
            (true, ..) => Sample::All,
            (_, Some(count), _) => Sample::First(count),
            (_, _, Some(count)) => Sample::Last(count),
            _ => Sample::Random(self.sample),
        }
    }

    async fn source(&self) -> Result<Pull<'static>, Box<dyn Error>> {
        let pull = match &self.folder {
            Some(folder) => pull::folder(folder),
            None => self.of_database().await?,
        };
        Ok(match &self.database {
            Some(database) => pull.database(database),
            None => pull,
        })
    }

    #[cfg(feature = "mongodb")]
    async fn of_database(&self) -> Result<Pull<'static>, Box<dyn Error>> {
        let variable = || std::env::var("MONGODB_URI").ok();
        let uri = self.uri.clone().or_else(variable);
        let uri = uri.ok_or("nothing to read: pass `--uri` or `--folder`, or set `MONGODB_URI`")?;
        Ok(Db::connect(&uri).await?.pull())
    }

    #[cfg(not(feature = "mongodb"))]
    #[expect(clippy::unused_async, reason = "with a driver, it connects")]
    async fn of_database(&self) -> Result<Pull<'static>, Box<dyn Error>> {
        Err("nothing to read: pass `--folder`".into())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = u8::from(error.use_stderr());
            // Where help can't be printed, nobody reads it.
            drop(error.print());
            return ExitCode::from(code);
        }
    };
    match run(&args).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("odm-pull: {error}");
            ExitCode::from(1)
        }
    }
}

async fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let pull = args.source().await?;
    let pulled = pull
        .sample(args.sample())
        .only(&args.only)
        .except(&args.except)
        .reference_share(args.reference_share)
        .max_variants(args.max_variants)
        .max_fields(args.max_fields);
    let pulled = if args.merge_nulls {
        pulled.merge_nulls()
    } else {
        pulled
    };
    let pulled = pulled.await?;
    for skipped in pulled.skipped() {
        eprintln!("odm-pull: {skipped}");
    }
    match &args.output {
        None => {
            print!("{}", pulled.to_source());
            Ok(ExitCode::SUCCESS)
        }
        Some(file) => write(&pulled, file, args.check),
    }
}

/// Writes the models into a file, and keeps what it has.
fn write(pulled: &Pulled, file: &Path, check: bool) -> Result<ExitCode, Box<dyn Error>> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let existing = match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error).into()),
    };
    let source = match &existing {
        None => pulled.to_source(),
        Some(existing) => {
            let merged = pulled
                .merge(existing)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            for note in &merged.notes {
                eprintln!("odm-pull: {note}");
            }
            merged.source
        }
    };
    if existing.as_ref() == Some(&source) {
        eprintln!("odm-pull: {} is up to date", file.display());
        return Ok(ExitCode::SUCCESS);
    }
    if check {
        eprintln!("odm-pull: {} would change", file.display());
        return Ok(ExitCode::from(2));
    }
    // Written beside it and moved, so that a failure leaves the older file whole.
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, source).map_err(failed)?;
    fs::rename(&beside, file).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
