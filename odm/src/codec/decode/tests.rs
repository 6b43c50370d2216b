use std::collections::BTreeMap;
use std::fmt::Debug;

use bson::oid::ObjectId;
use bson::raw::{RawArray, RawBinaryRef, RawJavaScriptCodeWithScopeRef, RawRegexRef};
use bson::serde_helpers::HumanReadable;
use bson::{
    Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, RawBson, RawBsonRef,
    RawDocument, RawDocumentBuf, Regex, Timestamp, Utf8Lossy, Uuid, doc,
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

/// What borrows from the bytes, whoever visits it.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only their Debug form is compared")]
struct Borrowed<'a> {
    string: &'a str,
    #[serde(borrow)]
    document: &'a RawDocument,
    array: &'a RawArray,
    binary: &'a [u8],
    #[serde(borrow)]
    md5: RawBinaryRef<'a>,
    regex: RawRegexRef<'a>,
    code: RawBsonRef<'a>,
    scoped: RawJavaScriptCodeWithScopeRef<'a>,
    symbol: RawBsonRef<'a>,
    decimal: RawBsonRef<'a>,
}

#[test]
fn borrowed_values_are_read_as_bson_reads_them() {
    let bytes = bson::serialize_to_vec(&all_types()).unwrap();
    let theirs: Borrowed<'_> = bson::deserialize_from_slice(&bytes).unwrap();
    let ours: Borrowed<'_> = read(&bytes).unwrap();
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    let all = bytes.as_ptr_range();
    for part in [ours.binary, ours.md5.bytes, ours.array.as_bytes()] {
        assert!(all.contains(&part.as_ptr()));
    }
}

