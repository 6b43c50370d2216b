//! One of the writes of a bulk write.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use bson::raw::RawDocumentBuf;

use crate::collection::call::{
    Call, Reach, Ready, check_dependents, encode_with_id, filter, operands, replace, some,
    upserting,
};
use crate::collection::guarded::Guards;
use crate::collection::stale::Stale;
use crate::collection::versions;
use crate::error::{Error, Result};
use crate::model::Document;
use crate::query::{Filter, FilterFn, fields};
use crate::store::options::{Collation, Hint, Options};
use crate::store::{Operation, WriteKind};
use crate::update::{Update, UpdateFn};

/// Builds the writes of a [`bulk_write`](crate::collection::Collection::bulk_write).
#[derive(Debug)]
pub struct Writes<M>(PhantomData<fn() -> M>);

// Deriving these would ask for models that are `Copy`.
impl<M> Clone for Writes<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Writes<M> {}

/// One write of a bulk write, built by [`Writes`].
#[must_use = "a write does nothing until it is given to `bulk_write`"]
pub struct Write<M> {
    operation: Result<Operation>,
    options: Options,
    guards: Option<Box<Guards>>,
    /// Whether a delete leaves the documents that refer to the deleted one as they are.
    leaves_dangling: bool,
    leaves_stale: bool,
    of: PhantomData<fn() -> M>,
}

/// A write as a statement of its command, or as the document to insert.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    /// The position in the bulk write.
    pub(super) index: usize,
    pub(super) kind: WriteKind,
    pub(super) statement: RawDocumentBuf,
    /// What the write would leave stale; `None` if that is nothing, or the caller has said so.
    pub(super) stale: Option<Box<Stale>>,
    /// Whether what follows from the write is written, if the bulk write propagates.
    pub(super) is_followed: bool,
    /// Whether a delete removes every document that matches.
    pub(super) multi: bool,
    /// The options of the write that decide what it matches.
    pub(super) collation: Option<Collation>,
    pub(super) hint: Option<Hint>,
    /// Matches the documents of other versions of the schema that have to be rewritten before.
    pub(super) outdated: Option<Box<bson::Document>>,
}

impl<M: Document> Writes<M> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }

    /// Inserts a document.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let books = db.collection::<Book>();
    /// let result = books.bulk_write(|w| [w.insert_one(book(1, "Emma", 1815))]).await?;
    /// assert_eq!(result.inserted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert_one(&self, document: impl Borrow<M>) -> Write<M> {
        let encoded = encode_with_id(document.borrow());
        Write::new(encoded.map(|(document, _)| Operation::InsertOne { document }))
    }

    /// Updates the first document that matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let years = [(1, 1816), (2, 1855)];
    /// let result = books
    ///     .bulk_write(|w| years.map(|(id, year)| w.update_one(|b| b.id.eq(id), |b| b.year.set(year))))
    ///     .await?;
    /// assert_eq!(result.modified, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_one(&self, condition: impl FilterFn<M>, change: impl UpdateFn<M>) -> Write<M> {
        let condition = condition(fields::<M>());
        Write::update(condition, change(fields::<M>()), Reach::One)
    }

    /// Updates every document that matches. A filter that matches everything is an error: use
    /// [`update_all`](Self::update_all).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books
    ///     .bulk_write(|w| [w.update_many(|b| b.year.lt(1900), |b| b.tags.push("classic"))])
    ///     .await?;
    /// assert_eq!(result.modified, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_many(&self, condition: impl FilterFn<M>, change: impl UpdateFn<M>) -> Write<M> {
        let condition = condition(fields::<M>());
        Write::update(condition, change(fields::<M>()), Reach::Many)
    }

    /// Updates every document of the collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.bulk_write(|w| [w.update_all(|b| b.year.inc(1))]).await?;
    /// assert_eq!(result.modified, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_all(&self, change: impl UpdateFn<M>) -> Write<M> {
        Write::update(Filter::all(), change(fields::<M>()), Reach::All)
    }

    /// Replaces the first document that matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books
    ///     .bulk_write(|w| [w.replace_one(|b| b.id.eq(4), book(4, "Persuasion", 1817)).upsert(true)])
    ///     .await?;
    /// assert_eq!(result.upserted_ids.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace_one(
        &self,
        condition: impl FilterFn<M>,
        replacement: impl Borrow<M>,
    ) -> Write<M> {
        let filter = filter::<M>(condition);
        Write::new(filter.and_then(|filter| replace::<M>(filter, replacement.borrow())))
    }

    /// Removes the first document that matches.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books
    ///     .bulk_write(|w| [w.delete_one(|b| b.id.eq(1)), w.insert_one(book(4, "Persuasion", 1817))])
    ///     .await?;
    /// assert_eq!((result.deleted, result.inserted), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_one(&self, condition: impl FilterFn<M>) -> Write<M> {
        let filter = filter::<M>(condition);
        Write::new(filter.map(|filter| Operation::Delete {
            filter,
            multi: false,
        }))
    }

    /// Removes every document that matches. A filter that matches everything is an error: use
    /// [`delete_all`](Self::delete_all).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.bulk_write(|w| [w.delete_many(|b| b.year.lt(1900))]).await?;
    /// assert_eq!(result.deleted, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_many(&self, condition: impl FilterFn<M>) -> Write<M> {
        let filter =
            filter::<M>(condition).and_then(|filter| some(filter, "delete_many", "delete_all"));
        Write::new(filter.map(|filter| Operation::Delete {
            filter,
            multi: true,
        }))
    }

    /// Removes every document of the collection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let result = books.bulk_write(|w| [w.delete_all()]).await?;
    /// assert_eq!(result.deleted, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_all(&self) -> Write<M> {
        Write::new(Ok(Operation::Delete {
            filter: bson::Document::new().into(),
            multi: true,
        }))
    }
}

