//! Pages of a query, by number, and after a document or its token.

mod declared;
mod find;
mod key;
mod page;
mod place;
mod token;

use bson::{Bson, Document, doc};

use self::key::{Key, keys};
pub use self::page::Page;
pub(super) use self::place::settle;
use self::place::{Given, Place};
pub use self::token::PageToken;
use super::call::equality;
use crate::error::{Error, Result};
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

impl Paging {
    pub(super) fn after<M: Model>(last: Option<&M>) -> Result<Self> {
        let last = last.map(Given::new).transpose()?;
        Ok(Self::After(last.map(Place::Document)))
    }

    /// Whether the pages continue behind a document.
    pub(super) fn is_keyset(&self) -> bool {
        matches!(self, Self::After(_))
    }

    /// Completes the sort, and the filter by the place of the last document.
    pub(super) fn complete(self, request: &mut Request, model: &ModelMeta) -> Result<()> {
        let collation = request.options.collation.is_some();
        let sort = request.options.sort.get_or_insert_default();
        let place = match self {
            Self::Numbered => {
                key::make_total(sort, model, collation);
                return Ok(());
            }
            Self::After(place) => place,
        };
        let keys = keys(sort, model, collation)?;
        *sort = keys.iter().map(Key::in_sort).collect();
        let Some(place) = place else { return Ok(()) };
        let values = place.known(&keys)?;
        if let Operation::Find { filter, .. } = &mut request.operation {
            filter.join(behind(&keys, values));
        }
        Ok(())
    }
}

/// The condition of the documents after these values: one alternative for each key that can be the first to differ.
///
/// Each alternative is one range of an index, so that MongoDB merges sorted scans of an index on these keys.
fn behind(keys: &[Key], values: Vec<Bson>) -> Document {
    let mut alternatives = Vec::new();
    let mut equal = Document::new();
    for (key, value) in keys.iter().zip(values) {
        let mut alternative = equal.clone();
        alternative.extend(key.behind(&value));
        alternatives.push(alternative);
        equal.insert(key.path.as_str(), equality(value));
    }
    if alternatives.len() == 1 {
        alternatives.pop().unwrap_or_default()
    } else {
        doc! {"$or": alternatives}
    }
}

fn can_not_continue(path: &str, reason: &str) -> Error {
    let message = format!("`after` can't continue a sort by this field: {reason}");
    Error::usage(message).with_path(path)
}
