//! `$exp $ln $log $log10 $pow $sqrt`.

use bson::raw::RawBson;

use crate::error::refuse;
use crate::expression::arithmetic::{number, operand};
use crate::expression::operator::{Args, Operator, Outcome, listed, null, owned};
use crate::value::decimal::Decimal;
use crate::value::number::Number;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$exp", 1, 1, exp),
    listed("$ln", 1, 1, |args| {
        logarithm(args, f64::ln, Decimal::ln, 28766)
    }),
    listed("$log", 2, 2, log),
    listed("$log10", 1, 1, |args| {
        logarithm(args, f64::log10, Decimal::log10, 28761)
    }),
    listed("$pow", 2, 2, pow),
    listed("$sqrt", 1, 1, sqrt),
];

fn sqrt<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    const REFUSAL: &str = "$sqrt's argument must be greater than or equal to 0";
    match operand(args)? {
        None => null(),
        Some(Number::Decimal(n)) if n.is_negative() && !n.is_zero() && !n.is_nan() => {
            refuse(28714, REFUSAL)
        }
        Some(Number::Decimal(n)) => number(Number::Decimal(n.sqrt())),
        Some(n) if n.to_f64() < 0.0 => refuse(28714, REFUSAL),
        Some(n) => owned(n.to_f64().sqrt()),
    }
}

fn exp<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match operand(args)? {
        None => null(),
        Some(Number::Decimal(n)) => number(Number::Decimal(n.exp())),
        Some(n) => owned(n.to_f64().exp()),
    }
}

/// A number as the messages of logarithms print it: as a double.
fn shown(number: Number) -> String {
    crate::value::print::significant(number.to_f64(), 6)
}

fn logarithm<'a>(
    args: &Args<'a>,
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
    code: i32,
) -> Outcome<'a> {
    match operand(args)? {
        None => null(),
        Some(n) if n.is_nan() => owned(f64::NAN),
        Some(n) if n.compare(Number::Int32(0)).is_gt() => match n {
            Number::Decimal(n) => number(Number::Decimal(decimal(n))),
            n => owned(double(n.to_f64())),
        },
        Some(n) => refuse(
            code,
            format!(
                "{}'s argument must be a positive number, but is {}",
                args.operator,
                shown(n)
            ),
        ),
    }
}

fn log<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    let numbers = (
        Number::from_raw(args.or_null(0)),
        Number::from_raw(args.or_null(1)),
    );
    let (value, base) = match numbers {
        (None, _) => {
            return refuse(
                28756,
                format!("$log's argument must be numeric, not {}", args.type_name(0)),
            );
        }
        (_, None) => {
            return refuse(
                28757,
                format!("$log's base must be numeric, not {}", args.type_name(1)),
            );
        }
        (Some(value), Some(base)) => (value, base),
    };
    if value.is_decimal() || base.is_decimal() {
        let (value, base) = (value.to_decimal(), base.to_decimal());
        let [zero, one] = [0, 1].map(Decimal::from_i64);
        let is_above = |n: Decimal| !n.is_nan() && n.compare(zero).is_gt();
        if is_above(value) && is_above(base) && base.compare(one).is_ne() {
            return number(Number::Decimal(value.log(base)));
        }
    }
    // the remaining decimals have no logarithm; mongod words the error for the nearest doubles
    let [double_value, double_base] = [value, base].map(Number::to_f64);
    let is_one = Number::Double(double_base)
        .compare(Number::Int32(1))
        .is_eq();
    if double_value <= 0.0 {
        return refuse(
            28758,
            format!(
                "$log's argument must be a positive number, but is {}",
                shown(value)
            ),
        );
    }
    if double_base <= 0.0 || is_one {
        return refuse(
            28759,
            format!(
                "$log's base must be a positive number not equal to 1, but is {}",
                shown(base)
            ),
        );
    }
    owned(double_value.ln() / double_base.ln())
}

fn pow<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    if args.any_nullish() {
        return null();
    }
    let numbers = (
        Number::from_raw(args.or_null(0)),
        Number::from_raw(args.or_null(1)),
    );
    let (base, exponent) = match numbers {
        (None, _) => {
            return refuse(
                28762,
                format!("$pow's base must be numeric, not {}", args.type_name(0)),
            );
        }
        (_, None) => {
            return refuse(
                28763,
                format!("$pow's exponent must be numeric, not {}", args.type_name(1)),
            );
        }
        (Some(base), Some(exponent)) => (base, exponent),
    };
    let is_decimal = base.is_decimal() || exponent.is_decimal();
    let is_negative = if is_decimal {
        // a negative zero counts as negative, too
        let exponent = exponent.to_decimal();
        exponent.is_negative() && !exponent.is_nan()
    } else {
        exponent.to_f64() < 0.0
    };
    if base.is_zero() && is_negative {
        return refuse(
            28764,
            "$pow cannot take a base of 0 and a negative exponent",
        );
    }
    if is_decimal {
        let power = base.to_decimal().pow(exponent.to_decimal());
        return number(Number::Decimal(power));
    }
    let integers = match (base, exponent) {
        (Number::Double(_), _) | (_, Number::Double(_)) => None,
        _ => base.to_i64_exact().zip(exponent.to_i64_exact()),
    };
    let (floating, long) = (
        base.to_f64().powf(exponent.to_f64()),
        matches!(base, Number::Int64(_)) || matches!(exponent, Number::Int64(_)),
    );
    let exact = integers.and_then(|(base, exponent)| match (base, exponent) {
        (0, exponent) if exponent > 0 => Some(0),
        (1, _) => Some(1),
        (-1, exponent) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        (base, exponent) => base.checked_pow(u32::try_from(exponent).ok()?),
    });
    match exact {
        None => owned(floating),
        Some(n) if long => owned(n),
        Some(n) => owned(i32::try_from(n).map_or(RawBson::Int64(n), RawBson::Int32)),
    }
}
