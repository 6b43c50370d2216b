//! The options of operations, named as in the official driver.

mod collation;
mod concern;
mod images;
pub(super) mod preference;

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;
use std::time::Duration;

use bson::{Bson, Document};

use crate::error::Result;

pub use self::collation::{Alternate, CaseFirst, Collation, MaxVariable};
pub(crate) use self::concern::millis;
pub use self::concern::{Acknowledgment, ReadConcern, WriteConcern};
pub use self::images::{FullDocument, FullDocumentBeforeChange};
pub use self::preference::ReadPreference;

/// The index that an operation must use.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Hint {
    /// The index with this name.
    Name(String),
    /// The index with exactly these keys.
    Keys(Document),
}

impl Hint {
    pub(crate) fn to_bson(&self) -> Bson {
        match self {
            Self::Name(name) => Bson::String(name.clone()),
            Self::Keys(keys) => Bson::Document(keys.clone()),
        }
    }
}

impl From<&str> for Hint {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Hint {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<Document> for Hint {
    fn from(keys: Document) -> Self {
        Self::Keys(keys)
    }
}

/// The version of the document that `find_one_and_*` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReturnDocument {
    /// The document before the change.
    #[default]
    Before,
    /// The document after the change.
    After,
}

/// The options of one operation. The box keeps futures that hold a request small; an operation
/// without options, the usual case, allocates nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chosen(Option<Box<Options>>);

impl Chosen {
    /// Whether no option was set.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The options, if any was set.
    pub(crate) fn chosen(&self) -> Option<&Options> {
        self.0.as_deref()
    }

    /// The options that a read shares with the reads that it depends on, and with those that depend on it.
    pub(crate) fn shared(&self) -> Self {
        let Some(own) = self.chosen() else {
            return Self::default();
        };
        Self::from(Options {
            comment: own.comment.clone(),
            max_time: own.max_time,
            read_concern: own.read_concern,
            read_preference: own.read_preference.clone(),
            ..Options::default()
        })
    }
}

impl Deref for Chosen {
    type Target = Options;

    fn deref(&self) -> &Options {
        static NONE: LazyLock<Options> = LazyLock::new(Options::default);
        self.0.as_deref().unwrap_or_else(|| &NONE)
    }
}

impl DerefMut for Chosen {
    fn deref_mut(&mut self) -> &mut Options {
        self.0.get_or_insert_with(Box::default)
    }
}

impl From<Options> for Chosen {
    fn from(options: Options) -> Self {
        Self(Some(Box::new(options)))
    }
}

/// The options of all operations. A builder has methods only for its operation's options, so every
/// field that is set is sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) sort: Option<Document>,
    pub(crate) projection: Option<Document>,
    pub(crate) skip: Option<u64>,
    pub(crate) limit: Option<i64>,
    pub(crate) batch_size: Option<u32>,
    pub(crate) hint: Option<Hint>,
    pub(crate) comment: Option<Bson>,
    pub(crate) collation: Option<Collation>,
    pub(crate) upsert: Option<bool>,
    pub(crate) ordered: Option<bool>,
    pub(crate) bypass_document_validation: Option<bool>,
    pub(crate) let_vars: Option<Document>,
    pub(crate) max_time: Option<Duration>,
    pub(crate) allow_disk_use: Option<bool>,
    pub(crate) min: Option<Document>,
    pub(crate) max: Option<Document>,
    pub(crate) allow_partial_results: Option<bool>,
    pub(crate) no_cursor_timeout: Option<bool>,
    pub(crate) show_record_id: Option<bool>,
    pub(crate) return_key: Option<bool>,
    /// Whether the cursor is tailable and awaits new documents.
    pub(crate) tails: bool,
    /// How long a batch of a tailable cursor waits for documents.
    pub(crate) max_await_time: Option<Duration>,
    pub(crate) return_document: Option<ReturnDocument>,
    pub(crate) read_concern: Option<ReadConcern>,
    pub(crate) write_concern: Option<WriteConcern>,
    pub(crate) read_preference: Option<ReadPreference>,
}

impl Options {
    /// Refuses options that the driver would accept, or refuse only later.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(concern) = &self.write_concern {
            concern.check()?;
        }
        if let Some(preference) = &self.read_preference {
            preference.check()?;
        }
        if let Some(collation) = &self.collation {
            collation.check()?;
        }
        Ok(())
    }
}
