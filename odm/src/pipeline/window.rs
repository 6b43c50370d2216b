//! `$setWindowFields`: what a document has computed from its neighbours.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bson::{Bson, Document, doc};

use super::accumulators::{Real, Sum, accumulators, count, one, some, sorted};
use super::group::hoist;
use super::output::{Output, project};
use crate::expr::kind::Numeric;
use crate::expr::node::Node;
use crate::expr::{Expr, IntoExpr, Unit};
use crate::query::Sort;
use crate::query::deferred::Deferred;

/// The partitions of [`set_window_fields`](super::Pipeline::set_window_fields), and the order within each: [`partition_by`]
/// makes them. A [`Sort`] by itself is one partition of all documents.
#[must_use = "partitions do nothing until they are given to `set_window_fields`"]
pub struct Partitions<S> {
    key: Option<Expr<S, Bson>>,
    order: Option<Sort<S>>,
}

/// The documents with the same key are a partition.
///
/// ```
/// # use odm::pipeline::{partition_by, pipeline};
/// # use odm::prelude::*;
/// # use odm::output;
/// # #[derive(Serialize, Deserialize, Document)]
/// # #[odm(collection = "sales")]
/// # struct Sale { #[serde(rename = "_id")] id: i32, state: String, at: DateTime, amount: i32 }
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Ranked {
///     state: String,
///     rank: i64,
/// }
///
/// let ranked = pipeline::<Sale>().set_window_fields(
///     |s| partition_by(s.state).sort(s.amount.desc()),
///     |s, w| output!(Ranked { state: s.state, rank: w.rank() }),
/// );
/// assert_eq!(
///     ranked.to_stages()?[0],
///     doc! {"$setWindowFields": {
///         "partitionBy": "$state",
///         "sortBy": {"amount": -1},
///         "output": {"__rank_1": {"$rank": {}}},
///     }},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
pub fn partition_by<S, X: IntoExpr<S>>(key: X) -> Partitions<S> {
    Partitions {
        key: Some(key.into_expr().with_type()),
        order: None,
    }
}

impl<S> Partitions<S> {
    /// The order of the documents of a partition.
    pub fn sort(mut self, order: Sort<S>) -> Self {
        self.order = Some(order);
        self
    }
}

impl<S> fmt::Debug for Partitions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partitions")
            .field("key", &self.key)
            .field("order", &self.order)
            .finish()
    }
}

impl<S> From<Sort<S>> for Partitions<S> {
    fn from(order: Sort<S>) -> Self {
        Self {
            key: None,
            order: Some(order),
        }
    }
}

/// The partition of a document: the second argument of the closure of
/// [`set_window_fields`](super::Pipeline::set_window_fields), since MongoDB 5.0.
///
/// Its methods choose a [`Window`] of the partition, or compute a value from the whole of it.
pub struct Partition<S>(PhantomData<fn() -> S>);

