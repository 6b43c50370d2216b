//! What a check finds.

use std::fmt;

use bson::{Bson, doc};

use crate::buckets::check::BucketDamage;
use crate::gridfs::check::FileDamage;
use crate::plan::shell;
use crate::sharding::check::ShardKeyDamage;
use crate::tree::DamageKind;
use crate::types::json::text::to_relaxed_text;
use crate::write::{CopyDamage, RecentDamage, ReferenceDamage, SummaryDamage, TwoWayDamage};

/// Something that a [check](super::Check) found: a document that contradicts its model or another document, or a collection that
/// does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of damage.
    pub kind: FindingKind,
    /// The Rust name of the model.
    pub model: &'static str,
    /// The name of the collection.
    pub collection: String,
    /// The `_id` of the document; `None` if the finding is about the collection.
    pub id: Option<Bson>,
    /// The stored path of the field; empty if the finding is about the whole document. Positions in lists are not part of it.
    pub path: String,
    /// The stored value, if one value is wrong.
    pub stored: Option<Bson>,
    /// The value that was expected, if there is one.
    pub expected: Option<Bson>,
    /// A sentence that says what is wrong, with the stored value and the expected one.
    pub detail: String,
}

/// The kinds of [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// A reference or a DBRef leads to no document.
    DanglingReference,
    /// A document refers to one that does not refer back, and `two_way` is declared.
    OneSidedReference,
    /// A copy has another value than the field that it follows: `copy_of`.
    StaleCopy,
    /// A summary has another value than the documents of its relation have: `count_of` and its kin.
    StaleSummary,
    /// A list does not have the newest documents, or has them in another order: `recent`.
    StaleList,
    /// A list has more elements than its declaration allows.
    LongList,
    /// The validator refuses the document for another reason.
    InvalidDocument,
    /// A field is stored that the model does not declare.
    UndeclaredField,
    /// No index finds the documents of a relation.
    UnindexedRelation,
    /// A change of several documents has begun and not ended.
    UnfinishedChange,
    /// A count, or another value that a bucket keeps, is not that of its items: `bucket`.
    WrongKeptValue,
    /// An item is outside of the span of its bucket: `bucket`.
    MisplacedItem,
    /// Chunks of a file are missing: `gridfs`.
    MissingChunk,
    /// A file has chunks behind its last one, or two of one number.
    ExtraChunk,
    /// A chunk is too short or too long, or has no bytes.
    WrongChunk,
    /// Chunks belong to no file: an upload has stopped before its end, or a delete has.
    OrphanedChunks,
    /// A field of the shard key is missing or null: `shard_key`.
    MissingShardKey,
    /// A field of the shard key is an array, or within one, which MongoDB refuses once the collection is sharded.
    ArrayInShardKey,
    /// A document has an older version of its schema, or a version that is not a number: `schema`.
    OutdatedSchema,
    /// A document has a newer version of its schema than the program knows: `schema`.
    NewerSchema,
    /// The fields that a tree keeps contradict each other.
    DamagedTree(DamageKind),
}

impl FindingKind {
    /// The kind in JSON: `dangling-reference`; of trees, with the word in front: `tree-wrong-depth`.
    ///
    /// ```
    /// use odm::check::FindingKind;
    /// use odm::tree::DamageKind;
    ///
    /// assert_eq!(FindingKind::StaleCopy.code(), "stale-copy");
    /// assert_eq!(FindingKind::DamagedTree(DamageKind::WrongDepth).code(), "tree-wrong-depth");
    /// ```
    pub fn code(self) -> String {
        let words = self.to_string().replace(' ', "-");
        match self {
            Self::DamagedTree(_) => format!("tree-{words}"),
            _ => words,
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DanglingReference => "dangling reference",
            Self::OneSidedReference => "one-sided reference",
            Self::StaleCopy => "stale copy",
            Self::StaleSummary => "stale summary",
            Self::StaleList => "stale list",
            Self::LongList => "long list",
            Self::InvalidDocument => "invalid document",
            Self::UndeclaredField => "undeclared field",
            Self::UnindexedRelation => "unindexed relation",
            Self::UnfinishedChange => "unfinished change",
            Self::WrongKeptValue => "wrong kept value",
            Self::MisplacedItem => "misplaced item",
            Self::MissingChunk => "missing chunk",
            Self::ExtraChunk => "extra chunk",
            Self::WrongChunk => "wrong chunk",
            Self::OrphanedChunks => "orphaned chunks",
            Self::MissingShardKey => "missing shard key",
            Self::ArrayInShardKey => "array in shard key",
            Self::OutdatedSchema => "outdated schema",
            Self::NewerSchema => "newer schema",
            Self::DamagedTree(kind) => return kind.fmt(f),
        })
    }
}

