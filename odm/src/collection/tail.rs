//! `tail`: the documents of a capped collection, and then those that are inserted.

mod place;
mod stream;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use bson::{Bson, Document as BsonDocument};
use futures_core::future::BoxFuture;

use self::place::{Place, Tailing};
pub use self::stream::TailStream;
use super::Collection;
use super::call::{Call, filter};
use super::options::options;
use crate::error::{Error, Result};
use crate::model::{Document, Embedded, Tailable};
use crate::query::{Encode, Field, FilterFn, IntoValue, fields};
use crate::store::Operation;

/// Follows a capped collection: [`Collection::tail`].
#[must_use = "nothing is read until it is awaited"]
pub struct Tail<M: Document> {
    call: Call<'static>,
    filter: BsonDocument,
    start: Start,
    /// The stored path of the increasing field.
    by: Option<String>,
    max_await_time: Option<Duration>,
    of: PhantomData<fn() -> M>,
}

/// Where a tail begins.
#[derive(Debug, Clone, Default)]
enum Start {
    #[default]
    Oldest,
    Newest,
    After(Bson),
}

impl<M: Document> Collection<M> {
    /// Reads the documents of a capped collection in the order of their insertion, and then waits for new ones, like `tail -f`.
    ///
    /// It begins with the oldest document that is left; [`new_only`](Tail::new_only) and [`after`](Tail::after) begin later. The
    /// model declares `capped(…)`; other collections are followed by [`watch`](Self::watch).
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "events", capped(size = 1_048_576))]
    /// struct Event {
    ///     #[serde(rename = "_id")]
    ///     id: i64,
    ///     text: String,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let db = Db::memory();
    /// db.sync(models![Event]).plan().await?.apply(Allow::CREATE).await?;
    /// let events = db.collection::<Event>();
    /// events.insert_one(&Event { id: 1, text: "started".into() }).await?;
    ///
    /// let mut tail = events.tail().await?;
    /// events.insert_one(&Event { id: 2, text: "working".into() }).await?;
    /// let mut seen = Vec::new();
    /// while seen.len() < 2 {
    ///     let Some(event) = tail.next().await else { break };
    ///     seen.push(event?.text);
    /// }
    /// assert_eq!(seen, ["started", "working"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The collection is there and is not capped: apply the plan of [`Db::sync`](crate::Db::sync).
    pub fn tail(&self) -> Tail<M>
    where
        M: Tailable,
    {
        Tail {
            call: self.call(Operation::EstimatedCount),
            filter: BsonDocument::new(),
            start: Start::Oldest,
            by: None,
            max_await_time: None,
            of: PhantomData,
        }
    }
}

impl<M: Document> Tail<M> {
    options!(batch_size comment read_concern read_preference);

