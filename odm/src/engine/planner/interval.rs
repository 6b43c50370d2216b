//! Ranges of one field's values, as the bytes of their keys.

use std::ops::Bound;

use bson::raw::RawBsonRef;

use crate::value::collation::Collator;
use crate::value::key;
use crate::value::kind::Bracket;
use crate::value::print;

/// One end of an interval: the ascending key bytes, and how `explain` shows the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) key: Vec<u8>,
    pub(crate) inclusive: bool,
    pub(crate) shown: String,
    /// Shown as inclusive: the edge of a bracket is open in bytes, but its last value belongs to it.
    closed: bool,
}

/// The values from one edge to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: Edge,
    pub(crate) high: Edge,
    /// Strings take part, so the keys depend on the collation.
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

    pub(crate) fn is_point(&self) -> bool {
        self.low.inclusive && self.high.inclusive && self.low.key == self.high.key
    }

    /// The values of the same bracket above (or below) one.
    pub(crate) fn beyond(
        value: RawBsonRef<'_>,
        above: bool,
        inclusive: bool,
        collation: Option<&Collator>,
    ) -> Self {
        let here = edge(value, inclusive, collation);
        let bracket = Bracket::of(value);
        let (first, last) = ends(bracket);
        let (low, high) = if above { (here, last) } else { (first, here) };
        Self {
            low,
            high,
            collated: is_collated(value),
        }
    }

    /// Every stored regular expression: a pattern equals itself.
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

    /// The common values; `None` where there are none.
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
        let empty =
            low.key > high.key || (low.key == high.key && !(low.inclusive && high.inclusive));
        (!empty).then_some(Self {
            low,
            high,
            collated: self.collated || other.collated,
        })
    }

    /// As `explain` shows it, walked in one direction or the other.
    pub(crate) fn show(&self, descending: bool) -> String {
        let (from, to) = if descending {
            (&self.high, &self.low)
        } else {
            (&self.low, &self.high)
        };
        format!(
            "{}{}, {}{}",
            if from.closed { '[' } else { '(' },
            from.shown,
            to.shown,
            if to.closed { ']' } else { ')' }
        )
    }

    /// The bounds on index keys that start with `prefix` and go on with a value of this interval.
    pub(crate) fn bounds(
        &self,
        prefix: &[u8],
        descending: bool,
    ) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        let (from, to) = if descending {
            (&self.high, &self.low)
        } else {
            (&self.low, &self.high)
        };
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

/// The least bytes beyond everything that starts with these.
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
        key: key::of(value, collation),
        inclusive,
        shown: print::value(value),
        closed: inclusive,
    }
}

/// The first and the last edge of a bracket.
fn ends(bracket: Bracket) -> (Edge, Edge) {
    let code = bracket as u8 + 1;
    let (first, last, last_closed) = match bracket {
        Bracket::Number => ("-inf.0", "inf.0", true),
        Bracket::String => ("\"\"", "{}", false),
        Bracket::Document => ("{}", "[]", false),
        Bracket::Array => ("[]", "BinData(0, )", false),
        Bracket::Boolean => ("false", "true", true),
        Bracket::DateTime => (
            "new Date(-9223372036854775808)",
            "new Date(9223372036854775807)",
            true,
        ),
        _ => ("MinKey", "MaxKey", false),
    };
    (
        Edge {
            key: vec![code],
            inclusive: true,
            shown: first.to_owned(),
            closed: true,
        },
        Edge {
            key: vec![code + 1],
            // The first byte of the next bracket is never a key by itself, so it does not matter.
            inclusive: false,
            shown: last.to_owned(),
            closed: last_closed,
        },
    )
}

/// Whether the key of a value depends on the collation.
fn is_collated(value: RawBsonRef<'_>) -> bool {
    matches!(
        value,
        RawBsonRef::String(_)
            | RawBsonRef::Symbol(_)
            | RawBsonRef::Document(_)
            | RawBsonRef::Array(_)
    )
}
