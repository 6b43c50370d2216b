//! Fast access to raw BSON: a plain walk over bytes.
//!
//! Keys are compared as bytes and not checked to be UTF-8. Nothing here panics on malformed bytes: a walk ends at the
//! first malformed element. Walks over documents that [`validate`] has accepted always reach the end.

mod append;
mod pointer;

use std::ops::Range;
use std::str;

pub use self::append::{DocumentWriter, append, document_with_capacity};
use bson::{
    DateTime, Decimal128, RawBsonRef, RawDocument, Timestamp,
    oid::ObjectId,
    raw::{CStr, RawArray, RawBinaryRef, RawJavaScriptCodeWithScopeRef, RawRegexRef},
    spec::{BinarySubtype, ElementType},
};
use serde::{Deserialize, de::value::BorrowedBytesDeserializer};

use crate::error::{Code, ServerError};
use crate::value::number::Number;

/// The maximum nesting depth of documents, as in MongoDB.
pub const MAX_DEPTH: usize = 200;

/// One element of a document, not decoded.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    tag: u8,
    word: u64,
    key: &'a [u8],
    value: &'a [u8],
}

/// A key to search for among the elements of a document.
#[derive(Debug, Clone, Copy)]
pub struct Name<'n> {
    word: u64,
    bytes: &'n [u8],
}

impl<'n> Name<'n> {
    pub fn new(bytes: &'n [u8]) -> Self {
        Self::of_word(word_of(bytes), bytes)
    }

    /// A name whose [word](word_of) is already known.
    #[inline]
    pub fn of_word(word: u64, bytes: &'n [u8]) -> Self {
        Self { word, bytes }
    }

    /// Its [word](word_of).
    #[inline]
    pub fn word(self) -> u64 {
        self.word
    }

    /// The name itself.
    #[inline]
    pub fn bytes(self) -> &'n [u8] {
        self.bytes
    }
}

/// The first eight bytes of a key. Shorter keys are padded with zeros.
pub fn word_of(key: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(key) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

impl<'a> Element<'a> {
    /// The [word](word_of) of its key.
    #[inline]
    pub fn word(&self) -> u64 {
        self.word
    }

    /// The key as a [`Name`], to search for it in other documents.
    #[inline]
    pub fn name(&self) -> Name<'a> {
        Name::of_word(self.word, self.key)
    }

    /// Whether the element's key equals `name`.
    #[inline]
    pub fn is(&self, name: Name<'_>) -> bool {
        self.word == name.word
            && self.key.len() == name.bytes.len()
            && (self.key.len() <= 8 || self.key == name.bytes)
    }

    /// Whether the key fits into its [word](word_of) and is ASCII.
    fn has_ascii_word(&self) -> bool {
        self.key.len() <= 8 && self.word & HIGHS == 0
    }

    /// The byte that stands for the type.
    pub fn tag(&self) -> u8 {
        self.tag
    }

    /// The bytes of the key.
    pub fn key_bytes(&self) -> &'a [u8] {
        self.key
    }

    /// The key, `None` if it is not UTF-8.
    pub fn key(&self) -> Option<&'a str> {
        str::from_utf8(self.key).ok()
    }

    /// The byte range of the element in `document`, which must be the document that holds it.
    pub fn place(&self, document: &[u8]) -> Option<Range<usize>> {
        let before = |part: &[u8]| (part.as_ptr() as usize).checked_sub(document.as_ptr() as usize);
        let start = before(self.key)?.checked_sub(1)?;
        Some(start..before(self.value)? + self.value.len())
    }

    /// The type, `None` for an unknown type byte.
    pub fn element_type(&self) -> Option<ElementType> {
        ElementType::from(self.tag)
    }

    /// The bytes of the value.
    pub fn value_bytes(&self) -> &'a [u8] {
        self.value
    }

    /// The value, `None` if its bytes are malformed.
    pub fn value(&self) -> Option<RawBsonRef<'a>> {
        decode(self)
    }

    /// The value as a number, if it is one.
    #[inline]
    pub fn number(&self) -> Option<Number> {
        Some(match self.tag {
            0x01 => Number::Double(f64::from_le_bytes(self.value.try_into().ok()?)),
            0x10 => Number::Int32(i32::from_le_bytes(self.value.try_into().ok()?)),
            0x12 => Number::Int64(long(self.value)?),
            0x13 => Number::from_raw(self.value()?)?,
            _ => return None,
        })
    }

    /// The elements of the value if it is a document or an array.
    pub fn children(&self) -> Option<Elements<'a>> {
        matches!(self.tag, 0x03 | 0x04).then(|| Elements::new(self.value))
    }
}

