//! Unsigned 256-bit integers, with the operations that the products and quotients of 34-digit numbers and the mantissas
//! of `decimal/compat/float256.rs` need. Those that constants are computed with are `const`, which those of `ethnum` are not.

use std::cmp::Ordering;

use ethnum::U256;

/// `high * 2^128 + low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Uint256(U256);

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

impl Uint256 {
    pub(super) const ZERO: Self = Self::new(0, 0);

    /// `high * 2^128 + low`.
    pub(super) const fn new(high: u128, low: u128) -> Self {
        Self(U256::from_words(high, low))
    }

    pub(super) const fn high(self) -> u128 {
        self.0.into_words().0
    }

    pub(super) const fn low(self) -> u128 {
        self.0.into_words().1
    }

    pub(super) const fn is_zero(self) -> bool {
        self.high() == 0 && self.low() == 0
    }

    pub(super) const fn leading_zeros(self) -> u32 {
        match self.0.into_words() {
            (0, low) => 128 + low.leading_zeros(),
            (high, _) => high.leading_zeros(),
        }
    }

    /// Shifts left; bits beyond 256 are lost.
    pub(super) const fn shl(self, by: u32) -> Self {
        let (high, low) = self.0.into_words();
        match by {
            0 => self,
            1..128 => Self::new(high << by | low >> (128 - by), low << by),
            128..256 => Self::new(low << (by - 128), 0),
            _ => Self::ZERO,
        }
    }

    /// Shifts right; bits below the lowest are lost.
    pub(super) fn shr(self, by: u32) -> Self {
        Self(self.0.checked_shr(by).unwrap_or(U256::ZERO))
    }

    /// The quotient by a nonzero 64-bit number.
    pub(super) const fn over(self, divisor: u64) -> Self {
        self.divide_short(divisor).0
    }

    /// Quotient and remainder by a nonzero 64-bit number.
    const fn divide_short(self, divisor: u64) -> (Self, u128) {
        const MASK: u128 = u64::MAX as u128;
        let by = divisor as u128;
        let (high, low) = self.0.into_words();
        let [a, b, c, d] = [high >> 64, high & MASK, low >> 64, low & MASK];
        let b = (a % by) << 64 | b;
        let c = (b % by) << 64 | c;
        let d = (c % by) << 64 | d;
        let quotient = Self::new(((a / by) << 64) | (b / by), ((c / by) << 64) | (d / by));
        (quotient, d % by)
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
        Self(U256::new(a).wrapping_mul(U256::new(b)))
    }

    /// The number as 128 bits, if it fits.
    pub(super) fn to_u128(self) -> Option<u128> {
        u128::try_from(self.0).ok()
    }

    /// The sum, modulo `2^256`.
    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The difference, modulo `2^256`.
    pub(super) fn minus(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// The product with a power of ten, modulo `2^256`.
    pub(super) fn times_pow10(self, power: u32) -> Self {
        let mut result = self;
        let mut power = power;
        while power > 0 {
            let step = power.min(38);
            result = Self(result.0.wrapping_mul(U256::new(pow10(step))));
            power -= step;
        }
        result
    }

    /// Quotient and remainder. A divisor of zero gives zeros.
    pub(super) fn divide(self, divisor: u128) -> (Self, u128) {
        if let (0, low) = self.0.into_words()
            && divisor != 0
        {
            return (Self::new(0, low / divisor), low % divisor);
        }
        match u64::try_from(divisor) {
            Ok(0) => (Self::ZERO, 0),
            Ok(divisor) => self.divide_short(divisor),
            Err(_) => {
                let (quotient, rest) = self.0.div_rem(U256::new(divisor));
                (Self(quotient), rest.as_u128())
            }
        }
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
            if value.is_zero() {
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
        (value.low(), half)
    }

    /// The integer square root, and whether it is exact.
    pub(super) fn sqrt(self) -> (u128, bool) {
        let root = match self.high() {
            0 => self.low().isqrt(),
            // Newton's method, from a number that is not below the root.
            high => {
                let above = u64::try_from(high.isqrt() + 1);
                let mut root = above.map_or(u128::MAX, |above| u128::from(above) << 64);
                while let Some(next) = self.divide(root).0.to_u128().map(|it| it.midpoint(root))
                    && next < root
                {
                    root = next;
                }
                root
            }
        };
        (root, Self::product(root, root) == self)
    }
}
