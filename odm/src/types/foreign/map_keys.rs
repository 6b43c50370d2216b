//! Maps whose keys are integers or ids, for `#[serde(with = "odm::map_keys")]`.
//!
//! BSON stores the keys of a map as names of fields, so they are text. This module writes the text of a key, and reads it
//! back: decimal digits for integers, 24 hexadecimal digits for an `ObjectId` or an [`Id`], the usual 36
//! characters for a UUID. A [`Ref`] has the text of the id that it holds. Maps whose keys are strings, or enums without contents,
//! need no module.
//!
//! The names sort as text, so a `BTreeMap<i32, _>` is stored in the order of its numbers, and an index sees `10` before `9`.
//! A name that is not the text of any key, such as `007` or `+7`, is an error when it is read.
//!
//! ```
//! use std::collections::BTreeMap;
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "shops")]
//! struct Shop {
//!     #[serde(rename = "_id")]
//!     id: String,
//!     /// The number of copies of each book.
//!     #[serde(with = "odm::map_keys")]
//!     stock: BTreeMap<Ref<Book>, i32>,
//!     /// Visitors by the hour of the day.
//!     #[serde(with = "odm::map_keys")]
//!     visitors: BTreeMap<u8, u32>,
//! }
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "books")]
//! struct Book {
//!     #[serde(rename = "_id")]
//!     id: Id<Book>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let db = Db::memory();
//! let shops = db.collection::<Shop>();
//! let book = Book { id: Id::new() };
//! let stock = [(Ref::to(&book), 3)].into();
//! shops.insert_one(&Shop { id: "Graz".into(), stock, visitors: [(9, 40), (10, 55)].into() }).await?;
//! // {_id: "Graz", stock: {"6561…": 3}, visitors: {"9": NumberLong(40), "10": NumberLong(55)}}
//!
//! shops.update_one(|s| s.id.eq("Graz"), |s| s.stock.key(&book).inc(-1) & s.visitors.remove_key(10)).await?;
//! let shop = shops.find_one(|s| s.stock.key(&book).lt(3) & s.visitors.key(9).gte(40)).await?.ok_or("none")?;
//! assert_eq!((shop.stock[&Ref::to(&book)], shop.visitors.len()), (2, 1));
//! # Ok(())
//! # }
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;

use bson::Bson;
use bson::oid::ObjectId;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::form::Form;
use crate::codec::decode;
use crate::model::{Document, FieldType, Path, Shape, TypeMeta};
use crate::query::typing::{EntryEncoder, NamesKeys};
use crate::query::{Decode, Field, With};
use crate::types::{Id, Ref};

/// A key with a text that can be read back; maps of such keys have `#[serde(with = "odm::map_keys")]`.
///
/// Implemented for integers, ids and references. Implement it for a newtype of your own:
///
/// ```
/// use odm::map_keys::TextKey;
///
/// #[derive(PartialEq, Eq, PartialOrd, Ord)]
/// struct Shelf(u16);
///
/// impl TextKey for Shelf {
///     fn to_text(&self) -> String {
///         self.0.to_text()
///     }
///
///     fn from_text(text: &str) -> Option<Self> {
///         u16::from_text(text).map(Shelf)
///     }
/// }
///
/// assert_eq!(Shelf(12).to_text(), "12");
/// assert!(Shelf::from_text("upper").is_none());
/// ```
#[diagnostic::on_unimplemented(
    message = "`odm::map_keys` has no text for a key of type `{Self}`",
    label = "not an integer, an id or a reference",
    note = "a map whose keys are strings, or enums without contents, needs no `with`; for a newtype, implement `odm::map_keys::TextKey`"
)]
pub trait TextKey: Sized {
    /// The text. Different keys have different texts.
    ///
    /// ```
    /// # use odm::map_keys::TextKey;
    /// # use odm::prelude::*;
    /// let id = ObjectId::new();
    /// assert_eq!((7_u8.to_text(), id.to_text()), ("7".to_owned(), id.to_hex()));
    /// ```
    fn to_text(&self) -> String;

