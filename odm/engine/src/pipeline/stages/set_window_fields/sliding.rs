//! The states of functions whose windows slide: values enter at the end and leave at the beginning.
//!
//! They differ from `$group`'s accumulators in more than cost. mongod gives other number types for sums, other results
//! for deviations of one value, and a set in the order of its values.

use std::collections::{BTreeMap, VecDeque};

use bson::raw::{RawBson, RawBsonRef};
use odm_language::error::ServerError;
use odm_language::expression::memory_limit::{self, LIMIT};
use odm_language::expression::percentile::Percentile;
use odm_language::expression::sum::RemovableSum;
use odm_language::expression::top_n::Keep;
use odm_language::value::number::Number;
use odm_language::value::raw::values;

use super::common::refuse;
use super::integral::Integral;

/// What a document gives to a function.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) value: Option<RawBson>,
    /// The key that orders the value; empty unless the function orders values.
    pub(super) key: Vec<u8>,
}

impl Entry {
    fn number(&self) -> Option<Number> {
        Number::from_raw(self.value.as_ref()?.as_raw_bson_ref())
    }

    fn or_null(&self) -> RawBson {
        self.value.clone().unwrap_or(RawBson::Null)
    }

    fn is_nullish(&self) -> bool {
        matches!(self.value, None | Some(RawBson::Null | RawBson::Undefined))
    }
}

#[derive(Debug)]
pub(super) enum Sliding {
    Sum(RemovableSum),
    Average {
        sum: RemovableSum,
        count: i64,
    },
    Deviation(Deviation),
    Covariance(Covariance),
    Integral(Integral),
    /// `$median` and `$percentile`.
    Percentile(Percentile),
    /// `$push`.
    List(List),
    /// `$firstN` and `$lastN`.
    End {
        list: List,
        n: usize,
        last: bool,
    },
    /// `$min`, `$max` and `$addToSet`.
    Least(Ordered),
    Greatest(Ordered),
    Set(Ordered),
    /// `$minN`, `$maxN`, `$top` and the like.
    Ranked {
        ordered: Ordered,
        n: Option<usize>,
        keep: Keep,
    },
}

