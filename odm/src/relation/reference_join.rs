//! Joins of references: from the field that holds an id to the document that it names.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocument};
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::branch::sealed::Sealed;
use super::branch::{Also, Branch, Branches, IntoBranch, also};
use super::reference::{Joined, KeyOf, Pointer, Reference, ReferenceArity, RefersBy, Resolved};
use super::scope::{Scope, check_projection};
use crate::collection::decode_key;
use crate::error::{DecodeError, Error, Result};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::{Document, Embedded, Path, Projection};
use crate::query::{Field, FilterFn};

/// A reference to join, with what is read of the documents on the other side.
///
/// A field that is declared as a [`Ref`](crate::types::Ref), an `Option` or a `Vec` of it makes one by
/// [`filter`](Field::filter), [`select`](Field::select) or [`join`](Field::join).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (authors, books) = two_authors().await?;
/// #[derive(Deserialize, Projection)]
/// #[odm(of = Author)]
/// struct Named { name: String }
///
/// let find = books.find_all();
/// let joined = find.join(|b| {
///     let author = b.author.filter(|a| a.born.gt(1700)).filter(|a| a.id.eq(2));
///     author.select::<Named>().join(|a| a.books.count())
/// });
/// let rows = joined.all().await?;
/// assert!(rows[0].author().found().is_none());
/// let author = rows[2].author().found().ok_or("no author")?;
/// assert_eq!((author.name.as_str(), *author.books()), ("Joyce", 1));
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is loaded until the find that joins it is awaited"]
pub struct ReferenceJoin<M, N, R: Reference, D = <R as Reference>::Target, J = ()> {
    path: StoredPath,
    /// The field of the target that is stored.
    key: StoredPath,
    scope: Scope,
    branches: J,
    of: PhantomData<Of<M, N, R, D>>,
}

/// The types of a relation, without a value of them.
type Of<M, N, R, D> = fn() -> (M, N, R, D);

impl<M, N, R: Reference> ReferenceJoin<M, N, R> {
    pub(super) fn new(path: &Path) -> Self {
        let mut scope = Scope::new(R::Target::model());
        let mut kept = |path: Result<StoredPath>| {
            path.unwrap_or_else(|error| {
                scope.fail(error);
                StoredPath::default()
            })
        };
        let path = kept(StoredPath::to_one(path));
        let key = kept(R::By::path().map(|path| StoredPath::through_arrays(&path)));
        Self {
            path,
            key,
            scope,
            branches: (),
            of: PhantomData,
        }
    }
}

/// The reference that a field of this declared type and encoder stores.
type Stored<V, E> = <E as RefersBy<V>>::Reference;

/// The model that it leads to.
type Target<V, E> = <Stored<V, E> as Reference>::Target;

/// The join of a field.
pub(super) type Joins<M, V, E, D = Target<V, E>, J = ()> =
    ReferenceJoin<M, <E as RefersBy<V>>::Name, Stored<V, E>, D, J>;

/// The join of a field, and of a relation of its target.
pub(super) type JoinsDeeper<M, V, E, B> =
    Joins<M, V, E, Target<V, E>, Also<(), <B as IntoBranch<Target<V, E>>>::Branch>>;

impl<M, V, E: RefersBy<V>> Field<M, V, E> {
    fn reference_join(self) -> Joins<M, V, E> {
        ReferenceJoin::new(self.path())
    }

    /// Joins only matching documents; any other reference, a dangling one included, becomes
    /// [`Resolved::Excluded`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author.filter(|a| a.born.gt(1800))).all().await?;
    /// let found = rows.iter().filter(|book| book.author().found().is_some()).count();
    /// assert_eq!((rows.len(), found), (3, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(self, condition: impl FilterFn<Target<V, E>>) -> Joins<M, V, E> {
        self.reference_join().filter(condition)
    }

    /// Reads the documents as `P`; MongoDB returns only its fields.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// #[derive(Deserialize, Projection)]
    /// #[odm(of = Author)]
    /// struct Named { name: String }
    ///
    /// let rows = books.find_all().join(|b| b.author.select::<Named>()).all().await?;
    /// assert_eq!(rows[0].author().found().map(|it| it.name.as_str()), Some("Austen"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn select<P>(self) -> Joins<M, V, E, P>
    where
        P: Projection<Of = Target<V, E>> + Send + Sync + 'static,
    {
        self.reference_join().select()
    }

    /// Joins a relation of the documents on the other side to them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author.join(|a| a.books.count())).all().await?;
    /// let author = rows[0].author().found().ok_or("no author")?;
    /// assert_eq!(*author.books(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<Target<V, E>>>(
        self,
        relation: impl FnOnce(<Target<V, E> as Embedded>::Fields<Target<V, E>>) -> B,
    ) -> JoinsDeeper<M, V, E, B> {
        self.reference_join().join(relation)
    }
}

