//! Keeps derived data in step with the writes of other programs, by a change stream.
//!
//! [`relations`] finds what the models derive from each other, [`event`] says which documents an event concerns, and [`settle`]
//! writes those that have other values now. An event only says where to look: the values are always those of the documents as
//! they are, so that an event may be handled twice, and the events of the follower's own writes end in no further write.
//! [`links`] compares the two sides of two-way references, [`position`] stores the token of the stream.

mod batch;
mod event;
mod links;
mod position;
mod relations;
mod settle;
mod step;

use std::fmt;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document};
use futures_core::future::BoxFuture;
use odm_language::value::raw;

pub use self::batch::{FollowedBatch, NotFollowed};
use self::event::{Event, Work};
use self::position::{Position, is_lost};
use self::relations::{Relation, check_images, pipeline};
use self::step::is_of_documents;
use crate::collection::{Db, FullDocumentBeforeChange};
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::store::{RawChanges, Scope, Store, Watch};

/// The most events that are handled together; the events of one transaction are not parted.
const EVENTS: usize = 1_000;

/// How many bytes of events are handled together.
const BYTES: usize = 16 << 20;

/// How often a follower without events stores its position, so that MongoDB does not forget it meanwhile.
const IDLE: Duration = Duration::from_secs(60);

/// A follower that is about to start: [`Db::follow`].
#[must_use = "nothing is followed until it is awaited"]
#[derive(Debug)]
pub struct Follow {
    store: Store,
    models: Vec<&'static ModelMeta>,
    name: String,
    needs_images: bool,
}

/// A worker that writes derived data as the documents change from which it derives: [`Db::follow`].
///
/// Each [`next`](Self::next) handles the events that are there, and then stores the position behind them. [`run`](Self::run)
/// goes on forever. Both may be dropped at any point; the next call, or the next follower of the name, handles the same events
/// once more.
pub struct Follower {
    channel: Channel<'static>,
    relations: Vec<Relation>,
    has_images: bool,
    position: Position,
    stream: Option<RawChanges<'static>>,
    /// The token behind the last event that was handled.
    token: Option<Document>,
    /// Whether all documents are to be read before the events are handled.
    is_scrub_due: bool,
    /// Events that are not handled yet.
    events: Vec<RawDocumentBuf>,
    bytes: usize,
    /// The error that has ended the stream, behind these events.
    failed: Option<Error>,
    stored: Instant,
}

impl Db {
    /// Follows the changes of the models' collections, and writes what derives from them: [copies](crate::Collection::check_copies),
    /// [summaries](crate::Collection::check_summaries), [lists of the newest](crate::Collection::check_recent) and the other
    /// side of [two-way references](crate::Collection::check_two_way). For writes that do not write them themselves: of other
    /// programs, raw commands, and `leave_stale`.
    ///
    /// List the models that hold derived data, or from which others derive it; the models on the other end of their relations
    /// are followed, too. `.await` opens a change stream on the database, which needs a replica set or a sharded cluster.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let mut follower = db.follow(models![Host, LogMessage]).name("derived-data").await?;
    /// // A follower without a position reads all documents first.
    /// assert!(follower.next().await?.scrubbed);
    ///
    /// // Another program does not know of the copies.
    /// let change = doc! {"q": {"_id": 1}, "u": {"$set": {"ipaddr": "127.0.0.9"}}};
    /// db.run_command(doc! {"update": "hosts", "updates": [change]}).await?;
    /// let batch = follower.next().await?;
    /// assert_eq!((batch.events, batch.documents()), (1, 3));
    /// assert!(db.collection::<LogMessage>().check_copies().await?.is_sound());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The collection `odm_followers` has the position of each follower by its name, so that the next one continues there.
    /// A follower without a position, or whose position MongoDB has forgotten
    /// ([`CHANGE_STREAM_HISTORY_LOST`](crate::Code::CHANGE_STREAM_HISTORY_LOST)), opens the stream and then compares all documents,
    /// as `refresh_copies` and its kin do.
    ///
    /// # Events
    /// An event says where to look, and the follower writes the values that the documents have now, where they differ. So it
    /// handles events at least once, and several followers of one name do no harm; the position of the one that is ahead is
    /// kept. Readers see stale values for as long as the follower lags behind the writes.
    ///
    /// A document that is moved or deleted changes what its former parent holds, which only the document before the change
    /// names. Models that are summarized, and those that are listed without their `_id`, therefore need
    /// `#[odm(change_stream_images)]`, or [`without_pre_images`](Follow::without_pre_images).
    ///
    /// Of two-way references, the side that was written decides about the references that the write has changed. Where the
    /// collection of a list has no pre-images, its events do not say which they are, and the single reference on the other side
    /// decides; both lists, or both single references, need pre-images. When all documents are read, a single reference
    /// decides, or else the side of the model that stands first in `models!`; what another program writes to the other side
    /// meanwhile is undone.
    ///
    /// `on_delete` says what a delete does, and is not derived data: the follower deletes no dependents, and leaves references to
    /// deleted documents, except two-way ones. Copies that are declared `once` stay as they are.
    ///
    /// # Errors
    ///
    /// [`is_unsupported`](Error::is_unsupported): a standalone mongod has no change streams. [`is_usage`](Error::is_usage): nothing
    /// derives from the models, or a collection lacks pre-images. [`is_declaration`](Error::is_declaration): derived data that can't
    /// be kept in step.
    pub fn follow(&self, models: impl IntoIterator<Item = &'static ModelMeta>) -> Follow {
        Follow {
            store: self.store.clone(),
            models: models.into_iter().collect(),
            name: "default".to_owned(),
            needs_images: true,
        }
    }
}

