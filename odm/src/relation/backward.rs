//! Joins in the other direction: from a document to those that refer to it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bson::doc;
use bson::raw::{RawBsonRef, RawDocument};
use futures_core::future::BoxFuture;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::branch::{Also, Branch, Branches, IntoBranch, also};
use super::count::Counted;
use super::scope::{Scope, check_projection};
use crate::error::Result;
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::{Document, Embedded, Projection, RelationMeta, name};
use crate::query::{FilterFn, SortFn};
use crate::store::operation::Operation;

/// A relation that a struct declares in the other direction, named by `N`: documents of `T` that refer to one of `M`.
///
/// `has_many` and `has_squillions` join a list ([`Many`]), `has_one` and `subset` at most one document ([`One`], [`Rest`]).
#[must_use = "nothing is loaded until the find that joins it is awaited"]
pub struct Inverse<M, N, T, K> {
    meta: &'static RelationMeta,
    of: PhantomData<Of<M, N, T, K, ()>>,
}

/// What a relation stands for, without owning any of it.
type Of<M, N, T, K, D> = fn() -> (M, N, T, K, D);

/// The documents that refer to a row, as a list: `Vec<Arc<T>>`.
#[derive(Debug)]
pub enum Many {}

/// The document that refers to a row: `Option<Arc<T>>`.
#[derive(Debug)]
pub enum One {}

/// The rest of a document that is split by the subset pattern: `Option<Arc<T>>`.
#[derive(Debug)]
pub enum Rest {}

/// Whether a document refers to a row.
#[derive(Debug)]
pub enum Exists {}

/// What a row gets of the documents that refer to it.
pub trait Take: 'static {
    /// The value in the row.
    type Value<Row: Send + Sync + 'static>: Send + Sync + 'static;

    /// Makes the value.
    fn take<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> Self::Value<Row>;
}

impl Take for Many {
    type Value<Row: Send + Sync + 'static> = Vec<Arc<Row>>;

    fn take<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> Vec<Arc<Row>> {
        rows
    }
}

impl Take for One {
    type Value<Row: Send + Sync + 'static> = Option<Arc<Row>>;

    fn take<Row: Send + Sync + 'static>(mut rows: Vec<Arc<Row>>) -> Option<Arc<Row>> {
        (!rows.is_empty()).then(|| rows.swap_remove(0))
    }
}

impl Take for Rest {
    type Value<Row: Send + Sync + 'static> = Option<Arc<Row>>;

    fn take<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> Option<Arc<Row>> {
        One::take(rows)
    }
}

impl Take for Exists {
    type Value<Row: Send + Sync + 'static> = bool;

    fn take<Row: Send + Sync + 'static>(rows: Vec<Arc<Row>>) -> bool {
        !rows.is_empty()
    }
}

impl<M: Document, N, T: Document, K> Inverse<M, N, T, K> {
    /// The relation with this metadata; generated code calls it.
    #[doc(hidden)]
    pub fn new(meta: &'static RelationMeta) -> Self {
        Self {
            meta,
            of: PhantomData,
        }
    }

