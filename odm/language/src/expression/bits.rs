//! `$bitAnd $bitNot $bitOr $bitXor`.

use bson::raw::{RawBson, RawBsonRef};

use crate::error::{Code, ServerError};
use crate::expression::operator::{ANY, Args, Operator, Outcome, listed, null, owned};
use crate::version::ServerVersion;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$bitAnd", 0, ANY, |args| {
        combined(args, -1, |one, other| one & other)
    })
    .since(ServerVersion::V7_0),
    listed("$bitNot", 1, 1, not).since(ServerVersion::V7_0),
    listed("$bitOr", 0, ANY, |args| {
        combined(args, 0, |one, other| one | other)
    })
    .since(ServerVersion::V7_0),
    listed("$bitXor", 0, ANY, |args| {
        combined(args, 0, |one, other| one ^ other)
    })
    .since(ServerVersion::V7_0),
];

fn refuse<T>(args: &Args<'_>, index: usize) -> Result<T, ServerError> {
    Err(ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "{} only supports int and long operands, not {}",
            args.operator,
            args.type_name(index)
        ),
    ))
}

/// All operands combined. The result is an int if all operands are.
fn combined<'a>(args: &Args<'a>, none: i32, combine: fn(i64, i64) -> i64) -> Outcome<'a> {
    let mut result = i64::from(none);
    let mut is_long = false;
    for index in 0..args.values.len() {
        match args.get(index) {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return null(),
            Some(RawBsonRef::Int32(value)) => result = combine(result, value.into()),
            Some(RawBsonRef::Int64(value)) => {
                result = combine(result, value);
                is_long = true;
            }
            Some(_) => return refuse(args, index),
        }
    }
    // Operands of 32 bits are extended by their sign, so that a result of them alone fits.
    match i32::try_from(result) {
        Ok(result) if !is_long => owned(result),
        _ => owned(result),
    }
}

fn not<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => null(),
        Some(RawBsonRef::Int32(value)) => owned(!value),
        Some(RawBsonRef::Int64(value)) => owned(RawBson::Int64(!value)),
        Some(_) => refuse(args, 0),
    }
}
