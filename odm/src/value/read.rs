//! Structs out of raw BSON, as bson's own deserializer reads them.
//!
//! Most of a document is numbers, strings, arrays and documents: these are visited here, on one walk over the bytes.
//! Whatever else there is, bson visits, so that there is one account of how dates, binaries and their like look to serde.
//!
//! What this module is not: it explains no failure. Where it fails, bson's deserializer says why.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use bson::error::Error;
use bson::spec::ElementType;
use bson::{RawBsonRef, RawDeserializer};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, IntoDeserializer,
    MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::value::raw::{Element, Elements};

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
    elements: Elements<'de>,
    element: Option<Element<'de>>,
    /// bson's walk over the same elements, and how many steps it is behind.
    access: A,
    behind: usize,
}

impl<'de, A: MapAccess<'de>> Fields<'de, A> {
    fn new(document: &'de [u8], access: A) -> Self {
        Self {
            elements: Elements::new(document),
            element: None,
            access,
            behind: 0,
        }
    }

    fn advance(&mut self) -> Result<Option<Element<'de>>, A::Error> {
        self.element = self.elements.next();
        self.behind += 1;
        if self.element.is_none() && !self.elements.is_at_end() {
            return Err(malformed());
        }
        Ok(self.element)
    }

    fn value<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let element = self.element.take().ok_or_else(malformed)?;
        seed.deserialize(Value {
            element,
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
        let Some(element) = self.advance()? else {
            return Ok(None);
        };
        let key = Key(element.key_bytes(), PhantomData);
        seed.deserialize(key).map(Some)
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

/// One value, and bson's way to it.
struct Value<'a, 'de, A> {
    element: Element<'de>,
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
        let bytes = self.element.value_bytes();
        match self.element.tag() {
            0x01 => visitor.visit_f64(f64::from_le_bytes(fixed(bytes)?)),
            0x02 => match self.element.value() {
                Some(RawBsonRef::String(value)) => visitor.visit_borrowed_str(value),
                _ => Err(malformed()),
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
            0x0A => visitor.visit_unit(),
            0x10 => visitor.visit_i32(i32::from_le_bytes(fixed(bytes)?)),
            0x12 => visitor.visit_i64(i64::from_le_bytes(fixed(bytes)?)),
            _ => self.leave(visitor, Asked::Any),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        match self.element.element_type() {
            Some(ElementType::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        match self.element.element_type() {
            Some(ElementType::ObjectId) => visitor.visit_borrowed_bytes(self.element.value_bytes()),
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
        match self.element.value() {
            Some(RawBsonRef::String(variant)) => {
                visitor.visit_enum(Cow::Borrowed(variant).into_deserializer())
            }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use bson::oid::ObjectId;
    use bson::{
        Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawBson,
        RawDocumentBuf, Regex, Timestamp, Uuid, doc,
    };
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Serialize};

    use super::read;

    /// Both deserializers: the same value, or a failure of both.
    fn same<T: DeserializeOwned + Debug>(bytes: &[u8]) -> Option<T> {
        let theirs = bson::deserialize_from_slice::<T>(bytes);
        let ours = read::<T>(bytes);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(format!("{ours:?}"), format!("{theirs:?}")),
            (ours, theirs) => assert_eq!(ours.is_ok(), theirs.is_ok(), "{ours:?}, {theirs:?}"),
        }
        ours.ok()
    }

    fn all_types() -> Document {
        let array = vec![
            Bson::Int32(1),
            Bson::DateTime(DateTime::from_millis(1)),
            Bson::ObjectId(ObjectId::from_bytes([1; 12])),
            Bson::Null,
            Bson::Array(vec![Bson::Int64(2)]),
            Bson::Document(doc! { "a": DateTime::from_millis(2), "b": 1 }),
        ];
        doc! {
            "double": 1.5,
            "string": "ä",
            "document": { "a": 1, "b": { "c": DateTime::from_millis(3) } },
            "array": array,
            "binary": Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1, 2] },
            "md5": Binary { subtype: bson::spec::BinarySubtype::Md5, bytes: vec![1, 2] },
            "uuid": Uuid::from_bytes([7; 16]),
            "undefined": Bson::Undefined,
            "oid": ObjectId::from_bytes([2; 12]),
            "bool": true,
            "date": DateTime::from_millis(1_700_000_000_000),
            "null": Bson::Null,
            "regex": Regex { pattern: "a".try_into().unwrap(), options: "i".try_into().unwrap() },
            "code": Bson::JavaScriptCode("x".to_owned()),
            "scoped": JavaScriptCodeWithScope { code: "y".to_owned(), scope: doc! { "z": 1 } },
            "symbol": Bson::Symbol("s".to_owned()),
            "int": 7,
            "timestamp": Timestamp { time: 1, increment: 2 },
            "long": 7_i64,
            "decimal": "1.5".parse::<Decimal128>().unwrap(),
            "min": Bson::MinKey,
            "max": Bson::MaxKey,
        }
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Typed {
        int: i32,
        long: i64,
        double: f64,
        string: String,
        bool: bool,
        null: Option<i32>,
        oid: ObjectId,
        date: DateTime,
        decimal: Decimal128,
        uuid: Uuid,
        regex: Regex,
        timestamp: Timestamp,
        binary: Binary,
        array: Vec<Bson>,
        document: RawDocumentBuf,
        #[serde(rename = "code")]
        raw: RawBson,
        #[serde(default)]
        absent: Option<String>,
        scoped: Option<JavaScriptCodeWithScope>,
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Wrapped(i64);

    #[derive(Debug, Serialize, Deserialize)]
    enum Shape {
        Point,
        Circle(i32),
        Line(i32, i64),
        Box { width: i32, at: DateTime },
    }

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Person { name: String, born: DateTime },
        Place { id: ObjectId },
    }

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Any {
        Number(i32),
        Word(String),
        Time(DateTime),
        Shape(Shape),
        Many(Vec<Any>),
        Rest(Bson),
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Various {
        wrapped: Wrapped,
        shapes: Vec<Shape>,
        tagged: Vec<Tagged>,
        any: Vec<Any>,
        pair: (i32, DateTime),
        map: BTreeMap<String, DateTime>,
        #[serde(flatten)]
        rest: BTreeMap<String, Bson>,
    }

    #[test]
    fn every_type_is_read_as_bson_reads_it() {
        let bytes = bson::serialize_to_vec(&all_types()).unwrap();
        assert_eq!(same::<Document>(&bytes), Some(all_types()));
        same::<BTreeMap<String, Bson>>(&bytes).unwrap();
        same::<BTreeMap<String, RawBson>>(&bytes).unwrap();
        same::<RawDocumentBuf>(&bytes).unwrap();
        same::<Bson>(&bytes).unwrap();
        same::<serde::de::IgnoredAny>(&bytes).unwrap();
        same::<Option<Document>>(&bytes).unwrap();
        same::<Typed>(&bytes).unwrap();
        assert!(same::<i32>(&bytes).is_none());
        assert!(same::<Various>(&bytes).is_none());
        assert!(same::<BTreeMap<String, i32>>(&bytes).is_none());
    }

    #[test]
    fn shapes_of_serde_are_read_as_bson_reads_them() {
        let date = DateTime::from_millis(5);
        let various = Various {
            wrapped: Wrapped(1),
            shapes: vec![
                Shape::Point,
                Shape::Circle(1),
                Shape::Line(1, 2),
                Shape::Box { width: 1, at: date },
            ],
            tagged: vec![
                Tagged::Person {
                    name: "n".to_owned(),
                    born: date,
                },
                Tagged::Place {
                    id: ObjectId::from_bytes([3; 12]),
                },
            ],
            any: vec![
                Any::Number(1),
                Any::Word("w".to_owned()),
                Any::Time(date),
                Any::Shape(Shape::Circle(2)),
                Any::Many(vec![Any::Number(2), Any::Time(date)]),
                Any::Rest(Bson::Double(0.5)),
            ],
            pair: (1, date),
            map: [("a".to_owned(), date), ("b".to_owned(), date)].into(),
            rest: [
                ("more".to_owned(), Bson::DateTime(date)),
                (
                    "less".to_owned(),
                    Bson::Array(vec![Bson::DateTime(date), 1.into()]),
                ),
            ]
            .into(),
        };
        let bytes = bson::serialize_to_vec(&various).unwrap();
        same::<Various>(&bytes).unwrap();
        // Whatever byte is wrong, there is no value where bson has none.
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] = broken[at].wrapping_add(1);
            if read::<Various>(&broken).is_ok() {
                same::<Various>(&broken);
            }
        }
    }

    #[test]
    fn extended_json_stays_what_bson_makes_of_it() {
        for document in [
            doc! { "$oid": "0".repeat(24) },
            doc! { "a": { "$date": { "$numberLong": "5" } } },
            doc! { "a": { "$numberInt": "5" }, "b": { "$binary": { "base64": "", "subType": "00" } } },
        ] {
            let bytes = bson::serialize_to_vec(&document).unwrap();
            same::<Document>(&bytes);
            same::<BTreeMap<String, Bson>>(&bytes);
            same::<BTreeMap<String, DateTime>>(&bytes);
        }
    }
}
