//! Pushes of elements.

use std::borrow::Borrow;
use std::fmt;

use bson::oid::ObjectId;
use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, RawDocumentBuf, doc};
use odm_language::value::number::Number;

use super::handle::size_of;
use super::model::OverflowModel;
use crate::collection::{Collection, Stale, decode_id};
use crate::error::{Code, Error, Result};
use crate::exec::Channel;
use crate::model::bound::ListBound;
use crate::model::overflow::OverflowShape;
use crate::model::types::{Shape, TypeMeta};
use crate::model::{BsonType, Document as Model, ModelMeta, Path};
use crate::query::encode::encode_field;
use crate::query::{Filter, FromRaw, Sort};
use crate::store::options::Options;
use crate::store::{Operation, Session};
use crate::update::{Update, maintain};
use crate::write::{Atomic, WriteSeveral, inserts_propagate};

/// The bytes beyond which a push into several documents gives a document no more elements: half of the largest document.
const FULL_BYTES: usize = 8 * 1024 * 1024;

/// The codes of a document beyond 16 MB, as an update makes it and as an insert does.
const TOO_LARGE: [Code; 2] = [Code::location(17419), Code::BSON_OBJECT_TOO_LARGE];

/// A push of elements, about to be sent: [`Overflow::push`](super::Overflow::push).
///
/// Opening an overflow document takes a transaction: [`non_atomic`](Atomic::non_atomic) is an error then.
pub type PushItems<'s, M> = Atomic<'s, ItemsPush<M>>;

/// The result of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PushItemsResult {
    /// How many documents have the `_id`: 0 or 1. If none has, nothing is pushed.
    pub matched: u64,
    /// How many elements were pushed.
    pub pushed: u64,
    /// How many of them went into overflow documents.
    pub overflowed: u64,
    /// How many overflow documents were inserted for them.
    pub opened: u64,
}

/// The writes of a [`PushItems`].
pub struct ItemsPush<M: OverflowModel> {
    collection: Collection<M>,
    shape: OverflowShape,
    /// The `_id` of the document whose list gets the elements.
    id: Bson,
    items: Vec<Bson>,
    /// Whether a change of the list has consequences in other documents.
    follows: Follows,
}

/// Whether changes of the list have consequences that propagate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follows {
    pub(super) inner: bool,
    pub(super) outer: bool,
}

impl Follows {
    pub(super) fn of<M: OverflowModel>(list: &str) -> Result<Self> {
        let follows = |model| Stale::of_change(model, list).map(|stale| !stale.is_empty());
        Ok(Self {
            inner: follows(M::Of::model())?,
            outer: follows(M::model())?,
        })
    }
}

/// A document that may take elements.
struct Place {
    /// How many elements it has room for.
    room: usize,
    /// How many bytes it has.
    bytes: usize,
    /// Its number, if it is an overflow document.
    number: i64,
}

impl<M: OverflowModel> ItemsPush<M> {
    pub(super) fn new<I: Borrow<M::Item>>(
        collection: Collection<M>,
        id: Bson,
        items: impl IntoIterator<Item = I>,
    ) -> Result<Self> {
        let shape = M::model().overflow_shape()?;
        let list = shape.meta.list;
        let encode = |(position, item): (usize, I)| {
            let in_item = |error: Error| error.with_path(list).context(format!("item {position}"));
            encode_field(item.borrow()).map_err(in_item)
        };
        let items: Result<Vec<Bson>> = items.into_iter().enumerate().map(encode).collect();
        Ok(Self {
            collection,
            shape,
            id,
            items: items?,
            follows: Follows::of::<M>(list)?,
        })
    }