impl<M: Document> Write<M> {
    fn new(operation: Result<Operation>) -> Self {
        Self {
            operation,
            options: Options::default(),
            guards: None,
            leaves_dangling: false,
            leaves_stale: false,
            of: PhantomData,
        }
    }

    fn update(condition: Filter<M>, change: Update<M>, reach: Reach) -> Self {
        let ready = operands(
            condition.into_node(),
            change.into_changes(),
            M::model(),
            reach,
        );
        match ready {
            Ok(Ready { operands, guards }) => Self {
                guards,
                ..Self::new(Ok(Operation::Update(operands)))
            },
            Err(error) => Self::new(Err(error)),
        }
    }

    /// Whether to insert a document if none matches; for updates and replacements only.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::bson::Bson;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let fourth = book(4, "Persuasion", 1817);
    /// let result = books
    ///     .bulk_write(|w| [w.replace_one(|b| b.id.eq(4), fourth).upsert(true)])
    ///     .await?;
    /// assert_eq!(result.upserted_ids[&0], Bson::Int32(4));
    /// # Ok(())
    /// # }
    /// ```
    pub fn upsert(mut self, upsert: bool) -> Self {
        self.only("upsert", |operation| {
            matches!(operation, Operation::Update(_) | Operation::Replace { .. })
        });
        self.options.upsert = Some(upsert);
        self
    }

