//! A function of the output, and its values for the documents of a partition.

use std::ops::Range;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef};
use odm_language::error::ServerError;
use odm_language::expression::accumulate::Accumulator;
use odm_language::expression::sum::RemovableSum;
use odm_language::expression::top_n::{self, Keep};
use odm_language::expression::{Expression, Globals, Value};
use odm_language::value::decimal::Decimal;
use odm_language::value::raw::empty_document;

use crate::pipeline::document::PipelineDocument;
use crate::pipeline::stage::Cx;
use crate::pipeline::stages::group::{Field, State};

use super::bounds::Window;
use super::common::Column;
use super::integral::{self, Integral};
use super::sequential::{self, Rank};
use super::sliding::{Covariance, Deviation, Entry, List, Ordered, Sliding};

#[derive(Debug)]
pub(super) enum Function {
    Accumulator {
        name: String,
        field: Box<Field>,
        /// The number of values that it keeps.
        n: Option<Expression>,
        window: Window,
    },
    /// Covariance and `$integral`, which have no accumulator.
    Sliding {
        kind: Kind,
        argument: Expression,
        window: Window,
    },
    End {
        last: bool,
        argument: Expression,
        window: Window,
    },
    Slope {
        argument: Expression,
        unit: Option<i64>,
        window: Window,
    },
    Shift {
        argument: Expression,
        by: i32,
        default: Option<RawBson>,
    },
    Rank(Rank),
    MovingAverage {
        argument: Expression,
        alpha: Decimal,
    },
    Carry(Expression),
    LinearFill(Expression),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Covariance { is_sample: bool },
    Integral { unit: Option<i64> },
}