/// The elements of a document or an array, in order.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    document: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Walks the bytes of a document or an array.
    pub fn new(document: &'a [u8]) -> Self {
        Self {
            document,
            rest: document.get(4..).unwrap_or_default(),
        }
    }

    /// Whether the walk has reached the closing NUL of the document.
    pub fn is_at_end(&self) -> bool {
        self.rest == [0]
    }

    /// The element with this key.
    #[inline]
    pub fn find_key(self, key: &[u8]) -> Option<Element<'a>> {
        self.find_name(Name::new(key))
    }

    /// The element with this name.
    #[inline]
    pub fn find_name(mut self, name: Name<'_>) -> Option<Element<'a>> {
        loop {
            let element = self.advance()?;
            if element.is(name) {
                return Some(element);
            }
        }
    }

    /// The element that [`advance`](Self::advance) returned last. It is found by another walk, for errors.
    #[cold]
    pub fn current(&self) -> Option<Element<'a>> {
        let mut walk = Self::new(self.document);
        let mut current = None;
        while walk.rest.len() > self.rest.len() {
            current = Some(walk.advance()?);
        }
        current
    }

    /// How many bytes of the document lie before the next element.
    #[inline]
    pub fn offset(&self) -> usize {
        self.document.len() - self.rest.len()
    }

    /// Resumes a walk at an [`offset`](Self::offset).
    #[inline]
    pub fn from(document: &'a [u8], offset: usize) -> Self {
        Self {
            document,
            rest: document.get(offset..).unwrap_or_default(),
        }
    }

    /// The next element, always inlined for loops that skip most elements.
    #[expect(
        clippy::inline_always,
        reason = "of what is passed by only the size is needed"
    )]
    #[inline(always)]
    pub fn advance(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.rest.split_first()?;
        if tag == 0 {
            return None;
        }
        let (word, end) = key_at(rest)?;
        let (key, rest) = rest.split_at_checked(end)?;
        let rest = rest.get(1..)?;
        let (value, rest) = rest.split_at_checked(value_size(tag, rest)?)?;
        self.rest = rest;
        Some(Element {
            tag,
            word,
            key,
            value,
        })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        self.advance()
    }
}

/// Whether these bytes begin with their length and end with a NUL, as a document and an array do.
#[inline]
pub fn is_framed(bytes: &[u8]) -> bool {
    let length = bytes
        .first_chunk()
        .map(|length| i32::from_le_bytes(*length));
    let length = length.and_then(|length| usize::try_from(length).ok());
    length == Some(bytes.len()) && bytes.len() >= 5 && bytes.last() == Some(&0)
}

/// The highest bit of each byte.
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

/// The [word](word_of) of the key at the start of these bytes, and its length.
#[expect(
    clippy::inline_always,
    reason = "every walk over a document does this for each element"
)]
#[inline(always)]
fn key_at(bytes: &[u8]) -> Option<(u64, usize)> {
    if let Some((first, rest)) = bytes.split_first_chunk() {
        let word = u64::from_le_bytes(*first);
        if let Some((end, before)) = first_zero(word) {
            return Some((word & before, end));
        }
        if let Some(second) = rest.first_chunk()
            && let Some((end, _)) = first_zero(u64::from_le_bytes(*second))
        {
            return Some((word, 8 + end));
        }
    }
    long_key_at(bytes)
}

