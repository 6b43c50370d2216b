//! Values and documents of nasty shapes, out of pools so small that filters find something.

use odm::bson::oid::ObjectId;
use odm::bson::spec::BinarySubtype;
use odm::bson::{Binary, Bson, DateTime, Document, JavaScriptCodeWithScope, Regex, Timestamp, doc};

use crate::rng::Rng;

const FIELDS: &[&str] = &["a", "a", "a", "b", "b", "c", "0", "1", "x"];
const PATHS: &[&str] = &[
    "a", "a", "a", "a", "b", "b", "c", "x", "a.b", "a.b", "a.a", "b.a", "b.c", "a.0", "a.1",
    "a.0.b", "a.b.c", "b.0", "_id", "c.1", "a.b.0", "nope", "0", "a.0.0",
];
const DECIMALS: &[&str] = &[
    "1",
    "1.0",
    "2.5",
    "NaN",
    "-0",
    "0",
    "9223372036854775807",
    "Infinity",
    "-Infinity",
    "1E+3",
    "0.1",
    "-1.5",
    "1.234567890123456789012345678901234",
    "9999999999999999999999999999999999",
    "9.999999999999999999999999999999999E+6144",
    "1E-6176",
    "1E-33",
    "-1E+34",
    "0E+3",
    "2.000",
];
const DOUBLES: &[f64] = &[
    1.0,
    2.0,
    1.5,
    2.5,
    0.0,
    -0.0,
    0.1,
    -1.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e20,
    5e-324,
    1e308,
    9_007_199_254_740_992.0,
    9_223_372_036_854_775_808.0,
];
const LONGS: &[i64] = &[
    0,
    1,
    2,
    -1,
    i64::MAX,
    i64::MIN,
    9_007_199_254_740_993,
    2_147_483_648,
    1_600_000_000_000,
];
const STRINGS: &[&str] = &["", "a", "b", "A", "ab", "abc", "1", "é", "a b", "$a", "x,y"];

pub(crate) fn oid(last: u8) -> ObjectId {
    ObjectId::from_bytes([0x5f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, last])
}

pub(crate) fn field(rng: &mut Rng) -> &'static str {
    rng.pick(FIELDS)
}

pub(crate) fn path(rng: &mut Rng) -> &'static str {
    rng.pick(PATHS)
}

/// A name that is a path to some and an operator to others.
fn odd_field(rng: &mut Rng) -> &'static str {
    rng.pick(&["$a", "a.b", "", "$", "a.", ".a", "$set", "b.$", "$id"])
}

pub(crate) fn string(rng: &mut Rng) -> &'static str {
    rng.pick(STRINGS)
}

pub(crate) fn number(rng: &mut Rng) -> Bson {
    match rng.below(10) {
        0..5 => Bson::Int32(rng.int(-1, 5)),
        5 | 6 => Bson::Double(rng.pick(DOUBLES)),
        7 | 8 => Bson::Int64(rng.pick(LONGS)),
        _ => decimal(rng),
    }
}

fn decimal(rng: &mut Rng) -> Bson {
    rng.pick(DECIMALS)
        .parse()
        .map_or(Bson::Null, Bson::Decimal128)
}

pub(crate) fn scalar(rng: &mut Rng) -> Bson {
    match rng.below(24) {
        0..11 => number(rng),
        11..15 => Bson::from(string(rng)),
        15 | 16 => Bson::Null,
        17 => Bson::Boolean(rng.chance(50)),
        18 => Bson::DateTime(DateTime::from_millis(rng.pick(&[
            0,
            1,
            1_600_000_000_000,
            -1,
            951_782_400_000,
        ]))),
        19 => Bson::ObjectId(oid(u8::try_from(rng.below(3)).unwrap_or(0))),
        20 => Bson::Binary(Binary {
            subtype: rng.pick(&[BinarySubtype::Generic, BinarySubtype::Uuid]),
            bytes: vec![u8::try_from(rng.below(3)).unwrap_or(0); 16],
        }),
        21 => rare(rng),
        _ => Bson::Int32(rng.int(0, 3)),
    }
}

fn rare(rng: &mut Rng) -> Bson {
    match rng.below(7) {
        0 => Bson::MinKey,
        1 => Bson::MaxKey,
        2 => Bson::Timestamp(Timestamp {
            time: 1,
            increment: 2,
        }),
        3 => Bson::Symbol("a".to_owned()),
        4 => Bson::JavaScriptCode("a".to_owned()),
        5 => Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
            code: "a".to_owned(),
            scope: doc! { "b": 1 },
        }),
        _ => regex("^a", "i"),
    }
}

pub(crate) fn regex(pattern: &str, options: &str) -> Bson {
    let pattern = pattern.to_owned().try_into();
    let options = options.to_owned().try_into();
    match (pattern, options) {
        (Ok(pattern), Ok(options)) => Bson::RegularExpression(Regex { pattern, options }),
        _ => Bson::Null,
    }
}

pub(crate) fn value(rng: &mut Rng, depth: usize) -> Bson {
    match rng.below(10) {
        0 | 1 if depth > 0 => {
            let length = rng.below(4);
            Bson::Array((0..length).map(|_| value(rng, depth - 1)).collect())
        }
        2 | 3 if depth > 0 => Bson::Document(fields(rng, depth - 1, 3)),
        _ => scalar(rng),
    }
}

fn fields(rng: &mut Rng, depth: usize, most: usize) -> Document {
    let mut document = Document::new();
    for _ in 0..rng.below(most + 1) {
        let name = if rng.below(120) == 0 {
            odd_field(rng)
        } else {
            field(rng)
        };
        if !document.contains_key(name) {
            document.insert(name, value(rng, depth));
        }
    }
    document
}

/// A document to be stored, under this id.
pub(crate) fn stored(rng: &mut Rng, id: i32) -> Document {
    let mut document = doc! { "_id": id };
    document.extend(fields(rng, 3, 5));
    document
}

/// Documents with ids from 0.
pub(crate) fn several(rng: &mut Rng, least: usize, most: usize) -> Vec<Document> {
    let count = least + rng.below(most - least + 1);
    (0..count)
        .map(|id| stored(rng, i32::try_from(id).unwrap_or(0)))
        .collect()
}

/// A document whose `a` and `b` are arrays of scalars, documents or arrays.
pub(crate) fn nested(rng: &mut Rng, id: i32) -> Document {
    let mut document = doc! { "_id": id };
    for name in ["a", "b"] {
        let kind = rng.below(4);
        let elements: Vec<_> = (0..rng.below(5))
            .map(|_| match kind {
                0 => scalar(rng),
                1 => doc! { "b": scalar(rng), "c": rng.int(0, 3) }.into(),
                2 => {
                    doc! { "b": [scalar(rng), rng.int(0, 3)], "c": [{ "x": rng.int(0, 3) }] }.into()
                }
                _ => Bson::Array((0..rng.below(3)).map(|_| scalar(rng)).collect()),
            })
            .collect();
        document.insert(name, elements);
    }
    document
}
