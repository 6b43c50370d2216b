//! Errors of writes of several documents, of which some failed.

use std::collections::BTreeMap;
use std::fmt;

use bson::Bson;

use super::server::duplicate_path;
use super::{Code, Error, Kind, ServerError, ValidationFailure};

/// The result of a bulk write.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct BulkWriteResult {
    /// Documents inserted.
    pub inserted: u64,
    /// Documents that updates and replacements matched.
    pub matched: u64,
    /// Documents that updates and replacements changed.
    pub modified: u64,
    /// Documents deleted.
    pub deleted: u64,
    /// The `_id`s of upserted documents, by the position of the operation.
    pub upserted_ids: BTreeMap<usize, Bson>,
}

impl BulkWriteResult {
    /// Adds the result of a further command; `position` maps its statement indexes to positions in the bulk write.
    pub(crate) fn add(&mut self, other: Self, position: impl Fn(usize) -> usize) {
        self.inserted += other.inserted;
        self.matched += other.matched;
        self.modified += other.modified;
        self.deleted += other.deleted;
        self.upserted_ids.extend(
            other
                .upserted_ids
                .into_iter()
                .map(|(index, id)| (position(index), id)),
        );
    }
}

/// The error of one of several writes.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteError {
    index: usize,
    error: ServerError,
    rules: Vec<&'static str>,
}

impl WriteError {
    pub(crate) fn new(index: usize, error: ServerError) -> Self {
        Self {
            index,
            error,
            rules: Vec::new(),
        }
    }

    /// Sets the names of the expression rules of the model whose validator refused the write.
    pub(crate) fn name_rules(&mut self, names: &[&'static str]) {
        self.rules = names.to_vec();
    }

    /// The rules that the document breaks, if a validator refused it (code 121).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # db.sync(models![Book]).plan().await?.apply(Allow::CREATE).await?;
    /// # let books = db.collection::<Book>();
    /// // `year` has the rule `range(min = 1450)`.
    /// let both = [Book { id: 7, year: 1515 }, Book { id: 8, year: 150 }];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// let failure = error.write_errors()[0].validation_failure().ok_or("another error")?;
    /// assert_eq!(failure.violations()[0].path, "year");
    /// # Ok(())
    /// # }
    /// ```
    pub fn validation_failure(&self) -> Option<ValidationFailure> {
        let mut failure = ValidationFailure::from_server(&self.error)?;
        failure.name_rules(&self.rules);
        Some(failure)
    }

    pub(crate) fn into_error(self) -> ServerError {
        self.error
    }

    /// The position of the document or operation in the call, starting at 0.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert_eq!(error.write_errors()[0].index(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// The server's error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert_eq!(error.write_errors()[0].error().code(), odm::Code::DUPLICATE_KEY);
    /// # Ok(())
    /// # }
    /// ```
    pub fn error(&self) -> &ServerError {
        &self.error
    }

    /// Whether a unique index refused a value that another document already has (code 11000).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert!(error.write_errors()[0].is_duplicate_key());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_duplicate_key(&self) -> bool {
        self.error.code() == Code::DUPLICATE_KEY
    }

    /// The stored path of the field whose value a unique index refused, as [`Error::path`] returns it for a single write.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert_eq!(error.write_errors()[0].path(), Some("_id"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn path(&self) -> Option<&str> {
        duplicate_path(&self.error)
    }
}

/// Names the write by its position: `write 1 failed: E11000 duplicate key error …`.
impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write {} failed: {}", self.index, self.error)
    }
}

/// Some of several writes failed; the others may have succeeded.
#[derive(Debug, Clone, Default)]
pub(crate) struct BulkError {
    pub(crate) result: BulkWriteResult,
    pub(crate) errors: Vec<WriteError>,
    pub(crate) concern: Option<ServerError>,
    labels: Vec<String>,
}

impl BulkError {
    pub(crate) fn new(
        result: BulkWriteResult,
        errors: Vec<WriteError>,
        concern: Option<ServerError>,
    ) -> Self {
        Self {
            result,
            errors,
            concern,
            labels: Vec::new(),
        }
    }

    #[must_use]
    pub(crate) fn with_labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// Adds the errors of a further command; `position` maps its statement indexes to positions in the bulk write.
    pub(crate) fn add(&mut self, other: Self, position: impl Fn(usize) -> usize) {
        self.result.add(other.result, &position);
        self.errors.extend(
            other
                .errors
                .into_iter()
                .map(|error| WriteError::new(position(error.index), error.error)),
        );
        self.concern = self.concern.take().or(other.concern);
        self.labels.extend(other.labels);
    }

    /// The first error, whose code is the code of the whole.
    pub(crate) fn first(&self) -> Option<&ServerError> {
        self.errors
            .first()
            .map(WriteError::error)
            .or(self.concern.as_ref())
    }

    pub(crate) fn labels(&self) -> &[String] {
        &self.labels
    }
}

impl fmt::Display for BulkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errors.as_slice() {
            [] => f.write_str("the writes were done but not acknowledged as asked")?,
            [error] => write!(f, "{error}")?,
            [first, rest @ ..] => write!(f, "{first}, and {} more failed", rest.len())?,
        }
        if let Some(concern) = &self.concern {
            write!(f, "; write concern: {concern}")?;
        }
        Ok(())
    }
}

impl From<BulkError> for Kind {
    fn from(error: BulkError) -> Self {
        Self::Bulk(error)
    }
}

impl Error {
    /// Whether some of several writes failed (`insert_many`, `bulk_write`). The other writes succeeded;
    /// if the writes were ordered, only those before the first failure did.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert!(error.is_bulk());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_bulk(&self) -> bool {
        matches!(self.kind(), Kind::Bulk(_))
    }

    /// The writes that failed, each with its position; empty unless [`Error::is_bulk`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert_eq!(error.write_errors().len(), 1);
    /// assert_eq!(error.write_errors()[0].index(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_errors(&self) -> &[WriteError] {
        match self.kind() {
            Kind::Bulk(error) => &error.errors,
            _ => &[],
        }
    }

    /// The result of the writes that succeeded, if [`Error::is_bulk`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let both = [book(4, "Persuasion", 1817), book(1, "Emma", 1815)];
    /// let error = books.insert_many(both).await.unwrap_err();
    /// assert_eq!(error.partial_result().map(|done| done.inserted), Some(1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn partial_result(&self) -> Option<&BulkWriteResult> {
        match self.kind() {
            Kind::Bulk(error) => Some(&error.result),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn bulk_errors_report_positions_and_counts() {
        let duplicate = ServerError::new(Code::DUPLICATE_KEY, "E11000 duplicate key");
        let mut bulk = BulkError::new(
            BulkWriteResult {
                inserted: 2,
                ..Default::default()
            },
            vec![WriteError::new(2, duplicate.clone())],
            None,
        );
        bulk.add(
            BulkError::new(
                BulkWriteResult {
                    inserted: 1,
                    ..Default::default()
                },
                vec![WriteError::new(0, duplicate)],
                None,
            ),
            |index| index + 10,
        );
        let error = Error::new(bulk);
        assert!(error.is_bulk() && error.is_duplicate_key());
        assert_eq!(error.partial_result().unwrap().inserted, 3);
        assert_eq!(error.write_errors()[1].index(), 10);
        assert_eq!(
            error.to_string(),
            "write 2 failed: E11000 duplicate key (DuplicateKey 11000), and 1 more failed: another \
             document has this value: change that one, or use another value"
        );
    }
}
