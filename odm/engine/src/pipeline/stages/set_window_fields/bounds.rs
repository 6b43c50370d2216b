//! The window of a function: which neighbours of a document it contains.

use std::cmp::Ordering;
use std::ops::Range;

use bson::DateTime;
use bson::raw::{RawArray, RawBson, RawBsonRef, RawDocument};
use odm_language::error::ServerError;
use odm_language::expression::compat::messages;
use odm_language::expression::units::{self, Unit};
use odm_language::value::collation::Collator;
use odm_language::value::number::Number;
use odm_language::value::order;
use odm_language::value::raw::{elements, get, values};

use super::common::{SortBy, failed_to_parse, refuse};

/// One end of a window.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound<T> {
    Unbounded,
    Current,
    By(T),
}

#[derive(Debug)]
pub(super) enum Window {
    /// By position: `[-1, 1]` is the document and its two neighbours.
    Documents {
        lower: Bound<i32>,
        upper: Bound<i32>,
    },
    /// By the value of the sort field: `[-1, 1]` are the documents whose value is at most 1 apart.
    Range {
        lower: Bound<Number>,
        upper: Bound<Number>,
        unit: Option<(Unit, String)>,
        is_descending: bool,
    },
}

/// The window that contains the whole partition.
pub(super) const WHOLE: Window = Window::Documents {
    lower: Bound::Unbounded,
    upper: Bound::Unbounded,
};

/// Which bounds a specification gives.
#[derive(Debug, Default)]
struct Given<'s> {
    documents: Option<RawBsonRef<'s>>,
    range: Option<RawBsonRef<'s>>,
    unit: Option<RawBsonRef<'s>>,
    has_others: bool,
}

impl<'s> Given<'s> {
    fn of(window: &'s RawDocument) -> Self {
        let given = |name| get(window, name);
        Self {
            documents: given("documents"),
            range: given("range"),
            unit: given("unit"),
            has_others: elements(window)
                .any(|(name, _)| !matches!(name, "documents" | "range" | "unit")),
        }
    }
}

impl Window {
    /// Reads the `window` of a function; without one, the window is the whole partition.
    pub(super) fn parse(
        window: Option<RawBsonRef<'_>>,
        sort: &SortBy,
    ) -> Result<Self, ServerError> {
        let window = match window {
            None => return Ok(WHOLE),
            Some(RawBsonRef::Document(window)) => window,
            Some(_) => return failed_to_parse("'window' field must be an object"),
        };
        if window.is_empty() {
            return Ok(WHOLE);
        }
        let given = Given::of(window);
        match (given.documents, given.range) {
            (Some(_), Some(_)) => {
                failed_to_parse("Window bounds can specify either 'documents' or 'unit', not both.")
            }
            (_, None) if given.unit.is_some() => {
                failed_to_parse("Window bounds can only specify 'unit' with range-based bounds.")
            }
            (None, None) => failed_to_parse(
                "'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field",
            ),
            (Some(_), None) if given.has_others => {
                failed_to_parse("'window' field that specifies documents cannot have other fields")
            }
            (None, Some(_)) if given.has_others => failed_to_parse(
                "'window' field that specifies range cannot have other fields besides 'unit'",
            ),
            (Some(bounds), None) => Self::documents(bounds, sort),
            (None, Some(bounds)) => Self::range(bounds, given.unit, sort),
        }
    }

    fn documents(bounds: RawBsonRef<'_>, sort: &SortBy) -> Result<Self, ServerError> {
        let (lower, upper) = pair("documents", bounds, |bound| {
            Number::from_raw(bound)
                .and_then(Number::to_i64_exact)
                .and_then(|by| i32::try_from(by).ok())
                .map_or_else(
                    || failed_to_parse("Numeric document-based bounds must be an integer"),
                    Ok,
                )
        })?;
        check_order(lower, upper, i32::cmp, &0)?;
        if !matches!((lower, upper), (Bound::Unbounded, Bound::Unbounded)) && sort.count == 0 {
            return refuse(5_339_901, "Document-based bounds require a sortBy");
        }
        Ok(Self::Documents { lower, upper })
    }