impl Follow {
    /// Names the follower: its position is stored under the name. Followers of other models need another name. Without a
    /// call, the name is `default`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let mut follower = db.follow(models![Host]).name("hosts").await?;
    /// follower.next().await?;
    /// drop(follower);
    ///
    /// // The next one continues where it was.
    /// db.run_command(doc! {"update": "hosts", "updates": [{"q": {}, "u": {"$set": {"ipaddr": "::1"}}}]}).await?;
    /// let mut follower = db.follow(models![Host]).name("hosts").await?;
    /// let batch = follower.next().await?;
    /// assert_eq!((batch.scrubbed, batch.documents()), (false, 3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Follows without the documents as they were before a change. A move or a delete of a summarized document then makes the
    /// follower compare all documents that hold such summaries: that is slow for large collections.
    ///
    /// Also for pairs of two-way references that are both lists, or both single. The follower then takes the whole field of
    /// the side that was written for right; a write of the other side a moment before, by another program, is undone.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/summaries.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_products().await?;
    /// let error = db.follow(models![Review]).await.unwrap_err();
    /// assert!(error.to_string().contains("#[odm(change_stream_images)]"));
    ///
    /// let mut follower = db.follow(models![Review]).without_pre_images().await?;
    /// follower.next().await?;
    /// db.run_command(doc! {"delete": "reviews", "deletes": [{"q": {"_id": 1}, "limit": 1}]}).await?;
    /// let batch = follower.next().await?;
    /// assert_eq!((batch.events, batch.scans, batch.documents()), (1, 1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn without_pre_images(mut self) -> Self {
        self.needs_images = false;
        self
    }

    async fn open(self) -> Result<Follower> {
        let capability = self.store.capability().await?;
        if !capability.change_streams {
            return Err(Error::unsupported(
                "a follower reads a change stream, which a standalone mongod does not have: start it as a replica set, with \
                 `--replSet`",
            ));
        }
        let mut channel = Channel::new(self.store.clone(), None);
        let relations = Relation::all(&channel, &self.models)?;
        if relations.is_empty() {
            return Err(Error::usage(
                "nothing derives from the models, so that there is nothing to follow: they have no `copy_of`, no summary, no list \
                 of the newest and no `two_way` reference",
            ));
        }
        if self.needs_images {
            check_images(&self.store, &channel, &relations).await?;
        }
        let position = Position::of(self.name);
        let token = position.read(&mut channel).await?;
        let mut follower = Follower {
            channel,
            relations,
            has_images: self.needs_images,
            position,
            stream: None,
            token,
            is_scrub_due: false,
            events: Vec::new(),
            bytes: 0,
            failed: None,
            stored: Instant::now(),
        };
        follower.open().await?;
        Ok(follower)
    }
}

