//! The elementary functions, to more than 180 bits.
//!
//! Inverse functions start from the result for a double. The remaining difference is so small that a few terms of a
//! series are enough.

use super::Float256;

/// `1 / n!`.
const INVERSE_FACTORIALS: [Float256; 54] = {
    let mut terms = [Float256::ONE; 54];
    let mut n = 1;
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
    while n < terms.len() {
        terms[n] = terms[n - 1].over(n as u64);
        n += 1;
    }
    terms
};
/// The coefficients of the series in [`Float256::small_inverse_tangent`].
const INVERSE_ODDS: [Float256; 4] = [
    Float256::ONE,
    Float256::inverse(3),
    Float256::inverse(5),
    Float256::inverse(7),
];
/// The number of terms of the series for `e^x` with `|x| < 2^-9`.
const TERMS: usize = 18;
/// For magnitudes below `2^SMALL`, four terms of a series of odd powers are enough.
const SMALL: i32 = -40;

/// Whether the terms of a series alternate in sign (circular functions) or not (hyperbolic functions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signs {
    Alternate,
    Same,
}

impl Float256 {
    /// `e^self`, for magnitudes below `2^20`.
    pub(in crate::value::decimal) fn exp(self) -> Self {
        const HALVINGS: i32 = 9;
        let whole = (self / Self::LN_2).nearest();
        let rest = self - Self::LN_2 * Self::from_i32(whole);
        let small = rest.times_pow2(-HALVINGS);
        let mut result = horner(small, INVERSE_FACTORIALS.iter().take(TERMS));
        for _ in 0..HALVINGS {
            result = result * result;
        }
        result.times_pow2(whole)
    }

    /// The natural logarithm of a positive number.
    pub(in crate::value::decimal) fn ln(self) -> Self {
        // self = m * 2^whole with m near one
        let half = self.times_pow2(-self.exponent);
        let (m, whole) = if half.to_f64() < std::f64::consts::FRAC_1_SQRT_2 {
            (half.times_pow2(1), self.exponent - 1)
        } else {
            (half, self.exponent)
        };
        let guess = Self::from_f64(m.to_f64().ln());
        let power = if guess.is_zero() {
            Self::ONE
        } else {
            guess.exp()
        };
        let rest = ((m - power) / (m + power)).small_inverse_tangent(Signs::Same);
        Self::LN_2 * Self::from_i32(whole) + (guess + rest.times_pow2(1))
    }

    /// The natural logarithm of `1 + self`, for numbers above `-1`; accurate near zero, too.
    pub(in crate::value::decimal) fn ln_1p(self) -> Self {
        if self.exponent < SMALL {
            let part = self / (Self::TWO + self);
            return part.small_inverse_tangent(Signs::Same).times_pow2(1);
        }
        (Self::ONE + self).ln()
    }

    pub(in crate::value::decimal) fn sqrt(self) -> Self {
        if self.is_zero() {
            return self;
        }
        let half = self.exponent.div_euclid(2);
        let part = self.times_pow2(-2 * half);
        // Newton steps for the inverse root: 53, 106, 212 bits
        let mut inverse = Self::from_f64(part.to_f64().sqrt().recip());
        for _ in 0..2 {
            let rest = Self::ONE - part * inverse * inverse;
            inverse = inverse + (inverse * rest).times_pow2(-1);
        }
        // and one Newton step for the root
        let root = part * inverse;
        let root = root + (inverse * (part - root * root)).times_pow2(-1);
        root.times_pow2(half)
    }

    /// The sine of an angle below one.
    pub(in crate::value::decimal) fn sin(self) -> Self {
        self.odd_series(Signs::Alternate)
    }

    /// The cosine of an angle below one.
    pub(in crate::value::decimal) fn cos(self) -> Self {
        self.even_series(Signs::Alternate)
    }

    /// The hyperbolic sine of a magnitude of at most one.
    pub(in crate::value::decimal) fn sinh(self) -> Self {
        self.odd_series(Signs::Same)
    }

    /// The hyperbolic cosine of a magnitude of at most one.
    pub(in crate::value::decimal) fn cosh(self) -> Self {
        self.even_series(Signs::Same)
    }

    /// The hyperbolic tangent of a magnitude below `2^19`.
    pub(in crate::value::decimal) fn tanh(self) -> Self {
        if self.exponent < 1 {
            return self.sinh() / self.cosh();
        }
        let power = self.abs().times_pow2(1).exp();
        let result = Self::ONE - Self::TWO / (power + Self::ONE);
        if self.negative { -result } else { result }
    }

    pub(in crate::value::decimal) fn atan(self) -> Self {
        if self.negative {
            return -(-self).atan();
        }
        if self.exponent > 1 {
            return Self::PI.times_pow2(-1) - (Self::ONE / self).atan();
        }
        if self.exponent < SMALL {
            return self.small_inverse_tangent(Signs::Alternate);
        }
        let guess = Self::from_f64(self.to_f64().atan());
        let tangent = guess.sin() / guess.cos();
        let rest = (self - tangent) / (Self::ONE + self * tangent);
        guess + rest.small_inverse_tangent(Signs::Alternate)
    }

    /// The inverse sine of a magnitude below one.
    pub(in crate::value::decimal) fn asin(self) -> Self {
        (self / (Self::ONE - self * self).sqrt()).atan()
    }

    /// The inverse cosine of a magnitude below one.
    pub(in crate::value::decimal) fn acos(self) -> Self {
        Self::PI.times_pow2(-1) - self.asin()
    }

    pub(in crate::value::decimal) fn asinh(self) -> Self {
        if self.negative {
            return -(-self).asinh();
        }
        // asinh(x) = ln(1 + x + x²/(1 + √(1 + x²)))
        let square = self * self;
        let over = square / (Self::ONE + (Self::ONE + square).sqrt());
        (self + over).ln_1p()
    }

    /// The inverse hyperbolic cosine of a number above one.
    pub(in crate::value::decimal) fn acosh(self) -> Self {
        (self + (self * self - Self::ONE).sqrt()).ln()
    }

    /// `x ± x³/3 + x⁵/5 ± …`, for small magnitudes.
    fn small_inverse_tangent(self, signs: Signs) -> Self {
        self * horner(self.signed_square(signs), INVERSE_ODDS.iter())
    }

    /// `x ± x³/3! + x⁵/5! ± …`
    fn odd_series(self, signs: Signs) -> Self {
        let terms = INVERSE_FACTORIALS.iter().skip(1).step_by(2);
        self * horner(self.signed_square(signs), terms)
    }

    /// `1 ± x²/2! + x⁴/4! ± …`
    fn even_series(self, signs: Signs) -> Self {
        horner(
            self.signed_square(signs),
            INVERSE_FACTORIALS.iter().step_by(2),
        )
    }

    fn signed_square(self, signs: Signs) -> Self {
        let square = self * self;
        match signs {
            Signs::Alternate => -square,
            Signs::Same => square,
        }
    }

    /// The nearest integer, for magnitudes that an `i32` holds.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the caller knows the range"
    )]
    fn nearest(self) -> i32 {
        if self.is_zero() {
            return 0;
        }
        self.to_f64().round() as i32
    }

    fn from_i32(value: i32) -> Self {
        Self::scaled(value < 0, u128::from(value.unsigned_abs()), 128)
    }
}

/// `terms[0] + x * (terms[1] + x * (…))`.
fn horner<'a>(x: Float256, terms: impl DoubleEndedIterator<Item = &'a Float256>) -> Float256 {
    terms
        .rev()
        .fold(Float256::ZERO, |sum, &term| sum * x + term)
}