/// Some documents of a partition around the current one: [`Partition::documents`] and its kin.
///
/// Its methods are the accumulators, whose results are expressions of the current document. A window can be empty: `min`,
/// `max`, `first`, `last`, `top` and `bottom` are null then.
///
/// ```
/// # use odm::pipeline::pipeline;
/// # use odm::prelude::*;
/// # use odm::output;
/// # #[derive(Serialize, Deserialize, Document)]
/// # #[odm(collection = "sales")]
/// # struct Sale { #[serde(rename = "_id")] id: i32, at: DateTime, amount: i32 }
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Running {
///     at: DateTime,
///     total: i64,
///     mean_of_three: Option<f64>,
/// }
///
/// let running = pipeline::<Sale>().set_window_fields(
///     |s| s.at.asc(),
///     |s, w| output!(Running {
///         at: s.at,
///         total: w.documents(..=0).sum(&s.amount),
///         mean_of_three: w.documents(-2..=0).avg(&s.amount),
///     }),
/// );
/// assert_eq!(
///     running.to_stages()?[0],
///     doc! {"$setWindowFields": {
///         "sortBy": {"at": 1},
///         "output": {
///             "__total_1": {
///                 "$sum": "$amount", "window": {"documents": ["unbounded", "current"]},
///             },
///             "__mean_of_three_1": {
///                 "$avg": "$amount", "window": {"documents": [-2_i64, "current"]},
///             },
///         },
///     }},
/// );
/// # Ok::<(), odm::Error>(())
/// ```
pub struct Window<S> {
    frame: Result<Document, Deferred>,
    of: PhantomData<fn() -> S>,
}

/// A window can be empty.
type Found<T> = Option<T>;

accumulators!(Window<S>, S, Found);

impl<S> Partition<S> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }

    /// The window of the documents at these positions, where the current document is 0: `..=0` are all until it, `-2..=0` the
    /// last three, and `..` is the whole partition.
    pub fn documents(&self, positions: impl RangeBounds<i64>) -> Window<S> {
        let lower = match positions.start_bound() {
            Bound::Included(start) => position(*start),
            Bound::Excluded(start) => position(start.saturating_add(1)),
            Bound::Unbounded => "unbounded".into(),
        };
        let upper = match positions.end_bound() {
            Bound::Included(end) => position(*end),
            Bound::Excluded(end) => position(end.saturating_sub(1)),
            Bound::Unbounded => "unbounded".into(),
        };
        Window::new(Ok(doc! {"documents": [lower, upper]}))
    }

    /// The window of the documents whose key of the sort lies within these distances of the current one: `-10.0..=10.0`.
    ///
    /// The sort must be by one number, ascending.
    pub fn range(&self, distances: impl RangeBounds<f64>) -> Window<S> {
        Window::new(bounds(&distances).map(|bounds| doc! {"range": bounds}))
    }

    /// The window of the documents whose date lies within these distances of the current one: `-7..=0` in `Unit::Day`.
    ///
    /// The sort must be by one date, ascending.
    pub fn range_in(&self, unit: Unit, distances: impl RangeBounds<i64>) -> Window<S> {
        let window = bounds(&distances);
        Window::new(window.map(|bounds| doc! {"range": bounds, "unit": unit.name()}))
    }

    /// The position of the document in the partition, from 1, where documents with equal keys have the same and leave a gap:
    /// `$rank`. The sort must have one key.
    pub fn rank(&self) -> Expr<S, i64> {
        computed(Ok(Node::named("$rank", [])))
    }

    /// The position of the document in the partition, from 1, where documents with equal keys have the same and leave no gap:
    /// `$denseRank`. The sort must have one key.
    pub fn dense_rank(&self) -> Expr<S, i64> {
        computed(Ok(Node::named("$denseRank", [])))
    }

    /// The position of the document in the partition, from 1: `$documentNumber`.
    pub fn document_number(&self) -> Expr<S, i64> {
        computed(Ok(Node::named("$documentNumber", [])))
    }

    /// The value of the document this many positions after the current one, or before it for a negative number: `$shift`.
    /// It is null beyond the partition.
    pub fn shift<X: IntoExpr<S>>(&self, value: X, by: i32) -> Expr<S, Option<X::Value>> {
        let value = value.into_expr().into_node();
        let by = Node::Literal(Bson::Int32(by));
        computed(value.map(|value| Node::named("$shift", [("output", value), ("by", by)])))
    }

    /// The exponential moving average, in which the last `count` documents weigh 86 %: `$expMovingAvg`.
    pub fn exp_moving_avg<X>(&self, value: X, count: u32) -> Expr<S, Option<Real<X::Value>>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        let value = value.into_expr().into_node();
        let count = Node::Literal(Bson::Int64(count.into()));
        computed(value.map(|value| Node::named("$expMovingAvg", [("input", value), ("N", count)])))
    }

    /// The value, or that of the last document before it that has one: `$locf`, since MongoDB 5.2.
    pub fn locf<X: IntoExpr<S>>(&self, value: X) -> Expr<S, X::Value> {
        computed(one("$locf", value))
    }

    /// The value or, where it is null or missing, one on the line between those before and after it: `$linearFill`, since
    /// MongoDB 5.3. The sort must be by one number or one date.
    pub fn linear_fill<X>(&self, value: X) -> Expr<S, Option<Real<X::Value>>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        computed(one("$linearFill", value))
    }
}

impl<S> Window<S> {
    fn new(frame: Result<Document, Deferred>) -> Self {
        Self {
            frame,
            of: PhantomData,
        }
    }

    fn accumulator<T>(&self, accumulator: Result<Node, Deferred>) -> Expr<S, T> {
        computed(accumulator.and_then(|accumulator| self.framed(accumulator)))
    }

    fn framed(&self, function: Node) -> Result<Node, Deferred> {
        let function = plain(function)?.into_bson();
        let Bson::Document(mut function) = function else {
            return Ok(Node::Raw(function));
        };
        function.insert("window", self.frame.clone()?);
        Ok(Node::Raw(function.into()))
    }

