//! Changes of a single field.

use bson::{Bson, Decimal128};

use super::Update;
use crate::error::{Error, Result, UsageError};
use crate::model::{Path, Segment};
use crate::query::compare::stored_path;
use crate::query::kind::{Additive, Integer, Multiple, Number, Optional, Temporal};
use crate::query::typing::NamesKeys;
use crate::query::{Encode, Field, IntoValue};

impl<M, T, E: Encode<T>> Field<M, T, E> {
    /// Stores `value`: `{$set: {field: value}}`.
    ///
    /// `set(None)` stores `null`; [`unset`](Self::unset) removes the field. MongoDB never reads the value as
    /// an operator. Sending fails if a list in the value is longer than the maximum that it declares.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     title: String,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.title.set("Ulysses").to_document()?, doc! {"$set": {"title": "Ulysses"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn set(&self, value: impl IntoValue<T>) -> Update<M> {
        Update::operator(self.path(), "$set", Self::encode(value))
    }

    /// Stores `value` if the update inserts the document (an upsert): `{$setOnInsert: {field: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.set_on_insert(1922).to_document()?, doc! {"$setOnInsert": {"year": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn set_on_insert(&self, value: impl IntoValue<T>) -> Update<M> {
        Update::operator(self.path(), "$setOnInsert", Self::encode(value))
    }

    /// Stores `value` if it is less than the stored value: `{$min: {field: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.min(1922).to_document()?, doc! {"$min": {"year": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn min(&self, value: impl IntoValue<T>) -> Update<M> {
        Update::operator(self.path(), "$min", Self::encode(value))
    }

    /// Stores `value` if it is greater than the stored value: `{$max: {field: value}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.year.max(1922).to_document()?, doc! {"$max": {"year": 1922}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn max(&self, value: impl IntoValue<T>) -> Update<M> {
        Update::operator(self.path(), "$max", Self::encode(value))
    }

    /// Adds `value`: `{$inc: {field: value}}`. A missing field counts as 0.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     available: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.available.inc(-1).to_document()?, doc! {"$inc": {"available": -1}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn inc(&self, value: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T, Stored: Additive>,
    {
        Update::operator(self.path(), "$inc", operand(Self::encode(value)))
    }

    /// Subtracts `value`: `{$inc: {field: -value}}`. Unsigned fields have it, too.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     stock: u16,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.stock.dec(1).to_document()?, doc! {"$inc": {"stock": -1}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn dec(&self, value: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T, Stored: Additive>,
    {
        Update::operator(
            self.path(),
            "$inc",
            operand(Self::encode(value)).and_then(|value| negate(&value)),
        )
    }

    /// Multiplies by `value`: `{$mul: {field: value}}`. A missing field counts as 0.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { stock: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.stock.mul(2).to_document()?, doc! {"$mul": {"stock": 2}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn mul(&self, value: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T, Stored: Number>,
    {
        Update::operator(self.path(), "$mul", operand(Self::encode(value)))
    }

    /// Multiplies an amount of money by a whole number: `{$mul: {field: factor}}`. A missing field counts as 0. MongoDB
    /// refuses a product beyond 64 bits.
    ///
    /// ```
    /// use odm::money::{Money, Usd};
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Order {
    ///     total: Money<Usd>,
    /// }
    ///
    /// let order = fields::<Order>();
    /// assert_eq!(order.total.times(2).to_document()?, doc! {"$mul": {"total": 2_i64}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn times(&self, factor: i64) -> Update<M>
    where
        E: Encode<T, Stored: Multiple>,
    {
        Update::operator(self.path(), "$mul", Ok(Bson::Int64(factor)))
    }

    /// Keeps the bits that are 1 in `mask`: `{$bit: {field: {and: mask}}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { mode: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.mode.bit_and(0b10).to_document()?, doc! {"$bit": {"mode": {"and": 2}}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bit_and(&self, mask: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T, Stored: Integer>,
    {
        Update::operator(self.path(), "$bit", bit("and", Self::encode(mask)))
    }

    /// Sets the bits that are 1 in `mask`: `{$bit: {field: {or: mask}}}`.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct File {
    ///     mode: i32,
    /// }
    ///
    /// let file = fields::<File>();
    /// assert_eq!(file.mode.bit_or(0b10).to_document()?, doc! {"$bit": {"mode": {"or": 2}}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bit_or(&self, mask: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T, Stored: Integer>,
    {
        Update::operator(self.path(), "$bit", bit("or", Self::encode(mask)))
    }

    /// Flips the bits that are 1 in `mask`: `{$bit: {field: {xor: mask}}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { mode: i32 }
    /// let book = fields::<Book>();
    /// assert_eq!(book.mode.bit_xor(0b10).to_document()?, doc! {"$bit": {"mode": {"xor": 2}}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn bit_xor(&self, mask: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T, Stored: Integer>,
    {
        Update::operator(self.path(), "$bit", bit("xor", Self::encode(mask)))
    }
}