impl Function {
    pub(super) fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        match self {
            Self::Accumulator { field, .. } => field.argument().check_constants(globals),
            Self::Sliding { argument, .. }
            | Self::End { argument, .. }
            | Self::Slope { argument, .. }
            | Self::Shift { argument, .. }
            | Self::MovingAverage { argument, .. }
            | Self::Carry(argument)
            | Self::LinearFill(argument) => argument.check_constants(globals),
            Self::Rank(_) => Ok(()),
        }
    }

    fn window(&self) -> Option<&Window> {
        match self {
            Self::Accumulator { window, .. }
            | Self::Sliding { window, .. }
            | Self::End { window, .. }
            | Self::Slope { window, .. } => Some(window),
            _ => None,
        }
    }

    /// Fails, before any document is read, where mongod does so.
    pub(super) fn prepare(&self, globals: &Globals) -> Result<(), ServerError> {
        match self {
            Self::Accumulator { n: Some(n), .. } => size(n, globals).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Whether its first value depends on the last document of the partition.
    pub(super) fn reads_to_the_end(&self) -> bool {
        self.window().is_some_and(Window::reaches_the_end)
    }

    /// Whether it depends on the values of the sort field.
    pub(super) fn is_sorted(&self) -> bool {
        let is_range = self.window().is_some_and(Window::is_range);
        is_range
            || matches!(
                self,
                Self::Slope { .. }
                    | Self::Rank(_)
                    | Self::LinearFill(_)
                    | Self::Sliding {
                        kind: Kind::Integral { .. },
                        ..
                    }
            )
    }

    /// The values for all documents of a partition. `sorted` has their values of the sort field, `before` the last such
    /// value of the partition before.
    pub(super) fn column(
        &self,
        documents: &[PipelineDocument],
        sorted: &[Option<RawBson>],
        before: Option<&RawBson>,
        cx: Cx<'_>,
    ) -> Result<Column, ServerError> {
        let collator = cx.globals.collator();
        let ranges = |window: &Window| window.ranges(documents.len(), sorted, collator);
        let input = |argument: &Expression| evaluated(argument, documents, cx.globals);
        match self {
            Self::Accumulator {
                name,
                field,
                n,
                window,
            } => {
                let ranges = ranges(window)?;
                if window.only_grows() {
                    return grown(field, documents, &ranges, cx);
                }
                let state = match field.percentile(cx.globals)? {
                    Some(percentile) => Sliding::Percentile(percentile),
                    None => sliding(name, n.as_ref(), cx.globals)?,
                };
                let entries = entries(field, documents, &state, cx.globals)?;
                slide(state, &entries, &ranges, cx)
            }
            Self::Sliding {
                kind,
                argument,
                window,
            } => {
                let ranges = ranges(window)?;
                let input = input(argument)?;
                let (state, input) = match kind {
                    Kind::Covariance { is_sample } => {
                        (Sliding::Covariance(Covariance::new(*is_sample)), input)
                    }
                    Kind::Integral { unit } => (
                        Sliding::Integral(Integral::new(*unit)),
                        points(sorted, input),
                    ),
                };
                let entry = |value| Entry {
                    value,
                    key: Vec::new(),
                };
                let entries: Vec<Entry> = input.into_iter().map(entry).collect();
                slide(state, &entries, &ranges, cx)
            }
            Self::End {
                last,
                argument,
                window,
            } => {
                let ranges = ranges(window)?;
                let input = input(argument)?;
                let ends = ranges.into_iter().map(|window| {
                    let at = if *last {
                        window.end.checked_sub(1)
                    } else {
                        Some(window.start)
                    };
                    match at.filter(|at| window.contains(at)) {
                        None => Some(RawBson::Null),
                        Some(at) => input.get(at).cloned().flatten(),
                    }
                });
                Ok(ends.collect())
            }
            Self::Slope {
                argument,
                unit,
                window,
            } => {
                let ranges = ranges(window)?;
                let input = input(argument)?;
                let points: Vec<_> = sorted.iter().cloned().zip(input).collect();
                let slopes = ranges.into_iter().map(|window| {
                    let window = points.get(window).unwrap_or_default();
                    match (window.first(), window.last()) {
                        (Some(left), Some(right)) => {
                            integral::slope((left, right), *unit).map(Some)
                        }
                        _ => Ok(Some(RawBson::Null)),
                    }
                });
                slopes.collect()
            }
            Self::Shift {
                argument,
                by,
                default,
            } => Ok(sequential::shifted(
                &input(argument)?,
                *by,
                default.as_ref(),
            )),
            Self::Rank(rank) => Ok(rank.ranks(sorted, collator)),
            Self::MovingAverage { argument, alpha } => {
                Ok(sequential::moving_average(&input(argument)?, *alpha))
            }
            Self::Carry(argument) => Ok(sequential::carried(input(argument)?)),
            Self::LinearFill(argument) => {
                sequential::linear_fill(sorted, before, input(argument)?, collator)
            }
        }
    }
}

/// The values of an expression for some documents.
pub(super) fn evaluated(
    argument: &Expression,
    documents: &[PipelineDocument],
    globals: &Globals,
) -> Result<Column, ServerError> {
    let values = documents.iter();
    values
        .map(|document| Ok(argument.eval(document, globals)?.into_owned()))
        .collect()
}

/// The sort field and the input of each document, as an array.
fn points(sorted: &[Option<RawBson>], input: Column) -> Column {
    let or_null = |value: Option<RawBson>| value.unwrap_or(RawBson::Null);
    let points = sorted.iter().cloned().zip(input);
    points
        .map(|(x, y)| {
            let pair: RawArrayBuf = [or_null(x), or_null(y)].into_iter().collect();
            Some(RawBson::Array(pair))
        })
        .collect()
}

fn size(n: &Expression, globals: &Globals) -> Result<usize, ServerError> {
    top_n::size(n.eval(empty_document(), globals)?.get())
}

/// The state of an accumulator whose windows slide.
fn sliding(name: &str, n: Option<&Expression>, globals: &Globals) -> Result<Sliding, ServerError> {
    let n = n.map(|n| size(n, globals)).transpose()?;
    let ordered = Ordered::default;
    Ok(match name {
        "$addToSet" => Sliding::Set(ordered()),
        "$avg" => Sliding::Average {
            sum: RemovableSum::default(),
            count: 0,
        },
        "$max" => Sliding::Greatest(ordered()),
        "$min" => Sliding::Least(ordered()),
        "$push" => Sliding::List(List::default()),
        "$stdDevPop" | "$stdDevSamp" => Sliding::Deviation(Deviation::new(name == "$stdDevSamp")),
        name => match (Keep::new(name), n) {
            (Some(keep @ (Keep::First | Keep::Last)), n) => Sliding::End {
                list: List::default(),
                n: n.unwrap_or(1),
                last: keep == Keep::Last,
            },
            (Some(keep), n) => Sliding::Ranked {
                ordered: ordered(),
                n,
                keep,
            },
            (None, _) => Sliding::Sum(RemovableSum::default()),
        },
    })
}

fn entries(
    field: &Field,
    documents: &[PipelineDocument],
    state: &Sliding,
    globals: &Globals,
) -> Result<Vec<Entry>, ServerError> {
    let entry = |document: &PipelineDocument| {
        let value: Value<'_> = field.argument().eval(document, globals)?;
        let key = if state.is_ordered() {
            field.key(&value, document, globals)?
        } else {
            Vec::new()
        };
        let value = value.into_owned();
        Ok(Entry { value, key })
    };
    documents.iter().map(entry).collect()
}

/// The values of windows that slide. Like mongod, adds what enters before it removes what leaves.
fn slide(
    mut state: Sliding,
    entries: &[Entry],
    ranges: &[Range<usize>],
    cx: Cx<'_>,
) -> Result<Column, ServerError> {
    let mut held = 0..0;
    let mut column: Column = Vec::with_capacity(ranges.len());
    for range in ranges {
        cx.source.check_deadline()?;
        // Documents between two windows never enter the state.
        let entering = held.end.max(range.start)..range.end;
        for entry in entries.get(entering).unwrap_or_default() {
            state.add(entry)?;
        }
        let leaving = held.start..held.end.min(range.start);
        for entry in entries.get(leaving).unwrap_or_default() {
            state.remove(entry)?;
        }
        held = range.clone();
        column.push(Some(state.value()));
    }
    Ok(column)
}

/// The values of windows that only grow, from the accumulators of `$group`.
fn grown(
    field: &Field,
    documents: &[PipelineDocument],
    ranges: &[Range<usize>],
    cx: Cx<'_>,
) -> Result<Column, ServerError> {
    let mut state = field.start(RawBsonRef::Null, cx.globals)?;
    if let State::Plain(Accumulator::Extreme { last, .. }) = &mut state {
        // Of equal values, `$group` keeps the last and a window the first.
        *last = false;
    }
    let mut added = 0;
    let mut latest: Option<RawBson> = None;
    let mut column: Column = Vec::with_capacity(ranges.len());
    for range in ranges {
        cx.source.check_deadline()?;
        for document in documents.get(added..range.end).unwrap_or_default() {
            cx.source.check_deadline()?;
            field.add(&mut state, document, cx.globals)?;
            latest = None;
        }
        added = added.max(range.end);
        let value = latest.get_or_insert_with(|| state.clone().finish(cx.globals));
        column.push(Some(value.clone()));
    }
    Ok(column)
}
