//! Arithmetic.

use std::ops::{Add, Div, Mul, Rem, Sub};

use bson::Decimal128;

use super::expression::{Expr, IntoExpr};
use super::kind::{Nullness, Numeric, NumericKind, Times, Wider};
use super::node::Node;
use super::operators;
use crate::query::{Encode, Field};

/// The type of a result of two numbers: the wider kind, null if one of them is.
type Of<A, B> = <Null<A, B> as Nullness>::Of<Kind<A, B>>;
/// The same where whole numbers become an `f64`.
type RealOf<A, B> = <Null<A, B> as Nullness>::Of<<Kind<A, B> as NumericKind>::Real>;
/// The type of a product.
type ProductOf<A, B> =
    <Null<A, B> as Nullness>::Of<<<A as Numeric>::Kind as Times<<B as Numeric>::Kind>>::Kind>;
type Kind<A, B> = <<A as Numeric>::Kind as Wider<<B as Numeric>::Kind>>::Kind;
type Null<A, B> = <<A as Numeric>::Null as Nullness>::Or<<B as Numeric>::Null>;
/// The type of a result of one number.
type Same<A> = <<A as Numeric>::Null as Nullness>::Of<<A as Numeric>::Kind>;
type Real<A> = <<A as Numeric>::Null as Nullness>::Of<<<A as Numeric>::Kind as NumericKind>::Real>;

fn joined<S, A, B, T>(operator: &'static str, one: Expr<S, A>, other: Expr<S, B>) -> Expr<S, T> {
    let node = match (one.into_node(), other.into_node()) {
        (Ok(one), Ok(other)) => Ok(Node::joined(operator, one, other)),
        (Err(error), _) | (_, Err(error)) => Err(error),
    };
    Expr::from_node(node)
}

