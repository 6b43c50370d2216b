//! Serializable values into BSON: the bytes that bson's serializer writes, and its refusals.

use std::collections::HashSet;

use odm::bson::raw::{RawBson, RawBsonRef, RawDocumentBuf};
use odm::bson::{self, Bson, Document};
use odm::support::bytes;
use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::draw::Draw;
use crate::targets::DEPTH;

pub fn encode(data: &[u8]) {
    let mut draw = Draw::new(data);
    let value = match draw.below(8) {
        0 => Value::draw(&mut draw, DEPTH),
        _ => Value::Struct(fields(&mut draw, DEPTH)),
    };
    let ours = bytes::encode(&value);
    let theirs = bson::serialize_to_raw_document_buf(&value);
    match (ours, theirs) {
        (Ok(Some(ours)), Ok(theirs)) => assert_eq!(ours, theirs, "{value:?}"),
        (Ok(None), Ok(theirs)) => {
            assert!(repeats(RawBsonRef::Document(&theirs)), "{value:?}");
        },
        (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string()),
        (ours, theirs) => panic!("{ours:?}, but bson: {theirs:?}"),
    }
}

/// Whether a document has a key twice, anywhere.
fn repeats(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Document(document) => {
            let mut keys = HashSet::new();
            let mut elements = document.iter().flatten();
            elements.any(|(key, value)| !keys.insert(key) || repeats(value))
        }
        RawBsonRef::Array(array) => array.into_iter().flatten().any(repeats),
        _ => false,
    }
}

const NAMES: &[&str] = &[
    "a",
    "b",
    "",
    "_id",
    "é",
    "$oid",
    "$date",
    "a.b",
    "0",
    "$numberInt",
    "a\0b",
    "a name of twenty-five",
];