impl IntoFuture for Follow {
    type Output = Result<Follower>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

/// Why a follower has stopped to wait.
enum Waited {
    Events,
    /// The stream has ended.
    Ended,
    /// There were no events for some time.
    Idle,
}

impl Follower {
    /// Waits for events, handles those that are there, and stores the position behind them. A follower without a position
    /// reads all documents instead, and waits for no event.
    ///
    /// A document that can't be written is reported in [`not_followed`](FollowedBatch::not_followed), and the follower goes on.
    /// `next` may be dropped at any point: the next call handles the same events again. [`ready`](Self::ready) waits without
    /// handling any.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recent.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// # let images = doc! {"collMod": "logmsg", "changeStreamPreAndPostImages": {"enabled": true}};
    /// # db.run_command(images).await?;
    /// let mut follower = db.follow(models![Host, LogMessage]).await?;
    /// follower.next().await?;
    ///
    /// let message = doc! {"_id": 4, "host": 2, "time": 40, "message": "cpu is on fire!"};
    /// db.run_command(doc! {"insert": "logmsg", "documents": [message]}).await?;
    /// let batch = follower.next().await?;
    /// assert_eq!(batch.written[0].model, "Host");
    /// assert_eq!(times(&db, 2).await?, [40]);
    ///
    /// // The follower's own write is an event, too, from which nothing follows.
    /// let batch = follower.next().await?;
    /// assert_eq!((batch.events, batch.documents()), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The connection broke, or MongoDB refused a command for a reason that is not in the documents. Call `next` again, after
    /// a while: it reopens the stream, and handles the same events.
    pub async fn next(&mut self) -> Result<FollowedBatch> {
        self.ready().await?;
        if self.is_scrub_due {
            return self.scrub().await;
        }
        self.handle().await
    }

    /// Waits until [`next`](Self::next) has something to do, and writes nothing. In a `select!` or a timeout, wait for this, and
    /// call `next` afterwards: a `next` that is dropped again and again before its end gets no further.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let mut follower = db.follow(models![Host, LogMessage]).await?;
    /// follower.next().await?;
    /// let shutdown = tokio::time::sleep(Duration::from_millis(50));
    /// tokio::pin!(shutdown);
    /// loop {
    ///     tokio::select! {
    ///         ready = follower.ready() => ready?,
    ///         () = &mut shutdown => break,
    ///     }
    ///     follower.next().await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn ready(&mut self) -> Result<()> {
        loop {
            if self.stream.is_none() && self.events.is_empty() {
                self.open().await?;
            }
            if self.is_scrub_due {
                return Ok(());
            }
            match std::future::poll_fn(|cx| self.poll(cx)).await {
                Waited::Events => return Ok(()),
                Waited::Idle => self.store_idle().await?,
                Waited::Ended => match self.failed.take() {
                    Some(error) if is_lost(&error) => self.lose().await?,
                    Some(error) => return Err(error),
                    None => {}
                },
            }
        }
    }

