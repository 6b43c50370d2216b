//! Dates.

use super::expression::{Expr, IntoExpr, named};
use super::kind::{DateLike, Nullness};
use super::node::Node;
use super::operators::{self, Operator};
use crate::query::deferred::Deferred;

/// The type of a result of one date.
type Of<A, T> = <<A as DateLike>::Null as Nullness>::Of<T>;
/// The type of a result of a date and another value.
type OfBoth<A, B, T> =
    <<<A as DateLike>::Null as Nullness>::Or<<B as DateLike>::Null> as Nullness>::Of<T>;

/// A unit of time, for [`Expr::trunc`], [`Expr::add_time`] and [`Expr::until`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// `year`
    Year,
    /// `quarter`
    Quarter,
    /// `month`
    Month,
    /// `week`, which starts on a Sunday.
    Week,
    /// `week`, which starts on a Monday, as in ISO 8601.
    IsoWeek,
    /// `day`
    Day,
    /// `hour`
    Hour,
    /// `minute`
    Minute,
    /// `second`
    Second,
    /// `millisecond`
    Millisecond,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week | Self::IsoWeek => "week",
            Self::Day => "day",
            Self::Hour => "hour",
            Self::Minute => "minute",
            Self::Second => "second",
            Self::Millisecond => "millisecond",
        }
    }

    /// The arguments that name the unit.
    fn arguments(self) -> Vec<(&'static str, Node)> {
        let unit = ("unit", Node::text(self.name()));
        match self {
            Self::IsoWeek => vec![unit, ("startOfWeek", Node::text("monday"))],
            _ => vec![unit],
        }
    }
}

/// A date in a time zone: [`Expr::in_zone`].
#[must_use = "a zone does nothing until a part of the date is taken"]
#[derive(Debug, Clone)]
pub struct Zoned<S, A> {
    date: Expr<S, A>,
    /// `None` for UTC.
    zone: Option<Expr<S, String>>,
}

impl<S, A: DateLike> Zoned<S, A> {
    /// `{operator: date}`, or `{operator: {date, timezone}}`.
    fn part<T>(self, operator: Operator) -> Expr<S, T> {
        match self.zone {
            None => self.date.one(operator.name),
            Some(zone) => {
                let zone = zone.into_node();
                self.date.named(operator.name, "date", [("timezone", zone)])
            }
        }
    }

    /// `{operator: {name: date, …, timezone}}`
    fn named<T>(
        self,
        operator: Operator,
        name: &'static str,
        others: Vec<(&'static str, Result<Node, Deferred>)>,
    ) -> Expr<S, T> {
        let zone = self.zone.map(|zone| ("timezone", zone.into_node()));
        let others = others.into_iter().chain(zone).collect();
        Expr::from_node(named(operator.name, (name, self.date.into_node()), others))
    }
}

impl<S, A: DateLike> Expr<S, A> {
    /// The date in a time zone, for its parts: an Olson name or an offset from UTC. Without it, all parts are those in UTC.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: DateTime }
    /// let hour = fields::<Sale>().at.expr().in_zone("Europe/Berlin").hour();
    /// assert_eq!(hour.to_bson()?, bson::bson!({"$hour": {"date": "$at", "timezone": "Europe/Berlin"}}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn in_zone(self, zone: impl IntoExpr<S, Value = String>) -> Zoned<S, A> {
        Zoned {
            date: self,
            zone: Some(zone.into_expr()),
        }
    }

    fn in_utc(self) -> Zoned<S, A> {
        Zoned {
            date: self,
            zone: None,
        }
    }
}

