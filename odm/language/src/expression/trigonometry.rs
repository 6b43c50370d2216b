//! `$sin`, `$cos`, …, for doubles and decimals.

use crate::error::{ServerError, refuse};
use crate::expression::compat::messages;
use crate::expression::operator::{Args, Operator, Outcome, listed, null, owned};
use crate::value::decimal::Decimal;
use crate::value::number::Number;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$acos", 1, 1, |args| {
        bounded(args, (-1.0, 1.0), f64::acos, Decimal::acos)
    }),
    listed("$acosh", 1, 1, |args| {
        bounded(args, (1.0, f64::INFINITY), inverse_cosh, Decimal::acosh)
    }),
    listed("$asin", 1, 1, |args| {
        bounded(args, (-1.0, 1.0), f64::asin, Decimal::asin)
    }),
    listed("$asinh", 1, 1, |args| {
        anywhere(args, inverse_sinh, Decimal::asinh)
    }),
    listed("$atan", 1, 1, |args| {
        anywhere(args, f64::atan, Decimal::atan)
    }),
    listed("$atan2", 2, 2, angle),
    listed("$atanh", 1, 1, |args| {
        bounded(args, (-1.0, 1.0), f64::atanh, Decimal::atanh)
    }),
    listed("$cos", 1, 1, |args| finite(args, f64::cos, Decimal::cos)),
    listed("$cosh", 1, 1, |args| {
        anywhere(args, f64::cosh, Decimal::cosh)
    }),
    listed("$degreesToRadians", 1, 1, |args| {
        anywhere(args, f64::to_radians, Decimal::degrees_to_radians)
    }),
    listed("$radiansToDegrees", 1, 1, |args| {
        anywhere(args, f64::to_degrees, Decimal::radians_to_degrees)
    }),
    listed("$sin", 1, 1, |args| finite(args, f64::sin, Decimal::sin)),
    listed("$sinh", 1, 1, |args| {
        anywhere(args, f64::sinh, Decimal::sinh)
    }),
    listed("$tan", 1, 1, |args| finite(args, f64::tan, Decimal::tan)),
    listed("$tanh", 1, 1, |args| {
        anywhere(args, f64::tanh, Decimal::tanh)
    }),
];

/// Above this bound, adding 1 to a square does not change it.
const LARGE: f64 = 268_435_456.0;

/// Computed as in C libraries, exact to the last bit; the standard library uses another formula.
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

/// The inverse hyperbolic cosine, computed as in C libraries.
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

fn operand(args: &Args<'_>) -> Result<Option<Number>, ServerError> {
    if args.is_nullish(0) {
        return Ok(None);
    }
    match args.get(0).and_then(Number::from_raw) {
        Some(number) => Ok(Some(number)),
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
    let mut sides = [Number::Int32(0); 2];
    let mut is_null = false;
    for (index, (side, code)) in sides.iter_mut().zip([51044, 51045]).enumerate() {
        match args.get(index).and_then(Number::from_raw) {
            _ if is_null || args.is_nullish(index) => is_null = true,
            Some(number) => *side = number,
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
    match sides {
        _ if is_null => null(),
        [y, x] if y.is_decimal() || x.is_decimal() => {
            owned(y.to_decimal().atan2(x.to_decimal()).to_bson())
        }
        [y, x] => owned(y.to_f64().atan2(x.to_f64())),
    }
}

/// Applies a function to a double or a decimal.
fn apply<'a>(
    number: Number,
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
) -> Outcome<'a> {
    match number {
        Number::Decimal(number) => owned(decimal(number).to_bson()),
        number => owned(double(number.to_f64())),
    }
}

fn anywhere<'a>(
    args: &mut Args<'a>,
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
) -> Outcome<'a> {
    operand(args)?.map_or_else(null, |number| apply(number, double, decimal))
}

fn bounded<'a>(
    args: &mut Args<'a>,
    (low, high): (f64, f64),
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
) -> Outcome<'a> {
    let Some(number) = operand(args)? else {
        return null();
    };
    let is_within =
        number.compare(Number::Double(low)).is_ge() && number.compare(Number::Double(high)).is_le();
    if number.is_nan() || is_within {
        return apply(number, double, decimal);
    }
    refuse(
        50989,
        format!(
            "cannot apply {} to {}, value must be in [{},{}]",
            args.operator,
            shown(number),
            messages::double(low),
            messages::double(high)
        ),
    )
}

fn finite<'a>(
    args: &mut Args<'a>,
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
) -> Outcome<'a> {
    match operand(args)? {
        None => null(),
        Some(number) if !number.is_finite() && !number.is_nan() => refuse(
            50989,
            format!(
                "cannot apply {} to {}, value must be in (-inf,inf)",
                args.operator,
                shown(number)
            ),
        ),
        Some(number) => apply(number, double, decimal),
    }
}

fn shown(number: Number) -> String {
    match number {
        Number::Decimal(number) => number.to_string(),
        number => messages::double(number.to_f64()),
    }
}
