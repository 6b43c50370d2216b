//! Values that bson decodes: rare types, and values that bson's own types request by a private name.
//!
//! bson decodes whole documents, so such a value is copied into a document of its own. The data that bson lends to the
//! visitor lives only as long as the copy; [`Lent`] replaces it with the same part of the original, which lives for
//! `'de`.

use bson::RawDeserializer;
use bson::error::Error as BsonError;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

/// The deserializer method that the caller used.
pub(super) enum Asked {
    Any,
    Newtype(&'static str),
    Enum(&'static str, &'static [&'static str]),
}

/// Visits a value with bson's deserializer.
pub(super) fn visit<'de, V: Visitor<'de>>(
    tag: u8,
    value: &'de [u8],
    visitor: V,
    asked: Asked,
) -> Result<V::Value, BsonError> {
    let copy = copy(tag, value).ok_or_else(|| BsonError::custom("malformed BSON"))?;
    let origin = Origin { copy: &copy, value };
    let inner = visitor;
    let visitor = Lent { inner, origin };
    RawDeserializer::new(&copy)?.deserialize_any(Only { visitor, asked })
}

/// The number of bytes before the value in a document with one element and an empty key: length, type, key.
const HEAD: usize = 4 + 1 + 1;

/// Copies a value into a document with one element.
fn copy(tag: u8, value: &[u8]) -> Option<Vec<u8>> {
    let length = HEAD + value.len() + 1;
    let mut copy = Vec::with_capacity(length);
    copy.extend_from_slice(&i32::try_from(length).ok()?.to_le_bytes());
    copy.extend_from_slice(&[tag, 0]);
    copy.extend_from_slice(value);
    copy.push(0);
    Some(copy)
}

/// A copy, and the original value.
#[derive(Clone, Copy)]
struct Origin<'x, 'de> {
    copy: &'x [u8],
    value: &'de [u8],
}

impl<'de> Origin<'_, 'de> {
    /// The part of the original that corresponds to a part of the copy; `None` for other data, such as constants.
    fn find(self, part: &[u8]) -> Option<&'de [u8]> {
        let before = (part.as_ptr() as usize).checked_sub(self.copy.as_ptr() as usize)?;
        let start = before.checked_sub(HEAD)?;
        self.value.get(start..start.checked_add(part.len())?)
    }
}

/// Receives bson's `MapAccess` for the copy, and visits its only value.
struct Only<V> {
    visitor: V,
    asked: Asked,
}

impl<'x, V: Visitor<'x>> Visitor<'x> for Only<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'x>>(self, mut access: A) -> Result<V::Value, A::Error> {
        access.next_key::<IgnoredAny>()?;
        access.next_value_seed(self)
    }
}

impl<'x, V: Visitor<'x>> DeserializeSeed<'x> for Only<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'x>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        match self.asked {
            Asked::Any => deserializer.deserialize_any(self.visitor),
            Asked::Newtype(name) => deserializer.deserialize_newtype_struct(name, self.visitor),
            Asked::Enum(name, variants) => {
                deserializer.deserialize_enum(name, variants, self.visitor)
            }
        }
    }
}

/// Wraps one of serde's interfaces and translates borrowed data between the copy and the original.
#[derive(Clone, Copy)]
struct Lent<'x, 'de, T> {
    inner: T,
    origin: Origin<'x, 'de>,
}

impl<'x, 'de, T> Lent<'x, 'de, T> {
    /// Wraps another interface with the same origin.
    fn with<U>(&self, inner: U) -> Lent<'x, 'de, U> {
        Lent {
            inner,
            origin: self.origin,
        }
    }
}

/// Forwards the visits of values that don't borrow from the document.
macro_rules! visits {
    ($($method:ident($value:ty);)*) => {
        $(
            fn $method<E: Error>(self, value: $value) -> Result<V::Value, E> {
                self.inner.$method(value)
            }
        )*
    };
}