    pub(super) fn meta(&self) -> &'static RelationMeta {
        self.meta
    }

    fn backward(self) -> Backward<M, N, T, K> {
        let mut scope = Scope::new(T::model());
        let ends = ends::<M, T>(self.meta).unwrap_or_else(|error| {
            scope.fail(error);
            Ends::default()
        });
        Backward {
            ends,
            scope,
            branches: (),
            of: PhantomData,
        }
    }

    /// Joins the documents that match.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let late = authors.find_all().join(|a| a.books.filter(|b| b.year.gt(1815))).all().await?;
    /// assert_eq!((late[0].books().len(), late[1].books().len()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(self, condition: impl FilterFn<T>) -> Backward<M, N, T, K> {
        self.backward().filter(condition)
    }

    /// Sorts the documents of each row.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.sort(|b| b.year.desc())).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort(self, sort: impl SortFn<T>) -> Backward<M, N, T, K> {
        self.backward().sort(sort)
    }

    /// Joins at most this many documents to each row, the first of their order; 0 is no limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.sort(|b| b.year.asc()).limit(1)).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Emma");
    /// assert_eq!(rows[0].books().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(self, limit: u32) -> Backward<M, N, T, K> {
        self.backward().limit(limit)
    }

    /// Reads the documents as `P`; MongoDB returns only its fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Deserialize, Projection)]
    /// #[odm(of = Book)]
    /// struct Titled { title: String }
    ///
    /// let rows = authors.find_all().join(|a| a.books.select::<Titled>()).all().await?;
    /// assert_eq!(rows[1].books()[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P>(self) -> Backward<M, N, T, K, P>
    where
        P: Projection<Of = T> + Send + Sync + 'static,
    {
        self.backward().select()
    }

    /// Joins a relation of the documents on the other side to them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.join(|b| b.author)).all().await?;
    /// let book = &rows[1].books()[0];
    /// assert_eq!(book.author().found().map(|author| author.id), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<T>>(
        self,
        relation: impl FnOnce(<T as Embedded>::Fields<T>) -> B,
    ) -> Backward<M, N, T, K, T, Also<(), B::Branch>> {
        self.backward().join(relation)
    }

    /// Counts the documents of each row instead of reading them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.count()).all().await?;
    /// assert_eq!((*rows[0].books(), *rows[1].books()), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn count(self) -> Counted<M, N, T> {
        self.backward().count()
    }

    /// Finds out for each row whether there is a document, without reading it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.exists()).all().await?;
    /// assert!(*rows[0].books());
    /// # Ok(())
    /// # }
    /// ```
    pub fn exists(self) -> Backward<M, N, T, Exists, IgnoredAny> {
        self.backward().exists()
    }
}

/// More documents than a reply of 16 MB holds.
const BATCH: u32 = 1_000_000;

/// The two ends of a relation, as they are stored.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// In the rows: the field whose value the other documents store.
    pub(super) key: StoredPath,
    /// In the other documents: the reference.
    pub(super) by: StoredPath,
    /// Whether the reference is in a list.
    pub(super) through_array: bool,
}

pub(super) fn ends<M: Document, T: Document>(meta: &RelationMeta) -> Result<Ends> {
    let by = name::resolve(T::meta(), meta.by)?;
    Ok(Ends {
        key: StoredPath::through_arrays(&name::resolve(M::meta(), meta.key)?.path),
        by: StoredPath::through_arrays(&by.path),
        through_array: by.through_array,
    })
}

/// A relation in the other direction to join, with what is read of the documents there: made by the methods of
/// [`Inverse`].
#[must_use = "nothing is loaded until the find that joins it is awaited"]
pub struct Backward<M, N, T, K, D = T, J = ()> {
    pub(super) ends: Ends,
    pub(super) scope: Scope,
    branches: J,
    of: PhantomData<Of<M, N, T, K, D>>,
}

impl<M: Document, N, T: Document, K, D, J> Backward<M, N, T, K, D, J> {
    /// Joins the documents that match this, too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.limit(5).filter(|b| b.year.gt(1815))).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<T>) -> Self {
        self.scope.filter::<T>(condition);
        self
    }

    /// Sorts the documents of each row.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.limit(5).sort(|b| b.year.desc())).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort(mut self, sort: impl SortFn<T>) -> Self {
        self.scope.sort::<T>(sort);
        self
    }

    /// Joins at most this many documents to each row, the first of their order; 0 is no limit.
    ///
    /// For one row this is a find with a limit. For several it is one pipeline on the collection of the rows, which
    /// looks up the documents of each by the index of the relation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.sort(|b| b.year.desc()).limit(1)).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// assert_eq!(rows[0].books().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(mut self, limit: u32) -> Self {
        self.scope.limit = (limit > 0).then_some(limit);
        self
    }

    /// Joins a relation of the documents on the other side to them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books.limit(1).join(|b| b.author)).all().await?;
    /// let book = &rows[0].books()[0];
    /// assert_eq!(book.author().found().map(|author| author.name.as_str()), Some("Austen"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<T>>(
        self,
        relation: impl FnOnce(<T as Embedded>::Fields<T>) -> B,
    ) -> Backward<M, N, T, K, D, Also<J, B::Branch>> {
        self.with(|branches| also(branches, relation))
    }

    /// The same documents, with other branches and types.
    fn with<K2, D2, J2>(self, branches: impl FnOnce(J) -> J2) -> Backward<M, N, T, K2, D2, J2> {
        Backward {
            ends: self.ends,
            scope: self.scope,
            branches: branches(self.branches),
            of: PhantomData,
        }
    }
}