    /// Reads only documents that match. MongoDB compares each document of the collection, because a tailable cursor uses no index.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// let mut tail = events.tail().filter(|e| e.level.eq("error")).await?;
    /// let event = tail.next().await.expect("a tail goes on")?;
    /// assert_eq!(event.seq, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn filter(mut self, condition: impl FilterFn<M>) -> Self {
        let condition = filter::<M>(condition).map(crate::store::Condition::into_document);
        self.filter = self.call.keep(condition);
        self
    }

    /// Begins after the newest document that is there now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// let mut tail = events.tail().new_only().await?;
    /// events.insert_one(&event(4, "info")).await?;
    /// let event = tail.next().await.expect("a tail goes on")?;
    /// assert_eq!(event.seq, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_only(mut self) -> Self {
        self.start = Start::Newest;
        self
    }

    /// Begins after the document whose `field` has this value, and continues by the field, as [`increasing`](Self::increasing) says.
    ///
    /// If no document with this value or a smaller one is left, the collection has removed documents that the tail should have
    /// returned, or may have: [`next`](TailStream::next) returns an error
    /// ([`is_position_lost`](crate::Error::is_position_lost)), and then the oldest document that is left.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// let mut tail = events.tail().after(|e| e.seq, 2).await?;
    /// let event = tail.next().await.expect("a tail goes on")?;
    /// assert_eq!(event.seq, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn after<T: 'static, E: Encode<T>>(
        mut self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
        value: impl IntoValue<T>,
    ) -> Self {
        let field = field(fields::<M>());
        let path = field.path().to_string();
        // The filter has the value as the field's serializer writes it.
        let compared = field.gt(value).to_document().and_then(|compared| {
            let operand = compared.get_document(&path).ok();
            let value = operand.and_then(|operand| operand.get("$gt")).cloned();
            value.ok_or_else(|| {
                Error::usage("a tail continues after one value of a field that is in no list")
                    .with_path(path.clone())
            })
        });
        let value = self.call.keep(compared.map(Some));
        if let Some(value) = value {
            self.start = Start::After(value);
        }
        self.by = Some(path);
        self
    }

    /// Continues by this field when the cursor has to be opened again, after a failure of the network for example: each document has
    /// a greater value than those before it, such as a number from a counter or the time of one writer.
    ///
    /// Without it, a tail reads the collection from its start to the last document that it has returned, which it recognizes by its
    /// `_id`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// let mut tail = events.tail().increasing(|e| e.seq).await?;
    /// assert_eq!(tail.next().await.expect("a tail goes on")?.seq, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn increasing<T, E>(
        mut self,
        field: impl FnOnce(<M as Embedded>::Fields<M>) -> Field<M, T, E>,
    ) -> Self {
        let path = field(fields::<M>()).path().to_string();
        if let (Start::After(_), Some(by)) = (&self.start, &self.by)
            && *by != path
        {
            let message =
                format!("the tail begins after a value of `{by}`, and continues by the same field");
            self.call
                .keep::<()>(Err(Error::usage(message).with_path(path)));
            return self;
        }
        self.by = Some(path);
        self
    }

    /// How long MongoDB waits for a document before it answers that there is none, after which the tail asks again; a second, if it
    /// is not given. The in-memory engine wakes the tail, and needs no such time.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/events.rs"));
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, events) = three_events().await?;
    /// let mut tail = events.tail().max_await_time(Duration::from_secs(10)).await?;
    /// assert_eq!(tail.next().await.expect("a tail goes on")?.seq, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_await_time(mut self, time: Duration) -> Self {
        self.max_await_time = Some(time);
        self
    }

    async fn run(mut self) -> Result<TailStream<M>> {
        let model = M::model();
        let refused = |message: &str| Err(Error::usage(message).with_model(model.name));
        if self
            .max_await_time
            .is_some_and(|time| time.as_millis() == 0)
        {
            return refused("`max_await_time` is at least a millisecond");
        }
        if let Some(by) = &self.by
            && by
                .split('.')
                .any(|name| name.starts_with('$') || name.is_empty())
        {
            return refused("a tail continues by one field of each document, which is in no list");
        }
        let after = match std::mem::take(&mut self.start) {
            Start::After(value) => Some(Place::after(value)),
            Start::Oldest => Some(Place::default()),
            Start::Newest => None,
        };
        let (filter, by, await_time) = (self.filter, self.by, self.max_await_time);
        let (store, request, _) = self.call.prepare()?;
        let tailing = Tailing::new(store, request, model, filter, by, await_time);
        let place = match after {
            Some(place) => place,
            None => tailing.newest().await?,
        };
        let opened = tailing.clone().open(place.clone()).await?;
        Ok(TailStream::new(tailing, place, opened))
    }
}

impl<M: Document> IntoFuture for Tail<M> {
    type Output = Result<TailStream<M>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Document> fmt::Debug for Tail<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tail")
            .field("model", &M::model().name)
            .field("filter", &self.filter)
            .field("start", &self.start)
            .field("increasing", &self.by)
            .finish_non_exhaustive()
    }
}
