//! `.join` on a find.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::DeserializeOwned;

use super::reference::Reference;
use super::references::{Gathered, OneMore, References, Resolve, Source};
use crate::collection::{Find, decode};
use crate::error::{Error, Result};
use crate::model::{Document, Embedded};
use crate::query::{Field, fields};
use crate::store::options::{Chosen, Options};

/// A find whose references are resolved: [`Find::join`].
#[must_use = "nothing is read until `all` or `first` is awaited"]
pub struct Join<'s, M: Document, T, R> {
    find: Find<'s, M, T>,
    gathered: Vec<Gathered>,
    of: PhantomData<fn() -> R>,
}

/// A row of a join: the document, and the targets of its references. It derefs to the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined<T, R> {
    /// The document itself.
    pub document: T,
    /// The target of its reference: [`Resolved`](super::Resolved), or an `Option` or a `Vec` of it. With
    /// several joins, a tuple of these, in the order of the joins.
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
    /// The rows keep their order. A reference to a missing document is
    /// [`Resolved::Dangling`](super::Resolved::Dangling). A row that holds no reference, because the field is
    /// inside an `Option`, an enum or a map, has [`Resolved::Absent`](super::Resolved::Absent). To resolve
    /// several references, [join](Join::join) one after the other.
    pub fn join<R: Reference, E>(
        self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, R, E>,
    ) -> Join<'s, M, T, R> {
        let path = field(fields::<M>()).path().clone();
        Join {
            find: self,
            gathered: vec![Gathered::new::<R>(path)],
            of: PhantomData,
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + 'static, R: References> Join<'s, M, T, R> {
    /// Resolves another reference with one more query, up to six references in all.
    /// [`joined`](Joined::joined) is then a tuple.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "people")]
    /// # struct Person { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "films")]
    /// # struct Film {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     director: Ref<Person>,
    /// #     composer: Option<Ref<Person>>,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let person = Person { id: 1, name: "Chaplin".to_owned() };
    /// # db.collection::<Person>().insert_one(&person).await?;
    /// # let (director, composer) = (Ref::from(1), Some(Ref::from(2)));
    /// # db.collection::<Film>().insert_one(&Film { id: 1, director, composer }).await?;
    /// let films = db.collection::<Film>();
    /// let rows = films.find_all().join(|f| f.director).join(|f| f.composer).all().await?;
    /// let (director, composer) = &rows[0].joined;
    /// assert_eq!(director.found().map(|person| person.name.as_str()), Some("Chaplin"));
    /// assert!(composer.as_ref().is_some_and(|person| person.is_dangling()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<S: Reference, E>(
        mut self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, S, E>,
    ) -> Join<'s, M, T, R::And<S>>
    where
        R: OneMore,
    {
        let path = field(fields::<M>()).path().clone();
        self.gathered.push(Gathered::new::<S>(path));
        Join {
            find: self.find,
            gathered: self.gathered,
            of: PhantomData,
        }
    }

    /// Runs all queries in this session, and in its transaction if one is under way.
    pub fn session(mut self, session: &'s mut crate::store::Session) -> Self {
        self.find = self.find.session(session);
        self
    }

    /// The command document of the first query; the others depend on what it finds.
    pub fn command(self) -> Result<bson::Document> {
        self.find.command()
    }

    /// Returns the first row.
    pub async fn first(mut self) -> Result<Option<Joined<T, R::Resolved>>> {
        self.find.call.request.operation.only_first();
        Ok(self.all().await?.pop())
    }

    /// Returns all rows, or the first error.
    pub async fn all(self) -> Result<Vec<Joined<T, R::Resolved>>> {
        let name = M::model().name;
        let named = |error: Error| error.with_model(name);
        let mut gathered = self.gathered;
        let names: Result<Vec<_>> = gathered.iter().map(Gathered::names).collect();
        let names = names.map_err(named)?;
        let (store, request, mut session) = self.find.call.prepare()?;
        for reference in &gathered {
            let checked = reference.check_projection(request.options.projection.as_ref());
            checked.map_err(named)?;
        }
        let options = Chosen::from(Options {
            comment: request.options.comment.clone(),
            max_time: request.options.max_time,
            read_concern: request.options.read_concern,
            read_preference: request.options.read_preference.clone(),
            ..Options::default()
        });
        let mut documents: Vec<T> = Vec::new();
        let response = store.clone().exec(request, session.as_deref_mut()).await;
        let mut cursor = response
            .and_then(crate::store::Response::cursor)
            .map_err(named)?;
        while let Some(raw) = cursor.next().await {
            let raw = raw.map_err(named)?;
            documents.push(decode(raw, name)?);
            for (reference, names) in gathered.iter_mut().zip(&names) {
                reference.add(raw, names).map_err(named)?;
            }
        }
        drop(cursor);
        let source = Source {
            store: &store,
            options: &options,
            session,
        };
        let joined = <R as Resolve>::resolve(gathered, source).await?;
        let rows = documents.into_iter().zip(joined);
        Ok(rows
            .map(|(document, joined)| Joined { document, joined })
            .collect())
    }
}

impl<M: Document, T, R> fmt::Debug for Join<'_, M, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Join(")?;
        for reference in &self.gathered {
            write!(f, "{}, ", reference.path())?;
        }
        write!(f, "{:?})", self.find)
    }
}
