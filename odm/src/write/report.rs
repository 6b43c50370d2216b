//! The report of a check.

use std::fmt;

use bson::Bson;

use crate::plan::shell;

/// How many documents are read between two reports of progress.
const CHUNK: u64 = 1_000;

/// The most damages that a report lists; it counts all of them.
const MAX_LISTED: usize = 10_000;

/// The damages that a check found, by kinds of its own.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report<K> {
    /// How many documents were read.
    pub read: u64,
    /// How many damages were found.
    pub damages: u64,
    /// The first 10,000 of them.
    pub listed: Vec<Damage<K>>,
}

/// Something wrong with one document.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Damage<K> {
    /// The stored id of the document.
    pub id: Bson,
    /// The kind of damage.
    pub kind: K,
    /// The stored path of the field; empty where the document as a whole is damaged.
    pub path: String,
    /// The stored value, if the field is stored and one value is wrong.
    pub stored: Option<Bson>,
    /// The value that was expected, if there is one.
    pub expected: Option<Bson>,
    /// A sentence that says what is wrong, with the stored value and the expected one.
    pub detail: String,
}

impl<K> Damage<K> {
    /// Damage of a document of which no single value is known to be wrong.
    pub(crate) fn new(id: &Bson, kind: K, detail: String) -> Self {
        Self {
            id: id.clone(),
            kind,
            path: String::new(),
            stored: None,
            expected: None,
            detail,
        }
    }

    /// Names the field, and the value that is stored there.
    pub(crate) fn at(self, path: impl Into<String>, stored: Option<Bson>) -> Self {
        Self {
            path: path.into(),
            stored,
            ..self
        }
    }

    /// Says which value is expected.
    pub(crate) fn expecting(self, expected: Option<Bson>) -> Self {
        Self { expected, ..self }
    }

    /// Whether both say the same. Values are compared by their texts, because NaN does not equal itself.
    pub(crate) fn is_same(&self, other: &Self) -> bool
    where
        K: PartialEq,
    {
        self.kind == other.kind
            && self.path == other.path
            && self.detail == other.detail
            && shell::value(&self.id) == shell::value(&other.id)
    }

    /// The same damage as one of several kinds.
    pub(crate) fn into_kind<L: From<K>>(self) -> Damage<L> {
        Damage {
            id: self.id,
            kind: self.kind.into(),
            path: self.path,
            stored: self.stored,
            expected: self.expected,
            detail: self.detail,
        }
    }
}

impl<K> Report<K> {
    /// Whether nothing is wrong.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/categories.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = five_categories().await?;
    /// # let tree = db.tree::<Category>();
    /// let report = tree.check().await?;
    /// assert!(report.is_sound(), "{report}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_sound(&self) -> bool {
        self.damages == 0
    }

    pub(crate) fn add(&mut self, id: &Bson, kind: K, detail: String) {
        self.push(Damage::new(id, kind, detail));
    }

    /// Keeps the listed damages for which this holds.
    pub(crate) fn keep_only(&mut self, mut is_kept: impl FnMut(&Damage<K>) -> bool) {
        let listed = self.listed.len();
        self.listed.retain(|damage| is_kept(damage));
        let removed = listed - self.listed.len();
        self.damages = self.damages.saturating_sub(removed as u64);
    }

    pub(crate) fn push(&mut self, damage: Damage<K>) {
        self.damages += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(damage);
        }
    }
}

impl<K> Default for Report<K> {
    fn default() -> Self {
        Self {
            read: 0,
            damages: 0,
            listed: Vec::new(),
        }
    }
}

impl<K: fmt::Display> fmt::Display for Report<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} documents, {} damages", self.read, self.damages)?;
        for damage in &self.listed {
            writeln!(f, "{damage}")?;
        }
        Ok(())
    }
}

impl<K: fmt::Display> fmt::Display for Damage<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = shell::value(&self.id);
        write!(f, "{id}: {}: {}", self.kind, self.detail)
    }
}

/// The result of [`refresh_copies`](crate::Collection::refresh_copies),
/// [`refresh_summaries`](crate::Collection::refresh_summaries), [`refresh_recent`](crate::Collection::refresh_recent) and
/// [`refresh_two_way`](crate::Collection::refresh_two_way).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshResult {
    /// How many documents were read.
    pub read: u64,
    /// How many documents were written, because a copy, a summary, a list of the newest or a reference had another value. A
    /// document with copies beside several references, summaries of several relations, or several lists, counts once for each.
    pub updated: u64,
}

/// Reports progress to the caller of a check.
#[derive(Default)]
pub(crate) struct Progress<'s>(Option<Box<dyn FnMut(u64) + Send + 's>>);

impl<'s> Progress<'s> {
    pub(crate) fn to(report: impl FnMut(u64) + Send + 's) -> Self {
        Self(Some(Box::new(report)))
    }

    /// Another document was read, the one with this number.
    pub(crate) fn read(&mut self, number: u64) {
        if number.is_multiple_of(CHUNK) {
            self.report(number);
        }
    }

    /// All documents were read.
    pub(crate) fn end(&mut self, count: u64) {
        if !count.is_multiple_of(CHUNK) {
            self.report(count);
        }
    }

    fn report(&mut self, count: u64) {
        if let Some(report) = &mut self.0 {
            report(count);
        }
    }
}
