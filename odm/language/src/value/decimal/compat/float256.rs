//! Floating-point numbers of 256 bits, for computations whose results are rounded to [`Binary128`](super::binary128::Binary128).
//!
//! Operations truncate: a result is at most a few units of the last bit too small. Sums and products of numbers of at
//! most 128 bits are exact if they fit.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::value::u256::Uint256;

mod functions;

/// `mantissa * 2^(exponent - 256)`. The first bit of the mantissa is set, unless the mantissa is zero.
#[derive(Debug, Clone, Copy)]
pub(in crate::value::decimal) struct Float256 {
    negative: bool,
    exponent: i32,
    mantissa: Uint256,
}

impl Float256 {
    pub(in crate::value::decimal) const ZERO: Self = Self {
        negative: false,
        exponent: 0,
        mantissa: Uint256::ZERO,
    };
    pub(in crate::value::decimal) const ONE: Self = Self::integer(1);
    pub(in crate::value::decimal) const TWO: Self = Self::integer(2);
    pub(in crate::value::decimal) const PI: Self = Self::constant(
        2,
        0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1,
        0x2902_4e08_8a67_cc74_020b_bea6_3b13_9b22,
    );
    pub(in crate::value::decimal) const LN_2: Self = Self::constant(
        0,
        0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af,
        0x40f3_4326_7298_b62d_8a0d_175b_8baa_fa2c,
    );
    pub(in crate::value::decimal) const LN_10: Self = Self::constant(
        2,
        0x935d_8ddd_aaa8_ac16_ea56_d62b_82d3_0a28,
        0xe28f_ecf9_da5d_f90e_83c6_1e82_01f0_2d73,
    );

    const fn constant(exponent: i32, high: u128, low: u128) -> Self {
        Self {
            negative: false,
            exponent,
            mantissa: Uint256::new(high, low),
        }
    }

    pub(in crate::value::decimal) const fn integer(value: u128) -> Self {
        Self::scaled(false, value, 128)
    }

    /// `mantissa * 2^(exponent - 128)`.
    pub(in crate::value::decimal) const fn scaled(
        negative: bool,
        mantissa: u128,
        exponent: i32,
    ) -> Self {
        Self::normal(negative, Uint256::new(mantissa, 0), exponent)
    }

    /// A number below one, from its first 256 bits after the point.
    pub(in crate::value::decimal) const fn fraction(negative: bool, bits: Uint256) -> Self {
        Self::normal(negative, bits, 0)
    }

    const fn normal(negative: bool, mantissa: Uint256, exponent: i32) -> Self {
        if mantissa.is_zero() {
            return Self::ZERO;
        }
        let zeros = mantissa.leading_zeros();
        Self {
            negative,
            exponent: exponent - zeros.cast_signed(),
            mantissa: mantissa.shl(zeros),
        }
    }

    /// One divided by a nonzero 64-bit number.
    const fn inverse(divisor: u64) -> Self {
        Self::ONE.over(divisor)
    }

    const fn over(self, divisor: u64) -> Self {
        Self::normal(self.negative, self.mantissa.over(divisor), self.exponent)
    }

    pub(in crate::value::decimal) const fn is_zero(self) -> bool {
        self.mantissa.is_zero()
    }

    pub(in crate::value::decimal) const fn is_negative(self) -> bool {
        self.negative
    }

    /// The exponent of the smallest power of two above the magnitude.
    pub(in crate::value::decimal) const fn exponent(self) -> i32 {
        self.exponent
    }

    pub(in crate::value::decimal) const fn mantissa(self) -> Uint256 {
        self.mantissa
    }

    pub(in crate::value::decimal) const fn abs(self) -> Self {
        Self {
            negative: false,
            ..self
        }
    }

    /// The product with a power of two.
    pub(in crate::value::decimal) const fn times_pow2(self, power: i32) -> Self {
        Self {
            exponent: self.exponent + power,
            ..self
        }
    }

    /// `5^power`; exact if 256 bits hold it.
    pub(in crate::value::decimal) fn pow5(power: u32) -> Self {
        let mut result = Self::ONE;
        let mut square = Self::integer(5);
        let mut left = power;
        while left > 0 {
            if left % 2 == 1 {
                result = result * square;
            }
            square = square * square;
            left /= 2;
        }
        result
    }

    /// Compares the magnitudes.
    pub(in crate::value::decimal) fn compare(self, other: Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa)),
        }
    }

    /// The number as a double, for numbers within a double's range.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the first bits are what is wanted"
    )]
    fn to_f64(self) -> f64 {
        let top = (self.mantissa.high() >> 64) as f64;
        let magnitude = top * 2f64.powi(self.exponent - 64);
        if self.negative { -magnitude } else { magnitude }
    }

    /// Converts a finite double; subnormal doubles become zero.
    fn from_f64(value: f64) -> Self {
        let bits = value.to_bits();
        let exponent = i32::try_from(bits >> 52 & 0x7FF).unwrap_or(0);
        if exponent == 0 {
            return Self::ZERO;
        }
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        Self::scaled(value < 0.0, mantissa, exponent - 1075 + 128)
    }
}

impl Neg for Float256 {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            negative: !self.negative && !self.is_zero(),
            ..self
        }
    }
}

impl Add for Float256 {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (large, small) = match self.compare(other) {
            Ordering::Less => (other, self),
            Ordering::Equal | Ordering::Greater => (self, other),
        };
        if small.is_zero() {
            return large;
        }
        let gap = (large.exponent - small.exponent).unsigned_abs();
        let aligned = small.mantissa.shr(gap);
        if large.negative != small.negative {
            let rest = large.mantissa.minus(aligned);
            return Self::normal(large.negative, rest, large.exponent);
        }
        let sum = large.mantissa.plus(aligned);
        if sum >= large.mantissa {
            return Self {
                mantissa: sum,
                ..large
            };
        }
        Self {
            negative: large.negative,
            exponent: large.exponent + 1,
            mantissa: sum.shr(1).plus(Uint256::new(1 << 127, 0)),
        }
    }
}

impl Sub for Float256 {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Float256 {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.mantissa, other.mantissa);
        // the product of the low halves is below the last bit
        let product = Uint256::product(a.high(), b.high())
            .plus(Uint256::new(0, Uint256::product(a.high(), b.low()).high()))
            .plus(Uint256::new(0, Uint256::product(a.low(), b.high()).high()));
        Self::normal(
            self.negative != other.negative,
            product,
            self.exponent + other.exponent,
        )
    }
}

impl Div for Float256 {
    type Output = Self;

    /// Divides by a nonzero number.
    fn div(self, other: Self) -> Self {
        // Newton steps for the inverse of the mantissa: 53, 106, 212 bits
        let divisor = other.times_pow2(-other.exponent).abs();
        let mut inverse = Self::from_f64(divisor.to_f64().recip());
        for _ in 0..2 {
            inverse = inverse + inverse * (Self::ONE - divisor * inverse);
        }
        // and one Newton step for the quotient
        let quotient = self * inverse;
        let quotient = quotient + inverse * (self - divisor * quotient);
        let result = quotient.times_pow2(-other.exponent);
        if other.negative { -result } else { result }
    }
}

#[cfg(test)]
mod tests;
