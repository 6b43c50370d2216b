//! Parses decimals from strings, as MongoDB's conversions do.

use bson::Decimal128;

use super::{DIGITS, Decimal, MAX_EXPONENT, MIN_EXPONENT};
use crate::value::u256::pow10;

/// The reason why a string is not a decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    Malformed,
    Overflow,
    Underflow,
}

/// Reads `[sign] digits[.digits][e[sign]digits]`, an infinity or NaN. Digits beyond the 34th are cut off.
pub(super) fn parse(text: &str) -> Result<Decimal, Unread> {
    let (negative, text) = signed(text);
    if ["inf", "infinity"]
        .iter()
        .any(|name| text.eq_ignore_ascii_case(name))
    {
        return Ok(Decimal::infinity(negative));
    }
    if text.eq_ignore_ascii_case("nan") {
        return Ok(Decimal::NAN);
    }
    let (number, power) = match text.split_once(['e', 'E']) {
        Some((number, power)) => (number, exponent(power).ok_or(Unread::Malformed)?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return Err(Unread::Malformed);
    }
    let mut coefficient = 0;
    let mut cut = 0_i64;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if coefficient < pow10(DIGITS - 1) {
            coefficient = coefficient * 10 + u128::from(digit - b'0');
        } else {
            cut += 1;
        }
    }
    let places = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    fitted(
        negative,
        coefficient,
        power.saturating_add(cut).saturating_sub(places),
    )
}

/// Reads the text of a decimal as the BSON specification writes it, if 34 digits hold the number. bson's own parser is laxer:
/// it reads `""` as 0 and `"-+32.4"` as -32.4.
pub(super) fn read_exact(text: &str) -> Option<Decimal128> {
    let (_, unsigned) = signed(text);
    let names = ["inf", "infinity", "nan"];
    let is_name = names.iter().any(|name| unsigned.eq_ignore_ascii_case(name));
    let (number, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = whole.len() + fraction.len() > 0
        && is_digits(whole)
        && is_digits(fraction)
        && exponent(power).is_some();
    if !is_name && !is_number {
        return None;
    }
    text.parse().ok()
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The number after an `e`; numbers that are too large saturate.
fn exponent(text: &str) -> Option<i64> {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse().unwrap_or(i64::from(u32::MAX));
    Some(if negative { -magnitude } else { magnitude })
}

/// Builds the decimal, shifting digits of the coefficient if the exponent is out of range.
fn fitted(negative: bool, mut coefficient: u128, mut exponent: i64) -> Result<Decimal, Unread> {
    let (least, most) = (i64::from(MIN_EXPONENT), i64::from(MAX_EXPONENT));
    if coefficient == 0 {
        exponent = exponent.clamp(least, most);
    }
    while exponent > most && coefficient < pow10(DIGITS - 1) {
        coefficient *= 10;
        exponent -= 1;
    }
    while exponent < least && coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    match i32::try_from(exponent) {
        Ok(exponent @ MIN_EXPONENT..=MAX_EXPONENT) => {
            Ok(Decimal::finite(negative, coefficient, exponent))
        }
        _ if exponent > most => Err(Unread::Overflow),
        _ => Err(Unread::Underflow),
    }
}
