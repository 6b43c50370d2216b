//! Joining and negating filters means what it says: whatever is merged, flattened or turned round on the
//! way, a document matches the filter just where the operators, taken one by one, say so.

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use proptest::prelude::*;

use super::{M, f};
use crate::query::Filter;

/// A filter, as its author thinks of it.
#[derive(Debug, Clone)]
enum Said {
    All,
    Leaf(u8, u8, i32),
    And(Vec<Said>),
    Or(Vec<Said>),
    Nor(Vec<Said>),
    Not(Box<Said>),
}

/// The conditions that one field can meet.
fn leaf(field: u8, operator: u8, value: i32) -> Filter<M> {
    let n = f::<Option<i32>>(if field == 0 { "a" } else { "b" });
    match operator {
        0 => n.eq(value),
        1 => n.ne(value),
        2 => n.gt(value),
        3 => n.lte(value),
        4 => n.in_([value, value + 1]),
        5 => n.nin([Some(value), None]),
        6 => n.exists(value > 1),
        7 => n.eq(None),
        8 => n.is_null(),
        9 => f::<Vec<i32>>("a").elem_match(|e| !(e.gt(value) & e.lt(value + 2))),
        10 => f::<Vec<i32>>("a").size(value.unsigned_abs()),
        11 => Filter::raw(doc! {"b": value}),
        _ => f::<Vec<i32>>("a").all([value]),
    }
}

fn written(said: &Said) -> Filter<M> {
    match said {
        Said::All => Filter::all(),
        Said::Leaf(field, operator, value) => leaf(*field, *operator, *value),
        Said::And(parts) => parts
            .iter()
            .map(written)
            .fold(Filter::all(), |all, part| all & part),
        Said::Or(parts) => Filter::any_of(parts.iter().map(written)),
        Said::Nor(parts) => Filter::none_of(parts.iter().map(written)),
        Said::Not(part) => !written(part),
    }
}

fn matches(filter: &Filter<M>, document: &RawDocumentBuf) -> bool {
    let filter = RawDocumentBuf::try_from(&filter.to_document().unwrap()).unwrap();
    let matcher = Matcher::parse(&filter, &Globals::new(DateTime::from_millis(0))).unwrap();
    matcher.matches(document).unwrap()
}

fn meant(said: &Said, document: &RawDocumentBuf) -> bool {
    match said {
        Said::All => true,
        Said::Leaf(field, operator, value) => matches(&leaf(*field, *operator, *value), document),
        Said::And(parts) => parts.iter().all(|part| meant(part, document)),
        Said::Or(parts) => parts.iter().any(|part| meant(part, document)),
        Said::Nor(parts) => !parts.iter().any(|part| meant(part, document)),
        Said::Not(part) => !meant(part, document),
    }
}

fn said() -> impl Strategy<Value = Said> {
    let leaf = prop_oneof![
        9 => (0..2_u8, 0..13_u8, 0..4).prop_map(|(f, o, v)| Said::Leaf(f, o, v)),
        1 => Just(Said::All),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            several().prop_map(Said::And),
            several().prop_map(Said::Or),
            several().prop_map(Said::Nor),
            inner.clone().prop_map(|part| Said::Not(Box::new(part))),
        ]
    })
}

fn values() -> impl Strategy<Value = Option<Bson>> {
    prop_oneof![
        Just(None),
        Just(Some(Bson::Null)),
        (0..4).prop_map(|n| Some(Bson::Int32(n))),
        prop::collection::vec(0..4, 0..4).prop_map(|list| Some(Bson::from(list))),
    ]
}

proptest! {
    #[test]
    fn combined_filters_agree_with_their_parts(said in said(), a in values(), b in values()) {
        let mut document = Document::new();
        document.extend(a.map(|a| ("a".to_owned(), a)));
        document.extend(b.map(|b| ("b".to_owned(), b)));
        let document = RawDocumentBuf::try_from(&document).unwrap();
        let filter = written(&said);
        prop_assert_eq!(matches(&filter, &document), meant(&said, &document), "{:?}", filter);
        prop_assert_eq!(matches(&!filter.clone(), &document), !meant(&said, &document));
    }
}
