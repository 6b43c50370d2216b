//! `$pow` of decimals.

use crate::value::decimal::compat::float256::Float256;
use crate::value::decimal::{DIGITS, Decimal};
use crate::value::u256::pow10;

/// The parity of an integer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parity {
    Even,
    Odd,
}

impl Decimal {
    /// `self^exponent`, padded to 34 digits.
    #[must_use]
    pub fn pow(self, exponent: Self) -> Self {
        let is = |n| self.compare(Self::from_i64(n)).is_eq();
        let power = if is(10) {
            exponent.exp10()
        } else if exponent.is_zero() || is(1) {
            Self::ONE
        } else if self.is_nan() || exponent.is_nan() {
            Self::NAN
        } else if is(2) {
            exponent.exp2()
        } else {
            self.power(exponent)
        };
        // pads the result to 34 digits and clears the sign of a zero
        power.add(Self::NOTHING)
    }

    /// `self^exponent` for a base that is neither NaN nor one and an exponent that is neither NaN nor zero.
    fn power(self, exponent: Self) -> Self {
        let is_small = self.abs().compare(Self::ONE).is_lt();
        if !exponent.is_finite() {
            return match (
                self.abs().compare(Self::ONE).is_eq(),
                is_small == exponent.negative,
            ) {
                (true, _) => Self::ONE,
                (false, true) => Self::infinity(false),
                (false, false) => Self::ZERO,
            };
        }
        let whole = exponent.whole();
        let negative = self.negative && whole == Some(Parity::Odd);
        if !self.is_finite() || self.is_zero() {
            let magnitude = if self.is_zero() == exponent.negative {
                Self::infinity(false)
            } else {
                Self::ZERO
            };
            return magnitude.signed(negative);
        }
        if self.negative && whole.is_none() {
            return Self::NAN;
        }
        // the logarithm in two parts, times the exponent
        let (high, low) = self.abs().ln_in_two();
        let product = exponent.mul(high);
        let rest = exponent.times_plus(high, product.neg());
        let rest = exponent.times_plus(low, rest);
        let power = product.exp();
        if power.is_zero() || !power.is_finite() {
            // infinities lose their sign, as zeros do
            return power;
        }
        power.times_plus(rest, power).signed(negative)
    }

    /// The parity of the number if it is an integer.
    fn whole(self) -> Option<Parity> {
        let (coefficient, exponent) = self.parts()?;
        let is_odd = if exponent > 0 {
            false
        } else {
            let places = exponent.unsigned_abs();
            if places >= DIGITS {
                return None;
            }
            let unit = pow10(places);
            if !coefficient.is_multiple_of(unit) {
                return None;
            }
            coefficient / unit % 2 == 1
        };
        Some(if is_odd { Parity::Odd } else { Parity::Even })
    }

    /// The natural logarithm in two parts: 28 digits after the point, and the next 19.
    fn ln_in_two(self) -> (Self, Self) {
        const PLACES: u32 = 28;
        const MORE: u32 = 19;
        let Some((coefficient, exponent)) = self.parts() else {
            return (self, Self::ZERO);
        };
        let tens = Float256::integer(exponent.unsigned_abs().into()) * Float256::LN_10;
        let digits = Float256::integer(coefficient).ln();
        let logarithm = if exponent < 0 {
            digits - tens
        } else {
            digits + tens
        };
        let negative = logarithm.is_negative();
        // in units of the 28th place, with 64 bits after the point
        let scaled = logarithm.abs() * Float256::integer(pow10(PLACES));
        let bits = u32::try_from(scaled.exponent() + 64).unwrap_or(0);
        let scaled = scaled.mantissa().shr(256 - bits);
        let high = scaled.shr(64).low();
        if high >> 64 < 2 {
            return self.ln_next_to_one();
        }
        let below = scaled.low() & u128::from(u64::MAX);
        let low = (below * pow10(MORE)) >> 64;
        let places = PLACES.cast_signed();
        let more = (PLACES + MORE).cast_signed();
        (
            Self::finite(negative, high, -places),
            Self::finite(negative, low, -more),
        )
    }

    /// The natural logarithm in two parts, for numbers near one, from the first terms of the series.
    fn ln_next_to_one(self) -> (Self, Self) {
        const HALF: Decimal = Decimal::finite(true, 5, -1);
        const THIRD: Decimal = Decimal::finite(false, pow10(DIGITS) / 3, -34);
        const QUARTER: Decimal = Decimal::finite(true, 25, -2);
        let first = self.sub(Self::ONE);
        let square = first.mul(first);
        let cube = first.mul(square);
        let rest = HALF
            .mul(square)
            .add(THIRD.mul(cube))
            .add(QUARTER.mul(first.mul(cube)));
        let high = first.add(rest);
        (high, high.sub(first).sub(rest))
    }
}
