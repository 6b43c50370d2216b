use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{
    Binary, Bson, DateTime, Decimal128, JavaScriptCodeWithScope, RawArrayBuf, Regex, Timestamp,
    Uuid, doc, rawdoc,
};
use odm_language::value::raw;
use proptest::prelude::*;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};
use serde::{Serialize, Serializer};

use super::{Failure, deepest_field, document, repeated, value};

/// All that a value can say to a serializer.
#[derive(Debug, Clone)]
enum Said {
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
    F32(f32),
    F64(f64),
    Char(char),
    Str(String),
    Bytes(Vec<u8>),
    None,
    Some(Box<Said>),
    Unit,
    UnitStruct(&'static str),
    UnitVariant(&'static str),
    Newtype(&'static str, Box<Said>),
    NewtypeVariant(&'static str, Box<Said>),
    Seq(Vec<Said>),
    Tuple(Vec<Said>),
    TupleStruct(&'static str, Vec<Said>),
    TupleVariant(&'static str, Vec<Said>),
    Map(Vec<(Said, Said)>),
    Struct(&'static str, Vec<(&'static str, Said)>),
    StructVariant(&'static str, Vec<(&'static str, Said)>),
    Bson(Bson),
    Raw,
    RawArray,
    Uuid,
    Readable(Box<Said>),
    Refused,
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => to.serialize_bool(*value),
            Self::I8(value) => to.serialize_i8(*value),
            Self::I16(value) => to.serialize_i16(*value),
            Self::I32(value) => to.serialize_i32(*value),
            Self::I64(value) => to.serialize_i64(*value),
            Self::I128(value) => to.serialize_i128(*value),
            Self::U8(value) => to.serialize_u8(*value),
            Self::U16(value) => to.serialize_u16(*value),
            Self::U32(value) => to.serialize_u32(*value),
            Self::U64(value) => to.serialize_u64(*value),
            Self::F32(value) => to.serialize_f32(*value),
            Self::F64(value) => to.serialize_f64(*value),
            Self::Char(value) => to.serialize_char(*value),
            Self::Str(value) => to.serialize_str(value),
            Self::Bytes(value) => to.serialize_bytes(value),
            Self::None => to.serialize_none(),
            Self::Some(value) => to.serialize_some(value),
            Self::Unit => to.serialize_unit(),
            Self::UnitStruct(name) => to.serialize_unit_struct(name),
            Self::UnitVariant(variant) => to.serialize_unit_variant("", 0, variant),
            Self::Newtype(name, value) => to.serialize_newtype_struct(name, value),
            Self::NewtypeVariant(variant, value) => {
                to.serialize_newtype_variant("", 0, variant, value)
            }
            Self::Seq(values) => {
                let mut all = to.serialize_seq(None)?;
                values
                    .iter()
                    .try_for_each(|value| all.serialize_element(value))?;
                all.end()
            }
            Self::Tuple(values) => {
                let mut all = to.serialize_tuple(values.len())?;
                values
                    .iter()
                    .try_for_each(|value| all.serialize_element(value))?;
                all.end()
            }
            Self::TupleStruct(name, values) => {
                let mut all = to.serialize_tuple_struct(name, values.len())?;
                values
                    .iter()
                    .try_for_each(|value| all.serialize_field(value))?;
                all.end()
            }
            Self::TupleVariant(variant, values) => {
                let mut all = to.serialize_tuple_variant("", 0, variant, values.len())?;
                values
                    .iter()
                    .try_for_each(|value| all.serialize_field(value))?;
                all.end()
            }
            Self::Map(entries) => {
                let mut all = to.serialize_map(None)?;
                entries
                    .iter()
                    .try_for_each(|(key, value)| all.serialize_entry(key, value))?;
                all.end()
            }
            Self::Struct(name, fields) => {
                let mut all = to.serialize_struct(name, fields.len())?;
                fields
                    .iter()
                    .try_for_each(|(name, value)| all.serialize_field(name, value))?;
                all.end()
            }
            Self::StructVariant(variant, fields) => {
                let mut all = to.serialize_struct_variant("", 0, variant, fields.len())?;
                fields
                    .iter()
                    .try_for_each(|(name, value)| all.serialize_field(name, value))?;
                all.end()
            }
            Self::Bson(value) => value.serialize(to),
            Self::Raw => rawdoc! { "raw": [1, { "a": true }] }.serialize(to),
            Self::RawArray => RawArrayBuf::from_iter([1, 2]).serialize(to),
            Self::Uuid => Uuid::from_bytes([7; 16]).serialize(to),
            Self::Readable(value) => bson::serde_helpers::HumanReadable(value).serialize(to),
            Self::Refused => Err(S::Error::custom("it does not want to")),
        }
    }
}

/// Names of types, variants and fields, with those that bson gives its own.
fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("a"),
        Just("b"),
        Just(""),
        Just("ä"),
        Just("a"),
        Just("$oid"),
        Just("$date"),
        Just("$numberLong"),
        Just("$symbol"),
        Just("a\0b"),
    ]
}

