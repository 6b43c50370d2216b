//! Rows as indexes into the pool of a type, and what MongoDB's conditions find in them.

use std::cmp::Ordering;

use odm::bson::Bson;

use crate::random::Random;

/// A row: which values of the pool stand in its places.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) value: usize,
    pub(super) maybe: Option<usize>,
    pub(super) list: Vec<usize>,
    /// The value under the map's only key.
    pub(super) entry: Option<usize>,
    pub(super) parts: Vec<Part>,
}

/// An element of the list of documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) value: usize,
    pub(super) maybe: Option<usize>,
}

impl Shape {
    /// A row of one value; the second one has no `maybe`.
    pub(super) fn full_of(at: usize) -> Self {
        let maybe = (at != 1).then_some(at);
        Self {
            value: at,
            maybe,
            list: vec![at],
            entry: Some(at),
            parts: vec![Part { value: at, maybe }],
        }
    }

    pub(super) fn random(random: &mut Random, pool: usize) -> Self {
        let maybe = |random: &mut Random| random.one_in(2).then(|| random.below(pool));
        Self {
            value: random.below(pool),
            maybe: maybe(random),
            list: (0..random.below(4)).map(|_| random.below(pool)).collect(),
            entry: maybe(random),
            parts: (0..random.below(4))
                .map(|_| Part {
                    value: random.below(pool),
                    maybe: maybe(random),
                })
                .collect(),
        }
    }

    /// What a condition on the place compares.
    fn found(&self, place: Place) -> Vec<Found> {
        let nullable = |at: Option<usize>| at.map_or(Found::Null, Found::Value);
        let there = |at: Option<usize>| vec![at.map_or(Found::Nothing, Found::Value)];
        match place {
            Place::Value => vec![Found::Value(self.value)],
            Place::Maybe => vec![nullable(self.maybe)],
            Place::Any => self.list.iter().copied().map(Found::Value).collect(),
            Place::First => there(self.list.first().copied()),
            Place::Entry => there(self.entry),
            Place::AnyPart => self
                .parts
                .iter()
                .map(|part| Found::Value(part.value))
                .collect(),
            Place::AnyPartMaybe => self.parts.iter().map(|part| nullable(part.maybe)).collect(),
            Place::FirstPart => there(self.parts.first().map(|part| part.value)),
        }
    }

    /// Whether the row meets the condition.
    pub(super) fn meets(&self, place: Place, test: &Test, order: &Order) -> bool {
        let found = self.found(place);
        let some = |holds: &dyn Fn(usize) -> bool| {
            found
                .iter()
                .any(|one| matches!(one, Found::Value(at) if holds(*at)))
        };
        let is_one_of =
            |values: &[usize]| some(&|at| values.iter().any(|one| order.same(at, *one)));
        let compares = |value: usize, holds: fn(Ordering) -> bool| {
            some(&|at| order.of(at, value).is_some_and(holds))
        };
        let is_null = || {
            found
                .iter()
                .any(|one| matches!(one, Found::Null | Found::Nothing))
        };
        let exists = || found.iter().any(|one| *one != Found::Nothing);
        match test {
            Test::Eq(at) => is_one_of(&[*at]),
            Test::Ne(at) => !is_one_of(&[*at]),
            Test::In(values) => is_one_of(values),
            Test::Nin(values) => !is_one_of(values),
            Test::Gt(at) => compares(*at, Ordering::is_gt),
            Test::Gte(at) => compares(*at, Ordering::is_ge),
            Test::Lt(at) => compares(*at, Ordering::is_lt),
            Test::Lte(at) => compares(*at, Ordering::is_le),
            Test::NotGt(at) => !compares(*at, Ordering::is_gt),
            Test::EqNone => is_null(),
            Test::NeNone => !is_null(),
            Test::IsNull => found.contains(&Found::Null),
            Test::Exists(wanted) => exists() == *wanted,
            Test::All(values) => values.iter().all(|at| is_one_of(&[*at])),
            Test::Size(elements) => self.list.len() == *elements,
            Test::Between(least, most) => some(&|at| {
                let compares = |other: usize| order.of(at, other);
                compares(*least).is_some_and(Ordering::is_ge)
                    && compares(*most).is_some_and(Ordering::is_le)
            }),
            Test::PartWith(value, maybe) => self.parts.iter().any(|part| {
                let same = |one: usize, other: usize| order.same(one, other);
                same(part.value, *value) && part.maybe.is_some_and(|at| same(at, *maybe))
            }),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Found {
    Nothing,
    Null,
    Value(usize),
}

/// What a condition is on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Value,
    Maybe,
    /// `list.any()`
    Any,
    /// `list.at(0)`
    First,
    /// `map.key("key")`
    Entry,
    /// `parts.any().value`
    AnyPart,
    /// `parts.any().maybe`
    AnyPartMaybe,
    /// `parts.at(0).value`
    FirstPart,
}

/// A condition, by indexes into the pool.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Eq(usize),
    Ne(usize),
    In(Vec<usize>),
    Nin(Vec<usize>),
    Gt(usize),
    Gte(usize),
    Lt(usize),
    Lte(usize),
    NotGt(usize),
    EqNone,
    NeNone,
    IsNull,
    Exists(bool),
    All(Vec<usize>),
    Size(usize),
    /// One element within both ends.
    Between(usize, usize),
    /// One part with both values.
    PartWith(usize, usize),
}

/// How the values of a pool compare.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// By the operators of comparison; `None` where none of them holds.
    pub(super) compared: Vec<Vec<Option<Ordering>>>,
    /// Where the others stand in MongoDB's order of all values.
    pub(super) ranks: Vec<u8>,
}

impl Order {
    pub(super) fn of(&self, one: usize, other: usize) -> Option<Ordering> {
        if one == other {
            return Some(Ordering::Equal);
        }
        self.compared[one][other]
    }

    /// Whether MongoDB takes the values for equal.
    pub(super) fn same(&self, one: usize, other: usize) -> bool {
        self.of(one, other).is_some_and(Ordering::is_eq)
    }

    /// As `$min`, `$max` and sorts order the values.
    pub(super) fn sorted(&self, one: usize, other: usize) -> Ordering {
        let ranks = || self.ranks[one].cmp(&self.ranks[other]);
        self.of(one, other).unwrap_or_else(ranks)
    }
}

/// The place of a value's type, and of NaN, in MongoDB's order.
pub(super) fn rank(value: &Bson) -> u8 {
    match value {
        Bson::Double(number) if number.is_nan() => 0,
        Bson::Decimal128(number) if number.to_string() == "NaN" => 0,
        Bson::Double(_) | Bson::Int32(_) | Bson::Int64(_) | Bson::Decimal128(_) => 1,
        Bson::String(_) => 2,
        Bson::Document(_) => 3,
        Bson::Array(_) => 4,
        _ => 5,
    }
}