    /// Pushes all elements into one document that has room for them, without a transaction.
    async fn push_into_one(
        &self,
        mut session: Option<&mut Session>,
    ) -> Result<Option<PushItemsResult>> {
        let count = self.items.len();
        let inner = usize::try_from(self.shape.inner.max).unwrap_or(usize::MAX);
        if let Some(most) = inner.checked_sub(count) {
            let matched = self.push_into_document(&self.items, most, session.as_deref_mut());
            if unless_too_large(matched.await)? {
                return Ok(Some(PushItemsResult {
                    matched: 1,
                    pushed: count as u64,
                    ..PushItemsResult::default()
                }));
            }
        }
        let Some(most) = self.most(count) else {
            return Ok(None);
        };
        let mut filter = doc! {self.shape.meta.by: {"$eq": self.id.clone()}};
        filter.extend(room(self.shape.meta.list, self.shape.outer, most));
        let change = self
            .collection
            .find_one_and_update(
                |_| Filter::from_raw(filter),
                |_| self.update(&self.items, self.shape.meta.max),
            )
            .sort(|_| Sort::from_keys(vec![(self.shape.meta.number.to_owned(), Bson::from(-1))]))
            .projection(doc! {"_id": 1})
            .with_type::<Document>()
            .in_session(session);
        let found = if self.follows.outer {
            change.propagate().await
        } else {
            change.await
        };
        Ok(unless_too_large(found)?.map(|_| PushItemsResult {
            matched: 1,
            pushed: count as u64,
            overflowed: count as u64,
            opened: 0,
        }))
    }

    /// The most elements that an overflow document may have to take this many more.
    fn most(&self, more: usize) -> Option<usize> {
        let max = usize::try_from(self.shape.meta.max).unwrap_or(usize::MAX);
        max.checked_sub(more)
    }

    /// Pushes elements into the document itself, if its list has at most `most`.
    async fn push_into_document(
        &self,
        items: &[Bson],
        most: usize,
        session: Option<&mut Session>,
    ) -> Result<bool> {
        let mut filter = doc! {"_id": {"$eq": self.id.clone()}};
        filter.extend(room(self.shape.meta.list, self.shape.inner, most));
        let of = self.collection.other::<M::Of>();
        let change = of.update_one(
            |_| Filter::from_raw(filter),
            |_| self.update(items, self.shape.inner.max),
        );
        let change = change.in_session(session);
        let matched = if self.follows.inner {
            change.propagate().await?.update.matched
        } else {
            change.await?.matched
        };
        Ok(matched == 1)
    }

    /// Pushes elements into the overflow document with this number, if it has at most `most`.
    async fn push_into_overflow(
        &self,
        items: &[Bson],
        number: i64,
        most: usize,
        session: Option<&mut Session>,
    ) -> Result<bool> {
        let meta = self.shape.meta;
        let mut filter = doc! {meta.by: {"$eq": self.id.clone()}, meta.number: number};
        filter.extend(room(meta.list, self.shape.outer, most));
        let change = self
            .collection
            .update_one(
                |_| Filter::from_raw(filter),
                |_| self.update(items, meta.max),
            )
            .in_session(session);
        let matched = if self.follows.outer {
            change.propagate().await?.update.matched
        } else {
            change.await?.matched
        };
        Ok(matched == 1)
    }

    /// `{$push: {list: {$each: items, $slice: max}}}`. The condition on the room is part of the filter, so `$slice` cuts nothing, and
    /// the update needs no guard.
    fn update<T>(&self, items: &[Bson], max: u32) -> Update<T> {
        let path = Path::root().child(self.shape.meta.list);
        let push = doc! {"$each": items, "$slice": i64::from(max)};
        Update::operator(&path, "$push", Ok(push.into()))
    }

