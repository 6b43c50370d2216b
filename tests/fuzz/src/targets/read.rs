//! Structs out of BSON: the same values as bson's deserializer makes, and none where it makes none.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use odm::bson::error::ErrorKind;
use odm::bson::oid::ObjectId;
use odm::bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use odm::bson::{
    self, Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, Regex, Timestamp,
    Uuid,
};
use odm::support::bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::draw::Draw;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct Typed {
    int: i32,
    long: i64,
    double: f64,
    string: String,
    bool: bool,
    oid: ObjectId,
    date: DateTime,
    decimal: Decimal128,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Lenient {
    int: Option<u8>,
    long: Option<u64>,
    double: Option<f32>,
    string: Option<char>,
    bool: Option<Option<bool>>,
    oid: Option<Bson>,
    date: Option<DateTime>,
    decimal: Option<Decimal128>,
    uuid: Option<Uuid>,
    regex: Option<Regex>,
    timestamp: Option<Timestamp>,
    binary: Option<Binary>,
    code: Option<JavaScriptCodeWithScope>,
    document: Option<Document>,
    array: Option<Vec<Bson>>,
    shape: Option<Shape>,
    unit: Option<()>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct Nested {
    document: Option<Box<Nested>>,
    #[serde(default)]
    array: Vec<Nested>,
    #[serde(default)]
    map: BTreeMap<String, Option<i32>>,
    #[serde(default)]
    dates: BTreeMap<String, DateTime>,
    #[serde(default)]
    ids: Vec<ObjectId>,
    #[serde(default)]
    pair: Option<(i32, String)>,
    #[serde(default)]
    three: Option<[i64; 3]>,
    #[serde(default)]
    wrapped: Option<Wrapped>,
    #[serde(default)]
    nothing: Option<Nothing>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct Wrapped(i64);

#[derive(Debug, Deserialize)]
struct Nothing;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
enum Shape {
    #[serde(rename = "a")]
    Point,
    #[serde(rename = "b")]
    Circle(i32),
    #[serde(rename = "document")]
    Line(i32, DateTime),
    #[serde(rename = "int")]
    Box { int: i32, date: Option<DateTime> },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "string", rename_all = "lowercase")]
#[expect(dead_code, reason = "printed")]
enum Tagged {
    A {
        int: i32,
        date: DateTime,
    },
    B {
        oid: ObjectId,
        binary: Option<Binary>,
    },
    C,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "string", content = "document", rename_all = "lowercase")]
#[expect(dead_code, reason = "printed")]
enum Adjacent {
    A(i32),
    B(Document),
    C {
        int: i64,
        decimal: Option<Decimal128>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "printed")]
enum Untagged {
    Number(i32),
    Word(String),
    Time(DateTime),
    Id(ObjectId),
    Shape(Shape),
    Many(Vec<Untagged>),
    Rest(Bson),
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct Flat {
    int: Option<i32>,
    #[serde(flatten)]
    inner: FlatInner,
    #[serde(flatten)]
    rest: BTreeMap<String, Bson>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct FlatInner {
    date: Option<DateTime>,
    document: Option<BTreeMap<String, i32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "printed")]
struct Strict {
    int: IgnoredAny,
    #[serde(alias = "date")]
    long: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct Borrowed<'a> {
    #[serde(borrow)]
    string: Option<&'a str>,
    #[serde(borrow)]
    document: Option<&'a RawDocument>,
    #[serde(borrow)]
    code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    oid: Option<&'a [u8]>,
    #[serde(borrow)]
    binary: Option<RawBsonRef<'a>>,
    #[serde(borrow, default)]
    map: BTreeMap<&'a str, RawBsonRef<'a>>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "printed")]
struct Raw {
    document: RawDocumentBuf,
    int: RawBson,
}

const NAMES: &[&str] = &[
    "int",
    "long",
    "double",
    "string",
    "bool",
    "oid",
    "date",
    "decimal",
    "uuid",
    "regex",
    "timestamp",
    "binary",
    "code",
    "document",
    "array",
    "shape",
    "unit",
    "map",
    "dates",
    "ids",
    "pair",
    "three",
    "wrapped",
    "nothing",
    "a",
    "b",
    "c",
    "0",
    "1",
    "$oid",
    "$date",
    "$numberInt",
    "$numberLong",
    "$binary",
    "$numberDecimal",
    "$uuid",
    "$regularExpression",
];

pub fn read(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut bytes = match draw.below(4) {
        0 => framed(draw.rest()),
        _ => draw.raw_document(NAMES, 4).into_bytes(),
    };
    if draw.one_in(3) {
        draw.spoil(&mut bytes);
    }
    same::<Typed>(&bytes, Looks::Away);
    same::<Lenient>(&bytes, Looks::Away);
    same::<Nested>(&bytes, Looks::Away);
    same::<Shape>(&bytes, Looks::Away);
    same::<Tagged>(&bytes, Looks::Away);
    same::<Adjacent>(&bytes, Looks::Away);
    same::<Untagged>(&bytes, Looks::Away);
    same::<BTreeMap<String, Untagged>>(&bytes, Looks::Away);
    same::<BTreeMap<String, Lenient>>(&bytes, Looks::Away);
    same::<Flat>(&bytes, Looks::AtAll);
    same::<Strict>(&bytes, Looks::Away);
    same::<Borrowed<'_>>(&bytes, Looks::Away);
    same::<Raw>(&bytes, Looks::Away);
    same::<Document>(&bytes, Looks::AtAll);
    same::<RawDocumentBuf>(&bytes, Looks::AtAll);
    same::<Bson>(&bytes, Looks::AtAll);
    same::<Option<BTreeMap<String, Bson>>>(&bytes, Looks::AtAll);
    same::<BTreeMap<Key, RawBson>>(&bytes, Looks::AtAll);
    same::<(i32, Bson)>(&bytes, Looks::AtAll);
    same::<i32>(&bytes, Looks::AtAll);
}

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Key {
    Int,
    Long,
    String,
    Document,
}

/// Whether a type looks at all that a document holds.
#[derive(Clone, Copy, PartialEq)]
enum Looks {
    AtAll,
    Away,
}

/// Both deserializers: the same value, or a failure of both. Of bytes that are no BSON the reader may refuse more, as
/// collections then ask bson; and it does not check what the type does not look at, nor the names in arrays.
fn same<'a, T: Deserialize<'a> + Debug>(document: &'a [u8], looks: Looks) {
    let ours = bytes::read::<T>(document);
    let theirs = bson::deserialize_from_slice::<T>(document);
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(format!("{ours:?}"), format!("{theirs:?}")),
        (Err(_), Err(_)) => {}
        (Err(_), Ok(_)) if !is_sound(document) => {}
        (Ok(_), Err(_)) if looks == Looks::Away && !is_sound(document) => {}
        (Ok(_), Err(error)) if matches!(error.kind, ErrorKind::Utf8Encoding { .. }) => {}
        _ => panic!("{ours:?}, but bson: {theirs:?}"),
    }
}

fn is_sound(document: &[u8]) -> bool {
    RawDocument::from_bytes(document).is_ok_and(|document| Document::try_from(document).is_ok())
}

/// The bytes as what a document holds.
fn framed(data: &[u8]) -> Vec<u8> {
    let size = i32::try_from(data.len() + 5).unwrap_or(i32::MAX);
    [&size.to_le_bytes(), data, &[0]].concat()
}
