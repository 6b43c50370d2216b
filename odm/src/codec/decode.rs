//! Decodes raw BSON into structs, with the same results as bson's own deserializer.
//!
//! This module decodes numbers, strings, dates, arrays and documents in one pass over the bytes. [`lent`] passes all
//! other values to bson, which defines how binaries and other rare types look to serde.
//!
//! Unlike bson, it reads maps whose keys are newtypes, such as `BTreeMap<Email, i32>`, and refuses documents that a `Bson` would
//! read as another value ([`marks`]).

mod date;
mod fault;
mod lent;
mod marks;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::marker::PhantomData;

use bson::error::Error as BsonError;
use bson::spec::ElementType;
use bson::{Bson, RawDeserializer, doc};
use odm_language::value::raw::{self, Elements};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use self::date::Date;
pub(crate) use self::fault::Failed;
use self::fault::Fault;
use self::lent::Asked;

/// Decodes a document.
pub(crate) fn read<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Result<T, Failed> {
    T::deserialize(Reader::new(document))
}

/// Decodes a document with field names as text, which flattened maps with enum keys require. On failure, it reports
/// the path and the reason.
pub(crate) fn trace<'de, T: Deserialize<'de>>(
    document: &'de [u8],
) -> Result<T, serde_path_to_error::Error<BsonError>> {
    serde_path_to_error::deserialize(Reader::new(document))
}

/// Decodes a value as the field of a document. bson's own deserializer of values claims to be a text format, for which a type
/// may have another form.
pub(crate) fn value<T: DeserializeOwned>(value: Bson) -> Result<T, BsonError> {
    #[derive(serde::Deserialize)]
    struct Only<T> {
        value: T,
    }

    let document = bson::serialize_to_vec(&doc! {"value": value})?;
    Only::deserialize(Reader::new(&document)).map(|only| only.value)
}

/// Converts a result of bson's deserializer.
#[inline]
fn theirs<T, E: Fault, F: serde::de::Error>(result: Result<T, F>) -> Result<T, E> {
    result.map_err(E::theirs)
}

/// Whether bson's own types use this name to request a value that is not in serde's data model.
fn is_private(name: &str) -> bool {
    name.starts_with("$__")
}

/// The deserializer of a document.
struct Reader<'de, E> {
    document: &'de [u8],
    fault: PhantomData<E>,
}

impl<'de, E> Reader<'de, E> {
    fn new(document: &'de [u8]) -> Self {
        Self {
            document,
            fault: PhantomData,
        }
    }
}

impl<'de, E: Fault> Deserializer<'de> for Reader<'de, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let fields = Fields::new(self.document)?;
        marks::refuse::<V, E>(self.document)?;
        visitor.visit_map(fields)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        if is_private(name) {
            return private(self.document, name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_enum(Fields::new(self.document)?)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Decodes a document into one of bson's own types, such as a `RawDocumentBuf`.
fn private<'de, V: Visitor<'de>, E: Fault>(
    document: &'de [u8],
    name: &'static str,
    visitor: V,
) -> Result<V::Value, E> {
    let document = theirs(RawDeserializer::new(document))?;
    theirs(document.deserialize_newtype_struct(name, visitor))
}

/// The fields of a document, the elements of an array, or an enum variant with values, which is stored as a document
/// with one field.
struct Fields<'de, E> {
    /// The remaining elements.
    elements: Elements<'de>,
    /// The type and the bytes of the current value.
    tag: u8,
    value: &'de [u8],
    fault: PhantomData<E>,
}

impl<'de, E: Fault> Fields<'de, E> {
    #[inline]
    fn new(document: &'de [u8]) -> Result<Self, E> {
        if !raw::is_framed(document) {
            return Err(malformed());
        }
        Ok(Self {
            elements: Elements::new(document),
            tag: 0,
            value: &[],
            fault: PhantomData,
        })
    }

    /// Advances to the next element and returns its name.
    #[expect(
        clippy::inline_always,
        reason = "it is called once for each key, in a loop that serde generates"
    )]
    #[inline(always)]
    fn advance(&mut self) -> Result<Option<&'de [u8]>, E> {
        match self.elements.advance() {
            Some(element) => {
                self.tag = element.tag();
                self.value = element.value_bytes();
                Ok(Some(element.key_bytes()))
            }
            None if self.elements.is_at_end() => Ok(None),
            None => Err(malformed()),
        }
    }

    /// The current value.
    #[inline]
    fn value(&self) -> Value<'de, E> {
        Value {
            tag: self.tag,
            bytes: self.value,
            fault: PhantomData,
        }
    }
}

impl<'de, E: Fault> MapAccess<'de> for Fields<'de, E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, E> {
        let Some(key) = self.advance()? else {
            return Ok(None);
        };
        seed.deserialize(Key(key, PhantomData)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, E> {
        seed.deserialize(self.value())
    }
}

