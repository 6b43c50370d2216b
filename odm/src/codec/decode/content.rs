//! Buffers the values that bson defines for serde: rare types, and values that bson's own types request by a private
//! name.
//!
//! bson decides how a binary or a regular expression looks to serde. Its deserializer is generic over the visitor, so
//! that calling it from [`Value`] would compile most of bson once more for each type that a program decodes. Here, it
//! is called with one visitor, which buffers what bson passes; the type that is decoded then visits the buffer.

use std::fmt;
use std::vec::IntoIter;

use bson::RawDeserializer;
use bson::error::Error as BsonError;
use odm_language::value::raw;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::fault::Failed;
use super::{DOCUMENT, Options, STRING, Value, malformed};

/// The private name of the wrapper `bson::serde_helpers::HumanReadable`.
pub(super) const HUMAN_READABLE: &str = "$__bson_private_human_readable";
/// The private name of the wrapper `bson::Utf8Lossy`.
pub(super) const UTF8_LOSSY: &str = "$__bson_private_utf8_lossy";

const CODE_WITH_SCOPE: u8 = 0x0f;

/// A value in the form in which bson passes it to serde. Among the buffered values are no sequences.
pub(super) enum Content<'de> {
    Unit,
    Bool(bool),
    I32(i32),
    I64(i64),
    U8(u8),
    U32(u32),
    U64(u64),
    F64(f64),
    Str(&'de str),
    String(String),
    Bytes(&'de [u8]),
    ByteBuf(Vec<u8>),
    /// A document that is decoded like any other one.
    Document(&'de [u8], Options),
    Map(Vec<(Self, Self)>),
}

impl<'de> Content<'de> {
    /// Buffers a value for a visitor that accepts any form of it.
    pub(super) fn any(tag: u8, value: &'de [u8], options: Options) -> Result<Self, Failed> {
        match tag {
            STRING => return string(value, options).ok_or_else(malformed),
            CODE_WITH_SCOPE => return code_with_scope(value, options).ok_or_else(malformed),
            _ => {}
        }
        let wrapper = options.utf8_lossy.then_some(UTF8_LOSSY);
        buffer(tag, value, wrapper).map_err(Failed::theirs)
    }

    /// Buffers a value in the form that one of bson's types requests by its private name.
    pub(super) fn named(tag: u8, value: &'de [u8], name: &'static str) -> Result<Self, Failed> {
        buffer(tag, value, Some(name)).map_err(Failed::theirs)
    }
}

/// A string, whose malformed UTF-8 is replaced if the options say so.
fn string(value: &[u8], options: Options) -> Option<Content<'_>> {
    if let Some(text) = raw::string(value) {
        return Some(Content::Str(text));
    }
    if !options.utf8_lossy {
        return None;
    }
    let (_, text) = value.split_first_chunk::<4>()?;
    let (_, text) = text.split_last()?;
    Some(Content::String(String::from_utf8_lossy(text).into_owned()))
}

/// A JavaScript function and its scope, which may be read as any type.
fn code_with_scope(value: &[u8], options: Options) -> Option<Content<'_>> {
    let (_, parts) = value.split_first_chunk::<4>()?;
    let (length, _) = parts.split_first_chunk()?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
    let (code, scope) = parts.split_at_checked(length.checked_add(4)?)?;
    Some(Content::Map(vec![
        (Content::Str("$code"), string(code, options)?),
        (Content::Str("$scope"), Content::Document(scope, options)),
    ]))
}

/// Calls bson's deserializer.
fn buffer<'de>(
    tag: u8,
    value: &'de [u8],
    name: Option<&'static str>,
) -> Result<Content<'de>, BsonError> {
    if tag == DOCUMENT {
        let buffer = Buffer {
            lent: value,
            head: 0,
            original: value,
            name,
        };
        return buffer.deserialize(RawDeserializer::new(value)?);
    }
    let copy = copy(tag, value).ok_or_else(|| BsonError::custom("malformed BSON"))?;
    let buffer = Buffer {
        lent: &copy,
        head: HEAD,
        original: value,
        name,
    };
    RawDeserializer::new(&copy)?.deserialize_any(Only(buffer))
}

/// The number of bytes before the value in a document with one element and an empty key: length, type, key.
const HEAD: usize = 4 + 1 + 1;

/// Copies a value into a document with one element, because bson decodes nothing but documents.
fn copy(tag: u8, value: &[u8]) -> Option<Vec<u8>> {
    let length = HEAD + value.len() + 1;
    let mut copy = Vec::with_capacity(length);
    copy.extend_from_slice(&i32::try_from(length).ok()?.to_le_bytes());
    copy.extend_from_slice(&[tag, 0]);
    copy.extend_from_slice(value);
    copy.push(0);
    Some(copy)
}

/// Visits the only value of the copy.
struct Only<'x, 'de>(Buffer<'x, 'de>);

impl<'x, 'de> Visitor<'x> for Only<'x, 'de> {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_map<A: MapAccess<'x>>(self, mut access: A) -> Result<Content<'de>, A::Error> {
        access.next_key::<IgnoredAny>()?;
        access.next_value_seed(self.0)
    }
}

/// The visitor that buffers.
#[derive(Clone, Copy)]
struct Buffer<'x, 'de> {
    /// The bytes that bson decodes. They hold the value after `head` bytes.
    lent: &'x [u8],
    head: usize,
    /// The bytes of the value in the document, which live for `'de`.
    original: &'de [u8],
    /// The private name by which the value is requested.
    name: Option<&'static str>,
}