/// Whatever serde can tell of a value.
#[derive(Debug)]
enum Value {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F32(f32),
    F64(f64),
    Char(char),
    Text(String),
    Shown(String),
    Bytes(Vec<u8>),
    None,
    Some(Box<Value>),
    Unit,
    UnitStruct,
    UnitVariant(&'static str),
    NewtypeStruct(Box<Value>),
    NewtypeVariant(&'static str, Box<Value>),
    Seq(Vec<Value>, bool),
    Tuple(Vec<Value>),
    TupleStruct(Vec<Value>),
    TupleVariant(&'static str, Vec<Value>),
    Map(Vec<(Value, Value)>, bool),
    Struct(Vec<(&'static str, Value)>),
    StructVariant(&'static str, Vec<(&'static str, Value)>),
    Bson(Bson),
    Raw(RawBson),
    Document(Document),
    RawDocument(RawDocumentBuf),
    Fails,
}

fn name(draw: &mut Draw<'_>) -> &'static str {
    draw.pick(NAMES)
}

fn values(draw: &mut Draw<'_>, depth: usize) -> Vec<Value> {
    let count = if draw.one_in(16) {
        draw.below(120)
    } else {
        draw.below(4)
    };
    (0..count).map(|_| Value::draw(draw, depth)).collect()
}

fn fields(draw: &mut Draw<'_>, depth: usize) -> Vec<(&'static str, Value)> {
    (0..draw.below(5))
        .map(|_| (name(draw), Value::draw(draw, depth)))
        .collect()
}

impl Value {
    fn draw(draw: &mut Draw<'_>, depth: usize) -> Self {
        let below = depth.saturating_sub(1);
        match draw.below(if depth == 0 { 21 } else { 37 }) {
            0 => Self::Bool(draw.one_in(2)),
            1 => Self::I8(draw.number()),
            2 => Self::I16(draw.number()),
            3 => Self::I32(draw.number()),
            4 => Self::I64(draw.number()),
            5 => Self::I128(draw.number()),
            6 => Self::U8(draw.number()),
            7 => Self::U16(draw.number()),
            8 => Self::U32(draw.number()),
            9 => Self::U64(draw.number()),
            10 => Self::U128(draw.number()),
            11 => Self::F32(draw.number()),
            12 => Self::F64(draw.number()),
            13 => Self::Char(draw.number()),
            14 => Self::Text(draw.text()),
            15 => Self::Shown(draw.text()),
            16 => Self::Bytes(draw.number()),
            17 => Self::None,
            18 => Self::Unit,
            19 => Self::UnitStruct,
            20 => Self::UnitVariant(name(draw)),
            21 => Self::Some(Box::new(Self::draw(draw, below))),
            22 => Self::NewtypeStruct(Box::new(Self::draw(draw, below))),
            23 => Self::NewtypeVariant(name(draw), Box::new(Self::draw(draw, below))),
            24 => Self::Seq(values(draw, below), draw.one_in(2)),
            25 => Self::Tuple(values(draw, below)),
            26 => Self::TupleStruct(values(draw, below)),
            27 => Self::TupleVariant(name(draw), values(draw, below)),
            28 => {
                let keys = values(draw, 1);
                let entries = keys.into_iter().map(|key| (key, Self::draw(draw, below)));
                Self::Map(entries.collect(), draw.one_in(2))
            }
            29 => {
                let entries =
                    (0..draw.below(4)).map(|_| (Self::Text(draw.text()), Self::draw(draw, below)));
                Self::Map(entries.collect(), false)
            }
            30 | 31 => Self::Struct(fields(draw, below)),
            32 => Self::StructVariant(name(draw), fields(draw, below)),
            33 => Self::Bson(draw.value(below)),
            34 => RawBson::try_from(draw.value(below)).map_or(Self::Fails, Self::Raw),
            35 => Self::RawDocument(draw.raw_document(NAMES, below)),
            _ if draw.one_in(8) => Self::Fails,
            _ => Self::Document(draw.value(below).as_document().cloned().unwrap_or_default()),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::I8(value) => serializer.serialize_i8(*value),
            Self::I16(value) => serializer.serialize_i16(*value),
            Self::I32(value) => serializer.serialize_i32(*value),
            Self::I64(value) => serializer.serialize_i64(*value),
            Self::I128(value) => serializer.serialize_i128(*value),
            Self::U8(value) => serializer.serialize_u8(*value),
            Self::U16(value) => serializer.serialize_u16(*value),
            Self::U32(value) => serializer.serialize_u32(*value),
            Self::U64(value) => serializer.serialize_u64(*value),
            Self::U128(value) => serializer.serialize_u128(*value),
            Self::F32(value) => serializer.serialize_f32(*value),
            Self::F64(value) => serializer.serialize_f64(*value),
            Self::Char(value) => serializer.serialize_char(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Shown(value) => serializer.collect_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::None => serializer.serialize_none(),
            Self::Some(value) => serializer.serialize_some(value),
            Self::Unit => serializer.serialize_unit(),
            Self::UnitStruct => serializer.serialize_unit_struct("Unit"),
            Self::UnitVariant(name) => serializer.serialize_unit_variant("Enum", 0, name),
            Self::NewtypeStruct(value) => serializer.serialize_newtype_struct("New", value),
            Self::NewtypeVariant(name, value) => {
                serializer.serialize_newtype_variant("Enum", 0, name, value)
            }
            Self::Seq(values, known) => {
                let mut seq = serializer.serialize_seq(known.then_some(values.len()))?;
                values
                    .iter()
                    .try_for_each(|value| seq.serialize_element(value))?;
                seq.end()
            }
            Self::Tuple(values) => {
                let mut tuple = serializer.serialize_tuple(values.len())?;
                values
                    .iter()
                    .try_for_each(|value| tuple.serialize_element(value))?;
                tuple.end()
            }
            Self::TupleStruct(values) => {
                let mut tuple = serializer.serialize_tuple_struct("Tuple", values.len())?;
                values
                    .iter()
                    .try_for_each(|value| tuple.serialize_field(value))?;
                tuple.end()
            }
            Self::TupleVariant(name, values) => {
                let mut tuple =
                    serializer.serialize_tuple_variant("Enum", 0, name, values.len())?;
                values
                    .iter()
                    .try_for_each(|value| tuple.serialize_field(value))?;
                tuple.end()
            }
            Self::Map(entries, known) => {
                let mut map = serializer.serialize_map(known.then_some(entries.len()))?;
                for (key, value) in entries {
                    if *known {
                        map.serialize_entry(key, value)?;
                    } else {
                        map.serialize_key(key)?;
                        map.serialize_value(value)?;
                    }
                }
                map.end()
            }
            Self::Struct(fields) => {
                let mut object = serializer.serialize_struct("Struct", fields.len())?;
                for (name, value) in fields {
                    object.serialize_field(name, value)?;
                }
                object.end()
            }
            Self::StructVariant(name, fields) => {
                let mut object =
                    serializer.serialize_struct_variant("Enum", 0, name, fields.len())?;
                for (name, value) in fields {
                    object.serialize_field(name, value)?;
                }
                object.end()
            }
            Self::Bson(value) => value.serialize(serializer),
            Self::Raw(value) => value.serialize(serializer),
            Self::Document(value) => value.serialize(serializer),
            Self::RawDocument(value) => value.serialize(serializer),
            Self::Fails => Err(S::Error::custom("it fails")),
        }
    }
}