macro_rules! parts {
    ($($(#[$doc:meta])* $method:ident $operator:ident;)*) => {
        impl<S, A: DateLike> Expr<S, A> {
            $($(#[$doc])*
            pub fn $method(self) -> Expr<S, Of<A, i32>> {
                self.in_utc().$method()
            })*
        }

        impl<S, A: DateLike> Zoned<S, A> {
            $($(#[$doc])*
            pub fn $method(self) -> Expr<S, Of<A, i32>> {
                self.part(operators::$operator)
            })*
        }
    };
}

parts! {
    /// The year: `$year`.
    year YEAR;
    /// The month, from 1 to 12: `$month`.
    month MONTH;
    /// The day of the month, from 1: `$dayOfMonth`.
    day_of_month DAY_OF_MONTH;
    /// The day of the year, from 1: `$dayOfYear`.
    day_of_year DAY_OF_YEAR;
    /// The day of the week, from 1 for Sunday to 7: `$dayOfWeek`.
    day_of_week DAY_OF_WEEK;
    /// The day of the week, from 1 for Monday to 7: `$isoDayOfWeek`.
    iso_day_of_week ISO_DAY_OF_WEEK;
    /// The week of the year of ISO 8601, from 1 to 53: `$isoWeek`.
    iso_week ISO_WEEK;
    /// The hour, from 0 to 23: `$hour`.
    hour HOUR;
    /// The minute, from 0 to 59: `$minute`.
    minute MINUTE;
    /// The second, from 0 to 59: `$second`.
    second SECOND;
}

macro_rules! both {
    ($($(#[$doc:meta])* $method:ident<$($param:ident: $bound:path),*>($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl<S, A: DateLike> Expr<S, A> {
            $($(#[$doc])*
            pub fn $method<$($param: $bound),*>(self, $($argument: $type),*) -> Expr<S, $result> {
                self.in_utc().$method($($argument),*)
            })*
        }
    };
}

both! {
    /// The beginning of the unit in which the date is: `$dateTrunc`, since MongoDB 5.0.
    ///
    /// ```
    /// # use odm::expr::Unit;
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: DateTime }
    /// let week = fields::<Sale>().at.expr().in_zone("Europe/Berlin").trunc(Unit::IsoWeek);
    /// assert_eq!(
    ///     week.to_bson()?,
    ///     bson::bson!({"$dateTrunc": {
    ///         "date": "$at", "unit": "week", "startOfWeek": "monday", "timezone": "Europe/Berlin",
    ///     }}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    trunc<>(unit: Unit) -> Of<A, bson::DateTime>;
    /// As text in a format of MongoDB: `$dateToString`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Sale { at: DateTime }
    /// let month = fields::<Sale>().at.expr().format("%Y-%m");
    /// assert_eq!(month.to_bson()?, bson::bson!({"$dateToString": {"date": "$at", "format": "%Y-%m"}}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    format<>(format: &str) -> Of<A, String>;
    /// The date this many units later, or earlier by a negative number: `$dateAdd`, since MongoDB 5.0. A month later than the
    /// 31st is the last of the month, and a day later in a time zone is the same time of day.
    ///
    /// ```
    /// # use odm::expr::Unit;
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Loan { since: DateTime, days: i32 }
    /// let loan = fields::<Loan>();
    /// let due = loan.since.expr().add_time(loan.days, Unit::Day);
    /// assert_eq!(
    ///     due.to_bson()?,
    ///     bson::bson!({"$dateAdd": {"startDate": "$since", "unit": "day", "amount": "$days"}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    add_time<N: Amount<S>>(amount: N, unit: Unit) -> Of<A, bson::DateTime>;
    /// The number of boundaries of the unit between this date and a later one: `$dateDiff`, since MongoDB 5.0. From 23:59 to
    /// 00:01 it is one day.
    ///
    /// ```
    /// # use odm::expr::Unit;
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Loan { since: DateTime, returned: Option<DateTime> }
    /// let loan = fields::<Loan>();
    /// let days = loan.since.expr().until(loan.returned, Unit::Day);
    /// assert_eq!(
    ///     days.to_bson()?,
    ///     bson::bson!({"$dateDiff": {"startDate": "$since", "endDate": "$returned", "unit": "day"}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    until<D: OtherDate<S>>(end: D, unit: Unit) -> OfBoth<A, D::Value, i64>;
}

/// An amount of [`Expr::add_time`]: an expression of a whole number that can't be null.
pub trait Amount<S>: IntoExpr<S> {}

impl<S, N: IntoExpr<S, Value = i32>> Amount<S> for N {}

/// The second date of [`Expr::until`].
pub trait OtherDate<S>: IntoExpr<S, Value: DateLike> {}

impl<S, D: IntoExpr<S, Value: DateLike>> OtherDate<S> for D {}

impl<S, A: DateLike> Zoned<S, A> {
    /// The beginning of the unit in which the date is, in this zone: [`Expr::trunc`].
    pub fn trunc(self, unit: Unit) -> Expr<S, Of<A, bson::DateTime>> {
        let unit = unit.arguments().into_iter();
        let unit = unit.map(|(name, node)| (name, Ok(node))).collect();
        self.named(operators::DATE_TRUNC, "date", unit)
    }

    /// As text, in this zone: [`Expr::format`].
    pub fn format(self, format: &str) -> Expr<S, Of<A, String>> {
        let format = vec![("format", Ok(Node::text(format)))];
        self.named(operators::DATE_TO_STRING, "date", format)
    }

    /// The date this many units later on the clocks of this zone: [`Expr::add_time`].
    pub fn add_time<N: Amount<S>>(self, amount: N, unit: Unit) -> Expr<S, Of<A, bson::DateTime>> {
        let arguments = vec![
            ("unit", Ok(Node::text(unit.name()))),
            ("amount", amount.into_expr().into_node()),
        ];
        self.named(operators::DATE_ADD, "startDate", arguments)
    }

    /// The number of boundaries of the unit up to a later date, in this zone: [`Expr::until`].
    pub fn until<D: OtherDate<S>>(self, end: D, unit: Unit) -> Expr<S, OfBoth<A, D::Value, i64>> {
        let unit = unit.arguments().into_iter();
        let unit = unit.map(|(name, node)| (name, Ok(node)));
        let end = ("endDate", end.into_expr().into_node());
        let arguments = std::iter::once(end).chain(unit).collect();
        self.named(operators::DATE_DIFF, "startDate", arguments)
    }
}
