//! Resume tokens: the position of a change stream as a string. The strings sort in event order.
//!
//! They have MongoDB's format, but without the document key: this engine finds events without it.

use std::fmt::Write as _;

use bson::Timestamp;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use crate::catalog::changes::Place;
use crate::cursor::stream::compact;

/// A position in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// Before all events of this time.
    Before(Timestamp),
    Of {
        time: Timestamp,
        number: u32,
        uuid: Option<[u8; 16]>,
        /// Whether it is the token of the `invalidate` event after this event.
        is_end: bool,
    },
}

const TIMESTAMP: u8 = 0x82;
const ZERO: u8 = 0x29;
/// The type of one-byte positive integers. The types of longer ones follow.
const POSITIVE: u8 = 0x2B;
const FALSE: u8 = 0x6E;
const TRUE: u8 = 0x6F;
const BINARY: u8 = 0x5A;
const END: u8 = 0x04;
const UUID: u8 = 4;

/// The token kind of events.
const EVENT: u32 = 128;
const VERSION: u32 = 1;

impl Token {
    /// The place in the log after which the stream continues.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Before(time) => (*time, 0),
            Self::Of { time, number, .. } => (*time, number.saturating_add(1)),
        }
    }

    /// `{_data: …}`
    pub(crate) fn document(&self) -> RawDocumentBuf {
        let mut text = String::new();
        for byte in self.bytes() {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02X}");
        }
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("_data"), text);
        document
    }

    fn bytes(&self) -> Vec<u8> {
        let (time, kind, number, uuid, is_end) = match *self {
            Self::Before(time) => (time, 0, 0, None, false),
            Self::Of {
                time,
                number,
                uuid,
                is_end,
            } => (time, EVENT, number, uuid, is_end),
        };
        let mut bytes = vec![TIMESTAMP];
        bytes.extend(time.time.to_be_bytes());
        bytes.extend(time.increment.to_be_bytes());
        write_integer(&mut bytes, VERSION);
        write_integer(&mut bytes, kind);
        write_integer(&mut bytes, number);
        bytes.push(if is_end { TRUE } else { FALSE });
        if let Some(uuid) = uuid {
            bytes.extend([BINARY, 16, UUID]);
            bytes.extend(uuid);
        }
        bytes.push(END);
        bytes
    }

    /// Reads a token that a client kept.
    pub(crate) fn parse(document: &RawDocument) -> Result<Self, ServerError> {
        let Some(RawBsonRef::String(text)) = raw::get(document, "_data") else {
            return Err(ServerError::new(
                Code::location(40647),
                format!(
                    "Bad resume token: _data of missing or of wrong type. Expected string, got {}",
                    compact(document)
                ),
            ));
        };
        let bytes = hex(text).ok_or_else(|| {
            ServerError::new(
                Code::FAILED_TO_PARSE,
                "resume token string was not a valid hex string",
            )
        })?;
        Self::read(&bytes).ok_or_else(|| {
            ServerError::new(
                Code::INVALID_RESUME_TOKEN,
                "the resume token is not one of this server's",
            )
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes(bytes);
        rest.expect(TIMESTAMP)?;
        let time = Timestamp {
            time: rest.word()?,
            increment: rest.word()?,
        };
        if rest.integer()? != VERSION {
            return None;
        }
        let kind = rest.integer()?;
        let number = rest.integer()?;
        let is_end = match rest.next()? {
            TRUE => true,
            FALSE => false,
            _ => return None,
        };
        let uuid = match rest.next()? {
            END => None,
            BINARY => {
                rest.expect(16)?;
                rest.expect(UUID)?;
                let (uuid, behind) = rest.0.split_first_chunk::<16>()?;
                rest = Bytes(behind);
                rest.expect(END)?;
                Some(*uuid)
            }
            _ => return None,
        };
        if !rest.0.is_empty() {
            return None;
        }
        match kind {
            0 => Some(Self::Before(time)),
            EVENT => Some(Self::Of {
                time,
                number,
                uuid,
                is_end,
            }),
            _ => None,
        }
    }
}

/// Appends a number so that the bytes sort in numeric order: its length, then twice the number without leading zeros.
fn write_integer(bytes: &mut Vec<u8>, number: u32) {
    if number == 0 {
        bytes.push(ZERO);
        return;
    }
    let doubled = (u64::from(number) * 2).to_be_bytes();
    let digits: Vec<u8> = doubled.into_iter().skip_while(|byte| *byte == 0).collect();
    let more = u8::try_from(digits.len().saturating_sub(1)).unwrap_or(0);
    bytes.push(POSITIVE + more);
    bytes.extend(digits);
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| {
            digit
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        })
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high * 16 + low).collect())
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }

    fn integer(&mut self) -> Option<u32> {
        let kind = self.next()?;
        if kind == ZERO {
            return Some(0);
        }
        let more = kind.checked_sub(POSITIVE).filter(|more| *more < 5)?;
        let mut doubled: u64 = 0;
        for _ in 0..=more {
            doubled = doubled << 8 | u64::from(self.next()?);
        }
        u32::try_from(doubled / 2).ok()
    }
}

#[cfg(test)]
mod tests {
    use bson::{Timestamp, rawdoc};

    use super::Token;

    #[test]
    fn resume_tokens_round_trip_and_sort_by_position() {
        let time = |time, increment| Timestamp { time, increment };
        let of = |time, number, is_end| Token::Of {
            time,
            number,
            uuid: Some([7; 16]),
            is_end,
        };
        let tokens = [
            Token::Before(time(1, 2)),
            of(time(1, 2), 0, false),
            of(time(1, 2), 0, true),
            of(time(1, 2), 1, false),
            of(time(1, 2), 127, false),
            of(time(1, 2), 128, false),
            of(time(1, 2), 70_000, false),
            Token::Before(time(1, 300)),
            Token::Before(time(0x0200_0000, 1)),
        ];
        let texts = tokens.map(|token| {
            let document = token.document();
            assert_eq!(Token::parse(&document).unwrap(), token);
            document.get_str("_data").unwrap().to_owned()
        });
        assert!(texts.is_sorted());
    }

    #[test]
    fn resume_tokens_of_mongod_are_read() {
        let token = Token::Before(Timestamp {
            time: 0x6B01_8F79,
            increment: 2,
        });
        let document = rawdoc! { "_data": "826B018F79000000022B0229296E04" };
        assert_eq!(token.document(), document);
        assert_eq!(Token::parse(&document).unwrap(), token);
    }
}
