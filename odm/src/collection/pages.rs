//! Pages of a query, by number, and after a document or its token.

mod token;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};

pub use self::token::PageToken;
use super::call::{encode, equality};
use crate::error::{Error, Result};
use crate::model::field::Presence;
use crate::model::{Document as Model, ModelMeta};
use crate::store::{Operation, Request};

/// How a query is cut into pages; its sort is known when it is sent.
#[derive(Debug)]
pub(crate) enum Paging {
    /// By `skip` and `limit`.
    Numbered,
    /// The documents behind this place, or the first.
    After(Option<Place>),
}

/// The place behind a document.
#[derive(Debug)]
pub(crate) enum Place {
    Document(RawDocumentBuf),
    Token(PageToken),
}

impl Paging {
    pub(super) fn after<M: Model>(last: Option<&M>) -> Result<Self> {
        let last = last.map(encode).transpose()?;
        Ok(Self::After(last.map(Place::Document)))
    }

    /// Completes the sort, and the filter by the place of the last document.
    pub(super) fn complete(self, request: &mut Request, model: &ModelMeta) -> Result<()> {
        let sort = request.options.sort.get_or_insert_default();
        let last = match self {
            Self::Numbered => {
                if sort.is_empty() {
                    sort.insert("_id", 1);
                }
                return Ok(());
            }
            Self::After(last) => last,
        };
        let keys = keys(sort)?;
        *sort = keys.iter().map(Key::in_sort).collect();
        let values = match last {
            None => return Ok(()),
            Some(Place::Document(last)) => values(&keys, &last)?,
            Some(Place::Token(token)) => token.values(&keys)?,
        };
        let mut behind = Vec::new();
        let mut equal = Document::new();
        let mut place = Document::new();
        for (key, value) in keys.into_iter().zip(values) {
            if equal.is_empty()
                && let Some(start) = key.start(&value, model)
            {
                place.insert(&key.path, start);
            }
            for next in key.behind(&value, model) {
                let mut next = doc! {&key.path: next};
                next.extend(equal.clone());
                behind.push(Bson::Document(next));
            }
            equal.insert(key.path, equality(value));
        }
        if let Operation::Find { filter, .. } = &mut request.operation {
            place.insert("$or", behind);
            filter.join(place);
        }
        Ok(())
    }
}

/// The keys of a sort, continued by `_id`, which makes it unique.
fn keys(sort: &Document) -> Result<Vec<Key>> {
    let keys = sort
        .iter()
        .map(|(path, direction)| Key::new(path, direction));
    let mut keys = keys.collect::<Result<Vec<_>>>()?;
    if keys.iter().all(|key| key.path != "_id") {
        let ascending = keys.last().is_none_or(|key| key.ascending);
        keys.push(Key {
            path: "_id".to_owned(),
            ascending,
        });
    }
    Ok(keys)
}

/// The values of the keys in a document.
fn values(keys: &[Key], last: &RawDocument) -> Result<Vec<Bson>> {
    keys.iter().map(|key| key.value(last)).collect()
}

/// One key of the sort.
struct Key {
    path: String,
    ascending: bool,
}

impl Key {
    fn new(path: &str, direction: &Bson) -> Result<Self> {
        let ascending = match direction {
            Bson::Int32(1) => true,
            Bson::Int32(-1) => false,
            other => {
                return Err(Error::usage(format!(
                    "`after` continues a sort by fields, and this one sorts by {other}"
                ))
                .with_path(path));
            }
        };
        Ok(Self {
            path: path.to_owned(),
            ascending,
        })
    }

    fn in_sort(&self) -> (String, Bson) {
        let direction = if self.ascending { 1 } else { -1 };
        (self.path.clone(), Bson::Int32(direction))
    }

    /// The value of the last document, where a missing one sorts as null.
    fn value(&self, last: &RawDocument) -> Result<Bson> {
        let mut at = RawBsonRef::Document(last);
        for name in self.path.split('.') {
            let RawBsonRef::Document(document) = at else {
                return Err(self.refused("has several values or none to sort by"));
            };
            match document.get(name).map_err(Error::encode)? {
                Some(value) => at = value,
                None => return Ok(Bson::Null),
            }
        }
        self.comparable(Bson::try_from(at).map_err(Error::encode)?)
    }

    /// The value, if MongoDB compares it with others.
    fn comparable(&self, value: Bson) -> Result<Bson> {
        match &value {
            Bson::Double(number) if number.is_nan() => {
                Err(self.refused("is not a number, which compares with none"))
            }
            Bson::RegularExpression(_) => {
                Err(self.refused("is a regular expression, which MongoDB compares with none"))
            }
            Bson::Array(_) => Err(self.refused("is an array, which sorts by one of its elements")),
            _ => Ok(value),
        }
    }

    /// The conditions of the documents that this key alone puts behind the value: MongoDB compares values of one type only, and
    /// null sorts before all others.
    fn behind(&self, value: &Bson, model: &ModelMeta) -> Vec<Bson> {
        match (self.ascending, value) {
            (true, Bson::Null) => vec![Bson::Document(doc! {"$ne": null})],
            (true, value) => vec![Bson::Document(doc! {"$gt": value})],
            (false, Bson::Null) => Vec::new(),
            (false, value) => {
                let mut behind = vec![Bson::Document(doc! {"$lt": value})];
                if !self.is_required(model) {
                    behind.push(Bson::Null);
                }
                behind
            }
        }
    }

    /// The range that this key gives a scan of an index: the alternatives of an `$or` give none. None where null is behind all.
    fn start(&self, value: &Bson, model: &ModelMeta) -> Option<Document> {
        match (self.ascending, value) {
            (_, Bson::Null) => None,
            (true, value) => Some(doc! {"$gte": value}),
            (false, value) => self.is_required(model).then(|| doc! {"$lte": value}),
        }
    }

    /// Whether every document has a value there.
    fn is_required(&self, model: &ModelMeta) -> bool {
        let fields = (model.embedded)().fields;
        self.path == "_id"
            || fields.iter().any(|field| {
                field.name == self.path && field.presence == Presence::Always && !field.ty.nullable
            })
    }

    fn refused(&self, reason: &str) -> Error {
        let message = format!("`after` can't continue a sort by this field: its value {reason}");
        Error::usage(message).with_path(self.path.as_str())
    }
}
