//! IEEE 754 decimal128 numbers: 34 digits, rounded half to even, as MongoDB computes with them.

use std::cmp::Ordering;
use std::fmt;

use bson::Decimal128;

use crate::value::u256::{Uint256, pow10};

mod compat;
mod double;
mod text;

pub use self::text::Unread;

/// The maximum number of digits of a coefficient.
pub const DIGITS: u32 = 34;
const MAX_EXPONENT: i32 = 6111;
const MIN_EXPONENT: i32 = -6176;
const BIAS: i32 = 6176;

/// A decimal128, unpacked.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    negative: bool,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// `coefficient * 10^exponent`.
    Finite {
        coefficient: u128,
        exponent: i32,
    },
    Infinity,
    NaN,
}

#[expect(
    clippy::should_implement_trait,
    reason = "the functions are passed by name, as in `Decimal::add`; the operators of Rust would hide that they are those of BSON"
)]
impl Decimal {
    pub const NAN: Self = Self {
        negative: false,
        kind: Kind::NaN,
    };

    const ZERO: Self = Self::finite(false, 0, 0);
    /// The result of an underflow: zero with the smallest exponent.
    const NOTHING: Self = Self::finite(false, 0, MIN_EXPONENT);
    const ONE: Self = Self::finite(false, 1, 0);

    const fn finite(negative: bool, coefficient: u128, exponent: i32) -> Self {
        Self {
            negative,
            kind: Kind::Finite {
                coefficient,
                exponent,
            },
        }
    }

    pub const fn infinity(negative: bool) -> Self {
        Self {
            negative,
            kind: Kind::Infinity,
        }
    }

    /// Unpacks the stored form. A coefficient of more than 34 digits is not canonical and reads as zero.
    pub fn from_bson(value: Decimal128) -> Self {
        let bits = u128::from_le_bytes(value.bytes());
        let negative = bits >> 127 == 1;
        let top = (bits >> 122) & 0x1F;
        let kind = if top == 0x1F {
            Kind::NaN
        } else if top == 0x1E {
            Kind::Infinity
        } else if top >> 3 == 0b11 {
            // a coefficient above 2^113, which no canonical value has
            Kind::Finite {
                coefficient: 0,
                exponent: exponent_of(bits >> 111),
            }
        } else {
            let coefficient = bits & ((1 << 113) - 1);
            Kind::Finite {
                coefficient: if coefficient < pow10(DIGITS) {
                    coefficient
                } else {
                    0
                },
                exponent: exponent_of(bits >> 113),
            }
        };
        Self { negative, kind }
    }

    /// Packs into the stored form.
    pub fn to_bson(self) -> Decimal128 {
        let sign = u128::from(self.negative) << 127;
        let bits = match self.kind {
            Kind::NaN => 0x1F << 122,
            Kind::Infinity => sign | 0x1E << 122,
            Kind::Finite {
                coefficient,
                exponent,
            } => sign | u128::from((exponent + BIAS).unsigned_abs()) << 113 | coefficient,
        };
        Decimal128::from_bytes(bits.to_le_bytes())
    }

    /// Parses a string as MongoDB's conversions do.
    pub fn parse(text: &str) -> Result<Self, Unread> {
        text::parse(text)
    }

    /// Reads a text of the grammar of the BSON specification, which Extended JSON and clients write. Returns `None`
    /// for other texts, and for numbers with more digits than a decimal holds.
    pub fn read_exact(text: &str) -> Option<Decimal128> {
        text::read_exact(text)
    }

    pub fn from_i64(value: i64) -> Self {
        Self::finite(value < 0, u128::from(value.unsigned_abs()), 0)
    }

    pub fn is_nan(self) -> bool {
        matches!(self.kind, Kind::NaN)
    }

    pub fn is_finite(self) -> bool {
        matches!(self.kind, Kind::Finite { .. })
    }

