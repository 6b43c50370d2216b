//! A fast path for values that are stored as one number, string, boolean or null.

use bson::Bson;
use serde::ser::{Impossible, Serialize, Serializer};

/// The stored form of a scalar, equal to what the serializer of whole documents writes.
///
/// `None` for every other value, and for values that can't be encoded. The serializer of whole documents then
/// returns the value or the error.
#[inline]
pub(super) fn encode<T: Serialize + ?Sized>(value: &T) -> Option<Bson> {
    value.serialize(Scalar).ok()
}

struct Scalar;

/// The value is not a scalar, or it can't be encoded.
#[derive(Debug)]
struct Other;

impl std::fmt::Display for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a scalar")
    }
}

impl std::error::Error for Other {}

impl serde::ser::Error for Other {
    fn custom<T: std::fmt::Display>(_message: T) -> Self {
        Self
    }
}

/// The methods of the serializer, as `method(type) => value`. They are inlined, so that encoding a field
/// declared as `i32` compiles to a number and its type.
macro_rules! methods {
    ($($method:ident($ty:ty) => $value:expr;)*) => {$(
        #[inline]
        fn $method(self, value: $ty) -> Result<Bson, Other> {
            let convert: fn($ty) -> Bson = $value;
            Ok(convert(value))
        }
    )*};
}

impl Serializer for Scalar {
    type Ok = Bson;
    type Error = Other;
    type SerializeSeq = Impossible<Bson, Other>;
    type SerializeTuple = Impossible<Bson, Other>;
    type SerializeTupleStruct = Impossible<Bson, Other>;
    type SerializeTupleVariant = Impossible<Bson, Other>;
    type SerializeMap = Impossible<Bson, Other>;
    type SerializeStruct = Impossible<Bson, Other>;
    type SerializeStructVariant = Impossible<Bson, Other>;

    /// As in the serializer of whole documents.
    fn is_human_readable(&self) -> bool {
        false
    }

    methods! {
        serialize_bool(bool) => Bson::Boolean;
        serialize_i8(i8) => |value| Bson::Int32(value.into());
        serialize_i16(i16) => |value| Bson::Int32(value.into());
        serialize_i32(i32) => Bson::Int32;
        serialize_i64(i64) => Bson::Int64;
        serialize_u8(u8) => |value| Bson::Int32(value.into());
        serialize_u16(u16) => |value| Bson::Int32(value.into());
        serialize_u32(u32) => |value| Bson::Int64(value.into());
        serialize_f32(f32) => |value| Bson::Double(value.into());
        serialize_f64(f64) => Bson::Double;
        serialize_char(char) => |value| Bson::String(value.into());
        serialize_str(&str) => |value| Bson::String(value.to_owned());
    }

    fn serialize_u64(self, value: u64) -> Result<Bson, Other> {
        i64::try_from(value).map(Bson::Int64).map_err(|_| Other)
    }

    fn serialize_none(self) -> Result<Bson, Other> {
        Ok(Bson::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Bson, Other> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Bson, Other> {
        Ok(Bson::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Bson, Other> {
        Ok(Bson::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Bson, Other> {
        Ok(Bson::String(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Bson, Other> {
        // With such a name, `bson` makes its serializer write the inner value in another way.
        if name.starts_with('$') {
            return Err(Other);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<Bson, Other> {
        Err(Other)
    }

    fn serialize_bytes(self, _value: &[u8]) -> Result<Bson, Other> {
        Err(Other)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq, Other> {
        Err(Other)
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple, Other> {
        Err(Other)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleStruct, Other> {
        Err(Other)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant, Other> {
        Err(Other)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap, Other> {
        Err(Other)
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStruct, Other> {
        Err(Other)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant, Other> {
        Err(Other)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    use serde::Serialize;

    use super::super::encode_whole;
    use super::*;

    #[derive(Debug, Serialize)]
    struct Newtype<T>(T);

    #[derive(Debug, Serialize)]
    struct Unit;

    #[derive(Debug, Serialize)]
    enum Choice {
        Unit,
        Newtype(i32),
        Tuple(i32, i32),
        Struct { a: i32 },
    }

    /// Asserts that a value in a filter and the same value in a stored document are the same bytes.
    fn same<T: Serialize + Debug>(value: T, short: bool) {
        let scalar = encode(&value);
        assert_eq!(scalar.is_some(), short, "{value:?}");
        let document = bson::serialize_to_raw_document_buf(&BTreeMap::from([("v", &value)]));
        let by_bson = document
            .ok()
            .and_then(|document| Bson::try_from(document.get("v").ok()??).ok());
        assert_eq!(encode_whole(&value).ok(), by_bson, "{value:?}");
        if let Some(scalar) = scalar {
            assert_eq!(Some(&scalar), by_bson.as_ref(), "{value:?}");
            let wrapped = Newtype(Some(&value));
            assert_eq!(encode(&wrapped), Some(scalar), "{value:?}");
        }
    }

    #[test]
    fn scalars_are_encoded_as_in_documents() {
        same(true, true);
        same(i8::MIN, true);
        same(i16::MIN, true);
        same(i32::MIN, true);
        same(i64::MIN, true);
        same(u8::MAX, true);
        same(u16::MAX, true);
        same(u32::MAX, true);
        same(i64::MAX as u64, true);
        same(u64::MAX, false);
        same(i128::MAX, false);
        same(0.1_f32, true);
        same(-0.0_f64, true);
        same('ß', true);
        same("a\0b", true);
        same(None::<i32>, true);
        same((), true);
        same(Unit, true);
        same(Choice::Unit, true);
    }

    #[test]
    fn other_values_use_the_serializer() {
        same(Choice::Newtype(1), false);
        same(Choice::Tuple(1, 2), false);
        same(Choice::Struct { a: 1 }, false);
        same([1, 2], false);
        same((1, "a"), false);
        same(BTreeMap::from([("a", 1)]), false);
        same(bson::oid::ObjectId::new(), false);
        same(bson::DateTime::MAX, false);
        same(bson::Uuid::new(), false);
        same(bson::rawdoc! {"a": 1}, false);
        same(Bson::MinKey, false);
    }
}