    fn range(
        bounds: RawBsonRef<'_>,
        unit: Option<RawBsonRef<'_>>,
        sort: &SortBy,
    ) -> Result<Self, ServerError> {
        let unit = match unit {
            None => None,
            Some(RawBsonRef::String(name)) => Some((Unit::parse(name)?, name.to_owned())),
            Some(_) => return failed_to_parse("'unit' must be a string"),
        };
        let (lower, upper) = pair("range", bounds, |bound| {
            let Some(number) = Number::from_raw(bound) else {
                return failed_to_parse("Range-based bounds expression must be a number");
            };
            let is_short = |by: i64| i32::try_from(by).is_ok();
            if unit.is_some() && !number.to_i64_exact().is_some_and(is_short) {
                return failed_to_parse("With 'unit', range-based bounds must be an integer");
            }
            Ok(number)
        })?;
        check_order(
            lower,
            upper,
            |one, other| one.compare(*other),
            &Number::Int32(0),
        )?;
        if sort.count != 1 {
            return refuse(
                5_339_902,
                "Range-based bounds require sortBy a single field",
            );
        }
        Ok(Self::Range {
            lower,
            upper,
            unit,
            is_descending: sort.is_descending,
        })
    }

    /// Whether a window begins with the partition, so that no document leaves it.
    pub(super) fn only_grows(&self) -> bool {
        matches!(
            self,
            Self::Documents {
                lower: Bound::Unbounded,
                ..
            } | Self::Range {
                lower: Bound::Unbounded,
                ..
            }
        )
    }

    /// Whether a window ends with the partition.
    pub(super) fn reaches_the_end(&self) -> bool {
        matches!(
            self,
            Self::Documents {
                upper: Bound::Unbounded,
                ..
            } | Self::Range {
                upper: Bound::Unbounded,
                ..
            }
        )
    }

    pub(super) fn is_range(&self) -> bool {
        matches!(self, Self::Range { .. })
    }

    /// The windows of all documents of a partition, as positions in it. `sorted` has the values of the sort field, if
    /// the window depends on them.
    pub(super) fn ranges(
        &self,
        count: usize,
        sorted: &[Option<RawBson>],
        collator: Option<&Collator>,
    ) -> Result<Vec<Range<usize>>, ServerError> {
        match self {
            Self::Documents { lower, upper } => Ok((0..count)
                .map(|at| {
                    let end = position(*upper, at, count).map_or(0, |end| (end + 1).min(count));
                    let start = position(*lower, at, 0).unwrap_or(0).min(end);
                    start..end
                })
                .collect()),
            Self::Range {
                is_descending: true,
                ..
            } if count > 0 => refuse(5_429_404, "Missing _sortExpr with range-based bounds"),
            Self::Range {
                lower, upper, unit, ..
            } => {
                let mut ranges = Vec::with_capacity(count);
                let (mut start, mut end) = (0, 0);
                for (at, value) in sorted.iter().enumerate() {
                    let value = checked(value.as_ref(), unit.is_some())?;
                    start = match lower {
                        Bound::Unbounded => 0,
                        Bound::Current => at,
                        Bound::By(by) => {
                            let least = moved(value, *by, unit.as_ref())?;
                            advance(
                                sorted,
                                start,
                                |order| order == Ordering::Less,
                                &least,
                                collator,
                            )
                        }
                    };
                    if let (Bound::By(_), Bound::Unbounded) = (lower, upper)
                        && let Some(first) = sorted.get(start)
                        && checked(first.as_ref(), unit.is_some()).is_err()
                    {
                        return refuse(
                            5_429_412,
                            "Failed to find the rightmost numeric document, while computing window bounds",
                        );
                    }
                    end = match upper {
                        Bound::Unbounded => count,
                        Bound::Current => at + 1,
                        Bound::By(by) => {
                            let most = moved(value, *by, unit.as_ref())?;
                            advance(
                                sorted,
                                end,
                                |order| order != Ordering::Greater,
                                &most,
                                collator,
                            )
                        }
                    };
                    ranges.push(start.min(end)..end);
                }
                Ok(ranges)
            }
        }
    }
}

/// The position that a bound stands for; `None` before the first document.
fn position(bound: Bound<i32>, at: usize, unbounded: usize) -> Option<usize> {
    match bound {
        Bound::Unbounded => Some(unbounded),
        Bound::Current => Some(at),
        Bound::By(by) => {
            let by = isize::try_from(by).unwrap_or(0);
            at.checked_add_signed(by)
        }
    }
}

