//! `odm::admin` as a process, on the engine behind a port and on the server that `ODM_TEST_URI` names: every command, and every exit
//! code.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::process::{Command, Output};

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;
use odm::server::Server;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_admin");

/// The command on one database.
struct Admin {
    uri: String,
    db: Db,
}

/// What a process has printed, and how it has ended.
#[derive(Debug)]
struct Ended {
    code: i32,
    lines: Vec<Value>,
    output: Output,
}

impl Ended {
    /// The lines of this kind.
    fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines
            .iter()
            .filter_map(|line| line.get(kind))
            .collect()
    }

    fn summary(&self) -> &Value {
        self.lines.last().unwrap().get("summary").unwrap()
    }

    fn error(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }
}

fn run(arguments: &[&str], uri: Option<&str>) -> Ended {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_remove("MONGODB_URI");
    if let Some(uri) = uri {
        command.env("MONGODB_URI", uri);
    }
    let output = command.output().unwrap();
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice(line).ok());
    Ended {
        code: output.status.code().unwrap(),
        lines: lines.collect(),
        output,
    }
}

impl Admin {
    async fn on(server: &str, database: &str) -> Self {
        let (start, options) = server.split_once('?').unwrap_or((server, ""));
        let uri = format!("{}/{database}?{options}", start.trim_end_matches('/'));
        let db = Db::connect(&uri).await.unwrap();
        db.drop().await.unwrap();
        Self { uri, db }
    }

    /// Runs the command, and expects this exit code.
    fn run(&self, code: i32, arguments: &[&str]) -> Ended {
        let ended = run(arguments, Some(&self.uri));
        assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
        ended
    }

    async fn stored(&self, collection: &str) -> Vec<BsonDocument> {
        let find = doc! {"find": collection, "sort": {"_id": 1}};
        self.db.run_command(find).all().await.unwrap()
    }

    async fn damage(&self) {
        for collection in ["authors", "books"] {
            let delete = doc! {"delete": collection, "deletes": [{"q": {}, "limit": 0}]};
            self.db.run_command(delete).await.unwrap();
        }
        let authors = [doc! {"_id": 1, "name": "Ada", "book_count": 1_i64}];
        let insert = doc! {"insert": "authors", "documents": authors};
        self.db.run_command(insert).await.unwrap();
        let books = [
            doc! {"_id": 1, "author": 1, "author_name": "Adah"},
            doc! {"_id": 2, "author": 9, "author_name": "Bob"},
        ];
        let insert = doc! {"insert": "books", "documents": books};
        self.db.run_command(insert).await.unwrap();
    }
}

