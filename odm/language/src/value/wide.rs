//! Unsigned 256-bit integers, with the operations that the products and quotients of 34-digit numbers and the mantissas
//! of `decimal/real.rs` need.

use std::cmp::Ordering;

/// `high * 2^128 + low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wide {
    high: u128,
    low: u128,
}

const POWERS: [u128; 39] = {
    let mut powers = [1u128; 39];
    let mut i = 1;
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// `10^power` for powers up to 38; `u128::MAX` beyond.
pub(super) const fn pow10(power: u32) -> u128 {
    if power < 39 {
        #[expect(clippy::indexing_slicing, reason = "there are 39")]
        POWERS[power as usize]
    } else {
        u128::MAX
    }
}

impl Wide {
    pub(super) const ZERO: Self = Self::new(0, 0);

    /// `high * 2^128 + low`.
    pub(super) const fn new(high: u128, low: u128) -> Self {
        Self { high, low }
    }

    pub(super) const fn high(self) -> u128 {
        self.high
    }

    pub(super) const fn low(self) -> u128 {
        self.low
    }

    pub(super) const fn is_zero(self) -> bool {
        self.high == 0 && self.low == 0
    }

    pub(super) const fn leading_zeros(self) -> u32 {
        if self.high == 0 {
            128 + self.low.leading_zeros()
        } else {
            self.high.leading_zeros()
        }
    }

    /// Shifts left; bits beyond 256 are lost.
    pub(super) const fn shl(self, by: u32) -> Self {
        match by {
            0 => self,
            1..128 => Self::new(self.high << by | self.low >> (128 - by), self.low << by),
            128..256 => Self::new(self.low << (by - 128), 0),
            _ => Self::ZERO,
        }
    }

    /// Shifts right; bits below the lowest are lost.
    pub(super) const fn shr(self, by: u32) -> Self {
        match by {
            0 => self,
            1..128 => Self::new(self.high >> by, self.low >> by | self.high << (128 - by)),
            128..256 => Self::new(0, self.high >> (by - 128)),
            _ => Self::ZERO,
        }
    }

    /// The quotient by a nonzero 64-bit number.
    pub(super) const fn over(self, divisor: u64) -> Self {
        const MASK: u128 = u64::MAX as u128;
        let by = divisor as u128;
        let digits = [
            self.high >> 64,
            self.high & MASK,
            self.low >> 64,
            self.low & MASK,
        ];
        let [a, b, c, d] = digits;
        let b = (a % by) << 64 | b;
        let c = (b % by) << 64 | c;
        let d = (c % by) << 64 | d;
        Self::new(((a / by) << 64) | (b / by), ((c / by) << 64) | (d / by))
    }

    /// The number without its last `count` decimal digits, and whether any of those was not zero.
    pub(super) fn cut_digits(self, count: u32) -> (Self, bool) {
        let mut value = self;
        let mut below = false;
        let mut count = count;
        while count > 0 && !value.is_zero() {
            let step = count.min(38);
            let (quotient, rest) = value.divide(pow10(step));
            below |= rest != 0;
            value = quotient;
            count -= step;
        }
        (value, below)
    }

    pub(super) fn product(a: u128, b: u128) -> Self {
        const MASK: u128 = u64::MAX as u128;
        let (a1, a0) = (a >> 64, a & MASK);
        let (b1, b0) = (b >> 64, b & MASK);
        let low = a0 * b0;
        let (middle, carry) = (a1 * b0).overflowing_add(a0 * b1);
        let (low, carry_low) = low.overflowing_add(middle << 64);
        let high = a1 * b1 + (middle >> 64) + (u128::from(carry) << 64) + u128::from(carry_low);
        Self { high, low }
    }

    /// The number as 128 bits, if it fits.
    pub(super) fn to_u128(self) -> Option<u128> {
        (self.high == 0).then_some(self.low)
    }

    /// The sum, modulo `2^256`.
    pub(super) fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self {
            high: self
                .high
                .wrapping_add(other.high)
                .wrapping_add(u128::from(carry)),
            low,
        }
    }

    /// The difference, modulo `2^256`.
    pub(super) fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self {
            high: self
                .high
                .wrapping_sub(other.high)
                .wrapping_sub(u128::from(borrow)),
            low,
        }
    }

    /// The product with a power of ten, modulo `2^256`.
    pub(super) fn times_pow10(self, power: u32) -> Self {
        let mut result = self;
        let mut power = power;
        while power > 0 {
            let step = power.min(38);
            let factor = pow10(step);
            let low = Self::product(result.low, factor);
            result = Self {
                high: low.high.wrapping_add(result.high.wrapping_mul(factor)),
                low: low.low,
            };
            power -= step;
        }
        result
    }

    /// Quotient and remainder. A divisor of zero gives zeros.
    pub(super) fn divide(self, divisor: u128) -> (Self, u128) {
        if divisor == 0 {
            return (Self { high: 0, low: 0 }, 0);
        }
        let mut rest = self.high % divisor;
        let mut low = 0u128;
        if rest == 0 {
            low = self.low / divisor;
            rest = self.low % divisor;
        } else {
            for bit in (0..128).rev() {
                let carry = rest >> 127 == 1;
                rest = rest << 1 | (self.low >> bit & 1);
                low <<= 1;
                if carry || rest >= divisor {
                    rest = rest.wrapping_sub(divisor);
                    low |= 1;
                }
            }
        }
        let high = self.high / divisor;
        (Self { high, low }, rest)
    }

    /// The number of decimal digits; zero has one.
    pub(super) fn digits(self) -> u32 {
        match self.to_u128() {
            Some(low) => low.checked_ilog10().unwrap_or(0) + 1,
            None => self.divide(pow10(38)).0.digits() + 38,
        }
    }

    /// Cuts off the last digits. Returns the rest and how the cut part compares to half a unit. `sticky` is set if
    /// nonzero digits below this number were lost before.
    pub(super) fn drop_digits(self, count: u32, sticky: bool) -> (u128, Ordering) {
        let mut value = self;
        let mut below = sticky;
        let mut count = count;
        while count > 1 {
            let step = (count - 1).min(38);
            let (quotient, rest) = value.divide(pow10(step));
            below |= rest != 0;
            value = quotient;
            count -= step;
            if value.low == 0 && value.high == 0 {
                count = 1;
            }
        }
        let mut half = Ordering::Less;
        if count == 1 {
            let (quotient, digit) = value.divide(10);
            value = quotient;
            half = digit.cmp(&5);
            if half == Ordering::Equal && below {
                half = Ordering::Greater;
            }
        }
        (value.low, half)
    }

    /// The integer square root, and whether it is exact.
    pub(super) fn sqrt(self) -> (u128, bool) {
        let mut root = 0u128;
        for bit in (0..128).rev() {
            let candidate = root | 1 << bit;
            if Self::product(candidate, candidate) <= self {
                root = candidate;
            }
        }
        (root, Self::product(root, root) == self)
    }
}
