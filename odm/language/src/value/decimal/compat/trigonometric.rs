//! `$sin`, `$cos`, `$tan` and their inverses, with the same digits as mongod; see [`Binary128`] for the reason for the
//! intermediate rounding.

use std::cmp::Ordering;

use crate::value::decimal::Decimal;
use crate::value::decimal::compat::binary128::Binary128;
use crate::value::decimal::compat::float256::Float256;
use crate::value::decimal::compat::range_reduction::quarters;

const PI: Decimal = Decimal::finite(false, 3_141_592_653_589_793_238_462_643_383_279_503, -33);
const HALF_PI: Decimal = Decimal::finite(false, 1_570_796_326_794_896_619_231_321_691_639_751, -33);
/// mongod uses only 33 digits of this constant.
const QUARTER_PI: Decimal =
    Decimal::finite(false, 785_398_163_397_448_309_615_660_845_819_876, -33);
const THREE_QUARTERS_PI: Decimal =
    Decimal::finite(false, 2_356_194_490_192_344_928_846_982_537_459_627, -33);
const DEGREE: Decimal = Decimal::finite(false, 1_745_329_251_994_329_576_923_690_768_488_613, -35);
const RADIAN: Decimal = Decimal::finite(false, 5_729_577_951_308_232_087_679_815_481_410_517, -32);
/// Too small to change a sum, but adding it pads the sum to 34 digits.
pub(in crate::value::decimal) const SPECK: Decimal = Decimal::finite(false, 1, -40);

/// An angle, classified by its size.
enum Angle {
    /// So small that it equals its sine.
    Tiny,
    /// Small enough to need no reduction.
    Small(Binary128),
    /// A number of quarter turns, and the rest.
    Large(u8, Binary128),
}

impl Decimal {
    #[must_use]
    pub fn sin(self) -> Self {
        match self.angle() {
            None => Self::NAN,
            Some(Angle::Tiny) if self.is_zero() => self,
            Some(Angle::Tiny) => self.times_plus(SPECK.neg(), self),
            Some(Angle::Small(angle)) => angle.map(Float256::sin).to_decimal(),
            Some(Angle::Large(quarters, rest)) => sine(quarters, rest).to_decimal(),
        }
    }

    #[must_use]
    pub fn cos(self) -> Self {
        match self.angle() {
            None => Self::NAN,
            Some(Angle::Tiny) => Self::ONE.add(SPECK),
            Some(Angle::Small(angle)) => angle.map(Float256::cos).to_decimal(),
            Some(Angle::Large(quarters, rest)) => sine(quarters + 1, rest).to_decimal(),
        }
    }

    #[must_use]
    pub fn tan(self) -> Self {
        let tangent = |angle: Binary128| angle.map(|x| x.sin() / x.cos());
        match self.angle() {
            None => Self::NAN,
            Some(Angle::Tiny) => self.times_plus(SPECK, self),
            Some(Angle::Small(angle)) => tangent(angle).to_decimal(),
            Some(Angle::Large(quarters, rest)) if quarters % 2 == 0 => tangent(rest).to_decimal(),
            Some(Angle::Large(_, rest)) => (-Binary128::ONE / tangent(rest)).to_decimal(),
        }
    }

    /// The inverse sine of a number from -1 to 1.
    #[must_use]
    pub fn asin(self) -> Self {
        if self.is_nan() {
            return Self::NAN;
        }
        let number = Binary128::from_decimal(self);
        if is_speck(number) {
            return self.times_plus(SPECK, self);
        }
        if is_far_from_one(number) {
            return number.map(Float256::asin).to_decimal();
        }
        let angle = self.other_side().map(Float256::acos);
        let angle = if number.is_negative() { -angle } else { angle };
        angle.to_decimal()
    }

    /// The inverse cosine of a number from -1 to 1.
    #[must_use]
    pub fn acos(self) -> Self {
        if self.is_nan() {
            return Self::NAN;
        }
        let number = Binary128::from_decimal(self);
        if is_speck(number) {
            return HALF_PI;
        }
        if is_far_from_one(number) {
            return number.map(Float256::acos).to_decimal();
        }
        let is_one = number.compare(Binary128::ONE).is_eq();
        if is_one && !number.is_negative() {
            return Self::NOTHING;
        }
        let angle = self.other_side().map(Float256::asin);
        let angle = if number.is_negative() {
            Binary128::from_real(Float256::PI) - angle
        } else {
            angle
        };
        angle.to_decimal()
    }

