//! Clients that the project did not write, on the engine behind a port: pymongo, the Node driver and mongosh run the
//! scripts of `tests/clients`. They are ignored where what they need is not named: see the `README.md` there.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use odm::bson::{self, Bson, doc, oid::ObjectId};
use odm::dbref::{AnyDbRef, DbRef};
use odm::prelude::*;
use odm::server::Server;
use tokio::runtime::Builder;

/// A document of the bucket's files, as drivers write it.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "fs.files")]
struct File {
    #[serde(rename = "_id")]
    id: ObjectId,
    filename: String,
    length: i64,
    #[serde(rename = "chunkSize")]
    chunk_size: i32,
}

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

/// Writes references that the scripts read.
async fn write_references(db: &Db, database: &str) -> odm::Result<()> {
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
            runtime.block_on(write_references(&ours, left))?;
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
    let file = db.collection::<File>().find_all().first().await.unwrap();
    let file = file.expect("the script leaves one file");
    assert_eq!(
        (file.filename.as_str(), file.chunk_size),
        ("renamed.bin", 1000)
    );
    let chunks: Vec<bson::Document> = db
        .collection::<File>()
        .aggregate([
            doc! { "$lookup": {
                "from": "fs.chunks", "localField": "_id", "foreignField": "files_id", "as": "chunk",
            } },
            doc! { "$unwind": "$chunk" },
            doc! { "$replaceWith": "$chunk" },
            doc! { "$sort": { "n": 1 } },
        ])
        .with_type::<bson::Document>()
        .all()
        .await
        .unwrap();
    let content: Vec<u8> = chunks
        .iter()
        .flat_map(|chunk| chunk.get_binary_generic("data").unwrap().clone())
        .collect();
    assert_eq!(i64::try_from(content.len()), Ok(file.length));
    let around = if file.length == 10_500 { 251 } else { 253 };
    assert!(
        content
            .iter()
            .enumerate()
            .all(|(at, byte)| at % around == usize::from(*byte))
    );

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
