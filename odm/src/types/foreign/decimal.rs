//! The parts of a `Decimal128`: its sign, its digits as an integer, and the power of ten.

use bson::Decimal128;

/// The largest coefficient has 34 digits.
pub(super) const MAX_COEFFICIENT: u128 = 10_u128.pow(34) - 1;

const EXPONENT_BIAS: i32 = 6176;
const COEFFICIENT_BITS: u32 = 113;

/// A finite decimal: `coefficient` times ten to the power of `exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) negative: bool,
    pub(super) coefficient: u128,
    pub(super) exponent: i32,
}

impl Parts {
    /// The decimal with these parts, unless it has more than 34 digits or an exponent out of range.
    pub(super) fn to_decimal(self) -> Option<Decimal128> {
        let exponent = u128::try_from(self.exponent + EXPONENT_BIAS).ok()?;
        if self.coefficient > MAX_COEFFICIENT || exponent > 12_287 {
            return None;
        }
        let sign = u128::from(self.negative) << 127;
        let bits = sign | (exponent << COEFFICIENT_BITS) | self.coefficient;
        Some(Decimal128::from_bytes(bits.to_le_bytes()))
    }

    /// The parts of a decimal, unless it is infinite or not a number.
    pub(super) fn of(decimal: Decimal128) -> Option<Self> {
        let bits = u128::from_le_bytes(decimal.bytes());
        let negative = bits >> 127 == 1;
        // After the sign, `11` begins the forms of large coefficients, of infinities and of NaN.
        if (bits >> 125) & 0b11 == 0b11 {
            let special = (bits >> 123) & 0b1111 == 0b1111;
            // A coefficient of that form is too large, and such a number is zero.
            return (!special).then_some(Self {
                negative,
                coefficient: 0,
                exponent: 0,
            });
        }
        let exponent = i32::try_from((bits >> COEFFICIENT_BITS) & 0x3FFF).ok()? - EXPONENT_BIAS;
        let coefficient = bits & ((1 << COEFFICIENT_BITS) - 1);
        Some(Self {
            negative,
            coefficient: if coefficient > MAX_COEFFICIENT {
                0
            } else {
                coefficient
            },
            exponent,
        })
    }

    /// The same number with the smallest coefficient.
    pub(super) fn reduced(mut self) -> Self {
        if self.coefficient == 0 {
            self.exponent = 0;
        }
        while self.coefficient != 0 && self.coefficient.is_multiple_of(10) {
            self.coefficient /= 10;
            self.exponent += 1;
        }
        self
    }

    /// The number as an integer, unless it has a fraction or more than 128 bits.
    pub(super) fn to_integer(self) -> Option<u128> {
        let reduced = self.reduced();
        let exponent = u32::try_from(reduced.exponent).ok()?;
        let power = 10_u128.checked_pow(exponent)?;
        reduced.coefficient.checked_mul(power)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_those_that_bson_reads(negative: bool, coefficient in 0..=MAX_COEFFICIENT, exponent in -200..200_i32) {
            let parts = Parts { negative, coefficient, exponent };
            let text = format!("{}{coefficient}E{exponent}", if negative { "-" } else { "" });
            let decimal: Decimal128 = text.parse().unwrap();
            prop_assert_eq!(parts.to_decimal(), Some(decimal));
            prop_assert_eq!(Parts::of(decimal), Some(parts));
        }

        #[test]
        fn no_bits_panic(bits: u128) {
            if let Some(parts) = Parts::of(Decimal128::from_bytes(bits.to_le_bytes())) {
                let _ = (parts.reduced(), parts.to_integer());
            }
        }
    }

    #[test]
    fn what_is_not_finite_has_no_parts() {
        for text in ["NaN", "Infinity", "-Infinity"] {
            assert_eq!(Parts::of(text.parse().unwrap()), None, "{text}");
        }
        for (text, integer) in [
            ("1.50E+3", Some(1500)),
            ("1.5", None),
            ("-0E+6111", Some(0)),
            ("1E+39", None),
        ] {
            let parts = Parts::of(text.parse().unwrap()).unwrap();
            assert_eq!(parts.to_integer(), integer, "{text}");
        }
    }
}
