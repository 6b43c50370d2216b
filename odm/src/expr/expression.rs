//! An expression, and what becomes one.

use std::fmt;
use std::marker::PhantomData;

use bson::Bson;

use super::node::Node;
use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::compare::stored_path;
use crate::query::deferred::Deferred;
use crate::query::{Encode, Field};

/// An expression over documents of the shape `S` with values of the type `T`. The [module](super) has an introduction.
///
/// `T` is the stored type ([`Encode::Stored`]): `bson::DateTime` for the dates of other crates.
#[must_use = "an expression does nothing until it is given to a stage or an update"]
pub struct Expr<S, T> {
    node: Result<Node, Deferred>,
    of: PhantomData<fn() -> (S, T)>,
}

/// What becomes an expression over documents of the shape `S`: an [`Expr`], a field, or a Rust value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an expression over `{S}`",
    label = "expected a field of `{S}`, an expression of such fields, or a value",
    note = "the whole of an embedded struct is `b.address.expr()`, and another value that can be stored is `literal(value)`",
    note = "a comparison in an expression starts from one: `b.price.expr().gt(5)`; without `expr()` it is a filter",
    note = "a group has many documents, so a field needs an accumulator: `group.max(b.title)`"
)]
pub trait IntoExpr<S> {
    /// The type of the value.
    type Value;

    /// Makes the expression.
    fn into_expr(self) -> Expr<S, Self::Value>;
}

impl<S, T> Expr<S, T> {
    pub(crate) fn from_node(node: Result<Node, Deferred>) -> Self {
        Self {
            node,
            of: PhantomData,
        }
    }

    pub(crate) fn into_node(self) -> Result<Node, Deferred> {
        self.node
    }

    /// The same expression with another type of value.
    pub(crate) fn with_type<U>(self) -> Expr<S, U> {
        Expr::from_node(self.node)
    }

    /// `{operator: self}`
    pub(crate) fn one<U>(self, operator: &'static str) -> Expr<S, U> {
        Expr::from_node(self.node.map(|node| Node::one(operator, node)))
    }

    /// `{operator: [self, …]}`
    pub(crate) fn list<U, const N: usize>(
        self,
        operator: &'static str,
        others: [Result<Node, Deferred>; N],
    ) -> Expr<S, U> {
        Expr::from_node(list(operator, self.node, others.into_iter().collect()))
    }

    /// `{operator: {name: self, …}}`
    pub(crate) fn named<U, const N: usize>(
        self,
        operator: &'static str,
        name: &'static str,
        others: [(&'static str, Result<Node, Deferred>); N],
    ) -> Expr<S, U> {
        Expr::from_node(named(
            operator,
            (name, self.node),
            others.into_iter().collect(),
        ))
    }

    /// The BSON of the expression.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { stars: i32 }
    /// let more = fields::<Book>().stars.expr() + 1;
    /// assert_eq!(more.to_bson()?, bson::bson!({"$add": ["$stars", 1]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value in it can't be encoded, or a path in it reaches into an array by position, which expressions can't do.
    pub fn to_bson(&self) -> Result<Bson> {
        self.clone().into_bson().map_err(|error| error.to_error())
    }

    pub(crate) fn into_bson(self) -> Result<Bson, Deferred> {
        self.node.map(Node::into_bson)
    }
}

// Not generic, so that they are compiled once.
fn list(
    operator: &'static str,
    first: Result<Node, Deferred>,
    others: Vec<Result<Node, Deferred>>,
) -> Result<Node, Deferred> {
    let all: Result<Vec<Node>, Deferred> = std::iter::once(first).chain(others).collect();
    Ok(Node::list(operator, all?))
}

pub(super) fn named(
    operator: &'static str,
    first: (&'static str, Result<Node, Deferred>),
    others: Vec<(&'static str, Result<Node, Deferred>)>,
) -> Result<Node, Deferred> {
    let all = std::iter::once(first).chain(others);
    let all: Result<Vec<_>, Deferred> = all.map(|(name, node)| Ok((name, node?))).collect();
    Ok(Node::named(operator, all?))
}

/// The path of a field in an expression. The field of a variable has a path that starts with `$$`.
pub(crate) fn path_node(path: &Path) -> Result<Node, Deferred> {
    let node = if path.is_optional() {
        Node::OptionalPath
    } else {
        Node::Path
    };
    let mut segments = path.segments();
    let first = segments.next();
    let Some(Segment::Name(variable)) = first.filter(is_variable) else {
        return names_only(path).map(|path| node(format!("${path}")));
    };
    let rest = segments.fold(Path::root(), |rest, segment| rest.then(segment));
    if rest.is_root() {
        return Ok(node(variable.into_owned()));
    }
    names_only(&rest).map(|rest| node(format!("{variable}.{rest}")))
}

fn is_variable(segment: &Segment) -> bool {
    matches!(segment, Segment::Name(name) if name.starts_with("$$"))
}

/// A path of names alone, as pipelines have them.
pub(crate) fn names_only(path: &Path) -> Result<String, Deferred> {
    if path.is_root() {
        return Ok("$ROOT".to_owned());
    }
    let stored = stored_path(path)?;
    let names = path
        .segments()
        .all(|segment| matches!(segment, Segment::Name(_)));
    if names {
        Ok(stored)
    } else {
        Err(Deferred::usage(
            stored,
            "a pipeline has no paths into arrays by position: compute with the whole array, by `map`, `filter` or `at`",
        ))
    }
}

impl<M, T, E> Field<M, T, E>
where
    E: Encode<T>,
    E::Stored: Sized,
{
    /// The field's value in an expression: `"$field"`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Stock { available: i32 }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { stock: Stock }
    /// let available = fields::<Book>().stock.available.expr();
    /// assert_eq!(available.to_bson()?, bson::bson!("$stock.available"));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn expr(&self) -> Expr<M, E::Stored> {
        Expr::from_node(path_node(self.path()))
    }
}

impl<M, T, E> IntoExpr<M> for Field<M, T, E>
where
    E: Encode<T>,
    E::Stored: Sized,
{
    type Value = E::Stored;

    fn into_expr(self) -> Expr<M, E::Stored> {
        self.expr()
    }
}

impl<M, T, E> IntoExpr<M> for &Field<M, T, E>
where
    E: Encode<T>,
    E::Stored: Sized,
{
    type Value = E::Stored;

    fn into_expr(self) -> Expr<M, E::Stored> {
        self.expr()
    }
}

impl<S, T> IntoExpr<S> for Expr<S, T> {
    type Value = T;

    fn into_expr(self) -> Self {
        self
    }
}

impl<S, T> IntoExpr<S> for &Expr<S, T> {
    type Value = T;

    fn into_expr(self) -> Expr<S, T> {
        self.clone()
    }
}

impl<S, T> Clone for Expr<S, T> {
    fn clone(&self) -> Self {
        Self::from_node(self.node.clone())
    }
}

impl<S, T> fmt::Debug for Expr<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_bson() {
            Ok(expression) => write!(f, "Expr({expression})"),
            Err(error) => write!(f, "Expr({error})"),
        }
    }
}
