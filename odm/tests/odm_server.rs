//! The program `odm-server`: it says where it listens, serves, and ends cleanly when it is told to.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_odm-server");

#[test]
fn it_prints_one_line_and_ends_with_either_signal() {
    for signal in ["-INT", "-TERM"] {
        let mut server = Command::new(PROGRAM)
            .args(["--listen", "127.0.0.1:0", "--replica-set", "one"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let uri = line.trim_end();
        let address = uri
            .strip_prefix("mongodb://")
            .and_then(|rest| rest.strip_suffix("/?replicaSet=one"))
            .unwrap_or_else(|| panic!("{uri}"));
        // A client that is still connected does not keep it.
        let client = TcpStream::connect(address).unwrap();
        let id = server.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(server.wait().unwrap().success(), "{signal}");
        let mut rest = String::new();
        assert_eq!(output.read_line(&mut rest).unwrap(), 0, "{rest}");
        drop(client);
    }
}

#[test]
fn what_cannot_be_is_told() {
    for (arguments, reason) in [
        (vec!["--listen", "0.0.0.0:0"], "no loopback address"),
        (vec!["--listen", "nowhere"], "can't be opened"),
        (vec!["--user", "ann"], "ODM_SERVER_PASSWORD"),
        (vec!["--nonsense"], "--nonsense"),
    ] {
        let output = Command::new(PROGRAM)
            .args(&arguments)
            .env_remove("ODM_SERVER_PASSWORD")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(reason),
            "{arguments:?}: {said}"
        );
        assert!(output.stdout.is_empty());
    }
}
