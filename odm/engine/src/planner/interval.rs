//! Ranges of one field's values, as the bytes of their keys.

use std::ops::Bound;

use bson::oid::ObjectId;
use bson::raw::{RawBson, RawBsonRef, RawJavaScriptCodeWithScopeRef, RawRegexRef, cstr};
use bson::{Bson, DateTime, Timestamp};
use odm_language::value::bson_type::Bracket;
use odm_language::value::collation::Collator;
use odm_language::value::key;
use odm_language::value::{print, raw};

use crate::index::Key;

/// One end of an interval: the ascending key bytes, and how `explain` shows the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) key: Key,
    pub(crate) inclusive: bool,
    shown: EdgeValue,
    /// Whether it is shown as inclusive. The edge of a bracket is exclusive in bytes, but the last value belongs to the
    /// bracket.
    closed: bool,
}

/// The value of an edge. The start of a bracket may have no value, only a text.
#[derive(Debug, Clone, PartialEq)]
enum EdgeValue {
    Value(RawBson),
    Begin(&'static str),
}

impl Eq for EdgeValue {}

impl Edge {
    fn text(&self) -> String {
        match &self.shown {
            EdgeValue::Value(value) => print::value(value.as_raw_bson_ref()),
            EdgeValue::Begin(text) => (*text).to_owned(),
        }
    }

    /// The value, or a stand-in if the edge has none.
    pub(crate) fn value(&self) -> Bson {
        match &self.shown {
            EdgeValue::Value(value) => {
                Bson::try_from(value.as_raw_bson_ref()).unwrap_or(Bson::Null)
            }
            EdgeValue::Begin("[]") => Bson::Array(Vec::new()),
            EdgeValue::Begin(_) => Bson::Null,
        }
    }
}

/// The values from one edge to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: Edge,
    pub(crate) high: Edge,
    /// Whether strings take part, so that the keys depend on the collation.
    pub(crate) collated: bool,
}