    pub fn is_zero(self) -> bool {
        matches!(self.kind, Kind::Finite { coefficient: 0, .. })
    }

    /// Whether the sign bit is set, even for a zero.
    pub fn is_negative(self) -> bool {
        self.negative
    }

    /// The coefficient and the exponent; `None` for infinities and NaN.
    pub fn parts(self) -> Option<(u128, i32)> {
        match self.kind {
            Kind::Finite {
                coefficient,
                exponent,
            } => Some((coefficient, exponent)),
            Kind::Infinity | Kind::NaN => None,
        }
    }

    #[must_use]
    pub fn neg(self) -> Self {
        Self {
            negative: !self.negative && !self.is_nan(),
            ..self
        }
    }

    #[must_use]
    pub fn abs(self) -> Self {
        Self {
            negative: false,
            ..self
        }
    }

    /// The same magnitude with the given sign.
    #[must_use]
    fn signed(self, negative: bool) -> Self {
        Self { negative, ..self }
    }

    #[must_use]
    pub fn add(self, other: Self) -> Self {
        match (self.kind, other.kind) {
            (Kind::NaN, _) | (_, Kind::NaN) => Self::NAN,
            (Kind::Infinity, Kind::Infinity) if self.negative != other.negative => Self::NAN,
            (Kind::Infinity, _) => self,
            (_, Kind::Infinity) => other,
            (
                Kind::Finite {
                    coefficient: a,
                    exponent: x,
                },
                Kind::Finite {
                    coefficient: b,
                    exponent: y,
                },
            ) => add_finite((self.negative, a, x), (other.negative, b, y)),
        }
    }

    #[must_use]
    pub fn sub(self, other: Self) -> Self {
        self.add(other.neg())
    }