/// A value of bson's, of every type.
fn bson() -> impl Strategy<Value = Bson> {
    let binary = |subtype| {
        let bytes = vec![1, 2];
        Bson::Binary(Binary { subtype, bytes })
    };
    let regex = Regex {
        pattern: "a".try_into().unwrap(),
        options: "xi".try_into().unwrap(),
    };
    let scoped = JavaScriptCodeWithScope {
        code: "y".to_owned(),
        scope: doc! { "z": 1 },
    };
    let (time, increment) = (1, 2);
    prop_oneof![
        any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(ObjectId::from_bytes(bytes))),
        any::<i64>().prop_map(|date| Bson::DateTime(DateTime::from_millis(date))),
        any::<f64>().prop_map(Bson::Double),
        Just(binary(BinarySubtype::Generic)),
        Just(binary(BinarySubtype::BinaryOld)),
        Just(Bson::RegularExpression(regex)),
        Just(Bson::JavaScriptCode("x".to_owned())),
        Just(Bson::JavaScriptCodeWithScope(scoped)),
        Just(Bson::Symbol("s".to_owned())),
        Just(Bson::Timestamp(Timestamp { time, increment })),
        Just(Bson::Decimal128("1.5".parse::<Decimal128>().unwrap())),
        Just(Bson::Undefined),
        Just(Bson::MinKey),
        Just(Bson::MaxKey),
        Just(Bson::Document(doc! { "a": { "b": [] }, "": 1 })),
        Just(Bson::Array(vec![Bson::Null, Bson::Array(vec![])])),
    ]
}

fn leaf() -> impl Strategy<Value = Said> {
    prop_oneof![
        any::<bool>().prop_map(Said::Bool),
        any::<i8>().prop_map(Said::I8),
        any::<i16>().prop_map(Said::I16),
        any::<i32>().prop_map(Said::I32),
        any::<i64>().prop_map(Said::I64),
        any::<u8>().prop_map(Said::U8),
        any::<u16>().prop_map(Said::U16),
        any::<u32>().prop_map(Said::U32),
        (0..=i64::MAX.cast_unsigned()).prop_map(Said::U64),
        any::<f32>().prop_map(Said::F32),
        any::<f64>().prop_map(Said::F64),
        any::<char>().prop_map(Said::Char),
        "[a-c\0ä]{0,12}".prop_map(Said::Str),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(Said::Bytes),
        Just(Said::None),
        Just(Said::Unit),
        name().prop_map(Said::UnitStruct),
        name().prop_map(Said::UnitVariant),
        bson().prop_map(Said::Bson),
        Just(Said::Raw),
        Just(Said::RawArray),
        Just(Said::Uuid),
        Just(Said::Str("0123456789abcdef01234567".to_owned())),
        Just(Said::Str("-15".to_owned())),
    ]
}

