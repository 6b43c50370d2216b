//! Serializers that accept only strings: map keys, and the digits by which bson passes some values through serde.

use bson::spec::ElementType;
use serde::ser::{self, Impossible, Serialize};

use super::serializer::{Left, Written, append_key};

/// Implements the serializer methods for all types but strings, which return an error.
macro_rules! strings_only {
    ($error:expr) => {
        type Ok = ();
        type Error = Left;
        type SerializeSeq = Impossible<(), Left>;
        type SerializeTuple = Impossible<(), Left>;
        type SerializeTupleStruct = Impossible<(), Left>;
        type SerializeTupleVariant = Impossible<(), Left>;
        type SerializeMap = Impossible<(), Left>;
        type SerializeStructVariant = Impossible<(), Left>;

        strings_only!(scalars $error; serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32,
            serialize_i64 i64, serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
            serialize_f32 f32, serialize_f64 f64, serialize_char char, serialize_bytes &[u8],
            serialize_unit_struct &'static str);

        fn is_human_readable(&self) -> bool {
            false
        }

        fn serialize_none(self) -> Written {
            Err($error)
        }

        fn serialize_unit(self) -> Written {
            Err($error)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Written {
            Err($error)
        }

        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Left> {
            Err($error)
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Left> {
            Err($error)
        }

        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, Left> {
            Err($error)
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, Left> {
            Err($error)
        }

        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Left> {
            Err($error)
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, Left> {
            Err($error)
        }
    };
    (scalars $error:expr; $($name:ident $of:ty),*) => {
        $(fn $name(self, _: $of) -> Written {
            Err($error)
        })*
    };
}

/// The serializer of a map's key.
#[derive(Debug)]
pub(super) struct Key<'b>(pub(super) &'b mut Vec<u8>);

impl ser::Serializer for Key<'_> {
    type SerializeStruct = Impossible<(), Left>;

    strings_only!(Left::Failed);

    fn serialize_str(self, value: &str) -> Written {
        append_key(self.0, value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written {
        append_key(self.0, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Left> {
        Err(Left::Failed)
    }
}

/// The BSON type that digits represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    ObjectId,
    DateTime,
}

impl Notation {
    /// The type of the struct with this name.
    pub(super) fn of(name: &str) -> Option<(ElementType, Self)> {
        match name {
            "$oid" => Some((ElementType::ObjectId, Self::ObjectId)),
            "$date" => Some((ElementType::DateTime, Self::DateTime)),
            _ => None,
        }
    }

    /// The only field of the struct.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::ObjectId => "$oid",
            Self::DateTime => "$date",
        }
    }
}

/// The serializer of a value that bson passes as digits.
#[derive(Debug)]
pub(super) struct Digits<'b> {
    pub(super) bytes: &'b mut Vec<u8>,
    pub(super) notation: Notation,
}

impl<'b> ser::Serializer for Digits<'b> {
    type SerializeStruct = Number<'b>;

    strings_only!(Left::Unknown);

    fn serialize_str(self, value: &str) -> Written {
        match self.notation {
            Notation::ObjectId => {
                let id = object_id(value).ok_or(Left::Unknown)?;
                self.bytes.extend_from_slice(&id);
            }
            Notation::DateTime => {
                let milliseconds: i64 = value.parse().map_err(|_| Left::Unknown)?;
                self.bytes.extend_from_slice(&milliseconds.to_le_bytes());
            }
        }
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Written {
        Err(Left::Unknown)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Written {
        Err(Left::Unknown)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Written {
        Err(Left::Unknown)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Number<'b>, Left> {
        match self.notation {
            Notation::DateTime => Ok(Number(Some(self))),
            Notation::ObjectId => Err(Left::Unknown),
        }
    }
}

/// Parses the hexadecimal digits of an `ObjectId`.
pub(super) fn object_id(digits: &str) -> Option<[u8; 12]> {
    let digits: &[u8; 24] = digits.as_bytes().try_into().ok()?;
    let (pairs, _) = digits.as_chunks::<2>();
    let mut bytes = [0; 12];
    // An invalid digit sets high bits that no valid digit has.
    let mut all = 0;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (digit(*high), digit(*low));
        all |= high | low;
        *byte = high << 4 | low;
    }
    (all < 16).then_some(bytes)
}

/// The value of a hexadecimal digit, 255 for every other character.
fn digit(character: u8) -> u8 {
    match character {
        b'0'..=b'9' => character - b'0',
        b'a'..=b'f' => character - b'a' + 10,
        b'A'..=b'F' => character - b'A' + 10,
        _ => u8::MAX,
    }
}

/// The `$numberLong` struct around the digits of a date, until they are written.
#[derive(Debug)]
pub(super) struct Number<'b>(Option<Digits<'b>>);

impl ser::SerializeStruct for Number<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Written {
        match self.0.take() {
            Some(digits) if key == "$numberLong" => value.serialize(digits),
            _ => Err(Left::Unknown),
        }
    }

    fn end(self) -> Written {
        match self.0 {
            None => Ok(()),
            Some(_) => Err(Left::Unknown),
        }
    }
}