/// The index of the first zero byte, and a mask of the bytes before it.
#[inline]
fn first_zero(word: u64) -> Option<(usize, u64)> {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    // The lowest set bit is the highest bit of the first zero byte.
    let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
    let lowest = zeros & zeros.wrapping_neg();
    let end = usize::try_from(zeros.trailing_zeros() / 8).ok()?;
    (zeros != 0).then(|| (end, lowest.wrapping_sub(1)))
}

/// Like [`key_at`], for keys of 16 bytes or more and keys at the end of a document.
#[cold]
fn long_key_at(bytes: &[u8]) -> Option<(u64, usize)> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((word_of(bytes.get(..end)?), end))
}

impl Elements<'_> {
    /// Whether there are elements behind this number of levels, of which these elements are the first. As in MongoDB, an
    /// empty document or array is no level of its own.
    pub fn is_deeper(mut self, levels: usize) -> bool {
        let Some(below) = levels.checked_sub(1) else {
            return self.next().is_some();
        };
        self.any(|element| {
            let children = element.children();
            children.is_some_and(|children| children.is_deeper(below))
        })
    }
}

/// The elements of a document.
pub fn walk(document: &RawDocument) -> Elements<'_> {
    Elements::new(document.as_bytes())
}

/// The elements of an array.
pub fn walk_array(array: &RawArray) -> Elements<'_> {
    Elements::new(array.as_bytes())
}

/// The value of a key.
#[inline]
pub fn get<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    walk(document).find_key(key.as_bytes())?.value()
}

/// The value of a key, unless it is null or undefined, which leave an optional field unset.
pub fn optional<'a>(document: &'a RawDocument, key: &str) -> Option<RawBsonRef<'a>> {
    get(document, key).filter(|value| !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined))
}

/// The keys and values of a document, decoded.
pub fn elements(document: &RawDocument) -> impl Iterator<Item = (&str, RawBsonRef<'_>)> + Clone {
    walk(document).map_while(|element| Some((element.key()?, element.value()?)))
}

/// The values of an array, decoded.
pub fn values(array: &RawArray) -> impl Iterator<Item = RawBsonRef<'_>> + Clone {
    walk_array(array).map_while(|element| element.value())
}

/// The array as a document with the keys `"0"`, `"1"`, …, which is how BSON stores arrays.
pub fn array_document(array: &RawArray) -> &RawDocument {
    RawDocument::from_bytes(array.as_bytes()).unwrap_or_else(|_| empty_document())
}

/// The document without elements.
pub fn empty_document() -> &'static RawDocument {
    RawDocument::from_bytes(b"\x05\0\0\0\0").expect("five bytes are an empty document")
}

/// The array whose bytes these are.
pub fn array_from_bytes(bytes: &[u8]) -> Option<&RawArray> {
    // bson offers no other way from bytes to a borrowed array
    let bytes: BorrowedBytesDeserializer<'_, serde::de::value::Error> =
        BorrowedBytesDeserializer::new(bytes);
    <&RawArray>::deserialize(bytes).ok()
}

/// Marks types without a fixed size in [`SIZES`].
const PREFIXED: u8 = u8::MAX;

/// The sizes of fixed-size values, by tag.
const SIZES: [u8; 256] = {
    let mut sizes = [PREFIXED; 256];
    sizes[0x01] = 8;
    sizes[0x06] = 0;
    sizes[0x07] = 12;
    sizes[0x08] = 1;
    sizes[0x09] = 8;
    sizes[0x0A] = 0;
    sizes[0x10] = 4;
    sizes[0x11] = 8;
    sizes[0x12] = 8;
    sizes[0x13] = 16;
    sizes[0x7F] = 0;
    sizes[0xFF] = 0;
    sizes
};

