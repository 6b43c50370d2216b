//! `.join` on a find.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::branch::{Also, Branches, IntoBranch, also};
use super::link::IntoLink;
use super::related::{Quantifier, Related};
use super::source::{Plans, Source, open};
use crate::collection::{Explain, Find, FindOne, decode};
use crate::error::{Error, Result};
use crate::model::{Document, Embedded};
use crate::query::{FilterFn, SortFn, fields};
use crate::store::options::{Chosen, Options};
use crate::store::{RawCursor, Request, Session, Store};

/// The most rows whose relations a stream loads at once.
const CHUNK: usize = 1_000;

/// A find whose relations are loaded: [`Find::join`].
#[must_use = "nothing is read until `all`, `first` or `stream` is used"]
pub struct Join<'s, M: Document, T, J = ()> {
    find: Find<'s, M, T>,
    related: Related,
    branches: J,
}

/// A find of one document whose relations are loaded: [`FindOne::join`].
#[must_use = "nothing is read until it is awaited"]
pub struct JoinOne<'s, M: Document, T, J> {
    find: FindOne<'s, M, T>,
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
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: String, founded: i32 }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, publisher: Ref<Publisher> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let publishers = db.collection::<Publisher>();
    /// # publishers.insert_one(&Publisher { id: "oreilly".to_owned(), founded: 1980 }).await?;
    /// let books = db.collection::<Book>();
    /// books.insert_one(&Book { id: 1, publisher: Ref::from("oreilly".to_owned()) }).await?;
    /// let old = books.find_all().where_any(|b| b.publisher, |p| p.founded.lt(1990)).all().await?;
    /// assert_eq!(old.len(), 1);
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
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32, name: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, publisher: Ref<Publisher> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// # let publishers = db.collection::<Publisher>();
    /// # publishers.insert_one(&Publisher { id: 1, name: "Wiley".to_owned() }).await?;
    /// # publishers.insert_one(&Publisher { id: 2, name: "Ace".to_owned() }).await?;
    /// let books = db.collection::<Book>();
    /// books.insert_one(&Book { id: 7, publisher: Ref::from(1) }).await?;
    /// books.insert_one(&Book { id: 8, publisher: Ref::from(2) }).await?;
    /// let rows = books.find_all().order_by_related(|b| b.publisher, |p| p.name.asc()).all().await?;
    /// assert_eq!(rows[0].id, 8);
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
    pub fn where_any<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::Any, relation, condition)
    }

    /// Reads only the rows that have no related document which matches: see [`Find::where_none`].
    pub fn where_none<L: IntoLink<M>>(
        self,
        relation: impl FnOnce(<M as Embedded>::Fields<M>) -> L,
        condition: impl FilterFn<L::Target>,
    ) -> Self {
        self.related(Quantifier::None, relation, condition)
    }

    /// Reads only the rows whose related documents all match: see [`Find::where_all`].
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
    pub fn filter(mut self, condition: impl FilterFn<M>) -> Self {
        self.find = self.find.filter(condition);
        self
    }

    /// The order of the rows, after that of [`order_by_related`](Self::order_by_related): see [`Find::sort`].
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "publishers")]
    /// # struct Publisher { #[serde(rename = "_id")] id: i32 }
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, publisher: Ref<Publisher>, year: i32 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let books = db.collection::<Book>();
    /// books.insert_many((1..=5).map(|id| Book { id, publisher: Ref::from(1), year: 1900 + id })).await?;
    /// let newest = books.find_all().join(|b| b.publisher).sort(|b| b.year.desc()).limit(2).all().await?;
    /// assert_eq!(newest[0].year, 1905);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sort(mut self, order: impl SortFn<M>) -> Self {
        self.find = self.find.sort(order);
        self
    }

    /// Skips this many rows.
    pub fn skip(mut self, skip: u64) -> Self {
        self.find = self.find.skip(skip);
        self
    }

    /// Returns at most this many rows; 0 means no limit.
    pub fn limit(mut self, limit: u64) -> Self {
        self.find = self.find.limit(limit);
        self
    }

    /// The rows of one page: see [`Find::page`].
    ///
    /// # Errors
    ///
    /// The number or the size is 0.
    pub fn page(mut self, number: u64, size: u64) -> Self {
        self.find = self.find.page(number, size);
        self
    }

    /// Runs all queries in this session, and in its transaction if one is under way.
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.find = self.find.session(session);
        self
    }

    /// Returns the first row.
    pub async fn first(mut self) -> Result<Option<J::Row<T>>> {
        self.find.call.request.operation.only_first();
        Ok(self.all().await?.pop())
    }

    /// Returns all rows, or the first error.
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
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "people")]
    /// # struct Person { #[serde(rename = "_id")] id: i32 }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "films")]
    /// # struct Film { #[serde(rename = "_id")] id: i32, director: Ref<Person> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// let films = db.collection::<Film>();
    /// films.insert_one(&Film { id: 1, director: Ref::from(7) }).await?;
    /// db.collection::<Person>().insert_one(&Person { id: 7 }).await?;
    /// let plans = films.find(|f| f.id.eq(1)).join(|f| f.director).explain().await?;
    /// assert_eq!(plans[1].command, doc! {"find": "people", "filter": {"_id": {"$in": [7]}}});
    /// assert_eq!(plans[1].indexes, ["_id_"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(self) -> Result<Vec<Explain>> {
        let plans = Plans::default();
        self.run(Some(&plans)).await?;
        Ok(plans.into_list())
    }

    /// Counts the rows without reading them or their relations, whatever the page, `skip` and `limit` of the find: see
    /// [`Find::count`].
    pub async fn count(mut self) -> Result<u64> {
        let model = M::model();
        let (store, request, session) = self.find.countable().call.prepare()?;
        self.related.forget_order();
        let mut branches = self.branches;
        let named = |error: Error| error.with_model(model.name);
        let options = start(&mut branches, &request).map_err(named)?;
        let mut source = Source::new(&store, &options, session);
        let request = self.related.apply(&mut source, request).await;
        source.count(model, request.map_err(named)?).await
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
        let (store, request, session) = self.find.call.prepare()?;
        let mut branches = self.branches;
        let options =
            start(&mut branches, &request).map_err(|error| error.with_model(model.name))?;
        let mut source = Source::new(&store, &options, session).explained(plans);
        let request = self.related.apply(&mut source, request).await;
        let request = request.map_err(|error| error.with_model(model.name))?;
        let mut chunk = Chunk::default();
        let mut cursor = source.open(model, request).await?;
        while let Some(raw) = cursor.next().await {
            chunk.add::<M>(&branches, raw)?;
        }
        drop(cursor);
        chunk.load(&branches, source).await
    }

    /// Returns the rows one by one. The relations of at most 1,000 rows at a time are loaded, so memory stays bounded.
    ///
    /// In a session the stream fails: its cursor is open while the relations are read, and a session runs one command at
    /// a time.
    pub fn stream(self) -> Rows<'s, J::Row<T>> {
        Rows {
            loaded: Vec::new().into_iter(),
            next: Some(Box::pin(self.open())),
        }
    }

    async fn open(self) -> Result<Loaded<'s, J::Row<T>>> {
        let model = M::model().name;
        self.check_order()?;
        let (store, request, session) = self.find.call.prepare()?;
        if session.is_some() {
            let message =
                "a join can't be streamed in a session: use `all`, or leave `session` out";
            return Err(Error::usage(message).with_model(model));
        }
        let mut branches = self.branches;
        let options = start(&mut branches, &request).map_err(|error| error.with_model(model))?;
        let mut source = Source::new(&store, &options, None);
        let request = self.related.apply(&mut source, request).await;
        let request = request.map_err(|error| error.with_model(model))?;
        let cursor = open(&store, request, None, M::model()).await?;
        let reading: Reading<'s, M, T, J> = Reading {
            cursor,
            branches,
            store,
            options,
            of: PhantomData,
        };
        reading.chunk().await
    }
}

