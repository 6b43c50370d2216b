//! The in-memory engine as a server of its own, for any MongoDB client.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program prints"
)]

use std::process::ExitCode;

use odm::Db;
use odm::server::Server;

const USAGE: &str = "\
Serves MongoDB clients from memory. Prints the connection string, and serves until SIGINT or SIGTERM.

Usage: odm-server [OPTIONS]

Options:
      --listen ADDRESS    loopback address and port; port 0 takes a free one [default: 127.0.0.1:27017]
      --replica-set NAME  name of the replica set whose only member it is [default: odm]
      --max-connections N connections at once [default: 1000]
      --user NAME         lets in only who knows the password in the environment variable ODM_SERVER_PASSWORD
      --test-commands     takes configureFailPoint, with which tests have commands fail
      --bind-all          lets other machines in, too: --listen takes any address; needs --user
  -h, --help              print this
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
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        use lexopt::prelude::{Long, Short, ValueExt};
        match argument {
            Long("listen") => listen = arguments.value()?.string()?,
            Long("replica-set") => {
                options = options.replica_set(&arguments.value()?.string()?);
            }
            Long("max-connections") => {
                options = options.max_connections(arguments.value()?.parse()?);
            }
            Long("user") => {
                let password = std::env::var("ODM_SERVER_PASSWORD").map_err(
                    |_| "--user needs a password in the environment variable ODM_SERVER_PASSWORD",
                )?;
                options = options.user(&arguments.value()?.string()?, &password)?;
            }
            Long("test-commands") => options = options.test_commands(),
            Long("bind-all") => options = options.bind_all(),
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    // Before the port opens: whoever reads the line may send a signal.
    let (sender, signals) = std::sync::mpsc::channel();
    ctrlc::set_handler(move || {
        // A second signal finds nobody who listens, and need not.
        let _ = sender.send(());
    })?;
    let server = options.bind(&Db::memory(), &*listen)?;
    println!("{}", server.uri());
    signals.recv()?;
    server.stop();
    Ok(())
}
