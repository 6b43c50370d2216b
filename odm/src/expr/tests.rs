use bson::bson;

use super::*;
use crate::expr::operators::ALL;
use crate::model::Path;
use crate::query::Field;

/// MongoDB's own list of expression operators, with the version since which it has each.
const LIST: &str = include_str!("../../../tests/cases/names/mql.txt");
const CHAPTER: &str = include_str!("../../../book/src/pipelines.md");

enum M {}

fn f<T>(name: &'static str) -> Field<M, T> {
    Field::at_path(Path::root().child(name))
}

#[test]
fn the_table_has_names_and_versions_of_mongodb() {
    for operator in ALL {
        let line = format!("{} {}", operator.name, operator.since);
        let is_known = LIST.lines().any(|known| known == line);
        assert!(is_known, "{line}");
    }
    for (at, operator) in ALL.iter().enumerate() {
        let rest = &ALL[at + 1..];
        assert!(
            rest.iter().all(|other| other.name != operator.name),
            "{operator:?}"
        );
    }
}

#[test]
fn the_book_lists_every_method() {
    for operator in ALL {
        let method = operator
            .method
            .trim_start_matches("a ")
            .trim_end_matches(" b");
        assert!(CHAPTER.contains(method), "{operator:?} is not in the book");
    }
}

#[test]
fn values_that_look_like_paths_are_literals() {
    let text = f::<String>("t");
    let joined = text.expr().concat("$price").concat("b");
    assert_eq!(
        joined.to_bson().unwrap(),
        bson!({"$concat": ["$t", {"$literal": "$price"}, "b"]}),
    );
    let list: Expr<M, Vec<&str>> = literal(vec!["$a"]);
    assert_eq!(list.to_bson().unwrap(), bson!({"$literal": ["$a"]}));
}

#[test]
fn closures_in_closures_have_variables_of_their_own() {
    let lists = f::<Vec<Vec<i32>>>("lists");
    let sums = lists
        .expr()
        .map(|list| list.expr().map(|number| number * 2).sum())
        .filter(|sum| sum.expr().gt(3));
    assert_eq!(
        sums.to_bson().unwrap(),
        bson!({"$filter": {
            "input": {"$map": {
                "input": "$lists",
                "as": "item",
                "in": {"$sum": {"$map": {
                    "input": "$$item",
                    "as": "item2",
                    "in": {"$multiply": ["$$item2", 2]},
                }}},
            }},
            "as": "item",
            "cond": {"$gt": ["$$item", 3]},
        }}),
    );
}

#[test]
fn only_operators_that_take_many_arguments_are_joined() {
    let (a, b) = (f::<i32>("a"), f::<i32>("b"));
    let sum = &a + &b + 1;
    assert_eq!(sum.to_bson().unwrap(), bson!({"$add": ["$a", "$b", 1]}));
    let difference = a.expr() - &b - 1;
    assert_eq!(
        difference.to_bson().unwrap(),
        bson!({"$subtract": [{"$subtract": ["$a", "$b"]}, 1]}),
    );
    let product = 2 * (a.expr() + 1) * &b;
    assert_eq!(
        product.to_bson().unwrap(),
        bson!({"$multiply": [2, {"$add": ["$a", 1]}, "$b"]}),
    );
    let both = a.expr().gt(1) & !b.expr().gt(2) & b.expr().lt(9);
    assert_eq!(
        both.to_bson().unwrap(),
        bson!({"$and": [{"$gt": ["$a", 1]}, {"$not": [{"$gt": ["$b", 2]}]}, {"$lt": ["$b", 9]}]}),
    );
}

#[test]
fn results_have_the_types_that_mongodb_computes() {
    let (int, long, double) = (f::<i32>("i"), f::<i64>("l"), f::<f64>("d"));
    let maybe = f::<Option<i32>>("m");
    let _: Expr<M, i64> = &int + &long;
    let _: Expr<M, f64> = &int * &double;
    let _: Expr<M, f64> = &int / &long;
    let _: Expr<M, Option<i32>> = &int + &maybe;
    let _: Expr<M, Option<f64>> = &maybe / &double;
    let _: Expr<M, i32> = maybe.expr().or(0) + 1;
    let _: Expr<M, bool> = maybe.expr().eq(&long);
    let _: Expr<M, Option<f64>> = f::<Vec<i32>>("v").expr().avg();
    let _: Expr<M, i64> = f::<Vec<u8>>("v").expr().sum();
    let _: Expr<M, Option<String>> = f::<Option<String>>("t").expr().concat("x");
}

#[test]
fn a_position_is_refused() {
    let list = f::<Vec<i32>>("list");
    let refused = (list.at(0) + 1).to_bson().unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert_eq!(refused.path(), Some("list.0"));
}
