//! Items as statements: each fills one bucket, or opens one.

use std::collections::HashMap;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::value::number::Number;
use odm_language::value::order;

use super::computed::types;
use super::interval::Point;
use super::key::BucketKey;
use super::model::BucketModel;
use crate::error::{Error, Result};
use crate::exec::StoredPath;
use crate::model::bucket::{BucketMeta, KeptField, KeptKind};
use crate::model::types::TypeMeta;
use crate::model::{BsonType, Path};
use crate::query::{Filter, FromRaw};
use crate::update::Update;

/// About how many bytes of items one statement has at most. A command may have 16 MB, and so may a bucket.
const STATEMENT_BYTES: usize = 8 * 1024 * 1024;

/// An encoded item.
#[derive(Debug, Clone)]
pub(super) struct EncodedItem {
    /// The position in the call.
    pub(super) index: usize,
    document: RawDocumentBuf,
}

/// The items of one key and one span.
#[derive(Debug)]
pub(super) struct Group {
    key: BucketKey,
    start: Point,
    pub(super) items: Vec<EncodedItem>,
}

/// The items of a call, by key and span.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    /// The position of each group, by the key and the start.
    positions: HashMap<Vec<u8>, usize>,
    /// The number of items.
    pub(super) count: usize,
}

impl Groups {
    /// Adds an item.
    pub(super) fn add<M: BucketModel>(&mut self, key: &BucketKey, item: &M::Item) -> Result<()> {
        let index = self.count;
        let shape = key.shape;
        let in_item = |error: Error| {
            let error = error.with_model((shape.meta.item)().name);
            error.context(format!("item {index}"))
        };
        let encoded = crate::query::encode(item).map_err(in_item)?;
        let Bson::Document(document) = encoded else {
            return Err(in_item(Error::usage("an item is stored as a document")));
        };
        let document = RawDocumentBuf::try_from(document).map_err(Error::encode)?;
        let time = StoredPath::at(&shape.time);
        let Some(point) = time.value(&document).and_then(Point::of) else {
            let message = "the items of a bucket are ordered by a date or a whole number, and this one has none here";
            return Err(in_item(Error::usage(message).with_path(shape.time.clone())));
        };
        let Some(start) = point.start_of_span(shape.meta.span) else {
            let message = "no span starts before this point";
            return Err(in_item(Error::usage(message).with_path(shape.time.clone())));
        };
        self.group(key, start)?
            .push(EncodedItem { index, document });
        self.count += 1;
        Ok(())
    }

    /// Adds the items of statements that were not stored.
    pub(super) fn again(statements: Vec<Statement>) -> Result<Self> {
        let mut groups = Self::default();
        for Statement { group } in statements {
            groups.count += group.items.len();
            groups.group(&group.key, group.start)?.extend(group.items);
        }
        Ok(groups)
    }

    /// The items of a key and a span.
    fn group(&mut self, key: &BucketKey, start: Point) -> Result<&mut Vec<EncodedItem>> {
        let bytes = RawDocumentBuf::try_from(key.at(start)).map_err(Error::encode)?;
        let next = self.all.len();
        let position = *self.positions.entry(bytes.into_bytes()).or_insert(next);
        if position == next {
            self.all.push(Group {
                key: key.clone(),
                start,
                items: Vec::new(),
            });
        }
        let group = self.all.get_mut(position).map(|group| &mut group.items);
        group.ok_or_else(|| Error::usage("the items have no group"))
    }

    /// The group of a stored bucket.
    pub(super) fn group_of(&self, bucket: &RawDocument) -> Option<usize> {
        let shape = self.all.first()?.key.shape;
        let mut key = Document::new();
        for name in shape.meta.by.iter().chain([&shape.meta.start]) {
            let value = Bson::try_from(bucket.get(name).ok()??).ok()?;
            key.insert(*name, doc! {"$eq": value});
        }
        let key = RawDocumentBuf::try_from(key).ok()?;
        self.positions.get(key.as_bytes()).copied()
    }
}

impl Group {
    /// The condition of buckets of the group with room for so many items.
    pub(super) fn with_room(&self, items: usize) -> Document {
        let meta = self.key.shape.meta;
        let mut filter = self.key.at(self.start);
        filter.insert(meta.count, doc! {"$lte": number(max(meta) - items)});
        filter
    }

    /// Divides the items, so that the first parts fill the buckets with so much room.
    pub(super) fn statements(self, rooms: Vec<usize>) -> Vec<Statement> {
        let Self { key, start, items } = self;
        let max = max(key.shape.meta);
        let mut rooms = rooms.into_iter().filter(|room| *room > 0);
        let mut parts: Vec<Vec<EncodedItem>> = Vec::new();
        let (mut part, mut bytes) = (Vec::new(), 0);
        let mut room = rooms.next().unwrap_or(max);
        for item in items {
            let size = item.document.as_bytes().len();
            let is_full = part.len() == room || bytes + size > STATEMENT_BYTES;
            if is_full && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
                room = rooms.next().unwrap_or(max);
                bytes = 0;
            }
            bytes += size;
            part.push(item);
        }
        parts.push(part);
        let statement = |items| Statement {
            group: Group {
                key: key.clone(),
                start,
                items,
            },
        };
        parts.into_iter().map(statement).collect()
    }
}