macro_rules! arithmetic {
    ($($(#[$doc:meta])* $trait:ident $method:ident $operator:expr, $kind:ident $output:ident, $combine:expr;)*) => {$(
        $(#[$doc])*
        impl<S, A, R> $trait<R> for Expr<S, A>
        where
            A: Numeric,
            R: IntoExpr<S>,
            R::Value: Numeric,
            A::Kind: $kind<<R::Value as Numeric>::Kind>,
        {
            type Output = Expr<S, $output<A, R::Value>>;

            fn $method(self, other: R) -> Self::Output {
                $combine(self, other.into_expr())
            }
        }

        $(#[$doc])*
        impl<M, T, E, R> $trait<R> for Field<M, T, E>
        where
            E: Encode<T>,
            E::Stored: Numeric + Sized,
            R: IntoExpr<M>,
            R::Value: Numeric,
            <E::Stored as Numeric>::Kind: $kind<<R::Value as Numeric>::Kind>,
        {
            type Output = Expr<M, $output<E::Stored, R::Value>>;

            fn $method(self, other: R) -> Self::Output {
                $combine(self.expr(), other.into_expr())
            }
        }

        #[diagnostic::do_not_recommend]
        impl<M, T, E, R> $trait<R> for &Field<M, T, E>
        where
            E: Encode<T>,
            E::Stored: Numeric + Sized,
            R: IntoExpr<M>,
            R::Value: Numeric,
            <E::Stored as Numeric>::Kind: $kind<<R::Value as Numeric>::Kind>,
        {
            type Output = Expr<M, $output<E::Stored, R::Value>>;

            fn $method(self, other: R) -> Self::Output {
                $combine(self.expr(), other.into_expr())
            }
        }

        arithmetic!(values $trait $method $kind $output, $combine; i32, f64, Decimal128);
    )*};
    (values $trait:ident $method:ident $kind:ident $output:ident, $combine:expr; $($value:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S, A> $trait<Expr<S, A>> for $value
        where
            A: Numeric,
            $value: $kind<A::Kind>,
        {
            type Output = Expr<S, $output<$value, A>>;

            fn $method(self, other: Expr<S, A>) -> Self::Output {
                let value: Expr<S, $value> = self.into_expr();
                $combine(value, other)
            }
        }
    )*};
}

arithmetic! {
    /// `$add`
    Add add operators::ADD, Wider Of, |one, other| joined(operators::ADD.name, one, other);
    /// `$subtract`
    Sub sub operators::SUBTRACT, Wider Of, |one: Expr<_, _>, other: Expr<_, _>| one.list(operators::SUBTRACT.name, [other.into_node()]);
    /// `$multiply`
    Mul mul operators::MULTIPLY, Times ProductOf, |one, other| joined(operators::MULTIPLY.name, one, other);
    /// `$divide`: the quotient of whole numbers is an `f64`, and the division by zero an error of MongoDB.
    Div div operators::DIVIDE, Wider RealOf, |one: Expr<_, _>, other: Expr<_, _>| one.list(operators::DIVIDE.name, [other.into_node()]);
    /// `$mod`
    Rem rem operators::MOD, Wider Of, |one: Expr<_, _>, other: Expr<_, _>| one.list(operators::MOD.name, [other.into_node()]);
}

impl<S, A: Numeric> Expr<S, A> {
    /// The value without its sign: `$abs`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Account { balance: i64 }
    /// let size = fields::<Account>().balance.expr().abs();
    /// assert_eq!(size.to_bson()?, bson::bson!({"$abs": "$balance"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn abs(self) -> Expr<S, Same<A>> {
        self.one(operators::ABS.name)
    }

    /// The next whole number that is not less: `$ceil`. The type stays: that of an `f64` is an `f64`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { weight: f64 }
    /// let full = fields::<Line>().weight.expr().ceil();
    /// assert_eq!(full.to_bson()?, bson::bson!({"$ceil": "$weight"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn ceil(self) -> Expr<S, Same<A>> {
        self.one(operators::CEIL.name)
    }

    /// The next whole number that is not greater: `$floor`. The type stays.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { year: i32 }
    /// let decade = (fields::<Book>().year / 10).floor().to_int() * 10;
    /// assert_eq!(
    ///     decade.to_bson()?,
    ///     bson::bson!({"$multiply": [{"$toInt": {"$floor": {"$divide": ["$year", 10]}}}, 10]}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn floor(self) -> Expr<S, Same<A>> {
        self.one(operators::FLOOR.name)
    }

    /// Rounds to this many decimal places, halves to the even neighbour: `$round`. A negative number rounds to tens,
    /// hundreds, …. The type stays.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { rating: f64 }
    /// let shown = fields::<Book>().rating.expr().round(1);
    /// assert_eq!(shown.to_bson()?, bson::bson!({"$round": ["$rating", 1]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn round(self, places: i32) -> Expr<S, Same<A>> {
        self.list(operators::ROUND.name, [Ok(Node::Literal(places.into()))])
    }

    /// Cuts to this many decimal places, towards zero: `$trunc`. The type stays.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { rating: f64 }
    /// let shown = fields::<Book>().rating.expr().trunc_number(0);
    /// assert_eq!(shown.to_bson()?, bson::bson!({"$trunc": ["$rating", 0]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn trunc_number(self, places: i32) -> Expr<S, Same<A>> {
        self.list(operators::TRUNC.name, [Ok(Node::Literal(places.into()))])
    }

    /// The square root: `$sqrt`. That of a negative number is an error of MongoDB.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Plot { area: i32 }
    /// let side = fields::<Plot>().area.expr().sqrt();
    /// assert_eq!(side.to_bson()?, bson::bson!({"$sqrt": "$area"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn sqrt(self) -> Expr<S, Real<A>> {
        self.one(operators::SQRT.name)
    }

    /// The power: `$pow`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Plot { side: f64 }
    /// let area = fields::<Plot>().side.expr().pow(2);
    /// assert_eq!(area.to_bson()?, bson::bson!({"$pow": ["$side", 2]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn pow<R>(self, exponent: R) -> Expr<S, Of<A, R::Value>>
    where
        R: IntoExpr<S>,
        R::Value: Numeric,
        A::Kind: Wider<<R::Value as Numeric>::Kind>,
    {
        self.list(operators::POW.name, [exponent.into_expr().into_node()])
    }

    /// `e` to this power: `$exp`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Post { age: f64 }
    /// let freshness = (fields::<Post>().age * -0.1).exp();
    /// assert_eq!(freshness.to_bson()?, bson::bson!({"$exp": {"$multiply": ["$age", -0.1]}}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn exp(self) -> Expr<S, Real<A>> {
        self.one(operators::EXP.name)
    }

    /// The natural logarithm: `$ln`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Post { votes: i32 }
    /// let weight = (fields::<Post>().votes + 1).ln();
    /// assert_eq!(weight.to_bson()?, bson::bson!({"$ln": {"$add": ["$votes", 1]}}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn ln(self) -> Expr<S, Real<A>> {
        self.one(operators::LN.name)
    }

    /// The logarithm to the base 10: `$log10`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Post { views: i64 }
    /// let digits = fields::<Post>().views.expr().log10();
    /// assert_eq!(digits.to_bson()?, bson::bson!({"$log10": "$views"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn log10(self) -> Expr<S, Real<A>> {
        self.one(operators::LOG10.name)
    }
}