    /// Leaves documents that refer to the deleted ones as they are, although the model declares `on_delete` for them; for
    /// deletes only.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/on_delete.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_shelf().await?;
    /// let authors = db.collection::<Author>();
    /// let result = authors
    ///     .bulk_write(|w| [1, 2].map(|id| w.delete_one(|a| a.id.eq(id)).leave_dangling()))
    ///     .await?;
    /// assert_eq!(result.deleted, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn leave_dangling(mut self) -> Self {
        self.only("leave_dangling", |operation| {
            matches!(operation, Operation::Delete { .. })
        });
        self.leaves_dangling = true;
        self
    }

    /// Leaves copies of what the write changes as they are, although they are declared by `copy_of`; for updates and
    /// replacements only.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let hosts = db.collection::<Host>();
    /// let change = |id: i32| (id, format!("10.0.0.{id}"));
    /// let changes = [1, 2].map(change);
    /// hosts
    ///     .bulk_write(|w| {
    ///         changes.map(|(id, to)| w.update_one(|h| h.id.eq(id), |h| h.ipaddr.set(to)).leave_stale())
    ///     })
    ///     .await?;
    /// db.collection::<LogMessage>().refresh_copies().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn leave_stale(mut self) -> Self {
        self.only("leave_stale", |operation| {
            matches!(operation, Operation::Update(_) | Operation::Replace { .. })
        });
        self.leaves_stale = true;
        self
    }

    /// The index to use; not for inserts.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let delete = books.bulk_write(|w| [w.delete_many(|b| b.year.lt(1900)).hint("_id_")]);
    /// assert_eq!(delete.await?.deleted, 2);
    /// let delete = books.bulk_write(|w| [w.delete_many(|b| b.year.gt(1900)).hint("year_1")]);
    /// assert!(delete.await.is_err(), "there is no such index");
    /// # Ok(())
    /// # }
    /// ```
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.only("hint", |operation| {
            !matches!(operation, Operation::InsertOne { .. })
        });
        self.options.hint = Some(hint.into());
        self
    }

    /// The rules for comparing strings; not for inserts.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let any_case = Collation::new("en").strength(2);
    /// let result = books
    ///     .bulk_write(|w| [w.delete_one(|b| b.title.eq("emma")).collation(any_case)])
    ///     .await?;
    /// assert_eq!(result.deleted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn collation(mut self, collation: Collation) -> Self {
        self.only("collation", |operation| {
            !matches!(operation, Operation::InsertOne { .. })
        });
        self.options.collation = Some(collation);
        self
    }

    fn only(&mut self, option: &str, takes: impl FnOnce(&Operation) -> bool) {
        if let Ok(operation) = &self.operation
            && !takes(operation)
        {
            self.operation = Err(Error::usage(format!("this write takes no `{option}`")));
        }
    }

    /// Refuses a write of a node that the trees of the model do not see.
    pub(super) fn check_trees(&self, call: &Call<'_>) -> Result<()> {
        match &self.operation {
            Ok(operation) => call.check_trees(operation, self.options.upsert),
            Err(_) => Ok(()),
        }
    }

    /// Refuses a write that has to say what becomes of other documents, and does not.
    pub(super) fn check_words(&self) -> Result<()> {
        let Ok(operation) = &self.operation else {
            return Ok(());
        };
        if matches!(operation, Operation::Delete { .. }) && !self.leaves_dangling {
            check_dependents(M::model(), true)?;
        }
        if self.leaves_stale {
            return Ok(());
        }
        let refused = Stale::refuse(M::model(), operation);
        refused.map_err(|error| error.context("a bulk write takes `propagate` as a whole"))
    }

    /// What the write would leave stale, if the caller has not said that it may.
    fn stale(&self) -> Result<Option<Box<Stale>>> {
        let model = M::model();
        let Ok(operation) = &self.operation else {
            return Ok(None);
        };
        if self.leaves_stale || !model.derives()? {
            return Ok(None);
        }
        let mut stale = Stale::of(model, operation)?;
        if self.options.upsert == Some(true) {
            stale.add(Stale::of_new(model)?);
        }
        Ok((!stale.is_empty()).then(|| Box::new(stale)))
    }

    pub(super) fn prepare(self, index: usize) -> Result<Prepared> {
        let stale = self.stale()?;
        let mut operation = self.operation?;
        if self.options.upsert == Some(true) {
            operation.complete_upsert();
            upserting(&mut operation, M::model())?;
        }
        if let Some(guards) = &self.guards {
            guards.check(&self.options)?;
        }
        let outdated = M::model().schema.and_then(|schema| {
            let outdated = versions::outdated(&operation, schema);
            versions::guard(&mut operation, schema);
            outdated.map(Box::new)
        });
        let multi = matches!(operation, Operation::Delete { multi: true, .. });
        let (kind, statement) = match operation {
            Operation::InsertOne { document } => (WriteKind::Insert, document),
            Operation::Delete { .. } => (WriteKind::Delete, operation.statement(&self.options)?),
            _ => (WriteKind::Update, operation.statement(&self.options)?),
        };
        Ok(Prepared {
            index,
            kind,
            statement,
            stale,
            is_followed: !self.leaves_dangling && !self.leaves_stale,
            multi,
            collation: self.options.collation,
            hint: self.options.hint,
            outdated,
        })
    }
}

impl<M> fmt::Debug for Write<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Write").field(&self.operation).finish()
    }
}
