//! What the types claim to be stored as is what `bson` writes.

use std::num::{NonZeroU8, NonZeroU32};

use bson::spec::BinarySubtype;
use bson::{cstr, doc, rawdoc};
use serde::Serialize;

use super::*;
use crate::query::encode;
use crate::types::Id;

fn alias(value: &Bson) -> &'static str {
    match value {
        Bson::Double(_) => "double",
        Bson::String(_) => "string",
        Bson::Document(_) => "object",
        Bson::Array(_) => "array",
        Bson::Binary(_) => "binData",
        Bson::ObjectId(_) => "objectId",
        Bson::Boolean(_) => "bool",
        Bson::DateTime(_) => "date",
        Bson::Null => "null",
        Bson::RegularExpression(_) => "regex",
        Bson::JavaScriptCodeWithScope(_) => "javascriptWithScope",
        Bson::Int32(_) => "int",
        Bson::Timestamp(_) => "timestamp",
        Bson::Int64(_) => "long",
        Bson::Decimal128(_) => "decimal",
        other => panic!("no type here is stored as {other:?}"),
    }
}

fn fits(value: &Bson, ty: &TypeMeta) -> bool {
    if ty.nullable && *value == Bson::Null {
        return true;
    }
    match ty.shape {
        Shape::Any => true,
        Shape::Scalar(types) => types.iter().any(|each| each.alias() == alias(value)),
        Shape::Array { element, len, .. } => value.as_array().is_some_and(|values| {
            len.is_none_or(|len| len == values.len())
                && values.iter().all(|each| fits(each, element))
        }),
        Shape::Tuple(types) => value.as_array().is_some_and(|values| {
            values.len() == types.len() && values.iter().zip(types).all(|(each, ty)| fits(each, ty))
        }),
        Shape::Map(element) => value
            .as_document()
            .is_some_and(|map| map.values().all(|each| fits(each, element))),
        Shape::OneOf(_) | Shape::Embedded(_) | Shape::Reference { .. } => false,
    }
}

#[track_caller]
fn check<T: FieldType + Serialize>(samples: impl IntoIterator<Item = T>) {
    for sample in samples {
        let stored = encode(&sample).expect("encodes");
        assert!(fits(&stored, &T::TYPE), "{stored:?} is not {:?}", T::TYPE);
        if let Some(known) = T::stored(&sample) {
            assert_eq!(known, stored, "what is known is what the serializer writes");
        }
    }
}

#[test]
fn scalars_are_stored_as_declared() {
    check([i8::MIN, i8::MAX]);
    check([i16::MIN, i16::MAX]);
    check([i32::MIN, i32::MAX]);
    check([i64::MIN, 0, i64::MAX]);
    check([isize::MIN, 0, isize::MAX]);
    check([u8::MIN, u8::MAX]);
    check([u16::MIN, u16::MAX]);
    check([u32::MIN, u32::MAX]);
    check([0, i64::MAX.unsigned_abs()]);
    check([0_usize, 7]);
    check([f32::MIN, f32::NAN]);
    check([f64::MIN, f64::INFINITY]);
    check(NonZeroU8::new(7));
    check(NonZeroU32::new(7));
    check([true, false]);
    check(['ß']);
    check([()]);
    check([String::new(), "text".to_owned()]);
    check(["text"]);
    check([Box::<str>::from("text")]);
    check([Cow::Borrowed("text")]);
    check([ObjectId::new()]);
    check([Id::<u8>::new()]);
    check([DateTime::from_millis(-1)]);
    check(["1.50".parse::<Decimal128>().unwrap()]);
    check([Timestamp {
        time: 1,
        increment: 2,
    }]);
    check([Uuid::new()]);
    check([Binary {
        subtype: BinarySubtype::Generic,
        bytes: vec![1, 2],
    }]);
    check([Regex {
        pattern: cstr!("^a").into(),
        options: cstr!("i").into(),
    }]);
    check([JavaScriptCodeWithScope {
        code: "1".to_owned(),
        scope: doc! {},
    }]);
}

#[test]
fn containers_are_stored_as_declared() {
    check([Some(1), None]);
    check([vec![], vec![1_u32, 2]]);
    check([vec![Some("a".to_owned()), None]]);
    check([VecDeque::from([1])]);
    check([Box::<[i32]>::from([1]), Box::from([])]);
    check([Cow::Borrowed(&[1, 2][..])]);
    check([[1_i64, 2, 3]]);
    check([HashSet::from([1])]);
    check([BTreeSet::from(["a".to_owned()])]);
    check([(1, "a".to_owned())]);
    check([(1, "a".to_owned(), 2.0, vec![1])]);
    check([Box::new(1)]);
    check([HashMap::from([("a".to_owned(), 1)])]);
    check([BTreeMap::from([("a".to_owned(), vec![1_u32])])]);
    check([Bson::Null, Bson::Int32(1)]);
    check([doc! {"a": 1}]);
    check([rawdoc! {"a": 1}]);
    check([RawBson::Int32(1)]);
    check([{
        let mut array = RawArrayBuf::new();
        array.push(1);
        array
    }]);
}

#[test]
fn wrong_declared_types_are_detected() {
    assert!(!fits(&encode(&1_u32).unwrap(), &i32::TYPE));
    assert!(!fits(&Bson::Null, &i32::TYPE));
    assert!(!fits(&encode(&[1, 2]).unwrap(), &<[i32; 3]>::TYPE));
}

#[test]
fn unsigned_numbers_beyond_int64_are_refused() {
    let error = encode(&u64::MAX).unwrap_err();
    assert!(error.is_encode(), "{error}");
}

#[test]
fn known_types_agree_with_serializers() {
    fn known<T: FieldType + Serialize>(value: T) {
        let known = T::stored(&value).expect("the form is known");
        let whole = bson::serialize_to_raw_document_buf(&HashMap::from([("v", value)])).unwrap();
        assert_eq!(
            known,
            Bson::try_from(whole.get("v").unwrap().unwrap()).unwrap()
        );
    }
    let id = ObjectId::new();
    known(id);
    known(Some(id));
    known(Id::<u8>::from_object_id(id));
    known(Box::new(Some(id)));
    for millis in [i64::MIN, -1, 0, i64::MAX] {
        known(DateTime::from_millis(millis));
    }
    for decimal in ["1.50", "-0", "NaN", "-Infinity", "9.999E+6144"] {
        known(decimal.parse::<Decimal128>().unwrap());
    }
    known(Timestamp {
        time: u32::MAX,
        increment: 2,
    });
    known(Uuid::new());
    for subtype in [0, 2, 3, 4, 5, 6, 7, 8, 128, 255] {
        for bytes in [vec![], vec![1, 2, 3]] {
            let subtype = BinarySubtype::from(subtype);
            known(Binary { subtype, bytes });
        }
    }
}
