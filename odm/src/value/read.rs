//! Structs out of raw BSON, as bson's own deserializer reads them.
//!
//! Most of a document is numbers, strings, dates, arrays and documents: these are visited here, on one walk over the bytes.
//! Whatever else there is, bson visits, so that there is one account of how binaries and their like look to serde.
//!
//! What this module is not: it explains no failure. Where it fails, bson's deserializer says why.

mod date;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use bson::RawDeserializer;
use bson::error::Error;
use bson::spec::ElementType;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, IntoDeserializer,
    MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use self::date::Date;
use crate::value::raw::{self, Elements};

/// Reads a document.
pub(crate) fn read<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Result<T, Error> {
    T::deserialize(Reader { document })
}

/// The names by which bson's own types ask its deserializer for more than serde has words for.
fn is_private(name: &str) -> bool {
    name.starts_with("$__")
}

/// A document that is to be read.
struct Reader<'de> {
    document: &'de [u8],
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let document = self.document;
        let meeting = Meeting { visitor, document };
        RawDeserializer::new(document)?.deserialize_any(meeting)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if is_private(name) {
            return RawDeserializer::new(self.document)?.deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        RawDeserializer::new(self.document)?.deserialize_enum(name, variants, visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Takes bson's access to a document, and gives the visitor ours.
struct Meeting<'de, V> {
    visitor: V,
    document: &'de [u8],
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Meeting<'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let fields = Fields::new(self.document, access);
        self.visitor.visit_map(fields)
    }
}

/// The same for an array, which is a document whose names are not asked for.
struct ArrayMeeting<'de, V>(Meeting<'de, V>);

impl<'de, V: Visitor<'de>> Visitor<'de> for ArrayMeeting<'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let fields = Fields::new(self.0.document, access);
        self.0.visitor.visit_seq(fields)
    }
}

/// The fields of a document, or the elements of an array.
struct Fields<'de, A> {
    /// Those that are still to come.
    elements: Elements<'de>,
    /// The value whose turn it is.
    tag: u8,
    value: &'de [u8],
    /// bson's walk over the same elements, and how many steps it is behind.
    access: A,
    behind: usize,
}

impl<'de, A: MapAccess<'de>> Fields<'de, A> {
    fn new(document: &'de [u8], access: A) -> Self {
        Self {
            elements: Elements::new(document),
            tag: 0,
            value: &[],
            access,
            behind: 0,
        }
    }

    /// Goes on to the next element, whose name is the answer.
    #[inline]
    fn advance(&mut self) -> Result<Option<&'de [u8]>, A::Error> {
        self.behind += 1;
        match self.elements.next() {
            Some(element) => {
                self.tag = element.tag();
                self.value = element.value_bytes();
                Ok(Some(element.key_bytes()))
            }
            None if self.elements.is_at_end() => Ok(None),
            None => Err(malformed()),
        }
    }

    #[inline]
    fn value<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        seed.deserialize(Value {
            tag: self.tag,
            bytes: self.value,
            access: &mut self.access,
            behind: &mut self.behind,
        })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.advance()? else {
            return Ok(None);
        };
        seed.deserialize(Key(key, PhantomData)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.value(seed)
    }
}

impl<'de, A: MapAccess<'de>> SeqAccess<'de> for Fields<'de, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        match self.advance()? {
            Some(_) => self.value(seed).map(Some),
            None => Ok(None),
        }
    }
}

/// The name of a field.
struct Key<'de, E>(&'de [u8], PhantomData<E>);

impl<'de, E: serde::de::Error> Deserializer<'de> for Key<'de, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match str::from_utf8(self.0) {
            Ok(name) => visitor.visit_borrowed_str(name),
            Err(_) => Err(malformed()),
        }
    }

    /// The fields of a struct are known by their bytes: these need no second look.
    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_borrowed_bytes(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        let key = str::from_utf8(self.0).map_err(|_| malformed())?;
        BorrowedStrDeserializer::new(key).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct ignored_any
    }
}

