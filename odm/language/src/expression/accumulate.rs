//! The accumulators that `$group` and the operators of the same names (`{$sum: ["$a", "$b"]}`) share.

use std::cmp::Ordering;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf};

use crate::error::{ServerError, refuse};
use crate::expression::memory_limit;
use crate::expression::operator::{ANY, Args, Operator, Outcome, integer, listed};
use crate::expression::percentile::Percentile;
use crate::expression::sum::Sum;
use crate::expression::{Globals, Value, merge_into};
use crate::value::number::Number;
use crate::value::raw::values;
use crate::value::{key, order};

/// Operators over one array or a list of values; sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$avg"),
    row("$max"),
    row("$min"),
    row("$stdDevPop"),
    row("$stdDevSamp"),
    row("$sum"),
];

const fn row(name: &'static str) -> Operator {
    listed(name, 0, ANY, over_list)
}

fn over_list<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let Some(mut accumulator) = Accumulator::new(args.operator) else {
        return Ok(Value::Missing);
    };
    if let Accumulator::Extreme { last, .. } = &mut accumulator {
        *last = false;
    }
    match (args.values.as_slice(), args.get(0)) {
        ([_], Some(RawBsonRef::Array(items))) => {
            for item in values(items) {
                accumulator.add(&Value::Ref(item), args.globals)?;
            }
        }
        (list, _) => {
            for value in list {
                accumulator.add(value, args.globals)?;
            }
        }
    }
    Ok(Value::Owned(accumulator.finish(args.globals)))
}

/// The state of one accumulator.
#[derive(Debug, Clone)]
pub enum Accumulator {
    AddToSet {
        seen: std::collections::BTreeSet<Vec<u8>>,
        values: RawArrayBuf,
    },
    Avg {
        sum: Sum,
        count: i64,
    },
    Count(i64),
    Extreme {
        best: Option<RawBson>,
        wins: Ordering,
        /// Whether the last of equal values (3 and 3.0) is kept: `$group` keeps the last, an operator the first.
        last: bool,
    },
    First(Option<RawBson>),
    Last(Option<RawBson>),
    MergeObjects(RawDocumentBuf),
    Percentile(Percentile),
    Push(RawArrayBuf),
    StdDev {
        sample: bool,
        count: f64,
        mean: f64,
        squares: f64,
    },
    Sum(Sum),
}

impl Accumulator {
    /// Looks up an accumulator by its name; `None` if the name is unknown.
    pub fn new(name: &str) -> Option<Self> {
        Some(match name {
            "$addToSet" => Self::AddToSet {
                seen: std::collections::BTreeSet::new(),
                values: RawArrayBuf::new(),
            },
            "$avg" => Self::Avg {
                sum: Sum::ZERO,
                count: 0,
            },
            "$count" => Self::Count(0),
            "$first" => Self::First(None),
            "$last" => Self::Last(None),
            "$max" => Self::Extreme {
                best: None,
                wins: Ordering::Greater,
                last: true,
            },
            "$mergeObjects" => Self::MergeObjects(RawDocumentBuf::new()),
            "$min" => Self::Extreme {
                best: None,
                wins: Ordering::Less,
                last: true,
            },
            "$push" => Self::Push(RawArrayBuf::new()),
            "$stdDevPop" | "$stdDevSamp" => Self::StdDev {
                sample: name == "$stdDevSamp",
                count: 0.0,
                mean: 0.0,
                squares: 0.0,
            },
            "$sum" => Self::Sum(Sum::ZERO),
            _ => return None,
        })
    }

