use std::cmp::Ordering;

use bson::{
    Binary, Bson, DateTime, JavaScriptCodeWithScope, RawBson, Regex, Timestamp, oid::ObjectId,
    rawdoc, spec::BinarySubtype,
};
use proptest::prelude::*;

use super::*;
use crate::cases;
use crate::value::order::compare;

/// Numbers at the limits of their types, and any others.
fn number() -> impl Strategy<Value = Bson> {
    let edge = prop_oneof![
        Just(0i64),
        Just(1),
        Just(i64::from(i32::MAX)),
        Just(1 << 53),
        Just(i64::MAX),
        Just(i64::MIN),
    ];
    let near = (edge, -2i64..3).prop_map(|(edge, step)| edge.saturating_add(step));
    prop_oneof![
        any::<i32>().prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        any::<f64>().prop_map(Bson::Double),
        near.clone().prop_map(Bson::Int64),
        #[expect(clippy::cast_precision_loss, reason = "the nearest double is wanted")]
        near.clone().prop_map(|value| Bson::Double(value as f64)),
        near.prop_map(|value| Bson::Decimal128(value.to_string().parse().unwrap())),
        (any::<i64>(), -400i32..400)
            .prop_map(|(c, e)| Bson::Decimal128(format!("{c}E{e}").parse().unwrap())),
        any::<f64>().prop_filter_map("fits", |value| {
            format!("{value:.20e}").parse().ok().map(Bson::Decimal128)
        }),
        Just(Bson::Double(f64::NAN)),
        Just(Bson::Double(-0.0)),
        Just(Bson::Decimal128("NaN".parse().unwrap())),
        Just(Bson::Decimal128("-Infinity".parse().unwrap())),
        Just(Bson::Decimal128("1E-6176".parse().unwrap())),
        Just(Bson::Decimal128("-1E-6176".parse().unwrap())),
    ]
}

/// bson has no other way to make one.
fn pointer(name: &str, id: [u8; 12]) -> Bson {
    let id = ObjectId::from_bytes(id).to_hex();
    let json = serde_json::json!({ "$dbPointer": { "$ref": name, "$id": { "$oid": id } } });
    serde_json::from_value(json).unwrap()
}

fn value() -> impl Strategy<Value = Bson> {
    let text = "[a-c\0é]{0,3}";
    let plain = "[a-c]{0,3}";
    let leaf = prop_oneof![
        number(),
        number(),
        number(),
        text.prop_map(Bson::String),
        text.prop_map(Bson::Symbol),
        (prop::collection::vec(any::<u8>(), 0..4), 0u8..4).prop_map(|(bytes, subtype)| {
            Bson::Binary(Binary {
                subtype: BinarySubtype::from(subtype),
                bytes,
            })
        }),
        any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(ObjectId::from_bytes(bytes))),
        any::<bool>().prop_map(Bson::Boolean),
        any::<i64>().prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
        (any::<u32>(), any::<u32>())
            .prop_map(|(time, increment)| Bson::Timestamp(Timestamp { time, increment })),
        (plain, "[im]{0,1}").prop_map(|(pattern, options)| {
            Bson::RegularExpression(Regex {
                pattern: pattern.try_into().unwrap(),
                options: options.try_into().unwrap(),
            })
        }),
        plain.prop_map(Bson::JavaScriptCode),
        (plain, prop::option::of(any::<i32>())).prop_map(|(code, scoped)| {
            Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                code,
                scope: scoped
                    .map(|value| ("a".to_owned(), value.into()))
                    .into_iter()
                    .collect(),
            })
        }),
        (plain, any::<[u8; 12]>()).prop_map(|(name, id)| pointer(&name, id)),
        Just(Bson::Null),
        Just(Bson::Undefined),
        Just(Bson::MinKey),
        Just(Bson::MaxKey),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
            prop::collection::vec(("[a-b]{0,2}", inner), 0..3)
                .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

/// Strings, also longer than the head of a key.
fn long() -> impl Strategy<Value = Bson> {
    prop_oneof![
        value(),
        "[a\0é]{0,12}".prop_map(Bson::String),
        any::<f64>().prop_map(Bson::Double),
    ]
}

