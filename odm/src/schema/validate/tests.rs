//! The law: whatever serde writes for a value of a model, the model's validator lets pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::schema::{Validate, Validator};
use crate::types::Ref;
use crate::{Document, Embedded};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(deny_undeclared)]
#[serde(rename_all = "camelCase")]
struct Leaf<T> {
    some_value: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum External {
    Unit,
    Newtype(Leaf<String>),
    Tuple(i32, bool),
    #[serde(rename_all = "UPPERCASE")]
    Struct {
        field: Option<f64>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(deny_undeclared)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    NoFields,
    Newtype(Leaf<i32>),
    Struct { deep: Option<Box<Internal>> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Newtype(Vec<i32>),
    Struct { a: bool },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Untagged {
    Null,
    Text(String),
    Struct { only_here: i32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "flat_kind")]
enum Flat {
    One { one: i32 },
    Two { two: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all", deny_undeclared)]
struct All {
    #[serde(rename = "_id")]
    id: i64,
    leaf: Option<Leaf<u32>>,
    #[odm(embed(few, max = 4))]
    external: Vec<External>,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Untagged,
    #[serde(flatten)]
    flat: Flat,
    #[serde(flatten)]
    inner: Inner,
    set: BTreeSet<String>,
    map: BTreeMap<String, bool>,
    fixed: [u8; 2],
    nested: Vec<Vec<i32>>,
    pair: Option<Ref<Other>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Inner {
    inside: bool,
    #[serde(flatten)]
    maybe: Option<Innermost>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Innermost {
    innermost: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "other")]
struct Other {
    #[serde(rename = "_id")]
    id: String,
}

fn leaf<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Leaf<T>> {
    (value, any::<Option<i64>>()).prop_map(|(some_value, left_out)| Leaf {
        some_value,
        left_out,
    })
}

fn external() -> impl Strategy<Value = External> {
    prop_oneof![
        Just(External::Unit),
        leaf(any::<String>()).prop_map(External::Newtype),
        any::<(i32, bool)>().prop_map(|(a, b)| External::Tuple(a, b)),
        any::<Option<f64>>().prop_map(|field| External::Struct { field }),
    ]
}

fn internal() -> impl Strategy<Value = Internal> {
    let flat = prop_oneof![
        Just(Internal::NoFields),
        leaf(any::<i32>()).prop_map(Internal::Newtype),
    ];
    // Deeper than the schema is written out.
    flat.prop_recursive(8, 8, 1, |inner| {
        inner.prop_map(|deep| Internal::Struct {
            deep: Some(Box::new(deep)),
        })
    })
}

fn all() -> impl Strategy<Value = All> {
    let adjacent = prop_oneof![
        Just(Adjacent::Unit),
        any::<Vec<i32>>().prop_map(Adjacent::Newtype),
        any::<bool>().prop_map(|a| Adjacent::Struct { a }),
    ];
    let untagged = prop_oneof![
        Just(Untagged::Null),
        any::<String>().prop_map(Untagged::Text),
        any::<i32>().prop_map(|only_here| Untagged::Struct { only_here }),
    ];
    let flat = prop_oneof![
        any::<i32>().prop_map(|one| Flat::One { one }),
        any::<Option<String>>().prop_map(|two| Flat::Two { two }),
    ];
    let inner = any::<(bool, Option<i32>)>().prop_map(|(inside, innermost)| Inner {
        inside,
        maybe: innermost.map(|innermost| Innermost { innermost }),
    });
    let shapes = (
        proptest::option::of(leaf(any::<u32>())),
        proptest::collection::vec(external(), 0..4),
        internal(),
        adjacent,
        untagged,
        flat,
        inner,
    );
    let rest = (
        any::<i64>(),
        any::<BTreeSet<String>>(),
        proptest::collection::btree_map("[a-z]{1,3}", any::<bool>(), 0..3),
        any::<[u8; 2]>(),
        any::<Vec<Vec<i32>>>(),
        proptest::option::of("[a-z]*".prop_map(Ref::from)),
    );
    (shapes, rest).prop_map(
        |(
            (leaf, external, internal, adjacent, untagged, flat, inner),
            (id, set, map, fixed, nested, pair),
        )| All {
            id,
            leaf,
            external,
            internal,
            adjacent,
            untagged,
            flat,
            inner,
            set,
            map,
            fixed,
            nested,
            pair,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_serde_writes_is_valid(value in all()) {
        let validator = Validator::<All>::new().unwrap();
        prop_assert!(validator.validate(&value).is_ok(), "{:?}", validator.validate(&value));
    }
}

#[test]
fn a_broken_rule_is_an_error_with_the_models_name() {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "ranged", rule("even", |r| r.n.mod_(2, 0)))]
    struct Ranged {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(range(max = 9))]
        n: i32,
    }
    assert!(Ranged { id: 1, n: 8 }.validate().is_ok());
    let error = Ranged { id: 1, n: 11 }.validate().unwrap_err();
    assert_eq!(error.model(), Some("Ranged"));
    let failure = error.validation_failure().unwrap();
    let broken: Vec<_> = failure
        .violations()
        .iter()
        .map(|one| one.rule.as_str())
        .collect();
    assert_eq!(broken, ["maximum", "even"]);
    assert_eq!(failure.model(), Some("Ranged"));
}

static ASKED: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "pages", rule("counted", |p| {
    ASKED.fetch_add(1, Ordering::Relaxed);
    p.number.gt(0)
}))]
struct Page<T> {
    #[serde(rename = "_id")]
    id: i32,
    number: i32,
    item: T,
}

#[test]
fn a_validator_is_compiled_once_for_each_type() {
    let page = |number| Page {
        id: 1,
        number,
        item: 7,
    };
    for _ in 0..3 {
        assert!(page(1).validate().is_ok());
        assert!(page(0).validate().is_err());
        assert!(
            Validator::<Page<i32>>::new()
                .unwrap()
                .validate(&page(1))
                .is_ok()
        );
    }
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    let other = Page {
        id: 1,
        number: 1,
        item: "seven".to_owned(),
    };
    assert!(other.validate().is_ok());
    assert_eq!(ASKED.load(Ordering::Relaxed), 2);
}