/// The size of the value at the start of `rest`, for an element with this tag.
#[inline]
fn value_size(tag: u8, rest: &[u8]) -> Option<usize> {
    // Most values without a fixed size are strings, documents and arrays.
    match (SIZES.get(usize::from(tag)), tag) {
        (Some(&PREFIXED) | None, 0x02) => Some(length_prefix(rest)? + 4),
        (Some(&PREFIXED) | None, 0x03 | 0x04) => length_prefix(rest),
        (Some(&PREFIXED) | None, _) => prefixed_size(tag, rest),
        (Some(size), _) => Some(usize::from(*size)),
    }
}

/// The length with which a value begins.
#[inline]
fn length_prefix(rest: &[u8]) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(*rest.first_chunk()?)).ok()
}

/// The size of a value of a rarer type that has no fixed size.
fn prefixed_size(tag: u8, rest: &[u8]) -> Option<usize> {
    Some(match tag {
        0x0D | 0x0E => length_prefix(rest)? + 4,
        0x0F => length_prefix(rest)?,
        0x05 => length_prefix(rest)? + 5,
        0x0B => {
            let pattern = rest.iter().position(|byte| *byte == 0)? + 1;
            let options = rest.get(pattern..)?.iter().position(|byte| *byte == 0)? + 1;
            pattern + options
        }
        0x0C => length_prefix(rest)? + 4 + 12,
        _ => return None,
    })
}

#[inline]
fn decode<'a>(element: &Element<'a>) -> Option<RawBsonRef<'a>> {
    let bytes = element.value;
    Some(match element.tag {
        0x01 => RawBsonRef::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        0x02 => RawBsonRef::String(string(bytes)?),
        0x03 => RawBsonRef::Document(RawDocument::from_bytes(bytes).ok()?),
        0x04 => RawBsonRef::Array(array_from_bytes(bytes)?),
        0x05 => RawBsonRef::Binary(binary(bytes)?),
        0x06 => RawBsonRef::Undefined,
        0x07 => RawBsonRef::ObjectId(ObjectId::from_bytes(bytes.try_into().ok()?)),
        0x08 => RawBsonRef::Boolean(match bytes {
            [0] => false,
            [1] => true,
            _ => return None,
        }),
        0x09 => RawBsonRef::DateTime(DateTime::from_millis(long(bytes)?)),
        0x0A => RawBsonRef::Null,
        0x0B => RawBsonRef::RegularExpression(regex(bytes)?),
        0x0C => {
            let (name, id) = bytes.split_last_chunk::<12>()?;
            pointer::pointer(string(name)?, id)?
        }
        0x0D => RawBsonRef::JavaScriptCode(string(bytes)?),
        0x0E => RawBsonRef::Symbol(string(bytes)?),
        0x0F => RawBsonRef::JavaScriptCodeWithScope(code_with_scope(bytes)?),
        0x10 => RawBsonRef::Int32(i32::from_le_bytes(bytes.try_into().ok()?)),
        0x11 => {
            let bits = u64::from_le_bytes(bytes.try_into().ok()?);
            RawBsonRef::Timestamp(Timestamp {
                time: u32::try_from(bits >> 32).ok()?,
                increment: u32::try_from(bits & 0xFFFF_FFFF).ok()?,
            })
        }
        0x12 => RawBsonRef::Int64(long(bytes)?),
        0x13 => RawBsonRef::Decimal128(Decimal128::from_bytes(bytes.try_into().ok()?)),
        0x7F => RawBsonRef::MaxKey,
        0xFF => RawBsonRef::MinKey,
        _ => return None,
    })
}

fn long(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.try_into().ok()?))
}

/// The text of a string's bytes.
#[inline]
pub fn string(bytes: &[u8]) -> Option<&str> {
    let (last, text) = bytes.get(4..)?.split_last()?;
    (*last == 0).then_some(())?;
    str::from_utf8(text).ok()
}

