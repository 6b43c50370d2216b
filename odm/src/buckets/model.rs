//! What the derive implements for a bucket.

use bson::Bson;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::model::{Document as Model, Embedded, Writable};

/// A struct with `#[odm(bucket(of = Reading, by = sensor, max = 200, span = "1h"))]`: its documents hold many items each.
/// [`Db::buckets`](crate::Db::buckets) inserts and reads them.
///
/// The struct declares the fields that the items of a bucket share (`by`), the start of its span (`start_of`), the list of the
/// items, their number (`item_count`), and what else is kept of them: `smallest`, `largest` and `total` of a field.
///
/// The derive implements it:
///
/// ```
/// use odm::buckets::BucketModel;
/// use odm::prelude::*;
///
/// #[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
/// struct Reading {
///     at: DateTime,
///     celsius: f64,
/// }
///
/// #[derive(Debug, Serialize, Deserialize, Document)]
/// #[odm(collection = "hours", bucket(of = Reading, by = sensor, max = 200, span = "1h"))]
/// struct Hour {
///     #[serde(rename = "_id")]
///     id: Id<Hour>,
///     sensor: String,
///     #[odm(start_of(at))]
///     start: DateTime,
///     readings: Vec<Reading>,
///     #[odm(item_count)]
///     count: i32,
///     #[odm(smallest(celsius))]
///     coldest: f64,
///     #[odm(largest(celsius))]
///     warmest: f64,
///     #[odm(total(celsius))]
///     celsius: f64,
/// }
///
/// fn key_of<M: BucketModel>(key: &M::Key) -> odm::Result<Vec<odm::bson::Bson>> {
///     M::encode_key(key)
/// }
///
/// assert_eq!(key_of::<Hour>(&"s1".to_owned())?, ["s1".into()]);
/// # Ok::<(), odm::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no bucket",
    label = "not declared with `bucket`",
    note = "declare it: `#[odm(collection = \"hours\", bucket(of = Reading, by = sensor, max = 200, span = \"1h\"))]`"
)]
pub trait BucketModel: Model + Writable {
    /// The type of the items.
    type Item: Embedded + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The type of the field that the items of a bucket share; a tuple where there are several.
    type Key;

    /// The type of the start of the span, and of the field by which the items are ordered.
    type Time;

    /// The stored forms of the parts of a key.
    ///
    /// # Errors
    ///
    /// A value can't be encoded.
    fn encode_key(key: &Self::Key) -> Result<Vec<Bson>>;

    /// The stored form of a point in the order of items.
    ///
    /// # Errors
    ///
    /// The value can't be encoded.
    fn encode_time(time: &Self::Time) -> Result<Bson>;
}