impl<M, T, E> Field<M, T, E> {
    /// Removes the field: `{$unset: {field: ""}}`. Only for an `Option`, because a document without any other
    /// field can't be read.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     note: Option<String>,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.note.unset().to_document()?, doc! {"$unset": {"note": ""}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn unset(&self) -> Update<M>
    where
        T: Optional,
    {
        self.unset_to_default()
    }

    /// Removes a field that has `#[serde(default)]`, so that it is read as its default:
    /// `{$unset: {field: ""}}`.
    ///
    /// If the field has no default, the document can't be read any more.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { #[serde(default)] tags: Vec<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.tags.unset_to_default().to_document()?, doc! {"$unset": {"tags": ""}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn unset_to_default(&self) -> Update<M> {
        Update::operator(self.path(), "$unset", Ok(Bson::String(String::new())))
    }

    /// Moves the value to another field of the same type: `{$rename: {field: "other"}}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { note: Option<String>, remark: Option<String> }
    /// let book = fields::<Book>();
    /// assert_eq!(book.note.rename(&book.remark).to_document()?, doc! {"$rename": {"note": "remark"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn rename<F>(&self, to: &Field<M, T, F>) -> Update<M> {
        let target = stored_path(to.path()).map_err(|error| error.to_error());
        Update::operator(self.path(), "$rename", target.map(Bson::String))
    }

    /// Stores the server's time: `{$currentDate: {field: true}}`, or `{$type: "timestamp"}` for a
    /// [`bson::Timestamp`].
    ///
    /// ```
    /// use bson::Timestamp;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     sold: Option<DateTime>,
    ///     at: Timestamp,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(book.sold.current_date().to_document()?, doc! {"$currentDate": {"sold": true}});
    /// assert_eq!(
    ///     book.at.current_date().to_document()?,
    ///     doc! {"$currentDate": {"at": {"$type": "timestamp"}}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn current_date(&self) -> Update<M>
    where
        E: Encode<T, Stored: Temporal>,
    {
        let value = match <E::Stored as Temporal>::KIND {
            "date" => Bson::Boolean(true),
            kind => Bson::Document(bson::doc! {"$type": kind}),
        };
        Update::operator(self.path(), "$currentDate", Ok(value))
    }

    /// Removes the entry under `key` from a map: `{$unset: {"field.key": ""}}`.
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
    /// assert_eq!(book.stock.remove_key("Graz").to_document()?, doc! {"$unset": {"stock.Graz": ""}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn remove_key<K>(&self, key: K) -> Update<M>
    where
        E: NamesKeys<T, K>,
    {
        remove_key(self.path(), E::name(key))
    }
}

fn remove_key<M>(map: &Path, key: String) -> Update<M> {
    let path = map.then(Segment::Name(key.into()));
    Update::operator(&path, "$unset", Ok(Bson::String(String::new())))
}

/// Refuses the `None` of an `Option` field, which is not a number to calculate with.
fn operand(value: Result<Bson>) -> Result<Bson> {
    if let Ok(Bson::Null) = value {
        return Err(usage("`None` is not a number to calculate with"));
    }
    value
}

fn negate(value: &Bson) -> Result<Bson> {
    let negated = match value {
        Bson::Double(number) => Some(Bson::Double(-number)),
        Bson::Int32(number) => number.checked_neg().map(Bson::Int32),
        Bson::Int64(number) => number.checked_neg().map(Bson::Int64),
        Bson::Decimal128(number) => {
            let mut bytes = number.bytes();
            let [.., last] = &mut bytes;
            *last ^= 0x80;
            Some(Bson::Decimal128(Decimal128::from_bytes(bytes)))
        }
        _ => None,
    };
    negated.ok_or_else(|| usage(&format!("{value} can't be negated")))
}

fn bit(operation: &str, mask: Result<Bson>) -> Result<Bson> {
    let mask = operand(mask)?;
    Ok(Bson::Document(bson::doc! {operation: mask}))
}

fn usage(message: &str) -> Error {
    Error::new(UsageError::new(message))
}