fn binary(bytes: &[u8]) -> Option<RawBinaryRef<'_>> {
    let subtype = BinarySubtype::from(*bytes.get(4)?);
    let data = bytes.get(5..)?;
    let bytes = match subtype {
        BinarySubtype::BinaryOld => {
            let (length, data) = data.split_first_chunk::<4>()?;
            let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
            (length == data.len()).then_some(data)?
        }
        _ => data,
    };
    Some(RawBinaryRef { subtype, bytes })
}

fn regex(bytes: &[u8]) -> Option<RawRegexRef<'_>> {
    let mut parts = bytes.split(|byte| *byte == 0);
    let mut part = || <&CStr>::try_from(str::from_utf8(parts.next()?).ok()?).ok();
    Some(RawRegexRef {
        pattern: part()?,
        options: part()?,
    })
}

fn code_with_scope(bytes: &[u8]) -> Option<RawJavaScriptCodeWithScopeRef<'_>> {
    let rest = bytes.get(4..)?;
    let (code, scope) = rest.split_at_checked(value_size(0x02, rest)?)?;
    Some(RawJavaScriptCodeWithScopeRef {
        code: string(code)?,
        scope: RawDocument::from_bytes(scope).ok()?,
    })
}

/// Whether the bytes are UTF-8. Most text is ASCII, which is faster to check.
fn is_text(bytes: &[u8]) -> bool {
    bytes.is_ascii() || str::from_utf8(bytes).is_ok()
}

/// Checks the structure of a document and of everything nested in it.
pub fn validate(bytes: &[u8]) -> Result<&RawDocument, ServerError> {
    let invalid = |what: &str| ServerError::new(Code::INVALID_BSON, what);
    let document = RawDocument::from_bytes(bytes)
        .map_err(|error| invalid(&format!("invalid BSON: {error}")))?;
    validate_nested(bytes, 1)?;
    Ok(document)
}

/// Like [`validate`], for a document to be nested in another at this depth. The outermost document has depth 1.
pub fn validate_at(document: &RawDocument, depth: usize) -> Result<(), ServerError> {
    validate_nested(document.as_bytes(), depth)
}

fn validate_nested(bytes: &[u8], depth: usize) -> Result<(), ServerError> {
    let invalid = |what: String| ServerError::new(Code::INVALID_BSON, what);
    if depth > MAX_DEPTH {
        return Err(ServerError::new(
            Code::OVERFLOW,
            format!("BSONObj exceeded maximum nested object depth: {MAX_DEPTH}"),
        ));
    }
    let mut walk = Elements::new(bytes);
    for element in walk.by_ref() {
        if !element.has_ascii_word() && !is_text(element.key) {
            return Err(invalid("a field name is not UTF-8".into()));
        }
        // Fixed-size types in which every bit pattern is valid need no further check: the walk has checked their size.
        if matches!(
            element.tag,
            0x01 | 0x06 | 0x07 | 0x09 | 0x0A | 0x10 | 0x11 | 0x12 | 0x13 | 0x7F | 0xFF
        ) {
            continue;
        }
        if element.tag == 0x02
            && let Some((0, text)) = element.value.get(4..).and_then(<[u8]>::split_last)
            && is_text(text)
        {
            continue;
        }
        let value = element.value().ok_or_else(|| {
            let key = element.key().unwrap_or_default();
            invalid(format!("the value of field '{key}' is malformed"))
        })?;
        match value {
            RawBsonRef::Document(inner) => validate_nested(inner.as_bytes(), depth + 1)?,
            RawBsonRef::Array(inner) => validate_nested(inner.as_bytes(), depth + 1)?,
            RawBsonRef::JavaScriptCodeWithScope(code) => {
                validate_nested(code.scope.as_bytes(), depth + 1)?;
            }
            _ => {}
        }
    }
    match walk.rest {
        [0] => Ok(()),
        _ => Err(invalid("an element is malformed".into())),
    }
}
