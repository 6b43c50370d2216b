//! Spans of commands.
#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::io;
use std::sync::{Arc, Mutex};

use odm::collection::TracedValues;
use odm::prelude::*;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i32,
    password: String,
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Logs to the lines for as long as the guard is kept.
fn logging() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(lines.clone())
        .finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Inserts a user, finds it and inserts it again, and returns the log.
async fn logged(values: TracedValues) -> String {
    let (lines, _guard) = logging();
    let db = Db::memory().with_tracing(values);
    let users = db.collection::<User>();
    let password = "secret".to_owned();
    let user = User { id: 1, password };
    users.insert_one(&user).await.unwrap();
    let found = users.find(|u| u.password.eq("secret")).all().await.unwrap();
    assert_eq!(found.len(), 1);
    users.insert_one(&user).await.unwrap_err();
    db.run_command(doc! {"count": "users"}).await.unwrap();
    lines.text()
}

/// `tracing` caches which spans are wanted for all threads, so these do not run side by side.
#[tokio::test]
async fn commands_are_traced() {
    each_command_has_a_span_without_values().await;
    values_are_logged_where_they_are_asked_for().await;
    handlers_are_called_as_well().await;
    incomplete_plans_are_warned_about().await;
}

async fn each_command_has_a_span_without_values() {
    let log = logged(TracedValues::Hidden).await;
    let has = |parts: &[&str]| {
        let line = log
            .lines()
            .find(|line| parts.iter().all(|part| line.contains(part)));
        assert!(line.is_some(), "{parts:?} in\n{log}");
    };
    let users = r#"db.collection.name="users""#;
    has(&[
        r#"db.operation.name="insert""#,
        users,
        "succeeded",
        "rows=1",
    ]);
    has(&[
        r#"db.operation.name="find""#,
        users,
        "succeeded",
        "rows=1",
        "duration_us=",
    ]);
    has(&[
        r#"db.operation.name="insert""#,
        "WARN",
        "failed",
        "code=11000",
    ]);
    has(&[r#"db.operation.name="count""#, users, "rows=1"]);
    has(&["db.response.returned_rows=1", "close"]);
    has(&["db.response.status_code=11000", "close"]);
    assert!(!log.contains("secret"), "{log}");
}

async fn values_are_logged_where_they_are_asked_for() {
    let log = logged(TracedValues::Shown).await;
    assert!(log.contains("secret"), "{log}");
}

async fn handlers_are_called_as_well() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |_: &odm::collection::CommandEvent<'_>| seen.lock().unwrap().push(name)
    };
    let db = Db::memory()
        .on_command(log("first"))
        .with_tracing(TracedValues::Hidden)
        .on_command(log("second"));
    db.run_command(doc! {"ping": 1}).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["first", "second"]);
}

async fn incomplete_plans_are_warned_about() {
    let (lines, _guard) = logging();
    let db = Db::memory();
    let plan = db.sync(models![User]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    assert_eq!(lines.text(), "");
    let extra = doc! {"createIndexes": "users", "indexes": [{"key": {"x": 1}, "name": "mine"}]};
    db.run_command(extra).await.unwrap();
    let plan = db.sync(models![User]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let log = lines.text();
    assert!(log.contains("WARN") && log.contains("odm::plan"), "{log}");
    assert!(log.contains("drop index mine (needs Allow::DROP)"), "{log}");
}
