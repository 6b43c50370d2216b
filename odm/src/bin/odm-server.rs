//! Serves the in-memory engine to any MongoDB client.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program prints"
)]

use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;

use odm::Db;
use odm::server::Server;

// glibc keeps freed memory in its arenas; jemalloc's background threads return it within half a minute.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const USAGE: &str = "\
Serves MongoDB clients from memory. Prints the connection string, and serves until SIGINT or SIGTERM.

Usage: odm-server [OPTIONS]

Options:
      --listen ADDRESS    loopback address and port; port 0 takes a free one [default: 127.0.0.1:27017]
      --replica-set NAME  name of the replica set whose only member it is [default: odm]
      --max-connections N connections at once [default: 1000]
      --user NAME         lets in only who knows the password in the environment variable ODM_SERVER_PASSWORD
      --seed FOLDER       loads the collections in it first: files of mongodump, or Extended JSON; see below
      --dump FOLDER       writes all collections to it at the end, in the files of mongodump; replaces an older dump
      --version VERSION   version of MongoDB to report, whose operators it has: 6.0, 7.0 or 8.0 [default: 6.0]
      --test-commands     takes configureFailPoint, with which tests have commands fail
      --bind-all          lets other machines in, too: --listen takes any address; needs --user
  -h, --help              print this

In the folder of --seed, `shop/books.bson` or `shop/books.json` is the collection `books` of the database `shop`, with options
and indexes in `shop/books.metadata.json`. Files that lie in no folder of it are of the database `test`. Both may name one
folder: then what was written is there again at the next start.
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("odm-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut listen = "127.0.0.1:27017".to_owned();
    let mut options = Server::options();
    let mut seed = None;
    let mut dump = None;
    let mut version = (6, 0);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        use lexopt::prelude::{Long, Short, ValueExt};
        match argument {
            Long("listen") => listen = arguments.value()?.string()?,
            Long("replica-set") => {
                options = options.replica_set(&arguments.value()?.string()?);
            }
            Long("max-connections") => {
                let connections = arguments.value()?;
                let connections = connections.parse::<NonZero<usize>>().map_err(|_| {
                    format!(
                        "--max-connections needs a number of at least 1, not {}",
                        connections.display()
                    )
                })?;
                options = options.max_connections(connections.get());
            }
            Long("user") => {
                let password = std::env::var("ODM_SERVER_PASSWORD").map_err(
                    |_| "--user needs a password in the environment variable ODM_SERVER_PASSWORD",
                )?;
                options = options.user(&arguments.value()?.string()?, &password)?;
            }
            Long("seed") => seed = Some(PathBuf::from(arguments.value()?)),
            Long("dump") => dump = Some(PathBuf::from(arguments.value()?)),
            Long("test-commands") => options = options.test_commands(),
            Long("version") => version = numbers(&arguments.value()?.string()?)?,
            Long("bind-all") => options = options.bind_all(),
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    // Before the port opens, because a program that has read the printed line may send a signal.
    let (sender, signals) = std::sync::mpsc::channel();
    ctrlc::set_handler(move || {
        // After the first signal nothing waits for another, so a failure to send does not matter.
        let _ = sender.send(());
    })?;
    let db = Db::memory_as(version.0, version.1)?;
    if let Some(folder) = seed {
        for skipped in db.import(folder)?.skipped {
            eprintln!(
                "odm-server: not loaded: {}: {}",
                skipped.path.display(),
                skipped.reason
            );
        }
    }
    if let Some(folder) = &dump {
        // Checked at the start: at the end it would be too late to choose another folder.
        db.check_dump(folder)?;
    }
    let server = options.bind(&db, &*listen).map_err(|error| {
        let hint = if error.is_config() {
            " (--bind-all and --user NAME)"
        } else {
            ""
        };
        format!("--listen {listen}: {error}{hint}")
    })?;
    println!("{}", server.uri());
    signals.recv()?;
    server.stop();
    match dump {
        Some(folder) => end_with(&db, folder),
        None => Ok(()),
    }
}

/// Dumps to the folder or, if that fails, to a folder beside it.
fn end_with(db: &Db, folder: PathBuf) -> Result<(), Box<dyn std::error::Error>> {
    let Err(error) = db.dump(&folder) else {
        return Ok(());
    };
    let mut rescued = folder.into_os_string();
    rescued.push(".rescued");
    let rescued = PathBuf::from(rescued);
    match db.dump(&rescued) {
        Ok(()) => Err(format!("{error}; all is in {} instead", rescued.display()).into()),
        Err(_) => Err(error.into()),
    }
}

/// The two numbers of a version.
fn numbers(version: &str) -> Result<(u8, u8), String> {
    let parsed = version.split_once('.').and_then(|(major, minor)| {
        let numbers = (major.parse().ok()?, minor.parse().ok()?);
        Some(numbers)
    });
    parsed.ok_or_else(|| format!("--version needs two numbers, as in 8.0, not {version}"))
}