impl<'de> Buffer<'_, 'de> {
    /// The part of the original that corresponds to a part of the lent bytes; `None` for other data, such as constants.
    fn find(self, part: &[u8]) -> Option<&'de [u8]> {
        let before = (part.as_ptr() as usize).checked_sub(self.lent.as_ptr() as usize)?;
        let start = before.checked_sub(self.head)?;
        self.original.get(start..start.checked_add(part.len())?)
    }

    /// For the parts of the value, which are not requested by its name.
    fn unnamed(self) -> Self {
        Self { name: None, ..self }
    }
}

impl<'x, 'de> DeserializeSeed<'x> for Buffer<'x, 'de> {
    type Value = Content<'de>;

    fn deserialize<D: Deserializer<'x>>(self, value: D) -> Result<Content<'de>, D::Error> {
        match self.name {
            Some(name) => value.deserialize_newtype_struct(name, self.unnamed()),
            None => value.deserialize_any(self),
        }
    }
}

/// Implements the visits of values that borrow nothing.
macro_rules! visits {
    ($($method:ident($value:ty) => $variant:ident;)*) => {
        $(
            fn $method<E: Error>(self, value: $value) -> Result<Content<'de>, E> {
                Ok(Content::$variant(value))
            }
        )*
    };
}

impl<'x, 'de> Visitor<'x> for Buffer<'x, 'de> {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    visits! {
        visit_bool(bool) => Bool;
        visit_i32(i32) => I32;
        visit_i64(i64) => I64;
        visit_u8(u8) => U8;
        visit_u32(u32) => U32;
        visit_u64(u64) => U64;
        visit_f64(f64) => F64;
        visit_string(String) => String;
        visit_byte_buf(Vec<u8>) => ByteBuf;
    }

    fn visit_unit<E: Error>(self) -> Result<Content<'de>, E> {
        Ok(Content::Unit)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Content<'de>, E> {
        Ok(Content::String(value.to_owned()))
    }

    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<Content<'de>, E> {
        Ok(Content::ByteBuf(value.to_vec()))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'x str) -> Result<Content<'de>, E> {
        let original = self.find(value.as_bytes());
        match original.and_then(|bytes| str::from_utf8(bytes).ok()) {
            Some(value) => Ok(Content::Str(value)),
            None => self.visit_str(value),
        }
    }

    fn visit_borrowed_bytes<E: Error>(self, value: &'x [u8]) -> Result<Content<'de>, E> {
        match self.find(value) {
            Some(value) => Ok(Content::Bytes(value)),
            None => self.visit_bytes(value),
        }
    }

    /// A wrapper that changes how bson decodes a value.
    fn visit_newtype_struct<D: Deserializer<'x>>(self, value: D) -> Result<Content<'de>, D::Error> {
        value.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'x>>(self, mut access: A) -> Result<Content<'de>, A::Error> {
        let mut entries = Vec::with_capacity(access.size_hint().unwrap_or(2));
        while let Some(key) = access.next_key_seed(self)? {
            entries.push((key, access.next_value_seed(self)?));
        }
        Ok(Content::Map(entries))
    }
}

/// The deserializer of a buffered value.
pub(super) struct Buffered<'de>(Content<'de>);

impl<'de> IntoDeserializer<'de, Failed> for Content<'de> {
    type Deserializer = Buffered<'de>;

    fn into_deserializer(self) -> Buffered<'de> {
        Buffered(self)
    }
}

impl<'de> Deserializer<'de> for Buffered<'de> {
    type Error = Failed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.0 {
            Content::Unit => visitor.visit_unit(),
            Content::Bool(value) => visitor.visit_bool(value),
            Content::I32(value) => visitor.visit_i32(value),
            Content::I64(value) => visitor.visit_i64(value),
            Content::U8(value) => visitor.visit_u8(value),
            Content::U32(value) => visitor.visit_u32(value),
            Content::U64(value) => visitor.visit_u64(value),
            Content::F64(value) => visitor.visit_f64(value),
            Content::Str(value) => visitor.visit_borrowed_str(value),
            Content::String(value) => visitor.visit_string(value),
            Content::Bytes(value) => visitor.visit_borrowed_bytes(value),
            Content::ByteBuf(value) => visitor.visit_byte_buf(value),
            Content::Document(value, options) => {
                Value::new(DOCUMENT, value, options).deserialize_any(visitor)
            }
            Content::Map(entries) => visitor.visit_map(Entries {
                entries: entries.into_iter(),
                value: None,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.0 {
            Content::Document(..) => visitor.visit_some(self),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        match self.0 {
            Content::Document(value, options) => {
                Value::new(DOCUMENT, value, options).deserialize_newtype_struct(name, visitor)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        match self.0 {
            Content::Document(value, options) => {
                Value::new(DOCUMENT, value, options).deserialize_enum(name, variants, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn is_human_readable(&self) -> bool {
        matches!(self.0, Content::Document(_, options) if options.human_readable)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The entries of a buffered value.
struct Entries<'de> {
    entries: IntoIter<(Content<'de>, Content<'de>)>,
    /// The value of the key that was visited.
    value: Option<Content<'de>>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Failed;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(key.into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        let value = self.value.take().ok_or_else(malformed)?;
        seed.deserialize(value.into_deserializer())
    }
}
