//! Handles for the entries of maps.

use super::encode::{BySerde, Marked, With};
use super::field::Field;
use super::kind::Keyed;
use crate::model::{FieldType, Path, Segment};

impl<M, T, E> Field<M, T, E> {
    /// The entry under `key`. With `#[serde(with = "odm::map_keys")]`, the key is a number, an id or a reference.
    ///
    /// Sending the filter or update fails for a key that MongoDB can't address: an empty one, or one with a
    /// dot or a leading `$`.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     stock: HashMap<String, i32>,
    ///     #[serde(with = "odm::map_keys")]
    ///     loans_by_year: HashMap<i32, u32>,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.stock.key("Graz").gt(3).to_document()?, doc! {"stock.Graz": {"$gt": 3}});
    /// assert_eq!(book.stock.key("Graz").inc(1).to_document()?, doc! {"$inc": {"stock.Graz": 1}});
    /// assert!(book.stock.key("$where").gt(3).to_document().is_err());
    /// assert_eq!(book.loans_by_year.key(2026).gt(3).to_document()?, doc! {"loans_by_year.2026": {"$gt": 3_i64}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn key<K>(&self, key: K) -> E::Handle<M>
    where
        E: NamesKeys<T, K> + EntryEncoder<T>,
    {
        let entry = self.path().then(Segment::Name(E::name(key).into()));
        E::handle(entry.optional())
    }
}

/// How to reach the entries of a map `T` that this encoder encodes.
#[diagnostic::on_unimplemented(
    message = "the entries of a field declared as `{T}` can't be reached one by one",
    label = "`key` is for `HashMap`, `BTreeMap` and `bson::Document`",
    note = "if the module after `with` stores a map, only odm's own modules and those made by `odm::serializer!` say how it stores one value"
)]
pub trait EntryEncoder<T> {
    /// The typed handle of the value of an entry, in a model `M`.
    type Handle<M>;

    /// The handle for the value at `path`.
    #[doc(hidden)]
    fn handle<M>(path: Path) -> Self::Handle<M>;
}

impl<T: Keyed> EntryEncoder<T> for BySerde {
    type Handle<M> = <T::Value as FieldType>::Handle<M, T::Value>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        T::Value::handle(path)
    }
}

impl<T, W: Marked<Marker: EntryEncoder<T>>> EntryEncoder<T> for With<W> {
    type Handle<M> = <W::Marker as EntryEncoder<T>>::Handle<M>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        W::Marker::handle(path)
    }
}

/// An encoder of maps whose keys a `K` can name.
pub trait NamesKeys<T, K> {
    /// The name of the field that is stored for the key.
    #[doc(hidden)]
    fn name(key: K) -> String;
}

impl<T: Keyed, K: Into<String>> NamesKeys<T, K> for BySerde {
    fn name(key: K) -> String {
        key.into()
    }
}

impl<T, K, W: Marked<Marker: NamesKeys<T, K>>> NamesKeys<T, K> for With<W> {
    fn name(key: K) -> String {
        W::Marker::name(key)
    }
}