impl<M, N, R: Reference, D, J> ReferenceJoin<M, N, R, D, J> {
    /// Joins only documents that match this, too: see [`Field::filter`].
    pub fn filter(mut self, condition: impl FilterFn<R::Target>) -> Self {
        self.scope.filter::<R::Target>(condition);
        self
    }

    /// Joins a relation of the documents on the other side to them: see [`Field::join`].
    pub fn join<B: IntoBranch<R::Target>>(
        self,
        relation: impl FnOnce(<R::Target as Embedded>::Fields<R::Target>) -> B,
    ) -> ReferenceJoin<M, N, R, D, Also<J, B::Branch>> {
        ReferenceJoin {
            path: self.path,
            key: self.key,
            scope: self.scope,
            branches: also(self.branches, relation),
            of: PhantomData,
        }
    }
}

impl<M, N, R: Reference> ReferenceJoin<M, N, R> {
    /// Reads the documents as `P`; MongoDB returns only its fields: see [`Field::select`].
    pub fn select<P>(mut self) -> ReferenceJoin<M, N, R, P>
    where
        P: Projection<Of = R::Target> + Send + Sync + 'static,
    {
        self.scope.select::<P>(&[self.key.as_str()]);
        ReferenceJoin {
            path: self.path,
            key: self.key,
            scope: self.scope,
            branches: (),
            of: PhantomData,
        }
    }
}

/// The ids that rows refer to.
#[derive(Debug, Default)]
pub struct Ids {
    /// The ids in the database of the rows.
    keys: Keys,
    /// The ids in other databases, by the name of the database.
    elsewhere: Vec<(Box<str>, Keys)>,
    /// The places of the ids of all rows, in the order of the rows.
    places: Vec<Place>,
    /// For each row, the end of its places.
    ends: Vec<usize>,
}

/// Where an id was gathered.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The number of the other database; none for that of the rows.
    elsewhere: Option<u32>,
    /// The position of the id.
    position: usize,
}

impl Ids {
    /// Adds an id of the next row.
    fn add(&mut self, key: RawBsonRef<'_>, database: Option<&str>) -> Result<()> {
        let Some(name) = database else {
            let position = self.keys.add(key)?;
            self.places.push(Place {
                elsewhere: None,
                position,
            });
            return Ok(());
        };
        let known = self.elsewhere.iter().position(|(one, _)| **one == *name);
        let number = known.unwrap_or_else(|| {
            self.elsewhere.push((name.into(), Keys::default()));
            self.elsewhere.len() - 1
        });
        if let Some((_, keys)) = self.elsewhere.get_mut(number) {
            let position = keys.add(key)?;
            self.places.push(Place {
                elsewhere: u32::try_from(number).ok(),
                position,
            });
        }
        Ok(())
    }
}

impl<M, N, R: Reference, D, J> Sealed for ReferenceJoin<M, N, R, D, J> {}