impl From<ReferenceDamage> for FindingKind {
    fn from(kind: ReferenceDamage) -> Self {
        match kind {
            ReferenceDamage::Dangling => Self::DanglingReference,
        }
    }
}

impl From<BucketDamage> for FindingKind {
    fn from(kind: BucketDamage) -> Self {
        match kind {
            BucketDamage::Kept => Self::WrongKeptValue,
            BucketDamage::Misplaced => Self::MisplacedItem,
        }
    }
}

impl From<FileDamage> for FindingKind {
    fn from(kind: FileDamage) -> Self {
        match kind {
            FileDamage::Missing => Self::MissingChunk,
            FileDamage::Extra => Self::ExtraChunk,
            FileDamage::Wrong => Self::WrongChunk,
        }
    }
}

impl From<ShardKeyDamage> for FindingKind {
    fn from(kind: ShardKeyDamage) -> Self {
        match kind {
            ShardKeyDamage::Missing => Self::MissingShardKey,
            ShardKeyDamage::Array => Self::ArrayInShardKey,
        }
    }
}

impl From<TwoWayDamage> for FindingKind {
    fn from(kind: TwoWayDamage) -> Self {
        match kind {
            TwoWayDamage::OneSided => Self::OneSidedReference,
        }
    }
}

impl From<CopyDamage> for FindingKind {
    fn from(kind: CopyDamage) -> Self {
        match kind {
            CopyDamage::Stale => Self::StaleCopy,
        }
    }
}

impl From<SummaryDamage> for FindingKind {
    fn from(kind: SummaryDamage) -> Self {
        match kind {
            SummaryDamage::Stale => Self::StaleSummary,
        }
    }
}

impl From<RecentDamage> for FindingKind {
    fn from(kind: RecentDamage) -> Self {
        match kind {
            RecentDamage::Stale => Self::StaleList,
        }
    }
}

impl From<DamageKind> for FindingKind {
    fn from(kind: DamageKind) -> Self {
        match kind {
            DamageKind::Unfinished => Self::UnfinishedChange,
            kind => Self::DamagedTree(kind),
        }
    }
}

impl Finding {
    /// The finding as one line of JSON, with BSON values as relaxed [extended JSON].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// # db.collection::<Author>().delete_by_id(&1).leave_dangling().await?;
    /// use odm::check::Aspect;
    ///
    /// let report = db.check(models![Book]).only([Aspect::References]).await?;
    /// assert_eq!(
    ///     report.listed[0].to_json(),
    ///     r#"{"kind":"dangling-reference","model":"Book","collection":"books","id":1,"path":"author","stored":1,"detail":"`author` leads to no `Author` with the _id 1"}"#
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [extended JSON]: https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/
    pub fn to_json(&self) -> String {
        let mut json = doc! {
            "kind": self.kind.code(),
            "model": self.model,
            "collection": &self.collection,
        };
        let mut add = |name: &str, value: &Option<Bson>| {
            if let Some(value) = value {
                json.insert(name, value.clone());
            }
        };
        add("id", &self.id);
        add("path", &Some(self.path.as_str().into()));
        add("stored", &self.stored);
        add("expected", &self.expected);
        add("detail", &Some(self.detail.as_str().into()));
        to_relaxed_text(&json)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.model)?;
        if let Some(id) = &self.id {
            write!(f, " {}", shell::value(id))?;
        }
        write!(f, ": {}: {}", self.kind, self.detail)
    }
}
