//! Conversions and comparisons between decimals and doubles.

use std::cmp::Ordering;

use super::{Decimal, scientific};
use crate::value::u256::pow10;

/// The double nearest to `coefficient * 10^exponent`.
pub(super) fn nearest(coefficient: u128, exponent: i32) -> f64 {
    // the standard library's parser rounds correctly
    format!("{coefficient}e{exponent}")
        .parse()
        .unwrap_or(f64::NAN)
}

/// Converts a double, rounded to this many digits. With 34 digits, an exact result is not padded.
pub(super) fn to_decimal(value: f64, places: u32) -> Decimal {
    if value.is_nan() {
        return Decimal::NAN;
    }
    let negative = value.is_sign_negative();
    if value.is_infinite() {
        return Decimal::infinity(negative);
    }
    if value == 0.0 {
        return Decimal::finite(negative, 0, 0);
    }
    if places == super::DIGITS
        && let Some((coefficient, exponent)) = exact(value.abs())
    {
        return Decimal::finite(negative, coefficient, exponent);
    }
    let text = format!("{:.*e}", places.saturating_sub(1) as usize, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let coefficient = digits.parse().unwrap_or(0);
    let exponent = exponent.parse().unwrap_or(0) - (places.cast_signed() - 1);
    Decimal::finite(negative, coefficient, exponent)
}

/// The exact decimal of a positive double, if 34 digits hold it.
fn exact(value: f64) -> Option<(u128, i32)> {
    let bits = value.to_bits();
    let stored = i32::try_from((bits >> 52) & 0x7FF).ok()?;
    let fraction = u128::from(bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match stored {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, stored - 1075),
    };
    let zeros = mantissa.trailing_zeros().min(127);
    let (mantissa, exponent) = (mantissa >> zeros, exponent + zeros.cast_signed());
    let (coefficient, exponent) = if exponent >= 0 {
        if exponent.unsigned_abs() > mantissa.leading_zeros() {
            return None;
        }
        (mantissa << exponent, 0)
    } else {
        let power = 5u128.checked_pow(exponent.unsigned_abs())?;
        (mantissa.checked_mul(power)?, exponent)
    };
    (coefficient < pow10(super::DIGITS)).then_some((coefficient, exponent))
}

/// Compares by exact value.
pub(super) fn compare(decimal: Decimal, double: f64) -> Ordering {
    match (decimal.is_nan(), double.is_nan()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        (false, false) => {}
    }
    if double.is_infinite() || double == 0.0 {
        return decimal.compare(to_decimal(double, super::DIGITS));
    }
    let Some(parts) = decimal.parts() else {
        return decimal.signum().cmp(&0);
    };
    let sign = if double < 0.0 { -1 } else { 1 };
    if decimal.signum() != sign {
        return decimal.signum().cmp(&sign);
    }
    let magnitude = compare_magnitude(parts, double.abs());
    if sign > 0 {
        magnitude
    } else {
        magnitude.reverse()
    }
}

fn compare_magnitude(parts: (u128, i32), double: f64) -> Ordering {
    if let Some(other) = exact(double) {
        return scientific(parts).cmp(&scientific(other));
    }
    let near = nearest(parts.0, parts.1);
    match near.total_cmp(&double) {
        Ordering::Equal => {}
        decided => return decided,
    }
    // the decimal rounds to this double: compares all digits of the double's exact value
    let text = format!("{double:.800e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (first, normal) = scientific(parts);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let decimal_digits = format!("{normal:0<802}");
    let double_digits = mantissa.bytes().filter(u8::is_ascii_digit);
    first
        .cmp(&(exponent + 1))
        .then_with(|| decimal_digits.bytes().take(801).cmp(double_digits))
}

/// The greatest double not above a magnitude, and whether it is the magnitude exactly.
pub(super) fn truncated(parts: (u128, i32)) -> (f64, bool) {
    let near = nearest(parts.0, parts.1);
    if near.is_infinite() {
        return (f64::MAX, false);
    }
    if near == 0.0 {
        return (0.0, parts.0 == 0);
    }
    match compare_magnitude(parts, near) {
        Ordering::Equal => (near, true),
        Ordering::Greater => (near, false),
        Ordering::Less => (near.next_down(), false),
    }
}
