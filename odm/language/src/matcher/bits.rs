//! The bit operators.

use bson::RawBsonRef;

use crate::value::decimal::Rounding;
use crate::value::number::Number;

/// A test of bits: `$bitsAllSet`, `$bitsAllClear`, `$bitsAnySet`, `$bitsAnyClear`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    pub quantifier: Quantifier,
    /// Whether the bits have to be set, rather than clear.
    pub set: bool,
    /// Counted from the least significant bit.
    pub positions: Vec<u64>,
}

/// How many of the bits must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    All,
    Any,
}

impl Bits {
    /// Tests integers, whole doubles, decimals and binary data; other values never match.
    ///
    /// As in mongod, decimals are rounded half to even, and a decimal outside of 64 bits counts as the smallest
    /// integer.
    pub fn matches(&self, value: RawBsonRef<'_>) -> bool {
        match value {
            RawBsonRef::Binary(binary) => self.test(|position| {
                let byte = usize::try_from(position / 8)
                    .ok()
                    .and_then(|index| binary.bytes.get(index));
                byte.is_some_and(|byte| byte >> (position % 8) & 1 == 1)
            }),
            other => {
                let number = match Number::from_raw(other) {
                    Some(Number::Decimal(decimal)) => decimal
                        .quantize(0, Rounding::HalfEven)
                        .to_i128()
                        .and_then(|number| i64::try_from(number).ok())
                        .unwrap_or(i64::MIN),
                    Some(number) => match number.to_i64_exact() {
                        Some(number) => number,
                        None => return false,
                    },
                    None => return false,
                };
                // a negative number is sign-extended without end
                self.test(|position| number >> position.min(63) & 1 == 1)
            }
        }
    }

    fn test(&self, bit: impl Fn(u64) -> bool) -> bool {
        let mut positions = self.positions.iter();
        match self.quantifier {
            Quantifier::All => positions.all(|position| bit(*position) == self.set),
            Quantifier::Any => positions.any(|position| bit(*position) == self.set),
        }
    }
}
