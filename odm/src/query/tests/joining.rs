//! Filters that a program joins in loops: as many as it likes side by side, no more than the server
//! takes in one another, and never a stack that overflows.

use bson::{Bson, Document, doc};
use serde::{Deserialize, Serialize};

use crate::Embedded;
use crate::query::{Filter, fields};

#[derive(Serialize, Deserialize, Embedded)]
struct Tree {
    a: i32,
    b: i32,
    #[odm(embed(few, max = 10))]
    inside: Vec<Tree>,
}

const MANY: i32 = 20_000;

fn list(document: &Document, operator: &str) -> Vec<Bson> {
    document.get_array(operator).expect("a list").clone()
}

#[test]
fn or_conditions_are_flattened_in_order() {
    let tree = fields::<Tree>();
    let mut behind = tree.a.eq(0);
    for number in 1..MANY {
        behind |= tree.a.eq(number);
    }
    let mut before = tree.a.eq(MANY - 1);
    for number in (0..MANY - 1).rev() {
        before = tree.a.eq(number) | before;
    }
    let expected: Vec<_> = (0..MANY).map(|a| Bson::Document(doc! {"a": a})).collect();
    for filter in [behind, before] {
        assert_eq!(list(&filter.to_document().expect("fits"), "$or"), expected);
    }
}

#[test]
fn and_conditions_are_flattened_in_order() {
    let tree = fields::<Tree>();
    let mut filter = Filter::all();
    for number in 0..MANY {
        filter &= tree.a.ne(number);
    }
    let document = filter.to_document().expect("fits");
    assert_eq!(document.get("a"), Some(&Bson::Document(doc! {"$ne": 0})));
    let rest = list(&document, "$and");
    let expected: Vec<_> = (1..MANY)
        .map(|a| Bson::Document(doc! {"a": {"$ne": a}}))
        .collect();
    assert_eq!(rest, expected);
}

#[test]
fn too_deeply_nested_filters_are_refused() {
    let tree = fields::<Tree>();
    let mut alternating = tree.a.eq(1);
    let mut negated = tree.a.eq(1);
    let mut elements = tree.a.eq(1);
    for number in 0..MANY {
        alternating = (alternating & tree.b.eq(number)) | tree.a.eq(number);
        negated = !(negated & tree.b.eq(number));
        elements = tree.inside.elem_match(move |_| elements);
    }
    for filter in [alternating, negated, elements] {
        let error = filter.to_document().unwrap_err().to_string();
        assert!(error.contains("Filter::any_of"), "{error}");
    }
}

#[test]
fn filters_of_the_greatest_depth_are_accepted() {
    let tree = fields::<Tree>();
    let mut filter = tree.a.eq(1);
    for number in 0..98 {
        filter = (filter & tree.b.eq(number)) | tree.a.eq(number);
    }
    assert!(filter.to_document().is_ok());
}

#[test]
fn double_negation_does_not_nest() {
    let tree = fields::<Tree>();
    let both = tree.a.eq(1) & tree.b.eq(2);
    let mut filter = both.clone();
    for _ in 0..MANY {
        filter = !!filter;
    }
    assert_eq!(
        filter.to_document().expect("fits"),
        both.to_document().expect("fits")
    );
}