    /// Handles events forever; returns the first error.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let mut follower = db.follow(models![Host, LogMessage]).await?;
    /// let worker = tokio::spawn(async move {
    ///     loop {
    ///         let Err(error) = follower.run().await;
    ///         eprintln!("{error}");
    ///         tokio::time::sleep(Duration::from_secs(5)).await;
    ///     }
    /// });
    /// # worker.abort();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn run(&mut self) -> Result<std::convert::Infallible> {
        loop {
            self.next().await?;
        }
    }

    /// Opens the stream behind the last event that was handled, or, if that is not possible, now.
    async fn open(&mut self) -> Result<()> {
        self.failed = None;
        if let Some(token) = self.token.clone() {
            match self.watch(Some(token)).await {
                Ok(stream) => {
                    self.stream = Some(stream);
                    return Ok(());
                }
                // Of a token that is malformed, every version of mongod has another error.
                Err(error) if error.code().is_some() && is_of_documents(&error) => {}
                Err(error) => return Err(error),
            }
        }
        // Writes beside the scrub are events of a stream that was open before it.
        let stream = self.watch(None).await?;
        self.lose().await?;
        self.stream = Some(stream);
        self.is_scrub_due = true;
        Ok(())
    }

    async fn watch(&mut self, token: Option<Document>) -> Result<RawChanges<'static>> {
        let mut watch = Watch::new(Scope::Database);
        watch.pipeline = pipeline(&self.relations);
        // Also behind the event of a dropped database, which ends a stream.
        watch.start_after = token;
        if self.has_images {
            watch.full_document_before_change = Some(FullDocumentBeforeChange::WhenAvailable);
        }
        self.channel.store().clone().watch(watch, None).await
    }

    /// Forgets a position from which the store can't continue.
    async fn lose(&mut self) -> Result<()> {
        if let Some(token) = self.token.take() {
            self.position.forget(&mut self.channel, &token).await?;
        }
        self.stream = None;
        Ok(())
    }

    /// Reads all documents, and writes those that differ.
    async fn scrub(&mut self) -> Result<FollowedBatch> {
        let mut batch = FollowedBatch {
            scrubbed: true,
            ..FollowedBatch::default()
        };
        let token = self.stream.as_ref().and_then(RawChanges::token).cloned();
        let mut all: Vec<Work> = Vec::new();
        all.resize_with(self.relations.len(), Work::everything);
        self.settle(&all, &mut batch).await?;
        self.store(token).await?;
        self.is_scrub_due = false;
        Ok(batch)
    }

    /// Takes the events that are there.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Waited> {
        loop {
            let is_full = self.events.len() >= EVENTS || self.bytes >= BYTES;
            if is_full && !self.is_in_transaction() {
                return Poll::Ready(Waited::Events);
            }
            let Some(stream) = &mut self.stream else {
                return Poll::Ready(if self.events.is_empty() {
                    Waited::Ended
                } else {
                    Waited::Events
                });
            };
            match stream.poll_next(cx) {
                Poll::Ready(Some(Ok(event))) => {
                    self.bytes += event.as_bytes().len();
                    self.events.push(event);
                }
                Poll::Ready(Some(Err(error))) => {
                    self.failed = Some(error);
                    self.stream = None;
                }
                Poll::Ready(None) => self.stream = None,
                Poll::Pending if !self.events.is_empty() => return Poll::Ready(Waited::Events),
                Poll::Pending if self.stored.elapsed() >= IDLE => return Poll::Ready(Waited::Idle),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Whether the last two events are of one transaction, whose next event may follow.
    fn is_in_transaction(&self) -> bool {
        let transaction = |event: &RawDocumentBuf| {
            let number = raw::get(event, "txnNumber").map(Bson::try_from)?.ok()?;
            let session = raw::get(event, "lsid").map(Bson::try_from)?.ok()?;
            Some((number, session))
        };
        match self.events.as_slice() {
            [.., before, last] => {
                let last = transaction(last);
                last.is_some() && last == transaction(before)
            }
            _ => false,
        }
    }

    /// Handles the events that were taken.
    async fn handle(&mut self) -> Result<FollowedBatch> {
        let mut batch = FollowedBatch {
            events: self.events.len() as u64,
            ..FollowedBatch::default()
        };
        let mut all: Vec<Work> = Vec::new();
        all.resize_with(self.relations.len(), Work::default);
        for event in &self.events {
            let event = Event::read(event);
            for (relation, work) in self.relations.iter().zip(&mut all) {
                event.add_to(relation, work)?;
            }
        }
        self.settle(&all, &mut batch).await?;
        let token = self.events.last().and_then(|event| token(event));
        self.store(token).await?;
        batch.lag = batch::lag(&self.events);
        self.events.clear();
        self.bytes = 0;
        Ok(batch)
    }

    /// Writes what follows for each relation.
    async fn settle(&mut self, all: &[Work], batch: &mut FollowedBatch) -> Result<()> {
        loop {
            let written = batch.documents();
            for (relation, work) in self.relations.iter().zip(all) {
                let settled = relation.settle(&mut self.channel, work, batch);
                settled.await?;
            }
            // A validator may have refused a document that lacked what another relation has written since.
            if batch.refused == 0 || batch.documents() == written {
                return Ok(());
            }
            batch.refused = 0;
            batch.not_followed.clear();
        }
    }

    /// Stores the position of a stream that returns no events, because all changes are of other collections.
    async fn store_idle(&mut self) -> Result<()> {
        let token = self.stream.as_ref().and_then(RawChanges::token).cloned();
        if token == self.token {
            self.stored = Instant::now();
            return Ok(());
        }
        self.store(token).await
    }

    async fn store(&mut self, token: Option<Document>) -> Result<()> {
        if let Some(token) = token {
            self.position.write(&mut self.channel, &token).await?;
            self.token = Some(token);
        }
        self.stored = Instant::now();
        Ok(())
    }
}

/// The token of an event.
fn token(event: &RawDocument) -> Option<Document> {
    let token = raw::get(event, "_id").and_then(RawBsonRef::as_document)?;
    Document::try_from(token).ok()
}

impl fmt::Debug for Follower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower")
            .field("position", &self.position)
            .field("token", &self.token)
            .field("events", &self.events.len())
            .finish_non_exhaustive()
    }
}