impl Interval {
    /// Every value.
    pub(crate) fn all() -> Self {
        Self {
            low: edge(RawBsonRef::MinKey, true, None),
            high: edge(RawBsonRef::MaxKey, true, None),
            collated: false,
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        *self == Self::all()
    }

    /// One value.
    pub(crate) fn point(value: RawBsonRef<'_>, collation: Option<&Collator>) -> Self {
        let edge = edge(value, true, collation);
        Self {
            low: edge.clone(),
            high: edge,
            collated: is_collated(value),
        }
    }

    /// One path of a wildcard index. Paths are not document strings, so no collation applies.
    pub(crate) fn path(path: &str) -> Self {
        Self {
            collated: false,
            ..Self::point(RawBsonRef::String(path), None)
        }
    }

    pub(crate) fn is_point(&self) -> bool {
        self.low.inclusive && self.high.inclusive && self.low.key == self.high.key
    }

    /// The values of the same bracket above (or below) a value.
    pub(crate) fn beyond(
        value: RawBsonRef<'_>,
        above: bool,
        inclusive: bool,
        collation: Option<&Collator>,
    ) -> Option<Self> {
        let here = edge(value, inclusive, collation);
        let ends = ends(Bracket::of(value));
        Self::from_edge(here, above, ends, is_collated(value))
    }

    /// The values of any bracket above (or below) a value.
    pub(crate) fn any_beyond(
        value: RawBsonRef<'_>,
        above: bool,
        inclusive: bool,
        collation: Option<&Collator>,
    ) -> Option<Self> {
        let here = edge(value, inclusive, collation);
        let all = Self::all();
        Self::from_edge(here, above, (all.low, all.high), is_collated(value))
    }

    /// The values above (or below) an edge and within the ends; `None` if there are none.
    fn from_edge(
        here: Edge,
        above: bool,
        (first, last): (Edge, Edge),
        collated: bool,
    ) -> Option<Self> {
        let (low, high) = if above { (here, last) } else { (first, here) };
        let interval = Self {
            low,
            high,
            collated,
        };
        (!interval.is_empty()).then_some(interval)
    }

    /// Whether it may contain a value of a bracket.
    pub(crate) fn meets(&self, bracket: Bracket) -> bool {
        self.intersect(&Self::of_type(bracket)).is_some()
    }

    /// All values of a bracket, as `$type` needs them.
    pub(crate) fn of_type(bracket: Bracket) -> Self {
        let (low, high) = ends(bracket);
        let low = match bracket {
            Bracket::Number => edge(RawBsonRef::Double(f64::NAN), true, None),
            _ => low,
        };
        Self {
            low,
            high,
            collated: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.low.key > self.high.key
            || (self.low.key == self.high.key && !(self.low.inclusive && self.high.inclusive))
    }

    /// From undefined, the key of an empty array, to null.
    pub(crate) fn between_nulls() -> Self {
        Self {
            low: edge(RawBsonRef::Undefined, true, None),
            high: edge(RawBsonRef::Null, true, None),
            collated: false,
        }
    }

    /// Every stored regular expression, because a pattern matches an equal stored one.
    pub(crate) fn regexes() -> Self {
        let (low, high) = ends(Bracket::Regex);
        Self {
            low,
            high,
            collated: false,
        }
    }

    /// The strings that start with a prefix.
    pub(crate) fn prefix(prefix: &str) -> Self {
        let low = edge(RawBsonRef::String(prefix), true, None);
        let mut after = prefix.to_owned();
        let high = loop {
            let Some(last) = after.pop() else {
                break ends(Bracket::of(RawBsonRef::String(""))).1;
            };
            if let Some(next) = char::from_u32(u32::from(last) + 1) {
                after.push(next);
                break edge(RawBsonRef::String(&after), false, None);
            }
        };
        Self {
            low,
            high,
            collated: true,
        }
    }

    /// Whether a value may lie in the interval.
    pub(crate) fn contains(&self, value: RawBsonRef<'_>) -> bool {
        let point = Self::point(value, None);
        self.covers(&point)
    }

    /// Whether every value of another interval lies in this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let low = match self.low.key.cmp(&other.low.key) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => self.low.inclusive || !other.low.inclusive,
            std::cmp::Ordering::Greater => false,
        };
        let high = match self.high.key.cmp(&other.high.key) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => self.high.inclusive || !other.high.inclusive,
            std::cmp::Ordering::Less => false,
        };
        low && high
    }

    /// The values in both intervals; `None` if there are none.
    pub(crate) fn intersect(&self, other: &Self) -> Option<Self> {
        let low = if (&self.low.key, !self.low.inclusive) >= (&other.low.key, !other.low.inclusive)
        {
            self.low.clone()
        } else {
            other.low.clone()
        };
        let high =
            if (&self.high.key, self.high.inclusive) <= (&other.high.key, other.high.inclusive) {
                self.high.clone()
            } else {
                other.high.clone()
            };
        let common = Self {
            low,
            high,
            collated: self.collated || other.collated,
        };
        (!common.is_empty()).then_some(common)
    }

    /// The first and the last edge of a walk in one direction or the other.
    pub(crate) fn ends(&self, descending: bool) -> (&Edge, &Edge) {
        if descending {
            (&self.high, &self.low)
        } else {
            (&self.low, &self.high)
        }
    }

    /// The text that `explain` shows, for a walk in one direction or the other.
    pub(crate) fn show(&self, descending: bool) -> String {
        let (from, to) = self.ends(descending);
        format!(
            "{}{}, {}{}",
            if from.closed { '[' } else { '(' },
            from.text(),
            to.text(),
            if to.closed { ']' } else { ')' }
        )
    }

    /// The bounds on index keys that start with `prefix` and continue with a value of this interval.
    pub(crate) fn bounds(
        &self,
        prefix: &[u8],
        descending: bool,
    ) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        let (from, to) = self.ends(descending);
        let bytes = |edge: &Edge| {
            let mut bytes = prefix.to_vec();
            bytes.extend(
                edge.key
                    .iter()
                    .map(|byte| if descending { !byte } else { *byte }),
            );
            bytes
        };
        let low = if from.inclusive {
            Bound::Included(bytes(from))
        } else {
            after(bytes(from))
        };
        let high = if to.inclusive {
            match after(bytes(to)) {
                Bound::Included(bytes) => Bound::Excluded(bytes),
                other => other,
            }
        } else {
            Bound::Excluded(bytes(to))
        };
        (low, high)
    }
}

