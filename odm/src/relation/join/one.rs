//! `.join` on a find of one document.

use std::fmt;

use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::Join;
use crate::collection::{Explain, Find, FindOne};
use crate::error::Result;
use crate::model::{Document, Embedded};
use crate::relation::branch::{Also, Branches, IntoBranch, also};
use crate::relation::related::Related;
use crate::store::Session;

/// A find of one document whose relations are loaded: [`FindOne::join`].
#[must_use = "nothing is read until it is awaited"]
pub struct JoinOne<'s, M: Document, T, J> {
    find: FindOne<'s, M, T>,
    branches: J,
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static> FindOne<'s, M, T> {
    /// Loads a relation of the document with one more query: see [`Find::join`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let emma = books.find_one(|b| b.title.eq("Emma")).join(|b| b.author).await?.ok_or("no book")?;
    /// assert_eq!(emma.author().found().map(|author| author.born), Some(1775));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> JoinOne<'s, M, T, Also<(), B::Branch>> {
        JoinOne {
            find: self,
            branches: also((), relation),
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J: Branches>
    JoinOne<'s, M, T, J>
{
    /// Loads another relation of the document.
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
    /// #     director: Ref<Person>, composer: Option<Ref<Person>>,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let (people, films) = (db.collection::<Person>(), db.collection::<Film>());
    /// # people.insert_many([Person { id: 1, name: "Lynch".to_owned() }]).await?;
    /// # films.insert_many([Film { id: 7, director: Ref::from(1), composer: None }]).await?;
    /// let film = films.find_one(|f| f.id.eq(7)).join(|f| f.director).join(|f| f.composer);
    /// let film = film.await?.ok_or("no film")?;
    /// assert_eq!(film.director().found().map(|person| person.name.as_str()), Some("Lynch"));
    /// assert!(film.composer().is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> JoinOne<'s, M, T, Also<J, B::Branch>> {
        JoinOne {
            find: self.find,
            branches: also(self.branches, relation),
        }
    }

    /// Runs all queries in this session, and in its transaction if one is under way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// # let (authors, books) = two_authors_in(&db).await?;
    /// let mut session = db.start_session().await?;
    /// session.start_transaction().await?;
    /// let joyce = Ref::from(2);
    /// books.update_by_id(&1, |b| b.author.set(joyce)).session(&mut session).await?;
    /// let emma = books.find_one(|b| b.id.eq(1)).join(|b| b.author).session(&mut session);
    /// let emma = emma.await?.ok_or("no book")?;
    /// assert_eq!(emma.author().found().map(|author| author.name.as_str()), Some("Joyce"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.find = self.find.session(session);
        self
    }

    /// Runs the join and returns the plan of each command: see [`Join::explain`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let plans = books.find_one(|b| b.id.eq(1)).join(|b| b.author).explain().await?;
    /// assert_eq!(plans.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(self) -> Result<Vec<Explain>> {
        self.into_join().explain().await
    }

    async fn run(self) -> Result<Option<J::Row<T>>> {
        Ok(self.into_join().all().await?.pop())
    }

    fn into_join(self) -> Join<'s, M, T, J> {
        Join {
            find: Find::<M, T>::new(self.find.call),
            related: Related::default(),
            branches: self.branches,
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J: Branches> IntoFuture
    for JoinOne<'s, M, T, J>
{
    type Output = Result<Option<J::Row<T>>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document, T, J: fmt::Debug> fmt::Debug for JoinOne<'_, M, T, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinOne({:?}, {:?})", self.branches, self.find)
    }
}
