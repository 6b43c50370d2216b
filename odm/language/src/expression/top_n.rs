//! `$firstN $lastN $maxN $minN` over an array, and the state of these, `$top` and `$bottom` in `$group`.

use std::collections::VecDeque;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef};

use crate::error::{ServerError, refuse};
use crate::expression::memory_limit;
use crate::expression::named::{BareArgument, Named, Wording};
use crate::expression::operator::{
    Args, ArgumentForm, Operator, Outcome, coerced, integral, owned, row,
};
use crate::expression::{Value, compat::messages};
use crate::value::key;
use crate::value::number::Number;
use crate::value::raw::values;

const ARGUMENTS: ArgumentForm = ArgumentForm::Named(&EXTREMES);
const ENDS: ArgumentForm = ArgumentForm::Named(&Named {
    bare: BareArgument::Refused(5_787_801, NOT_AN_OBJECT),
    ..EXTREMES
});

const EXTREMES: Named = Named {
    names: &["n", "input"],
    required: &[("n", 5_787_906), ("input", 5_787_907)],
    missing: Wording("Missing value for '<key>'"),
    unknown: (
        5_787_901,
        Wording("Unknown argument for 'n' operator: <key>"),
    ),
    bare: BareArgument::Refused(5_787_900, NOT_AN_OBJECT),
    ..Named::DEFAULT
};
const NOT_AN_OBJECT: Wording = Wording("specification must be an object; found <argument>");

/// Operators over one array; sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$firstN", ENDS, over_array),
    row("$lastN", ENDS, over_array),
    row("$maxN", ARGUMENTS, over_array),
    row("$minN", ARGUMENTS, over_array),
];

fn over_array<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let n = size(args.get(0))?;
    let Some(RawBsonRef::Array(items)) = args.get(1) else {
        return refuse(5_788_200, "Input must be an array");
    };
    let Some(keep) = Keep::new(args.operator) else {
        return Ok(Value::Missing);
    };
    let mut ranked = TopN::new(keep, n);
    for item in values(items) {
        ranked.add(&Value::Ref(item), || key::of(item, args.globals.collator()));
    }
    owned(ranked.into_array())
}

/// Checks the `n` of these operators.
pub fn size(n: Option<RawBsonRef<'_>>) -> Result<usize, ServerError> {
    let found = || n.map_or_else(|| "MISSING".to_owned(), messages::computed);
    let Some(number) = n.filter(|n| Number::from_raw(*n).is_some()) else {
        return refuse(
            5_787_902,
            format!(
                "Value for 'n' must be of integral type, but found {}",
                found()
            ),
        );
    };
    if let RawBsonRef::Double(n) = number
        && Number::Double(n).to_i64_truncated().is_none()
    {
        return coerced(n);
    }
    // A decimal whose nearest double is whole counts as whole.
    let whole = integral(number).or_else(|| match Number::from_raw(number)? {
        decimal @ Number::Decimal(_) => Number::Double(decimal.to_f64()).to_i64_exact(),
        _ => None,
    });
    match whole {
        Some(n) if n > 0 => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
        Some(n) => refuse(5_787_908, format!("'n' must be greater than 0, found {n}")),
        None => refuse(
            5_787_903,
            format!(
                "Value for 'n' must be of integral type, but found {}",
                found()
            ),
        ),
    }
}

/// Which values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    First,
    Last,
    /// The greatest values, in descending order.
    Max,
    Min,
    /// The values with the least keys.
    Top,
    /// The values with the greatest keys, in ascending order.
    Bottom,
}

impl Keep {
    pub fn new(name: &str) -> Option<Self> {
        Some(match name {
            "$firstN" => Self::First,
            "$lastN" => Self::Last,
            "$maxN" => Self::Max,
            "$minN" => Self::Min,
            "$top" | "$topN" => Self::Top,
            "$bottom" | "$bottomN" => Self::Bottom,
            _ => return None,
        })
    }
}

/// At most `n` values, held in the order of their keys.
#[derive(Debug, Clone)]
pub struct TopN {
    keep: Keep,
    n: usize,
    held: VecDeque<(Vec<u8>, RawBson)>,
    /// The approximate size of the held values.
    bytes: usize,
}

impl TopN {
    pub fn new(keep: Keep, n: usize) -> Self {
        Self {
            keep,
            n,
            held: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Adds a value; of values with equal keys, the earlier ones stay.
    pub fn add(&mut self, value: &Value<'_>, key: impl FnOnce() -> Vec<u8>) {
        let is_full = self.held.len() >= self.n;
        let ranked = match self.keep {
            Keep::First if is_full => return,
            Keep::First => None,
            Keep::Last => {
                if is_full {
                    self.drop(true);
                }
                None
            }
            Keep::Max | Keep::Min if value.is_nullish() => return,
            Keep::Max | Keep::Min | Keep::Top | Keep::Bottom => Some(key()),
        };
        let Some(key) = ranked else {
            self.insert(self.held.len(), Vec::new(), value);
            return;
        };
        if is_full {
            let stays = match self.keep {
                Keep::Max | Keep::Bottom => {
                    self.held.front().is_some_and(|(least, _)| key <= *least)
                }
                _ => self.held.back().is_some_and(|(most, _)| key >= *most),
            };
            if stays {
                return;
            }
            self.drop(matches!(self.keep, Keep::Max | Keep::Bottom));
        }
        let place = self.held.partition_point(|(other, _)| *other <= key);
        self.insert(place, key, value);
    }

    fn insert(&mut self, place: usize, key: Vec<u8>, value: &Value<'_>) {
        let value = value.or_null().into();
        self.bytes += key.len() + memory_limit::size(&value);
        self.held.insert(place, (key, value));
    }

    fn drop(&mut self, first: bool) {
        let dropped = if first {
            self.held.pop_front()
        } else {
            self.held.pop_back()
        };
        if let Some((key, value)) = dropped {
            self.bytes -= key.len() + memory_limit::size(&value);
        }
    }

    /// The approximate size of the held values.
    pub fn size(&self) -> usize {
        self.bytes
    }

    /// Fails if the held values exceed mongod's memory limit.
    pub fn check_size(&self) -> Result<(), ServerError> {
        if self.bytes <= memory_limit::LIMIT {
            return Ok(());
        }
        let name = match self.keep {
            Keep::First => "$firstN",
            Keep::Last => "$lastN",
            Keep::Max => "$maxN",
            Keep::Min => "$minN",
            Keep::Top => "$topN",
            Keep::Bottom => "$bottomN",
        };
        Err(memory_limit::exceeded(&format!(
            "{name} used too much memory and spilling to disk cannot reduce memory consumption any further. Memory limit: {} bytes",
            memory_limit::LIMIT
        )))
    }

    pub fn into_array(self) -> RawArrayBuf {
        let values = self.held.into_iter().map(|(_, value)| value);
        if self.keep == Keep::Max {
            values.rev().collect()
        } else {
            values.collect()
        }
    }

    /// The only value of `$top` and `$bottom`.
    pub fn into_value(self) -> RawBson {
        let last = self.held.into_iter().next();
        last.map_or(RawBson::Null, |(_, value)| value)
    }
}
