//! Structs that hold a part of a document.

use bson::Bson;
use bson::raw::{RawBsonRef, RawDocument};
use serde::de::DeserializeOwned;

use super::Embedded;
use crate::error::{Error, Result};

/// A struct that `select` reads instead of whole documents: derive it with
/// `#[derive(Projection)]` and `#[odm(of = Book)]`, which checks names and types against the model.
///
/// A part of an embedded struct is a projection of that struct, as a field of another projection.
///
/// ```
/// use odm::model::Projection as _;
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     title: String,
///     publisher: Publisher,
/// }
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Publisher {
///     name: String,
///     address: String,
/// }
///
/// #[derive(Deserialize, Projection)]
/// #[odm(of = Book)]
/// struct Line {
///     title: String,
///     publisher: Name,
/// }
///
/// #[derive(Deserialize, Projection)]
/// #[odm(of = Publisher)]
/// struct Name {
///     name: String,
/// }
///
/// # fn main() -> odm::Result<()> {
/// let books = Db::memory().collection::<Book>();
/// assert_eq!(
///     books.find_all().select::<Line>().command()?.get_document("projection").ok(),
///     Some(&doc! {"_id": 0, "title": 1, "publisher.name": 1}),
/// );
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a projection",
    label = "a whole document would be sent for it",
    note = "derive it: `#[derive(Deserialize, Projection)]` with `#[odm(of = Model)]`"
)]
pub trait Projection: DeserializeOwned {
    /// The model whose documents this struct reads, or the embedded struct of which it reads a part.
    type Of: Embedded;

    /// The fields that the projection requests. MongoDB returns `_id` only if it is among them.
    const FIELDS: &'static [ProjectedField];
}

/// A field that a [`Projection`] requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectedField {
    /// The stored name.
    pub name: &'static str,
    /// The fields inside it, if it is a projection of an embedded struct; otherwise the field is read whole.
    pub fields: &'static [ProjectedField],
}

/// The part of a document that a projection reads.
pub(crate) fn part(document: &RawDocument, fields: &[ProjectedField]) -> Result<bson::Document> {
    let mut part = bson::Document::new();
    for field in fields {
        if let Ok(Some(value)) = document.get(field.name) {
            part.insert(field.name, part_of_value(value, field.fields)?);
        }
    }
    Ok(part)
}

/// The part of a subdocument, or of each in a list; the whole value where `fields` names none.
fn part_of_value(value: RawBsonRef<'_>, fields: &[ProjectedField]) -> Result<Bson> {
    match value {
        RawBsonRef::Document(inner) if !fields.is_empty() => part(inner, fields).map(Bson::from),
        RawBsonRef::Array(items) if !fields.is_empty() => items
            .into_iter()
            .map(|item| part_of_value(item.map_err(Error::encode)?, fields))
            .collect::<Result<Vec<_>>>()
            .map(Bson::from),
        whole => Bson::try_from(whole).map_err(Error::encode),
    }
}
