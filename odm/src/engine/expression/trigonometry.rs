//! `$sin`, `$cos`, …, in doubles; decimals are refused.

use crate::engine::expression::operator::{Args, Operator, Outcome, listed, null, owned, refuse};
use crate::engine::expression::text;
use crate::error::{Code, ServerError};
use crate::value::number::Number;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$acos", 1, 1, |args| bounded(args, -1.0, 1.0, f64::acos)),
    listed("$acosh", 1, 1, |args| {
        bounded(args, 1.0, f64::INFINITY, inverse_cosh)
    }),
    listed("$asin", 1, 1, |args| bounded(args, -1.0, 1.0, f64::asin)),
    listed("$asinh", 1, 1, |args| anywhere(args, inverse_sinh)),
    listed("$atan", 1, 1, |args| anywhere(args, f64::atan)),
    listed("$atan2", 2, 2, angle),
    listed("$atanh", 1, 1, |args| bounded(args, -1.0, 1.0, f64::atanh)),
    listed("$cos", 1, 1, |args| finite(args, f64::cos)),
    listed("$cosh", 1, 1, |args| anywhere(args, f64::cosh)),
    listed("$degreesToRadians", 1, 1, |args| {
        anywhere(args, f64::to_radians)
    }),
    listed("$radiansToDegrees", 1, 1, |args| {
        anywhere(args, f64::to_degrees)
    }),
    listed("$sin", 1, 1, |args| finite(args, f64::sin)),
    listed("$sinh", 1, 1, |args| anywhere(args, f64::sinh)),
    listed("$tan", 1, 1, |args| finite(args, f64::tan)),
    listed("$tanh", 1, 1, |args| anywhere(args, f64::tanh)),
];

/// Beyond this nothing is left of a one beside a square.
const LARGE: f64 = 268_435_456.0;

/// As C libraries compute it, to the last bit; the standard library has a formula of its own.
fn inverse_sinh(value: f64) -> f64 {
    let x = value.abs();
    let result = if x < 1.0 / LARGE || !x.is_finite() {
        x
    } else if x > LARGE {
        x.ln() + std::f64::consts::LN_2
    } else if x > 2.0 {
        (2.0 * x + 1.0 / (x.mul_add(x, 1.0).sqrt() + x)).ln()
    } else {
        let square = x * x;
        (x + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    result.copysign(value)
}

/// The same of the hyperbolic cosine.
fn inverse_cosh(x: f64) -> f64 {
    if x > LARGE {
        x.ln() + std::f64::consts::LN_2
    } else if x > 2.0 {
        (2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())).ln()
    } else {
        let over = x - 1.0;
        (over + (2.0 * over + over * over).sqrt()).ln_1p()
    }
}

fn operand(args: &Args<'_>) -> Result<Option<f64>, ServerError> {
    if args.is_nullish(0) {
        return Ok(None);
    }
    match args.get(0).and_then(Number::from_raw) {
        Some(Number::Decimal(_)) => no_decimals(args),
        Some(number) => Ok(Some(number.to_f64())),
        None => refuse(
            28765,
            format!(
                "{} only supports numeric types, not {}",
                args.operator,
                args.type_name(0)
            ),
        ),
    }
}

fn angle<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let mut sides = [0.0; 2];
    let mut is_null = false;
    let mut is_decimal = false;
    for (index, (side, code)) in sides.iter_mut().zip([51044, 51045]).enumerate() {
        match args.get(index).and_then(Number::from_raw) {
            _ if is_null || args.is_nullish(index) => is_null = true,
            Some(Number::Decimal(_)) => is_decimal = true,
            Some(number) => *side = number.to_f64(),
            None => {
                return refuse(
                    code,
                    format!(
                        "$atan2 only supports numeric types, not {}",
                        args.type_name(index)
                    ),
                );
            }
        }
    }
    let [y, x] = sides;
    match (is_null, is_decimal) {
        (true, _) => null(),
        (false, true) => no_decimals(args),
        (false, false) => owned(y.atan2(x)),
    }
}

fn no_decimals<T>(args: &Args<'_>) -> Result<T, ServerError> {
    Err(ServerError::new(
        Code::COMMAND_NOT_SUPPORTED,
        format!(
            "{} of a decimal is not supported by the in-memory engine",
            args.operator
        ),
    ))
}

fn anywhere<'a>(args: &mut Args<'a>, function: fn(f64) -> f64) -> Outcome<'a> {
    operand(args)?.map_or_else(null, |value| owned(function(value)))
}

fn bounded<'a>(args: &mut Args<'a>, low: f64, high: f64, function: fn(f64) -> f64) -> Outcome<'a> {
    match operand(args)? {
        None => null(),
        Some(value) if value.is_nan() || (low..=high).contains(&value) => owned(function(value)),
        Some(value) => refuse(
            50989,
            format!(
                "cannot apply {} to {}, value must be in [{},{}]",
                args.operator,
                text::double(value),
                text::double(low),
                text::double(high)
            ),
        ),
    }
}

fn finite<'a>(args: &mut Args<'a>, function: fn(f64) -> f64) -> Outcome<'a> {
    match operand(args)? {
        None => null(),
        Some(value) if value.is_infinite() => refuse(
            50989,
            format!(
                "cannot apply {} to {}, value must be in (-inf,inf)",
                args.operator,
                text::double(value)
            ),
        ),
        Some(value) => owned(function(value)),
    }
}
