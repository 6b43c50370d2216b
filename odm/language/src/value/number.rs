//! Arithmetic over the four kinds of numbers, with MongoDB's type promotion and overflow rules.

use std::cmp::Ordering;

use bson::RawBsonRef;

use crate::value::decimal::Decimal;

/// A number of one of the four BSON types.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    Double(f64),
    Int32(i32),
    Int64(i64),
    Decimal(Decimal),
}

use Number::{Double, Int32, Int64};

#[expect(
    clippy::should_implement_trait,
    reason = "the functions are passed by name, as in `Decimal::add`; the operators of Rust would hide that they are those of BSON"
)]
impl Number {
    /// The number in a value, `None` for any other type.
    pub fn from_raw(value: RawBsonRef<'_>) -> Option<Self> {
        Some(match value {
            RawBsonRef::Double(value) => Double(value),
            RawBsonRef::Int32(value) => Int32(value),
            RawBsonRef::Int64(value) => Int64(value),
            RawBsonRef::Decimal128(value) => Self::Decimal(Decimal::from_bson(value)),
            _ => return None,
        })
    }

    /// The number as a value, of its own type.
    pub fn to_raw(self) -> RawBsonRef<'static> {
        match self {
            Double(value) => RawBsonRef::Double(value),
            Int32(value) => RawBsonRef::Int32(value),
            Int64(value) => RawBsonRef::Int64(value),
            Self::Decimal(value) => RawBsonRef::Decimal128(value.to_bson()),
        }
    }

    /// The sum; `None` if two integers overflow 64 bits (`$inc` fails then).
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.checked(other, i64::checked_add, |a, b| a + b, Decimal::add)
    }

    /// The difference; `None` if two integers overflow 64 bits.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked(other, i64::checked_sub, |a, b| a - b, Decimal::sub)
    }

    /// The product; `None` if two integers overflow 64 bits (`$mul` fails then).
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        self.checked(other, i64::checked_mul, |a, b| a * b, Decimal::mul)
    }

    /// The difference; a double if two integers overflow 64 bits.
    #[must_use]
    pub fn sub(self, other: Self) -> Self {
        self.checked_sub(other)
            .unwrap_or_else(|| Double(self.to_f64() - other.to_f64()))
    }

    /// The product; a double if two integers overflow 64 bits.
    #[must_use]
    pub fn mul(self, other: Self) -> Self {
        self.checked_mul(other)
            .unwrap_or_else(|| Double(self.to_f64() * other.to_f64()))
    }

    /// The quotient: a decimal if either operand is one, else a double. The caller checks for a zero divisor.
    #[must_use]
    pub fn div(self, other: Self) -> Self {
        self.inexact(other, |a, b| a / b, Decimal::div)
    }

    /// The remainder with the sign of `self`. The caller checks for a zero divisor.
    #[must_use]
    pub fn rem(self, other: Self) -> Self {
        match (self.to_i64_exact_type(), other.to_i64_exact_type()) {
            (Some(a), Some(b)) => {
                let rest = a.checked_rem(b).unwrap_or(0);
                match (self, other, i32::try_from(rest)) {
                    (Int32(_), Int32(_), Ok(rest)) => Int32(rest),
                    _ => Int64(rest),
                }
            }
            _ => self.inexact(other, |a, b| a % b, Decimal::rem),
        }
    }

    /// The magnitude; `None` for the smallest 64-bit integer.
    pub fn checked_abs(self) -> Option<Self> {
        Some(match self {
            Double(value) => Double(value.abs()),
            Int32(value) => value
                .checked_abs()
                .map_or(Int64(i64::from(value).abs()), Int32),
            Int64(value) => Int64(value.checked_abs()?),
            Self::Decimal(value) => Self::Decimal(value.abs()),
        })
    }

    /// The nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is wanted")]
    pub fn to_f64(self) -> f64 {
        match self {
            Double(value) => value,
            Int32(value) => f64::from(value),
            Int64(value) => value as f64,
            Self::Decimal(value) => value.to_f64(),
        }
    }

    /// The number as a decimal; a double is rounded to 15 digits, as mongod does.
    pub fn to_decimal(self) -> Decimal {
        match self {
            Double(value) => Decimal::from_f64(value),
            Int32(value) => Decimal::from_i64(i64::from(value)),
            Int64(value) => Decimal::from_i64(value),
            Self::Decimal(value) => value,
        }
    }

    /// The number as an integer, whatever its type; `None` for fractions, NaN and numbers beyond 64 bits.
    pub fn to_i64_exact(self) -> Option<i64> {
        let integer = self.to_i64_truncated()?;
        (self.compare(Int64(integer)) == Ordering::Equal).then_some(integer)
    }

    /// The integer part; `None` for NaN and numbers beyond 64 bits.
    pub fn to_i64_truncated(self) -> Option<i64> {
        match self {
            Int32(value) => Some(i64::from(value)),
            Int64(value) => Some(value),
            Double(value) => {
                let limit = 9_223_372_036_854_775_808.0;
                #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
                (value >= -limit && value < limit).then_some(value as i64)
            }
            Self::Decimal(value) => i64::try_from(value.to_i128()?).ok(),
        }
    }

    pub fn is_decimal(self) -> bool {
        matches!(self, Self::Decimal(_))
    }

    pub fn is_nan(self) -> bool {
        match self {
            Double(value) => value.is_nan(),
            Self::Decimal(value) => value.is_nan(),
            Int32(_) | Int64(_) => false,
        }
    }

    pub fn is_finite(self) -> bool {
        match self {
            Double(value) => value.is_finite(),
            Self::Decimal(value) => value.is_finite(),
            Int32(_) | Int64(_) => true,
        }
    }

    pub fn is_zero(self) -> bool {
        self.compare(Int32(0)) == Ordering::Equal
    }

    /// Compares by exact value across types. NaN equals itself and is below every other number.
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Int32(a), Int32(b)) => a.cmp(&b),
            (Int32(a), Int64(b)) => i64::from(a).cmp(&b),
            (Int64(a), Int32(b)) => a.cmp(&i64::from(b)),
            (Int64(a), Int64(b)) => a.cmp(&b),
            (Double(a), Double(b)) => compare_doubles(a, b),
            (Int32(a), Double(b)) => compare_doubles(f64::from(a), b),
            (Double(a), Int32(b)) => compare_doubles(a, f64::from(b)),
            (Int64(a), Double(b)) => compare_long_double(a, b),
            (Double(a), Int64(b)) => compare_long_double(b, a).reverse(),
            (Self::Decimal(a), Double(b)) => a.compare_f64(b),
            (Double(a), Self::Decimal(b)) => b.compare_f64(a).reverse(),
            (Self::Decimal(a), b) => a.compare(b.to_decimal()),
            (a, Self::Decimal(b)) => a.to_decimal().compare(b),
        }
    }

    /// The number rounded towards zero to a double, and whether the double is exact. Callers handle NaN themselves.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the bits that would be lost are cut off first"
    )]
    pub fn truncated(self) -> (f64, bool) {
        match self {
            Double(value) => (if value == 0.0 { 0.0 } else { value }, true),
            Int32(value) => (f64::from(value), true),
            Int64(value) => {
                let magnitude = value.unsigned_abs();
                let spare = 11u32.saturating_sub(magnitude.leading_zeros());
                let kept = magnitude >> spare << spare;
                let double = kept as f64;
                let double = if value < 0 { -double } else { double };
                (double, kept == magnitude)
            }
            Self::Decimal(value) => value.truncated(),
        }
    }

    fn to_i64_exact_type(self) -> Option<i64> {
        match self {
            Int32(value) => Some(i64::from(value)),
            Int64(value) => Some(value),
            Double(_) | Self::Decimal(_) => None,
        }
    }

    /// Applies `integers` to two integers: the result is 32 bits wide if both are and it fits, and `None` if it
    /// overflows 64 bits. Applies `decimal` or `double` to any other two numbers.
    fn checked(
        self,
        other: Self,
        integers: fn(i64, i64) -> Option<i64>,
        double: fn(f64, f64) -> f64,
        decimal: fn(Decimal, Decimal) -> Decimal,
    ) -> Option<Self> {
        let (Some(a), Some(b)) = (self.to_i64_exact_type(), other.to_i64_exact_type()) else {
            return Some(self.inexact(other, double, decimal));
        };
        let result = integers(a, b)?;
        Some(match (self, other) {
            (Int32(_), Int32(_)) => i32::try_from(result).map_or(Int64(result), Int32),
            _ => Int64(result),
        })
    }

    fn inexact(
        self,
        other: Self,
        double: fn(f64, f64) -> f64,
        decimal: fn(Decimal, Decimal) -> Decimal,
    ) -> Self {
        match (self, other) {
            (Self::Decimal(_), _) | (_, Self::Decimal(_)) => {
                Self::Decimal(decimal(self.to_decimal(), other.to_decimal()))
            }
            _ => Double(double(self.to_f64(), other.to_f64())),
        }
    }
}

/// NaN equals itself and is below every other double; the zeros are equal.
pub fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

fn compare_long_double(long: i64, double: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() {
        return Ordering::Greater;
    }
    if double >= LIMIT {
        return Ordering::Less;
    }
    if double < -LIMIT {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    let integer = double.trunc() as i64;
    long.cmp(&integer)
        .then_with(|| compare_doubles(0.0, double.fract()))
}

#[cfg(test)]
mod tests;
