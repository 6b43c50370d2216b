//! `$abs $add $ceil $divide $floor $mod $multiply $round $subtract $trunc`.

use bson::DateTime;
use bson::raw::RawBsonRef;

use crate::error::{Code, ServerError, refuse};
use crate::expression::compat::messages;
use crate::expression::operator::{
    ANY, Args, Operator, Outcome, coerced, integral_32, listed, null, owned,
};
use crate::expression::sum::Sum;
use crate::value::decimal::{Decimal, Rounding};
use crate::value::number::Number;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$abs", 1, 1, abs),
    listed("$add", 0, ANY, add),
    listed("$ceil", 1, 1, |args| {
        whole(args, f64::ceil, Rounding::Ceiling)
    }),
    listed("$divide", 2, 2, divide),
    listed("$floor", 1, 1, |args| {
        whole(args, f64::floor, Rounding::Floor)
    }),
    listed("$mod", 2, 2, modulo),
    listed("$multiply", 0, ANY, multiply),
    listed("$round", 1, 2, |args| to_place(args, Rounding::HalfEven)),
    listed("$subtract", 2, 2, subtract),
    listed("$trunc", 1, 2, |args| to_place(args, Rounding::Down)),
];

pub(super) fn number<'a>(number: Number) -> Outcome<'a> {
    owned(number.to_raw())
}

fn type_mismatch<T>(message: String) -> Result<T, ServerError> {
    Err(ServerError::new(Code::TYPE_MISMATCH, message))
}

/// The argument of an operator on one number; `None` for null.
pub(super) fn operand(args: &Args<'_>) -> Result<Option<Number>, ServerError> {
    operand_or(args, 28765)
}

fn operand_or(args: &Args<'_>, code: i32) -> Result<Option<Number>, ServerError> {
    if args.is_nullish(0) {
        return Ok(None);
    }
    match args.get(0).and_then(Number::from_raw) {
        Some(number) => Ok(Some(number)),
        None => refuse(
            code,
            format!(
                "{} only supports numeric types, not {}",
                args.operator,
                args.type_name(0)
            ),
        ),
    }
}

fn abs<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match operand(args)?.map(Number::checked_abs) {
        None => null(),
        Some(Some(value)) => number(value),
        Some(None) => refuse(28680, "can't take $abs of long long min"),
    }
}

fn add<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let mut sum = Sum::ZERO;
    let mut date = None;
    for (index, value) in args.values.iter().enumerate() {
        match value.get() {
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => return null(),
            Some(RawBsonRef::DateTime(at)) => {
                if date.replace(at).is_some() {
                    return refuse(16612, "only one date allowed in an $add expression");
                }
            }
            Some(value) => match Number::from_raw(value) {
                Some(number) => sum.add(number),
                None => {
                    return refuse(
                        16554,
                        format!(
                            "$add only supports numeric or date types, not {}",
                            args.type_name(index)
                        ),
                    );
                }
            },
        }
    }
    match date {
        None => owned(sum.into_bson()),
        Some(date) => {
            sum.add(Number::Int64(date.timestamp_millis()));
            sum.to_i64()
                .map_or_else(date_overflow, |millis| owned(DateTime::from_millis(millis)))
        }
    }
}

fn date_overflow<'a>() -> Outcome<'a> {
    Err(ServerError::new(Code::OVERFLOW, "date overflow in $add"))
}

/// The date this number of milliseconds earlier.
fn earlier<'a>(date: DateTime, by: Number) -> Outcome<'a> {
    let by = match by {
        Number::Double(n) => by.to_i64_truncated().map_or_else(|| coerced(n), Ok)?,
        Number::Decimal(n) => n.to_i64_rounded(),
        integer => integer.to_i64_truncated().unwrap_or(i64::MIN),
    };
    let overflow = |message: String| Err(ServerError::new(Code::DURATION_OVERFLOW, message));
    let Some(by) = by.checked_neg() else {
        return overflow("Cannot negate the minimum duration".to_owned());
    };
    let start = date.timestamp_millis();
    match start.checked_add(by) {
        Some(millis) => owned(DateTime::from_millis(millis)),
        None => overflow(format!(
            "Overflow while adding {by}ms to {}ms",
            start.wrapping_add(by)
        )),
    }
}

fn subtract<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    let (left, right) = (args.or_null(0), args.or_null(1));
    match (Number::from_raw(left), Number::from_raw(right), left, right) {
        (Some(left), Some(right), _, _) => number(left.sub(right)),
        (_, _, RawBsonRef::DateTime(left), RawBsonRef::DateTime(right)) => {
            // mongod wraps around on overflow.
            let (left, right) = (left.timestamp_millis(), right.timestamp_millis());
            owned(left.wrapping_sub(right))
        }
        (_, Some(right), RawBsonRef::DateTime(left), _) => earlier(left, right),
        (_, _, RawBsonRef::DateTime(_), _) => {
            type_mismatch(format!("can't $subtract {} from Date", args.type_name(1)))
        }
        _ => type_mismatch(format!(
            "can't $subtract {} from {}",
            args.type_name(1),
            args.type_name(0)
        )),
    }
}