/// The rows of a join, one by one: a [`Stream`] of `Result<T>`.
#[must_use = "nothing is read until the stream is polled"]
pub struct Rows<'s, R> {
    loaded: std::vec::IntoIter<R>,
    next: Option<BoxFuture<'s, Result<Loaded<'s, R>>>>,
}

/// The rows of a chunk, and the future of the next one.
struct Loaded<'s, R> {
    rows: Vec<R>,
    next: Option<BoxFuture<'s, Result<Loaded<'s, R>>>>,
}

/// A find whose rows are read in chunks.
struct Reading<'s, M, T, J> {
    cursor: RawCursor<'s>,
    branches: J,
    store: Store,
    options: Chosen,
    of: PhantomData<fn() -> (M, T)>,
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static, J: Branches>
    Reading<'s, M, T, J>
{
    async fn chunk(mut self) -> Result<Loaded<'s, J::Row<T>>> {
        let mut chunk = Chunk::default();
        let mut is_last = true;
        while let Some(raw) = self.cursor.next().await {
            chunk.add::<M>(&self.branches, raw)?;
            if chunk.documents.len() == CHUNK {
                is_last = false;
                break;
            }
        }
        let source = Source::new(&self.store, &self.options, None);
        let rows = chunk.load(&self.branches, source).await?;
        Ok(Loaded {
            rows,
            next: if is_last { None } else { Some(self.boxed()) },
        })
    }

    fn boxed(self) -> BoxFuture<'s, Result<Loaded<'s, J::Row<T>>>> {
        Box::pin(self.chunk())
    }
}

