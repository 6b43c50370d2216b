//! The difference between the declarations and the database, as data that can be read and applied.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use bson::Document;

use crate::schema::print;

/// What [`Plan::apply`](crate::schema::Plan::apply) may do; combine with `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Allow(u8);

impl Allow {
    /// Do nothing; only report what is left undone.
    pub const NOTHING: Self = Self(0);
    /// Create missing collections and indexes.
    pub const CREATE: Self = Self(1);
    /// Make changes in place: to validators, hidden indexes, times to live, the bounds of capped collections,
    /// and whether images are kept for change streams; and make indexes unique.
    pub const CHANGE: Self = Self(2);
    /// Drop indexes that are not declared, and rebuild those that differ from their declaration. Queries run
    /// without the index until it is rebuilt.
    pub const DROP: Self = Self(4);

    /// Whether all of `other` is allowed.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Allows only [`CREATE`](Allow::CREATE): existing collections and indexes stay as they are.
impl Default for Allow {
    fn default() -> Self {
        Self::CREATE
    }
}

impl BitOr for Allow {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Allow {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::CREATE, "Allow::CREATE"),
            (Self::CHANGE, "Allow::CHANGE"),
            (Self::DROP, "Allow::DROP"),
        ];
        let mut set = names.iter().filter(|(flag, _)| self.contains(*flag));
        match set.next() {
            None => f.write_str("Allow::NOTHING"),
            Some((_, first)) => {
                f.write_str(first)?;
                set.try_for_each(|(_, name)| write!(f, " | {name}"))
            }
        }
    }
}

/// One change to one collection.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The collection.
    pub collection: String,
    /// What is done.
    pub action: Action,
    /// Why: the differences, or that the index is not declared.
    pub reasons: Vec<String>,
    /// The commands that do it, in order; empty for [`Action::ByHand`].
    pub commands: Vec<Document>,
    /// The commands that are sent if a command after the first fails, so that nothing is lost. They rebuild
    /// dropped indexes, and let an index that can't become unique accept duplicates again.
    pub undo: Vec<Document>,
}

/// What a [`Step`] does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The collection is created, with its options.
    CreateCollection,
    /// The options of the collection are changed in place.
    ChangeCollection,
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
    /// A change that no command can make while keeping the documents, such as another collation. It stays
    /// undone until you copy the collection.
    ByHand,
}

impl Step {
    /// What must be allowed for this step; `None` if applying the plan can't do it at all.
    pub fn requires(&self) -> Option<Allow> {
        match self.action {
            Action::CreateCollection | Action::CreateIndexes { .. } => Some(Allow::CREATE),
            Action::ChangeCollection | Action::ChangeIndex { .. } => Some(Allow::CHANGE),
            Action::ShrinkCollection => Some(Allow::CHANGE | Allow::DROP),
            Action::RebuildIndexes { .. } | Action::DropIndex { .. } => Some(Allow::DROP),
            Action::ByHand => None,
        }
    }

    /// Whether `allow` covers this step.
    pub fn is_allowed(&self, allow: Allow) -> bool {
        self.requires().is_some_and(|needs| allow.contains(needs))
    }

    fn sign(&self) -> char {
        match self.action {
            Action::CreateCollection | Action::CreateIndexes { .. } => '+',
            Action::ChangeCollection | Action::ChangeIndex { .. } => '~',
            Action::ShrinkCollection | Action::RebuildIndexes { .. } | Action::DropIndex { .. } => {
                '-'
            }
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
pub(crate) fn print(steps: &[Step], f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// The result of applying a plan: the steps that were done, and those that were not allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    pub(crate) done: Vec<Step>,
    pub(crate) left: Vec<Step>,
}

impl Applied {
    /// The steps that were done, in order.
    pub fn done(&self) -> &[Step] {
        &self.done
    }

    /// The steps that were not allowed, or that no command can do.
    pub fn left_undone(&self) -> &[Step] {
        &self.left
    }

    /// Whether nothing was left undone.
    pub fn is_complete(&self) -> bool {
        self.left.is_empty()
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = |count: usize| if count == 1 { "step" } else { "steps" };
        writeln!(f, "{} {} done", self.done.len(), steps(self.done.len()))?;
        print(&self.done, f)?;
        if !self.left.is_empty() {
            writeln!(
                f,
                "{} {} left undone",
                self.left.len(),
                steps(self.left.len())
            )?;
            print(&self.left, f)?;
        }
        Ok(())
    }
}

/// A specification as a line of a plan: `title_1 {title: 1}, unique: true`.
pub(crate) fn describe(spec: &Document) -> String {
    let name = spec.get_str("name").unwrap_or_default();
    let key = spec.get_document("key").map(print::document);
    let options = spec
        .iter()
        .filter(|(option, _)| *option != "name" && *option != "key")
        .map(|(option, value)| format!(", {option}: {}", print::value(value)));
    format!(
        "{name} {}{}",
        key.unwrap_or_default(),
        options.collect::<String>()
    )
}
