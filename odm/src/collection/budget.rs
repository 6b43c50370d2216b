//! Query budgets: the commands and the plans that a test allows.

use std::backtrace::Backtrace;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bson::Document as BsonDocument;
use futures_core::future::BoxFuture;

use super::Db;
use crate::exec::explain::Explain;
use crate::exec::explained;
use crate::model::Document;
use crate::store::{Observe, RunCommand};

/// A handle of a database whose commands are counted and explained, and the limits that a test sets: [`Db::budget`].
///
/// It derefs to [`Db`], so the code under test takes `&budget`, or `budget.db().clone()`. When it is dropped, it panics if
/// the commands exceeded a limit, and lists every command with its plan and with the function that sent it.
/// [`finish`](Self::finish) returns the same instead.
///
/// It counts the commands that [`Db::on_command`] reports: those of this handle and of handles made from it, each `getMore` of a
/// cursor, and those of each run of a transaction's body. The commit or abort of a transaction and the retries of the driver are
/// not counted.
///
/// The plans of `find`, `count`, `distinct`, `aggregate`, `update`, `delete` and `findAndModify` come from `explain`, which is sent
/// after the command was executed and is not counted. That takes time: leave budgets to tests.
#[derive(Debug)]
#[must_use = "the commands of this handle are counted, and no others"]
pub struct QueryBudget {
    db: Db,
    ledger: Arc<Ledger>,
    max_commands: Option<usize>,
    no_scan: bool,
    no_sort_in_memory: bool,
    /// The collections that may be scanned.
    scanned: Vec<String>,
    is_finished: bool,
}

/// How commands exceeded a [`QueryBudget`]. It displays every command with its plans and with the function that sent it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OverBudget {
    /// What was exceeded.
    pub exceeded: Vec<String>,
    /// All commands, in the order in which they were sent.
    pub commands: Vec<CountedCommand>,
}

/// A command that a [`QueryBudget`] has counted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CountedCommand {
    /// The database that the command was sent to.
    pub database: String,
    /// The command document.
    pub command: BsonDocument,
    /// How the command finds its documents. A pipeline has one plan for each collection that it reads; statements of one
    /// command share a plan where their filters name the same fields. A command that looks nothing up has none.
    pub plans: Vec<CommandPlan>,
    /// Why a plan could not be read, if so.
    pub unexplained: Option<String>,
    /// The function that sent the command: the innermost one on the stack that belongs neither to odm nor to the runtime, with
    /// its file and line where the binary has debug information.
    pub origin: Option<String>,
}

/// How a command finds documents of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandPlan {
    /// The name of the collection.
    pub collection: String,
    /// The stages of the plan, from the last to the first.
    pub stages: Vec<String>,
    /// The names of the indexes that it uses.
    pub indexes: Vec<String>,
    /// Whether documents are sorted after they are read.
    pub sorts_in_memory: bool,
}

impl CommandPlan {
    /// Whether the plan reads the whole collection.
    pub fn is_scan(&self) -> bool {
        self.stages.iter().any(|stage| stage == "COLLSCAN")
    }
}

/// The commands that were sent.
#[derive(Debug, Default)]
struct Ledger(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    database: String,
    command: BsonDocument,
    plans: Vec<CommandPlan>,
    unexplained: Option<String>,
    /// Resolving it takes long: only the commands of a budget that was exceeded are.
    stack: Backtrace,
}

impl Db {
    /// Sets limits to the commands of a test: returns a handle that counts and explains them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, _) = three_books().await?;
    /// let budget = db.budget().max_commands(1).no_scan();
    /// budget.collection::<Book>().get(&1).await?;
    /// // Here it is dropped, and panics if another command was sent.
    /// drop(budget);
    /// # Ok(())
    /// # }
    /// ```
    pub fn budget(&self) -> QueryBudget {
        let ledger = Arc::new(Ledger::default());
        let observer: Arc<dyn Observe> = Arc::clone(&ledger) as _;
        let monitor = self.store.monitor().clone().observed_by(observer);
        QueryBudget {
            db: Self {
                store: self.store.watched(monitor),
            },
            ledger,
            max_commands: None,
            no_scan: false,
            no_sort_in_memory: false,
            scanned: Vec::new(),
            is_finished: false,
        }
    }
}

impl QueryBudget {
    /// Allows at most `n` commands.
    pub fn max_commands(mut self, n: usize) -> Self {
        self.max_commands = Some(n);
        self
    }