impl<M: Document, N, T: Document, K> Backward<M, N, T, K> {
    /// Reads the documents as `P`; MongoDB returns only its fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Deserialize, Projection)]
    /// #[odm(of = Book)]
    /// struct Titled { title: String }
    ///
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.filter(|b| b.id.gt(1)).select::<Titled>()).all().await?;
    /// assert_eq!(rows[0].books()[0].title, "Persuasion");
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P>(mut self) -> Backward<M, N, T, K, P>
    where
        P: Projection<Of = T> + Send + Sync + 'static,
    {
        self.scope.select::<P>(&[self.ends.by.as_str()]);
        self.with(|()| ())
    }

    /// Counts the documents of each row instead of reading them, at most as many as the limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.filter(|b| b.year.gt(1815)).count()).all().await?;
    /// assert_eq!((*rows[0].books(), *rows[1].books()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn count(self) -> Counted<M, N, T> {
        Counted::new(self.with(|()| ()))
    }

    /// Finds out for each row whether there is a document, without reading it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let find = authors.find_all();
    /// let rows = find.join(|a| a.books.filter(|b| b.year.gt(1900)).exists()).all().await?;
    /// assert_eq!((*rows[0].books(), *rows[1].books()), (false, true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn exists(mut self) -> Backward<M, N, T, Exists, IgnoredAny> {
        self.scope.limit = Some(1);
        self.scope.project(doc! {self.ends.by.as_str(): 1});
        self.with(|()| ())
    }
}

/// The keys of rows.
#[derive(Debug, Default)]
pub struct Referred {
    pub(super) keys: Keys,
    /// The position of each row's key. No document refers to a row that lacks its key or has null there.
    pub(super) rows: Vec<Option<usize>>,
}

impl Referred {
    pub(super) fn add(&mut self, key: &StoredPath, row: &RawDocument) -> Result<()> {
        let value = key.value(row).filter(|value| *value != RawBsonRef::Null);
        let position = value.map(|value| self.keys.add(value)).transpose()?;
        self.rows.push(position);
        Ok(())
    }
}

impl<M, N, T, K, D, J> Branch for Backward<M, N, T, K, D, J>
where
    M: Document,
    N: 'static,
    T: Document,
    K: Take,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    type Name = N;
    type Value = K::Value<J::Row<D>>;
    type Gathered = Referred;

    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()> {
        self.scope.check_with(&mut self.branches)?;
        check_projection(projection, self.ends.key.as_str())
    }

    fn gather(&self, gathered: &mut Referred, row: &RawDocument) -> Result<()> {
        gathered.add(&self.ends.key, row)
    }

    fn load<'a>(
        &'a self,
        gathered: Referred,
        mut channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Value>>> {
        Box::pin(async move {
            let Referred { keys, rows } = gathered;
            let mut read = Read {
                documents: Vec::new(),
                links: Vec::new(),
                children: J::Gathered::default(),
            };
            if self.scope.limit.is_some() && keys.len() > 1 {
                self.look_up(&keys, &mut channel, &mut read).await?;
            } else {
                self.find(&keys, &mut channel, &mut read).await?;
            }
            let count = read.documents.len();
            let values = self
                .branches
                .load(read.children, count, channel.reborrow())
                .await?;
            let joined: Vec<Arc<J::Row<D>>> = read
                .documents
                .into_iter()
                .zip(values)
                .map(|(document, values)| Arc::new(J::row(document, values)))
                .collect();
            let mut groups: Vec<Vec<Arc<J::Row<D>>>> = Vec::new();
            groups.resize_with(keys.len(), Vec::new);
            for (position, document) in read.links {
                if let (Some(group), Some(row)) = (groups.get_mut(position), joined.get(document)) {
                    group.push(Arc::clone(row));
                }
            }
            let shared = rows.len() > keys.len();
            let mut group = |position: usize| match groups.get_mut(position) {
                Some(group) if shared => group.clone(),
                Some(group) => std::mem::take(group),
                None => Vec::new(),
            };
            Ok(rows
                .into_iter()
                .map(|position| K::take(position.map_or_else(Vec::new, &mut group)))
                .collect())
        })
    }
}

/// The documents that were read.
struct Read<D, G> {
    documents: Vec<D>,
    /// The position of a key, and that of a document that refers to it.
    links: Vec<(usize, usize)>,
    children: G,
}

