//! A deserializer of BSON values that shows the types of BSON as a text format does.

use bson::spec::BinarySubtype;
use bson::{Bson, doc};
use serde::de::value::{
    Error, MapAccessDeserializer, MapDeserializer, SeqDeserializer, StringDeserializer,
};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::write::base64;

/// Unlike bson's own deserializer, it reads maps whose keys are newtypes, and its errors have no prefix, which would stand
/// between the path and the message.
pub(super) struct Node(pub(super) Bson);

impl IntoDeserializer<'_, Error> for Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

type Entries = std::iter::Map<bson::document::IntoIter, fn((String, Bson)) -> (Key, Node)>;

fn entries(document: bson::Document) -> MapDeserializer<'static, Entries, Error> {
    let entry: fn((String, Bson)) -> (Key, Node) = |(name, value)| (Key(name), Node(value));
    MapDeserializer::new(document.into_iter().map(entry))
}

impl<'de> Deserializer<'de> for Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let extended = match self.0 {
            Bson::Double(value) => return visitor.visit_f64(value),
            Bson::String(text) => return visitor.visit_string(text),
            Bson::Boolean(value) => return visitor.visit_bool(value),
            Bson::Null => return visitor.visit_unit(),
            Bson::Int32(value) => return visitor.visit_i32(value),
            Bson::Int64(value) => return visitor.visit_i64(value),
            Bson::Array(elements) => {
                let length = elements.len();
                let mut elements = SeqDeserializer::new(elements.into_iter().map(Node));
                let value = visitor.visit_seq(&mut elements)?;
                // An array that is longer than the tuple.
                elements
                    .end()
                    .map_err(|_| Error::invalid_length(length, &"fewer elements in the array"))?;
                return Ok(value);
            }
            Bson::Document(fields) => return visitor.visit_map(entries(fields)),
            Bson::Binary(binary) if binary.subtype == BinarySubtype::Generic => {
                return visitor.visit_byte_buf(binary.bytes);
            }
            Bson::ObjectId(id) => doc! {"$oid": id.to_hex()},
            Bson::DateTime(date) => {
                doc! {"$date": {"$numberLong": date.timestamp_millis().to_string()}}
            }
            Bson::Decimal128(decimal) => doc! {"$numberDecimal": decimal.to_string()},
            Bson::Binary(binary) => {
                let subtype = format!("{:02x}", u8::from(binary.subtype));
                doc! {"$binary": {"base64": base64(&binary.bytes), "subType": subtype}}
            }
            Bson::Timestamp(at) => {
                doc! {"$timestamp": {"t": i64::from(at.time), "i": i64::from(at.increment)}}
            }
            rare => {
                return bson::Deserializer::new(rare)
                    .deserialize_any(visitor)
                    .map_err(Error::custom);
            }
        };
        visitor.visit_map(entries(extended))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Bson::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Bson::String(variant) => visitor.visit_enum(variant.into_deserializer()),
            Bson::Document(fields) if fields.len() == 1 => {
                MapAccessDeserializer::new(entries(fields))
                    .deserialize_enum(name, variants, visitor)
            }
            other => Err(Error::custom(format!(
                "expected the name of a variant of `{name}`, or an object with one field, which has that name, found {other}"
            ))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// A name of a field, which can be read as a newtype.
pub(super) struct Key(String);

impl IntoDeserializer<'_, Error> for Key {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Key {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        StringDeserializer::<Error>::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