    /// Allows no plan that reads a whole collection (`COLLSCAN`), neither of the collection that a command names nor of one that
    /// a stage such as `$lookup` reads. A plan that can't be read counts as one.
    ///
    /// A `find` without a filter reads the whole collection, too: allow it by [`allow_scan_of`](Self::allow_scan_of).
    pub fn no_scan(mut self) -> Self {
        self.no_scan = true;
        self
    }

    /// Allows scans of a collection, such as a small one, in spite of [`no_scan`](Self::no_scan).
    pub fn allow_scan_of<M: Document>(mut self) -> Self {
        let collection = self.db.store.names().of(M::model().collection);
        self.scanned.push(collection.to_string());
        self
    }

    /// Allows no plan that sorts documents after they are read, because no index has their order.
    pub fn no_sort_in_memory(mut self) -> Self {
        self.no_sort_in_memory = true;
        self
    }

    /// The handle whose commands are counted.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// The commands that were sent so far.
    pub fn commands(&self) -> Vec<CountedCommand> {
        self.ledger.entries().iter().map(Entry::counted).collect()
    }

    /// Ends the budget without a panic.
    ///
    /// # Errors
    ///
    /// The commands exceeded a limit.
    pub fn finish(mut self) -> Result<(), OverBudget> {
        self.is_finished = true;
        self.exceeded()
    }

    fn exceeded(&self) -> Result<(), OverBudget> {
        let mut exceeded = Vec::new();
        let entries = self.ledger.entries();
        if let Some(most) = self.max_commands
            && entries.len() > most
        {
            exceeded.push(format!("commands sent: {}, allowed: {most}", entries.len()));
        }
        for (number, entry) in (1..).zip(entries.iter()) {
            if self.no_scan {
                for plan in entry.plans.iter().filter(|plan| plan.is_scan()) {
                    if !self.scanned.contains(&plan.collection) {
                        exceeded.push(format!("command {number} scans `{}`", plan.collection));
                    }
                }
            }
            let judges_plans = self.no_scan || self.no_sort_in_memory;
            if judges_plans && entry.unexplained.is_some() {
                exceeded.push(format!("command {number} has no plan"));
            }
            if self.no_sort_in_memory && entry.plans.iter().any(|plan| plan.sorts_in_memory) {
                exceeded.push(format!("command {number} sorts in memory"));
            }
        }
        if exceeded.is_empty() {
            return Ok(());
        }
        let commands = entries.iter().map(Entry::counted).collect();
        Err(OverBudget { exceeded, commands })
    }
}

impl Deref for QueryBudget {
    type Target = Db;

    fn deref(&self) -> &Db {
        &self.db
    }
}

impl Drop for QueryBudget {
    /// Panics if a limit was exceeded, unless the test panics already.
    fn drop(&mut self) {
        if self.is_finished || thread::panicking() {
            return;
        }
        if let Err(over) = self.exceeded() {
            panic!("{over}");
        }
    }
}

impl Ledger {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observe for Ledger {
    fn sending(&self, database: &str, command: &BsonDocument) -> usize {
        let entry = Entry {
            database: database.to_owned(),
            command: command.clone(),
            plans: Vec::new(),
            unexplained: None,
            stack: Backtrace::force_capture(),
        };
        let mut entries = self.entries();
        entries.push(entry);
        entries.len() - 1
    }

    fn executed<'a>(&'a self, number: usize, run: &'a RunCommand<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let command = self.entries().get(number).map(|one| one.command.clone());
            let commands = command.map(|command| explained::commands(&command));
            let (mut plans, mut unexplained) = (Vec::new(), None);
            for command in commands.unwrap_or_default() {
                match Explain::of_command(run, command).await {
                    Ok(explain) => plans.push(CommandPlan::of(explain)),
                    Err(error) => unexplained = Some(error.to_string()),
                }
            }
            if let Some(entry) = self.entries().get_mut(number) {
                entry.plans = plans;
                entry.unexplained = unexplained;
            }
        })
    }
}

impl CommandPlan {
    fn of(explain: Explain) -> Self {
        let target = explain.command.values().next();
        let collection = target.and_then(bson::Bson::as_str);
        Self {
            collection: collection.unwrap_or_default().to_owned(),
            stages: explain.stages,
            indexes: explain.indexes,
            sorts_in_memory: explain.sorts_in_memory,
        }
    }
}

