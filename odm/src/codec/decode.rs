//! Decodes raw BSON into structs, with the same results as bson's own deserializer.
//!
//! This module decodes numbers, strings, dates, arrays and documents in one pass over the bytes. [`content`] gets the
//! form of all other values from bson, which defines how binaries and other rare types look to serde.
//!
//! Unlike bson, it reads maps whose keys are newtypes, such as `BTreeMap<Email, i32>`, and refuses documents that a `Bson` would
//! read as another value ([`marks`]).

mod content;
mod date;
mod fault;
mod marks;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use bson::error::Error as BsonError;
use bson::spec::ElementType;
use bson::{Bson, doc};
use odm_language::value::raw::{self, Elements};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error,
    IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use self::content::{Content, HUMAN_READABLE, UTF8_LOSSY};
use self::date::Date;
pub(crate) use self::fault::{Failed, Reason};

/// Decodes a document.
pub(crate) fn read<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Result<T, Failed> {
    read_with(document, Options::NONE)
}

/// Decodes a document that [`read`] could not decode, with field names as text, which flattened maps with enum keys
/// require. On failure, it reports the path and the reason.
#[cold]
pub(crate) fn trace<'de, T: Deserialize<'de>>(document: &'de [u8]) -> Result<T, Reason> {
    let options = Options {
        text_names: true,
        ..Options::NONE
    };
    fault::trace(|| read_with(document, options))
}

fn read_with<'de, T: Deserialize<'de>>(document: &'de [u8], options: Options) -> Result<T, Failed> {
    T::deserialize(Value::new(DOCUMENT, document, options))
}

/// Decodes a value as the field of a document. bson's own deserializer of values claims to be a text format, for which a type
/// may have another form.
pub(crate) fn value<T: DeserializeOwned>(value: Bson) -> Result<T, BsonError> {
    #[derive(serde::Deserialize)]
    struct Only<T> {
        value: T,
    }

    let document = bson::serialize_to_vec(&doc! {"value": value})?;
    let only: Only<T> = trace(&document)?;
    Ok(only.value)
}

/// Whether bson's own types use this name to request a value that is not in serde's data model.
fn is_private(name: &str) -> bool {
    name.starts_with("$__")
}

/// How the values of a document are decoded.
#[derive(Clone, Copy)]
struct Options {
    /// The names of a struct's fields are passed as text. As bytes they need no check of their UTF-8.
    text_names: bool,
    /// `bson::serde_helpers::HumanReadable`: types decode the form that they have in text formats.
    human_readable: bool,
    /// `bson::Utf8Lossy`: malformed UTF-8 in strings is replaced.
    utf8_lossy: bool,
}

impl Options {
    const NONE: Self = Self {
        text_names: false,
        human_readable: false,
        utf8_lossy: false,
    };
}

/// The fields of a document, the elements of an array, or an enum variant with values, which is stored as a document
/// with one field.
struct Fields<'de> {
    /// The remaining elements.
    elements: Elements<'de>,
    /// The type and the bytes of the current value.
    tag: u8,
    value: &'de [u8],
    options: Options,
}

impl<'de> Fields<'de> {
    #[inline]
    fn new(document: &'de [u8], options: Options) -> Result<Self, Failed> {
        if !raw::is_framed(document) {
            return Err(malformed());
        }
        Ok(Self {
            elements: Elements::new(document),
            tag: 0,
            value: &[],
            options,
        })
    }

    /// Advances to the next element and returns its name.
    #[expect(
        clippy::inline_always,
        reason = "it is called once for each key, in a loop that serde generates"
    )]
    #[inline(always)]
    fn advance(&mut self) -> Result<Option<&'de [u8]>, Failed> {
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
    fn value(&self) -> Value<'de> {
        Value::new(self.tag, self.value, self.options)
    }
}

// Serde's loops over fields and elements call these methods once for each type. Without the hint, the compiler does not
// inline them into large structs, which costs a fifth of the time.
impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Failed;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        let Some(key) = self.advance()? else {
            return Ok(None);
        };
        let text = self.options.text_names;
        seed.deserialize(Key { name: key, text }).map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        // Calls of `map_err` would be compiled once more for each type.
        match seed.deserialize(self.value()) {
            Ok(value) => Ok(value),
            Err(failed) => Err(failed.in_field(&self.elements)),
        }
    }
}

impl<'de> SeqAccess<'de> for Fields<'de> {
    type Error = Failed;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failed> {
        if self.advance()?.is_none() {
            return Ok(None);
        }
        match seed.deserialize(self.value()) {
            Ok(value) => Ok(Some(value)),
            Err(failed) => Err(failed.in_item(&self.elements)),
        }
    }
}