    /// Fills the documents that have room, and opens overflow documents for the rest, in a transaction.
    async fn push_into_several(&self, channel: &mut Channel<'_>) -> Result<PushItemsResult> {
        let Some(document) = self.document(channel).await? else {
            return Ok(PushItemsResult::default());
        };
        let mut result = PushItemsResult {
            matched: 1,
            pushed: self.items.len() as u64,
            ..PushItemsResult::default()
        };
        let (items, rest) = document.takes(&self.items);
        if !items.is_empty() {
            let most = document.most_before(self.shape.inner.max);
            let session = channel.session();
            expect(self.push_into_document(items, most, session).await?)?;
        }
        if rest.is_empty() {
            return Ok(result);
        }
        result.overflowed = rest.len() as u64;
        let last = self.last(channel).await?;
        let mut number = last.as_ref().map_or(0, |last| last.number);
        let mut rest = rest;
        if let Some(last) = &last {
            let (items, others) = last.takes(rest);
            if !items.is_empty() {
                let most = last.most_before(self.shape.meta.max);
                let session = channel.session();
                expect(
                    self.push_into_overflow(items, number, most, session)
                        .await?,
                )?;
            }
            rest = others;
        }
        let (mut documents, mut ids) = (Vec::new(), Vec::new());
        while !rest.is_empty() {
            let empty = Place {
                room: self.most(0).unwrap_or_default(),
                bytes: 0,
                number: 0,
            };
            let (items, others) = empty.takes(rest);
            // A single element that is too large is MongoDB's to refuse.
            let (items, others) = match (items, rest.split_at_checked(1)) {
                ([], Some(one)) => one,
                _ => (items, others),
            };
            number = number.saturating_add(1);
            let id = ObjectId::new();
            documents.push(self.opened(id, number, items)?);
            ids.push(decode_id::<M>(id.into())?);
            rest = others;
        }
        result.opened = documents.len() as u64;
        if documents.is_empty() {
            return Ok(result);
        }
        let insert = self.collection.insert_encoded(documents, ids);
        let Some(session) = channel.session() else {
            return Ok(result);
        };
        if inserts_propagate(M::model())? {
            insert
                .propagate()
                .check_references()
                .session(session)
                .await?;
        } else {
            insert.check_references().session(session).await?;
        }
        Ok(result)
    }

    /// The room of the document itself.
    async fn document(&self, channel: &mut Channel<'_>) -> Result<Option<Place>> {
        let filter = doc! {"_id": {"$eq": self.id.clone()}};
        let found = self.place(M::Of::model(), filter, Document::new(), channel);
        let found = found.await?;
        found
            .map(|found| Place::of(&found, self.shape.inner.max, None))
            .transpose()
    }

    /// The overflow document with the largest number.
    async fn last(&self, channel: &mut Channel<'_>) -> Result<Option<Place>> {
        let meta = self.shape.meta;
        let filter = doc! {meta.by: {"$eq": self.id.clone()}};
        let sort = doc! {meta.number: -1};
        let found = self.place(M::model(), filter, sort, channel).await?;
        found
            .map(|found| Place::of(&found, meta.max, Some(meta.number)))
            .transpose()
            .map_err(|error| error.with_model(M::model().name))
    }

    async fn place(
        &self,
        model: &'static ModelMeta,
        filter: Document,
        sort: Document,
        channel: &mut Channel<'_>,
    ) -> Result<Option<RawDocumentBuf>> {
        let meta = self.shape.meta;
        let find = Operation::Find {
            filter: filter.into(),
            one: true,
        };
        let mut projection = doc! {
            "_id": 0,
            "n": size_of(meta.list),
            "bytes": {"$bsonSize": "$$ROOT"},
        };
        if !sort.is_empty() {
            projection.insert("number", format!("${}", meta.number));
        }
        let options = Options {
            projection: Some(projection),
            sort: (!sort.is_empty()).then_some(sort),
            ..channel.current()
        };
        let found = channel.of(model).documents(find, options.into()).await?;
        Ok(found.into_iter().next())
    }

    /// A new overflow document with these elements.
    fn opened(&self, id: ObjectId, number: i64, items: &[Bson]) -> Result<RawDocumentBuf> {
        let meta = self.shape.meta;
        let mut document = doc! {
            "_id": id,
            meta.by: self.id.clone(),
            meta.number: number_as(number, self.shape.number),
            meta.list: items,
        };
        if let Some(version) = M::model().version() {
            document.insert(version.name, version.one);
        }
        let document = RawDocumentBuf::try_from(document).map_err(Error::encode)?;
        maintain::inserted(M::model(), document)
    }
}

