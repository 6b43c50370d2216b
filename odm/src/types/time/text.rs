//! Times as text, in the form of RFC 3339.

use super::civil::{Civil, DAY, days};

/// Reads a text from its start.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// A time as it was read.
pub(super) struct Read {
    /// What the clock showed, in milliseconds as if it showed UTC.
    pub(super) shown: i64,
    /// Minutes east of UTC.
    pub(super) offset: i32,
    /// Whether there were fractions of a millisecond.
    pub(super) truncated: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text.as_bytes(),
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// One byte, if it is one of these.
    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        bytes.contains(first).then(|| {
            self.rest = rest;
            *first
        })
    }

    fn digit(&mut self) -> Option<u32> {
        self.one_of(b"0123456789")
            .map(|byte| u32::from(byte - b'0'))
    }

    /// A number of exactly this many digits.
    fn number(&mut self, digits: usize) -> Option<u32> {
        (0..digits).try_fold(0, |number, _| Some(number * 10 + self.digit()?))
    }

    fn two(&mut self, most: u8) -> Option<u8> {
        let number = u8::try_from(self.number(2)?).ok()?;
        (number <= most).then_some(number)
    }

    /// `2026-03-29`, of which the day may be one that the month does not have.
    pub(super) fn date(&mut self) -> Option<(i32, u8, u8)> {
        let year = i32::try_from(self.number(4)?).ok()?;
        self.one_of(b"-")?;
        let month = self.two(12)?;
        self.one_of(b"-")?;
        Some((year, month, self.two(31)?))
    }

    /// The milliseconds since midnight, and whether there were fractions of one.
    fn clock(&mut self) -> Option<(i64, bool)> {
        let hour = self.two(23)?;
        self.one_of(b":")?;
        let minute = self.two(59)?;
        self.one_of(b":")?;
        let second = self.two(59)?;
        let mut millis = 0;
        let mut truncated = false;
        if self.one_of(b".").is_some() {
            let mut scale = 100;
            let mut digit = self.digit()?;
            loop {
                truncated |= scale == 0 && digit != 0;
                millis += digit * scale;
                scale /= 10;
                match self.digit() {
                    Some(next) => digit = next,
                    None => break,
                }
            }
        }
        let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
        Some((seconds * 1_000 + i64::from(millis), truncated))
    }

    /// `+02:00` or `Z`, in minutes.
    fn offset(&mut self) -> Option<i32> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.two(99)?;
        self.one_of(b":")?;
        let minutes = self.two(59)?;
        Some(sign * (i32::from(hours) * 60 + i32::from(minutes)))
    }
}

/// Reads `2026-03-29T10:30:00.250+02:00`.
pub(super) fn read(text: &str) -> Option<Read> {
    let mut reader = Reader::new(text);
    let (year, month, day) = reader.date()?;
    reader.one_of(b"Tt ")?;
    let (millis, truncated) = reader.clock()?;
    let offset = reader.offset()?;
    reader.is_at_end().then_some(())?;
    Some(Read {
        shown: days(year, month, day)? * DAY + millis,
        offset,
        truncated,
    })
}

/// Writes `2026-03-29T10:30:00`, with three digits of a second if it has a fraction.
pub(super) fn write(civil: &Civil) -> String {
    let Civil {
        year,
        month,
        day,
        millis,
        ..
    } = *civil;
    // RFC 3339 has years of four digits; ISO 8601 writes others with a sign and more digits.
    let year = if (0..=9999).contains(&year) {
        format!("{year:04}")
    } else {
        format!("{year:+07}")
    };
    let (seconds, millis) = (millis / 1_000, millis % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = if millis == 0 {
        String::new()
    } else {
        format!(".{millis:03}")
    };
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}