impl<'de> EnumAccess<'de> for Fields<'de> {
    type Error = Failed;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<(S::Value, Self), Failed> {
        let key = self.advance()?.ok_or_else(malformed)?;
        let text = self.options.text_names;
        Ok((seed.deserialize(Key { name: key, text })?, self))
    }
}

impl<'de> VariantAccess<'de> for Fields<'de> {
    type Error = Failed;

    fn unit_variant(self) -> Result<(), Failed> {
        Err(Failed::custom(
            "expected a string enum, got a document instead",
        ))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Failed> {
        let value = seed.deserialize(self.value());
        value.map_err(|failed| failed.in_field(&self.elements))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Failed> {
        let value = self.value().deserialize_seq(visitor);
        value.map_err(|failed| failed.in_field(&self.elements))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        let value = self.value().deserialize_map(visitor);
        value.map_err(|failed| failed.in_field(&self.elements))
    }
}

/// The name of a field.
struct Key<'de> {
    name: &'de [u8],
    /// [`Options::text_names`].
    text: bool,
}

impl<'de> Key<'de> {
    #[cold]
    #[inline(never)]
    fn visit_text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.deserialize_any(visitor)
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Failed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match str::from_utf8(self.name) {
            Ok(name) => visitor.visit_borrowed_str(name),
            Err(_) => Err(malformed()),
        }
    }

    /// Struct fields are matched as bytes, which need no UTF-8 check.
    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        if self.text {
            return self.visit_text(visitor);
        }
        visitor.visit_borrowed_bytes(self.name)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        let key = str::from_utf8(self.name).map_err(|_| malformed())?;
        BorrowedStrDeserializer::new(key).deserialize_enum(name, variants, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
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

/// One value, or a whole document.
struct Value<'de> {
    tag: u8,
    bytes: &'de [u8],
    options: Options,
}

impl<'de> Value<'de> {
    #[inline]
    fn new(tag: u8, bytes: &'de [u8], options: Options) -> Self {
        Self {
            tag,
            bytes,
            options,
        }
    }
}

impl<'de> Value<'de> {
    /// The fields of a document or the elements of an array.
    #[inline]
    fn fields(&self) -> Result<Fields<'de>, Failed> {
        Fields::new(self.bytes, self.options)
    }

    /// Visits a value of a rare type in the form that bson gives it, or a string that is not UTF-8.
    fn visit_rare<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let content = Content::any(self.tag, self.bytes, self.options)?;
        content.into_deserializer().deserialize_any(visitor)
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Failed;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        let bytes = self.bytes;
        match self.tag {
            0x01 => visitor.visit_f64(f64::from_le_bytes(fixed(bytes)?)),
            STRING => match raw::string(bytes) {
                Some(value) => visitor.visit_borrowed_str(value),
                None => self.visit_rare(visitor),
            },
            DOCUMENT => {
                let fields = self.fields()?;
                marks::refuse::<V>(bytes)?;
                visitor.visit_map(fields)
            }
            0x04 => visitor.visit_seq(self.fields()?),
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
                _ => self.visit_rare(visitor),
            },
            _ => self.visit_rare(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.tag {
            NULL => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.tag {
            OBJECT_ID => visitor.visit_borrowed_bytes(self.bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        let mut value = self;
        match name {
            HUMAN_READABLE => value.options.human_readable = true,
            UTF8_LOSSY => value.options.utf8_lossy = true,
            _ if is_private(name) => {
                let content = Content::named(value.tag, value.bytes, name)?;
                return content.into_deserializer().deserialize_any(visitor);
            }
            _ => {}
        }
        visitor.visit_newtype_struct(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        match self.tag {
            STRING => match raw::string(self.bytes) {
                Some(variant) => visitor.visit_enum(Cow::Borrowed(variant).into_deserializer()),
                None => Err(malformed()),
            },
            DOCUMENT => visitor.visit_enum(self.fields()?),
            tag => Err(match ElementType::from(tag) {
                Some(found) => Failed::custom(format_args!("expected enum, instead got {found:?}")),
                None => malformed(),
            }),
        }
    }

    /// The visitor ignores the value, so its bytes are not checked.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        self.options.human_readable
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }
}

#[inline]
fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Failed> {
    bytes.try_into().map_err(|_| malformed())
}

#[cold]
fn malformed() -> Failed {
    Failed::custom("malformed BSON")
}
