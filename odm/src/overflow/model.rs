//! The trait that the derive implements for overflow documents.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::{Document as Model, FieldType, Writable};

/// A struct with `#[odm(overflow(list = readers, by = book, number = number, max = 1_000))]`: its documents hold the elements that a
/// list of another document has no room for. [`Db::overflow`](crate::Db::overflow) pushes and reads them.
///
/// The struct declares a reference to the other document (`by`), the number of an overflow document among those of one document
/// (`number`), and a list of the same name and type as in the other struct (`list`).
///
/// The derive implements it:
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/readers.rs"));
/// use odm::overflow::OverflowModel;
///
/// fn collections<M: OverflowModel>() -> [&'static str; 2] {
///     [M::Of::MODEL.collection, M::MODEL.collection]
/// }
///
/// # fn main() {
/// assert_eq!(collections::<MoreReaders>(), ["books", "more_readers"]);
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no overflow of a list",
    label = "not declared with `overflow`",
    note = "declare it: `#[odm(collection = \"more_readers\", overflow(list = readers, by = book, number = number, max = 1_000))]`"
)]
pub trait OverflowModel: Model + Writable {
    /// The model whose documents' lists overflow.
    type Of: Model + Writable;

    /// The type of the elements.
    type Item: FieldType + Serialize + DeserializeOwned + Send + Sync + 'static;
}
