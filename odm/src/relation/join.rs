//! `.join` on a find.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use bson::raw::{RawBsonRef, RawDocument};
use serde::de::DeserializeOwned;

use super::fetch::Ids;
use super::reference::Reference;
use crate::collection::{Find, decode};
use crate::error::{DecodeError, Error, Result};
use crate::model::{Document, Embedded, Path, Segment};
use crate::query::Field;
use crate::store::options::{Chosen, Options};

/// A find whose references are resolved: [`Find::join`].
#[must_use = "nothing is read until `all` or `first` is awaited"]
pub struct Join<'s, M: Document, T, R> {
    find: Find<'s, M, T>,
    path: Path,
    of: PhantomData<fn() -> R>,
}

/// A row of a join: the document, and what its reference points to. It derefs to the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined<T, R> {
    /// The document itself.
    pub document: T,
    /// What its reference points to: [`Resolved`](super::Resolved), or an `Option` or a `Vec` of it.
    pub joined: R,
}

impl<T, R> Deref for Joined<T, R> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.document
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static> Find<'s, M, T> {
    /// Resolves a reference of all rows with one more query: `|book| book.publisher`.
    ///
    /// The rows keep their order. A reference to a document that is not there is seen as
    /// [`Resolved::Dangling`](super::Resolved::Dangling).
    pub fn join<R: Reference, E>(
        self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, R, E>,
    ) -> Join<'s, M, T, R> {
        let path = field(M::fields(Path::root())).path().clone();
        Join {
            find: self,
            path,
            of: PhantomData,
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static, R: Reference> Join<'s, M, T, R> {
    /// Runs both queries in this session, and in its transaction if one is under way.
    pub fn session(mut self, session: &'s mut crate::store::Session) -> Self {
        self.find = self.find.session(session);
        self
    }

    /// The command document of the first query; the second one depends on what it finds.
    pub fn command(self) -> Result<bson::Document> {
        self.find.command()
    }

    /// The first row.
    pub async fn first(mut self) -> Result<Option<Joined<T, R::Resolved>>> {
        self.find.call.options().limit = Some(-1);
        Ok(self.all().await?.pop())
    }

    /// All rows, or the first failure.
    pub async fn all(self) -> Result<Vec<Joined<T, R::Resolved>>> {
        let name = M::model().name;
        let names = names(&self.path).map_err(|error| error.with_model(name))?;
        let (store, request, mut session) = self.find.call.prepare()?;
        let options = Chosen::from(Options {
            comment: request.options.comment.clone(),
            max_time: request.options.max_time,
            read_concern: request.options.read_concern,
            read_preference: request.options.read_preference.clone(),
            ..Options::default()
        });
        let mut ids = Ids::default();
        let mut rows: Vec<(T, Vec<usize>)> = Vec::new();
        let response = store.exec(request, session.as_deref_mut()).await;
        let mut cursor = response
            .and_then(crate::store::Response::cursor)
            .map_err(|error| error.with_model(name))?;
        while let Some(raw) = cursor.next().await {
            let raw = raw.map_err(|error| error.with_model(name))?;
            let document = decode(raw, name)?;
            let stored = R::ids(at(raw, &names)).ok_or_else(|| not_there::<M>(raw, &names))?;
            let positions: Result<Vec<usize>> = stored.into_iter().map(|id| ids.add(id)).collect();
            rows.push((document, positions?));
        }
        drop(cursor);
        let fetched = ids.fetch::<R::Target>(&store, &options, session).await?;
        rows.into_iter()
            .map(|(document, positions)| {
                let targets: Result<Vec<_>> = positions
                    .into_iter()
                    .map(|position| fetched.get(position))
                    .collect();
                let joined = R::resolved(targets?)
                    .ok_or_else(|| Error::malformed_reply("one id for one reference"))?;
                Ok(Joined { document, joined })
            })
            .collect()
    }
}

/// The stored names down to the reference.
fn names(path: &Path) -> Result<Vec<Cow<'static, str>>> {
    path.segments()
        .map(|segment| match segment {
            Segment::Name(name) => Ok(name),
            _ => Err(Error::usage(
                "a join reads one reference of each row: name the field itself, not elements of an \
                 array",
            )
            .with_path(path.to_string())),
        })
        .collect()
}

fn at<'a>(row: &'a RawDocument, names: &[Cow<'static, str>]) -> Option<RawBsonRef<'a>> {
    let (last, parents) = names.split_last()?;
    let parent = parents.iter().try_fold(row, |document, name| {
        document.get(name).ok().flatten()?.as_document()
    })?;
    parent.get(last).ok().flatten()
}

fn not_there<M: Document>(row: &RawDocument, names: &[Cow<'static, str>]) -> Error {
    let id = row.get("_id").ok().flatten();
    let id = id.and_then(|id| bson::Bson::try_from(id).ok());
    let message = "it holds no reference here; a projection that is joined must include it";
    Error::new(DecodeError::new(id, message, None))
        .with_model(M::model().name)
        .with_path(names.join("."))
}

impl<M: Document, T, R> fmt::Debug for Join<'_, M, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Join({}, {:?})", self.path, self.find)
    }
}