impl<'de, E: Fault> SeqAccess<'de> for Fields<'de, E> {
    type Error = E;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, E> {
        match self.advance()? {
            Some(_) => seed.deserialize(self.value()).map(Some),
            None => Ok(None),
        }
    }
}

impl<'de, E: Fault> EnumAccess<'de> for Fields<'de, E> {
    type Error = E;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Self), E> {
        let key = self.advance()?.ok_or_else(malformed)?;
        let key = Key(key, PhantomData);
        Ok((seed.deserialize(key)?, self))
    }
}

impl<'de, E: Fault> VariantAccess<'de> for Fields<'de, E> {
    type Error = E;

    fn unit_variant(self) -> Result<(), E> {
        Err(E::custom("expected a string enum, got a document instead"))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, E> {
        seed.deserialize(self.value())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, E> {
        self.value().deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        self.value().deserialize_map(visitor)
    }
}

/// The name of a field.
struct Key<'de, E>(&'de [u8], PhantomData<E>);

impl<'de, E: Fault> Deserializer<'de> for Key<'de, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match str::from_utf8(self.0) {
            Ok(name) => visitor.visit_borrowed_str(name),
            Err(_) => Err(malformed()),
        }
    }

    /// Struct fields are matched as bytes, which need no UTF-8 check.
    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        if E::TRACED {
            return self.deserialize_any(visitor);
        }
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

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct ignored_any
    }
}

const STRING: u8 = ElementType::String as u8;
const DOCUMENT: u8 = ElementType::EmbeddedDocument as u8;
const BINARY: u8 = ElementType::Binary as u8;
const GENERIC: u8 = 0;
const NULL: u8 = ElementType::Null as u8;
const OBJECT_ID: u8 = ElementType::ObjectId as u8;

/// One value.
struct Value<'de, E> {
    tag: u8,
    bytes: &'de [u8],
    fault: PhantomData<E>,
}

impl<'de, E: Fault> Value<'de, E> {
    /// Decodes the value with bson.
    fn leave<V: Visitor<'de>>(self, visitor: V, asked: Asked) -> Result<V::Value, E> {
        theirs(lent::visit(self.tag, self.bytes, visitor, asked))
    }
}

impl<'de, E: Fault> Deserializer<'de> for Value<'de, E> {
    type Error = E;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let bytes = self.bytes;
        match self.tag {
            0x01 => visitor.visit_f64(f64::from_le_bytes(fixed(bytes)?)),
            STRING => match raw::string(bytes) {
                Some(value) => visitor.visit_borrowed_str(value),
                None => Err(malformed()),
            },
            DOCUMENT => {
                let fields = Fields::new(bytes)?;
                marks::refuse::<V, E>(bytes)?;
                visitor.visit_map(fields)
            }
            0x04 => visitor.visit_seq(Fields::new(bytes)?),
            0x08 => match bytes {
                [0] => visitor.visit_bool(false),
                [1] => visitor.visit_bool(true),
                _ => Err(malformed()),
            },
            0x09 => visitor.visit_map(Date::new(i64::from_le_bytes(fixed(bytes)?))),
            NULL => visitor.visit_unit(),
            0x10 => visitor.visit_i32(i32::from_le_bytes(fixed(bytes)?)),
            0x12 => visitor.visit_i64(i64::from_le_bytes(fixed(bytes)?)),
            BINARY => match bytes.split_first_chunk() {
                Some((&[_, _, _, _, GENERIC], bytes)) => visitor.visit_borrowed_bytes(bytes),
                _ => self.leave(visitor, Asked::Any),
            },
            _ => self.leave(visitor, Asked::Any),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.tag {
            NULL => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.tag {
            OBJECT_ID => visitor.visit_borrowed_bytes(self.bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        if is_private(name) {
            return match self.tag {
                DOCUMENT => private(self.bytes, name, visitor),
                _ => self.leave(visitor, Asked::Newtype(name)),
            };
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        match self.tag {
            STRING => match raw::string(self.bytes) {
                Some(variant) => visitor.visit_enum(Cow::Borrowed(variant).into_deserializer()),
                None => Err(malformed()),
            },
            DOCUMENT => visitor.visit_enum(Fields::new(self.bytes)?),
            _ => self.leave(visitor, Asked::Enum(name, variants)),
        }
    }

    /// The visitor ignores the value, so its bytes are not checked.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
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

#[inline]
fn fixed<const N: usize, E: Fault>(bytes: &[u8]) -> Result<[u8; N], E> {
    bytes.try_into().map_err(|_| malformed())
}

#[cold]
fn malformed<E: Fault>() -> E {
    E::custom("malformed BSON")
}
