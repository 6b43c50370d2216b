//! Typed expressions: what MongoDB computes from a document, in the stages of a [pipeline](crate::pipeline) and in updates.
//!
//! [`Field::expr`](crate::query::Field::expr) starts one; operators and methods make larger ones. An [`Expr`] knows the type
//! of its value, and whether that can be null: the average of an `i32` is an `Option<f64>`. Where a method takes a
//! further value ([`IntoExpr`]), a field, another expression or a Rust value will do.
//!
//! ```
//! use odm::prelude::*;
//! use odm::query::fields;
//!
//! #[derive(Serialize, Deserialize, Embedded)]
//! struct Line {
//!     price: f64,
//!     quantity: i32,
//!     discount: Option<f64>,
//! }
//!
//! let line = fields::<Line>();
//! let total = line.price.expr() * line.quantity * (1.0 - line.discount.expr().or(0.0));
//! assert_eq!(
//!     total.to_bson()?,
//!     bson::bson!({"$multiply": [
//!         "$price",
//!         "$quantity",
//!         {"$subtract": [1.0, {"$ifNull": ["$discount", 0.0]}]},
//!     ]}),
//! );
//! # Ok::<(), odm::Error>(())
//! ```
//!
//! A field inside an `Option`, of a variant, or under the key of a map has its declared type, and can be missing all the same.
//! An output refuses it for a field that can't be null, when the pipeline is sent: give it a default by
//! [`optional`](Expr::optional), or say that it is there by [`required`](Expr::required).
//!
//! An expression is not a [`Filter`](crate::query::Filter): its comparisons compute a `bool`, and use an index only in few
//! cases. [`Filter::expr`](crate::query::Filter::expr) makes a filter of one.

mod arithmetic;
mod arrays;
mod compare;
mod convert;
mod dates;
mod expression;
pub mod kind;
mod literal;
mod missing;
pub(crate) mod node;
pub(crate) mod operators;
#[cfg(test)]
mod tests;
mod text;

pub use self::compare::{Cases, cases, if_};
pub use self::dates::{Unit, Zoned};
pub(crate) use self::expression::names_only;
pub use self::expression::{Expr, IntoExpr};
pub use self::literal::{literal, raw_expr, text_score};
