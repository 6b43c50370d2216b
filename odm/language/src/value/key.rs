//! Order-preserving keys: comparing keys as bytes gives the same order as [`crate::value::order`] gives their values.
//!
//! Keys are self-delimiting, so the keys of several values may follow one another, each in its own direction. They
//! cannot be decoded: equal numbers of different types have equal keys.

use bson::{RawBsonRef, RawDocument, spec::BinarySubtype};

use crate::error::{Code, ServerError};
use crate::value::bson_type::Bracket;
use crate::value::collation::Collator;
use crate::value::decimal::scientific;
use crate::value::number::Number;
use crate::value::order::db_pointer_key;
use crate::value::raw::Element;
use crate::value::raw::{self, Elements};

/// Which way a part of a key sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Ascending,
    Descending,
}

/// Returns an error if an index key or a sort pattern has more than 32 parts.
pub fn check_parts(count: usize) -> Result<(), ServerError> {
    if count > MAX_PARTS {
        return Err(ServerError::new(TOO_MANY_PARTS, "too many compound keys"));
    }
    Ok(())
}

/// The maximum number of parts of a key.
const MAX_PARTS: usize = 32;

/// The error code for a key with too many parts.
pub const TOO_MANY_PARTS: Code = Code::location(13103);

/// Ends a document or an array; all bracket bytes are greater.
const END: u8 = 0;

/// Appends the key of a value.
pub fn append(
    bytes: &mut Vec<u8>,
    value: RawBsonRef<'_>,
    direction: Direction,
    collator: Option<&Collator>,
) {
    let start = bytes.len();
    append_ascending(bytes, value, collator);
    direct(bytes, start, direction);
}

/// Appends the key of an element's value, without decoding the value if possible.
pub fn append_element(
    bytes: &mut Vec<u8>,
    element: &Element<'_>,
    direction: Direction,
    collator: Option<&Collator>,
) {
    let start = bytes.len();
    match element.number().and_then(exact) {
        Some(key) => bytes.extend_from_slice(&key),
        None => append_ascending(bytes, element.value().unwrap_or(RawBsonRef::Null), collator),
    }
    direct(bytes, start, direction);
}

/// Inverts the bytes from `start` on if the key sorts descending.
#[inline]
fn direct(bytes: &mut [u8], start: usize, direction: Direction) {
    if direction == Direction::Descending {
        for byte in bytes.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
}

/// The ascending key of one value.
pub fn of(value: RawBsonRef<'_>, collator: Option<&Collator>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    append_ascending(&mut bytes, value, collator);
    bytes
}

/// The beginning of a key. Comparing two beginnings usually decides the order without building the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    bracket: u8,
    /// The eight bytes after the bracket, if known.
    first: Option<u64>,
}

impl Head {
    /// The beginning of a value's key; a missing value counts as null. `collated` is set if a collation orders strings.
    #[inline]
    pub fn of(element: Option<&Element<'_>>, direction: Direction, collated: bool) -> Option<Self> {
        let (kind, first) = match element {
            None => (Bracket::Null, None),
            Some(element) => (
                Bracket::of_type(element.element_type()?),
                first_bytes(element, collated).map(u64::from_be_bytes),
            ),
        };
        let bracket = bracket(kind);
        Some(match direction {
            Direction::Ascending => Self { bracket, first },
            Direction::Descending => Self {
                bracket: !bracket,
                first: first.map(|first| !first),
            },
        })
    }

    /// The beginning of a complete key.
    pub fn at(key: &[u8]) -> Option<Self> {
        let (bracket, rest) = key.split_first()?;
        Some(Self {
            bracket: *bracket,
            first: rest.first_chunk().map(|first| u64::from_be_bytes(*first)),
        })
    }

    /// Whether the key certainly sorts after the other. `false` may also mean that the beginnings do not decide the
    /// order.
    #[inline]
    pub fn is_behind(self, other: Self) -> bool {
        let behind = |(one, other)| one > other;
        self.bracket > other.bracket
            || (self.bracket == other.bracket && self.first.zip(other.first).is_some_and(behind))
    }
}

