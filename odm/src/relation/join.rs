//! `.join` on a find.

mod one;
mod rows;

use std::fmt;

use serde::de::DeserializeOwned;

pub use self::one::JoinOne;
pub use self::rows::Rows;
use self::rows::{Chunk, Loaded, Reading};
use super::branch::{Also, Branches, IntoBranch, also};
use super::link::IntoLink;
use super::related::{Quantifier, Related};
use crate::collection::{Explain, Find};
use crate::error::{Error, Result};
use crate::exec::{Channel, Plans};
use crate::model::{Document, Embedded};
use crate::query::{FilterFn, SortFn, fields};
use crate::store::options::{Chosen, Options};
use crate::store::{Request, Session};

/// A find whose relations are loaded: [`Find::join`].
#[must_use = "nothing is read until `all`, `first` or `stream` is used"]
pub struct Join<'s, M: Document, T, J = ()> {
    find: Find<'s, M, T>,
    related: Related,
    branches: J,
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static> Find<'s, M, T> {
    /// Loads a relation of all rows with one more query, however many rows: `|book| book.publisher`.
    ///
    /// A relation is a field declared as a [`Ref`](crate::types::Ref), an `Option` or a `Vec` of it; or one that the
    /// struct declares in the other direction (`has_one`, `has_many`, `has_squillions`). Rows are read by name, and keep
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
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> Join<'s, M, T, Also<(), B::Branch>> {
        self.with_relations().join(relation)
    }

    /// Reads only the documents that have a related document which matches.
    ///
    /// For a reference, and for `has_one` and `has_many`, this is a semi-join: one query finds the related documents, and
    /// their ids become a condition of the find. If the ids do not fit a command, and for `has_squillions`, one pipeline
    /// looks up the related documents of each document by the index of the relation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().where_any(|b| b.author, |a| a.born.lt(1800)).all().await?;
    /// assert_eq!(rows.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_any<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Join<'s, M, T> {
        self.with_relations().where_any(relation, condition)
    }

    /// Reads only the documents that have no related document which matches; see [`where_any`](Self::where_any).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let late = authors.find_all().where_none(|a| a.books, |b| b.year.lt(1900)).all().await?;
    /// assert_eq!(late[0].name, "Joyce");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_none<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Join<'s, M, T> {
        self.with_relations().where_none(relation, condition)
    }

    /// Reads only the documents whose related documents all match; see [`where_any`](Self::where_any).
    ///
    /// A document without related documents is read. A dangling reference does not match.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let early = authors.find_all().where_all(|a| a.books, |b| b.year.lt(1900)).all().await?;
    /// assert_eq!(early[0].name, "Austen");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_all<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Join<'s, M, T> {
        self.with_relations().where_all(relation, condition)
    }

    /// Sorts by a field of the related document, before the sort of the find.
    ///
    /// One pipeline looks up the related document of every document that matches, and sorts them all: no index serves
    /// the sort. Of several related documents the first in this order counts; a document without one sorts as null.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let row = books.find_all().order_by_related(|b| b.author, |a| a.born.desc()).first().await?;
    /// assert_eq!(row.map(|book| book.id), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn order_by_related<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        sort: impl SortFn<L::Target>,
    ) -> Join<'s, M, T> {
        self.with_relations().order_by_related(relation, sort)
    }

    fn with_relations(self) -> Join<'s, M, T> {
        Join {
            find: self,
            related: Related::default(),
            branches: (),
        }
    }
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J: Branches> Join<'s, M, T, J> {
    /// Loads another relation with one more query; without a session the queries run at the same time.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let old = books.find_all().where_any(|b| b.author, |a| a.born.lt(1800));
    /// let rows = old.join(|b| b.author).all().await?;
    /// assert_eq!(rows[0].author().found().map(|author| author.id), Some(1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<B: IntoBranch<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> B,
    ) -> Join<'s, M, T, Also<J, B::Branch>> {
        Join {
            find: self.find,
            related: self.related,
            branches: also(self.branches, relation),
        }
    }

    /// Reads only the rows that have a related document which matches: see [`Find::where_any`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).where_any(|b| b.author, |a| a.name.eq("Joyce"));
    /// assert_eq!(rows.all().await?[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_any<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::Any, relation, condition)
    }

    /// Reads only the rows that have no related document which matches: see [`Find::where_none`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books).where_none(|a| a.books, |b| b.year.gt(1900));
    /// assert_eq!(rows.all().await?[0].name, "Austen");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_none<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::None, relation, condition)
    }

    /// Reads only the rows whose related documents all match: see [`Find::where_all`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = authors.find_all().join(|a| a.books).where_all(|a| a.books, |b| b.year.gt(1815));
    /// assert_eq!(rows.all().await?[0].name, "Joyce");
    /// # Ok(())
    /// # }
    /// ```
    pub fn where_all<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::All, relation, condition)
    }

    fn related<L: IntoLink<M>>(
        mut self,
        quantifier: Quantifier,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        let link = relation(fields::<M>()).into_link();
        let filter = condition(fields::<L::Target>()).into_document();
        let filter = filter.map_err(|error| error.with_model(L::Target::model().name));
        self.related.filter(link, quantifier, filter);
        self
    }

    /// Sorts by a field of the related document: see [`Find::order_by_related`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).order_by_related(|b| b.author, |a| a.name.desc());
    /// assert_eq!(rows.all().await?[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn order_by_related<L: IntoLink<M>>(
        mut self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        sort: impl SortFn<L::Target>,
    ) -> Self {
        let link = relation(fields::<M>()).into_link();
        let sort = sort(fields::<L::Target>()).to_document();
        let sort = sort.map_err(|error| error.with_model(L::Target::model().name));
        self.related.order(link, sort);
        self
    }

    /// Adds a condition on the rows: see [`Find::filter`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).filter(|b| b.year.gt(1900)).all().await?;
    /// assert_eq!(rows.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<M>) -> Self {
        self.find = self.find.filter(condition);
        self
    }

    /// The order of the rows, after that of [`order_by_related`](Self::order_by_related): see [`Find::sort`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).sort(|b| b.year.desc()).all().await?;
    /// assert_eq!(rows[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort(mut self, order: impl SortFn<M>) -> Self {
        self.find = self.find.sort(order);
        self
    }

    /// Skips this many rows.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).sort(|b| b.year.asc()).skip(2).all().await?;
    /// assert_eq!(rows[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    pub fn skip(mut self, skip: u64) -> Self {
        self.find = self.find.skip(skip);
        self
    }

    /// Returns at most this many rows; 0 means no limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).sort(|b| b.year.asc()).limit(1).all().await?;
    /// assert_eq!(rows[0].title, "Emma");
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(mut self, limit: u64) -> Self {
        self.find = self.find.limit(limit);
        self
    }

    /// The rows of one page: see [`Find::page`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let rows = books.find_all().join(|b| b.author).page(2, 2).all().await?;
    /// assert_eq!(rows[0].title, "Ulysses");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The number or the size is 0.
    pub fn page(mut self, number: u64, size: u64) -> Self {
        self.find = self.find.page(number, size);
        self
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
    /// books.delete_by_id(&1).session(&mut session).await?;
    /// let rows = authors.find_all().join(|a| a.books).session(&mut session).all().await?;
    /// assert_eq!(rows[0].books().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.find = self.find.session(session);
        self
    }

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
    pub async fn first(mut self) -> Result<Option<J::Row<T>>> {
        self.find.call.request.operation.only_first();
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
    pub async fn all(self) -> Result<Vec<J::Row<T>>> {
        self.run(None).await
    }

    /// Runs the join and returns the plan of each command, in the order in which they were sent: first that of the find,
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

    /// Counts all matching rows without reading them or their relations; ignores `page`, `skip` and `limit`: see
    /// [`Find::count`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authors.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let (authors, books) = two_authors().await?;
    /// let written_by_joyce = books.find_all().where_any(|b| b.author, |a| a.name.eq("Joyce"));
    /// assert_eq!(written_by_joyce.count().await?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn count(mut self) -> Result<u64> {
        let model = M::model();
        let (store, request, session) = self.find.countable().call.prepare()?;
        self.related.forget_order();
        let mut branches = self.branches;
        let named = |error: Error| error.with_model(model.name);
        let options = start(&mut branches, &request).map_err(named)?;
        let mut channel = Channel::new(store, session).with_options(options);
        let request = self.related.apply(&mut channel, request).await;
        let request = request.map_err(named)?;
        channel
            .of(model)
            .count(request.operation, request.options)
            .await
    }

    /// Refuses pages after a document whose place in the order depends on other collections.
    fn check_order(&self) -> Result<()> {
        if !self.related.is_ordered() || !self.find.has_keyset_pages() {
            return Ok(());
        }
        let message = "`after` continues a sort by the fields of the model: use `page` with `order_by_related`";
        Err(Error::usage(message).with_model(M::model().name))
    }

    async fn run(self, plans: Option<&Plans>) -> Result<Vec<J::Row<T>>> {
        let model = M::model();
        self.check_order()?;
        let (store, request, session) = self.find.call.prepare_page().await?;
        let mut branches = self.branches;
        let options =
            start(&mut branches, &request).map_err(|error| error.with_model(model.name))?;
        let mut channel = Channel::new(store, session)
            .with_options(options)
            .explained(plans);
        let request = self.related.apply(&mut channel, request).await;
        let request = request.map_err(|error| error.with_model(model.name))?;
        let mut chunk = Chunk::default();
        let mut cursor = channel
            .of(model)
            .open(request.operation, request.options)
            .await?;
        while let Some(raw) = cursor.next().await {
            chunk.add::<M>(&branches, raw)?;
        }
        drop(cursor);
        chunk.load(&branches, channel).await
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
    pub fn stream(self) -> Rows<'s, J::Row<T>> {
        Rows::new(self.open())
    }

    async fn open(self) -> Result<Loaded<'s, J::Row<T>>> {
        let model = M::model().name;
        self.check_order()?;
        let (store, request, session) = self.find.call.prepare_page().await?;
        if session.is_some() {
            let message =
                "a join can't be streamed in a session: use `all`, or leave `session` out";
            return Err(Error::usage(message).with_model(model));
        }
        let mut branches = self.branches;
        let options = start(&mut branches, &request).map_err(|error| error.with_model(model))?;
        let mut channel = Channel::new(store.clone(), None).with_options(options.clone());
        let request = self.related.apply(&mut channel, request).await;
        let request = request.map_err(|error| error.with_model(model))?;
        let cursor = channel
            .cursor(M::model(), request.operation, request.options)
            .await?;
        let reading = Reading::<M, T, J>::new(cursor, branches, store, options);
        reading.chunk().await
    }
}

/// Checks the branches, and returns the options of their commands.
pub(super) fn start<J: Branches>(branches: &mut J, request: &Request) -> Result<Chosen> {
    branches.check(request.options.projection.as_ref())?;
    let Some(chosen) = request.options.chosen() else {
        return Ok(Chosen::default());
    };
    Ok(Chosen::from(Options {
        comment: chosen.comment.clone(),
        max_time: chosen.max_time,
        read_concern: chosen.read_concern,
        read_preference: chosen.read_preference.clone(),
        ..Options::default()
    }))
}

impl<M: Document, T, J: fmt::Debug> fmt::Debug for Join<'_, M, T, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Join({:?}, {:?})", self.branches, self.find)
    }
}
