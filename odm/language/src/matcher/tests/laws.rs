//! Property test: a conjunction matches exactly the documents that each condition matches.

use std::cmp::Ordering;

use bson::{Bson, Document, doc};
use proptest::prelude::*;

use super::{globals, raw};
use crate::matcher::Matcher;
use crate::value::order;

fn scalar() -> impl Strategy<Value = Bson> {
    prop_oneof![
        (-2i32..3).prop_map(Bson::Int32),
        (-2i64..3).prop_map(Bson::Int64),
        (-4i32..5).prop_map(|value| Bson::Double(f64::from(value) / 2.0)),
        (-4i32..5).prop_map(|value| Bson::Decimal128(format!("{value}E-1").parse().unwrap())),
        Just(Bson::Int64(i64::MAX)),
        Just(Bson::Double(9_223_372_036_854_775_807.0)),
        Just(Bson::Double(f64::NAN)),
        Just(Bson::Decimal128("NaN".parse().unwrap())),
        "[ab]{0,2}".prop_map(Bson::String),
        Just(Bson::Boolean(true)),
        Just(Bson::Null),
        Just(Bson::Undefined),
        Just(Bson::MinKey),
    ]
}

fn value() -> impl Strategy<Value = Bson> {
    scalar().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
            prop::collection::vec((name(), inner), 0..3)
                .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[ab0]", Just("a longer name".to_owned())]
}

/// More fields than the cache holds, in any order.
fn document() -> impl Strategy<Value = Document> {
    let other = (0..30).prop_map(|number| (format!("other{number}"), Bson::Int32(number)));
    let field = prop_oneof![(name(), value()), other];
    prop::collection::vec(field, 0..14).prop_map(|fields| fields.into_iter().collect())
}

fn condition() -> impl Strategy<Value = Document> {
    let path = prop::collection::vec(name(), 1..3).prop_map(|names| names.join("."));
    let test = prop_oneof![
        value().prop_map(|value| doc! { "$eq": value }),
        value().prop_map(|value| doc! { "$ne": value }),
        scalar().prop_map(|value| doc! { "$lt": value }),
        scalar().prop_map(|value| doc! { "$lte": value }),
        scalar().prop_map(|value| doc! { "$gt": value }),
        scalar().prop_map(|value| doc! { "$gte": value }),
        prop::collection::vec(scalar(), 0..3).prop_map(|values| doc! { "$in": values }),
        (0..3).prop_map(|size| doc! { "$size": size }),
        any::<bool>().prop_map(|there| doc! { "$exists": there }),
        scalar().prop_map(|value| doc! { "$elemMatch": { "$gt": value } }),
    ];
    (path, test)
        .prop_map(|(path, test)| doc! { path: test })
        .prop_filter("nothing is compared to undefined", |condition| {
            Matcher::parse(&raw(condition), &globals()).is_ok()
        })
}

fn matches(filter: &Document, document: &Document) -> bool {
    let matcher = Matcher::parse(&raw(filter), &globals()).unwrap();
    let document = raw(document);
    let matched = matcher.matches_bytes(document.as_bytes()).unwrap();
    assert_eq!(
        matcher.match_position(&document).unwrap().is_some(),
        matched
    );
    matched
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_conjunction_matches_where_every_condition_does(
        document in document(),
        conditions in prop::collection::vec(condition(), 1..5),
    ) {
        let alone: Vec<bool> = conditions
            .iter()
            .map(|condition| matches(condition, &document))
            .collect();
        let together = |operator: &str| matches(&doc! { operator: &conditions }, &document);
        let (all, any) = (!alone.contains(&false), alone.contains(&true));
        prop_assert_eq!(together("$and"), all);
        prop_assert_eq!(together("$or"), any);
        prop_assert_eq!(together("$nor"), !any);
    }

    #[test]
    fn numeric_comparisons_agree_with_the_sort_order(a in scalar(), b in scalar()) {
        let number = |value: &Bson| {
            let text = value.to_string();
            let is_nan = text.contains("NaN");
            matches!(value, Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_))
                .then_some(is_nan)
        };
        let (Some(a_is_nan), Some(b_is_nan)) = (number(&a), number(&b)) else {
            return Ok(());
        };
        let (one, other) = (raw(&doc! { "a": &a }), raw(&doc! { "a": &b }));
        let order = order::compare_documents(&one, &other, None);
        // NaN has an order, but is neither less nor greater.
        let comparable = a_is_nan == b_is_nan;
        for (operator, expected) in [
            ("$eq", order == Ordering::Equal),
            ("$lt", comparable && order == Ordering::Less),
            ("$lte", comparable && order != Ordering::Greater),
            ("$gt", comparable && order == Ordering::Greater),
            ("$gte", comparable && order != Ordering::Less),
        ] {
            let holds = matches(&doc! { "a": { operator: &b } }, &doc! { "a": &a });
            prop_assert_eq!(holds, expected, "{} {} {}", a, operator, b);
        }
    }
}
