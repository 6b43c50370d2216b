//! Accumulators: what they compute from several documents.

use bson::Bson;

use crate::expr::IntoExpr;
use crate::expr::kind::{Numeric, NumericKind};
use crate::expr::node::Node;
use crate::query::Sort;
use crate::query::deferred::Deferred;

/// The type of a sum.
pub(super) type Sum<N> = <<N as Numeric>::Kind as NumericKind>::Sum;
/// The type of an average.
pub(super) type Real<N> = <<N as Numeric>::Kind as NumericKind>::Real;

/// The accumulators as methods of a type that has a method `accumulator`. There may be no value in `$found`.
macro_rules! accumulators {
    ($of:ident<$($parameter:ident),*>, $scope:ty, $found:ident) => {
        impl<$($parameter),*> $of<$($parameter),*> {
            /// The number of documents: `{$sum: 1}`.
            pub fn count(&self) -> Expr<$scope, i64> {
                self.accumulator(Ok(count()))
            }

            /// The sum of the values that are numbers: `$sum`. It is 0 where there are none.
            pub fn sum<X>(&self, value: X) -> Expr<$scope, Sum<X::Value>>
            where
                X: IntoExpr<S>,
                X::Value: Numeric,
            {
                self.accumulator(one("$sum", value))
            }

            /// The average of the values that are numbers: `$avg`. It is null where there are none.
            pub fn avg<X>(&self, value: X) -> Expr<$scope, Option<Real<X::Value>>>
            where
                X: IntoExpr<S>,
                X::Value: Numeric,
            {
                self.accumulator(one("$avg", value))
            }

            /// The least value: `$min`. Null and missing values don't count.
            pub fn min<X: IntoExpr<S>>(&self, value: X) -> Expr<$scope, $found<X::Value>> {
                self.accumulator(one("$min", value))
            }

            /// The greatest value: `$max`. Null and missing values don't count.
            pub fn max<X: IntoExpr<S>>(&self, value: X) -> Expr<$scope, $found<X::Value>> {
                self.accumulator(one("$max", value))
            }

            /// The value of the first document: `$first`. Which one is first, says a `sort` before the group.
            pub fn first<X: IntoExpr<S>>(&self, value: X) -> Expr<$scope, $found<X::Value>> {
                self.accumulator(one("$first", value))
            }

            /// The value of the last document: `$last`. Which one is last, says a `sort` before the group.
            pub fn last<X: IntoExpr<S>>(&self, value: X) -> Expr<$scope, $found<X::Value>> {
                self.accumulator(one("$last", value))
            }

            /// All values: `$push`. Missing values are left out.
            pub fn push<X: IntoExpr<S>>(&self, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(one("$push", value))
            }

            /// The different values, in no certain order: `$addToSet`.
            pub fn add_to_set<X: IntoExpr<S>>(&self, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(one("$addToSet", value))
            }

            /// The standard deviation of the values as a sample: `$stdDevSamp`. It is null for less than two numbers.
            pub fn std_dev_samp<X>(&self, value: X) -> Expr<$scope, Option<f64>>
            where
                X: IntoExpr<S>,
                X::Value: Numeric,
            {
                self.accumulator(one("$stdDevSamp", value))
            }

            /// The standard deviation of the values as the whole population: `$stdDevPop`. It is null where there are no numbers.
            pub fn std_dev_pop<X>(&self, value: X) -> Expr<$scope, Option<f64>>
            where
                X: IntoExpr<S>,
                X::Value: Numeric,
            {
                self.accumulator(one("$stdDevPop", value))
            }

            /// The first values, at most `count`: `$firstN`, since MongoDB 5.2.
            pub fn first_n<X: IntoExpr<S>>(&self, count: u32, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(some("$firstN", count, value))
            }

            /// The last values, at most `count`: `$lastN`, since MongoDB 5.2.
            pub fn last_n<X: IntoExpr<S>>(&self, count: u32, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(some("$lastN", count, value))
            }

            /// The least values, at most `count`: `$minN`, since MongoDB 5.2. Null and missing values don't count.
            pub fn min_n<X: IntoExpr<S>>(&self, count: u32, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(some("$minN", count, value))
            }

            /// The greatest values, at most `count`: `$maxN`, since MongoDB 5.2. Null and missing values don't count.
            pub fn max_n<X: IntoExpr<S>>(&self, count: u32, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(some("$maxN", count, value))
            }

            /// The value of the first document in an order: `$top`, since MongoDB 5.2.
            pub fn top<X: IntoExpr<S>>(&self, order: Sort<S>, value: X) -> Expr<$scope, $found<X::Value>> {
                self.accumulator(sorted("$top", None, order, value))
            }

            /// The value of the last document in an order: `$bottom`, since MongoDB 5.2.
            pub fn bottom<X: IntoExpr<S>>(&self, order: Sort<S>, value: X) -> Expr<$scope, $found<X::Value>> {
                self.accumulator(sorted("$bottom", None, order, value))
            }

            /// The values of the first documents in an order, at most `count`: `$topN`, since MongoDB 5.2.
            pub fn top_n<X: IntoExpr<S>>(&self, count: u32, order: Sort<S>, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(sorted("$topN", Some(count), order, value))
            }

            /// The values of the last documents in an order, at most `count`: `$bottomN`, since MongoDB 5.2.
            pub fn bottom_n<X: IntoExpr<S>>(&self, count: u32, order: Sort<S>, value: X) -> Expr<$scope, Vec<X::Value>> {
                self.accumulator(sorted("$bottomN", Some(count), order, value))
            }
        }
    };
}

pub(super) use accumulators;

pub(super) fn count() -> Node {
    Node::one("$sum", Node::Literal(Bson::Int32(1)))
}

pub(super) fn one<S>(name: &'static str, value: impl IntoExpr<S>) -> Result<Node, Deferred> {
    let value = value.into_expr().into_node()?;
    Ok(Node::one(name, value))
}

pub(super) fn some<S>(
    name: &'static str,
    count: u32,
    value: impl IntoExpr<S>,
) -> Result<Node, Deferred> {
    let input = value.into_expr().into_node()?;
    let count = Node::Literal(Bson::Int64(count.into()));
    Ok(Node::named(name, [("input", input), ("n", count)]))
}

pub(super) fn sorted<S>(
    name: &'static str,
    count: Option<u32>,
    order: Sort<S>,
    value: impl IntoExpr<S>,
) -> Result<Node, Deferred> {
    let output = value.into_expr().into_node()?;
    let order = Node::Raw(order.into_document()?.into());
    let count = count.map(|count| ("n", Node::Literal(Bson::Int64(count.into()))));
    let arguments = [("output", output), ("sortBy", order)];
    Ok(Node::named(name, arguments.into_iter().chain(count)))
}
