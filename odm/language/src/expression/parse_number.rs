//! Reads numbers from strings, with mongod's messages for invalid ones.

use crate::value::decimal::{Decimal, Unread};

/// The reason why a string is not a number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It looks hexadecimal.
    Hexadecimal,
    Other(&'static str),
}

const REST: Fault = Fault::Other("Did not consume whole string.");

fn check_base(text: &str) -> Result<(), Fault> {
    if text.starts_with("0x") {
        return Err(Fault::Hexadecimal);
    }
    Ok(())
}

/// Reads an integer: an optional sign and digits.
pub(super) fn integer(text: &str) -> Result<i128, Fault> {
    check_base(text)?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() {
        return Err(Fault::Other("No digits"));
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(REST);
    }
    text.parse().map_err(|_| Fault::Other("Overflow"))
}

/// Reads a double as C does: decimal or hexadecimal digits, an infinity, NaN.
pub(super) fn double(text: &str) -> Result<f64, Fault> {
    if text.is_empty() {
        return Err(Fault::Other("Empty string"));
    }
    check_base(text)?;
    if text.starts_with(|c: char| c.is_ascii_whitespace() || c == '\u{b}') {
        return Err(Fault::Other("Leading whitespace"));
    }
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (value, length) = read(magnitude).ok_or(Fault::Other("Did not consume any digits"))?;
    if length < magnitude.len() {
        return Err(REST);
    }
    // A subnormal result counts as out of range, because it has lost digits.
    let has_digits = magnitude.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    let is_word = magnitude.starts_with(['i', 'I', 'n', 'N']);
    if !is_word
        && (value.is_infinite()
            || has_mantissa(magnitude) && value < f64::MIN_POSITIVE && has_digits)
    {
        return Err(Fault::Other("Out of range"));
    }
    Ok(sign * value)
}

/// Whether a numeral has a digit other than zero before its exponent.
fn has_mantissa(text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// The number at the start of a text, and its length in bytes.
fn read(text: &str) -> Option<(f64, usize)> {
    if let Some(rest) = text.strip_prefix("0X") {
        return Some(hexadecimal(rest).map_or((0.0, 1), |(value, length)| (value, length + 2)));
    }
    let begins = |word: &str| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    for word in ["infinity", "inf"] {
        if begins(word) {
            return Some((f64::INFINITY, word.len()));
        }
    }
    if begins("nan") {
        let payload = text.get(3..).and_then(|rest| rest.strip_prefix('('));
        let end = payload.and_then(|rest| rest.find(')'));
        return Some((f64::NAN, end.map_or(3, |end| end + 5)));
    }
    if let Some(rest) = text.strip_prefix("0x") {
        return Some(hexadecimal(rest).map_or((0.0, 1), |(value, length)| (value, length + 2)));
    }
    decimal(text)
}

/// The number of digits at the start of a text.
fn run(text: &str, is_digit: fn(&u8) -> bool) -> usize {
    text.bytes().take_while(is_digit).count()
}

fn decimal(text: &str) -> Option<(f64, usize)> {
    let whole = run(text, u8::is_ascii_digit);
    let point = text.get(whole..).and_then(|rest| rest.strip_prefix('.'));
    let fraction = point.map(|rest| run(rest, u8::is_ascii_digit));
    if whole + fraction.unwrap_or(0) == 0 {
        return None;
    }
    let mut length = whole + fraction.map_or(0, |digits| digits + 1);
    let power = text
        .get(length..)
        .and_then(|rest| rest.strip_prefix(['e', 'E']));
    if let Some(power) = power {
        let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
        let count = run(digits, u8::is_ascii_digit);
        if count > 0 {
            length += 1 + (power.len() - digits.len()) + count;
        }
    }
    let value = text.get(..length)?.parse().ok()?;
    Some((value, length))
}

/// Reads hexadecimal digits without a point.
fn hexadecimal(text: &str) -> Option<(f64, usize)> {
    let length = run(text, u8::is_ascii_hexdigit);
    let value = text
        .bytes()
        .take(length)
        .filter_map(|byte| char::from(byte).to_digit(16))
        .fold(0.0, |value, digit| value * 16.0 + f64::from(digit));
    (length > 0).then_some((value, length))
}

pub(super) fn decimal128(text: &str) -> Result<Decimal, Fault> {
    if text.is_empty() {
        return Err(Fault::Other("Empty string"));
    }
    check_base(text)?;
    Decimal::parse(text).map_err(|why| {
        Fault::Other(match why {
            Unread::Malformed => "Failed to parse string to decimal",
            Unread::Overflow => "Conversion from string to decimal would overflow",
            Unread::Underflow => "Conversion from string to decimal would underflow",
        })
    })
}