    #[must_use]
    pub fn mul(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.kind, other.kind) {
            (Kind::NaN, _) | (_, Kind::NaN) => Self::NAN,
            (Kind::Infinity, _) | (_, Kind::Infinity) => {
                if self.is_zero() || other.is_zero() {
                    Self::NAN
                } else {
                    Self::infinity(negative)
                }
            }
            (
                Kind::Finite {
                    coefficient: a,
                    exponent: x,
                },
                Kind::Finite {
                    coefficient: b,
                    exponent: y,
                },
            ) => round(negative, Uint256::product(a, b), x + y, false),
        }
    }

    #[must_use]
    pub fn div(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.kind, other.kind) {
            (Kind::NaN, _) | (_, Kind::NaN) | (Kind::Infinity, Kind::Infinity) => Self::NAN,
            (Kind::Infinity, _) => Self::infinity(negative),
            (_, Kind::Infinity) => Self::finite(negative, 0, MIN_EXPONENT),
            (
                Kind::Finite {
                    coefficient: a,
                    exponent: x,
                },
                Kind::Finite {
                    coefficient: b,
                    exponent: y,
                },
            ) => match (a, b) {
                (0, 0) => Self::NAN,
                (_, 0) => Self::infinity(negative),
                (0, _) => Self::finite(negative, 0, clamp(x - y)),
                _ => divide(negative, (a, x), (b, y)),
            },
        }
    }

    /// The remainder of a division truncated toward zero: it has the sign of `self`.
    #[must_use]
    pub fn rem(self, other: Self) -> Self {
        match (self.kind, other.kind) {
            (
                Kind::Finite {
                    coefficient: a,
                    exponent: x,
                },
                Kind::Finite {
                    coefficient: b,
                    exponent: y,
                },
            ) if b != 0 => {
                let exponent = x.min(y);
                // brings the divisor to the common exponent; one that gets larger than `a` leaves `a` as the remainder
                let remainder = if y - exponent > (2 * DIGITS).cast_signed() {
                    a
                } else if y > exponent {
                    let divisor = Uint256::product(b, 1).times_pow10((y - exponent).unsigned_abs());
                    match divisor.to_u128() {
                        Some(divisor) => a % divisor,
                        None => a,
                    }
                } else {
                    mod_scaled(a, (x - exponent).unsigned_abs(), b)
                };
                Self::finite(self.negative, remainder, exponent)
            }
            (Kind::Finite { .. }, Kind::Infinity) => self,
            _ => Self::NAN,
        }
    }

    /// Rounds to a multiple of `10^-places` in the given manner.
    #[must_use]
    pub fn quantize(self, places: i32, rounding: Rounding) -> Self {
        let Kind::Finite {
            coefficient,
            exponent,
        } = self.kind
        else {
            return self;
        };
        let drop = -places - exponent;
        if drop <= 0 {
            let wanted = exponent + drop;
            // pads with zeros as far as 34 digits allow
            if coefficient == 0 {
                return Self::finite(self.negative, 0, clamp(wanted));
            }
            let room = DIGITS.saturating_sub(digits(coefficient));
            let room = room.min((exponent - MIN_EXPONENT).unsigned_abs());
            let pad = drop.unsigned_abs().min(room);
            return Self::finite(
                self.negative,
                coefficient * pow10(pad),
                exponent - pad.cast_signed(),
            );
        }
        let (quotient, half) = if drop > DIGITS.cast_signed() {
            (
                0,
                if coefficient == 0 {
                    Ordering::Equal
                } else {
                    Ordering::Less
                },
            )
        } else {
            let unit = pow10(drop.unsigned_abs());
            let (quotient, rest) = (coefficient / unit, coefficient % unit);
            (quotient, (rest * 2).cmp(&unit))
        };
        let exact = if drop > DIGITS.cast_signed() {
            coefficient == 0
        } else {
            coefficient % pow10(drop.unsigned_abs()) == 0
        };
        let up = match rounding {
            Rounding::HalfEven => {
                half == Ordering::Greater
                    || (half == Ordering::Equal && !exact && quotient % 2 == 1)
            }
            Rounding::Down => false,
            Rounding::Floor => !exact && self.negative,
            Rounding::Ceiling => !exact && !self.negative,
        };
        let exponent = clamp(exponent + drop);
        Self::finite(self.negative, quotient + u128::from(up), exponent)
    }

    /// The square root; NaN for negative numbers.
    #[must_use]
    pub fn sqrt(self) -> Self {
        match self.kind {
            Kind::NaN => Self::NAN,
            Kind::Finite {
                coefficient: 0,
                exponent,
            } => Self::finite(self.negative, 0, exponent.div_euclid(2)),
            _ if self.negative => Self::NAN,
            Kind::Infinity => self,
            Kind::Finite {
                coefficient,
                exponent,
            } => {
                // scales so that the root has at least 35 digits and the exponent is even
                let mut shift = 70 - digits(coefficient);
                if (exponent - shift.cast_signed()) % 2 != 0 {
                    shift += 1;
                }
                let scaled = Uint256::product(coefficient, 1).times_pow10(shift);
                let (root, exact) = scaled.sqrt();
                let result = round(
                    false,
                    Uint256::product(root, 1),
                    (exponent - shift.cast_signed()) / 2,
                    !exact,
                );
                if exact {
                    result.reduce_to(exponent.div_euclid(2))
                } else {
                    result
                }
            }
        }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        let magnitude = match self.kind {
            Kind::NaN => return f64::NAN,
            Kind::Infinity => f64::INFINITY,
            Kind::Finite {
                coefficient,
                exponent,
            } => double::nearest(coefficient, exponent),
        };
        if self.negative { -magnitude } else { magnitude }
    }

    /// Converts a double, rounded to 15 digits, as mongod does when it combines a double with a decimal.
    pub fn from_f64(value: f64) -> Self {
        double::to_decimal(value, 15)
    }

    /// Converts a double, rounded to 34 digits.
    pub fn from_f64_exact(value: f64) -> Self {
        double::to_decimal(value, DIGITS)
    }

    /// The integer part, if 128 bits hold it.
    pub fn to_i128(self) -> Option<i128> {
        let (coefficient, exponent) = self.parts()?;
        let magnitude = if exponent >= 0 {
            if coefficient == 0 {
                0
            } else {
                coefficient.checked_mul(10u128.checked_pow(exponent.unsigned_abs())?)?
            }
        } else {
            coefficient
                / 10u128
                    .checked_pow(exponent.unsigned_abs())
                    .unwrap_or(u128::MAX)
        };
        let magnitude = i128::try_from(magnitude).ok()?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The nearest integer, with halves rounded to even; `i64::MIN` if 64 bits do not hold it.
    pub fn to_i64_rounded(self) -> i64 {
        let whole = self.quantize(0, Rounding::HalfEven).to_i128();
        whole
            .and_then(|whole| i64::try_from(whole).ok())
            .unwrap_or(i64::MIN)
    }

    /// Compares by value: NaN equals itself and is below everything, and zeros are equal.
    pub fn compare(self, other: Self) -> Ordering {
        match (self.is_nan(), other.is_nan()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        match (self.signum(), other.signum()) {
            (a, b) if a != b => a.cmp(&b),
            (0, _) => Ordering::Equal,
            (1, _) => self.compare_magnitude(other),
            _ => other.compare_magnitude(self),
        }
    }

    /// Compares with a double by exact value.
    pub fn compare_f64(self, other: f64) -> Ordering {
        double::compare(self, other)
    }

    /// The number rounded towards zero to a double, and whether the double is exact.
    pub fn truncated(self) -> (f64, bool) {
        let (magnitude, exact) = match self.kind {
            Kind::NaN => (f64::NAN, true),
            Kind::Infinity => (f64::INFINITY, true),
            Kind::Finite { coefficient: 0, .. } => return (0.0, true),
            Kind::Finite {
                coefficient,
                exponent,
            } => double::truncated((coefficient, exponent)),
        };
        (if self.negative { -magnitude } else { magnitude }, exact)
    }

    fn signum(self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare_magnitude(self, other: Self) -> Ordering {
        match (self.parts(), other.parts()) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => scientific(a).cmp(&scientific(b)),
        }
    }

    /// Strips trailing zeros while the exponent is below `preferred`.
    fn reduce_to(self, preferred: i32) -> Self {
        let Some((mut coefficient, mut exponent)) = self.parts() else {
            return self;
        };
        while exponent < preferred && coefficient % 10 == 0 && coefficient != 0 {
            coefficient /= 10;
            exponent += 1;
        }
        Self::finite(self.negative, coefficient, exponent)
    }
}

/// How [`Decimal::quantize`] rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    HalfEven,
    Down,
    Floor,
    Ceiling,
}