impl Place {
    /// Reads what [`ItemsPush::place`] projects.
    fn of(found: &RawDocument, max: u32, number: Option<&'static str>) -> Result<Self> {
        let value = |name| found.get(name).ok().flatten().and_then(units);
        let max = i64::from(max);
        let room = value("n").map_or(0, |n| max.saturating_sub(n).max(0));
        let number = match number {
            None => 0,
            Some(path) => value("number").ok_or_else(|| {
                let message =
                    "the last overflow document has no whole number here: repair it, or delete it";
                Error::usage(message).with_path(path)
            })?,
        };
        Ok(Self {
            room: usize::try_from(room).unwrap_or_default(),
            bytes: value("bytes")
                .and_then(|bytes| usize::try_from(bytes).ok())
                .unwrap_or_default(),
            number,
        })
    }

    /// Divides elements into those that fit into the document and the others.
    fn takes<'i>(&self, items: &'i [Bson]) -> (&'i [Bson], &'i [Bson]) {
        let mut bytes = self.bytes;
        let fit = items.iter().take(self.room).take_while(|item| {
            bytes = bytes.saturating_add(bytes_of(item));
            bytes <= FULL_BYTES
        });
        items.split_at(fit.count())
    }

    /// How many elements the list has at most.
    fn most_before(&self, max: u32) -> usize {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        max.saturating_sub(self.room)
    }
}

/// The condition of documents whose list has at most `most` elements.
fn room(list: &str, bound: ListBound, most: usize) -> Document {
    if bound.numbers_are_names {
        // `list.9` could be the name of a field in an element.
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        return doc! {"$expr": {"$lte": [size_of(list), most]}};
    }
    doc! {format!("{list}.{most}"): {"$exists": false}}
}

/// About how many bytes an element takes in a document.
fn bytes_of(item: &Bson) -> usize {
    let element = doc! {"0": item};
    RawDocumentBuf::try_from(element).map_or(0, |raw| raw.as_bytes().len())
}

/// A whole number. Other programs may have stored it as another type.
fn units(value: RawBsonRef<'_>) -> Option<i64> {
    Number::from_raw(value)?.to_i64_exact()
}

/// A number as the field stores it.
fn number_as(number: i64, ty: &TypeMeta) -> Bson {
    let is_long = matches!(ty.shape, Shape::Scalar([BsonType::Long]));
    match i32::try_from(number) {
        Ok(number) if !is_long => number.into(),
        _ => number.into(),
    }
}

/// Reads a result; a document that would become too large counts as one without room.
fn unless_too_large<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Err(error) if error.code().is_some_and(|code| TOO_LARGE.contains(&code)) => {
            Ok(T::default())
        }
        result => result,
    }
}

fn expect(matched: bool) -> Result<()> {
    if matched {
        return Ok(());
    }
    let message = "the list changed between the read and the push: run the push again";
    Err(Error::usage(message))
}

impl<M: OverflowModel> WriteSeveral for ItemsPush<M> {
    type Done = PushItemsResult;

    fn model(&self) -> &'static ModelMeta {
        M::model()
    }

    fn channel(&self) -> Channel<'static> {
        self.collection.channel()
    }

    async fn done(&self, in_session: bool) -> Result<Option<PushItemsResult>> {
        if in_session {
            return Ok(None);
        }
        self.push_into_one(None).await
    }

    async fn write(&self, channel: &mut Channel<'_>) -> Result<PushItemsResult> {
        if !channel.is_in_transaction() {
            return Err(Error::usage(
                "no document has room for all elements, and several documents are written in a transaction: leave `non_atomic()` out",
            ));
        }
        self.push_into_several(channel).await
    }
}

impl<M: OverflowModel> fmt::Debug for ItemsPush<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ItemsPush({} items, _id {})", self.items.len(), self.id)
    }
}
