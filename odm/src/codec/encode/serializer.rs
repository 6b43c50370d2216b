//! The serializer. It writes each value after its key, and then fills in the type byte before the key.

use std::fmt::{self, Display};

use bson::spec::ElementType;
use odm_language::value::raw;
use serde::ser::{self, Serialize};
use smallvec::SmallVec;

use super::strings::{Digits, Key, Notation};
use super::{element_by_bson, repeated};

/// The reason why a value was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// bson must write this value.
    Unknown,
    /// The value or bson failed, bson must write the whole document, or a map has a repeated key.
    Failed,
    /// Documents and arrays are nested on more levels than a command of MongoDB has.
    TooDeep,
}

impl Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("left to bson")
    }
}

impl std::error::Error for Left {}

impl ser::Error for Left {
    fn custom<T: Display>(_: T) -> Self {
        Self::Failed
    }
}

pub(super) type Written = Result<(), Left>;

/// The serializer of one value, which it appends to the bytes.
#[derive(Debug)]
pub(super) struct Place<'b> {
    bytes: &'b mut Vec<u8>,
    /// The offset of the value's type byte; `None` for the outermost document.
    tag: Option<usize>,
    /// How many documents and arrays are around the value.
    level: usize,
}

impl<'b> Place<'b> {
    pub(super) fn outermost(bytes: &'b mut Vec<u8>) -> Self {
        Self {
            bytes,
            tag: None,
            level: 0,
        }
    }

    fn tag(&mut self, kind: ElementType) -> Written {
        match self.tag {
            Some(at) => {
                let tag = self.bytes.get_mut(at).ok_or(Left::Failed)?;
                *tag = kind as u8;
                Ok(())
            }
            None if kind == ElementType::EmbeddedDocument => Ok(()),
            None => Err(Left::Unknown),
        }
    }

    fn fixed<const N: usize>(mut self, kind: ElementType, value: [u8; N]) -> Written {
        self.tag(kind)?;
        self.bytes.extend_from_slice(&value);
        Ok(())
    }

    fn begin(mut self, kind: ElementType) -> Result<Elements<'b>, Left> {
        self.tag(kind)?;
        Elements::begin(self.bytes, self.level + 1)
    }

    /// Begins the document `{variant: …}` of an enum variant with values.
    fn variant(self, variant: &'static str, kind: ElementType) -> Result<Variant<'b>, Left> {
        let outer = self.begin(ElementType::EmbeddedDocument)?;
        let (start, level) = (outer.start, outer.level);
        let bytes = outer.bytes;
        bytes.push(kind as u8);
        append_key(bytes, variant)?;
        Ok(Variant {
            inner: Elements::begin(bytes, level + 1)?,
            start,
        })
    }
}

/// Appends a name and its terminating NUL; names that contain a NUL are refused. Inlined, because the names of struct
/// fields are constants in the calling code.
#[inline]
pub(super) fn append_key(bytes: &mut Vec<u8>, key: &str) -> Written {
    if key.as_bytes().contains(&0) {
        return Err(Left::Failed);
    }
    bytes.extend_from_slice(key.as_bytes());
    bytes.push(0);
    Ok(())
}

fn append_length(bytes: &mut Vec<u8>, length: usize) -> Written {
    let length = i32::try_from(length).map_err(|_| Left::Failed)?;
    bytes.extend_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Ends the document or array that began at `start`, and fills in its length.
fn end(bytes: &mut Vec<u8>, start: usize) -> Written {
    bytes.push(0);
    let length = i32::try_from(bytes.len() - start).map_err(|_| Left::Failed)?;
    let place = bytes.get_mut(start..start + 4).ok_or(Left::Failed)?;
    place.copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// A document or an array under construction.
#[derive(Debug)]
pub(super) struct Elements<'b> {
    bytes: &'b mut Vec<u8>,
    start: usize,
    /// In an array, how many elements have been written.
    count: usize,
    /// In a map, the offset of the element whose key was written last.
    element: usize,
    /// The level of these elements; the outermost document is level 1.
    level: usize,
}

impl<'b> Elements<'b> {
    /// Ends a value that is nested too deeply before its recursion fills the stack.
    fn begin(bytes: &'b mut Vec<u8>, level: usize) -> Result<Self, Left> {
        if level > raw::MAX_DEPTH {
            return Err(Left::TooDeep);
        }
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        Ok(Self {
            bytes,
            start,
            count: 0,
            element: start,
            level,
        })
    }

    fn element<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Written {
        let at = self.bytes.len();
        self.bytes.push(0);
        append_key(self.bytes, key)?;
        let place = Place {
            bytes: self.bytes,
            tag: Some(at),
            level: self.level,
        };
        match value.serialize(place) {
            Err(Left::Unknown) => self.left(at, key, value),
            written => written,
        }
    }

    /// Encodes an element with bson, and puts it in the place of the element that began at `at`.
    #[cold]
    fn left<T: Serialize + ?Sized>(&mut self, at: usize, key: &str, value: &T) -> Written {
        let theirs = element_by_bson(key, &value).map_err(|_| Left::Failed)?;
        let element = theirs.get(4..theirs.len() - 1).ok_or(Left::Failed)?;
        self.bytes.truncate(at);
        self.bytes.extend_from_slice(element);
        Ok(())
    }

    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        let mut digits = [0; 20];
        let key = decimal(self.count, &mut digits);
        self.count += 1;
        self.element(key, value)
    }

    fn end(self) -> Written {
        end(self.bytes, self.start)
    }
}

