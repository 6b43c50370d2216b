//! Values in expressions.

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Decimal128};
use serde::Serialize;

use super::expression::{Expr, IntoExpr};
use super::node::Node;
use super::operators;
use crate::model::FieldType;
use crate::query::deferred::Deferred;
use crate::query::encode::encode_field;

macro_rules! literals {
    ($($type:ty),*) => {$(
        impl<S> IntoExpr<S> for $type {
            type Value = Self;

            fn into_expr(self) -> Expr<S, Self> {
                Expr::from_node(Ok(Node::Literal(Bson::from(self))))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<S> IntoExpr<S> for &$type {
            type Value = $type;

            fn into_expr(self) -> Expr<S, $type> {
                self.clone().into_expr()
            }
        }
    )*};
}

// One type of integers: with two, rustc would not know the type of `year / 10` where a method is called on it.
literals!(i32, f64, bool, String, ObjectId, DateTime, Decimal128);

impl<S> IntoExpr<S> for &str {
    type Value = String;

    fn into_expr(self) -> Expr<S, String> {
        Expr::from_node(Ok(Node::text(self)))
    }
}

#[diagnostic::do_not_recommend]
impl<S> IntoExpr<S> for &&str {
    type Value = String;

    fn into_expr(self) -> Expr<S, String> {
        (*self).into_expr()
    }
}

/// A value of any type that a field can have, as an expression: a list, a struct, an `Option`.
///
/// `i32`, `f64`, `bool`, text, dates and `ObjectId`s need no `literal`: they are expressions already. Numbers of other types do:
/// so the literal in `b.year / 10` has one type.
///
/// ```
/// # use odm::expr::literal;
/// # use odm::prelude::*;
/// # use odm::query::fields;
/// # #[derive(Serialize, Deserialize, Embedded)]
/// # struct Book { language: String }
/// let is_local = literal(vec!["de", "en"]).contains(fields::<Book>().language);
/// assert_eq!(is_local.to_bson()?, bson::bson!({"$in": ["$language", ["de", "en"]]}));
/// # Ok::<(), odm::Error>(())
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "a value is written in place: `literal(vec![1, 2])`"
)]
pub fn literal<S, T: Serialize + FieldType>(value: T) -> Expr<S, T> {
    let value = encode_field(&value).map_err(|error| Deferred::encode("", &error));
    Expr::from_node(value.map(Node::Literal))
}

/// How relevant a document is to the [text search](crate::query::Filter::text) of the first `match_`: `{$meta: "textScore"}`.
///
/// ```
/// # use odm::expr::text_score;
/// # use odm::pipeline::pipeline;
/// # use odm::prelude::*;
/// # #[derive(Serialize, Deserialize, Document)]
/// # #[odm(collection = "books", text(title))]
/// # struct Book { #[serde(rename = "_id")] id: i32, title: String }
/// let relevant = pipeline::<Book>()
///     .match_(|_| Filter::text("whale"))
///     .add_field(|_| text_score())
///     .match_(|(_, score)| score.gt(1.0));
/// assert_eq!(relevant.to_stages()?[1], doc! {"$set": {"__value": {"$meta": "textScore"}}});
/// # Ok::<(), odm::Error>(())
/// ```
pub fn text_score<S>() -> Expr<S, f64> {
    let score = Node::text("textScore");
    Expr::from_node(Ok(Node::one(operators::META.name, score)))
}

/// An expression written by hand, with the type of its value: for an operator that has no method here.
///
/// Strings that start with `$` are paths in it, and a renamed field does not break it when it is compiled.
///
/// ```
/// # use odm::expr::raw_expr;
/// # use odm::prelude::*;
/// # use odm::query::fields;
/// # #[derive(Serialize, Deserialize, Embedded)]
/// # struct Book { stars: i32 }
/// let noise = raw_expr::<_, f64>(doc! {"$rand": {}});
/// let shaken = fields::<Book>().stars.expr() + noise;
/// assert_eq!(shaken.to_bson()?, bson::bson!({"$add": ["$stars", {"$rand": {}}]}));
/// # Ok::<(), odm::Error>(())
/// ```
pub fn raw_expr<S, T>(expression: impl Into<Bson>) -> Expr<S, T> {
    Expr::from_node(Ok(Node::Raw(expression.into())))
}
