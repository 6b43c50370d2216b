//! `$group`: accumulators.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document, doc};

use super::output::Output;
use crate::expr::kind::{Numeric, NumericKind};
use crate::expr::node::Node;
use crate::expr::{Expr, IntoExpr};
use crate::model::{FieldType, Path};
use crate::query::deferred::Deferred;

/// The scope of expressions over the groups of documents of the shape `S`.
#[derive(Debug)]
pub struct Grouped<S>(PhantomData<fn() -> S>);

/// A group of documents with the same key: the second argument of the closure of [`group_by`](super::Pipeline::group_by).
///
/// Its methods are the accumulators. They take expressions over the documents, and are expressions over the group:
/// `group.sum(line.price) / group.count()`.
///
/// ```
/// use odm::output;
/// use odm::pipeline::pipeline;
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "sales")]
/// struct Sale {
///     #[serde(rename = "_id")]
///     id: i32,
///     item: String,
///     price: f64,
///     rating: Option<i32>,
/// }
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Item {
///     #[serde(rename = "_id")]
///     item: String,
///     sales: i64,
///     turnover: f64,
///     rating: Option<f64>,
///     cheapest: f64,
///     last: f64,
///     prices: Vec<f64>,
///     spread: Option<f64>,
/// }
///
/// let items = pipeline::<Sale>().sort(|s| s.id.asc()).group_by(
///     |s| s.item,
///     |s, group| output!(Item {
///         item: group.key(),
///         sales: group.count(),
///         turnover: group.sum(&s.price),
///         rating: group.avg(&s.rating),
///         cheapest: group.min(&s.price),
///         last: group.last(&s.price),
///         prices: group.push(&s.price),
///         spread: group.std_dev_pop(&s.price),
///     }),
/// );
/// assert_eq!(
///     items.to_stages()?[1],
///     doc! {"$group": {
///         "_id": "$item",
///         "sales": {"$sum": 1},
///         "turnover": {"$sum": "$price"},
///         "rating": {"$avg": "$rating"},
///         "cheapest": {"$min": "$price"},
///         "last": {"$last": "$price"},
///         "prices": {"$push": "$price"},
///         "spread": {"$stdDevPop": "$price"},
///     }},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
pub struct Group<S, K> {
    of: PhantomData<fn() -> (S, K)>,
}

impl<S, K> Group<S, K> {
    pub(super) fn new() -> Self {
        Self { of: PhantomData }
    }

    /// The key; that of a derived struct has fields: `group.key().year`.
    pub fn key(&self) -> K::Handle<Grouped<S>, K>
    where
        K: FieldType,
    {
        K::handle(Path::root().child("_id"))
    }

    /// The number of documents: `{$sum: 1}`.
    pub fn count(&self) -> Expr<Grouped<S>, i64> {
        accumulator("$sum", Ok(Node::Literal(Bson::Int32(1))))
    }

    /// The sum of the values that are numbers: `$sum`. It is 0 where there are none.
    pub fn sum<X>(&self, value: X) -> Expr<Grouped<S>, Sum<X::Value>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        accumulator("$sum", value.into_expr().into_node())
    }

    /// The average of the values that are numbers: `$avg`. It is null where there are none.
    pub fn avg<X>(&self, value: X) -> Expr<Grouped<S>, Option<Real<X::Value>>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        accumulator("$avg", value.into_expr().into_node())
    }

    /// The least value: `$min`. Null and missing values don't count.
    pub fn min<X: IntoExpr<S>>(&self, value: X) -> Expr<Grouped<S>, X::Value> {
        accumulator("$min", value.into_expr().into_node())
    }

    /// The greatest value: `$max`. Null and missing values don't count.
    pub fn max<X: IntoExpr<S>>(&self, value: X) -> Expr<Grouped<S>, X::Value> {
        accumulator("$max", value.into_expr().into_node())
    }

    /// The value of the first document: `$first`. Which one is first, says a `sort` before the group.
    pub fn first<X: IntoExpr<S>>(&self, value: X) -> Expr<Grouped<S>, X::Value> {
        accumulator("$first", value.into_expr().into_node())
    }

    /// The value of the last document: `$last`. Which one is last, says a `sort` before the group.
    pub fn last<X: IntoExpr<S>>(&self, value: X) -> Expr<Grouped<S>, X::Value> {
        accumulator("$last", value.into_expr().into_node())
    }

    /// All values: `$push`. Missing values are left out.
    pub fn push<X: IntoExpr<S>>(&self, value: X) -> Expr<Grouped<S>, Vec<X::Value>> {
        accumulator("$push", value.into_expr().into_node())
    }

    /// The different values, in no certain order: `$addToSet`.
    pub fn add_to_set<X: IntoExpr<S>>(&self, value: X) -> Expr<Grouped<S>, Vec<X::Value>> {
        accumulator("$addToSet", value.into_expr().into_node())
    }

    /// The standard deviation of the values as a sample: `$stdDevSamp`. It is null for less than two numbers.
    pub fn std_dev_samp<X>(&self, value: X) -> Expr<Grouped<S>, Option<f64>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        accumulator("$stdDevSamp", value.into_expr().into_node())
    }

    /// The standard deviation of the values as the whole population: `$stdDevPop`. It is null where there are no numbers.
    pub fn std_dev_pop<X>(&self, value: X) -> Expr<Grouped<S>, Option<f64>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        accumulator("$stdDevPop", value.into_expr().into_node())
    }
}

/// The type of a sum.
type Sum<N> = <<N as Numeric>::Kind as NumericKind>::Sum;
/// The type of an average.
type Real<N> = <<N as Numeric>::Kind as NumericKind>::Real;

impl<S, K> fmt::Debug for Group<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Group")
    }
}

fn accumulator<S, T>(name: &'static str, value: Result<Node, Deferred>) -> Expr<Grouped<S>, T> {
    Expr::from_node(value.map(|value| Node::Accumulator(Box::new(Node::one(name, value)))))
}

/// The stages that make the outputs: a `$group`, and a `$project` if the outputs are more than the key as `_id` and accumulators.
pub(super) fn stages<S, R>(
    key: Result<Node, Deferred>,
    output: Output<Grouped<S>, R>,
) -> Result<Vec<Document>, Deferred> {
    Ok(grouped(key?, output.into_fields()?))
}

fn grouped(key: Node, fields: Vec<(String, Node)>) -> Vec<Document> {
    let mut group = doc! {"_id": key.into_field()};
    let mut project = Document::new();
    let mut is_plain = true;
    let mut has_id = false;
    for (name, field) in fields {
        has_id |= name == "_id";
        match field {
            Node::Accumulator(accumulator) if name != "_id" => {
                group.insert(name.clone(), accumulator.into_bson());
                project.insert(name, 1);
            }
            Node::Path(path) if name == "_id" && path == "$_id" => {
                project.insert(name, 1);
            }
            field => {
                is_plain = false;
                let mut number = 0;
                let computed = field.replace_accumulators(&mut |accumulator| {
                    number += 1;
                    let part = format!("__{name}_{number}");
                    group.insert(part.clone(), accumulator.into_bson());
                    Node::Path(format!("${part}"))
                });
                project.insert(name, computed.into_field());
            }
        }
    }
    let mut stages = vec![doc! {"$group": group}];
    if !is_plain || !has_id {
        if !has_id {
            project.insert("_id", 0);
        }
        stages.push(doc! {"$project": project});
    }
    stages
}