impl Sliding {
    /// Whether it orders values by their keys.
    pub(super) fn is_ordered(&self) -> bool {
        matches!(
            self,
            Self::Least(_) | Self::Greatest(_) | Self::Set(_) | Self::Ranked { .. }
        )
    }

    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), ServerError> {
        self.change(entry, true)
    }

    /// Removes the value that was added first.
    pub(super) fn remove(&mut self, entry: &Entry) -> Result<(), ServerError> {
        self.change(entry, false)
    }

    fn change(&mut self, entry: &Entry, adds: bool) -> Result<(), ServerError> {
        match self {
            Self::Sum(sum) => {
                if let Some(number) = entry.number() {
                    change(sum, number, adds);
                }
            }
            Self::Average { sum, count } => {
                if let Some(number) = entry.number() {
                    change(sum, number, adds);
                    *count += if adds { 1 } else { -1 };
                }
            }
            Self::Deviation(deviation) => {
                if let Some(number) = entry.number() {
                    deviation.change(number, adds);
                }
            }
            Self::Covariance(covariance) => {
                if let Some((x, y)) = numbers(entry.value.as_ref()) {
                    covariance.change(x, y, adds);
                }
            }
            Self::Integral(integral) => integral.change(entry, adds)?,
            Self::Percentile(percentile) => {
                let value = entry.value.as_ref().map(RawBson::as_raw_bson_ref);
                if adds {
                    percentile.add(value);
                } else {
                    percentile.remove(value);
                }
            }
            Self::List(list) if entry.value.is_some() => list.change(entry, adds)?,
            Self::End { list, .. } => list.change(entry, adds)?,
            Self::Set(ordered) if entry.value.is_some() => ordered.change(entry, adds)?,
            Self::Least(ordered) | Self::Greatest(ordered) if !entry.is_nullish() => {
                ordered.change(entry, adds)?;
            }
            Self::Ranked { ordered, keep, .. }
                if !entry.is_nullish() || matches!(keep, Keep::Top | Keep::Bottom) =>
            {
                ordered.change(entry, adds)?;
            }
            Self::List(_)
            | Self::Set(_)
            | Self::Least(_)
            | Self::Greatest(_)
            | Self::Ranked { .. } => {}
        }
        Ok(())
    }

    pub(super) fn value(&mut self) -> RawBson {
        match self {
            Self::Sum(sum) => sum.number().to_raw().into(),
            Self::Average { count: 0, .. } => RawBson::Null,
            Self::Average { sum, count } => {
                let count = Number::Int64(*count);
                sum.number().div(count).to_raw().into()
            }
            Self::Deviation(deviation) => deviation.value(),
            Self::Covariance(covariance) => covariance.value(),
            Self::Integral(integral) => integral.value(),
            Self::Percentile(percentile) => percentile.value(),
            Self::List(list) => RawBson::Array(list.items.iter().cloned().collect()),
            Self::End { list, n, last } => {
                let skipped = list.items.len().saturating_sub(*n);
                let skipped = if *last { skipped } else { 0 };
                let kept = list.items.iter().skip(skipped).take(*n);
                RawBson::Array(kept.cloned().collect())
            }
            Self::Least(ordered) => {
                let first = ordered.groups.first_key_value();
                first
                    .and_then(|(_, group)| group.front().cloned())
                    .unwrap_or(RawBson::Null)
            }
            Self::Greatest(ordered) => {
                let last = ordered.groups.last_key_value();
                last.and_then(|(_, group)| group.back().cloned())
                    .unwrap_or(RawBson::Null)
            }
            Self::Set(ordered) => {
                let groups = ordered.groups.values();
                RawBson::Array(groups.filter_map(VecDeque::front).cloned().collect())
            }
            Self::Ranked { ordered, n, keep } => {
                let most = n.unwrap_or(1);
                let kept: Vec<RawBson> = match keep {
                    Keep::Max => ordered.all().rev().take(most).cloned().collect(),
                    Keep::Bottom => {
                        let mut kept: Vec<_> = ordered.all().rev().take(most).cloned().collect();
                        kept.reverse();
                        kept
                    }
                    _ => ordered.all().take(most).cloned().collect(),
                };
                match n {
                    Some(_) => RawBson::Array(kept.into_iter().collect()),
                    None => kept.into_iter().next().unwrap_or(RawBson::Null),
                }
            }
        }
    }
}

fn change(sum: &mut RemovableSum, number: Number, adds: bool) {
    if adds {
        sum.add(number);
    } else {
        sum.remove(number);
    }
}

/// The two numbers of an array.
fn numbers(value: Option<&RawBson>) -> Option<(Number, Number)> {
    let RawBsonRef::Array(pair) = value?.as_raw_bson_ref() else {
        return None;
    };
    let mut items = values(pair);
    match (items.next(), items.next(), items.next()) {
        (Some(x), Some(y), None) => Some((Number::from_raw(x)?, Number::from_raw(y)?)),
        _ => None,
    }
}

fn check_size(bytes: usize) -> Result<(), ServerError> {
    if bytes <= LIMIT {
        return Ok(());
    }
    refuse(
        5_414_201,
        format!(
            "Exceeded memory limit in DocumentSourceSetWindowFields, used {bytes} bytes but max allowed is {LIMIT}"
        ),
    )
}

/// Values in the order of their documents.
#[derive(Debug, Default)]
pub(super) struct List {
    items: VecDeque<RawBson>,
    bytes: usize,
}

impl List {
    fn change(&mut self, entry: &Entry, adds: bool) -> Result<(), ServerError> {
        let value = entry.or_null();
        let size = memory_limit::size(&value);
        if adds {
            self.bytes += size;
            self.items.push_back(value);
            return check_size(self.bytes);
        }
        self.bytes -= size;
        self.items.pop_front();
        Ok(())
    }
}

/// Values in the order of their keys, and of their documents where the keys are equal.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    groups: BTreeMap<Vec<u8>, VecDeque<RawBson>>,
    bytes: usize,
}

