//! `$median` and `$percentile`, of an array and of the values of a group or a window.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef};

use crate::error::{Code, ServerError, refuse};
use crate::expression::compat::messages;
use crate::expression::named::{BareArgument, Named, Wording};
use crate::expression::operator::{Args, ArgumentForm, Operator, Outcome, owned, row};
use crate::value::number::Number;
use crate::value::raw::values;
use crate::version::ServerVersion;

const MISSING: Wording = Wording("BSON field '<operator>.<key>' is missing but a required field");
const UNKNOWN: Wording = Wording("BSON field '<operator>.<key>' is an unknown field.");
const NOT_AN_OBJECT: Wording = Wording("specification must be an object; found <argument>");

/// Operators over one array or number; sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row(
        "$median",
        ArgumentForm::Named(&Named {
            names: &["input", "method"],
            required: &[("input", 40_414), ("method", 40_414)],
            missing: MISSING,
            unknown: (40_415, UNKNOWN),
            bare: BareArgument::Refused(7_436_201, NOT_AN_OBJECT),
            ..Named::DEFAULT
        }),
        |args| {
            check_method(args.or_null(1))?;
            over_input(args, Percentile::median())
        },
    )
    .since(ServerVersion::V7_0),
    row(
        "$percentile",
        ArgumentForm::Named(&Named {
            names: &["input", "p", "method"],
            required: &[("input", 40_414), ("p", 40_414), ("method", 40_414)],
            missing: MISSING,
            unknown: (40_415, UNKNOWN),
            bare: BareArgument::Refused(7_436_200, NOT_AN_OBJECT),
            ..Named::DEFAULT
        }),
        |args| {
            check_method(args.or_null(2))?;
            let percentile = Percentile::of(args.or_null(1))?;
            over_input(args, percentile)
        },
    )
    .since(ServerVersion::V7_0),
];

fn over_input<'a>(args: &Args<'a>, mut percentile: Percentile) -> Outcome<'a> {
    match args.get(0) {
        Some(RawBsonRef::Array(items)) => {
            for item in values(items) {
                percentile.add(Some(item));
            }
        }
        value => percentile.add(value),
    }
    owned(percentile.value())
}

/// Refuses a method that neither 7.0 nor 8.0 has.
pub fn check_method(method: RawBsonRef<'_>) -> Result<(), ServerError> {
    match method {
        RawBsonRef::String("approximate") => Ok(()),
        RawBsonRef::String(_) => Err(ServerError::new(
            Code::BAD_VALUE,
            "Currently only 'approximate' can be used as percentile 'method'.",
        )),
        other => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "BSON field 'method' is the wrong type '{}', expected type 'string'",
                messages::type_name(Some(other))
            ),
        )),
    }
}

/// The accumulators of this module.
pub const ACCUMULATORS: [&str; 2] = ["$median", "$percentile"];

/// Whether the operator is one of [`ACCUMULATORS`], and the version has it.
pub fn has_accumulator(operator: &str, version: ServerVersion) -> bool {
    version >= ServerVersion::V7_0 && ACCUMULATORS.contains(&operator)
}

/// The error of a `p` that reads the document.
pub fn not_constant<T>(value: RawBsonRef<'_>) -> Result<T, ServerError> {
    refuse(
        7_750_300,
        format!(
            "The $percentile 'p' field must be an array of constant expressions, but found value: {}.",
            messages::stored(value)
        ),
    )
}

/// Numbers, and which fractions of them are asked for.
#[derive(Debug, Clone)]
pub struct Percentile {
    /// `None` for the median, which returns one number instead of an array.
    fractions: Option<Vec<f64>>,
    numbers: Vec<f64>,
    is_sorted: bool,
}

impl Percentile {
    /// For the median.
    pub fn median() -> Self {
        Self {
            fractions: None,
            numbers: Vec::new(),
            is_sorted: true,
        }
    }

    /// For the fractions of an evaluated `p`.
    pub fn of(p: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let no_array = || {
            refuse(
                7_750_301,
                format!(
                    "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {}",
                    messages::stored(p)
                ),
            )
        };
        let RawBsonRef::Array(items) = p else {
            return no_array();
        };
        let mut fractions = Vec::new();
        for item in values(items) {
            let Some(fraction) = Number::from_raw(item).map(Number::to_f64) else {
                return refuse(
                    7_750_302,
                    format!(
                        "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {}",
                        messages::stored(item)
                    ),
                );
            };
            if !(0.0..=1.0).contains(&fraction) {
                return refuse(
                    7_750_303,
                    format!(
                        "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: {fraction}"
                    ),
                );
            }
            fractions.push(fraction);
        }
        if fractions.is_empty() {
            return no_array();
        }
        Ok(Self {
            fractions: Some(fractions),
            ..Self::median()
        })
    }

    fn number(value: Option<RawBsonRef<'_>>) -> Option<f64> {
        let number = Number::from_raw(value?)?.to_f64();
        (!number.is_nan()).then_some(number)
    }

    /// Adds a value, unless it is NaN or no number.
    pub fn add(&mut self, value: Option<RawBsonRef<'_>>) {
        if let Some(number) = Self::number(value) {
            let last = self.numbers.last();
            self.is_sorted &= last.is_none_or(|last| last.total_cmp(&number).is_le());
            self.numbers.push(number);
        }
    }

    /// Removes a value that was added.
    pub fn remove(&mut self, value: Option<RawBsonRef<'_>>) {
        let Some(number) = Self::number(value) else {
            return;
        };
        self.sort();
        if let Ok(at) = self
            .numbers
            .binary_search_by(|other| other.total_cmp(&number))
        {
            self.numbers.remove(at);
        }
    }

    fn sort(&mut self) {
        if !self.is_sorted {
            self.numbers.sort_unstable_by(f64::total_cmp);
            self.is_sorted = true;
        }
    }

    /// The least number that at least this fraction of the numbers does not exceed, as a double.
    fn at(&self, fraction: f64) -> RawBson {
        let count = self.numbers.len();
        // The rank lies in the list, whose length a double holds.
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a list in memory has fewer numbers than 2^53"
        )]
        let rank = (count as f64 * fraction).ceil() as usize;
        let number = self
            .numbers
            .get(rank.saturating_sub(1).min(count.saturating_sub(1)));
        number.map_or(RawBson::Null, |number| RawBson::Double(*number))
    }

    /// Returns a double, or null if no number was added. `$percentile` returns an array of them, one for each fraction.
    ///
    /// MongoDB computes an approximation by a t-digest, which is this result for a few hundred numbers.
    pub fn value(&mut self) -> RawBson {
        self.sort();
        match &self.fractions {
            None => self.at(0.5),
            Some(fractions) => {
                let results: RawArrayBuf = fractions.iter().map(|at| self.at(*at)).collect();
                RawBson::Array(results)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_numbers_are_those_that_were_added() {
        let numbers = [0.0, -0.0, 7.0, f64::INFINITY, -0.0, f64::NAN, -3.0];
        for start in 0..numbers.len() {
            let mut median = Percentile::median();
            for number in numbers {
                median.add(Some(RawBsonRef::Double(number)));
            }
            for step in 0..numbers.len() {
                let number = numbers[(start + step) % numbers.len()];
                median.remove(Some(RawBsonRef::Double(number)));
            }
            assert!(median.numbers.is_empty(), "{:?}", median.numbers);
            assert_eq!(median.value(), RawBson::Null);
        }
    }
}
