//! Handles for the entries of maps.

use super::encode::{BySerde, Marked, With};
use super::field::Field;
use super::kind::Keyed;
use crate::model::{FieldType, Segment};

impl<M, T> Field<M, T> {
    /// The entry under `key`.
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
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.stock.key("Graz").gt(3).to_document()?, doc! {"stock.Graz": {"$gt": 3}});
    /// assert_eq!(book.stock.key("Graz").inc(1).to_document()?, doc! {"$inc": {"stock.Graz": 1}});
    /// assert!(book.stock.key("$where").gt(3).to_document().is_err());
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn key(&self, key: impl Into<String>) -> <T::Value as FieldType>::Handle<M, T::Value>
    where
        T: Keyed,
    {
        let key: String = key.into();
        T::Value::handle(self.path().then(Segment::Name(key.into())))
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
