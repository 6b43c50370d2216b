//! A serializer that writes the types of BSON in their plain forms, and passes on everything else.

use std::ops::RangeInclusive;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bson::{Bson, DateTime, Document, Uuid};
use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// bson's types reach a serializer as structs with the names of Extended JSON, such as `$oid`.
pub(super) struct PlainSerializer<S>(pub(super) S);

/// A value inside another, which is written in the same way.
struct Inner<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Inner<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(PlainSerializer(serializer))
    }
}

macro_rules! pass_on {
    ($($method:ident($type:ty);)*) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        })*
    };
}

impl<S: Serializer> Serializer for PlainSerializer<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Elements<S::SerializeSeq>;
    type SerializeTuple = Elements<S::SerializeTuple>;
    type SerializeTupleStruct = Elements<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Elements<S::SerializeTupleVariant>;
    type SerializeMap = Elements<S::SerializeMap>;
    type SerializeStruct = Fields<S>;
    type SerializeStructVariant = Elements<S::SerializeStructVariant>;

    pass_on! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_unit_struct(&'static str);
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<S::Ok, S::Error> {
        self.0.serialize_str(&base64(bytes))
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Inner(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Inner(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0
            .serialize_newtype_variant(name, index, variant, &Inner(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Elements)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Elements)
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Elements)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0
            .serialize_tuple_variant(name, index, variant, len)
            .map(Elements)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(len).map(Elements)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let form = match name {
            "$oid" | "$numberDecimal" | "$symbol" | "$code" | "$timestamp"
            | "$regularExpression" => Form::Content,
            "$date" => Form::Date,
            "$binary" => Form::Binary,
            "$undefined" => Form::Null,
            _ => return self.0.serialize_struct(name, len).map(Fields::Struct),
        };
        Ok(Fields::Bson(form, Written::Not(self.0)))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0
            .serialize_struct_variant(name, index, variant, len)
            .map(Elements)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// The elements of a sequence, a map or a variant.
pub(super) struct Elements<C>(C);

macro_rules! elements {
    ($($trait:ident :: $method:ident($($name:ident: &'static str)?);)*) => {$(
        impl<C: $trait> $trait for Elements<C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), C::Error> {
                self.0.$method($($name,)? &Inner(value))
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        }
    )*};
}

elements! {
    SerializeSeq::serialize_element();
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStructVariant::serialize_field(name: &'static str);
}

impl<C: SerializeMap> SerializeMap for Elements<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    // A key may be an id, which is text in its plain form.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.0.serialize_key(&Inner(key))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_value(&Inner(value))
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), C::Error> {
        self.0.serialize_entry(&Inner(key), &Inner(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

/// How a struct of Extended JSON is written.
pub(super) enum Form {
    /// What its one field holds.
    Content,
    Date,
    Binary,
    Null,
}

/// The fields of a struct, or the one field of a struct that stands for a type of BSON.
pub(super) enum Fields<S: Serializer> {
    Struct(S::SerializeStruct),
    Bson(Form, Written<S>),
}

/// A value of a type of BSON, which is complete as soon as its field is known.
pub(super) enum Written<S: Serializer> {
    Not(S),
    Done(S::Ok),
    /// Writing failed.
    Never,
}

impl<S: Serializer> SerializeStruct for Fields<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        match self {
            Self::Struct(fields) => fields.serialize_field(name, &Inner(value)),
            Self::Bson(form, written) => match std::mem::replace(written, Written::Never) {
                Written::Not(serializer) => {
                    *written = Written::Done(form.write(value, serializer)?);
                    Ok(())
                }
                _ => Err(S::Error::custom(format!(
                    "a value of BSON has a second field, `{name}`"
                ))),
            },
        }
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), S::Error> {
        match self {
            Self::Struct(fields) => fields.skip_field(name),
            Self::Bson(..) => Ok(()),
        }
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        match self {
            Self::Struct(fields) => fields.end(),
            Self::Bson(_, Written::Done(value)) => Ok(value),
            Self::Bson(..) => Err(S::Error::custom("a value of BSON is without its field")),
        }
    }
}

impl Form {
    fn write<T: Serialize + ?Sized, S: Serializer>(
        &self,
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match self {
            Self::Content => value.serialize(PlainSerializer(serializer)),
            Self::Date => match millis(&extended(value)?) {
                // bson would move other dates to the nearest of these.
                Some(millis) if RFC_3339.contains(&millis) => {
                    let text = DateTime::from_millis(millis).try_to_rfc3339_string();
                    serializer.serialize_str(&text.map_err(S::Error::custom)?)
                }
                Some(millis) => serializer.serialize_i64(millis),
                None => Err(S::Error::custom("a date has a number of milliseconds")),
            },
            Self::Binary => {
                let Bson::Document(body) = extended(value)? else {
                    return Err(S::Error::custom("binary data has a subtype"));
                };
                if let Some(uuid) = uuid(&body) {
                    return serializer.serialize_str(&uuid.to_string());
                }
                body.serialize(serializer)
            }
            Self::Null => serializer.serialize_unit(),
        }
    }
}

/// The years from 0 to 9999, which are those that RFC 3339 has digits for.
const RFC_3339: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// The content of a struct of Extended JSON.
fn extended<T: Serialize + ?Sized, E: Error>(value: &T) -> Result<Bson, E> {
    bson::serialize_to_bson(value).map_err(E::custom)
}

fn millis(body: &Bson) -> Option<i64> {
    match body {
        Bson::Document(body) => body.get_str("$numberLong").ok()?.parse().ok(),
        Bson::Int64(millis) => Some(*millis),
        _ => None,
    }
}

/// The UUID in a body of binary data of subtype 4.
fn uuid(body: &Document) -> Option<Uuid> {
    if body.get_str("subType").ok()? != "04" {
        return None;
    }
    let bytes = STANDARD.decode(body.get_str("base64").ok()?).ok()?;
    Some(Uuid::from_bytes(bytes.try_into().ok()?))
}