    pub fn add(&mut self, value: &Value<'_>, globals: &Globals) -> Result<(), ServerError> {
        let number = value.get().and_then(Number::from_raw);
        match self {
            Self::AddToSet { seen, values } => {
                if let Some(value) = value.get()
                    && seen.insert(key::of(value, globals.collator()))
                {
                    values.push(value);
                    memory_limit::check("$addToSet", values.as_bytes().len())?;
                }
            }
            Self::Avg { sum, count } => {
                if let Some(number) = number {
                    sum.add(number);
                    *count += 1;
                }
            }
            Self::Count(count) => *count += 1,
            Self::Extreme { best, wins, last } => {
                if let (false, Some(value)) = (value.is_nullish(), value.get()) {
                    let better = best.as_ref().is_none_or(|best| {
                        let stands =
                            order::compare(value, best.as_raw_bson_ref(), globals.collator());
                        stands == *wins || *last && stands == Ordering::Equal
                    });
                    if better {
                        *best = Some(value.into());
                    }
                }
            }
            Self::First(first) => {
                first.get_or_insert_with(|| value.or_null().into());
            }
            Self::Last(last) => *last = Some(value.or_null().into()),
            Self::MergeObjects(merged) => match value.get() {
                None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => {}
                Some(RawBsonRef::Document(document)) => merge_into(merged, document),
                Some(_) => return refuse(5_911_200, "$mergeObjects only supports objects"),
            },
            Self::Percentile(percentile) => percentile.add(value.get()),
            Self::Push(array) => {
                if let Some(value) = value.get() {
                    array.push(value);
                    memory_limit::check("$push", array.as_bytes().len())?;
                }
            }
            Self::StdDev {
                count,
                mean,
                squares,
                ..
            } => {
                if let Some(number) = number {
                    let value = number.to_f64();
                    *count += 1.0;
                    let delta = value - *mean;
                    *mean += delta / *count;
                    *squares += delta * (value - *mean);
                }
            }
            Self::Sum(sum) => {
                if let Some(number) = number {
                    sum.add(number);
                }
            }
        }
        Ok(())
    }

    /// The approximate bytes of the collected values.
    pub fn size(&self) -> usize {
        match self {
            Self::AddToSet { values: list, .. } | Self::Push(list) => list.as_bytes().len(),
            Self::Extreme { best: value, .. } | Self::First(value) | Self::Last(value) => {
                value.as_ref().map_or(0, |value| {
                    memory_limit::variable_size(value.as_raw_bson_ref())
                })
            }
            Self::MergeObjects(merged) => merged.as_bytes().len(),
            Self::Avg { .. }
            | Self::Count(_)
            | Self::Percentile(_)
            | Self::StdDev { .. }
            | Self::Sum(_) => 0,
        }
    }

    pub fn finish(self, globals: &Globals) -> RawBson {
        match self {
            // The order of `$addToSet` is open.
            Self::AddToSet { values: set, .. } => match globals.shuffle() {
                Some(shuffle) => {
                    let mut items: Vec<_> = values(&set).collect();
                    shuffle.shuffle(&mut items);
                    RawBson::Array(items.into_iter().collect())
                }
                None => RawBson::Array(set),
            },
            Self::Percentile(mut percentile) => percentile.value(),
            Self::Push(array) => RawBson::Array(array),
            Self::Avg { count: 0, .. } => RawBson::Null,
            Self::Avg { sum, count } => match sum.number() {
                decimal @ Number::Decimal(_) => decimal.div(Number::Int64(count)).to_raw().into(),
                _ => RawBson::Double(sum.to_f64() / Number::Int64(count).to_f64()),
            },
            Self::Count(count) => integer(count),
            Self::Extreme { best: value, .. } | Self::First(value) | Self::Last(value) => {
                value.unwrap_or(RawBson::Null)
            }
            Self::MergeObjects(document) => RawBson::Document(document),
            Self::StdDev {
                sample,
                count,
                squares,
                ..
            } => {
                let divisor = if sample { count - 1.0 } else { count };
                if divisor > 0.0 {
                    RawBson::Double((squares / divisor).sqrt())
                } else {
                    RawBson::Null
                }
            }
            Self::Sum(sum) => sum.into_bson(),
        }
    }
}
