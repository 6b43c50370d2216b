//! Powers of e, 2 and 10, and logarithms, with the same digits as mongod.
//!
//! Intermediate results are rounded to [`Binary128`] in the same places as in MongoDB's library, because the last of 34
//! digits depends on it. For the same reason, numbers beyond the range of binary128 are split in the same way.

use std::cmp::Ordering;

use crate::value::decimal::compat::binary128::Binary128;
use crate::value::decimal::compat::float256::Float256;
use crate::value::decimal::{Decimal, round};
use crate::value::u256::Uint256;

/// The parameters in which [`Decimal::exp`] and [`Decimal::exp2`] differ.
struct Exponential {
    power: fn(Float256) -> Float256,
    /// The derivative of the power, divided by the power; `None` stands for 1.
    slope: Option<fn() -> Binary128>,
    /// Exponents of a larger magnitude overflow or underflow.
    limit: u128,
    /// The powers for the exponents 11000 and -11000.
    far: [Decimal; 2],
}

/// The part that is split off an exponent whose power is beyond the range of binary128.
const FAR: u128 = 11000;

const EXP: Exponential = Exponential {
    power: Float256::exp,
    slope: None,
    limit: 15000,
    far: [
        EXP_11000,
        // the last digit is the one that mongod computes
        Decimal::finite(false, 5_763_669_429_168_183_696_272_822_960_961_269, -4811),
    ],
};
pub(in crate::value::decimal) const EXP_11000: Decimal =
    Decimal::finite(false, 1_735_005_819_277_738_509_638_425_077_349_642, 4744);

const EXP2: Exponential = Exponential {
    power: |x| (x * Float256::LN_2).exp(),
    slope: Some(|| Binary128::from_real(Float256::LN_2)),
    limit: 25000,
    far: [
        Decimal::finite(false, 2_137_727_301_617_594_663_994_741_880_109_512, 3278),
        Decimal::finite(false, 4_677_865_129_211_340_627_076_550_713_009_785, -3345),
    ],
};

/// The base of a logarithm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    E,
    Two,
    Ten,
}

/// Numbers above `10^HUGE` or below `10^-HUGE` are scaled by this power before their logarithm is computed.
const HUGE: i32 = 4464;

impl Decimal {
    /// `e^self`.
    #[must_use]
    pub fn exp(self) -> Self {
        EXP.of(self)
    }

    /// `2^self`.
    pub(in crate::value::decimal) fn exp2(self) -> Self {
        EXP2.of(self)
    }

    /// `10^self`, except that `10^0` is zero, as in mongod.
    pub(in crate::value::decimal) fn exp10(self) -> Self {
        const LIMIT: u32 = 6400;
        if self.is_nan() {
            return Self::NAN;
        }
        if self.is_zero() {
            return Self::NOTHING;
        }
        let limit = Self::finite(false, LIMIT.into(), 0);
        if self.abs().compare(limit).is_gt() {
            return if self.negative {
                Self::NOTHING
            } else {
                Self::infinity(false)
            };
        }
        let whole = self.to_i64_rounded();
        let rest = self.sub(Self::from_i64(whole));
        let power = Binary128::from_decimal(rest).map(|x| (x * Float256::LN_10).exp());
        let shift = i32::try_from(whole).unwrap_or(0);
        match power.to_decimal().parts() {
            Some((coefficient, exponent)) => {
                round(false, Uint256::new(0, coefficient), exponent + shift, false)
            }
            None => Self::NAN,
        }
    }

    /// The natural logarithm of a positive number.
    #[must_use]
    pub fn ln(self) -> Self {
        self.logarithm(Base::E)
    }

    /// The decimal logarithm of a positive number.
    #[must_use]
    pub fn log10(self) -> Self {
        self.logarithm(Base::Ten)
    }

    /// The logarithm to a base. For bases other than 2 and 10, mongod divides the natural logarithm by the base itself.
    #[must_use]
    pub fn log(self, base: Self) -> Self {
        let is = |n| base.compare(Self::from_i64(n)).is_eq();
        if is(2) {
            self.logarithm(Base::Two)
        } else if is(10) {
            self.log10()
        } else {
            self.ln().div(base)
        }
    }

    fn logarithm(self, base: Base) -> Self {
        if !self.is_finite() {
            return self;
        }
        let [up, down] = [HUGE, -HUGE].map(|power| Self::finite(false, 1, power));
        let result = if self.compare(up).is_gt() {
            base.of(Binary128::from_decimal(self.mul(down))) + base.of_huge()
        } else if self.compare(down).is_lt() {
            base.of(Binary128::from_decimal(self.mul(up))) - base.of_huge()
        } else {
            base.of_ordinary(self)
        };
        result.to_decimal()
    }
}

impl Exponential {
    fn of(&self, exponent: Decimal) -> Decimal {
        if exponent.is_nan() {
            return Decimal::NAN;
        }
        if exponent.is_zero() {
            return Decimal::ONE;
        }
        let limit = Decimal::finite(false, self.limit, 0);
        if exponent.abs().compare(limit).is_gt() {
            return match (exponent.negative, exponent.is_finite()) {
                (false, _) => Decimal::infinity(false),
                (true, false) => Decimal::ZERO,
                (true, true) => Decimal::NOTHING,
            };
        }
        let (high, low) = Binary128::from_decimal_in_two(exponent);
        let [up, down] = self.far;
        let far = Binary128::integer(FAR);
        match (high.compare(far), high.is_negative()) {
            (Ordering::Greater, false) => self.near(high - far, low).mul(up),
            (Ordering::Greater, true) => self.near(high + far, low).mul(down),
            _ => self.near(high, low),
        }
    }

    fn near(&self, high: Binary128, low: Binary128) -> Decimal {
        let power = high.map(self.power);
        let slope = self.slope.map_or(power, |slope| power * slope());
        (power + slope * low).to_decimal()
    }
}

impl Base {
    /// The logarithm of a number; for base 10 the natural one, which [`Self::scaled`] converts.
    fn unscaled(self, number: Binary128) -> Binary128 {
        let natural = number.real().ln();
        Binary128::from_logarithm(match self {
            Self::E | Self::Ten => natural,
            Self::Two => natural / Float256::LN_2,
        })
    }

    fn scaled(self, logarithm: Binary128) -> Binary128 {
        match self {
            Self::E | Self::Two => logarithm,
            Self::Ten => logarithm * Binary128::from_real(Float256::ONE / Float256::LN_10),
        }
    }

    fn of(self, number: Binary128) -> Binary128 {
        self.scaled(self.unscaled(number))
    }

    /// The logarithm of `10^4464`.
    fn of_huge(self) -> Binary128 {
        let power = Float256::integer(HUGE.unsigned_abs().into());
        Binary128::from_real(match self {
            Self::E => power * Float256::LN_10,
            Self::Two => power * Float256::LN_10 / Float256::LN_2,
            Self::Ten => power,
        })
    }

    /// The logarithm of a number within the range of binary128. Near one, the result is corrected for the error of
    /// rounding the number to binary128.
    fn of_ordinary(self, number: Decimal) -> Binary128 {
        let binary = Binary128::from_decimal(number);
        let mut result = self.unscaled(binary);
        let over = binary - Binary128::ONE;
        if over
            .abs()
            .compare(Binary128::from_real(Float256::ONE.times_pow2(-1)))
            .is_lt()
        {
            let mut lost = over - Binary128::from_decimal(number.sub(Decimal::ONE));
            if self == Self::Two {
                lost = Binary128::from_real(Float256::ONE / Float256::LN_2) * lost;
            }
            result = result - lost / binary;
        }
        self.scaled(result)
    }
}