const STRING: u8 = ElementType::String as u8;
const NULL: u8 = ElementType::Null as u8;
const OBJECT_ID: u8 = ElementType::ObjectId as u8;

/// One value, and bson's way to it.
struct Value<'a, 'de, A> {
    tag: u8,
    bytes: &'de [u8],
    access: &'a mut A,
    behind: &'a mut usize,
}

impl<'de, A: MapAccess<'de>> Value<'_, 'de, A> {
    /// Leaves the value to bson.
    fn leave<V: Visitor<'de>>(self, visitor: V, asked: Asked) -> Result<V::Value, A::Error> {
        for _ in 0..std::mem::take(self.behind) {
            self.access.next_key::<IgnoredAny>()?;
        }
        self.access.next_value_seed(Left { visitor, asked })
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Value<'_, 'de, A> {
    type Error = A::Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        let bytes = self.bytes;
        match self.tag {
            0x01 => visitor.visit_f64(f64::from_le_bytes(fixed(bytes)?)),
            STRING => match raw::string(bytes) {
                Some(value) => visitor.visit_borrowed_str(value),
                None => Err(malformed()),
            },
            0x03 => {
                let meeting = Meeting {
                    visitor,
                    document: bytes,
                };
                let met = whole(bytes)?.deserialize_any(meeting);
                met.map_err(A::Error::custom)
            }
            0x04 => {
                let meeting = ArrayMeeting(Meeting {
                    visitor,
                    document: bytes,
                });
                let met = whole(bytes)?.deserialize_any(meeting);
                met.map_err(A::Error::custom)
            }
            0x08 => match bytes {
                [0] => visitor.visit_bool(false),
                [1] => visitor.visit_bool(true),
                _ => Err(malformed()),
            },
            0x09 => visitor.visit_map(Date::new(i64::from_le_bytes(fixed(bytes)?))),
            NULL => visitor.visit_unit(),
            0x10 => visitor.visit_i32(i32::from_le_bytes(fixed(bytes)?)),
            0x12 => visitor.visit_i64(i64::from_le_bytes(fixed(bytes)?)),
            _ => self.leave(visitor, Asked::Any),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        match self.tag {
            NULL => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        match self.tag {
            OBJECT_ID => visitor.visit_borrowed_bytes(self.bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        if is_private(name) {
            return self.leave(visitor, Asked::Newtype(name));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        match self.tag {
            STRING => match raw::string(self.bytes) {
                Some(variant) => visitor.visit_enum(Cow::Borrowed(variant).into_deserializer()),
                None => Err(malformed()),
            },
            _ => self.leave(visitor, Asked::Enum(name, variants)),
        }
    }

    /// Nobody looks at it, so neither do we.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }
}

fn fixed<const N: usize, E: serde::de::Error>(bytes: &[u8]) -> Result<[u8; N], E> {
    bytes.try_into().map_err(|_| malformed())
}

fn whole<E: serde::de::Error>(document: &[u8]) -> Result<RawDeserializer<'_>, E> {
    RawDeserializer::new(document).map_err(E::custom)
}

/// Which of a deserializer's methods was called.
enum Asked {
    Any,
    Newtype(&'static str),
    Enum(&'static str, &'static [&'static str]),
}

/// What is left to bson: the same call on its deserializer.
struct Left<V> {
    visitor: V,
    asked: Asked,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Left<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        match self.asked {
            Asked::Any => deserializer.deserialize_any(self.visitor),
            Asked::Newtype(name) => deserializer.deserialize_newtype_struct(name, self.visitor),
            Asked::Enum(name, variants) => {
                deserializer.deserialize_enum(name, variants, self.visitor)
            }
        }
    }
}

#[cold]
fn malformed<E: serde::de::Error>() -> E {
    E::custom("malformed BSON")
}