/// What no document can hold.
fn refused() -> impl Strategy<Value = Said> {
    prop_oneof![
        Just(Said::Refused),
        Just(Said::I128(1)),
        Just(Said::U64(u64::MAX)),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let leaf = prop_oneof![40 => leaf(), 1 => refused()];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..4);
        let fields = || prop::collection::vec((name(), inner.clone()), 0..4);
        let boxed = || inner.clone().prop_map(Box::new);
        let key = prop_oneof![
            8 => "[a-cä]{0,3}".prop_map(Said::Str),
            1 => name().prop_map(Said::UnitVariant),
            1 => (name(), boxed()).prop_map(|(name, key)| Said::Newtype(name, key)),
            1 => boxed().prop_map(Said::Some),
        ];
        prop_oneof![
            boxed().prop_map(Said::Some),
            boxed().prop_map(Said::Readable),
            (name(), boxed()).prop_map(|(name, value)| Said::Newtype(name, value)),
            (name(), boxed()).prop_map(|(name, value)| Said::NewtypeVariant(name, value)),
            list().prop_map(Said::Seq),
            prop::collection::vec(Just(Said::Unit), 9..13).prop_map(Said::Seq),
            list().prop_map(Said::Tuple),
            (name(), list()).prop_map(|(name, all)| Said::TupleStruct(name, all)),
            (name(), list()).prop_map(|(name, all)| Said::TupleVariant(name, all)),
            prop::collection::vec((key, inner.clone()), 0..4).prop_map(Said::Map),
            (name(), fields()).prop_map(|(name, all)| Said::Struct(name, all)),
            (name(), fields()).prop_map(|(name, all)| Said::StructVariant(name, all)),
        ]
    })
}

