//! Where a tail is, and the cursors that continue there.

use std::sync::Arc;
use std::time::Duration;

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_language::value::raw;

use crate::error::{Code, Error, Result};
use crate::model::ModelMeta;
use crate::store::options::Options;
use crate::store::{CollectionName, Operation, RawCursor, Request, Response, Store};

/// What a tail reads.
#[derive(Debug, Clone)]
pub(super) struct Tailing(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    collection: CollectionName,
    model: &'static ModelMeta,
    /// The options of all its commands.
    options: Options,
    filter: Document,
    by: Option<String>,
    await_time: Option<Duration>,
}

/// The documents that a tail has returned.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// The `_id` of the last one.
    last: Option<Bson>,
    /// The value of the increasing field in the last one that has it.
    value: Option<Bson>,
    /// Whether the documents behind it are gone, so that the next one is the oldest that is left.
    is_lost: bool,
}

/// A cursor that continues at a place.
pub(super) struct Opened {
    pub(super) cursor: RawCursor<'static>,
    /// The place in the end: it is forgotten where the collection is empty or has removed it.
    pub(super) place: Place,
    /// Whether the cursor begins with documents up to the last one, which are left out.
    pub(super) seeks: bool,
    /// Whether documents may have been removed that no one has read.
    pub(super) lost: bool,
}

impl Place {
    /// After the document with this value of the increasing field.
    pub(super) fn after(value: Bson) -> Self {
        Self {
            value: Some(value),
            ..Self::default()
        }
    }

    /// The next document is the oldest that is left.
    pub(super) fn lose(&mut self) {
        self.last = None;
        self.is_lost = true;
    }

    /// Whether this is the last document.
    pub(super) fn is_last(&self, document: &RawDocument) -> bool {
        let id = raw::get(document, "_id").map(Bson::try_from);
        matches!((id, &self.last), (Some(Ok(id)), Some(last)) if id == *last)
    }
}

impl Tailing {
    pub(super) fn new(
        store: Store,
        request: Request,
        model: &'static ModelMeta,
        filter: Document,
        by: Option<String>,
        await_time: Option<Duration>,
    ) -> Self {
        Self(Arc::new(Inner {
            store,
            collection: request.collection,
            model,
            options: Options::clone(&request.options),
            filter,
            by,
            await_time,
        }))
    }

    pub(super) fn model(&self) -> &'static ModelMeta {
        self.0.model
    }

    /// How long to wait before a cursor is opened on an empty collection again, on which MongoDB keeps none.
    pub(super) fn pause(&self) -> Duration {
        const LONGEST: Duration = Duration::from_millis(250);
        self.0.await_time.map_or(LONGEST, |time| time.min(LONGEST))
    }

    /// The place after a document.
    pub(super) fn passed(&self, place: &mut Place, document: &RawDocument) {
        let read = |value: Option<RawBsonRef<'_>>| Bson::try_from(value?).ok();
        place.last = read(raw::get(document, "_id"));
        place.is_lost = false;
        if let Some(by) = &self.0.by
            && let Some(value) = read(at(document, by))
        {
            place.value = Some(value);
        }
    }

    /// The place after the newest document.
    pub(super) async fn newest(&self) -> Result<Place> {
        let mut place = Place::default();
        let sort = Some(doc! {"$natural": -1});
        let mut found = self.find(Document::new(), sort, Some(1)).await?;
        if let Some(newest) = found.next().await {
            let newest = newest.map_err(|error| self.named(error))?;
            self.passed(&mut place, newest);
        }
        Ok(place)
    }

    /// Opens a cursor that continues at a place.
    pub(super) async fn open(self, mut place: Place) -> Result<Opened> {
        let by_value = self.0.by.as_ref().zip(place.value.as_ref());
        let (filter, reached) = match (by_value, &place.last) {
            (Some((by, value)), _) => (
                both(&self.0.filter, doc! {by: {"$gt": value}}),
                Some(doc! {by: {"$lte": value}}),
            ),
            (None, Some(last)) => {
                let is_last = doc! {"_id": {"$eq": last}};
                // An update may have changed the last document so that it does not match.
                let filter = if self.0.filter.is_empty() {
                    Document::new()
                } else {
                    doc! {"$or": [self.0.filter.clone(), is_last.clone()]}
                };
                (filter, Some(is_last))
            }
            (None, None) => (self.0.filter.clone(), None),
        };
        let cursor = self.find(filter, None, None).await?;
        let mut opened = Opened {
            cursor,
            seeks: by_value.is_none() && place.last.is_some(),
            lost: false,
            place: Place::default(),
        };
        // The collection removes documents in the order of their insertion. If this one is left now, none behind it was removed
        // before the cursor was opened.
        if let Some(reached) = reached
            && !place.is_lost
            && !self.exists(reached).await?
        {
            opened.seeks = false;
            opened.lost = self.exists(Document::new()).await?;
            place.lose();
        }
        opened.place = place;
        Ok(opened)
    }

    async fn exists(&self, filter: Document) -> Result<bool> {
        let mut found = self
            .find(filter, Some(doc! {"$natural": 1}), Some(1))
            .await?;
        let found = found.next().await.transpose();
        Ok(found.map_err(|error| self.named(error))?.is_some())
    }

    /// Sends a query; without a limit, its cursor is tailable.
    async fn find(
        &self,
        filter: Document,
        sort: Option<Document>,
        limit: Option<i64>,
    ) -> Result<RawCursor<'static>> {
        let inner = &self.0;
        let operation = Operation::Find {
            filter: filter.into(),
            one: limit.is_some(),
        };
        let mut request = Request::new(inner.collection.clone(), operation);
        request.options = Options {
            sort,
            tails: limit.is_none(),
            max_await_time: inner.await_time.filter(|_| limit.is_none()),
            ..inner.options.clone()
        }
        .into();
        let response = inner.store.clone().exec(request, None).await;
        let opened = response.and_then(Response::cursor);
        opened.map_err(|error| self.named(error))
    }

    /// The error with the model, and what to do about it.
    pub(super) fn named(&self, error: Error) -> Error {
        let error = error.with_model(self.0.model.name);
        let collection = &self.0.collection;
        if error.code() == Some(Code::BAD_VALUE) && error.to_string().contains("non capped") {
            return error.context(format!(
                "`{collection}` is not capped, as the model declares: apply the plan of `db.sync`, or convert it"
            ));
        }
        error
    }

    /// The error for documents that were removed before they were read.
    pub(super) fn lost(&self) -> Error {
        Error::lost_position(&self.0.collection).with_model(self.0.model.name)
    }
}

/// The value at a path through subdocuments.
fn at<'d>(document: &'d RawDocument, path: &str) -> Option<RawBsonRef<'d>> {
    let mut names = path.split('.');
    let mut value = raw::get(document, names.next()?)?;
    for name in names {
        value = raw::get(value.as_document()?, name)?;
    }
    Some(value)
}

fn both(one: &Document, other: Document) -> Document {
    if one.is_empty() {
        other
    } else {
        doc! {"$and": [one.clone(), other]}
    }
}