/// The least bytes above everything that starts with these bytes.
pub(crate) fn after(mut bytes: Vec<u8>) -> Bound<Vec<u8>> {
    while let Some(last) = bytes.pop() {
        if last < u8::MAX {
            bytes.push(last + 1);
            return Bound::Included(bytes);
        }
    }
    Bound::Unbounded
}

fn edge(value: RawBsonRef<'_>, inclusive: bool, collation: Option<&Collator>) -> Edge {
    Edge {
        key: Key::from_slice(&key::of(value, collation)),
        inclusive,
        shown: EdgeValue::Value(value.into()),
        closed: inclusive,
    }
}

/// The first and the last edge of the values that compare with a value of a bracket.
fn ends(bracket: Bracket) -> (Edge, Edge) {
    let closed = |value| edge(value, true, None);
    let open = |value| edge(value, false, None);
    let empty = raw::empty_document();
    let id = |byte| RawBsonRef::ObjectId(ObjectId::from_bytes([byte; 12]));
    match bracket {
        Bracket::Number => (
            closed(RawBsonRef::Double(f64::NEG_INFINITY)),
            closed(RawBsonRef::Double(f64::INFINITY)),
        ),
        Bracket::String => (
            closed(RawBsonRef::String("")),
            open(RawBsonRef::Document(empty)),
        ),
        Bracket::Document => (
            closed(RawBsonRef::Document(empty)),
            start_of(Bracket::Array, "[]"),
        ),
        Bracket::Array => (
            inclusive(start_of(Bracket::Array, "[]")),
            start_of(Bracket::Binary, "BinData(0, )"),
        ),
        Bracket::Binary => (
            inclusive(start_of(Bracket::Binary, "BinData(0, )")),
            open(id(0)),
        ),
        Bracket::ObjectId => (closed(id(0)), closed(id(u8::MAX))),
        Bracket::Boolean => (
            closed(RawBsonRef::Boolean(false)),
            closed(RawBsonRef::Boolean(true)),
        ),
        Bracket::DateTime => (
            closed(RawBsonRef::DateTime(DateTime::from_millis(i64::MIN))),
            closed(RawBsonRef::DateTime(DateTime::from_millis(i64::MAX))),
        ),
        Bracket::Timestamp => (closed(timestamp(0)), closed(timestamp(u32::MAX))),
        Bracket::Undefined => (closed(RawBsonRef::Undefined), closed(RawBsonRef::Undefined)),
        Bracket::Null => (closed(RawBsonRef::Null), closed(RawBsonRef::Null)),
        Bracket::MinKey => (closed(RawBsonRef::MinKey), closed(RawBsonRef::MinKey)),
        Bracket::MaxKey => (closed(RawBsonRef::MaxKey), closed(RawBsonRef::MaxKey)),
        Bracket::Regex => (
            first_of(
                Bracket::Regex,
                RawBsonRef::RegularExpression(RawRegexRef {
                    pattern: cstr!(""),
                    options: cstr!(""),
                }),
            ),
            start_of(Bracket::DbPointer, FIRST_POINTER),
        ),
        Bracket::DbPointer => (
            inclusive(start_of(Bracket::DbPointer, FIRST_POINTER)),
            start_of(Bracket::Code, ""),
        ),
        Bracket::Code => (
            first_of(Bracket::Code, RawBsonRef::JavaScriptCode("")),
            start_of(Bracket::CodeWithScope, FIRST_SCOPE),
        ),
        Bracket::CodeWithScope => (
            first_of(
                Bracket::CodeWithScope,
                RawBsonRef::JavaScriptCodeWithScope(RawJavaScriptCodeWithScopeRef {
                    code: "",
                    scope: empty,
                }),
            ),
            open(RawBsonRef::MaxKey),
        ),
    }
}

