//! `$sinh`, `$cosh`, `$tanh` and their inverses, with the same digits as mongod; see [`Binary128`] for the reason for the
//! intermediate rounding.

use std::cmp::Ordering;

use crate::value::decimal::compat::binary128::Binary128;
use crate::value::decimal::compat::exponential::EXP_11000;
use crate::value::decimal::compat::float256::Float256;
use crate::value::decimal::compat::trigonometric::{SPECK, is_speck};
use crate::value::decimal::{DIGITS, Decimal};

const HALF: Decimal = Decimal::finite(false, 5, -1);

/// The odd or the even part of `e^x`: `sinh` or `cosh`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Odd,
    Even,
}

impl Decimal {
    #[must_use]
    pub fn sinh(self) -> Self {
        self.hyperbolic(Part::Odd)
    }

    #[must_use]
    pub fn cosh(self) -> Self {
        self.hyperbolic(Part::Even)
    }

    fn hyperbolic(self, part: Part) -> Self {
        /// Results for larger magnitudes overflow a decimal.
        const LIMIT: Decimal = Decimal::finite(false, 20000, 0);
        let negative = self.negative && part == Part::Odd;
        if self.is_nan() {
            return Self::NAN;
        }
        if self.abs().compare(LIMIT).is_gt() {
            return Self::infinity(negative);
        }
        let number = Binary128::from_decimal(self);
        if is_speck(number) || number.compare(Binary128::from_decimal(SPECK)).is_eq() {
            return match part {
                Part::Odd => self.times_plus(SPECK, self),
                Part::Even => Self::ONE.add(SPECK),
            };
        }
        let is_at_most = |n| number.compare(Binary128::integer(n)).is_le();
        if is_at_most(1) {
            return match part {
                Part::Odd => number.map(Float256::sinh),
                Part::Even => number.map(Float256::cosh),
            }
            .to_decimal();
        }
        if is_at_most(64) {
            let power = self.abs().exp();
            let inverse = Self::ONE.div(power);
            let inverse = match part {
                Part::Odd => HALF.neg().mul(inverse),
                Part::Even => HALF.mul(inverse),
            };
            return power.times_plus(HALF, inverse).signed(negative);
        }
        self.abs().half_exp(part).signed(negative)
    }

    /// Half of `e^self`, for numbers from 64 to 20000.
    fn half_exp(self, part: Part) -> Self {
        /// Adding and subtracting this rounds to an integer.
        const SHIFTER: Decimal =
            Decimal::finite(false, 1_100_000_000_000_000_000_000_000_000_000_000, 0);
        let whole = self.add(SHIFTER).sub(SHIFTER);
        let rest = Binary128::from_decimal(self.sub(whole)).map(Float256::exp);
        let whole = Binary128::from_decimal(whole);
        let half = Binary128::from_real(Float256::ONE.times_pow2(-1));
        let far = Binary128::integer(11000);
        let is_far = whole.compare(far) == Ordering::Greater;
        let near = if is_far { whole - far } else { whole };
        let power = near.map(Float256::exp);
        let power = match part {
            Part::Odd => power * rest * half,
            Part::Even => power * half * rest,
        };
        let power = power.to_decimal();
        if is_far { power.mul(EXP_11000) } else { power }
    }

    #[must_use]
    pub fn tanh(self) -> Self {
        /// The result for larger magnitudes is one.
        const LIMIT: Decimal = Decimal::finite(false, 1000, 0);
        if self.is_nan() {
            return Self::NAN;
        }
        if self.abs().compare(LIMIT).is_gt() {
            return Self::ONE.signed(self.negative);
        }
        let number = Binary128::from_decimal(self);
        if is_speck(number) {
            return self.shortened();
        }
        number.map(Float256::tanh).to_decimal()
    }

    #[must_use]
    pub fn asinh(self) -> Self {
        if self.is_zero() {
            return Self::NOTHING.signed(self.negative);
        }
        match self.parts() {
            None => self,
            Some(_) if self.is_beyond_units() => self.ln_of_double().signed(self.negative),
            Some(_) => {
                let number = Binary128::from_decimal(self);
                number
                    .map(Float256::asinh)
                    .to_decimal()
                    .signed(self.negative)
            }
        }
    }

    /// The inverse hyperbolic cosine of a number that is at least one.
    #[must_use]
    pub fn acosh(self) -> Self {
        /// `33 / 32`
        const NEAR_ONE: Decimal = Decimal::finite(false, 103_125, -5);
        if !self.is_finite() {
            return self;
        }
        if self.compare(NEAR_ONE).is_lt() {
            let root = self.times_plus(self, Self::ONE.neg()).sqrt();
            return Binary128::from_decimal(root)
                .map(Float256::asinh)
                .to_decimal();
        }
        if self.is_beyond_units() {
            return self.ln_of_double();
        }
        Binary128::from_decimal(self)
            .map(Float256::acosh)
            .to_decimal()
    }

    /// The inverse hyperbolic tangent of a number from -1 to 1.
    #[must_use]
    pub fn atanh(self) -> Self {
        if self.is_zero() {
            return Self::NOTHING.signed(self.negative);
        }
        match self.parts() {
            None => return Self::NAN,
            Some((_, exponent)) if exponent <= -51 => return self,
            Some(_) => {}
        }
        let rest = Self::ONE.sub(self.abs());
        if rest.is_zero() {
            return Self::infinity(self.negative);
        }
        let ratio = self.abs().div(rest);
        let half = Binary128::from_real(Float256::ONE.times_pow2(-1));
        let logarithm = Binary128::from_decimal(ratio.add(ratio)).map(Float256::ln_1p);
        (logarithm * half).to_decimal().signed(self.negative)
    }

    /// Whether the number is so large that adding one does not change it.
    fn is_beyond_units(self) -> bool {
        self.parts()
            .is_some_and(|(_, exponent)| exponent > DIGITS.cast_signed())
    }

    /// The natural logarithm of twice the magnitude, for numbers whose exponent is not negative.
    fn ln_of_double(self) -> Self {
        let Some((coefficient, exponent)) = self.parts() else {
            return self;
        };
        let digits = Binary128::from_decimal(Self::finite(false, coefficient, 0));
        let tens = Binary128::integer(exponent.unsigned_abs().into());
        let tens = tens * Binary128::from_real(Float256::LN_10);
        (tens + (digits + digits).map(Float256::ln)).to_decimal()
    }
}
