//! Reads of elements, in their order.

use std::collections::VecDeque;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, doc};
use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::model::OverflowModel;
use crate::collection::Collection;
use crate::collection::decode::said;
use crate::error::{DecodeError, Error, Result};
use crate::model::{Document as Model, ModelMeta};
use crate::query::{BySerde, Decode};
use crate::store::options::Options;
use crate::store::{Operation, RawCursor, Session};

/// A read of elements, about to run: [`Overflow::items`](super::Overflow::items) or [`Overflow::rest`](super::Overflow::rest).
/// Awaiting it opens a stream, and [`all`](Self::all) collects it.
#[must_use = "nothing is read until it is awaited"]
pub struct FindItems<'s, M: OverflowModel> {
    collection: Collection<M>,
    id: Result<Bson>,
    /// Whether the elements in the document itself come first.
    has_document: bool,
    limit: u64,
    session: Option<&'s mut Session>,
}

impl<'s, M: OverflowModel> FindItems<'s, M> {
    pub(super) fn new(collection: Collection<M>, id: Result<Bson>, has_document: bool) -> Self {
        Self {
            collection,
            id,
            has_document,
            limit: 0,
            session: None,
        }
    }

    /// Reads at most this many elements, and no further overflow documents; 0 means no limit.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..9)).await?;
    /// assert_eq!(overflow.items(1).limit(4).all().await?.len(), 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Runs in this session, and in its transaction if one is under way. In a transaction, all elements are of one snapshot.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let mut session = db.start_session().await?;
    /// let items = db.overflow::<MoreReaders>().items(1).session(&mut session).all().await?;
    /// assert!(items.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn session(self, session: &'s mut Session) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }

    /// Reads all elements into a vector.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..4)).await?;
    /// assert_eq!(overflow.items(1).all().await?, names(0..4).collect::<Vec<_>>());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The first element that can't be read ([`Error::is_decode`](crate::Error::is_decode)); the stream goes on behind it.
    pub async fn all(self) -> Result<Vec<M::Item>> {
        let mut cursor = self.await?;
        let mut all = Vec::new();
        while let Some(item) = cursor.next().await {
            all.push(item?);
        }
        Ok(all)
    }

    async fn open(self) -> Result<ItemCursor<'s, M::Item>> {
        let meta = M::model().overflow_shape()?.meta;
        let id = self.id?;
        let mut session = self.session;
        let projection = doc! {meta.list: 1};
        let left = (self.limit > 0).then_some(self.limit);
        let mut cursor = ItemCursor {
            raw: None,
            list: meta.list,
            model: M::model(),
            overflow: M::model(),
            id: None,
            ready: VecDeque::new(),
            left,
            of: PhantomData,
        };
        if self.has_document {
            let of = self.collection.other::<M::Of>();
            let find = Operation::Find {
                filter: doc! {"_id": {"$eq": id.clone()}}.into(),
                one: true,
            };
            let mut call = of.call(find);
            call.options().projection = Some(projection.clone());
            call.session = session.as_deref_mut();
            let mut found = call.send().await?.cursor()?;
            cursor.model = M::Of::model();
            if let Some(document) = found.next().await {
                cursor.add(document.map_err(|error| error.with_model(M::Of::model().name))?)?;
            }
            if left.is_some_and(|left| left <= cursor.ready.len() as u64) {
                return Ok(cursor);
            }
        }
        let find = Operation::Find {
            filter: doc! {meta.by: {"$eq": id}}.into(),
            one: false,
        };
        let mut call = self.collection.call(find);
        *call.options() = Options {
            sort: Some(doc! {meta.number: 1}),
            projection: Some(projection),
            ..Options::default()
        };
        call.session = session;
        cursor.raw = Some(call.send().await?.cursor()?);
        Ok(cursor)
    }
}

impl<'s, M: OverflowModel> IntoFuture for FindItems<'s, M> {
    type Output = Result<ItemCursor<'s, M::Item>>;
    type IntoFuture = BoxFuture<'s, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl<M: OverflowModel> fmt::Debug for FindItems<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindItems")
            .field("id", &self.id)
            .field("has_document", &self.has_document)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// The elements of a list and of its overflow documents, fetched a batch of documents at a time: a [`Stream`] of `Result<T>`.
///
/// An element that does not fit `T` is one `Err`; the stream goes on with the next.
#[must_use = "a cursor fetches nothing until it is polled"]
pub struct ItemCursor<'s, T> {
    /// `None` after the last overflow document.
    raw: Option<RawCursor<'s>>,
    /// The stored name of the list.
    list: &'static str,
    /// The model of the ready elements.
    model: &'static ModelMeta,
    /// The model of the overflow documents.
    overflow: &'static ModelMeta,
    /// The `_id` of the document that has the ready elements.
    id: Option<Bson>,
    /// Elements with their positions.
    ready: VecDeque<(usize, Bson)>,
    /// How many elements may still be returned.
    left: Option<u64>,
    of: PhantomData<fn() -> T>,
}

impl<T> ItemCursor<'_, T> {
    /// Adds the elements of a document. Another program may have stored something else than a list, or nothing.
    fn add(&mut self, document: &RawDocument) -> Result<()> {
        let id = document.get("_id").ok().flatten();
        self.id = id.and_then(|id| Bson::try_from(id).ok());
        let list = document.get(self.list).map_err(Error::encode)?;
        match list {
            None | Some(RawBsonRef::Null) => Ok(()),
            Some(RawBsonRef::Array(items)) => {
                for (position, item) in items.into_iter().enumerate() {
                    let item = item.map_err(Error::encode)?;
                    let item = Bson::try_from(item).map_err(Error::encode)?;
                    self.ready.push_back((position, item));
                }
                Ok(())
            }
            Some(_) => {
                let error = Error::usage("the stored value is not a list: repair the document");
                Err(error.with_path(self.list).with_model(self.model.name))
            }
        }
    }
}

impl<T: DeserializeOwned> ItemCursor<'_, T> {
    /// Returns the next element, or `None` after the last.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = a_book().await?;
    /// let overflow = db.overflow::<MoreReaders>();
    /// overflow.push(1, names(0..1)).await?;
    /// let mut items = overflow.items(1).await?;
    /// assert_eq!(items.next().await.ok_or("no reader")??, "reader 0");
    /// assert!(items.next().await.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Result<T>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<T: DeserializeOwned> Stream for ItemCursor<'_, T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if this.left == Some(0) {
                this.raw = None;
                return Poll::Ready(None);
            }
            if let Some((position, item)) = this.ready.pop_front() {
                if let Some(left) = &mut this.left {
                    *left -= 1;
                }
                let decoded = <BySerde as Decode<T>>::decode(item);
                return Poll::Ready(Some(decoded.map_err(|failure| {
                    let message = said(&failure);
                    let error = DecodeError::new(this.id.clone(), message, Some(Box::new(failure)));
                    Error::new(error)
                        .with_path(format!("{}.{position}", this.list))
                        .with_model(this.model.name)
                })));
            }
            let Some(raw) = &mut this.raw else {
                return Poll::Ready(None);
            };
            let result = match ready!(raw.poll_next(cx)) {
                Some(Ok(document)) => {
                    let document = document.to_owned();
                    this.model = this.overflow;
                    this.add(&document)
                }
                Some(Err(error)) => Err(error.with_model(this.model.name)),
                None => {
                    this.raw = None;
                    Ok(())
                }
            };
            if let Err(error) = result {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl<T> fmt::Debug for ItemCursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemCursor({:?})", self.raw)
    }
}