fn raw(value: &Bson) -> RawBson {
    RawBson::try_from(value.clone()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn keys_sort_like_their_values(a in value(), b in value()) {
        let (a, b) = (raw(&a), raw(&b));
        let (a, b) = (a.as_raw_bson_ref(), b.as_raw_bson_ref());
        let order = compare(a, b, None);
        prop_assert_eq!(of(a, None).cmp(&of(b, None)), order);
        let descending = |value| {
            let mut bytes = Vec::new();
            append(&mut bytes, value, Direction::Descending, None);
            bytes
        };
        prop_assert_eq!(descending(a).cmp(&descending(b)), order.reverse());
    }

    #[test]
    fn key_lengths_are_read_from_keys(a in value(), b in value()) {
        for (direction, flipped) in [(Direction::Ascending, false), (Direction::Descending, true)] {
            let mut bytes = Vec::new();
            append(&mut bytes, raw(&a).as_raw_bson_ref(), direction, None);
            let expected = bytes.len();
            append(&mut bytes, raw(&b).as_raw_bson_ref(), direction, None);
            prop_assert_eq!(length(&bytes, flipped), Some(expected));
            prop_assert_eq!(length(&bytes[..expected - 1], flipped), None);
        }
    }

    #[test]
    fn a_head_is_a_prefix_of_its_key(a in long(), b in long(), descends in any::<bool>()) {
        let direction = if descends { Direction::Descending } else { Direction::Ascending };
        let head = |value: &Bson, next: &Bson| {
            let mut key = Vec::new();
            append(&mut key, raw(value).as_raw_bson_ref(), direction, None);
            append(&mut key, raw(next).as_raw_bson_ref(), direction, None);
            let document = rawdoc! { "a": raw(value) };
            let head = Head::of(raw::walk(&document).next().as_ref(), direction, false).unwrap();
            (head, Head::at(&key).unwrap(), key)
        };
        let (of_a, at_a, key_a) = head(&a, &b);
        prop_assert_eq!(of_a.bracket, at_a.bracket);
        prop_assert!(of_a.first.is_none() || of_a.first == at_a.first, "{:?} {:?}", of_a, at_a);
        let (_, at_b, key_b) = head(&b, &a);
        prop_assert!(!of_a.is_behind(at_b) || key_a > key_b);
        // The head must decide most comparisons.
        let greater = if descends { Ordering::Less } else { Ordering::Greater };
        if let (Bson::Double(one), Bson::Double(other)) = (&a, &b)
            && one.partial_cmp(other) == Some(greater)
        {
            prop_assert!(of_a.is_behind(at_b));
        }
        let missing = Head::of(None, direction, false).unwrap();
        prop_assert_eq!(missing, head(&Bson::Null, &b).0);
    }

    #[test]
    fn numbers_have_a_total_order(a in number(), b in number(), c in number()) {
        let (a, b, c) = (raw(&a), raw(&b), raw(&c));
        let (a, b, c) = (a.as_raw_bson_ref(), b.as_raw_bson_ref(), c.as_raw_bson_ref());
        prop_assert_eq!(compare(a, b, None), compare(b, a, None).reverse());
        prop_assert_eq!(of(a, None).cmp(&of(b, None)), compare(a, b, None));
        if compare(a, b, None) != Ordering::Greater && compare(b, c, None) != Ordering::Greater {
            prop_assert_ne!(compare(a, c, None), Ordering::Greater);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = raw::validate(&bytes);
        let mut framed = i32::try_from(bytes.len() + 5).unwrap().to_le_bytes().to_vec();
        framed.extend(&bytes);
        framed.push(0);
        let _ = raw::validate(&framed);
        let document = RawDocument::from_bytes(&framed).unwrap();
        of(RawBsonRef::Document(document), None);
        compare(RawBsonRef::Document(document), RawBsonRef::Document(document), None);
    }
}

/// `[{values, rows}]`: mongod's comparison of each pair of values.
#[test]
fn values_sort_as_on_mongod() {
    let [case] = cases::read("value/order").try_into().unwrap();
    let values: Vec<RawBson> = case.get_array("values").unwrap().iter().map(raw).collect();
    let key = |value: &RawBson, direction| {
        let mut bytes = Vec::new();
        append(&mut bytes, value.as_raw_bson_ref(), direction, None);
        bytes
    };
    let mut failures = Vec::new();
    for (a, row) in values.iter().zip(case.get_array("rows").unwrap()) {
        for (b, sign) in values.iter().zip(row.as_str().unwrap().chars()) {
            let wanted = match sign {
                '<' => Ordering::Less,
                '=' => Ordering::Equal,
                '>' => Ordering::Greater,
                other => panic!("{other} is no order"),
            };
            let got = [
                compare(a.as_raw_bson_ref(), b.as_raw_bson_ref(), None),
                key(a, Direction::Ascending).cmp(&key(b, Direction::Ascending)),
                key(b, Direction::Descending).cmp(&key(a, Direction::Descending)),
            ];
            if got != [wanted; 3] {
                failures.push(format!("{a:?} {sign} {b:?}, not {got:?}"));
            }
        }
    }
    cases::report(&failures, values.len());
}

#[test]
fn parts_of_a_key_are_separated() {
    let key = |a: &str, b: &str| {
        let mut bytes = Vec::new();
        append(
            &mut bytes,
            RawBsonRef::String(a),
            Direction::Ascending,
            None,
        );
        append(
            &mut bytes,
            RawBsonRef::String(b),
            Direction::Descending,
            None,
        );
        bytes
    };
    assert!(key("a", "z") < key("ab", "a"));
    assert!(key("a", "z") < key("a", "b"));
}

#[test]
fn strings_follow_the_collation() {
    let collator = Collator::parse(&rawdoc! { "locale": "en", "strength": 2 }, "collation")
        .unwrap()
        .unwrap();
    let key = |text| of(RawBsonRef::String(text), Some(&collator));
    assert_eq!(key("Abc"), key("aBC"));
    assert!(key("abc") < key("Abd"));
}