impl<'x, 'de, V: Visitor<'de>> Visitor<'x> for Lent<'x, 'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.expecting(f)
    }

    visits! {
        visit_bool(bool); visit_i8(i8); visit_i16(i16); visit_i32(i32); visit_i64(i64);
        visit_i128(i128); visit_u8(u8); visit_u16(u16); visit_u32(u32); visit_u64(u64);
        visit_u128(u128); visit_f32(f32); visit_f64(f64); visit_char(char); visit_str(&str);
        visit_string(String); visit_bytes(&[u8]); visit_byte_buf(Vec<u8>);
    }

    fn visit_borrowed_str<E: Error>(self, value: &'x str) -> Result<V::Value, E> {
        let original = self.origin.find(value.as_bytes());
        match original.and_then(|bytes| str::from_utf8(bytes).ok()) {
            Some(value) => self.inner.visit_borrowed_str(value),
            None => self.inner.visit_str(value),
        }
    }

    fn visit_borrowed_bytes<E: Error>(self, value: &'x [u8]) -> Result<V::Value, E> {
        match self.origin.find(value) {
            Some(value) => self.inner.visit_borrowed_bytes(value),
            None => self.inner.visit_bytes(value),
        }
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'x>>(self, some: D) -> Result<V::Value, D::Error> {
        let some = self.with(some);
        self.inner.visit_some(some)
    }

    fn visit_newtype_struct<D: Deserializer<'x>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = self.with(inner);
        self.inner.visit_newtype_struct(inner)
    }

    fn visit_seq<A: SeqAccess<'x>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = self.with(access);
        self.inner.visit_seq(access)
    }

    fn visit_map<A: MapAccess<'x>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = self.with(access);
        self.inner.visit_map(access)
    }

    fn visit_enum<A: EnumAccess<'x>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = self.with(access);
        self.inner.visit_enum(access)
    }
}

impl<'x, 'de, S: DeserializeSeed<'de>> DeserializeSeed<'x> for Lent<'x, 'de, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'x>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.deserialize(deserializer)
    }
}

/// Forwards the methods of a deserializer.
macro_rules! deserializes {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            fn $method<V: Visitor<'de>>(
                self,
                $($argument: $type,)*
                visitor: V,
            ) -> Result<V::Value, D::Error> {
                let visitor = self.with(visitor);
                self.inner.$method($($argument,)* visitor)
            }
        )*
    };
}

impl<'x, 'de, D: Deserializer<'x>> Deserializer<'de> for Lent<'x, 'de, D> {
    type Error = D::Error;

    deserializes! {
        deserialize_any(); deserialize_bool(); deserialize_i8(); deserialize_i16();
        deserialize_i32(); deserialize_i64(); deserialize_i128(); deserialize_u8();
        deserialize_u16(); deserialize_u32(); deserialize_u64(); deserialize_u128();
        deserialize_f32(); deserialize_f64(); deserialize_char(); deserialize_str();
        deserialize_string(); deserialize_bytes(); deserialize_byte_buf(); deserialize_option();
        deserialize_unit(); deserialize_seq(); deserialize_map(); deserialize_identifier();
        deserialize_ignored_any();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

impl<'x, 'de, A: SeqAccess<'x>> SeqAccess<'de> for Lent<'x, 'de, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.with(seed);
        self.inner.next_element_seed(seed)
    }
}

impl<'x, 'de, A: MapAccess<'x>> MapAccess<'de> for Lent<'x, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let seed = self.with(seed);
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.next_value_seed(seed)
    }
}

impl<'x, 'de, A: EnumAccess<'x>> EnumAccess<'de> for Lent<'x, 'de, A> {
    type Error = A::Error;
    type Variant = Lent<'x, 'de, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let seed = self.with(seed);
        let origin = self.origin;
        let (value, inner) = self.inner.variant_seed(seed)?;
        Ok((value, Lent { inner, origin }))
    }
}

impl<'x, 'de, A: VariantAccess<'x>> VariantAccess<'de> for Lent<'x, 'de, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}
