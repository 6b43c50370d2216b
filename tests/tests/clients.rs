//! Clients that the project did not write, on the engine behind a port: pymongo, the Node driver and mongosh run the
//! scripts of `tests/clients`. They are ignored where what they need is not named: see the `README.md` there.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use odm::bson::{Bson, doc};
use odm::dbref::{AnyDbRef, DbRef};
use odm::gridfs::File;
use odm::prelude::*;
use odm::server::Server;
use tokio::runtime::Builder;

/// A document with DBRefs, as this project and drivers write it.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "refs")]
struct Linked {
    #[serde(rename = "_id")]
    id: i32,
    author: AnyDbRef,
    #[serde(default)]
    untyped: Option<AnyDbRef>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
}

/// The bytes of a file.
fn content(length: usize, around: usize) -> Vec<u8> {
    let bytes = (0..length).map(|at| u8::try_from(at % around));
    bytes.collect::<Result<_, _>>().unwrap()
}

/// Writes references and a file that the scripts read.
async fn write_ours(db: &Db, database: &str) -> odm::Result<()> {
    let files = db.gridfs::<File>();
    let upload = files.upload("ours.bin").chunk_size(1_000);
    let upload = upload.metadata(&doc! {"kind": "test"});
    upload.bytes(&content(2_500, 249)).await?;
    let author = DbRef::<Author>::from(7).in_database(database);
    let linked = Linked {
        id: 1,
        author: author.to_any()?,
        untyped: Some(AnyDbRef::new("films", "x")),
    };
    db.collection::<Linked>().insert_one(&linked).await?;
    Ok(())
}

fn main() -> ExitCode {
    let python = variable("ODM_TEST_PYTHON");
    let modules = variable("ODM_TEST_NODE_MODULES");
    let shell = modules.as_ref().map(|modules| modules.join(".bin/mongosh"));
    let trials = vec![
        trial("pymongo", python, |python, uri| {
            let mut command = Command::new(python);
            command.arg(script("python.py")).arg(uri);
            (command, Some("clients_python"))
        }),
        trial("node_driver", modules, |modules, uri| {
            let mut command = Command::new("node");
            command.arg(script("node.cjs")).arg(uri);
            command.env("NODE_PATH", modules);
            (command, Some("clients_node"))
        }),
        trial(
            "mongosh",
            shell.filter(|shell| shell.exists()),
            |shell, uri| {
                let mut command = Command::new(shell);
                command.args([uri, "--quiet", "--norc", "--file"]);
                command.arg(script("shell.js"));
                (command, None)
            },
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|it| !it.is_empty())
        .map(PathBuf::from)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(name)
}

/// Runs a script, and reads the documents that it wrote.
fn trial(
    name: &str,
    needs: Option<PathBuf>,
    command: impl FnOnce(&Path, &str) -> (Command, Option<&'static str>) + Send + 'static,
) -> Trial {
    let is_missing = needs.is_none();
    let run = move || {
        let Some(needs) = needs else {
            return Err(Failed::from("tests/clients/README.md says what it needs"));
        };
        let db = Db::memory();
        let server = Server::options().test_commands().bind(&db, "127.0.0.1:0")?;
        let guarded = Server::options()
            .user("ann", "pencil")?
            .bind(&Db::memory(), "127.0.0.1:0")?;
        let (mut command, left) = command(&needs, &server.uri());
        let runtime = Builder::new_current_thread().enable_all().build()?;
        if let Some(left) = left {
            let ours = db.database("clients_rust");
            runtime.block_on(write_ours(&ours, left))?;
        }
        let user_uri = guarded.uri().replace("//", "//ann:pencil@");
        let output = command.env("ODM_TEST_USER_URI", user_uri).output()?;
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        if !output.status.success() || !out.lines().any(|line| line == "passed") {
            return Err(Failed::from(format!("{}\n{out}\n{err}", output.status)));
        }
        if let Some(left) = left {
            runtime.block_on(what_is_left_can_be_read(&db.database(left)));
        }
        Ok(())
    };
    Trial::test(name.to_owned(), run).with_ignored_flag(is_missing)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The file and the reference that the script wrote through its driver.
async fn what_is_left_can_be_read(db: &Db) {
    let files = db.gridfs::<File>();
    let reader = files.download_by_name("renamed.bin").open().await.unwrap();
    let (length, size) = (reader.len(), reader.file().chunk_size);
    let around = if length == 10_500 { 251 } else { 253 };
    let expected = content(usize::try_from(length).unwrap(), around);
    assert_eq!(size.get(), 1_000);
    let download = files.download_by_name("renamed.bin");
    assert_eq!(download.bytes().await.unwrap(), expected);
    let part = files.download_by_name("renamed.bin").range(1_990..2_010);
    assert_eq!(
        part.bytes().await.unwrap(),
        expected.get(1_990..2_010).unwrap()
    );
    let report = db.check(models![File]).await.unwrap();
    assert!(report.is_sound(), "{report}");

    let refs = db.collection::<Linked>();
    let linked = refs.get(&1).await.unwrap().unwrap();
    assert_eq!(linked.author.collection(), "authors");
    assert!(matches!(
        linked.author.id(),
        Bson::Int32(7) | Bson::ObjectId(_)
    ));
    // Its fields are in another order, and it has one more.
    let linked = refs.get(&2).await.unwrap().unwrap();
    let author = linked.author.typed::<Author>().unwrap();
    assert_eq!((author.id(), author.database()), (&7, Some(db.name())));
    assert_eq!(*author.extra(), doc! { "rank": 1 });
}
