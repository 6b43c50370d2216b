//! One step of a plan.

use std::fmt;

use bson::Document;

use super::allow::Allow;
use super::shell;

/// One change to one collection.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The collection.
    pub collection: String,
    /// The change.
    pub action: Action,
    /// Why: the differences, or that the index is not declared.
    pub reasons: Vec<String>,
    /// The commands that do it, in order; empty for [`Action::ByHand`].
    pub commands: Vec<Document>,
    /// The commands that are sent if a command after the first fails, so that nothing is lost. They rebuild
    /// dropped indexes, and let an index that can't become unique accept duplicates again.
    pub undo: Vec<Document>,
    pub(crate) settled: Option<Settled>,
}

/// Recognizes a step that another process has done in the meantime, from the collection's options and the
/// command that would create it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled(pub(crate) fn(existing: &Document, command: &Document) -> bool);

/// The function belongs to the action, which is compared.
impl PartialEq for Settled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The change that a [`Step`] makes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The collection is created, with its options.
    CreateCollection,
    /// The options of the collection are changed in place.
    ChangeCollection,
    /// A view is created.
    CreateView,
    /// The stages of a view, or the collection that it reads, are changed in place.
    ChangeView,
    /// A view is dropped and created with another collation. It has no documents to lose; if it can't be created, the old one
    /// is put back.
    RecreateView,
    /// A capped collection is made smaller: its oldest documents are removed.
    ShrinkCollection,
    /// These indexes are built.
    CreateIndexes {
        /// Their names.
        names: Vec<String>,
    },
    /// An index is hidden, shown, given another time to live, or made unique.
    ChangeIndex {
        /// Its name.
        name: String,
    },
    /// Indexes are dropped, then built as they are declared: one that differs, or several that block each
    /// other. If the build fails, as a unique index over duplicates does, the old indexes are put back.
    RebuildIndexes {
        /// The names of the indexes that are dropped.
        names: Vec<String>,
    },
    /// An index that is not declared is dropped.
    DropIndex {
        /// Its name.
        name: String,
    },
    /// The collection is distributed among the shards of a cluster. A `mongos` takes the commands on the database `admin`.
    ShardCollection {
        /// Whether the same plan creates the collection. Otherwise its documents move between shards.
        is_new: bool,
    },
    /// Documents are inserted, changed or deleted.
    WriteDocuments {
        /// How many.
        count: u64,
    },
    /// A change that no command can make while keeping the documents, such as another collation. It stays
    /// undone until you copy the collection.
    ByHand,
}

impl Step {
    /// The permission that this step needs; `None` if applying the plan can't do it at all.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// // The collection is there, but it has no validator.
    /// let plan = db.sync(models![Book]).plan().await?;
    /// assert_eq!(plan.steps()[0].requires(), Some(Allow::CHANGE));
    /// # Ok(())
    /// # }
    /// ```
    pub fn requires(&self) -> Option<Allow> {
        match self.action {
            Action::CreateCollection
            | Action::CreateView
            | Action::CreateIndexes { .. }
            | Action::ShardCollection { is_new: true } => Some(Allow::CREATE),
            Action::ChangeCollection
            | Action::ChangeView
            | Action::ChangeIndex { .. }
            | Action::ShardCollection { is_new: false } => Some(Allow::CHANGE),
            Action::ShrinkCollection => Some(Allow::CHANGE | Allow::DROP),
            Action::RebuildIndexes { .. } | Action::DropIndex { .. } | Action::RecreateView => {
                Some(Allow::DROP)
            }
            Action::WriteDocuments { .. } => Some(Allow::WRITE),
            Action::ByHand => None,
        }
    }

    /// Whether `allow` covers this step.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// let plan = db.sync(models![Book]).plan().await?;
    /// let create = &plan.steps()[0];
    /// assert!(create.is_allowed(Allow::CREATE) && !create.is_allowed(Allow::CHANGE));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_allowed(&self, allow: Allow) -> bool {
        self.requires().is_some_and(|needs| allow.contains(needs))
    }

    fn sign(&self) -> char {
        match self.action {
            Action::CreateCollection | Action::CreateView | Action::CreateIndexes { .. } => '+',
            Action::ChangeCollection
            | Action::ChangeView
            | Action::ChangeIndex { .. }
            | Action::ShardCollection { .. }
            | Action::WriteDocuments { .. } => '~',
            Action::ShrinkCollection
            | Action::RecreateView
            | Action::RebuildIndexes { .. }
            | Action::DropIndex { .. } => '-',
            Action::ByHand => '!',
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.sign())?;
        match &self.action {
            Action::CreateCollection => f.write_str("create the collection")?,
            Action::ChangeCollection => f.write_str("change the collection in place")?,
            Action::CreateView => f.write_str("create the view")?,
            Action::ChangeView => f.write_str("change the view in place")?,
            Action::RecreateView => f.write_str("drop the view and create it anew")?,
            Action::ShrinkCollection => {
                f.write_str("shrink the capped collection, removing its oldest documents")?;
            }
            Action::CreateIndexes { names } if names.len() == 1 => f.write_str("create index")?,
            Action::CreateIndexes { names } => write!(f, "create {} indexes", names.len())?,
            Action::ChangeIndex { name } => write!(f, "change index {name} in place")?,
            Action::RebuildIndexes { names } => match names.as_slice() {
                [name] => write!(f, "drop index {name} and build it anew")?,
                names => write!(
                    f,
                    "drop indexes {} and build those that are declared",
                    names.join(", ")
                )?,
            },
            Action::DropIndex { name } => write!(f, "drop index {name}")?,
            Action::ShardCollection { .. } => f.write_str("shard the collection")?,
            Action::WriteDocuments { count } => write!(f, "write {}", documents(*count))?,
            Action::ByHand => f.write_str("to be done by hand")?,
        }
        match self.requires() {
            Some(needs) if needs != Allow::CREATE => write!(f, " (needs {needs})")?,
            _ => {}
        }
        self.reasons
            .iter()
            .try_for_each(|reason| write!(f, "\n        {reason}"))
    }
}

/// Prints steps under the names of their collections.
pub(crate) fn print_steps(steps: &[Step], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut collection = None;
    for step in steps {
        if collection != Some(&step.collection) {
            writeln!(f, "  {} ({})", step.collection, step.model)?;
            collection = Some(&step.collection);
        }
        writeln!(f, "    {step}")?;
    }
    Ok(())
}

/// `1 document`, `2 documents`
pub(crate) fn documents(count: u64) -> String {
    match count {
        1 => "1 document".to_owned(),
        count => format!("{count} documents"),
    }
}

/// A specification as a line of a plan: `title_1 {title: 1}, unique: true`.
pub(crate) fn describe(spec: &Document) -> String {
    let name = spec.get_str("name").unwrap_or_default();
    let key = spec.get_document("key").map(shell::document);
    let options = spec
        .iter()
        .filter(|(option, _)| *option != "name" && *option != "key")
        .map(|(option, value)| format!(", {option}: {}", shell::value(value)));
    format!(
        "{name} {}{}",
        key.unwrap_or_default(),
        options.collect::<String>()
    )
}