impl Ordered {
    fn change(&mut self, entry: &Entry, adds: bool) -> Result<(), ServerError> {
        let value = entry.or_null();
        let size = entry.key.len() + memory_limit::size(&value);
        if adds {
            self.bytes += size;
            self.groups
                .entry(entry.key.clone())
                .or_default()
                .push_back(value);
            return check_size(self.bytes);
        }
        self.bytes -= size;
        if let Some(group) = self.groups.get_mut(&entry.key) {
            group.pop_front();
            if group.is_empty() {
                self.groups.remove(&entry.key);
            }
        }
        Ok(())
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = &RawBson> {
        self.groups.values().flatten()
    }
}

/// `$stdDevPop` and `$stdDevSamp`. Like mongod, counts NaN and infinities among the values without adding them, so
/// that they leave a trace in later results.
#[derive(Debug)]
pub(super) struct Deviation {
    is_sample: bool,
    count: i64,
    unbounded: i64,
    sum: RemovableSum,
    squares: RemovableSum,
}

impl Deviation {
    pub(super) fn new(is_sample: bool) -> Self {
        Self {
            is_sample,
            count: 0,
            unbounded: 0,
            sum: RemovableSum::default(),
            squares: RemovableSum::default(),
        }
    }

    fn change(&mut self, number: Number, adds: bool) {
        let value = number.to_f64();
        if !value.is_finite() {
            let by = if adds { 1 } else { -1 };
            self.unbounded += by;
            self.count += by;
            return;
        }
        // The number of other values.
        let others = if adds { self.count } else { self.count - 1 };
        if others > 0 {
            let [others, count] = [others, self.count].map(|n| Number::Int64(n).to_f64());
            let apart = count * value - self.sum.number().to_f64();
            let square = Number::Double(apart * apart / (others * (others + 1.0)));
            change(&mut self.squares, square, adds);
        } else {
            self.squares = RemovableSum::default();
        }
        self.count += if adds { 1 } else { -1 };
        change(&mut self.sum, Number::Double(value), adds);
    }

    fn value(&mut self) -> RawBson {
        let divisor = self.count - i64::from(self.is_sample);
        if self.unbounded > 0 || divisor == 0 {
            return RawBson::Null;
        }
        let squares = self.squares.doubles();
        if squares < 0.0 || !self.is_sample && self.count == 1 {
            // Rounding errors made it negative.
            self.squares = RemovableSum::default();
            return RawBson::Int32(0);
        }
        RawBson::Double((squares / Number::Int64(divisor).to_f64()).sqrt())
    }
}

/// `$covariancePop` and `$covarianceSamp`.
#[derive(Debug)]
pub(super) struct Covariance {
    is_sample: bool,
    count: i64,
    x: RemovableSum,
    y: RemovableSum,
    products: RemovableSum,
}

impl Covariance {
    pub(super) fn new(is_sample: bool) -> Self {
        Self {
            is_sample,
            count: 0,
            x: RemovableSum::default(),
            y: RemovableSum::default(),
            products: RemovableSum::default(),
        }
    }

    fn change(&mut self, x: Number, y: Number, adds: bool) {
        if !x.is_finite() || !y.is_finite() {
            let either = x.sub(Number::Int32(0).sub(y));
            change(&mut self.products, either, adds);
            return;
        }
        let mean = |sum: RemovableSum, count: i64| match count {
            0 => Number::Int32(0),
            count => sum.number().div(Number::Int64(count)),
        };
        if adds {
            let apart = x.sub(mean(self.x, self.count));
            self.count += 1;
            self.x.add(x);
            self.y.add(y);
            let product = apart.mul(y.sub(mean(self.y, self.count)));
            self.products.add(product);
        } else {
            let apart = y.sub(mean(self.y, self.count));
            self.count -= 1;
            self.x.remove(x);
            self.y.remove(y);
            let product = x.sub(mean(self.x, self.count)).mul(apart);
            self.products.remove(product);
            if self.count == 0 {
                for sum in [&mut self.x, &mut self.y, &mut self.products] {
                    sum.restart();
                }
            }
        }
    }

    fn value(&self) -> RawBson {
        let divisor = self.count - i64::from(self.is_sample);
        if divisor <= 0 {
            return RawBson::Null;
        }
        if self.count == 1 {
            return RawBson::Double(0.0);
        }
        // mongod divides by a double, which shows in the trailing zeros of decimals.
        let divisor = Number::Double(Number::Int64(divisor).to_f64());
        let quotient = self.products.number().div(divisor);
        quotient.to_raw().into()
    }
}