/// Items that one statement adds to one bucket.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) group: Group,
}

impl Statement {
    pub(super) fn len(&self) -> usize {
        self.group.items.len()
    }

    /// The buckets that have room for the items.
    pub(super) fn filter<M: BucketModel>(&self) -> Filter<M> {
        let meta = self.group.key.shape.meta;
        let mut filter = self.group.with_room(self.len());
        // Whoever wrote a wrong count: the list does not exceed its bound.
        let last = max(meta) - self.len();
        filter.insert(format!("{}.{last}", meta.items), doc! {"$exists": false});
        Filter::from_raw(filter)
    }

    /// Adds the items, and what is kept of them.
    pub(super) fn update<M: BucketModel>(&self) -> Result<Update<M>> {
        let shape = self.group.key.shape;
        let meta = shape.meta;
        let items = self.group.items.iter();
        let each: Result<Vec<Bson>> = items
            .clone()
            .map(|item| Document::try_from(&*item.document).map(Bson::Document))
            .map(|item| item.map_err(Error::encode))
            .collect();
        let mut update = doc! {"$push": {meta.items: {"$each": each?}}};
        let documents: Vec<&RawDocument> = items.map(|item| &*item.document).collect();
        for (operator, kind) in [
            ("$min", KeptKind::Smallest),
            ("$max", KeptKind::Largest),
            ("$inc", KeptKind::Total),
        ] {
            let mut operands = Document::new();
            for field in shape.kept.iter().filter(|field| field.meta.kind == kind) {
                let value = value_of(field, &documents).map_err(|error| {
                    error.with_path(field.meta.name).with_model(M::model().name)
                })?;
                if let Some(value) = value {
                    operands.insert(field.meta.name, value);
                }
            }
            if !operands.is_empty() {
                update.insert(operator, operands);
            }
        }
        let count = number_as(self.len(), shape.count);
        let path = Path::root().child(meta.count);
        Ok(Update::raw(update) & Update::operator(&path, "$inc", Ok(count)))
    }
}

/// The most items of a bucket.
pub(super) fn max(meta: &BucketMeta) -> usize {
    usize::try_from(meta.max).unwrap_or(usize::MAX)
}

/// What is kept of a field of these items; none if they have no value.
fn value_of(field: &KeptField, items: &[&RawDocument]) -> Result<Option<Bson>> {
    let source = StoredPath::at(&field.source);
    let values = items.iter().filter_map(|item| source.value(item));
    let values = values.filter(|value| !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined));
    let compare = |a: &RawBsonRef<'_>, b: &RawBsonRef<'_>| order::compare(*a, *b, None);
    let value = match field.meta.kind {
        KeptKind::Smallest => values.min_by(compare),
        KeptKind::Largest => values.max_by(compare),
        KeptKind::Total => return total(field.ty, values).map(Some),
    };
    let value = value.map(Bson::try_from).transpose();
    value.map_err(Error::encode)
}

/// The sum of numbers, as a field stores it.
fn total<'a>(ty: &TypeMeta, values: impl Iterator<Item = RawBsonRef<'a>>) -> Result<Bson> {
    let mut sum = Number::Int32(0);
    for value in values {
        let Some(number) = Number::from_raw(value) else {
            return Err(Error::usage(
                "an item has a value here that is not a number",
            ));
        };
        let number = match types(ty) {
            [BsonType::Decimal] => Number::Decimal(number.to_decimal()),
            [BsonType::Double] => Number::Double(number.to_f64()),
            _ => number,
        };
        let too_large = || Error::usage("the total of these items exceeds 64 bits");
        sum = sum.checked_add(number).ok_or_else(too_large)?;
    }
    let sum = match (types(ty), sum) {
        ([BsonType::Long], Number::Int32(sum)) => Number::Int64(sum.into()),
        ([BsonType::Double], sum) => Number::Double(sum.to_f64()),
        ([BsonType::Decimal], sum) => Number::Decimal(sum.to_decimal()),
        (_, sum) => sum,
    };
    Bson::try_from(sum.to_raw()).map_err(Error::encode)
}

/// A number of items as a field stores it.
fn number_as(count: usize, ty: &TypeMeta) -> Bson {
    match types(ty) {
        [BsonType::Long] => i64::try_from(count).unwrap_or(i64::MAX).into(),
        _ => number(count),
    }
}

fn number(count: usize) -> Bson {
    i32::try_from(count).unwrap_or(i32::MAX).into()
}