fn compare(value: &Said) {
    let theirs = bson::serialize_to_raw_document_buf(value);
    match (document(value), theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{value:?}"),
        (Err(Failure::Bson(ours)), Err(theirs)) => {
            assert_eq!(ours.to_string(), theirs.to_string());
        }
        (Err(Failure::Repeated(ours)), Ok(theirs)) => {
            assert_eq!(repeated::path(raw::walk(&theirs)), Some(ours), "{value:?}");
        }
        (ours, theirs) => panic!("{value:?} is {ours:?}, and by bson {theirs:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_value_is_written_as_bson_writes_it(value in said()) {
        compare(&value);
    }

    #[test]
    fn any_field_is_written_as_bson_writes_it(value in said()) {
        compare(&Said::Struct("a", vec![("before", Said::I32(1)), ("a", value), ("after", Said::Unit)]));
    }
}

#[test]
fn raw_values_and_uuids_are_written_as_bson_writes_them() {
    for value in [Said::Raw, Said::RawArray, Said::Uuid] {
        let readable = Said::Readable(Box::new(value));
        let bytes = Said::Bytes(vec![]);
        compare(&Said::Struct(
            "a",
            vec![("a", readable.clone()), ("b", bytes.clone())],
        ));
        compare(&Said::Struct(
            "a",
            vec![("a", Said::Seq(vec![readable])), ("b", bytes)],
        ));
    }
}

#[test]
fn lookalikes_of_bson_types_are_written_as_bson_writes_them() {
    let digits = || Said::Str("0123456789abcdef01234567".to_owned());
    let number = || Said::Str("-15".to_owned());
    let long = |value| Said::Struct("long", vec![("$numberLong", value)]);
    for (name, fields) in [
        ("$oid", vec![]),
        ("$oid", vec![("$oid", digits())]),
        ("$oid", vec![("$oid", number())]),
        ("$oid", vec![("$oid", Said::I32(1))]),
        ("$oid", vec![("oid", digits())]),
        ("$oid", vec![("$oid", digits()), ("$oid", digits())]),
        (
            "$oid",
            vec![("$oid", Said::Struct("$oid", vec![("$oid", digits())]))],
        ),
        ("$date", vec![]),
        ("$date", vec![("$date", number())]),
        ("$date", vec![("$date", Said::I64(1))]),
        ("$date", vec![("$date", long(number()))]),
        ("$date", vec![("$date", long(digits()))]),
        ("$date", vec![("$date", long(long(number())))]),
        ("$date", vec![("$date", Said::Struct("long", vec![]))]),
        (
            "$date",
            vec![("$date", long(number())), ("$date", long(number()))],
        ),
        ("$symbol", vec![("$symbol", digits())]),
    ] {
        let value = Said::Struct(name, fields);
        compare(&value);
        compare(&Said::Map(vec![(Said::Str("a".to_owned()), value.clone())]));
        compare(&Said::Seq(vec![value]));
    }
}

fn text(text: &str) -> Said {
    Said::Str(text.to_owned())
}

#[test]
fn a_value_of_any_depth_is_encoded_or_refused() {
    let nested = |levels| {
        let nest = |inside, _| Said::Map(vec![(text("a"), Said::Seq(vec![inside]))]);
        (0..levels).fold(Said::I32(1), nest)
    };
    assert!(document(&nested(100)).is_ok());
    for levels in [101, 3_000] {
        let value = nested(levels);
        assert!(matches!(document(&value), Err(Failure::TooDeep)));
        assert!(matches!(super::value(&value), Err(Failure::TooDeep)));
        assert_eq!(deepest_field(&value).as_deref(), Some("a[0]"));
        // Dropping it would recurse, too.
        std::mem::forget(value);
    }
}

#[test]
fn maps_of_unknown_length_have_no_duplicate_keys() {
    let map = |keys: &[&str]| {
        let entries = keys.iter().map(|key| (text(key), Said::I32(1)));
        Said::Map(entries.collect())
    };
    assert!(document(&map(&["a", "b", "aa", ""])).is_ok());
    let path = |value: &Said| match document(value) {
        Err(Failure::Repeated(path)) => path,
        other => panic!("{other:?}"),
    };
    assert_eq!(path(&map(&["a", "b", "a"])), "a");
    assert_eq!(path(&map(&["b", "a", "a"])), "a");
    assert_eq!(path(&map(&["", ""])), "");
    let nested = Said::Map(vec![(text("x"), Said::Seq(vec![map(&["a", "b", "b"])]))]);
    assert_eq!(path(&nested), "x.0.b");
    let many: Vec<_> = (0..200).map(|at| format!("key{}", at % 199)).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    assert_eq!(path(&map(&many)), "key0");
    let struct_around = Said::Struct("a", vec![("before", Said::I32(1)), ("x", nested)]);
    assert_eq!(path(&struct_around), "x.x.0.b");
    let readable = Said::Readable(Box::new(map(&["a", "a"])));
    assert_eq!(path(&Said::Struct("a", vec![("x", readable)])), "x.a");
}

#[test]
fn maps_do_not_repeat_the_enum_tag() {
    #[derive(Serialize)]
    #[serde(tag = "t")]
    enum Tagged {
        Map(std::collections::BTreeMap<&'static str, i32>),
    }
    let tagged = |key| Tagged::Map([("a", 1), (key, 2), ("x", 3)].into());
    assert!(document(&tagged("tt")).is_ok());
    assert!(document(&tagged("")).is_ok());
    assert!(matches!(document(&tagged("t")), Err(Failure::Repeated(path)) if path == "t"));
}

#[test]
fn maps_do_not_repeat_tags_of_outer_enums() {
    #[derive(Serialize)]
    #[serde(tag = "kind")]
    enum Outer {
        In(Inner),
    }
    #[derive(Serialize)]
    #[serde(tag = "t")]
    enum Inner {
        Map(std::collections::BTreeMap<&'static str, i32>),
    }
    let tagged = |key| Outer::In(Inner::Map([("a", 1), (key, 2)].into()));
    assert!(document(&tagged("b")).is_ok());
    for tag in ["kind", "t"] {
        assert!(matches!(document(&tagged(tag)), Err(Failure::Repeated(path)) if path == tag));
    }
}

#[test]
fn error_paths_start_at_the_value() {
    let twice = Said::Map(vec![(text("v"), Said::Unit), (text("v"), Said::Unit)]);
    let outer = Said::Struct("a", vec![("v", twice.clone())]);
    for (one, path) in [(twice, "v"), (outer, "v.v")] {
        let error = value(&one).unwrap_err().into_error();
        assert_eq!(error.path(), Some(path));
        assert!(error.is_encode());
    }
    assert_eq!(value(&Said::I32(1)).unwrap(), Bson::Int32(1));
    assert_eq!(value(&Said::Unit).unwrap(), Bson::Null);
}

#[test]
fn object_id_digits_are_read_as_bson_reads_them() {
    let digits = "0123456789abcdefABCDEF00";
    let mut texts = vec![String::new(), digits.to_owned(), format!("{digits}00")];
    texts.extend([22, 23].map(|length| digits.chars().take(length).collect()));
    for character in (0..=u8::MAX).map(char::from) {
        texts.push(digits.replacen('9', &character.to_string(), 1));
        texts.push(digits.replacen('8', &character.to_string(), 1));
    }
    for text in texts {
        let read = super::strings::object_id(&text).map(ObjectId::from_bytes);
        assert_eq!(read, ObjectId::parse_str(&text).ok(), "{text:?}");
    }
}
