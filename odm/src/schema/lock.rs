//! Lock files: the declared shapes of all models as text, so that a review sees what a change does to stored documents.
//!
//! Start at [`check_lock`], which a test calls. [`lock`] makes a [`Lock`], `lock/shape.rs` its lines, and `lock/text.rs` writes and
//! reads them. [`Lock::compare`] classifies what differs.

mod compare;
mod file;
mod shape;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use self::file::check_lock;
use super::sync;
use super::validator::declaration;
use crate::error::{Error, Result};
use crate::model::ModelMeta;

/// The declared shapes of models: their stored fields, indexes, options, rules and relations.
///
/// Its text, by `Display`, is what a lock file holds: a line for each fact, in an order that does not depend on that of fields
/// and models.
///
/// ```
/// # use odm::prelude::*;
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     #[odm(unique, length(max = 200))]
///     title: String,
///     subtitle: Option<String>,
/// }
///
/// # fn main() -> odm::Result<()> {
/// let lock = odm::schema::lock(models![Book])?;
/// assert_eq!(
///     lock.to_string(),
///     r#"odm-lock 1
///
/// collection books model Book version 1
///   field _id: int required
///   field subtitle: null|string default
///   field title: string required maxLength=200
///   index title_1: {"key":{"title":1},"unique":true}
/// "#
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// By the names of their collections.
    models: BTreeMap<String, LockedModel>,
}

/// The lines of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LockedModel {
    /// The Rust name.
    name: String,
    version: u32,
    /// By their paths, as they are written.
    fields: BTreeMap<String, LockedField>,
    /// JSON, by the kind and the name of what it describes.
    facts: BTreeMap<(Fact, String), String>,
}

/// A stored field, an element of a list, a value of a map or a variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LockedField {
    /// The aliases of BSON types, or `any`.
    types: BTreeSet<String>,
    /// Whether documents may lack the field; elements and variants have none.
    presence: Option<Presence>,
    /// JSON, by keyword: those of `$jsonSchema`, and what else is declared.
    facts: BTreeMap<String, String>,
}

/// Whether documents have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// They have to.
    Required,
    /// All that the program writes; others are read with a default.
    Default,
    /// Not all.
    Optional,
}

/// What a line that is not about a field describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    Option,
    Index,
    Keywords,
    Relation,
    Rule,
    Tree,
}

/// Returns the declared shapes of `models`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// # fn main() -> odm::Result<()> {
/// let lock = odm::schema::lock(models![Book])?;
/// assert!(lock.to_string().contains("field year: int required"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Declarations that [`Db::sync`](crate::Db::sync) would refuse, two models with one collection, and a variant without its enum.
pub fn lock(models: impl IntoIterator<Item = &'static ModelMeta>) -> Result<Lock> {
    let mut lock = Lock::default();
    for model in sync::wholes(models.into_iter().collect())? {
        let lines = shape::of(model)?;
        if let Some(other) = lock.models.insert(model.collection.to_owned(), lines) {
            let message = if other.name == model.name {
                format!("`{}` is listed twice; list each model once", model.name)
            } else {
                format!(
                    "`{}` and `{}` both declare the collection `{}`; list one of them",
                    other.name, model.name, model.collection
                )
            };
            return Err(declaration(message));
        }
    }
    Ok(lock)
}

impl Lock {
    /// Reads the text of a lock file.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::schema::Lock;
    ///
    /// # fn main() -> odm::Result<()> {
    /// let lock = odm::schema::lock(models![Book])?;
    /// assert_eq!(Lock::parse(&lock.to_string())?, lock);
    ///
    /// let error = Lock::parse("odm-lock 1\n<<<<<<< HEAD\n").unwrap_err();
    /// assert!(error.to_string().contains("line 2: a marker of a merge conflict"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The number of the first line that is not one of a lock file of this format, and why. Lines may end with CRLF.
    pub fn parse(text: &str) -> Result<Self> {
        text::parse(text).map_err(Error::usage)
    }

    /// Returns what differs between two versions of a program, the worst first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::schema::{Impact, Lock};
    ///
    /// # fn main() -> odm::Result<()> {
    /// let new = odm::schema::lock(models![Book])?;
    /// let old = Lock::parse(&new.to_string().replace("field year: int", "field published: int"))?;
    /// let changes = Lock::compare(&old, &new);
    /// assert_eq!(changes.len(), 1);
    /// assert_eq!(changes[0].impact, Impact::Rewrite);
    /// assert_eq!(changes[0].step.as_deref(), Some("rename_published_to_year"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn compare(old: &Self, new: &Self) -> Vec<Change> {
        compare::changes(old, new)
    }
}

/// A difference between two [`Lock`]s.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What it means for stored documents.
    pub impact: Impact,
    /// The Rust name of the model.
    pub model: String,
    /// The name of its collection.
    pub collection: String,
    /// The stored path of a field, or what else has changed, such as `index title_1`; empty for the model itself.
    pub subject: String,
    /// What has changed, and what follows from it.
    pub what: String,
    /// The name of the migration that stored documents need, if they need one.
    pub step: Option<String>,
    /// Whether the version of the schema is higher than before, so that it says how documents are migrated.
    pub is_versioned: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.impact, self.model)?;
        match self.subject.as_str() {
            "" => {}
            subject if subject.contains(' ') => write!(f, " {subject}")?,
            path => write!(f, ".{path}")?,
        }
        write!(f, ": {}", self.what)?;
        if let (Some(step), false) = (&self.step, self.is_versioned) {
            write!(f, "; migrate stored documents, in a step `{step}`")?;
        }
        Ok(())
    }
}

/// What a change of the declared shape means for the documents that an older program has stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Impact {
    /// They can be read, and updated: the new validator accepts them.
    Compatible,
    /// Some can't be read or updated, or are not found, until they are migrated.
    Rewrite,
    /// They hold values that no field reads any more, or that are removed.
    LosesData,
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compatible => "compatible",
            Self::Rewrite => "needs a rewrite",
            Self::LosesData => "loses data",
        })
    }
}

#[cfg(test)]
mod tests;