    /// The key with this text; `None` if it is not the text of any key.
    ///
    /// ```
    /// # use odm::map_keys::TextKey;
    /// assert_eq!(u8::from_text("7"), Some(7));
    /// assert_eq!(u8::from_text("300"), None);
    /// ```
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl TextKey for $type {
            fn to_text(&self) -> String {
                self.to_string()
            }

            fn from_text(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

integers!(
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

impl TextKey for ObjectId {
    fn to_text(&self) -> String {
        self.to_hex()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse_str(text).ok()
    }
}

impl TextKey for bson::Uuid {
    fn to_text(&self) -> String {
        self.to_string()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse_str(text).ok()
    }
}

#[cfg(feature = "uuid_1")]
impl TextKey for uuid::Uuid {
    fn to_text(&self) -> String {
        self.to_string()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse_str(text).ok()
    }
}

impl<T> TextKey for Id<T> {
    fn to_text(&self) -> String {
        self.to_hex()
    }

    fn from_text(text: &str) -> Option<Self> {
        ObjectId::from_text(text).map(Self::from_object_id)
    }
}

impl<T: Document<Id: TextKey>> TextKey for Ref<T> {
    fn to_text(&self) -> String {
        self.id().to_text()
    }

    fn from_text(text: &str) -> Option<Self> {
        T::Id::from_text(text).map(Self::from)
    }
}

/// A map with [keys](TextKey) that this module writes as text.
#[diagnostic::on_unimplemented(
    message = "`odm::map_keys` does not store a `{Self}`",
    label = "not a `BTreeMap` or a `HashMap`, nor an `Option` of one",
    note = "a map in a list or in another map has its `with` on the field of a struct that derives `Embedded`"
)]
pub trait TextKeyed: Sized {
    /// The type of the keys.
    type Key;
    /// The type of the values.
    type Value;

    #[doc(hidden)]
    const NULLABLE: bool = false;

    #[doc(hidden)]
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>
    where
        Self::Value: Serialize;

    #[doc(hidden)]
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>
    where
        Self::Value: Deserialize<'de>;
}

macro_rules! maps {
    ($([$($generics:tt)*] $map:ty;)*) => {$(
        impl<$($generics)*, V> TextKeyed for $map {
            type Key = K;
            type Value = V;

            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                V: Serialize,
            {
                let mut map = serializer.serialize_map(Some(self.len()))?;
                for (key, value) in self {
                    map.serialize_entry(&key.to_text(), value)?;
                }
                map.end()
            }

            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>
            where
                V: Deserialize<'de>,
            {
                deserializer.deserialize_map(Entries(PhantomData))
            }
        }
    )*};
}

maps! {
    [K: TextKey + Ord] BTreeMap<K, V>;
    [K: TextKey + Eq + Hash, H: BuildHasher + Default] HashMap<K, V, H>;
}

impl<T: TextKeyed> TextKeyed for Option<T> {
    type Key = T::Key;
    type Value = T::Value;
    const NULLABLE: bool = true;

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>
    where
        T::Value: Serialize,
    {
        match self {
            Some(map) => map.write(serializer),
            None => serializer.serialize_none(),
        }
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>
    where
        T::Value: Deserialize<'de>,
    {
        deserializer.deserialize_option(Nullable(PhantomData))
    }
}

/// Reads a map of keys `K` and values `V` into `T`.
struct Entries<K, V, T>(PhantomData<(K, V, T)>);

impl<'de, K, V, T> Visitor<'de> for Entries<K, V, T>
where
    K: TextKey,
    V: Deserialize<'de>,
    T: FromIterator<(K, V)>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0).min(1_000));
        while let Some(text) = map.next_key::<String>()? {
            // Accepts only canonical text, so that `7` and `007` are not the same key.
            let key = K::from_text(&text).filter(|key| key.to_text() == text);
            let Some(key) = key else {
                return Err(A::Error::custom(format!(
                    "{text:?} is not the text of a key of this map, a `{}`",
                    std::any::type_name::<K>()
                )));
            };
            entries.push((key, map.next_value()?));
        }
        Ok(entries.into_iter().collect())
    }
}

/// Reads a map or null.
struct Nullable<T>(PhantomData<fn() -> T>);

impl<'de, T: TextKeyed<Value: Deserialize<'de>>> Visitor<'de> for Nullable<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map or null")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        T::read(deserializer).map(Some)
    }
}

/// What the derives read of this module.
#[doc(hidden)]
pub type OdmStored = KeysAsText;

/// How this module stores a map.
#[doc(hidden)]
#[derive(Debug)]
pub enum KeysAsText {}

/// Writes a map; for `#[serde(with = "odm::map_keys")]`.
///
/// # Errors
///
/// A value can't be written.
pub fn serialize<T, S>(map: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: TextKeyed<Value: Serialize>,
    S: Serializer,
{
    map.write(serializer)
}

/// Reads a map; for `#[serde(with = "odm::map_keys")]`.
///
/// # Errors
///
/// A name is not the text of a key, or a value can't be read.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TextKeyed<Value: Deserialize<'de>>,
    D: Deserializer<'de>,
{
    T::read(deserializer)
}

impl<T: TextKeyed<Value: FieldType>> Form<T> for KeysAsText {
    type Stored = BTreeMap<String, T::Value>;
    type OfNewtype = BTreeMap<String, T::Value>;
    type Handle<M, E> = Field<M, T, With<E>>;
    const TYPE: TypeMeta = {
        let map = TypeMeta::of(Shape::Map(&<T::Value as FieldType>::TYPE));
        if T::NULLABLE { map.optional() } else { map }
    };
    const IS_DECLARED: bool = true;

    #[inline]
    fn handle<M, E>(path: Path) -> Self::Handle<M, E> {
        Field::at_path(path)
    }
}

impl<T: TextKeyed<Value: DeserializeOwned>> Decode<T> for KeysAsText {
    fn decode(stored: Bson) -> Result<T, bson::error::Error> {
        decode::value(stored).map(|Kept(map)| map)
    }
}

/// A map that this module reads.
struct Kept<T>(T);

impl<'de, T: TextKeyed<Value: Deserialize<'de>>> Deserialize<'de> for Kept<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

impl<T: TextKeyed, K: KeyOf<T::Key>> NamesKeys<T, K> for KeysAsText {
    fn name(key: K) -> String {
        key.text()
    }
}

impl<T: TextKeyed<Value: FieldType>> EntryEncoder<T> for KeysAsText {
    type Handle<M> = <T::Value as FieldType>::Handle<M, T::Value>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        T::Value::handle(path)
    }
}

/// A value that names an entry of a map whose keys are `K`: a `K`, or for a `Ref` also the document or its
/// [`Id`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key of a map from `{K}`",
    label = "expected a `{K}`"
)]
pub trait KeyOf<K> {
    #[doc(hidden)]
    fn text(&self) -> String;
}

impl<K: TextKey> KeyOf<K> for K {
    fn text(&self) -> String {
        self.to_text()
    }
}

impl<K: TextKey> KeyOf<K> for &K {
    fn text(&self) -> String {
        self.to_text()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Document<Id: TextKey>> KeyOf<Ref<T>> for &T {
    fn text(&self) -> String {
        Document::id(*self).to_text()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Document<Id = Self>> KeyOf<Ref<T>> for Id<T> {
    fn text(&self) -> String {
        self.to_text()
    }
}