#[test]
fn code_with_scope_is_read_as_bson_reads_it() {
    #[derive(Debug, Deserialize)]
    struct Scoped<S> {
        #[serde(rename = "$code")]
        _code: String,
        #[serde(rename = "$scope")]
        scope: S,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only their Debug form is compared")]
    struct Scope {
        shapes: Vec<Shape>,
        r#box: Shape,
        wrapped: Wrapped,
        none: Option<Shape>,
        some: Option<Uuid>,
    }
    let scope = doc! {
        "shapes": ["Point", { "Circle": 1 }, { "Line": [1, 2_i64] }],
        "box": { "Box": { "width": 1, "at": DateTime::from_millis(1) } },
        "wrapped": 1_i64,
        "none": Bson::Null,
        "some": Uuid::from_bytes([7; 16]),
    };
    let code = "x".to_owned();
    let bytes =
        bson::serialize_to_vec(&doc! { "a": JavaScriptCodeWithScope { code, scope } }).unwrap();
    let read = same::<BTreeMap<String, Scoped<Scope>>>(&bytes).unwrap();
    assert_eq!(read["a"].scope.shapes.len(), 3);
    same::<BTreeMap<String, Scoped<Document>>>(&bytes).unwrap();
    assert!(same::<BTreeMap<String, Scoped<i32>>>(&bytes).is_none());
}

#[test]
fn values_in_wrappers_are_read_as_bson_reads_them() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only their Debug form is compared")]
    struct Readable {
        at: std::net::IpAddr,
        all: Vec<Shape>,
        maybe: Option<ObjectId>,
        uuid: Uuid,
        raw: RawBson,
        any: Bson,
    }
    let readable = doc! {
        "at": "127.0.0.1",
        "all": ["Point", { "Circle": 1 }],
        "maybe": ObjectId::from_bytes([1; 12]),
        "uuid": Uuid::from_bytes([7; 16]),
        "raw": DateTime::from_millis(1),
        "any": { "a": [1, DateTime::from_millis(2)] },
    };
    let bytes = bson::serialize_to_vec(&doc! { "a": readable.clone() }).unwrap();
    same::<BTreeMap<String, HumanReadable<Readable>>>(&bytes).unwrap();
    assert!(same::<BTreeMap<String, Readable>>(&bytes).is_none());
    let bytes = bson::serialize_to_vec(&readable).unwrap();
    same::<HumanReadable<Readable>>(&bytes).unwrap();

    let mut bytes = bson::serialize_to_vec(&doc! {
        "string": "0x0x",
        "code": Bson::JavaScriptCode("0x".to_owned()),
        "scoped": JavaScriptCodeWithScope { code: "x".to_owned(), scope: doc! { "z": "0x" } },
        "symbol": Bson::Symbol("0x".to_owned()),
        "uuid": Uuid::from_bytes([7; 16]),
        "decimal": "1.5".parse::<Decimal128>().unwrap(),
        "nested": { "strings": ["0x", "ä"] },
    })
    .unwrap();
    same::<Utf8Lossy<Document>>(&bytes).unwrap();
    for at in 0..bytes.len() - 1 {
        if bytes[at..].starts_with(b"0x") {
            bytes[at] = 0xff;
        }
    }
    assert!(same::<Document>(&bytes).is_none());
    same::<Utf8Lossy<Document>>(&bytes).unwrap();
    same::<Utf8Lossy<BTreeMap<String, Bson>>>(&bytes).unwrap();
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
fn documents_that_look_like_another_value_are_refused_or_kept() {
    let spelled = [
        doc! { "$oid": "0".repeat(24) },
        doc! { "b": 1, "$date": { "$numberLong": "5" } },
        doc! { "$numberInt": "5" },
        doc! { "$binary": { "base64": "", "subType": "00" }, "b": 1 },
    ];
    for spelled in spelled {
        for value in [
            Bson::from(spelled.clone()),
            Bson::from(vec![spelled.clone()]),
            Bson::from(doc! { "c": spelled.clone() }),
        ] {
            let document = doc! { "a": value };
            let bytes = bson::serialize_to_vec(&document).unwrap();
            assert!(read::<Document>(&bytes).is_err(), "{document}");
            assert!(read::<BTreeMap<String, Bson>>(&bytes).is_err());
            let why = super::trace::<BTreeMap<String, Option<Bson>>>(&bytes).unwrap_err();
            assert!(why.path().unwrap().starts_with('a'), "{why:?}");
            assert!(why.message().contains("RawBson"), "{why:?}");
            let raw: BTreeMap<String, RawBson> = read(&bytes).unwrap();
            assert_eq!(bson::serialize_to_vec(&raw).unwrap(), bytes);
        }
        let bytes = bson::serialize_to_vec(&spelled).unwrap();
        assert!(read::<Document>(&bytes).is_err(), "{spelled}");
    }
    let other = doc! { "$ref": "a", "$id": 1, "$date2": { "$set": DateTime::from_millis(1) } };
    same::<Document>(&bson::serialize_to_vec(&other).unwrap());
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Email(String);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Day {
    Monday,
    #[serde(rename = "tue")]
    Tuesday,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Of<T>(T);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Book {
    Newtype(BTreeMap<Email, i32>),
    Tuple(i32, BTreeMap<Email, DateTime>),
    Struct { by_mail: BTreeMap<Of<Email>, i32> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t")]
enum Tagged2 {
    Map(BTreeMap<Email, i32>),
    Struct { by_mail: BTreeMap<Email, i32> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Keyed {
    by_mail: BTreeMap<Email, i32>,
    by_day: BTreeMap<Day, i32>,
    by_both: BTreeMap<Of<Day>, BTreeMap<Of<Of<Email>>, i32>>,
    books: Vec<Book>,
    tagged: Vec<Tagged2>,
    inside: Option<Box<Keyed>>,
    #[serde(flatten)]
    rest: BTreeMap<Email, i32>,
}

#[test]
fn keys_may_be_newtypes_and_variants() {
    let mail = || Email("ada@example.com".to_owned());
    let keyed = |inside| Keyed {
        by_mail: [(mail(), 1)].into(),
        by_day: [(Day::Monday, 1), (Day::Tuesday, 2)].into(),
        by_both: [(Of(Day::Tuesday), [(Of(Of(mail())), 1)].into())].into(),
        books: vec![
            Book::Newtype([(mail(), 1)].into()),
            Book::Tuple(1, [(mail(), DateTime::from_millis(1))].into()),
            Book::Struct {
                by_mail: [(Of(mail()), 2)].into(),
            },
        ],
        tagged: vec![
            Tagged2::Map([(mail(), 1)].into()),
            Tagged2::Struct {
                by_mail: [(mail(), 1)].into(),
            },
        ],
        inside,
        rest: [(Email("bob@example.com".to_owned()), 1)].into(),
    };
    let value = keyed(Some(Box::new(keyed(None))));
    let bytes = bson::serialize_to_vec(&value).unwrap();
    assert_eq!(read::<Keyed>(&bytes).unwrap(), value);
    // A key that is no variant is not read.
    assert!(same::<BTreeMap<Day, i32>>(&bytes).is_none());
}

#[test]
fn variants_are_read_at_the_root_as_bson_reads_them() {
    for document in [
        doc! { "Circle": 1 },
        doc! { "Circle": "x" },
        doc! { "Circle": 1, "Line": 2 },
        doc! { "Line": [1, 2_i64] },
        doc! { "Line": [1] },
        doc! { "Point": Bson::Null },
        doc! { "Nothing": 1 },
        doc! { "Box": { "width": 1, "at": DateTime::from_millis(1) } },
        doc! {},
    ] {
        let bytes = bson::serialize_to_vec(&document).unwrap();
        same::<Shape>(&bytes);
        let bytes = bson::serialize_to_vec(&doc! { "a": document }).unwrap();
        same::<BTreeMap<String, Shape>>(&bytes);
    }
}

#[test]
fn dates_are_presented_to_types_as_bson_presents_them() {
    type Shown = BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>;
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only their Debug form is compared")]
    enum Loose {
        Millis(i64),
        Map(BTreeMap<String, String>),
    }
    for millis in [i64::MIN, -1, 0, 1_700_000_000_000, i64::MAX] {
        let date = DateTime::from_millis(millis);
        let bytes = bson::serialize_to_vec(&doc! { "a": date }).unwrap();
        same::<Shown>(&bytes).unwrap();
        same::<BTreeMap<String, serde_json::Value>>(&bytes).unwrap();
        same::<BTreeMap<String, BTreeMap<String, Loose>>>(&bytes).unwrap();
        assert_eq!(
            same::<BTreeMap<String, DateTime>>(&bytes).unwrap()["a"],
            date
        );
        assert_eq!(same::<Document>(&bytes), Some(doc! { "a": date }));
        same::<BTreeMap<String, RawBson>>(&bytes).unwrap();
    }
}

/// Where this fails, `date::BODY` needs the new name: dates are read right, but slowly.
#[test]
fn dates_of_known_types_are_read_as_bson_reads_them() {
    struct Probe(Option<&'static str>);

    impl<'de> serde::de::MapAccess<'de> for &mut Probe {
        type Error = serde::de::value::Error;

        fn next_key_seed<K: serde::de::DeserializeSeed<'de>>(
            &mut self,
            seed: K,
        ) -> Result<Option<K::Value>, Self::Error> {
            let name = serde::de::value::BorrowedStrDeserializer::new("$date");
            seed.deserialize(name).map(Some)
        }

        fn next_value_seed<S: serde::de::DeserializeSeed<'de>>(
            &mut self,
            _: S,
        ) -> Result<S::Value, Self::Error> {
            self.0 = Some(std::any::type_name::<S::Value>());
            Err(serde::de::Error::custom("asked"))
        }
    }

    let mut probe = Probe(None);
    let access = serde::de::value::MapAccessDeserializer::new(&mut probe);
    DateTime::deserialize(access).unwrap_err();
    assert_eq!(probe.0, Some(super::date::BODY));
}