/// The number of digits before the decimal point (negative for small numbers) and the coefficient padded to 34 digits.
/// Such pairs compare like the magnitudes.
pub fn scientific((coefficient, exponent): (u128, i32)) -> (i32, u128) {
    if coefficient == 0 {
        return (i32::MIN, 0);
    }
    let digits = digits(coefficient);
    (
        exponent + digits.cast_signed(),
        coefficient * pow10(DIGITS.saturating_sub(digits)),
    )
}

fn exponent_of(shifted: u128) -> i32 {
    i32::try_from(shifted & 0x3FFF).map_or(0, |bits| bits - BIAS)
}

fn clamp(exponent: i32) -> i32 {
    exponent.clamp(MIN_EXPONENT, MAX_EXPONENT)
}

/// The number of decimal digits; zero has one.
fn digits(value: u128) -> u32 {
    value.checked_ilog10().unwrap_or(0) + 1
}

fn add_finite(a: (bool, u128, i32), b: (bool, u128, i32)) -> Decimal {
    // scales the operand with the greater exponent to the other's exponent, up to 69 digits
    let (high, low) = if a.2 >= b.2 { (a, b) } else { (b, a) };
    let gap = (high.2 - low.2).unsigned_abs();
    if high.1 == 0 {
        return zero_or(low, high.0 && low.0);
    }
    if low.1 == 0 {
        let pad = gap.min(DIGITS - digits(high.1).min(DIGITS));
        return Decimal::finite(high.0, high.1 * pow10(pad), high.2 - pad.cast_signed());
    }
    let reach = 2 * DIGITS - digits(high.1) + 1;
    let (low_coefficient, exponent, sticky) = if gap > reach {
        // the other operand is so small that it only affects the rounding
        (0, high.2 - reach.cast_signed(), true)
    } else {
        (low.1, low.2, false)
    };
    let wide = Uint256::product(high.1, 1).times_pow10(gap.min(reach));
    let other = Uint256::product(low_coefficient, 1);
    if high.0 == low.0 {
        return round(high.0, wide.plus(other), exponent, sticky);
    }
    if sticky {
        // subtracts a whole unit; `sticky` stands for the part of it that was too much
        return round(high.0, wide.minus(Uint256::product(1, 1)), exponent, true);
    }
    match wide.cmp(&other) {
        Ordering::Equal => Decimal::finite(false, 0, exponent),
        Ordering::Greater => round(high.0, wide.minus(other), exponent, false),
        Ordering::Less => round(low.0, other.minus(wide), exponent, false),
    }
}