impl<M, N, T, K, D, J> Backward<M, N, T, K, D, J>
where
    M: Document,
    T: Document,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    fn add(&self, read: &mut Read<D, J::Gathered>, raw: &RawDocument) -> Result<usize> {
        let document = read.documents.len();
        read.documents.push(self.scope.decode(raw)?);
        let gathered = self.branches.gather(&mut read.children, raw);
        gathered.map_err(|error| self.scope.named(error))?;
        Ok(document)
    }

    /// Reads all documents that refer to one of the keys, with one query or several if one would be too large for a
    /// command.
    async fn find(
        &self,
        keys: &Keys,
        channel: &mut Channel<'_>,
        read: &mut Read<D, J::Gathered>,
    ) -> Result<()> {
        let by = &self.ends.by;
        for part in keys.parts() {
            let only = (keys.len() == 1).then_some(0);
            let visit = |raw: &RawDocument| {
                let document = self.add(read, raw)?;
                if let Some(position) = only {
                    read.links.push((position, document));
                    return Ok(());
                }
                let first = read.links.len();
                by.each_value(raw, &mut |value| {
                    if let Some(position) = keys.position(value) {
                        let link = (position, document);
                        // A list may name a document twice.
                        if !read.links.get(first..).unwrap_or_default().contains(&link) {
                            read.links.push(link);
                        }
                    }
                });
                Ok(())
            };
            let condition = self.scope.condition(by.as_str(), part);
            self.scope.find(channel, condition, visit).await?;
        }
        Ok(())
    }

    /// Reads the first documents that refer to each of the keys. The pipeline unwinds what it looks up, so that no
    /// document of the reply grows past 16 MB.
    async fn look_up(
        &self,
        keys: &Keys,
        channel: &mut Channel<'_>,
        read_into: &mut Read<D, J::Gathered>,
    ) -> Result<()> {
        const JOINED: &str = "joined";
        let (key, by) = (self.ends.key.as_str(), self.ends.by.as_str());
        for part in keys.parts() {
            let pipeline = vec![
                doc! {"$match": {key: {"$in": part}}},
                doc! {"$project": {key: 1}},
                doc! {"$lookup": {
                    "from": channel.collection(T::model()),
                    "localField": key,
                    "foreignField": by,
                    "pipeline": self.scope.stages(),
                    "as": JOINED,
                }},
                doc! {"$unwind": format!("${JOINED}")},
            ];
            let mut options = channel.options();
            // One reply, unless it would grow past 16 MB.
            options.batch_size = Some(BATCH);
            let operation = Operation::Aggregate { pipeline };
            let visit = |raw: &RawDocument| {
                let key = self.ends.key.value(raw);
                let position = key.and_then(|key| keys.position(key));
                if let (Some(position), Ok(Some(RawBsonRef::Document(joined)))) =
                    (position, raw.get(JOINED))
                {
                    let document = self.add(read_into, joined)?;
                    read_into.links.push((position, document));
                }
                Ok(())
            };
            channel
                .of(M::model())
                .read(operation, options, visit)
                .await?;
        }
        // The pipeline runs this find for each row.
        if let Some(first) = keys.get(0) {
            let condition = self.scope.condition(by, vec![first.clone()]);
            self.scope.explain(channel, condition).await?;
        }
        Ok(())
    }
}

impl<M, N, T, K, D, J> IntoBranch<M> for Backward<M, N, T, K, D, J>
where
    M: Document,
    N: 'static,
    T: Document,
    K: Take,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    type Branch = Self;

    fn into_branch(self) -> Self {
        self
    }
}

impl<M: Document, N: 'static, T: Document, K: Take> IntoBranch<M> for Inverse<M, N, T, K> {
    type Branch = Backward<M, N, T, K>;

    fn into_branch(self) -> Self::Branch {
        self.backward()
    }
}

impl<M, N, T, K> fmt::Debug for Inverse<M, N, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inverse({})", self.meta.name)
    }
}

impl<M, N, T, K, D, J: fmt::Debug> fmt::Debug for Backward<M, N, T, K, D, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backward")
            .field("ends", &self.ends)
            .field("scope", &self.scope)
            .field("branches", &self.branches)
            .finish_non_exhaustive()
    }
}