impl<R> Rows<'_, R> {
    /// Returns the next row, or `None` after the last.
    pub async fn next(&mut self) -> Option<Result<R>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<R>>> {
        loop {
            if let Some(row) = self.loaded.next() {
                return Poll::Ready(Some(Ok(row)));
            }
            let Some(next) = &mut self.next else {
                return Poll::Ready(None);
            };
            match std::task::ready!(next.as_mut().poll(cx)) {
                Ok(loaded) => {
                    self.loaded = loaded.rows.into_iter();
                    self.next = loaded.next;
                }
                Err(error) => {
                    self.next = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

impl<R: Unpin> Stream for Rows<'_, R> {
    type Item = Result<R>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }
}

impl<R> fmt::Debug for Rows<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("loaded", &self.loaded.len())
            .field("is_last", &self.next.is_none())
            .finish()
    }
}

impl<'s, M: Document, T: DeserializeOwned + Send + Sync + 'static> FindOne<'s, M, T> {
    /// Loads a relation of the document with one more query: see [`Find::join`].
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
    pub fn session(mut self, session: &'s mut Session) -> Self {
        self.find = self.find.session(session);
        self
    }

    /// Runs the join and returns the plan of each command: see [`Join::explain`].
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

/// Rows before their relations are loaded.
struct Chunk<T, G> {
    documents: Vec<T>,
    gathered: G,
}

impl<T, G: Default> Default for Chunk<T, G> {
    fn default() -> Self {
        Self {
            documents: Vec::new(),
            gathered: G::default(),
        }
    }
}

impl<T: DeserializeOwned + Send + Sync + 'static, G> Chunk<T, G> {
    fn add<M: Document>(
        &mut self,
        branches: &impl Branches<Gathered = G>,
        raw: Result<&bson::RawDocument>,
    ) -> Result<()> {
        let model = M::model().name;
        let raw = raw.map_err(|error| error.with_model(model))?;
        self.documents.push(decode(raw, model)?);
        let gathered = branches.gather(&mut self.gathered, raw);
        gathered.map_err(|error| error.with_model(model))
    }

    async fn load<J: Branches<Gathered = G>>(
        self,
        branches: &J,
        source: Source<'_>,
    ) -> Result<Vec<J::Row<T>>> {
        let rows = self.documents.len();
        let values = branches.load(self.gathered, rows, source).await?;
        let rows = self.documents.into_iter().zip(values);
        Ok(rows
            .map(|(document, values)| J::row(document, values))
            .collect())
    }
}

impl<M: Document, T, J: fmt::Debug> fmt::Debug for Join<'_, M, T, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Join({:?}, {:?})", self.branches, self.find)
    }
}

impl<M: Document, T, J: fmt::Debug> fmt::Debug for JoinOne<'_, M, T, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinOne({:?}, {:?})", self.branches, self.find)
    }
}
