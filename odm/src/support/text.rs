//! A message that is put together in const evaluation.

/// The longest message in bytes; the rest is cut off.
const CAPACITY: usize = 2_048;

/// A message.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    pub(super) const EMPTY: Self = Self {
        bytes: [b' '; CAPACITY],
        len: 0,
    };

    /// Appends a string.
    #[must_use]
    pub(super) const fn and(mut self, text: &str) -> Self {
        let mut rest = text.as_bytes();
        while let [first, behind @ ..] = rest {
            self = self.byte(*first);
            rest = behind;
        }
        self
    }

    /// Appends a number, its digits in groups of three.
    #[must_use]
    pub(super) const fn number(mut self, number: u64) -> Self {
        let mut left = digits(number);
        while left > 0 {
            left -= 1;
            let digit = number / 10_u64.pow(left) % 10;
            let digit = digit as u8;
            self = self.byte(b'0' + digit);
            if left > 0 && left.is_multiple_of(3) {
                self = self.byte(b',');
            }
        }
        self
    }

    const fn byte(mut self, byte: u8) -> Self {
        let (_, free) = self.bytes.split_at_mut(self.len);
        if let [slot, ..] = free {
            *slot = byte;
            self.len += 1;
        }
        self
    }

    /// The message.
    pub const fn get(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the message is too long to be shown",
        }
    }
}

/// The number of decimal digits.
pub(super) const fn digits(mut number: u64) -> u32 {
    let mut digits = 1;
    while number > 9 {
        number /= 10;
        digits += 1;
    }
    digits
}