impl Entry {
    fn counted(&self) -> CountedCommand {
        CountedCommand {
            database: self.database.clone(),
            command: self.command.clone(),
            plans: self.plans.clone(),
            unexplained: self.unexplained.clone(),
            origin: origin(&self.stack.to_string()),
        }
    }
}

/// The crates between a caller and the command that it sends.
const BETWEEN: &[&str] = &[
    "alloc",
    "async_trait",
    "bson",
    "core",
    "futures",
    "futures_core",
    "futures_util",
    "mongodb",
    "odm",
    "odm_engine",
    "odm_language",
    "pin_project_lite",
    "std",
    "tokio",
    "tokio_util",
    "tracing",
];

/// The innermost function on a stack that belongs to none of these crates, with its place. The stack is as [`Backtrace`] displays
/// it: a line with the number and the name of a frame, and one with its place if that is known.
fn origin(stack: &str) -> Option<String> {
    let mut lines = stack.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some((number, name)) = line.split_once(": ") else {
            continue;
        };
        if number.parse::<usize>().is_err() {
            continue;
        }
        let place = lines.peek().and_then(|next| next.strip_prefix("at "));
        let path = name.trim_start_matches(['<', '&', '(', '*']);
        let path = path.trim_start_matches("mut ").trim_start_matches("dyn ");
        let krate = path.split("::").next().unwrap_or_default();
        // Functions of Rust have paths; `main` and `__libc_start_main` of the C runtime have none.
        if BETWEEN.contains(&krate) || krate == path {
            continue;
        }
        let name = name.trim_end_matches("::{{closure}}");
        return Some(match place {
            Some(place) => format!("{name} ({place})"),
            None => name.to_owned(),
        });
    }
    None
}

impl std::error::Error for OverBudget {}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "over the query budget: {}", self.exceeded.join("; "))?;
        for (number, command) in (1..).zip(&self.commands) {
            writeln!(f, "{number:4}. {command}")?;
        }
        Ok(())
    }
}

impl fmt::Display for CountedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// About how much of a command a reader needs.
        const SHOWN: usize = 160;
        let command = self.command.to_string();
        match command.char_indices().nth(SHOWN) {
            Some((end, _)) => write!(f, "{}…", command.get(..end).unwrap_or_default())?,
            None => f.write_str(&command)?,
        }
        for plan in &self.plans {
            write!(f, "\n      {plan}")?;
        }
        if let Some(reason) = &self.unexplained {
            write!(f, "\n      no plan: {reason}")?;
        }
        if let Some(origin) = &self.origin {
            write!(f, "\n      from {origin}")?;
        }
        Ok(())
    }
}

impl fmt::Display for CommandPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.collection, self.stages.join(" < "))?;
        if !self.indexes.is_empty() {
            write!(f, ", index {}", self.indexes.join(", "))?;
        }
        if self.sorts_in_memory {
            f.write_str(", sorted in memory")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "memory")]
    #[test]
    fn a_plan_that_cannot_be_read_counts_as_a_scan() {
        for (no_scan, expected) in [(true, Some("command 1 has no plan")), (false, None)] {
            let mut budget = Db::memory().budget().max_commands(1);
            budget.no_scan = no_scan;
            let number = budget.ledger.sending("shop", &BsonDocument::new());
            budget.ledger.entries()[number].unexplained = Some("refused".to_owned());
            let over = budget.finish().err();
            let first = over.as_ref().map(|over| over.exceeded[0].as_str());
            assert_eq!(first, expected);
        }
    }

    #[test]
    fn the_caller_is_behind_odm_and_the_runtime() {
        let stack = "   0: odm::store::monitor::Monitor::begin\n             at /odm/monitor.rs:80:9\n   1: <odm::store::call::Call \
                     as core::future::future::Future>::poll\n   2: <core::pin::Pin<P> as core::future::future::Future>::poll\n   \
                     3: shop::books::list::{{closure}}\n             at src/books.rs:14:30\n   4: main";
        assert_eq!(
            origin(stack).unwrap(),
            "shop::books::list (src/books.rs:14:30)"
        );
        assert_eq!(origin("disabled backtrace"), None);
        let stack = "   0: odm::a\n   1: <shop::Service as shop::Api>::all::{{closure}}";
        assert_eq!(origin(stack).unwrap(), "<shop::Service as shop::Api>::all");
    }
}