/// The eight bytes after the bracket of a value's key, if they are cheap to compute.
#[inline]
fn first_bytes(element: &Element<'_>, collated: bool) -> Option<[u8; 8]> {
    if let Some(number) = element.number() {
        return Some(if number.is_nan() {
            [0; 8]
        } else {
            ordered(number.truncated().0).to_be_bytes()
        });
    }
    let bytes = element.value_bytes();
    match element.tag() {
        0x02 | 0x0E if !collated => {
            let text = bytes.get(4..)?.first_chunk()?;
            (!text.contains(&0)).then_some(*text)
        }
        0x07 => bytes.first_chunk().copied(),
        0x09 => Some(signed(i64::from_le_bytes(bytes.try_into().ok()?))),
        0x11 => Some(u64::from_le_bytes(bytes.try_into().ok()?).to_be_bytes()),
        _ => None,
    }
}

/// The length of the key at the start of these bytes, or `None` if they do not start with a key. `flipped` is set for
/// keys that sort descending.
pub fn length(bytes: &[u8], flipped: bool) -> Option<usize> {
    let mut reader = Reader {
        bytes,
        at: 0,
        mask: if flipped { u8::MAX } else { 0 },
    };
    let code = reader.byte()?;
    reader.value(code)?;
    Some(reader.at)
}

/// Walks over keys.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    mask: u8,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)? ^ self.mask;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count)?;
        (self.at <= self.bytes.len()).then_some(())
    }

    fn escaped(&mut self) -> Option<()> {
        loop {
            if self.byte()? == 0 && self.byte()? == 1 {
                return Some(());
            }
        }
    }

    fn length(&mut self) -> Option<usize> {
        let mut length = 0;
        for _ in 0..4 {
            length = length << 8 | usize::from(self.byte()?);
        }
        Some(length)
    }

    fn number(&mut self) -> Option<()> {
        let mut is_nan = true;
        for _ in 0..8 {
            is_nan &= self.byte()? == 0;
        }
        // NaN has no marker, and nothing follows the marker of an exact double.
        if !is_nan && self.byte()? != 0x80 {
            self.skip(20)?;
        }
        Some(())
    }

    fn document(&mut self) -> Option<()> {
        loop {
            let code = self.byte()?;
            if code == END {
                return Some(());
            }
            self.escaped()?;
            self.value(code)?;
        }
    }

    fn value(&mut self, code: u8) -> Option<()> {
        let is = |kind: Bracket| code == bracket(kind);
        if is(Bracket::Number) {
            self.number()
        } else if is(Bracket::String) || is(Bracket::Code) {
            self.escaped()
        } else if is(Bracket::Document) {
            self.document()
        } else if is(Bracket::Array) {
            loop {
                let code = self.byte()?;
                if code == END {
                    return Some(());
                }
                self.value(code)?;
            }
        } else if is(Bracket::Binary) {
            let length = self.length()?;
            let old = self.byte()? == u8::from(BinarySubtype::BinaryOld);
            self.skip(if old { length.checked_sub(4)? } else { length })
        } else if is(Bracket::ObjectId) {
            self.skip(12)
        } else if is(Bracket::Boolean) {
            self.skip(1)
        } else if is(Bracket::DateTime) || is(Bracket::Timestamp) {
            self.skip(8)
        } else if is(Bracket::Regex) {
            self.escaped()?;
            self.escaped()
        } else if is(Bracket::DbPointer) {
            let length = self.length()?;
            self.skip(length)
        } else if is(Bracket::CodeWithScope) {
            self.escaped()?;
            self.document()
        } else {
            Some(())
        }
    }
}

fn append_ascending(bytes: &mut Vec<u8>, value: RawBsonRef<'_>, collator: Option<&Collator>) {
    if let Some(key) = Number::from_raw(value).and_then(exact) {
        bytes.extend_from_slice(&key);
        return;
    }
    bytes.push(bracket(Bracket::of(value)));
    append_value(bytes, value, collator);
}

fn bracket(bracket: Bracket) -> u8 {
    bracket as u8 + 1
}

