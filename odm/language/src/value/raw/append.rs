//! Appends fields to raw documents.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::spec::ElementType;

use crate::value::raw::Element;
use crate::value::raw_writer::raw_element;

/// Appends a field. Names come from BSON or were checked, so they contain no NUL.
pub fn append(document: &mut RawDocumentBuf, key: &str, value: RawBsonRef<'_>) {
    if let Ok(key) = <&bson::raw::CStr>::try_from(key) {
        document.append(key, value);
    }
}

/// An empty document with room for this many bytes.
pub fn document_with_capacity(bytes: usize) -> RawDocumentBuf {
    let empty = RawDocumentBuf::new().into_bytes();
    let mut room = Vec::with_capacity(bytes.max(empty.len()));
    room.extend_from_slice(&empty);
    RawDocumentBuf::from_bytes(room).unwrap_or_default()
}

/// Writes a document element by element into one buffer.
#[derive(Debug)]
pub struct DocumentWriter {
    bytes: Vec<u8>,
}

impl DocumentWriter {
    /// A writer of an empty document with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self::begin(Vec::with_capacity(bytes.max(LENGTH + 1)))
    }

    /// A writer that reuses the memory of a document.
    pub fn reusing(document: RawDocumentBuf) -> Self {
        let mut bytes = document.into_bytes();
        bytes.clear();
        Self::begin(bytes)
    }

    fn begin(mut bytes: Vec<u8>) -> Self {
        bytes.extend_from_slice(&[0; LENGTH]);
        Self { bytes }
    }

    /// Copies an element, without decoding it.
    #[inline]
    pub fn push(&mut self, element: &Element<'_>) {
        self.bytes.push(element.tag());
        self.bytes.extend_from_slice(element.key_bytes());
        self.bytes.push(0);
        self.bytes.extend_from_slice(element.value_bytes());
    }

    /// Copies the value of an element under another name.
    #[inline]
    pub fn push_as(&mut self, key: &str, element: &Element<'_>) {
        self.bytes.push(element.tag());
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.push(0);
        self.bytes.extend_from_slice(element.value_bytes());
    }

    /// Appends a field. Names come from BSON or were checked, so they contain no NUL.
    pub fn append(&mut self, key: &str, value: RawBsonRef<'_>) {
        let start = self.bytes.len();
        if raw_element(&mut self.bytes, key, value).is_none() {
            self.bytes.truncate(start);
        }
    }

    /// Appends the document that `write` writes, or the array.
    pub fn nest(&mut self, key: &str, kind: ElementType, write: impl FnOnce(&mut Self)) {
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.push(0);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LENGTH]);
        write(self);
        self.close(start);
    }

    /// Appends a document to an array, as its element with this number.
    pub fn append_item(&mut self, number: usize, document: &RawDocument) {
        self.bytes.push(ElementType::EmbeddedDocument as u8);
        let start = self.bytes.len();
        let mut rest = number;
        loop {
            self.bytes.push(u8::try_from(rest % 10).unwrap_or(0) + b'0');
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if let Some(digits) = self.bytes.get_mut(start..) {
            digits.reverse();
        }
        self.bytes.push(0);
        self.bytes.extend_from_slice(document.as_bytes());
    }

    /// Ends the document that starts there.
    fn close(&mut self, start: usize) {
        self.bytes.push(0);
        let length = i32::try_from(self.bytes.len() - start).ok();
        let place = self.bytes.get_mut(start..).unwrap_or_default();
        if let (Some(length), Some(place)) = (length, place.first_chunk_mut::<LENGTH>()) {
            *place = length.to_le_bytes();
        }
    }

    /// The document; empty if it is too large for BSON.
    pub fn finish(mut self) -> RawDocumentBuf {
        self.close(0);
        RawDocumentBuf::from_bytes(self.bytes).unwrap_or_default()
    }
}

/// The size of the length with which a document begins.
const LENGTH: usize = 4;

#[cfg(test)]
mod tests {
    use bson::raw::RawBsonRef;
    use bson::spec::ElementType;
    use bson::{RawDocumentBuf, doc, rawdoc};

    use super::DocumentWriter;
    use crate::value::raw::walk;

    #[test]
    fn a_writer_writes_what_bson_writes() {
        let old = rawdoc! { "a": "text", "b": { "c": [1, 2] } };
        let mut writer = DocumentWriter::reusing(rawdoc! { "x": "y" });
        for element in walk(&old) {
            writer.push(&element);
            writer.push_as("again", &element);
        }
        writer.append("n", RawBsonRef::Int64(7));
        writer.append("\0", RawBsonRef::Int64(7));
        writer.nest("outer", ElementType::EmbeddedDocument, |outer| {
            outer.nest("items", ElementType::Array, |items| {
                for number in 0..=100 {
                    items.append_item(number, &old);
                }
            });
            outer.append("null", RawBsonRef::Null);
        });
        let mut wanted = rawdoc! { "a": "text", "again": "text", "b": { "c": [1, 2] } };
        let rest = doc! {
            "again": { "c": [1, 2] },
            "n": 7_i64,
            "outer": { "items": vec![doc! { "a": "text", "b": { "c": [1, 2] } }; 101], "null": null },
        };
        let rest = RawDocumentBuf::try_from(&rest).unwrap();
        for field in &rest {
            let (name, value) = field.unwrap();
            // A second field with the name of the first.
            wanted.append(name, value);
        }
        assert_eq!(writer.finish(), wanted);
        let empty = DocumentWriter::with_capacity(0).finish();
        assert_eq!(empty, RawDocumentBuf::new());
    }
}
