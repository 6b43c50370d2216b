//! Random documents that a `Thing` can be read from.

use odm::bson::oid::ObjectId;
use odm::bson::spec::BinarySubtype;
use odm::bson::{
    Binary, Bson, DateTime, Document as BsonDocument, JavaScriptCodeWithScope, Regex, Timestamp,
    doc,
};

use crate::random::Random;

/// Values of every type but arrays, several of some and equal ones of others.
pub(super) fn all_values() -> Vec<Bson> {
    let binary = |bytes: &[u8]| Binary {
        subtype: BinarySubtype::Generic,
        bytes: bytes.to_vec(),
    };
    let regex = |pattern: &str| Regex {
        pattern: pattern.try_into().unwrap(),
        options: "".try_into().unwrap(),
    };
    let scoped = JavaScriptCodeWithScope {
        code: "f()".to_owned(),
        scope: doc! {"a": 1},
    };
    let time = |time| Timestamp { time, increment: 1 };
    vec![
        Bson::MinKey,
        Bson::Null,
        f64::NAN.into(),
        f64::NEG_INFINITY.into(),
        (-5).into(),
        0.into(),
        (-0.0).into(),
        5.into(),
        5_i64.into(),
        5.0.into(),
        Bson::Decimal128("5.5".parse().unwrap()),
        ((1_i64 << 53) + 1).into(),
        f64::INFINITY.into(),
        Bson::Symbol("m".to_owned()),
        "".into(),
        "$n".into(),
        "a".into(),
        "a".into(),
        "b".into(),
        doc! {}.into(),
        doc! {"$gt": 1}.into(),
        doc! {"a": 1}.into(),
        doc! {"a": [1, 2]}.into(),
        Bson::Binary(binary(b"")),
        Bson::Binary(binary(b"ab")),
        ObjectId::from_bytes([1; 12]).into(),
        ObjectId::from_bytes([2; 12]).into(),
        false.into(),
        true.into(),
        DateTime::from_millis(-1).into(),
        DateTime::from_millis(1).into(),
        Bson::Timestamp(time(1)),
        Bson::Timestamp(time(2)),
        Bson::RegularExpression(regex("^a")),
        Bson::RegularExpression(regex("b$")),
        Bson::JavaScriptCode("f()".to_owned()),
        Bson::JavaScriptCodeWithScope(scoped),
        Bson::MaxKey,
    ]
}

pub(super) fn draw<T: Clone>(random: &mut Random, values: &[T]) -> T {
    random.pick(values).clone()
}

/// A document that a `Thing` can be read from.
pub(super) fn thing(random: &mut Random, id: i32) -> BsonDocument {
    let mut thing = doc! {"_id": id, "unknown": 1};
    let numbers: [Bson; 5] = [0.into(), (-5).into(), 7_i64.into(), 7.into(), 0_i64.into()];
    if random.below(3) > 0 {
        thing.insert("n", draw(random, &numbers));
    }
    let weights: [Bson; 6] = [
        1.into(),
        2.5.into(),
        f64::NAN.into(),
        f64::NEG_INFINITY.into(),
        ((1_i64 << 53) + 1).into(),
        ((1_i64 << 53) - 1).into(),
    ];
    if random.below(3) > 0 {
        thing.insert("weight", draw(random, &weights));
    }
    let size = [
        Bson::Null,
        doc! {}.into(),
        doc! {"h": 3}.into(),
        doc! {"h": -3_i64}.into(),
    ];
    if random.below(3) > 0 {
        thing.insert("size", draw(random, &size));
    }
    if random.below(3) > 0 {
        thing.insert("name", draw(random, &["B", "a", "b", "C", ""]));
    }
    if random.below(5) > 0 {
        thing.insert("anything", draw(random, &all_values()));
    }
    let other = [Bson::Null, 1.into(), 2_i64.into()];
    if random.below(3) > 0 {
        thing.insert("other", draw(random, &other));
    }
    thing
}
