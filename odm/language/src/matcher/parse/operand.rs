//! Reads numeric operands, with mongod's messages for invalid ones.

use bson::RawBsonRef;

use crate::value::number::Number;
use crate::value::print;

/// Reads an integer from a number of any type. Returns the error's message only: its code depends on the operator.
pub fn integer(name: &str, value: RawBsonRef<'_>) -> Result<i64, String> {
    let shown = || print::field(name, value);
    let number =
        Number::from_raw(value).ok_or_else(|| format!("Expected a number in: {}", shown()))?;
    if number.is_nan() {
        return Err(match number {
            Number::Decimal(_) => {
                format!("Cannot represent as a 64-bit integer: {}", shown())
            }
            _ => format!("Expected an integer, but found NaN in: {}", shown()),
        });
    }
    number.to_i64_exact().ok_or_else(|| match number {
        Number::Double(value) if value.is_finite() && value.fract() != 0.0 => {
            format!("Expected an integer: {}", shown())
        }
        _ => format!("Cannot represent as a 64-bit integer: {}", shown()),
    })
}

/// Like [`integer`], but refuses negative numbers.
pub(in crate::matcher) fn non_negative(name: &str, value: RawBsonRef<'_>) -> Result<i64, String> {
    let number = integer(name, value)?;
    if number < 0 {
        return Err(format!(
            "Expected a non-negative number in: {}",
            print::field(name, value)
        ));
    }
    Ok(number)
}

/// Like [`non_negative`], limited to 32 bits.
pub(in crate::matcher) fn non_negative_int(
    name: &str,
    value: RawBsonRef<'_>,
) -> Result<i32, String> {
    let number = integer(name, value)?;
    let int = i32::try_from(number)
        .map_err(|_| format!("Cannot represent {} in an int", print::field(name, value)))?;
    non_negative(name, value).map(|_| int)
}

/// The integer part of a number, as `$mod` takes it.
pub(in crate::matcher) fn truncated(value: Number) -> Result<i64, &'static str> {
    if !value.is_finite() {
        return Err("Unable to coerce NaN/Inf to integral type");
    }
    value
        .to_i64_truncated()
        .ok_or("Out of bounds coercing to integral value")
}