fn multiply<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let mut product = Number::Int32(1);
    for (index, value) in args.values.iter().enumerate() {
        if value.is_nullish() {
            return null();
        }
        let Some(factor) = value.get().and_then(Number::from_raw) else {
            return type_mismatch(format!(
                "$multiply only supports numeric types, not {}",
                args.type_name(index)
            ));
        };
        product = product.mul(factor);
    }
    number(product)
}

fn divide<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    match (
        Number::from_raw(args.or_null(0)),
        Number::from_raw(args.or_null(1)),
    ) {
        (Some(_), Some(by)) if by.is_zero() => refuse(2, "can't $divide by zero"),
        (Some(value), Some(by)) => number(value.div(by)),
        _ => type_mismatch(format!(
            "$divide only supports numeric types, not {} and {}",
            args.type_name(0),
            args.type_name(1)
        )),
    }
}

fn modulo<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    match (
        Number::from_raw(args.or_null(0)),
        Number::from_raw(args.or_null(1)),
    ) {
        (Some(value), Some(by)) if by.is_zero() => {
            let is_decimal = [value, by]
                .iter()
                .any(|number| matches!(number, Number::Decimal(_)));
            refuse(
                if is_decimal { 5_733_415 } else { 16610 },
                "can't $mod by zero",
            )
        }
        (Some(value), Some(by)) => number(value.rem(whole_divisor(value, by))),
        _ => refuse(
            16611,
            format!(
                "$mod only supports numeric types, not {} and {}",
                args.type_name(0),
                args.type_name(1)
            ),
        ),
    }
}

/// A whole 32-bit double divides an integer as an integer.
fn whole_divisor(value: Number, by: Number) -> Number {
    match (value, by) {
        (Number::Int32(_) | Number::Int64(_), Number::Double(_)) => by
            .to_i64_exact()
            .and_then(|by| i32::try_from(by).ok())
            .map_or(by, Number::Int32),
        _ => by,
    }
}

fn whole<'a>(args: &mut Args<'a>, round: fn(f64) -> f64, rounding: Rounding) -> Outcome<'a> {
    match operand(args)? {
        None => null(),
        Some(Number::Double(n)) => owned(round(n)),
        // As in mongod, the result is NaN for an infinity, and for a decimal that cannot be written with an exponent of
        // 0.
        Some(Number::Decimal(n)) => {
            let whole = n.quantize(0, rounding);
            let has_units = whole.parts().is_some_and(|(_, exponent)| exponent == 0);
            number(Number::Decimal(if has_units {
                whole
            } else {
                Decimal::NAN
            }))
        }
        Some(integer) => number(integer),
    }
}

fn to_place<'a>(args: &Args<'a>, rounding: Rounding) -> Outcome<'a> {
    let Some(value) = operand_or(args, 51081)? else {
        return null();
    };
    let place = if args.values.len() > 1 {
        if args.is_nullish(1) {
            return null();
        }
        match Number::from_raw(args.or_null(1)) {
            None => {
                return refuse(
                    16004,
                    format!("can't convert from BSON type {} to long", args.type_name(1)),
                );
            }
            Some(Number::Double(n)) if Number::Double(n).to_i64_truncated().is_none() => {
                return coerced(n);
            }
            Some(_) => {}
        }
        let Some(place) = integral_32(args.or_null(1)) else {
            return refuse(
                51082,
                format!(
                    "precision argument to  {} must be a integral value",
                    args.operator
                ),
            );
        };
        if !(-20..=100).contains(&place) {
            return refuse(
                51083,
                format!(
                    "cannot apply {} with precision value {place} value must be in [-20, 100]",
                    args.operator
                ),
            );
        }
        place
    } else {
        0
    };
    match value {
        Number::Double(n) if !n.is_finite() => owned(n),
        Number::Double(n) => {
            let rounded = Decimal::from_f64_exact(n)
                .quantize(place, rounding)
                .to_f64();
            owned(if rounded.abs() > 0.0 {
                rounded
            } else {
                0.0_f64.copysign(n)
            })
        }
        Number::Decimal(n) => number(Number::Decimal(n.quantize(place, rounding))),
        integer if place >= 0 => number(integer),
        integer => {
            let rounded = integer.to_decimal().quantize(place, rounding).to_i128();
            match rounded.and_then(|n| i64::try_from(n).ok()) {
                None => refuse(
                    51080,
                    format!(
                        "invalid conversion from Decimal128 result in {} resulting from arguments: [{}, {}]",
                        args.operator,
                        messages::computed(args.or_null(0)),
                        messages::computed(args.or_null(1))
                    ),
                ),
                // mongod wraps around below the 32-bit range.
                #[expect(clippy::cast_possible_truncation, reason = "the wrap is wanted")]
                Some(n) if matches!(integer, Number::Int32(_)) && n <= i64::from(i32::MAX) => {
                    owned(n as i32)
                }
                Some(n) => owned(n),
            }
        }
    }
}