fn append_value(bytes: &mut Vec<u8>, value: RawBsonRef<'_>, collator: Option<&Collator>) {
    match value {
        RawBsonRef::Double(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Decimal128(_) => {
            if let Some(number) = Number::from_raw(value) {
                append_number(bytes, number);
            }
        }
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => match collator {
            Some(collator) => {
                let mut key = Vec::new();
                collator.append_key(text, &mut key);
                append_escaped(bytes, &key);
            }
            None => append_escaped(bytes, text.as_bytes()),
        },
        RawBsonRef::Array(array) => append_array(bytes, raw::walk_array(array), collator),
        RawBsonRef::Document(document) => append_document(bytes, document, collator),
        RawBsonRef::Boolean(value) => bytes.push(u8::from(value)),
        RawBsonRef::RegularExpression(regex) => {
            append_escaped(bytes, regex.pattern.as_str().as_bytes());
            append_escaped(bytes, regex.options.as_str().as_bytes());
        }
        RawBsonRef::JavaScriptCode(code) => append_escaped(bytes, code.as_bytes()),
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            append_escaped(bytes, code.code.as_bytes());
            append_document(bytes, code.scope, collator);
        }
        RawBsonRef::Timestamp(value) => {
            bytes.extend(value.time.to_be_bytes());
            bytes.extend(value.increment.to_be_bytes());
        }
        RawBsonRef::Binary(value) => {
            let inner = match value.subtype {
                BinarySubtype::BinaryOld => 4,
                _ => 0,
            };
            append_length(bytes, value.bytes.len() + inner);
            bytes.push(value.subtype.into());
            bytes.extend(value.bytes);
        }
        RawBsonRef::ObjectId(id) => bytes.extend(id.bytes()),
        RawBsonRef::DateTime(date) => bytes.extend(signed(date.timestamp_millis())),
        RawBsonRef::DbPointer(_) => {
            let (length, stored) = db_pointer_key(value);
            append_length(bytes, length);
            bytes.extend(stored);
        }
        RawBsonRef::Null | RawBsonRef::Undefined | RawBsonRef::MaxKey | RawBsonRef::MinKey => {}
    }
}

fn append_document(bytes: &mut Vec<u8>, document: &RawDocument, collator: Option<&Collator>) {
    for element in raw::walk(document) {
        let Some(value) = element.value() else { break };
        bytes.push(bracket(Bracket::of(value)));
        append_escaped(bytes, element.key_bytes());
        append_value(bytes, value, collator);
    }
    bytes.push(END);
}

fn append_array(bytes: &mut Vec<u8>, elements: Elements<'_>, collator: Option<&Collator>) {
    for element in elements {
        let Some(value) = element.value() else { break };
        append_ascending(bytes, value, collator);
    }
    bytes.push(END);
}

/// Appends text and the terminator `0, 1`. A zero byte becomes `0, 255`, so the terminator sorts below any
/// continuation.
fn append_escaped(bytes: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(zero) = memchr::memchr(0, rest) {
        let (before, after) = rest.split_at(zero);
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(&[0, 0xFF]);
        rest = after.get(1..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest);
    bytes.extend_from_slice(&[0, 1]);
}

fn append_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}

fn signed(value: i64) -> [u8; 8] {
    (value.cast_unsigned() ^ 1 << 63).to_be_bytes()
}

/// Bits that compare as the doubles do. Callers handle NaN themselves.
#[inline]
fn ordered(double: f64) -> u64 {
    let bits = double.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// The key of a number that a double holds exactly, as is the case for most numbers.
#[inline]
fn exact(number: Number) -> Option<[u8; 10]> {
    let (double, exact) = number.truncated();
    if number.is_nan() || !exact {
        return None;
    }
    let bracket = u128::from(bracket(Bracket::Number));
    let key = bracket << 72 | u128::from(ordered(double)) << 8 | 0x80;
    key.to_be_bytes().last_chunk().copied()
}

/// Encodes a number as a double, rounded towards zero, and a marker that says whether the double is exact. If it is
/// not, the exact decimal follows. Only 64-bit integers and decimals can need the last part, and 34 digits hold both.
fn append_number(bytes: &mut Vec<u8>, number: Number) {
    if number.is_nan() {
        bytes.extend([0; 8]);
        return;
    }
    let (double, exact) = number.truncated();
    let ordered = ordered(double);
    let negative = ordered >> 63 == 0;
    bytes.extend(ordered.to_be_bytes());
    if exact {
        bytes.push(0x80);
        return;
    }
    let start = bytes.len();
    bytes.push(0x81);
    let (exponent, digits) = number
        .to_decimal()
        .parts()
        .map(scientific)
        .unwrap_or_default();
    bytes.extend((exponent.cast_unsigned() ^ 1 << 31).to_be_bytes());
    bytes.extend(digits.to_be_bytes());
    if negative {
        for byte in bytes.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
}

#[cfg(test)]
mod tests;
