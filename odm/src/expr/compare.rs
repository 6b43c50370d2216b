//! Comparisons, conditions and choices.

use std::ops::{BitAnd, BitOr, Not};

use bson::Bson;

use super::expression::{Expr, IntoExpr};
use super::kind::{Comparable, Condition, Fits};
use super::node::{Arguments, Node};
use super::operators;
use crate::query::deferred::Deferred;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $method:ident $operator:ident;)*) => {
        impl<S, T> Expr<S, T> {
            $($(#[$doc])*
            pub fn $method<R>(self, other: R) -> Expr<S, bool>
            where
                R: IntoExpr<S>,
                T: Comparable<R::Value>,
            {
                self.list(operators::$operator.name, [other.into_expr().into_node()])
            })*
        }
    };
}

comparisons! {
    /// Whether both values are equal: `$eq`. A missing value is not equal to null.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Stock { ordered: i32, sent: i32 }
    /// let stock = fields::<Stock>();
    /// let is_done = stock.ordered.expr().eq(stock.sent);
    /// assert_eq!(is_done.to_bson()?, bson::bson!({"$eq": ["$ordered", "$sent"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    eq EQ;
    /// Whether the values differ: `$ne`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Loan { state: String }
    /// let is_open = fields::<Loan>().state.expr().ne("returned");
    /// assert_eq!(is_open.to_bson()?, bson::bson!({"$ne": ["$state", "returned"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    ne NE;
    /// Whether this value is greater: `$gt`. Null and missing values are less than all others.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Budget { planned: f64, spent: f64 }
    /// let budget = fields::<Budget>();
    /// let is_over = budget.spent.expr().gt(budget.planned * 1.1);
    /// assert_eq!(is_over.to_bson()?, bson::bson!({"$gt": ["$spent", {"$multiply": ["$planned", 1.1]}]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    gt GT;
    /// Whether this value is greater or equal: `$gte`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let is_new = fields::<Book>().year.expr().gte(2000);
    /// assert_eq!(is_new.to_bson()?, bson::bson!({"$gte": ["$year", 2000]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    gte GTE;
    /// Whether this value is less: `$lt`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let is_old = fields::<Book>().year.expr().lt(1900);
    /// assert_eq!(is_old.to_bson()?, bson::bson!({"$lt": ["$year", 1900]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    lt LT;
    /// Whether this value is less or equal: `$lte`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let is_old = fields::<Book>().year.expr().lte(1900);
    /// assert_eq!(is_old.to_bson()?, bson::bson!({"$lte": ["$year", 1900]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    lte LTE;
}

impl<S, T> Expr<S, Option<T>> {
    /// The value, or another one where it is null or missing: `$ifNull`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { subtitle: Option<String> }
    /// let shown = fields::<Book>().subtitle.expr().or("");
    /// assert_eq!(shown.to_bson()?, bson::bson!({"$ifNull": ["$subtitle", ""]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn or<R>(self, default: R) -> Expr<S, T>
    where
        R: IntoExpr<S>,
        R::Value: Fits<T>,
    {
        self.list(operators::IF_NULL.name, [default.into_expr().into_node()])
    }

    /// Whether the value is null or missing: it is less than every other value, so `{$lte: [value, null]}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Loan { returned: Option<DateTime> }
    /// let is_open = fields::<Loan>().returned.expr().is_null();
    /// assert_eq!(is_open.to_bson()?, bson::bson!({"$lte": ["$returned", null]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn is_null(self) -> Expr<S, bool> {
        self.list(operators::LTE.name, [Ok(Node::Literal(Bson::Null))])
    }

    /// Whether there is a value: `{$gt: [value, null]}`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Loan { returned: Option<DateTime> }
    /// let is_over = fields::<Loan>().returned.expr().is_some();
    /// assert_eq!(is_over.to_bson()?, bson::bson!({"$gt": ["$returned", null]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn is_some(self) -> Expr<S, bool> {
        self.list(operators::GT.name, [Ok(Node::Literal(Bson::Null))])
    }
}

