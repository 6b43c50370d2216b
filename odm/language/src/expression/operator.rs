//! The rows of the operator tables, and the arguments of an operator.

use bson::raw::{RawBson, RawBsonRef};

use crate::error::{ServerError, refuse};
use crate::expression::Globals;
use crate::expression::compat::messages;
use crate::expression::named::Named;
use crate::expression::value::Value;
use crate::version::ServerVersion;

/// The result of an evaluation.
pub(super) type Outcome<'a> = Result<Value<'a>, ServerError>;

/// One operator.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) name: &'static str,
    pub(super) shape: ArgumentForm,
    pub(super) eval: Eval,
    /// The first version that has it.
    pub(super) since: ServerVersion,
}

impl Operator {
    /// This row, for an operator that a later version has added.
    pub(super) const fn since(self, version: ServerVersion) -> Self {
        Self {
            since: version,
            ..self
        }
    }
}

/// The implementation of an operator.
pub(super) type Eval = for<'a> fn(&mut Args<'a>) -> Outcome<'a>;

/// A row of a family's table.
pub(super) const fn row(name: &'static str, shape: ArgumentForm, eval: Eval) -> Operator {
    Operator {
        name,
        shape,
        eval,
        since: ServerVersion::V6_0,
    }
}

/// A row of an operator with a list of arguments, of at least `least` and at most `most`.
pub(super) const fn listed(name: &'static str, least: usize, most: usize, eval: Eval) -> Operator {
    row(name, ArgumentForm::Listed(least, most, None), eval)
}

/// How the arguments are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentForm {
    /// `{$op: [a, b]}`, or `{$op: a}` for a single argument; with the minimum and maximum number of arguments, and the
    /// error for other numbers, if it is not that of most operators.
    Listed(usize, usize, Option<WrongCount>),
    /// `{$op: a}`: the whole operand is the argument, even if it is an array.
    Whole,
    /// `{$op: {input: a, …}}`.
    Named(&'static Named),
}

/// The error of an operator for a wrong number of arguments: its code, and the message up to the number.
pub(super) type WrongCount = (i32, &'static str);

/// Any number of arguments.
pub(super) const ANY: usize = usize::MAX;

/// Evaluated arguments, in the order of the row.
#[derive(Debug)]
pub(super) struct Args<'a> {
    pub(super) operator: &'static str,
    pub(super) values: Vec<Value<'a>>,
    /// Which named arguments were written.
    pub(super) given: Vec<bool>,
    pub(super) globals: &'a Globals,
}

impl<'a> Args<'a> {
    /// The argument; `None` if it is missing.
    pub(super) fn get(&self, index: usize) -> Option<RawBsonRef<'_>> {
        self.values.get(index)?.get()
    }

    /// The argument; null if it is missing.
    pub(super) fn or_null(&self, index: usize) -> RawBsonRef<'_> {
        self.get(index).unwrap_or(RawBsonRef::Null)
    }

    pub(super) fn take(&mut self, index: usize) -> Value<'a> {
        self.values.get_mut(index).map_or(Value::Missing, |value| {
            std::mem::replace(value, Value::Missing)
        })
    }

    pub(super) fn is_nullish(&self, index: usize) -> bool {
        self.values.get(index).is_none_or(Value::is_nullish)
    }

    /// Whether the argument was written at all.
    pub(super) fn is_present(&self, index: usize) -> bool {
        self.given.get(index).copied().unwrap_or(false)
    }

    /// Whether any argument is null, undefined or missing.
    pub(super) fn any_nullish(&self) -> bool {
        self.values.iter().any(Value::is_nullish)
    }

    /// The type of an argument, as messages name it.
    pub(super) fn type_name(&self, index: usize) -> &'static str {
        messages::type_name(self.get(index))
    }
}

/// An owned result.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the ending of functions that may fail"
)]
pub(super) fn owned<'a>(value: impl Into<RawBson>) -> Outcome<'a> {
    Ok(Value::Owned(value.into()))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the ending of functions that may fail"
)]
pub(super) fn null<'a>() -> Outcome<'a> {
    Ok(Value::NULL)
}

/// Reads an integer; a whole double or decimal counts as one.
pub(super) fn integral(value: RawBsonRef<'_>) -> Option<i64> {
    crate::value::number::Number::from_raw(value)?.to_i64_exact()
}

/// The error for a double outside of 64 bits.
pub(super) fn coerced<T>(value: f64) -> Result<T, ServerError> {
    refuse(
        31109,
        format!(
            "Can't coerce out of range value {} to long",
            messages::double(value)
        ),
    )
}

/// Reads an integer of 32 bits.
pub(super) fn integral_32(value: RawBsonRef<'_>) -> Option<i32> {
    i32::try_from(integral(value)?).ok()
}

/// The integer, in 32 bits if it fits.
pub(super) fn integer(value: i64) -> RawBson {
    i32::try_from(value).map_or(RawBson::Int64(value), RawBson::Int32)
}

/// A count as mongod returns it: in 32 bits if it fits.
pub(super) fn count(value: usize) -> RawBson {
    integer(i64::try_from(value).unwrap_or(i64::MAX))
}