impl<M, N, R, D, J> Branch for ReferenceJoin<M, N, R, D, J>
where
    M: 'static,
    N: 'static,
    R: Reference,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    type Name = N;
    type Value = Joined<R, J::Row<D>>;
    type Gathered = Ids;

    fn check(&mut self, projection: Option<&bson::Document>) -> Result<()> {
        self.scope.check_with(&mut self.branches)?;
        check_projection(projection, self.path.as_str())
    }

    fn gather(&self, gathered: &mut Ids, row: &RawDocument) -> Result<()> {
        let stored = self.path.value(row);
        let mut is_reference = true;
        let fits = R::Arity::each_key(stored, |value| {
            match R::pointer(value) {
                Pointer::To { key, database } => gathered.add(key, database)?,
                Pointer::Elsewhere => {}
                Pointer::Malformed => is_reference = false,
            }
            Ok(())
        })?;
        if !fits || !is_reference {
            return Err(not_a_reference(row, &self.path));
        }
        gathered.ends.push(gathered.places.len());
        Ok(())
    }

    fn load<'a>(
        &'a self,
        gathered: Ids,
        mut channel: Channel<'a>,
    ) -> BoxFuture<'a, Result<Vec<Self::Value>>> {
        Box::pin(async move {
            let Ids {
                keys,
                elsewhere,
                places,
                ends,
            } = gathered;
            let found = self.fetch(&keys, &mut channel).await?;
            let mut found_elsewhere = Vec::with_capacity(elsewhere.len());
            for (database, keys) in &elsewhere {
                found_elsewhere.push(self.fetch(keys, &mut channel.at(database)).await?);
            }
            let excluded = self.scope.filter.is_some();
            let target = |place: &Place| {
                let other = place.elsewhere.map(|number| number as usize);
                let (keys, found) = match other {
                    None => (Some(&keys), Some(&found)),
                    Some(number) => (
                        elsewhere.get(number).map(|(_, keys)| keys),
                        found_elsewhere.get(number),
                    ),
                };
                if let Some(Some(row)) = found.and_then(|found| found.get(place.position)) {
                    return Ok(Resolved::Found(Arc::clone(row)));
                }
                let id = keys.and_then(|keys| keys.get(place.position)).cloned();
                let id = id.unwrap_or(Bson::Null);
                let id = decode_key(
                    id,
                    R::By::decode,
                    R::Target::model().name,
                    self.key.as_str(),
                )?;
                Ok(if excluded {
                    Resolved::Excluded(id)
                } else {
                    Resolved::Dangling(id)
                })
            };
            let mut start = 0;
            ends.iter()
                .map(|end| {
                    let of_row = places.get(start..*end).unwrap_or_default();
                    start = *end;
                    R::Arity::value(of_row.iter().map(target), || Resolved::Absent)
                })
                .collect()
        })
    }
}

impl<M, N, R, D, J> ReferenceJoin<M, N, R, D, J>
where
    R: Reference,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    /// The documents by the position of their ids, with one query or several if one would be too large for a command.
    async fn fetch(
        &self,
        keys: &Keys,
        channel: &mut Channel<'_>,
    ) -> Result<Vec<Option<Arc<J::Row<D>>>>> {
        let mut documents: Vec<(usize, D)> = Vec::with_capacity(keys.len());
        let mut gathered = J::Gathered::default();
        for ids in keys.parts() {
            let condition = self.scope.condition(self.key.as_str(), ids);
            let visit = |raw: &RawDocument| {
                let key = self.key.value(raw);
                if let Some(position) = key.and_then(|key| keys.position(key)) {
                    let current = self.scope.current(raw)?;
                    self.branches
                        .gather(&mut gathered, &current.raw)
                        .map_err(|error| self.scope.named(error))?;
                    documents.push((position, self.scope.decode(current)?));
                }
                Ok(())
            };
            self.scope.find(channel, condition, visit).await?;
        }
        let rows = documents.len();
        let values = self
            .branches
            .load(gathered, rows, channel.reborrow())
            .await?;
        let mut found: Vec<Option<Arc<J::Row<D>>>> = Vec::new();
        found.resize_with(keys.len(), || None);
        for ((position, document), values) in documents.into_iter().zip(values) {
            if let Some(slot) = found.get_mut(position) {
                *slot = Some(Arc::new(J::row(document, values)));
            }
        }
        Ok(found)
    }
}

fn not_a_reference(row: &RawDocument, path: &StoredPath) -> Error {
    let id = row.get("_id").ok().flatten();
    let id = id.and_then(|id| Bson::try_from(id).ok());
    let message = "the value stored here is not a reference";
    Error::new(DecodeError::new(id, message, None)).with_path(path.as_str())
}

impl<M, N, R, D, J> IntoBranch<M> for ReferenceJoin<M, N, R, D, J>
where
    M: 'static,
    N: 'static,
    R: Reference,
    D: DeserializeOwned + Send + Sync + 'static,
    J: Branches,
{
    type Branch = Self;

    fn into_branch(self) -> Self {
        self
    }
}

impl<M: 'static, V, E: RefersBy<V>> IntoBranch<M> for Field<M, V, E> {
    type Branch = Joins<M, V, E>;

    fn into_branch(self) -> Self::Branch {
        self.reference_join()
    }
}

impl<M, N, R: Reference, D, J: fmt::Debug> fmt::Debug for ReferenceJoin<M, N, R, D, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceJoin")
            .field("path", &self.path)
            .field("scope", &self.scope)
            .field("branches", &self.branches)
            .finish_non_exhaustive()
    }
}