fn joined<S, T, U>(operator: &'static str, one: Expr<S, T>, other: Expr<S, U>) -> Expr<S, bool> {
    let node = match (one.into_node(), other.into_node()) {
        (Ok(one), Ok(other)) => Ok(Node::joined(operator, one, other)),
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    Expr::from_node(node)
}

/// `$and`
impl<S, T: Condition, U: Condition> BitAnd<Expr<S, U>> for Expr<S, T> {
    type Output = Expr<S, bool>;

    fn bitand(self, other: Expr<S, U>) -> Expr<S, bool> {
        joined(operators::AND.name, self, other)
    }
}

/// `$or`
impl<S, T: Condition, U: Condition> BitOr<Expr<S, U>> for Expr<S, T> {
    type Output = Expr<S, bool>;

    fn bitor(self, other: Expr<S, U>) -> Expr<S, bool> {
        joined(operators::OR.name, self, other)
    }
}

/// `$not`
impl<S, T: Condition> Not for Expr<S, T> {
    type Output = Expr<S, bool>;

    fn not(self) -> Expr<S, bool> {
        self.list(operators::NOT.name, [])
    }
}

/// The one value or the other: `$cond`. Null and missing conditions count as false.
///
/// ```
/// # use odm::expr::if_;
/// # use odm::prelude::*;
/// # use odm::query::fields;
/// # #[derive(Serialize, Deserialize, Embedded)]
/// # struct Order { total: f64 }
/// let order = fields::<Order>();
/// let postage = if_(order.total.expr().gte(50.0), 0.0, 4.9);
/// assert_eq!(postage.to_bson()?, bson::bson!({"$cond": [{"$gte": ["$total", 50.0]}, 0.0, 4.9]}));
/// # Ok::<(), odm::Error>(())
/// ```
pub fn if_<S, C, A, B>(condition: Expr<S, C>, value: A, other: B) -> Expr<S, A::Value>
where
    C: Condition,
    A: IntoExpr<S>,
    B: IntoExpr<S>,
    B::Value: Fits<A::Value>,
{
    let others = [value.into_expr().into_node(), other.into_expr().into_node()];
    condition.list(operators::COND.name, others)
}

/// A choice among several values: [`cases`].
#[must_use = "a choice does nothing until `otherwise` ends it"]
#[derive(Debug, Clone)]
pub struct Cases<S, T> {
    branches: Vec<(Expr<S, bool>, Expr<S, T>)>,
}

/// The value of the first condition that holds: `$switch`.
///
/// ```
/// # use odm::expr::cases;
/// # use odm::prelude::*;
/// # use odm::query::fields;
/// # #[derive(Serialize, Deserialize, Embedded)]
/// # struct Test { score: i32 }
/// let test = fields::<Test>();
/// let grade = cases(test.score.expr().gte(90), "A")
///     .case(test.score.expr().gte(80), "B")
///     .otherwise("C");
/// assert_eq!(
///     grade.to_bson()?,
///     bson::bson!({"$switch": {
///         "branches": [
///             {"case": {"$gte": ["$score", 90]}, "then": "A"},
///             {"case": {"$gte": ["$score", 80]}, "then": "B"},
///         ],
///         "default": "C",
///     }}),
/// );
/// # Ok::<(), odm::Error>(())
/// ```
pub fn cases<S, V: IntoExpr<S>>(condition: Expr<S, bool>, value: V) -> Cases<S, V::Value> {
    Cases {
        branches: vec![(condition, value.into_expr())],
    }
}

impl<S, T> Cases<S, T> {
    /// Adds a condition, which is tried after those before it.
    pub fn case<V>(mut self, condition: Expr<S, bool>, value: V) -> Self
    where
        V: IntoExpr<S>,
        V::Value: Fits<T>,
    {
        let value = value.into_expr().with_type();
        self.branches.push((condition, value));
        self
    }

    /// Ends the choice with the value for documents that no condition matches.
    pub fn otherwise<V>(self, value: V) -> Expr<S, T>
    where
        V: IntoExpr<S>,
        V::Value: Fits<T>,
    {
        let branches = self.branches.into_iter();
        let branches = branches.map(|(case, then)| (case.into_node(), then.into_node()));
        Expr::from_node(switch(branches.collect(), value.into_expr().into_node()))
    }
}

/// A condition and its value.
type Branch = (Result<Node, Deferred>, Result<Node, Deferred>);

fn switch(branches: Vec<Branch>, default: Result<Node, Deferred>) -> Result<Node, Deferred> {
    let branches: Result<Vec<Node>, Deferred> = branches
        .into_iter()
        .map(|(case, then)| {
            Ok(Node::Object(vec![
                ("case".to_owned(), case?),
                ("then".to_owned(), then?),
            ]))
        })
        .collect();
    let arguments = vec![("branches", Node::Array(branches?)), ("default", default?)];
    Ok(Node::Call(
        operators::SWITCH.name,
        Arguments::Named(arguments),
    ))
}

impl<M> crate::query::Filter<M> {
    /// The documents for which an expression is true: `{$expr: expression}`. It compares fields with each other; a
    /// condition on one field is better written by the field's own methods, which use indexes in more cases.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Budget {
    ///     planned: f64,
    ///     spent: f64,
    /// }
    ///
    /// let budget = fields::<Budget>();
    /// let over = Filter::expr(budget.spent.expr().gt(budget.planned));
    /// # fn of<M>(filter: &Filter<M>) -> odm::Result<bson::Document> { filter.to_document() }
    /// assert_eq!(of(&over)?, doc! {"$expr": {"$gt": ["$spent", "$planned"]}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn expr<T: Condition>(condition: Expr<M, T>) -> Self {
        let condition = condition.into_bson();
        Self::from_node(
            condition
                .map(|expression| crate::query::node::Node::Raw(bson::doc! {"$expr": expression})),
        )
    }
}