/// The decimal digits of a number.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &str {
    let mut from = digits.len();
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        from = at;
        if number == 0 {
            break;
        }
    }
    let digits = digits.get(from..).unwrap_or_default();
    std::str::from_utf8(digits).unwrap_or_default()
}

impl ser::SerializeSeq for Elements<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.next(value)
    }

    fn end(self) -> Written {
        self.end()
    }
}

impl ser::SerializeTuple for Elements<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.next(value)
    }

    fn end(self) -> Written {
        self.end()
    }
}

impl ser::SerializeTupleStruct for Elements<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.next(value)
    }

    fn end(self) -> Written {
        self.end()
    }
}

/// A map under construction.
#[derive(Debug)]
pub(super) struct Map<'b> {
    elements: Elements<'b>,
    /// Whether serde passed the map's length. It does for maps, whose own keys are taken to be distinct, but not for
    /// structs with flattened fields, whose keys are all compared at the end.
    known: bool,
    /// The offsets of the first elements. serde may put enum tags before a map's keys, one for each enclosing enum.
    first: SmallVec<[usize; TAGS]>,
}

/// How many first elements of a map are compared with later keys, which allows this many enclosing enums.
const TAGS: usize = 4;

impl Map<'_> {
    /// Whether the key that was written last repeats one of the first keys.
    fn repeats_a_tag(&self) -> bool {
        let Elements { bytes, element, .. } = &self.elements;
        let key = bytes.get(element + 1..).unwrap_or_default();
        self.first.iter().any(|at| {
            let first = bytes.get(at + 1..*element);
            first.is_some_and(|first| first.starts_with(key))
        })
    }
}

impl ser::SerializeMap for Map<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        let elements = &mut self.elements;
        elements.element = elements.bytes.len();
        elements.bytes.push(0);
        key.serialize(Key(elements.bytes))?;
        if self.known {
            if self.repeats_a_tag() {
                return Err(Left::Failed);
            }
            if self.first.len() < TAGS {
                self.first.push(self.elements.element);
            }
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        let elements = &mut self.elements;
        let at = elements.element;
        let end = elements.bytes.len();
        let place = Place {
            bytes: elements.bytes,
            tag: Some(at),
            level: elements.level,
        };
        match value.serialize(place) {
            Err(Left::Unknown) => {
                let key = elements.bytes.get(at + 1..end - 1).unwrap_or_default();
                let key = String::from_utf8(key.to_vec()).map_err(|_| Left::Failed)?;
                elements.left(at, &key, value)
            }
            written => written,
        }
    }

    fn end(self) -> Written {
        let Elements { bytes, start, .. } = self.elements;
        end(bytes, start)?;
        if !self.known {
            let written = bytes.get(start..).unwrap_or_default();
            if repeated::key(raw::Elements::new(written)).is_some() {
                return Err(Left::Failed);
            }
        }
        Ok(())
    }
}

/// A struct: a document, or a BSON type that is not in serde's data model.
#[derive(Debug)]
pub(super) enum Struct<'b> {
    Document(Elements<'b>),
    /// A value that bson passes as digits in the struct's only field; `None` once they are written.
    Digits(Option<Digits<'b>>),
}

impl ser::SerializeStruct for Struct<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Written {
        match self {
            Self::Document(elements) => elements.element(key, value),
            Self::Digits(digits) => match digits.take() {
                Some(digits) if key == digits.notation.field() => value.serialize(digits),
                _ => Err(Left::Unknown),
            },
        }
    }

    fn end(self) -> Written {
        match self {
            Self::Document(elements) => elements.end(),
            Self::Digits(None) => Ok(()),
            Self::Digits(Some(_)) => Err(Left::Unknown),
        }
    }
}

