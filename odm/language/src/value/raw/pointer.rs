//! Builds `DBPointer`s through serde, because bson keeps their fields private.

use bson::RawBsonRef;
use serde::de::value::{Error, MapDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// A pointer to the document of a collection with this id.
pub(super) fn pointer<'a>(collection: &'a str, id: &'a [u8; 12]) -> Option<RawBsonRef<'a>> {
    let pointer = [(Part::Text("$dbPointer"), Part::Pointer(collection, id))];
    RawBsonRef::deserialize(MapDeserializer::new(pointer.into_iter())).ok()
}

/// A name or a value of the map from which bson builds the pointer.
#[derive(Clone, Copy)]
enum Part<'a> {
    Pointer(&'a str, &'a [u8; 12]),
    Text(&'a str),
    Id(&'a [u8; 12]),
}

impl<'a> IntoDeserializer<'a> for Part<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Part<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Pointer(collection, id) => {
                let parts = [
                    (Self::Text("$ref"), Self::Text(collection)),
                    (Self::Text("$id"), Self::Id(id)),
                ];
                visitor.visit_map(MapDeserializer::new(parts.into_iter()))
            }
            Self::Text(name) => visitor.visit_borrowed_str(name),
            Self::Id(id) => visitor.visit_borrowed_bytes(id),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use bson::oid::ObjectId;
    use bson::raw::RawDocument;

    #[test]
    fn db_pointers_are_read_as_bson_reads_them() {
        let mut bytes = b"\x1C\0\0\0\x0Cp\0\x04\0\0\0x.y\0".to_vec();
        let id = ObjectId::from_bytes([7; 12]);
        bytes.extend_from_slice(&id.bytes());
        bytes.push(0);
        let document = RawDocument::from_bytes(&bytes).unwrap();
        let theirs = document.get("p").unwrap().unwrap();
        assert_eq!(super::pointer("x.y", &id.bytes()), Some(theirs));
    }
}