/// The engine behind a port, and the server that is named.
async fn each_store(name: &str, test: impl AsyncFn(Admin)) {
    let server = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    test(Admin::on(&server.uri(), name).await).await;
    drop(server);
    if let Ok(uri) = std::env::var("ODM_TEST_URI") {
        let admin = Admin::on(&uri, name).await;
        let db = admin.db.clone();
        test(admin).await;
        db.drop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_planned_and_applied() {
    each_store("admin_plan", async |admin| {
        let plan = admin.run(2, &["plan"]);
        assert!(plan.of("step").len() >= 3);
        assert_eq!(plan.of("step")[0]["collection"], "authors");
        let left_out = plan.of("left_out");
        assert_eq!(left_out.len(), 1, "it takes a cluster");
        let shard = &left_out[0]["commands"][1];
        assert_eq!(shard["key"]["_id"], "hashed", "{shard}");
        admin.run(2, &["apply"]);
        assert_eq!(
            admin.run(2, &["plan"]).summary(),
            plan.summary(),
            "nothing was changed"
        );
        let applied = admin.run(0, &["apply", "--yes"]);
        assert_eq!(applied.summary()["left"], 0);
        assert!(admin.run(0, &["plan"]).of("step").is_empty());
        // A change is not allowed unless it is named.
        let change = doc! {"collMod": "books", "validator": {}};
        admin.db.run_command(change).await.unwrap();
        assert_eq!(admin.run(2, &["apply", "--yes"]).summary()["done"], 0);
        admin.run(0, &["apply", "--yes", "--allow", "create,change"]);
        admin.run(0, &["plan", "--model", "Book"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_checked_and_repaired() {
    each_store("admin_repair", async |admin| {
        admin.run(0, &["apply", "--yes"]);
        assert_eq!(admin.run(0, &["check"]).summary()["findings"], 0);
        admin.damage().await;
        let damaged = admin.stored("books").await;
        let checked = admin.run(3, &["check"]);
        let kinds: Vec<_> = checked
            .of("finding")
            .iter()
            .map(|one| &one["kind"])
            .collect();
        assert_eq!(kinds, ["dangling-reference", "stale-copy"]);
        assert_eq!(checked.summary()["read"], 3);
        admin.run(0, &["check", "--only", "trees,summaries"]);
        admin.run(3, &["check", "--without", "references"]);
        admin.run(
            0,
            &[
                "check", "--model", "Author", "--sample", "10", "--rate", "1000",
            ],
        );

        // The plan changes nothing.
        let plan = admin.run(3, &["repair", "--answer", "Book.author=delete"]);
        assert_eq!(plan.of("step").len(), 2);
        assert_eq!(admin.stored("books").await, damaged);
        // A finding without an answer is not repaired.
        let open = admin.run(3, &["repair", "--yes"]);
        assert_eq!(
            (&open.summary()["repaired"], &open.summary()["left"]),
            (&1.into(), &1.into())
        );
        assert_eq!(
            open.of("step")[0]["answers"],
            serde_json::json!(["delete", "leave"])
        );

        admin.damage().await;
        let answer = [
            "repair",
            "--yes",
            "--answer",
            "Book.author=delete",
            "--keep-images",
        ];
        let repaired = admin.run(0, &answer);
        assert_eq!(repaired.summary()["repaired"], 2);
        admin.run(0, &["check"]);
        assert_eq!(admin.stored("books").await.len(), 1);
        let images = repaired.summary()["images"].as_str().unwrap();
        admin.run(0, &["repair", "--undo", images]);
        assert_eq!(admin.stored("books").await.len(), 1);
        let undone = admin.run(0, &["repair", "--undo", images, "--yes"]);
        assert_eq!(undone.summary()["undone"], 2);
        assert_eq!(admin.stored("books").await, damaged);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_and_repairs_go_on_by_tokens() {
    each_store("admin_tokens", async |admin| {
        admin.run(0, &["apply", "--yes"]);
        admin.damage().await;
        let (mut findings, mut token) = (0, None::<String>);
        loop {
            let mut arguments = vec!["check", "--time-limit", "0.000001"];
            arguments.extend(token.iter().flat_map(|token| ["--resume", token.as_str()]));
            // Nothing may be read before the time is over.
            if token.is_some() {
                arguments[2] = "60";
            }
            let ended = run(&arguments, Some(&admin.uri));
            findings += ended.summary()["findings"].as_u64().unwrap();
            token = ended.summary()["rest"].as_str().map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        assert_eq!(findings, 2);
        let answered = ["repair", "--yes", "--answer", "Book.author=delete"];
        let mut limited = answered.to_vec();
        limited.extend(["--time-limit", "0"]);
        let stopped = admin.run(3, &limited);
        assert_eq!(stopped.summary()["repaired"], 0);
        let rest = stopped.summary()["rest"].as_str().unwrap();
        let mut resumed = answered.to_vec();
        resumed.extend(["--resume", rest]);
        assert_eq!(admin.run(0, &resumed).summary()["repaired"], 2);
        admin.run(0, &["check"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_changes_are_resumed() {
    each_store("admin_resume", async |admin| {
        admin.run(0, &["apply", "--yes"]);
        admin.run(0, &["resume"]);
        let record = doc! {
            "_id": 1, "collection": "authors", "key": "_id", "keys": [1], "at": DateTime::now(),
        };
        admin.damage().await;
        let insert = doc! {"insert": "odm_propagations", "documents": [record]};
        admin.db.run_command(insert).await.unwrap();
        let pending = admin.run(3, &["resume"]);
        assert_eq!(pending.summary()["pending"], 1);
        assert_eq!(admin.run(0, &["resume", "--yes"]).summary()["completed"], 1);
        admin.run(0, &["resume"]);
        let books = admin.stored("books").await;
        assert_eq!(books[0].get_str("author_name").unwrap(), "Ada");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn data_is_scrubbed() {
    each_store("admin_scrub", async |admin| {
        admin.run(0, &["apply", "--yes"]);
        admin.damage().await;
        assert_eq!(admin.run(0, &["scrub"]).summary()["ranges"], 0);
        let scrubbed = admin.run(3, &["scrub", "--yes", "--once", "--rate", "5000"]);
        assert_eq!(scrubbed.of("finding").len(), 2);
        assert_eq!(scrubbed.summary()["findings"]["stale-copy"], 1);
        assert_eq!(scrubbed.summary()["documents"], 3);
        let status = admin.run(3, &["scrub"]);
        assert!(status.summary()["age_seconds"].as_u64().unwrap() < 60);
        assert!(
            admin
                .run(3, &["scrub", "--yes", "--once"])
                .of("finding")
                .is_empty()
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn data_is_described() {
    each_store("admin_describe", async |admin| {
        admin.run(0, &["apply", "--yes"]);
        admin.damage().await;
        let page = admin.run(3, &["report", "--title", "Ours & yours"]);
        let page = String::from_utf8(page.output.stdout).unwrap();
        assert!(
            page.contains("Ours &amp; yours") && page.contains("dangling reference"),
            "{page}"
        );
        let file = std::env::temp_dir().join(format!("odm-admin-{}.html", std::process::id()));
        admin.run(3, &["report", "--full", "--output", file.to_str().unwrap()]);
        std::fs::remove_file(&file).unwrap();
        let drop_index = doc! {"dropIndexes": "books", "index": "author_1"};
        admin.db.run_command(drop_index).await.unwrap();
        admin
            .db
            .run_command(doc! {"delete": "books", "deletes": [{"q": {}, "limit": 0}]})
            .await
            .unwrap();
        admin
            .db
            .run_command(doc! {"delete": "authors", "deletes": [{"q": {}, "limit": 0}]})
            .await
            .unwrap();
        let found = admin.run(3, &["report"]);
        assert!(
            String::from_utf8(found.output.stdout)
                .unwrap()
                .contains("author_1"),
            "an index is damage, too"
        );
        admin.run(0, &["apply", "--yes"]);
        admin.run(0, &["report"]);
        admin.damage().await;
        let advised = admin.run(0, &["advise", "--sample", "10"]);
        let advice = advised.summary()["advice"].as_u64().unwrap();
        assert_eq!(advised.of("advice").len() as u64, advice);
    })
    .await;
    // These need no database.
    let diagram = run(&["diagram", "--model", "Book"], None);
    assert_eq!(diagram.code, 0, "{diagram:?}");
    let text = String::from_utf8(diagram.output.stdout).unwrap();
    assert!(
        text.starts_with("erDiagram\n") && text.contains("Book[\"books\"]"),
        "{text}"
    );
    let drawing = run(&["diagram", "--format", "svg"], None);
    assert!(drawing.output.stdout.starts_with(b"<svg"), "{drawing:?}");
    let file = std::env::temp_dir().join(format!("odm-admin-{}.mmd", std::process::id()));
    let diagram = run(&["diagram", "--output", file.to_str().unwrap()], None);
    assert_eq!((diagram.code, diagram.output.stdout.len()), (0, 0));
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains("Author[\"authors\"]")
    );
    std::fs::remove_file(&file).unwrap();

    let budget = run(&["budget"], None);
    assert_eq!(budget.code, 2, "{budget:?}");
    let fits: Vec<_> = budget.of("budget").iter().map(|one| &one["fits"]).collect();
    assert_eq!(fits, [true, true, false]);
    assert!(budget.of("budget")[0]["worst_case"].is_u64());
    assert!(budget.of("budget")[1]["unbounded"].is_string());
    assert_eq!(run(&["budget", "--model", "Author"], None).code, 0);
}

#[test]
fn lock_files_are_printed_and_compared() {
    let printed = run(&["lock"], None);
    assert_eq!(printed.code, 0, "{printed:?}");
    let text = String::from_utf8(printed.output.stdout).unwrap();
    assert!(text.starts_with("odm-lock 1\n"), "{text}");
    let folder = std::env::temp_dir().join(format!("odm-admin-lock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("odm.lock");
    let file = path.to_str().unwrap();
    let written = run(&["lock", "--output", file], None);
    assert_eq!((written.code, written.output.stdout.len()), (0, 0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let same = run(&["lock", "--check", file], None);
    assert_eq!(
        (same.code, &same.summary()["changes"]),
        (0, &Value::from(0))
    );

    std::fs::write(
        &path,
        text.replace("book_count: long", "book_count: string"),
    )
    .unwrap();
    let ended = run(&["lock", "--check", file], None);
    assert_eq!(ended.code, 2, "{ended:?}");
    let changes = ended.of("change");
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0]["impact"], "needs a rewrite");
    assert_eq!(changes[0]["step"], "convert_book_count");
    assert_eq!(changes[0]["versioned"], false);

    std::fs::write(&path, format!("{text}=======\n")).unwrap();
    for (arguments, expected) in [
        (
            &["lock", "--check", file][..],
            "a marker of a merge conflict",
        ),
        (
            &["lock", "--check", file, "--model", "Book"],
            "leave out `--model`",
        ),
        (&["lock", "--check", "/nowhere/at/all"], "/nowhere/at/all: "),
        (&["lock", "--output", "/nowhere/at/all"], "can't be written"),
        (
            &["lock", "--check", file, "--output", file],
            "cannot be used with",
        ),
    ] {
        let ended = run(arguments, None);
        assert_eq!(ended.code, 1, "{arguments:?}: {ended:?}");
        assert!(ended.error().contains(expected), "{arguments:?}: {ended:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_can_not_run_fails_with_1() {
    let unreachable = "mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=100";
    for (arguments, uri, expected) in [
        (&["plan"][..], Some(unreachable), "error"),
        (&["plan"], None, "MONGODB_URI"),
        (&["plan", "--uri", "mongodb:/nothing"], None, "error"),
        (
            &["plan", "--model", "Novel"],
            Some(unreachable),
            "Author, Book",
        ),
        (
            &["repair", "--answer", "Book.author=burn"],
            Some(unreachable),
            "set-null",
        ),
        (
            &["repair", "--answer", "Book=pull"],
            Some(unreachable),
            "Book.author=set-null",
        ),
        (
            &["check", "--only", "all"],
            Some(unreachable),
            "undeclared-fields",
        ),
        (&["check", "--resume", "there"], Some(unreachable), "token"),
        (
            &["apply", "--allow", "everything"],
            Some(unreachable),
            "create",
        ),
        (&["dance"], Some(unreachable), "Usage"),
        (&[], Some(unreachable), "Usage"),
        (
            &["diagram", "--output", "/nowhere/at/all"],
            None,
            "can't be written",
        ),
    ] {
        let ended = run(arguments, uri);
        assert_eq!(ended.code, 1, "{arguments:?}: {ended:?}");
        assert!(ended.error().contains(expected), "{arguments:?}: {ended:?}");
        assert!(ended.output.stdout.is_empty(), "{arguments:?}: {ended:?}");
    }
    for help in [&["--help"][..], &["help", "repair"], &["check", "--help"]] {
        assert_eq!(run(help, None).code, 0);
    }
}