/// Moves a position past the values whose order to the bound satisfies the condition.
fn advance(
    sorted: &[Option<RawBson>],
    from: usize,
    passes: impl Fn(Ordering) -> bool,
    bound: &RawBson,
    collator: Option<&Collator>,
) -> usize {
    let behind = sorted.iter().skip(from).take_while(|value| {
        let value = value
            .as_ref()
            .map_or(RawBsonRef::Null, RawBson::as_raw_bson_ref);
        passes(order::compare(value, bound.as_raw_bson_ref(), collator))
    });
    from + behind.count()
}

/// The value of the sort field, which must be a date if there is a unit, and otherwise a number.
fn checked(value: Option<&RawBson>, has_unit: bool) -> Result<RawBsonRef<'_>, ServerError> {
    let value = value.map(RawBson::as_raw_bson_ref);
    match value {
        Some(date @ RawBsonRef::DateTime(_)) if has_unit => Ok(date),
        _ if has_unit => refuse(
            5_429_513,
            format!(
                "Invalid range: Expected the sortBy field to be a Date, but it was {}",
                messages::type_name(value)
            ),
        ),
        Some(RawBsonRef::DateTime(_)) => refuse(
            5_429_413,
            "Invalid range: For windows that involve date or time ranges, a unit must be provided.",
        ),
        Some(number) if Number::from_raw(number).is_some() => Ok(number),
        _ => refuse(
            5_429_414,
            format!(
                "Invalid range: Expected the sortBy field to be a number, but it was {}",
                messages::type_name(value)
            ),
        ),
    }
}

/// The value at a distance from the value of the sort field.
fn moved(
    value: RawBsonRef<'_>,
    by: Number,
    unit: Option<&(Unit, String)>,
) -> Result<RawBson, ServerError> {
    if let (RawBsonRef::DateTime(date), Some((unit, name))) = (value, unit) {
        let amount = by.to_i64_exact().unwrap_or(0);
        let moved = units::add_units(date.timestamp_millis(), (*unit, name), amount)?;
        return Ok(RawBson::DateTime(DateTime::from_millis(moved)));
    }
    let number = Number::from_raw(value).unwrap_or(Number::Int32(0));
    let sum = number
        .checked_add(by)
        .unwrap_or_else(|| Number::Double(number.to_f64() + by.to_f64()));
    Ok(sum.to_raw().into())
}

/// Both bounds of `[lower, upper]`.
fn pair<T>(
    name: &str,
    bounds: RawBsonRef<'_>,
    number: impl Fn(RawBsonRef<'_>) -> Result<T, ServerError>,
) -> Result<(Bound<T>, Bound<T>), ServerError> {
    let one = |bound: RawBsonRef<'_>| match bound {
        RawBsonRef::String("unbounded") => Ok(Bound::Unbounded),
        RawBsonRef::String("current") => Ok(Bound::Current),
        RawBsonRef::String(_) => {
            failed_to_parse("Window bounds must be 'unbounded', 'current', or a number.")
        }
        bound => number(bound).map(Bound::By),
    };
    let both = |array: &RawArray| {
        let mut items = values(array);
        match (items.next(), items.next(), items.next()) {
            (Some(lower), Some(upper), None) => Some((one(lower), one(upper))),
            _ => None,
        }
    };
    let found = match bounds {
        RawBsonRef::Array(array) => both(array),
        _ => None,
    };
    match found {
        Some((lower, upper)) => Ok((lower?, upper?)),
        None => failed_to_parse(format!(
            "Window bounds must be a 2-element array: {}",
            messages::element(name, bounds)
        )),
    }
}

fn check_order<T: Copy + Shown>(
    lower: Bound<T>,
    upper: Bound<T>,
    compare: impl Fn(&T, &T) -> Ordering,
    zero: &T,
) -> Result<(), ServerError> {
    let by = |bound| match bound {
        Bound::Unbounded => None,
        Bound::Current => Some(*zero),
        Bound::By(by) => Some(by),
    };
    match (by(lower), by(upper)) {
        (Some(lower), Some(upper)) if compare(&lower, &upper) == Ordering::Greater => refuse(
            5_339_900,
            format!(
                "Lower bound must not exceed upper bound: [{}, {}]",
                lower.shown(),
                upper.shown()
            ),
        ),
        _ => Ok(()),
    }
}

/// A bound as messages print it.
trait Shown {
    fn shown(&self) -> String;
}

impl Shown for i32 {
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Shown for Number {
    fn shown(&self) -> String {
        messages::computed(self.to_raw())
    }
}