    /// The average growth of the value for each unit of the sort's date, from the first to the last document of the window:
    /// `$derivative`. The longest unit is a week.
    pub fn derivative<X>(&self, value: X, per: Unit) -> Expr<S, Option<Real<X::Value>>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        self.accumulator(per_unit("$derivative", value, per))
    }

    /// The area under the value, by the unit of the sort's date: `$integral`. The longest unit is a week.
    pub fn integral<X>(&self, value: X, per: Unit) -> Expr<S, Option<Real<X::Value>>>
    where
        X: IntoExpr<S>,
        X::Value: Numeric,
    {
        self.accumulator(per_unit("$integral", value, per))
    }

    /// The covariance of two values as the whole population: `$covariancePop`.
    pub fn covariance_pop<X, Y>(&self, x: X, y: Y) -> Expr<S, Option<f64>>
    where
        X: IntoExpr<S>,
        Y: IntoExpr<S>,
        X::Value: Numeric,
        Y::Value: Numeric,
    {
        self.accumulator(two("$covariancePop", x, y))
    }

    /// The covariance of two values as a sample: `$covarianceSamp`. It is null for less than two documents.
    pub fn covariance_samp<X, Y>(&self, x: X, y: Y) -> Expr<S, Option<f64>>
    where
        X: IntoExpr<S>,
        Y: IntoExpr<S>,
        X::Value: Numeric,
        Y::Value: Numeric,
    {
        self.accumulator(two("$covarianceSamp", x, y))
    }
}

impl<S> fmt::Debug for Partition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Partition")
    }
}

impl<S> fmt::Debug for Window<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.frame {
            Ok(frame) => write!(f, "Window({frame})"),
            Err(error) => write!(f, "Window({})", error.to_error()),
        }
    }
}

fn per_unit<S>(name: &'static str, value: impl IntoExpr<S>, per: Unit) -> Result<Node, Deferred> {
    let value = value.into_expr().into_node()?;
    Ok(Node::named(
        name,
        [("input", value), ("unit", Node::text(per.name()))],
    ))
}

fn two<S>(name: &'static str, x: impl IntoExpr<S>, y: impl IntoExpr<S>) -> Result<Node, Deferred> {
    let (x, y) = (x.into_expr().into_node()?, y.into_expr().into_node()?);
    Ok(Node::list(name, [x, y]))
}

/// A value that a stage before the output computes.
fn computed<S, T>(function: Result<Node, Deferred>) -> Expr<S, T> {
    let function = function.and_then(plain);
    Expr::from_node(function.map(|function| Node::Accumulator(Box::new(function))))
}

/// The function of a window, unless another one is its argument.
fn plain(function: Node) -> Result<Node, Deferred> {
    let mut is_nested = false;
    let function = function.replace_accumulators(&mut |inner| {
        is_nested = true;
        inner
    });
    if is_nested {
        let message = "the argument of a window's function is computed from one document: compute another window's function \
                       by a `set_window_fields` before this one";
        return Err(Deferred::usage("", message));
    }
    Ok(function)
}

fn position(position: i64) -> Bson {
    match position {
        0 => "current".into(),
        position => position.into(),
    }
}

fn bounds<T: Copy + Into<Bson>>(range: &impl RangeBounds<T>) -> Result<Vec<Bson>, Deferred> {
    let bound = |bound: Bound<&T>| match bound {
        Bound::Included(distance) => Ok((*distance).into()),
        Bound::Unbounded => Ok("unbounded".into()),
        Bound::Excluded(_) => Err(Deferred::usage(
            "",
            "a window of a range includes its ends: write `-7..=0`",
        )),
    };
    Ok(vec![bound(range.start_bound())?, bound(range.end_bound())?])
}

/// The stages that make the outputs: a `$setWindowFields` with what the output computes from windows, and a `$project`.
pub(super) fn stages<S, R>(
    partitions: Partitions<S>,
    output: Output<S, R>,
) -> Result<Vec<Document>, Deferred> {
    let key = partitions.key.map(Expr::into_node).transpose()?;
    let order = partitions.order.map(Sort::into_document).transpose()?;
    Ok(windowed(key, order, output.into_fields()?))
}

fn windowed(
    key: Option<Node>,
    order: Option<Document>,
    fields: Vec<(String, Node)>,
) -> Vec<Document> {
    let mut functions = Document::new();
    let fields = fields
        .into_iter()
        .map(|(name, field)| {
            let field = hoist(&name, field, &mut functions);
            (name, field)
        })
        .collect();
    let mut stage = Document::new();
    stage.extend(key.map(|key| ("partitionBy".to_owned(), key.into_bson())));
    stage.extend(order.map(|order| ("sortBy".to_owned(), order.into())));
    stage.insert("output", functions);
    vec![doc! {"$setWindowFields": stage}, project(fields)]
}
