//! The program `odm-server`: it says where it listens, serves, and ends cleanly when it is told to.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_odm-server");

#[test]
fn the_server_prints_one_line_and_stops_on_signals() {
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
fn the_server_loads_at_start_and_dumps_at_exit() {
    let folder = folder("seeded");
    let fixtures = folder.join("fixtures");
    fs::create_dir_all(fixtures.join("shop")).unwrap();
    fs::write(fixtures.join("users.json"), "{\"_id\": 1}").unwrap();
    fs::write(fixtures.join("notes.txt"), "").unwrap();
    // `{"_id": 7}` as BSON.
    let order = b"\x0e\0\0\0\x10_id\0\x07\0\0\0\0";
    fs::write(fixtures.join("shop/orders.bson"), order).unwrap();
    let dump = folder.join("dump");
    // The second time, both are one folder.
    for (seed, told) in [(&fixtures, "notes.txt: its name ends neither"), (&dump, "")] {
        let mut server = Command::new(PROGRAM)
            .args(["--listen", "127.0.0.1:0", "--seed"])
            .arg(seed)
            .arg("--dump")
            .arg(&dump)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with("mongodb://"), "{line}");
        let id = server.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        let ended = server.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success() && said.contains(told), "{said}");
        assert_eq!(said.lines().count(), usize::from(!told.is_empty()));
        assert_eq!(fs::read(dump.join("shop/orders.bson")).unwrap(), order);
        assert!(dump.join("test/users.metadata.json").exists());
        assert!(!dump.join(".odm-dump").exists());
    }
}

#[test]
fn the_server_dumps_beside_a_changed_folder() {
    let folder = folder("rescued");
    let (seed, dump) = (folder.join("seed"), folder.join("dump"));
    fs::create_dir_all(&seed).unwrap();
    fs::write(seed.join("users.json"), "{\"_id\": 1}").unwrap();
    let mut server = Command::new(PROGRAM)
        .args(["--listen", "127.0.0.1:0", "--seed"])
        .args([&seed, Path::new("--dump"), &dump])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    fs::write(dump.join("notes.txt"), "mine").unwrap();
    let id = server.id().to_string();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    let ended = server.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success(), "{said}");
    assert!(
        said.contains("notes.txt would be lost") && said.contains("dump.rescued instead"),
        "{said}"
    );
    assert!(folder.join("dump.rescued/test/users.bson").exists());
    assert_eq!(fs::read_to_string(dump.join("notes.txt")).unwrap(), "mine");
}

/// A folder of the test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("odm_server")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn invalid_arguments_are_reported() {
    let broken = folder("broken");
    fs::write(broken.join("books.json"), "{\"_id\": 1}\n{").unwrap();
    let broken = broken.to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (arguments, reason) in [
        (vec!["--listen", &taken], &*taken),
        (vec!["--listen", "0.0.0.0:0", "--bind-all"], "--user NAME"),
        (vec!["--max-connections", "0"], "at least 1"),
        (vec!["--max-connections", "many"], "--max-connections"),
        (vec!["--listen", "0.0.0.0:0"], "not a loopback address"),
        (vec!["--listen", "nowhere"], "can't be opened"),
        (vec!["--user", "ann"], "ODM_SERVER_PASSWORD"),
        (vec!["--nonsense"], "--nonsense"),
        (vec!["--version", "8"], "as in 8.0, not 8"),
        (
            vec!["--version", "5.0"],
            "no version 5.0, only 6.0, 7.0 and 8.0",
        ),
        (vec!["--seed"], "--seed"),
        (vec!["--seed", "/nowhere"], "/nowhere: it can't be read"),
        (vec!["--seed", broken], "books.json: document 2: EOF"),
        (vec!["--seed", "/dev/null"], "/dev/null"),
        (vec!["--dump", broken], "books.json would be lost"),
        (
            vec!["--dump", "/dev/null"],
            "/dev/null: it can't be written",
        ),
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
