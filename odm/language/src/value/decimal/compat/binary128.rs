//! IEEE 754 binary128 numbers (113 bits), with which MongoDB computes the functions of decimals.
//!
//! Operations round as MongoDB's decimal library does: they truncate a result to 128 bits and round those to 113,
//! halves away from zero. There are no infinities, because no operation here overflows; only [`Binary128::from_decimal`]
//! can underflow.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::value::decimal::compat::float256::Float256;
use crate::value::decimal::{DIGITS, Decimal, round};
use crate::value::u256::{Uint256, pow10};

const DIGITS_2: u32 = 113;
/// The bits of a 128-bit mantissa that rounding drops.
const SPARE: u32 = 128 - DIGITS_2;
/// `2^LEAST` is the smallest number.
const LEAST: i32 = -16494;

/// `mantissa * 2^(exponent - 128)`. The first bit of the mantissa is set, unless the mantissa is zero; its last 15 bits
/// are zero.
#[derive(Debug, Clone, Copy)]
pub(in crate::value::decimal) struct Binary128 {
    negative: bool,
    exponent: i32,
    mantissa: u128,
}

impl Binary128 {
    pub(in crate::value::decimal) const ONE: Self = Self::integer(1);

    /// An integer of at most 113 bits.
    pub(in crate::value::decimal) const fn integer(value: u128) -> Self {
        let zeros = value.leading_zeros();
        Self {
            negative: false,
            exponent: if value == 0 {
                0
            } else {
                128 - zeros.cast_signed()
            },
            mantissa: if value == 0 { 0 } else { value << zeros },
        }
    }

    const fn zero(negative: bool) -> Self {
        Self {
            negative,
            exponent: 0,
            mantissa: 0,
        }
    }

    /// Rounds to 113 bits, halves away from zero.
    pub(in crate::value::decimal) fn from_real(value: Float256) -> Self {
        Self::rounded(
            value.is_negative(),
            value.mantissa().high(),
            value.exponent(),
        )
    }

    /// Like [`Self::from_real`], for logarithms: MongoDB's library is one unit of the 128th bit lower. This matters
    /// when the number lies half way between two others, as is common for logarithms near zero.
    pub(in crate::value::decimal) fn from_logarithm(value: Float256) -> Self {
        let mantissa = value.mantissa().high().saturating_sub(1);
        Self::rounded(value.is_negative(), mantissa, value.exponent())
    }

    /// Rounds a 128-bit mantissa whose first bit is set, or that is zero.
    fn rounded(negative: bool, mantissa: u128, exponent: i32) -> Self {
        const HALF: u128 = 1 << (SPARE - 1);
        match mantissa.checked_add(HALF) {
            Some(sum) => Self {
                negative,
                exponent,
                mantissa: sum >> SPARE << SPARE,
            },
            None => Self {
                negative,
                exponent: exponent + 1,
                mantissa: 1 << 127,
            },
        }
    }

    /// Normalizes and rounds a 128-bit mantissa that may begin with zeros.
    fn normal(negative: bool, mantissa: u128, exponent: i32) -> Self {
        if mantissa == 0 {
            return Self::zero(false);
        }
        let zeros = mantissa.leading_zeros();
        Self::rounded(negative, mantissa << zeros, exponent - zeros.cast_signed())
    }

    /// The nearest number, with halves rounded to even; zero for infinities and NaN.
    pub(in crate::value::decimal) fn from_decimal(value: Decimal) -> Self {
        let exact = real(value);
        let (high, low) = (exact.mantissa().high(), exact.mantissa().low());
        let negative = value.is_negative();
        // numbers near zero (subnormals) have fewer bits
        let kept = (exact.exponent() - LEAST).clamp(-1, DIGITS_2.cast_signed());
        let Ok(kept) = u32::try_from(kept) else {
            return Self::zero(negative);
        };
        let whole = high.checked_shr(128 - kept).unwrap_or(0);
        let mantissa = whole.checked_shl(128 - kept).unwrap_or(0);
        let rest = Uint256::new(high - mantissa, low);
        let is_up = match rest.cmp(&Uint256::new(1 << (127 - kept), 0)) {
            Ordering::Less => false,
            Ordering::Equal => whole % 2 == 1,
            Ordering::Greater => true,
        };
        let unit = 1u128.checked_shl(128 - kept).filter(|_| is_up);
        let (mantissa, exponent) = match (is_up, unit.and_then(|unit| mantissa.checked_add(unit))) {
            (false, _) => (mantissa, exact.exponent()),
            (true, Some(sum)) => (sum, exact.exponent()),
            (true, None) => (1 << 127, exact.exponent() + 1),
        };
        if mantissa == 0 {
            return Self::zero(negative);
        }
        Self {
            negative,
            exponent,
            mantissa,
        }
    }

    /// The number truncated to 113 bits, and the part that was cut off.
    pub(in crate::value::decimal) fn from_decimal_in_two(value: Decimal) -> (Self, Self) {
        let exact = real(value);
        let high = Self {
            negative: exact.is_negative(),
            exponent: exact.exponent(),
            mantissa: exact.mantissa().high() >> SPARE << SPARE,
        };
        (high, Self::from_real(exact - high.real()))
    }

    pub(in crate::value::decimal) fn real(self) -> Float256 {
        Float256::scaled(self.negative, self.mantissa, self.exponent)
    }