/// How `explain` shows the least `DBPointer`.
const FIRST_POINTER: &str = "DBRef('',000000000000000000000000)";

/// How `explain` shows the least code with a scope.
const FIRST_SCOPE: &str = "CodeWScope( , {})";

fn timestamp(part: u32) -> RawBsonRef<'static> {
    RawBsonRef::Timestamp(Timestamp {
        time: part,
        increment: part,
    })
}

/// The exclusive edge below every value of a bracket.
fn start_of(bracket: Bracket, shown: &'static str) -> Edge {
    Edge {
        key: Key::from_slice(&[bracket as u8 + 1]),
        inclusive: false,
        shown: EdgeValue::Begin(shown),
        closed: false,
    }
}

fn inclusive(edge: Edge) -> Edge {
    Edge {
        inclusive: true,
        closed: true,
        ..edge
    }
}

/// The inclusive edge of the least value of a bracket.
fn first_of(bracket: Bracket, least: RawBsonRef<'_>) -> Edge {
    Edge {
        key: Key::from_slice(&[bracket as u8 + 1]),
        ..edge(least, true, None)
    }
}

/// The values outside of the intervals, which must be sorted and disjoint.
pub(crate) fn complement(intervals: &[Interval]) -> Vec<Interval> {
    let mut outside = Vec::with_capacity(intervals.len() + 1);
    let all = Interval::all();
    let mut low = all.low;
    let flip = |edge: &Edge| Edge {
        inclusive: !edge.inclusive,
        closed: !edge.closed,
        ..edge.clone()
    };
    let mut collated = false;
    for interval in intervals {
        collated |= interval.collated;
        push(&mut outside, low, flip(&interval.low), interval.collated);
        low = flip(&interval.high);
    }
    push(&mut outside, low, all.high, collated);
    for interval in &mut outside {
        interval.collated = collated;
    }
    outside
}

fn push(found: &mut Vec<Interval>, low: Edge, high: Edge, collated: bool) {
    let interval = Interval {
        low,
        high,
        collated,
    };
    if !interval.is_empty() {
        found.push(interval);
    }
}

/// Sorts intervals, and joins those that overlap or touch.
pub(crate) fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_by(|one, other| {
        (&one.low.key, !one.low.inclusive).cmp(&(&other.low.key, !other.low.inclusive))
    });
    let mut joined: Vec<Interval> = Vec::with_capacity(intervals.len());
    for interval in intervals {
        if let Some(last) = joined.last_mut() {
            let touches = match interval.low.key.cmp(&last.high.key) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => interval.low.inclusive || last.high.inclusive,
                std::cmp::Ordering::Greater => false,
            };
            if touches {
                last.collated |= interval.collated;
                if (&interval.high.key, interval.high.inclusive)
                    > (&last.high.key, last.high.inclusive)
                {
                    last.high = interval.high;
                }
                continue;
            }
        }
        joined.push(interval);
    }
    joined
}

/// Whether the key of a value depends on the collation.
pub(super) fn is_collated(value: RawBsonRef<'_>) -> bool {
    matches!(
        value,
        RawBsonRef::String(_)
            | RawBsonRef::Symbol(_)
            | RawBsonRef::Document(_)
            | RawBsonRef::Array(_)
            | RawBsonRef::JavaScriptCodeWithScope(_)
    )
}