fn zero_or(low: (bool, u128, i32), both_negative: bool) -> Decimal {
    let negative = if low.1 == 0 { both_negative } else { low.0 };
    Decimal::finite(negative, low.1, low.2)
}

fn divide(negative: bool, (a, x): (u128, i32), (b, y): (u128, i32)) -> Decimal {
    // computes at least 35 digits of the quotient; the remainder decides the rounding
    let shift = DIGITS + 1 + digits(b) - digits(a).min(digits(b));
    let (mut quotient, rest) = Uint256::product(a, 1).times_pow10(shift).divide(b);
    let mut exponent = x - y - shift.cast_signed();
    // an exact quotient drops the zeros that the shift added
    while rest == 0 && exponent < x - y {
        let (shorter, 0) = quotient.divide(10) else {
            break;
        };
        quotient = shorter;
        exponent += 1;
    }
    round(negative, quotient, exponent, rest != 0)
}

/// `a * 10^scale mod b`.
fn mod_scaled(a: u128, scale: u32, b: u128) -> u128 {
    let mut rest = a % b;
    let mut scale = scale;
    while scale > 0 && rest != 0 {
        let step = scale.min(DIGITS);
        rest = Uint256::product(rest, pow10(step)).divide(b).1;
        scale -= step;
    }
    rest
}

/// Rounds a coefficient to 34 digits, half to even. `sticky` is set if nonzero digits below it were lost before.
fn round(negative: bool, coefficient: Uint256, exponent: i32, sticky: bool) -> Decimal {
    let mut drop = coefficient.digits().saturating_sub(DIGITS);
    // an exponent below the minimum costs further digits
    let under = MIN_EXPONENT - exponent - drop.cast_signed();
    if under > 0 {
        drop += under.unsigned_abs();
    }
    let (mut kept, half) = coefficient.drop_digits(drop, sticky);
    let mut exponent = exponent + drop.cast_signed();
    if half == Ordering::Greater || (half == Ordering::Equal && kept % 2 == 1) {
        kept += 1;
    }
    if kept == pow10(DIGITS) {
        kept /= 10;
        exponent += 1;
    }
    if kept == 0 {
        return Decimal::finite(negative, 0, clamp(exponent));
    }
    while exponent > MAX_EXPONENT && digits(kept) < DIGITS {
        kept *= 10;
        exponent -= 1;
    }
    if exponent > MAX_EXPONENT {
        return Decimal::infinity(negative);
    }
    Decimal::finite(negative, kept, exponent)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_bson(), f)
    }
}

#[cfg(test)]
mod tests;