    #[must_use]
    pub fn atan(self) -> Self {
        if self.is_nan() {
            return Self::NAN;
        }
        if !self.is_finite() {
            return HALF_PI.signed(self.negative);
        }
        let number = Binary128::from_decimal(self);
        if is_speck(number) {
            return self.shortened();
        }
        number.map(Float256::atan).to_decimal()
    }

    /// The angle of the point with this ordinate and the given abscissa.
    #[must_use]
    pub fn atan2(self, abscissa: Self) -> Self {
        let is_left = abscissa.negative;
        let magnitude = match (self.kind_of(), abscissa.kind_of()) {
            (Extent::NaN, _) | (_, Extent::NaN) => return Self::NAN,
            (Extent::Infinite, Extent::Infinite) if is_left => THREE_QUARTERS_PI,
            (Extent::Infinite, Extent::Infinite) => QUARTER_PI,
            (Extent::Zero, _) | (_, Extent::Infinite) if is_left => PI,
            (Extent::Zero, _) | (_, Extent::Infinite) => Self::NOTHING,
            (Extent::Infinite, _) | (_, Extent::Zero) => HALF_PI,
            (Extent::Some, Extent::Some) => return self.angle_over(abscissa),
        };
        magnitude.signed(self.negative)
    }

    /// The angle for operands that are neither zero nor infinite.
    fn angle_over(self, abscissa: Self) -> Self {
        let slope = self.div(abscissa);
        let [steep, flat] = [36, -36].map(|power| Self::finite(false, 1, power));
        if slope.abs().compare(steep).is_gt() {
            return HALF_PI.signed(self.negative);
        }
        if slope.abs().compare(flat).is_lt() {
            return if abscissa.negative {
                PI.signed(self.negative)
            } else {
                slope
            };
        }
        let angle = Binary128::from_decimal(slope.abs())
            .map(Float256::atan)
            .to_decimal();
        let angle = if abscissa.negative {
            PI.sub(angle)
        } else {
            angle
        };
        angle.signed(self.negative)
    }

    #[must_use]
    pub fn degrees_to_radians(self) -> Self {
        self.mul(DEGREE)
    }

    #[must_use]
    pub fn radians_to_degrees(self) -> Self {
        self.mul(RADIAN)
    }

    fn angle(self) -> Option<Angle> {
        let (coefficient, exponent) = self.parts()?;
        Some(if coefficient == 0 || exponent < -52 {
            Angle::Tiny
        } else if exponent < -35 {
            Angle::Small(Binary128::from_decimal(self))
        } else {
            let (quarters, rest) = quarters(coefficient, exponent);
            if self.negative {
                Angle::Large((4 - quarters) % 4, -rest)
            } else {
                Angle::Large(quarters, rest)
            }
        })
    }

    /// `√(1 - self²)`
    fn other_side(self) -> Binary128 {
        let minus_one = Self::ONE.neg();
        (-Binary128::from_decimal(self.times_plus(self, minus_one))).map(Float256::sqrt)
    }

    /// The result of a function that equals its argument in all 34 digits: the argument, padded to 34 digits.
    pub(in crate::value::decimal) fn shortened(self) -> Self {
        if self.is_zero() {
            self
        } else {
            self.times_plus(SPECK.neg(), self)
        }
    }

    fn kind_of(self) -> Extent {
        if self.is_nan() {
            Extent::NaN
        } else if self.is_zero() {
            Extent::Zero
        } else if self.is_finite() {
            Extent::Some
        } else {
            Extent::Infinite
        }
    }
}

enum Extent {
    Zero,
    Some,
    Infinite,
    NaN,
}

/// The sine of a number of quarter turns plus a rest.
fn sine(quarters: u8, rest: Binary128) -> Binary128 {
    let magnitude = if quarters.is_multiple_of(2) {
        rest.map(Float256::sin)
    } else {
        rest.map(Float256::cos)
    };
    if quarters & 2 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Whether the magnitude of a number is below `10^-40`.
pub(in crate::value::decimal) fn is_speck(number: Binary128) -> bool {
    compare_to(number, SPECK).is_lt()
}

fn is_far_from_one(number: Binary128) -> bool {
    compare_to(number, Decimal::finite(false, 7, -1)).is_le()
}

fn compare_to(number: Binary128, other: Decimal) -> Ordering {
    number.compare(Binary128::from_decimal(other))
}