    /// The first bits of a fraction; the others are cut off.
    pub(in crate::value::decimal) fn from_fraction(negative: bool, bits: Uint256) -> Self {
        let normal = Float256::fraction(negative, bits);
        Self {
            negative,
            exponent: normal.exponent(),
            mantissa: normal.mantissa().high() >> SPARE << SPARE,
        }
    }

    /// A function of the number, rounded.
    pub(in crate::value::decimal) fn map(
        self,
        function: impl FnOnce(Float256) -> Float256,
    ) -> Self {
        Self::from_real(function(self.real()))
    }

    /// The nearest decimal of 34 digits. An exact result has no more digits than it needs.
    pub(in crate::value::decimal) fn to_decimal(self) -> Decimal {
        if self.mantissa == 0 {
            return Decimal::finite(self.negative, 0, 0);
        }
        // the number is odd * 2^power
        let zeros = self.mantissa.trailing_zeros();
        let mut odd = self.mantissa >> zeros;
        let power = self.exponent - 128 + zeros.cast_signed();
        if power >= 0 && power.unsigned_abs() <= odd.leading_zeros() {
            let whole = odd << power;
            if whole < pow10(DIGITS) {
                return Decimal::finite(self.negative, whole, 0);
            }
        }
        if power < 0
            && let Some(fives) = 5u128.checked_pow(power.unsigned_abs())
            && let Some(coefficient) = odd.checked_mul(fives)
            && coefficient < pow10(DIGITS)
        {
            return Decimal::finite(self.negative, coefficient, power);
        }
        // in units of 10^exponent it has 35 or 36 digits in front of the point
        let digits = f64::from(self.exponent) * std::f64::consts::LOG10_2;
        #[expect(clippy::cast_possible_truncation, reason = "exponents have few digits")]
        let exponent = digits.ceil() as i32 - DIGITS.cast_signed() - 2;
        let mut fives = exponent;
        // cancels factors of five, so that a division without remainder is exact
        while fives > 0 && odd.is_multiple_of(5) {
            odd /= 5;
            fives -= 1;
        }
        let scale = Float256::pow5(fives.unsigned_abs());
        let scaled = if fives > 0 {
            Float256::integer(odd) / scale
        } else {
            Float256::integer(odd) * scale
        };
        let scaled = scaled.times_pow2(power - exponent);
        let before = scaled.exponent().unsigned_abs();
        let is_cut = !scaled.mantissa().shl(before).is_zero();
        let whole = scaled.mantissa().shr(256 - before);
        round(self.negative, whole, exponent, is_cut)
    }

    pub(in crate::value::decimal) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    pub(in crate::value::decimal) fn is_negative(self) -> bool {
        self.negative
    }

    pub(in crate::value::decimal) fn abs(self) -> Self {
        Self {
            negative: false,
            ..self
        }
    }

    /// Compares the magnitudes.
    pub(in crate::value::decimal) fn compare(self, other: Self) -> Ordering {
        self.real().compare(other.real())
    }
}

impl Neg for Binary128 {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            negative: !self.negative,
            ..self
        }
    }
}

impl Add for Binary128 {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Self::zero(self.negative && other.negative),
            (true, false) => return other,
            (false, true) => return self,
            (false, false) => {}
        }
        let (large, small) = if self.exponent < other.exponent {
            (other, self)
        } else {
            (self, other)
        };
        let gap = (large.exponent - small.exponent).unsigned_abs();
        let aligned = small.mantissa.checked_shr(gap).unwrap_or(0);
        if large.negative == small.negative {
            let (sum, is_over) = large.mantissa.overflowing_add(aligned);
            return if is_over {
                Self::rounded(large.negative, sum >> 1 | 1 << 127, large.exponent + 1)
            } else {
                Self::rounded(large.negative, sum, large.exponent)
            };
        }
        match large.mantissa.checked_sub(aligned) {
            Some(rest) => Self::normal(large.negative, rest, large.exponent),
            None => Self::normal(small.negative, aligned - large.mantissa, large.exponent),
        }
    }
}

impl Sub for Binary128 {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Binary128 {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        const LOW: u128 = u64::MAX as u128;
        let (a, b) = (self.mantissa, other.mantissa);
        // the product of the low halves is left out
        let product = (a >> 64) * (b >> 64)
            + (((a >> 64) * (b & LOW)) >> 64)
            + (((a & LOW) * (b >> 64)) >> 64);
        Self::normal(
            self.negative != other.negative,
            product,
            self.exponent + other.exponent,
        )
    }
}

impl Div for Binary128 {
    type Output = Self;

    /// Divides by a nonzero number.
    fn div(self, other: Self) -> Self {
        Self::from_real(self.real() / other.real())
    }
}

/// Converts a finite decimal; exact if 256 bits can hold it.
fn real(value: Decimal) -> Float256 {
    let Some((mut coefficient, exponent)) = value.parts() else {
        return Float256::ZERO;
    };
    let mut fives = exponent;
    while fives < 0 && coefficient.is_multiple_of(5) && coefficient != 0 {
        coefficient /= 5;
        fives += 1;
    }
    let scale = Float256::pow5(fives.unsigned_abs());
    let magnitude = if fives < 0 {
        Float256::integer(coefficient) / scale
    } else {
        Float256::integer(coefficient) * scale
    };
    let magnitude = magnitude.times_pow2(exponent);
    if value.is_negative() {
        -magnitude
    } else {
        magnitude
    }
}
