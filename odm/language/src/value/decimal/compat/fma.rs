//! Fused multiply-add: a product and a sum, rounded only once.

use crate::value::decimal::{DIGITS, Decimal, clamp, round};
use crate::value::u256::Uint256;

/// The number of digits that 256 bits hold, less one for a carry.
const REACH: u32 = 76;

impl Decimal {
    /// `self * factor + term`.
    pub(in crate::value::decimal) fn times_plus(self, factor: Self, term: Self) -> Self {
        let (Some(parts), Some(factors), Some(terms)) =
            (self.parts(), factor.parts(), term.parts())
        else {
            return self.mul(factor).add(term);
        };
        let product = Part {
            negative: self.negative != factor.negative,
            coefficient: Uint256::product(parts.0, factors.0),
            exponent: parts.1 + factors.1,
        };
        let term = Part {
            negative: term.negative,
            coefficient: Uint256::new(0, terms.0),
            exponent: terms.1,
        };
        product.plus(term)
    }
}

#[derive(Clone, Copy)]
struct Part {
    negative: bool,
    coefficient: Uint256,
    exponent: i32,
}

impl Part {
    fn plus(self, other: Self) -> Decimal {
        let (coarse, fine) = if self.exponent >= other.exponent {
            (self, other)
        } else {
            (other, self)
        };
        if coarse.coefficient.is_zero() {
            if fine.coefficient.is_zero() {
                let negative = fine.negative && coarse.negative;
                return Decimal::finite(negative, 0, clamp(fine.exponent));
            }
            return round(fine.negative, fine.coefficient, fine.exponent, false);
        }
        let gap = (coarse.exponent - fine.exponent).unsigned_abs();
        // a zero only lowers the exponent of the result, as far as 34 digits allow
        let room = if fine.coefficient.is_zero() {
            DIGITS
        } else {
            REACH
        };
        let pad = gap.min(room.saturating_sub(coarse.coefficient.digits()));
        let exponent = coarse.exponent - pad.cast_signed();
        let large = coarse.coefficient.times_pow10(pad);
        let (small, is_cut) = fine.coefficient.cut_digits(gap - pad);
        if coarse.negative == fine.negative {
            return round(coarse.negative, large.plus(small), exponent, is_cut);
        }
        if large < small {
            return round(fine.negative, small.minus(large), exponent, is_cut);
        }
        let rest = large.minus(small);
        if rest.is_zero() {
            return Decimal::finite(false, 0, clamp(exponent));
        }
        // subtracts a whole unit for the cut digits; `is_cut` stands for the part of it that was too much
        let one = Uint256::new(0, u128::from(is_cut));
        round(coarse.negative, rest.minus(one), exponent, is_cut)
    }
}
