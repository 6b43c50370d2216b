//! `.join` on a find.

mod one;
mod rows;

use serde::de::DeserializeOwned;

pub use self::rows::Rows;
use self::rows::{Chunk, Loaded, Reading};
use super::branch::{Also, Branch, Branches, IntoBranch};
use crate::collection::{Explain, Find, ReadAs};
use crate::error::{Error, Result};
use crate::exec::{Channel, Plans};
use crate::model::{Document, Embedded};
use crate::query::fields;

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J> Find<'s, M, T, J> {
    /// Loads a relation of all rows with one more query, however many rows: `|book| book.publisher`.
    ///
    /// A relation is a field declared as a [`Ref`](crate::types::Ref), an `Option` or a `Vec` of it; or an inverse
    /// relation, which the struct declares (`has_one`, `has_many`, `has_squillions`). Rows are read by name, and keep
    /// their order. A reference to a missing document is [`Resolved::Dangling`](super::Resolved::Dangling).
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
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # db.collection::<Person>().insert_one(Person { id: 1, name: "Chaplin".to_owned() }).await?;
    /// let films = db.collection::<Film>();
    /// let composer = Some(Ref::from(2));
    /// films.insert_one(Film { id: 1, director: Ref::from(1), composer }).await?;
    /// let rows = films.find_all().join(|f| f.director).join(|f| f.composer).all().await?;
    /// let film = &rows[0];
    /// assert_eq!(film.director().found().map(|person| person.name.as_str()), Some("Chaplin"));
    /// assert!(film.composer().as_ref().is_some_and(|person| person.is_dangling()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<M>>(
        mut self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> Find<'s, M, T, Also<J, B::Branch>> {
        let mut branch = relation(fields::<M>()).into_branch();
        // A count does not load the relation, and returns its errors.
        self.call.keep(branch.check(None));
        Find::new(self.call, Also::new(self.branches, branch))
    }
}

impl<'s, M, T, J, B> Find<'s, M, T, Also<J, B>>
where
    M: Document,
    T: DeserializeOwned + Send + Sync + 'static,
    Also<J, B>: Branches,
{
    /// Returns the first row.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let row = authors.find_all().join(|a| a.books).first().await?.expect("two authors");
    /// assert_eq!((row.name.as_str(), row.books().len()), ("Austen", 2));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn first(mut self) -> Result<Option<<Also<J, B> as Branches>::Row<T>>> {
        self.call.request.operation.only_first();
        Ok(self.all().await?.pop())
    }

    /// Returns all rows, or the first error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).all().await?;
    /// let ids: Vec<_> = rows.iter().map(|book| book.author().found().map(|it| it.id)).collect();
    /// assert_eq!(ids, [Some(1), Some(1), Some(2)]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn all(self) -> Result<Vec<<Also<J, B> as Branches>::Row<T>>> {
        self.run(None).await
    }

    /// Runs the join and returns the plan of each command, in the order in which they were sent: that of the find, and
    /// then those of the relations.
    ///
    /// The commands of a relation depend on what the find returns, so they are sent, too. The pipeline of a limit for
    /// several rows is followed by the plan of the find that it runs for the first of them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let plans = books.find(|b| b.id.eq(1)).join(|b| b.author).explain().await?;
    /// assert_eq!(plans[1].command, doc! {"find": "authors", "filter": {"_id": {"$in": [1]}}});
    /// assert_eq!(plans[1].indexes, ["_id_"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(self) -> Result<Vec<Explain>> {
        let plans = Plans::default();
        self.run(Some(&plans)).await?;
        Ok(plans.into_list())
    }

    async fn run(mut self, plans: Option<&Plans>) -> Result<Vec<<Also<J, B> as Branches>::Row<T>>> {
        self.check();
        let read_as = ReadAs::of(&self.call);
        let (store, request, session) = self.call.settled(plans).await?;
        let mut channel = Channel::new(store, session)
            .with_options(request.options.shared())
            .explained(plans);
        let mut chunk = Chunk::default();
        let rows = channel.of(M::model());
        let mut cursor = rows.open(request.operation, request.options).await?;
        while let Some(raw) = cursor.next().await {
            chunk.add::<M>(&self.branches, &read_as, raw)?;
        }
        drop(cursor);
        chunk.load(&self.branches, channel).await
    }

    /// Returns the rows one by one. The relations of at most 1,000 rows at a time are loaded, so memory stays bounded.
    ///
    /// In a session the stream fails: its cursor is open while the relations are read, and a session runs one command at
    /// a time.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let mut rows = books.find_all().join(|b| b.author).stream();
    /// let first = rows.next().await.transpose()?;
    /// assert_eq!(first.map(|book| book.title.clone()), Some("Emma".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(self) -> Rows<'s, <Also<J, B> as Branches>::Row<T>> {
        Rows::new(self.open())
    }

    async fn open(mut self) -> Result<Loaded<'s, <Also<J, B> as Branches>::Row<T>>> {
        if self.call.session.is_some() {
            let message =
                "a join can't be streamed in a session: use `all`, or leave `session` out";
            self.call.error.get_or_insert(Error::usage(message));
        }
        self.check();
        let read_as = ReadAs::of(&self.call);
        let (store, request, _) = self.call.settled(None).await?;
        let options = request.options.shared();
        let channel = Channel::new(store.clone(), None);
        let cursor = channel
            .cursor(M::model(), request.operation, request.options)
            .await?;
        let reading =
            Reading::<M, T, Also<J, B>>::new(cursor, self.branches, read_as, store, options);
        reading.chunk().await
    }

    /// Checks the relations before the first command is sent.
    fn check(&mut self) {
        let projection = self.call.request.options.projection.as_ref();
        let checked = self.branches.check(projection);
        self.call.keep(checked);
    }
}