/// An enum variant with values, under construction.
#[derive(Debug)]
pub(super) struct Variant<'b> {
    inner: Elements<'b>,
    /// The offset of the enclosing document.
    start: usize,
}

impl Variant<'_> {
    fn end(self) -> Written {
        let Self { inner, start } = self;
        end(inner.bytes, inner.start)?;
        end(inner.bytes, start)
    }
}

impl ser::SerializeTupleVariant for Variant<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.inner.next(value)
    }

    fn end(self) -> Written {
        self.end()
    }
}

impl ser::SerializeStructVariant for Variant<'_> {
    type Ok = ();
    type Error = Left;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Written {
        self.inner.element(key, value)
    }

    fn end(self) -> Written {
        self.end()
    }
}

impl<'b> ser::Serializer for Place<'b> {
    type Ok = ();
    type Error = Left;
    type SerializeSeq = Elements<'b>;
    type SerializeTuple = Elements<'b>;
    type SerializeTupleStruct = Elements<'b>;
    type SerializeTupleVariant = Variant<'b>;
    type SerializeMap = Map<'b>;
    type SerializeStruct = Struct<'b>;
    type SerializeStructVariant = Variant<'b>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Written {
        self.fixed(ElementType::Boolean, [u8::from(value)])
    }

    fn serialize_i8(self, value: i8) -> Written {
        self.serialize_i32(value.into())
    }

    fn serialize_i16(self, value: i16) -> Written {
        self.serialize_i32(value.into())
    }

    fn serialize_i32(self, value: i32) -> Written {
        self.fixed(ElementType::Int32, value.to_le_bytes())
    }

    fn serialize_i64(self, value: i64) -> Written {
        self.fixed(ElementType::Int64, value.to_le_bytes())
    }

    fn serialize_u8(self, value: u8) -> Written {
        self.serialize_i32(value.into())
    }

    fn serialize_u16(self, value: u16) -> Written {
        self.serialize_i32(value.into())
    }

    fn serialize_u32(self, value: u32) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Written {
        self.serialize_i64(i64::try_from(value).map_err(|_| Left::Failed)?)
    }

    fn serialize_f32(self, value: f32) -> Written {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Written {
        self.fixed(ElementType::Double, value.to_le_bytes())
    }

    fn serialize_char(self, value: char) -> Written {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(mut self, value: &str) -> Written {
        self.tag(ElementType::String)?;
        append_length(self.bytes, value.len() + 1)?;
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(0);
        Ok(())
    }

    fn serialize_bytes(mut self, value: &[u8]) -> Written {
        self.tag(ElementType::Binary)?;
        append_length(self.bytes, value.len())?;
        // The generic binary subtype.
        self.bytes.push(0);
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    fn serialize_none(self) -> Written {
        self.fixed(ElementType::Null, [])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        self.serialize_none()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Written {
        // bson's own types use names that start with `$` to address bson's serializer.
        if !name.starts_with('$') {
            return value.serialize(self);
        }
        // bson's serializer may keep state from a human-readable value that affects later values, so bson must write
        // the whole document.
        Err(if name == "$__bson_private_human_readable" {
            Left::Failed
        } else {
            Left::Unknown
        })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let mut document = self.begin(ElementType::EmbeddedDocument)?;
        document.element(variant, value)?;
        document.end()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Elements<'b>, Left> {
        self.begin(ElementType::Array)
    }

    fn serialize_tuple(self, _len: usize) -> Result<Elements<'b>, Left> {
        self.begin(ElementType::Array)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Elements<'b>, Left> {
        self.begin(ElementType::Array)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Variant<'b>, Left> {
        self.variant(variant, ElementType::Array)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Map<'b>, Left> {
        Ok(Map {
            elements: self.begin(ElementType::EmbeddedDocument)?,
            known: len.is_some(),
            first: SmallVec::new(),
        })
    }

    fn serialize_struct(mut self, name: &'static str, _len: usize) -> Result<Struct<'b>, Left> {
        if !name.starts_with('$') {
            let elements = self.begin(ElementType::EmbeddedDocument)?;
            return Ok(Struct::Document(elements));
        }
        let (kind, notation) = Notation::of(name).ok_or(Left::Unknown)?;
        self.tag(kind)?;
        let bytes = self.bytes;
        Ok(Struct::Digits(Some(Digits { bytes, notation })))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Variant<'b>, Left> {
        self.variant(variant, ElementType::EmbeddedDocument)
    }
}
